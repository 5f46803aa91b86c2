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

	"claimsheet/importer/result"
)

// stepColumns are the columns of step_now that stepTargets takes, the names and
// then the facts.
const (
	stepColumns = `environment, space, client, mapping, step, ` + factColumns
	factColumns = `state, at, boot, uptime, run, kind, via, status, reason, data, digest, answer, created, url, attempts`
)

// Steps are the known steps of a client, by the step's name: the step client,
// which all mappings share, and the steps of one mapping.
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
		if err := rows.Scan(slices.Concat([]any{&s.Mapping, &s.Event.Step}, facts)...); err != nil {
			return nil, err
		}
		s.ClientKey = owner
		steps[s.Event.Step] = s
	}
	return steps, rows.Err()
}

// stepsOfOwner is what Steps asks. It is prepared, because a run asks it for
// every client, and most of its cost would be to have it read by SQLite.
const stepsOfOwner = `
	SELECT mapping, step, ` + factColumns + ` FROM step_now
	WHERE environment = ? AND space = ? AND client = ? AND mapping IN ('', ?)`

// Uncertain are the steps of an environment that are uncertain or parked, the
// longest waiting first; otherwise it is as Rows.
func (l *Ledger) Uncertain(ctx context.Context, environment string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now
		WHERE state IN ('intent', 'uncertain', 'parked') AND state <> 'intent' AND environment = ?
		ORDER BY at, last`, environment)
}

// AnswerStatus is the HTTP status of a step's Answer, 0 where none is kept. It is
// the Status of the step only while nothing has happened to it since.
func (l *Ledger) AnswerStatus(ctx context.Context, id StepID) (status int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT e.status FROM owners o JOIN steps s ON s.owner = o.id JOIN events e ON e.id = s.answered
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping = ? AND s.step = ?`,
		id.Environment, id.Space, id.Client, id.Mapping, id.Step).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return status, err
}

// Events are all that happened to a step, oldest first; none for a step that is
// not known.
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

// stepTargets are where the columns of a step go: its names, then its facts.
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

// span reads a stored length of time.
type span time.Duration

// Scan implements sql.Scanner.
func (s *span) Scan(stored any) error {
	n, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("a length of time is stored as %T", stored)
	}
	*s = span(time.Duration(n) * time.Microsecond)
	return nil
}

// stream yields the rows of a query as they are asked for, until an error.
func stream[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), query string, args ...any) iter.Seq2[T, error] {
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

// StepsOfClient are all known steps of a client, the step client first and then
// by mapping, those that moved longest ago first.
func (l *Ledger) StepsOfClient(ctx context.Context, owner ClientKey) ([]Step, error) {
	return gather(stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now WHERE environment = ? AND space = ? AND client = ?
		ORDER BY mapping, last`, owner.Environment, owner.Space, owner.Client))
}

// RowsOfClient are the rows that runs have recorded of a client, the oldest run
// first; otherwise it is as Rows.
func (l *Ledger) RowsOfClient(ctx context.Context, owner ClientKey) iter.Seq2[RunRow, error] {
	return stream(ctx, l.read, scanRow, `
		SELECT `+rowColumns+`
		FROM owners o JOIN run_rows r ON r.owner = o.id JOIN runs u ON u.id = r.run
		WHERE o.environment = ? AND o.space = ? AND o.client = ?
		ORDER BY u.started, r.run, r.source_row`, owner.Environment, owner.Space, owner.Client)
}

// PlanOfClient are the steps of the newest plan that a run of a mapping made for
// the client, in order, each with its current state; none when the ledger knows
// no such plan. A plan is recognised by its step link, which every plan of
// version 2 has; the list of steps that a run records for a client with invalid
// rows has none.
func (l *Ledger) PlanOfClient(ctx context.Context, owner ClientKey, mapping string) ([]result.Step, error) {
	return gather(inOrder(stream(ctx, l.read, scanRunStep, `
		SELECT `+runStepColumns+`
		FROM run_steps r
		JOIN owners o ON o.id = r.owner
		LEFT JOIN step_now s ON s.owner = r.owner AND s.mapping = r.mapping AND s.step = r.step
		WHERE o.environment = ?1 AND o.space = ?2 AND o.client = ?3 AND r.mapping IN ('', ?4) AND r.run = (
			SELECT p.run FROM owners w JOIN run_steps p ON p.owner = w.id JOIN runs u ON u.id = p.run
			WHERE w.environment = ?1 AND w.space = ?2 AND w.client = ?3 AND p.mapping = ?4 AND p.kind = 'link'
			ORDER BY u.started DESC LIMIT 1)
		ORDER BY r.number`, owner.Environment, owner.Space, owner.Client, mapping)))
}

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}

// Environments are the environments that the ledger has clients or runs of, in
// alphabetical order.
func (l *Ledger) Environments(ctx context.Context) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return name, err
	}, `SELECT environment FROM owners UNION SELECT environment FROM runs ORDER BY environment`))
}

// spaceEmail is the key space whose keys ignore case: they are kept in lower
// case.
const spaceEmail = "email"

// ClientsNamed are the clients of an environment that have the key, in whatever
// key space, by key space. The key of an e-mail address ignores case.
func (l *Ledger) ClientsNamed(ctx context.Context, environment, key string) ([]ClientKey, error) {
	return gather(stream(ctx, l.read, scanOwner, `
		SELECT environment, space, client FROM owners
		WHERE environment = ? AND (client = ? OR space = ? AND client = ?)
		ORDER BY space`, environment, key, spaceEmail, strings.ToLower(key)))
}

// ClientsBeyondASCII are the clients of an environment in whose keys stands more
// than printable ASCII, by key space and key.
func (l *Ledger) ClientsBeyondASCII(ctx context.Context, environment string) ([]ClientKey, error) {
	return gather(stream(ctx, l.read, scanOwner, `
		SELECT environment, space, client FROM owners
		WHERE environment = ? AND client GLOB '*[^ -~]*'
		ORDER BY space, client`, environment))
}

func scanOwner(rows *sql.Rows) (o ClientKey, err error) {
	err = rows.Scan(&o.Environment, &o.Space, &o.Client)
	return o, err
}

// StepsNamed are the steps of a client that have the name, one for each
// mapping that has it, by the mapping's name.
func (l *Ledger) StepsNamed(ctx context.Context, owner ClientKey, step string) ([]Step, error) {
	return gather(stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now
		WHERE environment = ? AND space = ? AND client = ? AND step = ?
		ORDER BY mapping`, owner.Environment, owner.Space, owner.Client, step))
}

