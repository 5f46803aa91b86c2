package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"iter"
	"slices"
	"strings"
)

// stepColumns are the columns of steps s and clients c for rowReader.scan.
const stepColumns = `c.client, c.space, s.environment, s.client, s.mapping, s.step, s.id, s.kind, s.state, s.attempts, s.history, s.inherited,
	s.sent_event, s.sent_at, s.sent_run, s.event, s.at, s.run,
	s.via, s.status, s.reason, s.request, s.digest, s.response, s.remote_id, s.url`

// columnsOfStep is how many stepColumns there are.
const columnsOfStep = 26

// stepsOf begins a query for steps with their clients.
const stepsOf = `SELECT ` + stepColumns + ` FROM steps s JOIN clients c ON c.id = s.client `

// ofEnvironment and ofClient are conditions with the environment's name, and with
// the environment's name, the client's key and its key space.
const (
	ofEnvironment = `s.environment = (SELECT id FROM environments WHERE name = ?)`
	ofClient      = `c.environment = (SELECT id FROM environments WHERE name = ?) AND c.client = ? AND c.space = ?`
)

// hasID, hasURL and isUndecided are the conditions of the indexes steps_ids, steps_urls
// and steps_undecided in schema.sql. SQLite uses such an index only for a query that
// repeats its condition.
const (
	hasID       = `s.state = 2 AND s.remote_id <> ''`
	hasURL      = `s.state = 2 AND s.url <> ''`
	isUndecided = `(s.state IN (5, 6) OR s.state = 1 AND s.kind = 1)`
)

// rowReader reads rows of steps and of history.
type rowReader struct {
	names *names
	path  string // of the ledger, for errors
}

// stored is what a row has as numbers instead of texts.
type stored struct{ mapping, kind, state, inherited, sentRun, run, via int64 }

// scan is read of a row that database/sql has.
func (rr rowReader) scan(rows *sql.Rows) (row, error) {
	var values [columnsOfStep]any
	var targets [columnsOfStep]any
	for i := range values {
		targets[i] = &values[i]
	}
	if err := rows.Scan(targets[:]...); err != nil {
		return row{}, err
	}
	c := record{values: make([]driver.Value, columnsOfStep)}
	for i, v := range values {
		c.values[i] = v
	}
	return rr.read(c)
}

// read reads a row with stepColumns.
func (rr rowReader) read(c record) (r row, err error) {
	var s stored
	r.Client, r.Space, r.environment, r.client, s.mapping, r.Step, r.id = c.text(), c.text(), c.number(), c.number(), c.number(), c.text(), c.number()
	s.kind, s.state, r.attempts, r.history, s.inherited = c.number(), c.number(), int(c.number()), int(c.number()), c.number()
	r.sent.event, r.sent.at, s.sentRun = c.number(), c.number(), c.number()
	r.last.event, r.last.at, s.run = c.number(), c.number(), c.number()
	s.via, r.status, r.reason, r.request, r.digest = c.number(), int(c.number()), c.text(), c.bytes(), string(c.packed())
	r.answer, r.remoteID, r.url = c.bytes(), string(c.packed()), c.text()
	if c.err != nil {
		return r, c.err
	}
	return r, rr.complete(&r, s)
}

// complete fills in the texts of a row.
func (rr rowReader) complete(r *row, s stored) error {
	var errs [4]error
	r.Environment, errs[0] = rr.names.environment(r.environment)
	r.Mapping, errs[1] = rr.names.name(s.mapping)
	r.sent.run, errs[2] = rr.names.name(s.sentRun)
	r.last.run, errs[3] = rr.names.name(s.run)
	r.inherited, r.requested, r.answered = part(s.inherited), len(r.request) > 0, len(r.answer) > 0
	r.kind, r.state, r.via = word(kinds, s.kind), word(states, s.state), word(vias, s.via)
	return rr.check(true, errs[:]...)
}

// check returns an error when a row points to another that is not there, or sound is false.
func (rr rowReader) check(sound bool, errs ...error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		sound = sound && err == nil
	}
	if !sound {
		return damaged(rr.path, "the ledger contradicts itself: a row points to another that is not there")
	}
	return nil
}

// pastColumns are the columns of history h for rowReader.past.
const pastColumns = `h.event, h.step, h.state, h.at, h.run, h.via, h.status, h.reason, h.request, h.digest, h.response, h.remote_id, h.url`

