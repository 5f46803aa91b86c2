package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Append records events and returns when they are durable: an intent that it
// has taken survives a power loss, and its request may be sent. The events of
// one call are recorded all or not at all, in order; calls that wait at the
// same time share one commit.
//
// An event that does not follow from its step's state fails the call with
// ErrTransition, one that would make a step done with what another step has with
// Taken, and other callers notice nothing. Any other error wraps ErrStopped: whether the events were recorded is then not known, and nothing
// more is.
func (l *Ledger) Append(events ...Event) error {
	if l.write == nil {
		return ErrReadOnly
	}
	if len(events) == 0 {
		return nil
	}
	for _, e := range events {
		if err := complete(e); err != nil {
			return err
		}
	}
	return l.write.submit(true, func(t *transaction) error { return t.appendAll(events) })
}

// complete refuses an event whose name or kind could not be stored.
func complete(e Event) error {
	switch {
	case e.Environment == "" || e.Client == "" || e.Step == "":
		return errors.New("an event needs an environment, a client and a step")
	case e.At.IsZero():
		return errors.New("an event needs a time")
	case e.Kind != "" && !slices.Contains([]string{KindClient, KindClaim, KindActivity, KindLink}, e.Kind):
		return fmt.Errorf("%q is not a kind of step", e.Kind)
	}
	return nil
}

// appendAll records events inside a savepoint, so that a refusal half-way
// takes back the first half without touching other callers' events.
func (t *transaction) appendAll(events []Event) error {
	if len(events) == 1 { // refused before anything is written
		return t.append(events[0])
	}
	if err := t.exec("SAVEPOINT call"); err != nil {
		return err
	}
	before := t.event
	for _, e := range events {
		err := t.append(e)
		if _, ok := errors.AsType[declined](err); ok {
			if undo := t.exec("ROLLBACK TO call; RELEASE call"); undo != nil {
				return undo
			}
			t.event = before
		}
		if err != nil {
			return err
		}
	}
	return t.exec("RELEASE call")
}

// append records one event and what it makes of its step. It writes nothing
// when it refuses the event.
func (t *transaction) append(e Event) error {
	was, err := t.step(e.StepID)
	if err != nil {
		return err
	}
	if was.id == 0 && e.Kind == "" {
		return declined{errors.New("a step's first event needs its kind")}
	}
	now, err := next(was, e, t.event+1)
	if err != nil {
		return declined{err}
	}
	if now, err = t.refuseTaken(e, was, now); err != nil {
		return err
	}
	if now.id, err = t.putStep(e.StepID, now); err != nil {
		return err
	}
	t.event++
	if e.Boot == "" {
		e.Boot, e.Uptime = bootClock()
	}
	_, err = t.addEvent.ExecContext(context.Background(), t.event, now.id, string(e.To), stamp(e.At), e.Boot, e.Uptime.Microseconds(),
		e.Run, e.Via, e.Status, e.Reason, blob(e.Data), e.Digest, blob(e.Answer), e.ID, e.URL, int64(sumOfEvent(t.event, now.id, e)))
	return err
}

// step is a step's current state; the zero current when it is not known.
func (t *transaction) step(id StepID) (current, error) {
	var c current
	var owner int64
	err := t.findOwner.QueryRowContext(context.Background(), id.Environment, id.Space, id.Client).Scan(&owner)
	if err == nil {
		err = t.findStep.QueryRowContext(context.Background(), owner, id.Mapping, id.Step).Scan(
			&c.id, &c.kind, &c.state, &c.attempts, &c.last, &c.asked, &c.answered, &c.created, &c.url)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return current{}, nil
	}
	return c, err
}

