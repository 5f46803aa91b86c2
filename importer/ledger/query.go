package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// uncertainOrParked is the condition of steps that are uncertain or parked. Its first part
// is that of an index, which SQLite otherwise would not use.
const uncertainOrParked = `state IN ('intent', 'uncertain', 'parked') AND state <> 'intent'`

// stepColumns are the columns of step_now that stepTargets takes, the names and
// then the facts.
const (
	stepColumns = `environment, space, client, mapping, step, ` + factColumns
	factColumns = `state, at, boot, uptime, run, kind, via, status, reason, data, digest, answer, created, url, attempts`
)

// Steps returns the steps of a client by their names: the step client, which all
// mappings share, and the steps of one mapping.
func (l *Ledger) Steps(ctx context.Context, owner ClientKey, mapping string) (map[string]Step, error) {
	rows, err := l.steps.QueryContext(ctx, owner.Environment, owner.Space, owner.Client, mapping)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	steps := map[string]Step{}
	for rows.Next() {
		var s Step
		_, facts := stepTargets(&s)
		if err := rows.Scan(slices.Concat([]any{&s.Mapping, &s.Event.Step, &s.Ref.Owner, &s.Ref.Step}, facts)...); err != nil {
			return nil, err
		}
		s.ClientKey = owner
		steps[s.Event.Step] = s
	}
	return steps, rows.Err()
}

// stepsOfOwner is the query of Steps. It is prepared, because a run needs it for
// every client, and most of its cost would be parsing it.
const stepsOfOwner = `
	SELECT s.mapping, s.step, s.owner, s.id, s.state, l.at, l.boot, l.uptime, l.run, s.kind, l.via, l.status, l.reason,
		a.data, coalesce(a.digest, ''), w.answer, s.created, s.url, s.attempts
	FROM owners o
	JOIN steps s ON s.owner = o.id
	JOIN events l ON l.id = s.last
	LEFT JOIN events a ON a.id = s.asked
	LEFT JOIN events w ON w.id = s.answered
	WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping IN ('', ?)`

// AnswerStatus returns the HTTP status of a step's Answer, 0 when the ledger has
// none. It differs from the Status of the step when later events followed.
func (l *Ledger) AnswerStatus(ctx context.Context, id StepID) (status int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT e.status FROM owners o JOIN steps s ON s.owner = o.id JOIN events e ON e.id = s.answered
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping = ? AND s.step = ?`,
		id.Environment, id.Space, id.Client, id.Mapping, id.Step).Scan(&status)
	_, err = found(err)
	return status, err
}

// Events returns what happened to a step, the oldest event first; none for an
// unknown step.
func (l *Ledger) Events(ctx context.Context, id StepID) ([]Event, error) {
	var events []Event
	for s, err := range stream(ctx, l.read, scanStep, `
		SELECT o.environment, o.space, o.client, s.mapping, s.step,
			e.state, e.at, e.boot, e.uptime, e.run, s.kind, e.via, e.status, e.reason, e.data, e.digest, e.answer, e.created, e.url, 0
		FROM owners o JOIN steps s ON s.owner = o.id JOIN events e ON e.step = s.id
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping = ? AND s.step = ?
		ORDER BY e.id`, id.Environment, id.Space, id.Client, id.Mapping, id.Step) {
		if err != nil {
			return nil, err
		}
		events = append(events, s.Event)
	}
	return events, nil
}

func scanStep(rows *sql.Rows) (Step, error) {
	var s Step
	names, facts := stepTargets(&s)
	err := rows.Scan(slices.Concat(names, facts)...)
	return s, err
}

// stepTargets are the targets of Scan for a step: its names, then its facts.
func stepTargets(s *Step) (names, facts []any) {
	return []any{&s.Environment, &s.Space, &s.Client, &s.Mapping, &s.Event.Step},
		[]any{&s.To, (*moment)(&s.At), &s.Boot, (*span)(&s.Uptime), &s.Run, &s.Kind, &s.Via, &s.Status, &s.Reason,
			&s.Data, &s.Digest, &s.Answer, &s.ID, &s.URL, &s.Attempts}
}

// moment reads a stored time; NULL is the zero time.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(stored any) error {
	switch v := stored.(type) {
	case nil:
		*m = moment{}
	case int64:
		*m = moment(time.UnixMicro(v).UTC())
	default:
		return fmt.Errorf("a time is stored as %T", stored)
	}
	return nil
}

// span reads a stored duration.
type span time.Duration

// Scan implements sql.Scanner.
func (s *span) Scan(stored any) error {
	n, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("a duration is stored as %T", stored)
	}
	*s = span(time.Duration(n) * time.Microsecond)
	return nil
}

// found turns the error of a query for one row into whether there is one.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// querier is a pool of connections or one connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// stream yields the rows of a query one by one, until an error.
func stream[T any](ctx context.Context, db querier, scan func(*sql.Rows) (T, error), query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			yield(none, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				yield(none, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, err)
		}
	}
}

// gather returns everything that a stream yields.
func gather[T any](all iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for v, err := range all {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// StepsOfClient returns all steps of a client: the step client first, then by
// mapping, the one with the oldest last event first.
func (l *Ledger) StepsOfClient(ctx context.Context, owner ClientKey) ([]Step, error) {
	return gather(stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now WHERE environment = ? AND space = ? AND client = ?
		ORDER BY mapping, last`, owner.Environment, owner.Space, owner.Client))
}