// past reads an event of the history, and the number of its step. The caller adds the
// step's name and kind.
func (rr rowReader) past(rows *sql.Rows) (e numbered, step int64, err error) {
	var state, run, via int64
	if err := rows.Scan(&e.number, &step, &state, (*instant)(&e.At), &run, &via, &e.Status, &e.Reason,
		&e.Data, (*packed)(&e.Digest), &e.Answer, (*packed)(&e.ID), &e.URL); err != nil {
		return e, 0, err
	}
	e.Run, err = rr.names.name(run)
	if e.dropped = via >= droppedURL; e.dropped {
		via -= droppedURL
	}
	e.To, e.Via = word(states, state), word(vias, via)
	return e, step, rr.check(true, err)
}

// events returns what happened to a step, the oldest event first.
func (rr rowReader) events(ctx context.Context, db querier, r row) ([]numbered, error) {
	events := r.events()
	if r.history == 0 {
		return events, nil
	}
	past, err := gather(stream(ctx, db, func(rows *sql.Rows) (numbered, error) {
		e, _, err := rr.past(rows)
		e.StepID, e.Kind = r.StepID, r.kind
		return e, err
	}, `SELECT `+pastColumns+` FROM history h WHERE h.step = ?`, r.id))
	if err == nil {
		err = rr.check(len(past) == r.history)
	}
	events = append(events, past...)
	slices.SortFunc(events, func(a, b numbered) int { return int(a.number - b.number) })
	return events, err
}

// querier is a pool of connections, one connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// snapshot calls do with a transaction that reads the ledger as it is at one moment,
// whatever another connection writes meanwhile.
func snapshot(ctx context.Context, db *sql.DB, do func(querier) error) error {
	tx, err := db.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return asDamage(err)
	}
	defer tx.Rollback() // it has written nothing
	return do(tx)
}

// stream yields the rows of a query one by one, until an error or the end of ctx. The
// driver gets no ctx, because it would watch it at every row.
func stream[T any](ctx context.Context, db querier, scan func(*sql.Rows) (T, error), query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		rows, err := db.QueryContext(context.WithoutCancel(ctx), query, args...)
		each(ctx, rows, err, scan)(yield)
	}
}

