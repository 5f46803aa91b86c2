package ledger

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
)

// Tracked is what the service has said about something that a run created, such as
// that a client has completed an activity. It stands beside the steps and changes
// none: what the service reports is no proof that a request was carried out.
type Tracked struct {
	Key       string // the same for an event that arrives again
	Kind      string
	Status    string
	Completed bool // the client has completed the activity, as CompleteTracked was told
	At        time.Time
	Received  time.Time
	// What the service named; "" for what it did not.
	ClientID   string
	ClaimID    string
	ActivityID string
	Activity   string // its name
	// StepID is the step to which it belongs: the activity or, where that is unknown,
	// the claim or the client. AddTracked finds it; the zero StepID means that the
	// ledger knows none of the ids.
	StepID
}

// TrackedStep is an event with the step to which it belongs.
type TrackedStep struct {
	Tracked
	Of Step
}

// TrackedCounts are the events that AddTracked was given, and those that MatchTracked
// looked at.
type TrackedCounts struct {
	Added    int // new ones that belong to a step
	Repeated int // known before
	Unknown  int // new ones with ids that the ledger does not know; kept for MatchTracked
	Erased   int // of erased clients: not kept
	Found    int // kept as unknown before, and now their step is known
}

// Plus returns the sum of two counts.
func (n TrackedCounts) Plus(m TrackedCounts) TrackedCounts {
	return TrackedCounts{n.Added + m.Added, n.Repeated + m.Repeated, n.Unknown + m.Unknown, n.Erased + m.Erased, n.Found + m.Found}
}

// AddTracked records events of a service, whose clients are in the environments. An
// event that arrives again changes nothing. name returns the name of the activity that
// a step has created, "" when it is not known.
func (l *Ledger) AddTracked(service string, environments []string, events []Tracked, name func(Step) string) (n TrackedCounts, err error) {
	err = l.submit(true, func(t *transaction) (err error) {
		n, err = trackedMatcher{transaction: t, environments: environments, name: name}.addAll(service, events)
		return err
	})
	return n, err
}

// MatchTracked looks again for the steps of a service's events whose ids the ledger did
// not know; see AddTracked. It takes some microseconds for each of them.
func (l *Ledger) MatchTracked(service string, environments []string, name func(Step) string) (n TrackedCounts, err error) {
	err = l.submit(true, func(t *transaction) (err error) {
		n, err = trackedMatcher{transaction: t, environments: environments, name: name}.matchUnknown(service)
		return err
	})
	return n, err
}

// trackedMatcher finds the steps to which events belong.
type trackedMatcher struct {
	*transaction
	environments []string
	name         func(Step) string
}

func (m trackedMatcher) addAll(service string, events []Tracked) (n TrackedCounts, err error) {
	for _, e := range events {
		var known bool
		err := m.conn.QueryRowContext(context.Background(), `SELECT EXISTS (SELECT 1 FROM tracked WHERE service = ? AND key = ?)`, service, e.Key).Scan(&known)
		if err != nil {
			return n, err
		}
		if known {
			n.Repeated++
			continue
		}
		of, ok, err := m.find(e)
		if err != nil {
			return n, err
		}
		if _, erased := Erased(of.Client); erased {
			n.Erased++
			continue
		}
		if n.Unknown++; ok {
			n.Unknown, n.Added = n.Unknown-1, n.Added+1
		}
		if err := m.exec(`INSERT INTO tracked (completed, service, client, step, key, kind, status, at, received, client_id, claim_id, activity_id, activity)
			VALUES (0, `+params(12)+`)`, service, of.client, of.id, e.Key, e.Kind, e.Status, e.At.UnixMicro(), e.Received.UnixMicro(),
			e.ClientID, e.ClaimID, e.ActivityID, e.Activity); err != nil {
			return n, err
		}
	}
	return n, nil
}