func scanStepID(rows *sql.Rows) (id StepID, err error) {
	err = rows.Scan(&id.Environment, &id.Space, &id.Client, &id.Mapping, &id.Step)
	return id, err
}

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}

// Environments returns the environments of which the ledger has clients or runs,
// in alphabetical order.
func (l *Ledger) Environments(ctx context.Context) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `SELECT environment FROM owners UNION SELECT environment FROM runs ORDER BY environment`))
}

// spaceEmail is the key space whose keys ignore case: they are stored in lower
// case.
const spaceEmail = "email"

// ClientsNamed returns the clients of an environment that have the key, ordered by
// their key spaces. A key that is an e-mail address ignores case.
func (l *Ledger) ClientsNamed(ctx context.Context, environment, key string) ([]ClientKey, error) {
	return gather(stream(ctx, l.read, scanClientKey, `
		SELECT environment, space, client FROM owners
		WHERE environment = ? AND (client = ? OR space = ? AND client = ?)
		ORDER BY space`, environment, key, spaceEmail, strings.ToLower(key)))
}

// ClientsBeyondASCII returns the clients of an environment whose keys hold more
// than printable ASCII, ordered by key space and key.
func (l *Ledger) ClientsBeyondASCII(ctx context.Context, environment string) ([]ClientKey, error) {
	return gather(stream(ctx, l.read, scanClientKey, `
		SELECT environment, space, client FROM owners
		WHERE environment = ? AND client GLOB '*[^ -~]*'
		ORDER BY space, client`, environment))
}

func scanClientKey(rows *sql.Rows) (o ClientKey, err error) {
	err = rows.Scan(&o.Environment, &o.Space, &o.Client)
	return o, err
}