// each yields rows one by one, until an error or the end of ctx, and closes them.
func each[T any](ctx context.Context, rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err != nil {
			yield(none, asDamage(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(none, asDamage(err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, asDamage(err))
		}
	}
}

// asDamage makes ErrDamaged of an error by which SQLite says that.
func asDamage(err error) error {
	if isDamage(err) {
		return damaged("", "the ledger cannot be read: %v", err)
	}
	return err
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

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}

func scanClientKey(rows *sql.Rows) (o ClientKey, err error) {
	err = rows.Scan(&o.Environment, &o.Space, &o.Client)
	return o, err
}

func (l *Ledger) scanStep(rows *sql.Rows) (Step, error) {
	r, err := l.rows.scan(rows)
	return r.step(), err
}

// Steps returns the steps of a client by their names: the step client, which all
// mappings share, and the steps of one mapping.
func (l *Ledger) Steps(ctx context.Context, owner ClientKey, mapping string) (map[string]Step, error) {
	steps := map[string]Step{}
	err := l.readers.use(func(r *reader) error {
		return r.each(stepsOfClient, func(c record) error {
			found, err := l.rows.read(c)
			steps[found.Step] = found.step()
			return errors.Join(err, ctx.Err())
		}, owner.Environment, owner.Client, owner.Space, mapping)
	})
	if err != nil {
		return nil, err
	}
	return steps, nil
}

// StepsOfClients is Steps of many clients of an environment, in the order of owners,
// for much less than as many calls cost. Where the ledger has no steps of a client,
// the map is nil. The clients of one call are read at several moments.
func (l *Ledger) StepsOfClients(ctx context.Context, environment, mapping string, owners []ClientKey) ([]map[string]Step, error) {
	all := make([]map[string]Step, 0, len(owners))
	for chunk := range slices.Chunk(owners, clientsAtOnce) {
		steps := make([]map[string]Step, len(chunk))
		if err := l.stepsOfChunk(ctx, environment, mapping, chunk, steps); err != nil {
			return nil, err
		}
		all = append(all, steps...)
	}
	return all, nil
}

// stepsOfChunk reads the steps of up to clientsAtOnce clients.
func (l *Ledger) stepsOfChunk(ctx context.Context, environment, mapping string, owners []ClientKey, steps []map[string]Step) error {
	values := make([]any, 3*clientsAtOnce, 3*clientsAtOnce+2)
	for i, owner := range owners {
		if owner.Environment == environment {
			values[3*i], values[3*i+1], values[3*i+2] = int64(i), owner.Client, owner.Space
		}
	}
	return l.readers.use(func(r *reader) error {
		return r.each(stepsOfClients, func(c record) error {
			i := c.number()
			found, err := l.rows.read(c)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			if steps[i] == nil {
				steps[i] = map[string]Step{}
			}
			steps[i][found.Step] = found.step()
			return nil
		}, append(values, environment, mapping)...)
	})
}

// row returns the row of a step; ok is false when it is unknown.
func (rr rowReader) row(ctx context.Context, db querier, id StepID) (r row, ok bool, err error) {
	found, err := gather(stream(ctx, db, rr.scan, stepsOf+`
		WHERE `+ofClient+` AND s.mapping = coalesce((SELECT id FROM names WHERE name = ?), 0) AND s.step = ?`,
		id.Environment, id.Client, id.Space, id.Mapping, id.Step))
	for _, r := range found {
		if r.Mapping == id.Mapping { // an unknown name is no name
			return r, true, err
		}
	}
	return r, false, err
}

// AnswerStatus returns the HTTP status of a step's Answer, 0 when the ledger has
// none. It differs from the Status of the step when later events followed.
func (l *Ledger) AnswerStatus(ctx context.Context, id StepID) (status int, err error) {
	r, events, err := l.history(ctx, id)
	if r.answer == nil {
		return 0, err
	}
	for _, e := range events {
		if len(e.Answer) > 0 {
			status = e.Status
		}
	}
	return status, err
}

// Events returns what happened to a step, the oldest event first; none for an
// unknown step.
func (l *Ledger) Events(ctx context.Context, id StepID) ([]Event, error) {
	_, all, err := l.history(ctx, id)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	events := make([]Event, len(all))
	for i, e := range all {
		events[i] = e.Event
	}
	return events, nil
}

// history returns the row of a step and what happened to it, the oldest event first,
// both as they were at one moment; the zero row and no events for an unknown step.
func (l *Ledger) history(ctx context.Context, id StepID) (r row, events []numbered, err error) {
	err = snapshot(ctx, l.read, func(db querier) error {
		var ok bool
		if r, ok, err = l.rows.row(ctx, db, id); ok && err == nil {
			events, err = l.rows.events(ctx, db, r)
		}
		return err
	})
	return r, events, err
}

// StepsOfClient returns all steps of a client: the step client first, then by
// mapping, the one with the oldest last event first.
func (l *Ledger) StepsOfClient(ctx context.Context, owner ClientKey) ([]Step, error) {
	steps, err := gather(stream(ctx, l.read, l.scanStep, stepsOf+`WHERE `+ofClient+` ORDER BY s.event`, owner.Environment, owner.Client, owner.Space))
	slices.SortStableFunc(steps, func(a, b Step) int { return strings.Compare(a.Mapping, b.Mapping) })
	return steps, err
}

// ClaimsWith yields the claims of an environment that may exist, of all clients and
// mappings: those with a text in their Data, and those without Data. It reads all steps.
func (l *Ledger) ClaimsWith(ctx context.Context, environment, text string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, l.scanStep, stepsOf+`WHERE `+ofEnvironment+` AND s.kind = 2 AND s.state NOT IN (3, 4)
		AND (coalesce(length(s.request), 0) = 0 OR instr(s.request, ?) > 0)`, environment, []byte(text))
}

// Environments returns the environments of which the ledger has clients or runs,
// in alphabetical order.
func (l *Ledger) Environments(ctx context.Context) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `SELECT name FROM environments UNION SELECT environment FROM runs ORDER BY 1`))
}

// clientsOf begins a query for the names of clients.
const clientsOf = `SELECT e.name, c.space, c.client FROM environments e JOIN clients c ON c.environment = e.id WHERE e.name = ? `

// spaceEmail is the key space whose keys ignore case: they are stored in lower
// case.
const spaceEmail = "email"