// MappingsOf are the names of the mappings under which a client has steps, in
// alphabetical order.
func (l *Ledger) MappingsOf(ctx context.Context, owner ClientKey) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return name, err
	}, `SELECT DISTINCT s.mapping FROM owners o JOIN steps s ON s.owner = o.id
		WHERE o.environment = ? AND o.space = ? AND o.client = ? AND s.mapping <> ''
		ORDER BY s.mapping`, owner.Environment, owner.Space, owner.Client))
}

// ClientsWithID are the clients of an environment whose step client has the id:
// more than one means that two keys stand for one client of the service.
func (l *Ledger) ClientsWithID(ctx context.Context, environment, id string) iter.Seq2[ClientKey, error] {
	return stream(ctx, l.read, func(rows *sql.Rows) (o ClientKey, err error) {
		err = rows.Scan(&o.Environment, &o.Space, &o.Client)
		return o, err
	}, `SELECT o.environment, o.space, o.client FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = 'client' AND s.state = 'done' AND s.created = ? AND s.created <> '' AND o.environment = ?
		ORDER BY s.id`, id, environment)
}

// Unsettled is a step that is uncertain or parked.
type Unsettled struct {
	// Number names this state of this step: it is that of the event which led
	// to it. It stays while others are settled, and is gone for good when the
	// step leaves the state, so a number from an old list never means another
	// step, nor a later attempt at the same one.
	Number int64
	Step
}

// Unsettled are the steps of an environment that are uncertain or parked, the
// longest waiting first. They are those of the moment when the first is read.
func (l *Ledger) Unsettled(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, func(rows *sql.Rows) (Unsettled, error) {
		var u Unsettled
		names, facts := stepTargets(&u.Step)
		err := rows.Scan(slices.Concat([]any{&u.Number}, names, facts)...)
		return u, err
	}, `
		SELECT last, `+stepColumns+` FROM step_now
		WHERE state IN ('intent', 'uncertain', 'parked') AND state <> 'intent' AND environment = ?
		ORDER BY at, last`, environment)
}

// Decided are the steps of an environment whose latest event came about by an
// operator, the latest first. Their Number is that of this event.
func (l *Ledger) Decided(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, func(rows *sql.Rows) (Unsettled, error) {
		var u Unsettled
		names, facts := stepTargets(&u.Step)
		err := rows.Scan(slices.Concat([]any{&u.Number}, names, facts)...)
		return u, err
	}, `
		SELECT last, `+stepColumns+` FROM step_now
		WHERE via = ? AND state IN ('done', 'failed', 'given up') AND environment = ?
		ORDER BY last DESC`, ViaOperator, environment)
}

// IDs are the ids that steps of a kind are done with in an environment, the
// newest first, n at most.
func (l *Ledger) IDs(ctx context.Context, environment, kind string, n int) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	}, `
		SELECT s.created FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.kind = ? AND s.state = 'done' AND s.created <> '' AND o.environment = ?
		ORDER BY s.id DESC LIMIT ?`, kind, environment, n))
}

// UndecidedClients are the client steps of an environment of which nobody knows
// yet whether the client was created: uncertain, parked, or left in flight by a
// run that was killed. Those that were asked for first come first.
func (l *Ledger) UndecidedClients(ctx context.Context, environment string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, scanStep, `
		SELECT `+stepColumns+` FROM step_now n
		WHERE state IN ('intent', 'uncertain', 'parked') AND kind = 'client' AND environment = ?
		ORDER BY (SELECT coalesce(asked, last) FROM steps WHERE owner = n.owner AND kind = 'client'), last`, environment)
}

// WasUnsettled tells whether the number is or was that of an Unsettled.
func (l *Ledger) WasUnsettled(ctx context.Context, number int64) (was bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM events WHERE id = ? AND state IN ('uncertain', 'parked'))`, number).Scan(&was)
	return was, err
}