// matchUnknown looks again for the steps of the events that had none. Hardly any of
// their ids is known, so one small statement asks for all ids of an event first.
func (m trackedMatcher) matchUnknown(service string) (n TrackedCounts, err error) {
	unknown, err := gather(stream(context.Background(), m.conn, scanTracked, trackedColumns+` FROM tracked t WHERE t.client = 0 AND t.service = ?`, service))
	if err != nil || len(unknown) == 0 {
		return n, err
	}
	known, err := prepareOn(m.conn, `SELECT 1 FROM environments e JOIN steps s ON s.environment = e.id
		WHERE e.name = ? AND s.state = 2 AND s.remote_id <> '' AND (s.kind, s.remote_id) IN (VALUES (CAST(? AS BIGINT), ?), `+strings.Repeat("(?, ?), ", 7)+`(?, ?)) LIMIT 1`)
	if err != nil {
		return n, err
	}
	defer known.close()
	for _, e := range unknown {
		if ok, err := m.mayKnow(known, e.Tracked); err != nil || !ok {
			if err != nil {
				return n, err
			}
			continue
		}
		of, ok, err := m.find(e.Tracked)
		if err != nil {
			return n, err
		}
		_, erased := Erased(of.Client)
		switch {
		case !ok:
			continue
		case erased:
			n.Erased++
			err = m.exec(`DELETE FROM tracked WHERE id = ?`, e.id)
		default:
			n.Found++
			err = m.exec(`UPDATE tracked SET client = ?, step = ? WHERE id = ?`, of.client, of.id, e.id)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// mayKnow reports whether some step may be done with one of an event's ids.
func (m trackedMatcher) mayKnow(known *statement, e Tracked) (ok bool, err error) {
	for _, environment := range m.environments {
		args := []any{environment}
		for _, of := range []struct{ kind, id string }{{KindActivity, e.ActivityID}, {KindClaim, e.ClaimID}, {KindClient, e.ClientID}} {
			for _, spelling := range spellings(of.id) {
				args = append(args, code(kinds, of.kind), asID(spelling))
			}
		}
		_, ok, err = known.first(args...)
		if ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// CompleteTracked notes which of a service's events mean that the client has completed
// the activity. It may be told otherwise later.
func (l *Ledger) CompleteTracked(service string, means func(kind, status string) bool) error {
	return l.submit(true, func(t *transaction) error {
		sorts, err := gather(stream(context.Background(), t.conn, func(rows *sql.Rows) (s [2]string, err error) { return s, rows.Scan(&s[0], &s[1]) },
			`SELECT DISTINCT kind, status FROM tracked WHERE service = ?`, service))
		for _, s := range sorts {
			err = errors.Join(err, t.exec(`UPDATE tracked SET completed = ?1 WHERE service = ?2 AND kind = ?3 AND status = ?4 AND completed <> ?1`,
				means(s[0], s[1]), service, s[0], s[1]))
		}
		return err
	})
}

// forgetTracked removes the events of a client, and those that a later match would
// find to be the client's.
func (t *transaction) forgetTracked(client int64) error {
	if err := t.exec(`DELETE FROM tracked WHERE client = ?`, client); err != nil {
		return err
	}
	ids, err := gather(stream(context.Background(), t.conn, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan((*packed)(&id))
		return id, err
	}, `SELECT remote_id FROM steps WHERE client = ? AND remote_id <> ''`, client))
	if err != nil {
		return err
	}
	return t.exec(`DELETE FROM tracked WHERE client = 0 AND EXISTS (SELECT 1 FROM json_each(?) WHERE value IN (client_id, claim_id, activity_id))`, list(ids))
}

// find finds the step of an event by its ids, the narrowest first.
func (m trackedMatcher) find(e Tracked) (of row, ok bool, err error) {
	if of, ok, err = m.withID(KindActivity, e.ActivityID); ok || err != nil {
		return of, ok, err
	}
	claim, isClaim, err := m.withID(KindClaim, e.ClaimID)
	if err != nil {
		return of, false, err
	}
	if isClaim {
		_, key, _ := strings.Cut(claim.Step, "/")
		if of, ok, err = m.activity(claim, e.Activity, func(step string) bool { return strings.HasSuffix(step, "@"+key) }); ok || err != nil {
			return of, ok, err
		}
		return claim, true, nil
	}
	client, isClient, err := m.withID(KindClient, e.ClientID)
	if err != nil || !isClient {
		return of, false, err
	}
	if of, ok, err = m.activity(client, e.Activity, func(string) bool { return true }); ok || err != nil {
		return of, ok, err
	}
	return client, true, nil
}

// withID returns the step of a kind that is done with an id.
func (m trackedMatcher) withID(kind, id string) (of row, ok bool, err error) {
	for _, environment := range m.environments {
		for _, spelling := range slices.Compact(spellings(id)) {
			holder, ok, err := holderOfID(context.Background(), m.conn, m.rows, Event{StepID: StepID{ClientKey: ClientKey{Environment: environment}}, Kind: kind, ID: spelling})
			if err != nil {
				return of, false, err
			}
			if ok {
				of, err = m.step(holder)
				return of, true, err
			}
		}
	}
	return of, false, nil
}

// spellings are an id as it is and, where it is a UUID, in lower case and in upper case:
// in which case one is written says nothing.
func spellings(id string) []string {
	if _, isUUID := asID(strings.ToLower(id)).uuid(); !isUUID {
		return []string{id, id, id}
	}
	return []string{id, strings.ToLower(id), strings.ToUpper(id)}
}

// activity returns the only activity of a client that has a name and fits.
func (m trackedMatcher) activity(of row, name string, fits func(step string) bool) (found row, ok bool, err error) {
	if name == "" {
		return found, false, nil
	}
	for r, err := range stream(context.Background(), m.conn, m.rows.scan, stepsOf+`WHERE s.client = ? AND s.kind = ?`, of.client, code(kinds, KindActivity)) {
		if err != nil {
			return row{}, false, err
		}
		if !fits(r.Step) || m.name(r.step()) != name {
			continue
		}
		if ok {
			return row{}, false, nil // it may be either
		}
		found, ok = r, true
	}
	return found, ok, nil
}

// storedTracked is a row of tracked.
type storedTracked struct {
	Tracked
	id, client, step int64
	service          string
}

const trackedColumns = `SELECT t.id, t.service, t.client, t.step, t.key, t.kind, t.status, t.completed, t.at, t.received, t.client_id, t.claim_id, t.activity_id, t.activity`

func (e *storedTracked) targets() []any {
	return []any{&e.id, &e.service, &e.client, &e.step, &e.Key, &e.Kind, &e.Status, &e.Completed, (*instant)(&e.At), (*instant)(&e.Received),
		&e.ClientID, &e.ClaimID, &e.ActivityID, &e.Activity}
}

func scanTracked(rows *sql.Rows) (e storedTracked, err error) {
	err = rows.Scan(e.targets()...)
	return e, err
}

// trackedSteps yields the events that a condition selects, each with its step.
func (l *Ledger) trackedSteps(ctx context.Context, condition string, args ...any) iter.Seq2[TrackedStep, error] {
	return func(yield func(TrackedStep, error) bool) {
		events, err := gather(stream(ctx, l.read, scanTracked, trackedColumns+` FROM tracked t WHERE t.client <> 0 AND `+condition+` ORDER BY t.client, t.at, t.id`, args...))
		if err != nil {
			yield(TrackedStep{}, err)
			return
		}
		for chunk := range slices.Chunk(events, eventsAtOnce) {
			of, err := l.stepsNumbered(ctx, chunk)
			for i := 0; i < len(chunk) && err == nil; i++ {
				e := chunk[i]
				s := TrackedStep{Tracked: e.Tracked, Of: of[e.step]}
				s.StepID, s.Of.Ref.Owner, s.Of.Ref.Step = s.Of.StepID, e.client, e.step
				if !yield(s, nil) {
					return
				}
			}
			if err != nil {
				yield(TrackedStep{}, err)
				return
			}
		}
	}
}

// eventsAtOnce is of how many events the steps are read in one query.
const eventsAtOnce = 500

// stepsNumbered returns the steps of events by their numbers.
func (l *Ledger) stepsNumbered(ctx context.Context, events []storedTracked) (map[int64]Step, error) {
	ids := make([]int64, len(events))
	for i, e := range events {
		ids[i] = e.step
	}
	slices.Sort(ids)
	steps := make(map[int64]Step, len(ids))
	for r, err := range stream(ctx, l.read, l.rows.scan, stepsOf+`WHERE s.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`, numbers(ids)) {
		if err != nil {
			return nil, err
		}
		steps[r.id] = r.step()
	}
	return steps, nil
}

// TrackedOfClient returns what the service has said about a client, the oldest first.
func (l *Ledger) TrackedOfClient(ctx context.Context, owner ClientKey) ([]TrackedStep, error) {
	return gather(l.trackedSteps(ctx, `t.client = (SELECT c.id FROM clients c WHERE `+ofClient+`)`, owner.Environment, owner.Client, owner.Space))
}

// TrackedOfEnvironment returns what the service has said until now about the clients of an
// environment, by client and in the order of the events.
func (l *Ledger) TrackedOfEnvironment(ctx context.Context, environment string) ([]TrackedStep, error) {
	return gather(l.trackedSteps(ctx, `t.client IN (SELECT c.id FROM environments e JOIN clients c ON c.environment = e.id WHERE e.name = ?)`, environment))
}

// CountTracked returns how many steps the clients of a service have completed, and how
// many events have ids that the ledger does not know.
func (l *Ledger) CountTracked(ctx context.Context, service string) (completed, unknown int, err error) {
	err = l.read.QueryRowContext(ctx, `SELECT count(DISTINCT CASE WHEN completed <> 0 AND client <> 0 THEN step END), count(*) FILTER (WHERE client = 0)
		FROM tracked WHERE service = ?`, service).Scan(&completed, &unknown)
	return completed, unknown, asDamage(err)
}