// ClientsNamed returns the clients of an environment that have the key, ordered by
// their key spaces. A key that is an e-mail address ignores case.
func (l *Ledger) ClientsNamed(ctx context.Context, environment, key string) ([]ClientKey, error) {
	return gather(stream(ctx, l.read, scanClientKey, clientsOf+`
		AND c.client IN (?2, ?3) AND (c.client = ?2 OR c.space = ?4) ORDER BY c.space`, environment, key, strings.ToLower(key), spaceEmail))
}

// ClientsWithID yields the client of an environment whose step client has the id, if there
// is one.
func (l *Ledger) ClientsWithID(ctx context.Context, environment, id string) iter.Seq2[ClientKey, error] {
	return stream(ctx, l.read, scanClientKey, `
		SELECT e.name, c.space, c.client FROM environments e JOIN clients c ON c.environment = e.id JOIN (
			SELECT s.id, s.client FROM steps s INDEXED BY steps_ids
			WHERE s.environment = (SELECT id FROM environments WHERE name = ?1) AND s.kind = 1 AND s.remote_id = ?2 AND `+hasID+`
		) s ON s.client = c.id
		WHERE e.name = ?1 ORDER BY s.id`, environment, asID(id))
}

// Unsettled is a step that is uncertain or parked.
type Unsettled struct {
	// Number is that of the event that led to this state. It names this state of
	// this step: a number from an old list never means another step or a later
	// attempt at the same one.
	Number int64
	Step
}

func (l *Ledger) scanUnsettled(rows *sql.Rows) (Unsettled, error) {
	r, err := l.rows.scan(rows)
	return Unsettled{r.last.event, r.step()}, err
}

// undecided begins a query for the steps that the index steps_undecided has.
const undecided = `SELECT ` + stepColumns + ` FROM steps s INDEXED BY steps_undecided JOIN clients c ON c.id = s.client
	WHERE ` + isUndecided + ` AND ` + ofEnvironment + ` `

// Unsettled yields the steps of an environment that are uncertain or parked, the
// longest waiting first. They are as they were when the first is read.
func (l *Ledger) Unsettled(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, l.scanUnsettled, undecided+`AND s.state IN (5, 6) ORDER BY s.at, s.event`, environment)
}

// CountUnsettled returns how many steps of an environment are uncertain or parked:
// those of a mapping and the client steps, which all mappings share.
func (l *Ledger) CountUnsettled(ctx context.Context, environment, mapping string) (n int, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT count(*) FROM steps s INDEXED BY steps_undecided
		WHERE `+isUndecided+` AND `+ofEnvironment+`
			AND s.state IN (5, 6) AND s.mapping IN (0, coalesce((SELECT id FROM names WHERE name = ?), 0))`, environment, mapping).Scan(&n)
	return n, err
}

// Decided yields the steps of an environment whose latest event is a person's
// decision, the latest first. Their Number is that of this event.
func (l *Ledger) Decided(ctx context.Context, environment string) iter.Seq2[Unsettled, error] {
	return stream(ctx, l.read, l.scanUnsettled, `
		SELECT `+stepColumns+` FROM steps s INDEXED BY steps_by_hand JOIN clients c ON c.id = s.client
		WHERE s.via = 3 AND s.state IN (2, 3, 7) AND `+ofEnvironment+` ORDER BY s.event DESC`, environment)
}

// OfSheet yields the clients and claims of an environment that are done with the id that
// a sheet gave (known_id).
func (l *Ledger) OfSheet(ctx context.Context, environment string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, l.scanStep, stepsOf+`WHERE `+ofEnvironment+` AND s.kind IN (1, 2) AND s.state = 2 AND s.via = 2 AND s.reason = ?
		ORDER BY s.event`, environment, ReasonKnownID)
}

// IDs returns up to n ids with which steps of a kind are done in an environment, in
// no particular order.
func (l *Ledger) IDs(ctx context.Context, environment, kind string, n int) ([]string, error) {
	return gather(stream(ctx, l.read, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan((*packed)(&id))
		return id, err
	}, `SELECT s.remote_id FROM steps s INDEXED BY steps_ids
		WHERE `+ofEnvironment+` AND s.kind = ? AND `+hasID+`
		LIMIT ?`, environment, code(kinds, kind), n))
}

// UndecidedClients yields the client steps of an environment for which it is
// unknown whether the client was created: uncertain, parked, or left in flight by a
// run that was killed. The one that was requested first comes first.
func (l *Ledger) UndecidedClients(ctx context.Context, environment string) iter.Seq2[Step, error] {
	return stream(ctx, l.read, l.scanStep, undecided+`AND s.kind = 1
		ORDER BY CASE WHEN s.sent_event > 0 THEN s.sent_event ELSE s.event END, s.event`, environment)
}

// WasUnsettled reports whether a number is or was that of an Unsettled.
func (l *Ledger) WasUnsettled(ctx context.Context, number int64) (was bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM history WHERE event = ?1 AND state IN (5, 6))
			OR EXISTS (SELECT 1 FROM steps s INDEXED BY steps_undecided WHERE `+isUndecided+` AND s.event = ?1 AND s.state IN (5, 6))`,
		number).Scan(&was)
	return was, err
}