// putStep stores a step's current state and returns its number.
func (t *transaction) putStep(id StepID, c current) (int64, error) {
	if c.id != 0 {
		_, err := t.setStep.ExecContext(context.Background(), string(c.state), c.attempts, c.last,
			number(c.asked), number(c.answered), c.created, c.url, int64(sumOfStep(id, c)), c.id)
		return c.id, err
	}
	owner, err := t.owner(id.ClientKey)
	if err != nil {
		return 0, err
	}
	r, err := t.addStep.ExecContext(context.Background(), owner, id.Mapping, id.Step, c.kind, string(c.state),
		c.attempts, c.last, number(c.asked), number(c.answered), c.created, c.url, int64(sumOfStep(id, c)))
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// MarkInterrupted is called at the start of a run or a decision of an operator,
// the lock being held, so that nobody can be about to answer: every step still
// in Intent belongs to a process that was killed. All of them become Uncertain,
// in every environment, in one transaction; how many is returned.
func (l *Ledger) MarkInterrupted(run string, at time.Time) (int, error) {
	if l.write == nil {
		return 0, ErrReadOnly
	}
	var n int
	err := l.write.submit(true, func(t *transaction) error {
		open, err := t.intents()
		if err != nil {
			return err
		}
		for _, id := range open {
			err := t.append(Event{StepID: id, To: Uncertain, At: at, Run: run,
				Reason: "the run that was sending it ended before it could record the answer"})
			if err != nil {
				return err
			}
		}
		n = len(open)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// intents are the steps in Intent, in the order in which they got there.
func (t *transaction) intents() ([]StepID, error) {
	rows, err := t.conn.QueryContext(context.Background(), `
		SELECT environment, space, client, mapping, step FROM step_now
		WHERE state IN ('intent', 'uncertain', 'parked') AND state = 'intent' ORDER BY last`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []StepID
	for rows.Next() {
		var id StepID
		if err := rows.Scan(&id.Environment, &id.Space, &id.Client, &id.Mapping, &id.Step); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Taken is wrapped by the error of an Append that would have made a step done
// with an id or a redirect url that another step has. An id is one step's
// among those of its kind; a url is one client's.
type Taken struct {
	Step   StepID // the step that was to become done
	Holder StepID // the one that has the id or url
	URL    bool   // it is the url that is taken, not the id
}

func (t Taken) Error() string {
	if t.URL {
		return "another client's step is done with the same redirect url"
	}
	return "another step is done with the same id"
}

// StepWithID finds the step that has the id or url of an event by which another
// step is to become done. ok is false when there is none. Append asks the same
// inside its transaction.
func (l *Ledger) StepWithID(ctx context.Context, e Event) (t Taken, ok bool, err error) {
	return findHolder(e, func(query string, args ...any) *sql.Row { return l.read.QueryRowContext(ctx, query, args...) })
}

const (
	// holderOfID and holderOfURL repeat the conditions of their indexes, which
	// SQLite otherwise would not use.
	holderOfID = `
		SELECT o.environment, o.space, o.client, s.mapping, s.step FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.created = ? AND s.created <> '' AND s.kind = ? AND s.state = 'done' AND o.environment = ?
			AND NOT (o.space = ? AND o.client = ? AND s.mapping = ? AND s.step = ?)
		ORDER BY s.id LIMIT 1`
	holderOfURL = `
		SELECT o.environment, o.space, o.client, s.mapping, s.step FROM steps s JOIN owners o ON o.id = s.owner
		WHERE s.url = ? AND s.url <> '' AND s.state = 'done' AND o.environment = ?
			AND NOT (o.space = ? AND o.client = ?)
		ORDER BY s.id LIMIT 1`
)

// findHolder asks for the id first, then for the url.
func findHolder(e Event, query func(string, ...any) *sql.Row) (t Taken, ok bool, err error) {
	t.Step = e.StepID
	scan := func(row *sql.Row) (bool, error) {
		h := &t.Holder
		err := row.Scan(&h.Environment, &h.Space, &h.Client, &h.Mapping, &h.Step)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		return err == nil, err
	}
	if e.ID != "" {
		if ok, err = scan(query(holderOfID, e.ID, e.Kind, e.Environment, e.Space, e.Client, e.Mapping, e.Step)); ok || err != nil {
			return t, ok, err
		}
	}
	if e.URL != "" {
		t.URL = true
		ok, err = scan(query(holderOfURL, e.URL, e.Environment, e.Space, e.Client))
	}
	return t, ok, err
}

// refuseTaken declines what would make a step done with the id or url of
// another. One that the step has already, from before this was refused, stays.
// A url that the event does not bring, but an earlier answer did, declines
// nothing: the step is done without it.
func (t *transaction) refuseTaken(event Event, was, now current) (current, error) {
	if now.state != Done {
		return now, nil
	}
	e := Event{StepID: event.StepID, Kind: now.kind}
	if was.state != Done || was.created != now.created {
		e.ID = now.created
	}
	if was.state != Done || was.url != now.url {
		e.URL = now.url
	}
	taken, ok, err := findHolder(e, func(query string, args ...any) *sql.Row {
		if query == holderOfURL {
			return t.findURL.QueryRowContext(context.Background(), args...)
		}
		return t.findID.QueryRowContext(context.Background(), args...)
	})
	switch {
	case ok && taken.URL && event.URL == "":
		now.url = ""
	case ok:
		return now, declined{taken}
	}
	return now, err
}

// SharedIDs are the ids of an environment that several clients' steps are done
// with, each with the client who was known first. A ledger may hold them from
// before they were refused.
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