// StepsNamed returns the steps of a client with a name, one for each mapping that
// has it, ordered by the mapping's name.
func (l *Ledger) StepsNamed(ctx context.Context, owner ClientKey, step string) ([]Step, error) {
	return gather(stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now
		WHERE environment = ? AND space = ? AND client = ? AND step = ?
		ORDER BY mapping`, owner.Environment, owner.Space, owner.Client, step))
}

// MappingsOf returns the names of the mappings under which a client has steps, in
// alphabetical order.
func (l *Ledger) MappingsOf(ctx context.Context, owner ClientKey) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `SELECT DISTINCT s.mapping FROM owners o JOIN steps s ON s.owner = o.id
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping <> ''
		ORDER BY s.mapping`, owner.Environment, owner.Space, owner.Client))
}

// ClientsWithID yields the clients of an environment whose step client has the id.
// More than one means that two keys mean one client of the service.
func (l *Ledger) ClientsWithID(ctx context.Context, environment, id string) iter.Seq2[ClientKey, error] {
	return stream(ctx, l.read, scanClientKey, `SELECT o.environment, o.space, o.client FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = 'client' AND s.state = 'done' AND s.created = ? AND s.created <> '' AND o.environment = ?
		ORDER BY s.id`, id, environment)
}

// Unsettled is a step that is uncertain or parked.
type Unsettled struct {
	// Number is that of the event that led to this state. It names this state of
	// this step: a number from an old list never means another step or a later
	// attempt at the same one.
	Number int64
	Step
}

// Unsettled yields the steps of an environment that are uncertain or parked, the
// longest waiting first. They are as they were when the first is read.
func (l *Ledger) Unsettled(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, scanUnsettled, `
		SELECT last, `+stepColumns+` FROM step_now
		WHERE `+uncertainOrParked+` AND environment = ? ORDER BY at, last`, environment)
}

// CountUnsettled returns how many steps of an environment are uncertain or parked:
// those of a mapping and the client steps, which all mappings share.
func (l *Ledger) CountUnsettled(ctx context.Context, environment, mapping string) (n int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT count(*) FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.state IN ('intent', 'uncertain', 'parked') AND s.state <> 'intent' AND o.environment = ? AND s.mapping IN ('', ?)`,
		environment, mapping).Scan(&n)
	return n, err
}

// Decided yields the steps of an environment whose latest event is a person's
// decision, the latest first. Their Number is that of this event.
func (l *Ledger) Decided(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, scanUnsettled, `
		SELECT last, `+stepColumns+` FROM step_now
		WHERE via = ? AND state IN ('done', 'failed', 'given up') AND environment = ?
		ORDER BY last DESC`, ViaOperator, environment)
}

func scanUnsettled(rows *sql.Rows) (Unsettled, error) {
	var u Unsettled
	names, facts := stepTargets(&u.Step)
	err := rows.Scan(slices.Concat([]any{&u.Number}, names, facts)...)
	return u, err
}

// IDs returns up to n ids with which steps of a kind are done in an environment,
// the newest first.
func (l *Ledger) IDs(ctx context.Context, environment, kind string, n int) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `
		SELECT s.created FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = ? AND s.state = 'done' AND s.created <> '' AND o.environment = ?
		ORDER BY s.id DESC LIMIT ?`, kind, environment, n))
}

// UndecidedClients yields the client steps of an environment for which it is
// unknown whether the client was created: uncertain, parked, or left in flight by a
// run that was killed. The one that was requested first comes first.
func (l *Ledger) UndecidedClients(ctx context.Context, environment string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now n
		WHERE state IN ('intent', 'uncertain', 'parked') AND kind = 'client' AND environment = ?
		ORDER BY (SELECT coalesce(asked, last) FROM steps WHERE owner = n.owner AND kind = 'client'), last`, environment)
}

// WasUnsettled reports whether a number is or was that of an Unsettled.
func (l *Ledger) WasUnsettled(ctx context.Context, number int64) (was bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM events WHERE id = ? AND state IN ('uncertain', 'parked'))`, number).Scan(&was)
	return was, err
}

// SharedIDs returns the ids of an environment with which the steps of several
// clients are done, each with the client who was known first. A version that did
// not check has left them.
func (l *Ledger) SharedIDs(ctx context.Context, environment string) (map[string]ClientKey, error) {
	shared := map[string]ClientKey{}
	type one struct {
		id string
		ClientKey
	}
	for s, err := range stream(ctx, l.read, func(rows *sql.Rows) (s one, err error) {
		err = rows.Scan(&s.id, &s.Environment, &s.Space, &s.Client)
		return s, err
	}, `
		SELECT s.created, o.environment, o.space, o.client FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = 'client' AND s.state = 'done' AND s.created <> '' AND o.environment = ? AND s.created IN (
			SELECT created FROM steps WHERE kind = 'client' AND state = 'done' AND created <> ''
			GROUP BY created HAVING count(*) > 1)
		ORDER BY s.id`, environment) {
		if err != nil {
			return nil, err
		}
		if _, known := shared[s.id]; !known {
			shared[s.id] = s.ClientKey
		}
	}
	return shared, nil
}