// Definition returns what ChangeDefinition last stored for a mapping's name in an
// environment; ok is false when it stored nothing.
func (l *Ledger) Definition(ctx context.Context, environment, mapping string) (definition string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT definition FROM definitions WHERE environment = ? AND mapping = ?`,
		environment, mapping).Scan(&definition)
	ok, err = found(err)
	return definition, ok, err
}

// ChangeDefinition stores, as JSON, what the names of a mapping's steps are made from: what
// change makes of what was stored before, "" for nothing. Nobody else stores anything for
// the mapping in between. It is durable when it returns.
func (l *Ledger) ChangeDefinition(environment, mapping string, change func(stored string) string) error {
	return l.submit(true, func(t *transaction) error {
		var stored string
		_, err := found(t.conn.QueryRowContext(context.Background(), `SELECT definition FROM definitions WHERE environment = ? AND mapping = ?`,
			environment, mapping).Scan(&stored))
		if err != nil {
			return err
		}
		return t.exec(`INSERT INTO definitions (environment, mapping, definition) VALUES (?, ?, ?)
			ON CONFLICT (environment, mapping) DO UPDATE SET definition = excluded.definition`, environment, mapping, change(stored))
	})
}

// Definitions returns what ChangeDefinition last stored for the mappings of an
// environment, by their names.
func (l *Ledger) Definitions(ctx context.Context, environment string) (map[string]string, error) {
	list, err := gather(stream(ctx, l.read, func(rows *sql.Rows) (d [2]string, err error) {
		err = rows.Scan(&d[0], &d[1])
		return d, err
	}, `SELECT mapping, definition FROM definitions WHERE environment = ?`, environment))
	definitions := map[string]string{}
	for _, d := range list {
		definitions[d[0]] = d[1]
	}
	return definitions, err
}

// createdStates are the states of steps that were created, or may have been.
var createdStates = []State{Intent, Done, Uncertain, Parked, GivenUp}

// created is the condition of such steps s.
const created = `s.state IN (1, 2, 5, 6, 7)`

// ClaimedElsewhere reports whether any of these claim steps was or may have been
// created for the client under another mapping's name, and returns the first such
// name in alphabetical order. It leaves out the steps that were or may have been
// created under mapping's own name: they are not created again in any case.
func (l *Ledger) ClaimedElsewhere(ctx context.Context, owner ClientKey, mapping string, steps []string) (otherMapping string, ok bool, err error) {
	all, err := l.StepsOfClient(ctx, owner)
	if err != nil {
		return "", false, err
	}
	own := map[string]bool{}
	for _, s := range all {
		own[s.StepID.Step] = own[s.StepID.Step] || s.Mapping == mapping && slices.Contains(createdStates, s.To)
	}
	for _, s := range all { // by mapping
		if s.Mapping != mapping && s.Kind == KindClaim && slices.Contains(createdStates, s.To) && slices.Contains(steps, s.StepID.Step) && !own[s.StepID.Step] {
			return s.Mapping, true, nil
		}
	}
	return "", false, nil
}

// HasSteps reports whether a mapping has steps in an environment whose names begin
// with prefix, for any client, and that were or may have been created.
func (l *Ledger) HasSteps(ctx context.Context, environment, mapping, prefix string) (has bool, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT EXISTS (SELECT 1 FROM steps s
			WHERE `+ofEnvironment+` AND s.mapping = (SELECT id FROM names WHERE name = ?) AND `+created+`
				AND substr(s.step, 1, length(CAST(? AS TEXT))) = ?)`,
		environment, mapping, prefix, prefix).Scan(&has)
	return has, err
}

// ClientsWithSteps returns the clients of an environment for whom steps of a mapping are
// done, by the steps' names.
func (l *Ledger) ClientsWithSteps(ctx context.Context, environment, mapping string, steps []string) (map[string][]ClientKey, error) {
	clients := map[string][]ClientKey{}
	for id, err := range stream(ctx, l.read, func(rows *sql.Rows) (id StepID, err error) {
		id.Environment = environment
		return id, rows.Scan(&id.Step, &id.Space, &id.Client)
	}, `SELECT s.step, c.space, c.client FROM steps s JOIN clients c ON c.id = s.client
		WHERE `+ofEnvironment+` AND s.mapping = (SELECT id FROM names WHERE name = ?) AND s.state = 2 AND s.step IN (SELECT value FROM json_each(?))`,
		environment, mapping, list(steps)) {
		if err != nil {
			return nil, err
		}
		clients[id.Step] = append(clients[id.Step], id.ClientKey)
	}
	return clients, nil
}

// OtherMappings returns the names of the other mappings that have sent claims in an
// environment, in alphabetical order. Without any, ClaimedElsewhere finds nothing
// for any client.
func (l *Ledger) OtherMappings(ctx context.Context, environment, mapping string) ([]string, error) {
	return gather(stream(ctx, l.read, scanText, `
		SELECT n.name FROM environments e JOIN claim_mappings m ON m.environment = e.id JOIN names n ON n.id = m.mapping
		WHERE e.name = ? AND n.name <> ? ORDER BY n.name`, environment, mapping))
}

// Knows reports whether the ledger has any step of an environment other than those
// that failed before anything was sent, for example because a look-up was not
// answered.
func (l *Ledger) Knows(ctx context.Context, environment string) (bool, error) {
	n, err := l.KnownClients(ctx, environment, 1)
	return n > 0, err
}

// KnownClients returns how many clients of an environment have such a step; it
// counts up to most.
func (l *Ledger) KnownClients(ctx context.Context, environment string, most int) (n int, err error) {
	err = l.read.QueryRowContext(ctx, `
		SELECT count(*) FROM (SELECT DISTINCT c.id FROM environments e JOIN clients c ON c.environment = e.id JOIN steps s ON s.client = c.id
			WHERE e.name = ? AND (s.attempts > 0 OR s.state <> 3) LIMIT ?) known`,
		environment, most).Scan(&n)
	return n, err
}

// The names of settings, what users have said about an environment.
const (
	settingTrusted = "trusted" // its ledger is the right one, and not a new one in the place of a lost one
	settingMoved   = "moved"   // the address under which its entries are
)

// Trust records that the ledger is the right one for an environment. It is durable
// when it returns.
func (l *Ledger) Trust(environment string) error { return l.set(environment, settingTrusted, "yes") }

// Trusted reports whether Trust was called for an environment.
func (l *Ledger) Trusted(ctx context.Context, environment string) (bool, error) {
	_, ok, err := l.setting(ctx, environment, settingTrusted)
	return ok, err
}

// SetMoved records that an address belongs to the service whose entries are under
// another one. The entries are not changed: the address is part of the hash by
// which erased clients are recognised. It is durable when it returns.
func (l *Ledger) SetMoved(address, service string) error {
	return l.set(address, settingMoved, service)
}

// Moved returns the address that SetMoved recorded for an address: that of the
// service's entries. ok is false when it was never called for the address.
func (l *Ledger) Moved(ctx context.Context, address string) (service string, ok bool, err error) {
	return l.setting(ctx, address, settingMoved)
}

func (l *Ledger) set(environment, name, value string) error {
	return l.submit(true, func(t *transaction) error {
		return t.exec(`INSERT INTO settings (environment, name, value) VALUES (?, ?, ?)
			ON CONFLICT (environment, name) DO UPDATE SET value = excluded.value`, environment, name, value)
	})
}

func (l *Ledger) setting(ctx context.Context, environment, name string) (value string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT value FROM settings WHERE environment = ? AND name = ?`, environment, name).Scan(&value)
	ok, err = found(err)
	return value, ok, err
}

// LastEnvironment returns the Run.Environment of the newest run with an
// EnvironmentName; ok is false when there is none.
func (l *Ledger) LastEnvironment(ctx context.Context, name string) (environment string, ok bool, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT environment FROM runs WHERE environment_name = ? ORDER BY started DESC, id LIMIT 1`, name).Scan(&environment)
	ok, err = found(err)
	return environment, ok, err
}
