package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Append records events and returns when they are durable: after that an intent
// survives a power loss, and its request may be sent. The events of one call are
// recorded in order, all or none; calls that wait at the same time share one
// commit.
//
// An event that its step's state does not allow fails the call with
// ErrTransition, and one that would make a step done with the id or url of another
// step fails it with Taken; other callers are not affected. Any other error wraps
// ErrStopped: it is unknown whether the events were recorded, and no later call
// records anything.
func (l *Ledger) Append(events ...Event) error {
	if l.write == nil {
		return ErrReadOnly
	}
	if len(events) == 0 {
		return nil
	}
	for _, e := range events {
		if err := checkEvent(e); err != nil {
			return err
		}
	}
	return l.submit(true, func(t *transaction) error { return t.appendAll(events) })
}

// checkEvent refuses an event that lacks a name or a time, or has an unknown kind.
func checkEvent(e Event) error {
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

// appendAll records events inside a savepoint, so that when one is rejected those
// before it are rolled back, and other callers' events are not.
func (t *transaction) appendAll(events []Event) error {
	if len(events) == 1 { // rejected before anything is written
		return t.append(events[0])
	}
	if err := t.exec("SAVEPOINT call"); err != nil {
		return err
	}
	before := t.event
	for _, e := range events {
		err := t.append(e)
		if _, ok := errors.AsType[rejected](err); ok {
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

// append records one event and the step's new state. It writes nothing when it
// rejects the event.
func (t *transaction) append(e Event) error {
	was, err := t.step(e.StepID)
	if err != nil {
		return err
	}
	if was.id == 0 && e.Kind == "" {
		return rejected{errors.New("a step's first event needs its kind")}
	}
	now, err := next(was, e, t.event+1)
	if err != nil {
		return rejected{err}
	}
	if now, err = t.rejectTaken(e, was, now); err != nil {
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

// step returns a step's current state; the zero current when it is unknown.
func (t *transaction) step(id StepID) (current, error) {
	var c current
	var owner int64
	err := t.findOwner.QueryRowContext(context.Background(), id.Environment, id.Space, id.Client).Scan(&owner)
	if err == nil {
		err = t.findStep.QueryRowContext(context.Background(), owner, id.Mapping, id.Step).Scan(
			&c.id, &c.kind, &c.state, &c.attempts, &c.last, &c.request, &c.answer, &c.remoteID, &c.url)
	}
	_, err = found(err)
	return c, err
}

// putStep stores a step's current state and returns its number.
func (t *transaction) putStep(id StepID, c current) (int64, error) {
	if c.id != 0 {
		_, err := t.setStep.ExecContext(context.Background(), string(c.state), c.attempts, c.last,
			number(c.request), number(c.answer), c.remoteID, c.url, int64(sumOfStep(id, c)), c.id)
		return c.id, err
	}
	owner, err := t.owner(id.ClientKey)
	if err != nil {
		return 0, err
	}
	r, err := t.addStep.ExecContext(context.Background(), owner, id.Mapping, id.Step, c.kind, string(c.state),
		c.attempts, c.last, number(c.request), number(c.answer), c.remoteID, c.url, int64(sumOfStep(id, c)))
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// MarkInterrupted makes every step in Intent Uncertain, in every environment and
// in one transaction, and returns how many there were. It is called with the lock
// held, at the start of a run or of a decision: then no request is on its way, and
// such a step belongs to a process that was killed.
func (l *Ledger) MarkInterrupted(run string, at time.Time) (int, error) {
	var n int
	err := l.submit(true, func(t *transaction) error {
		open, err := gather(stream(context.Background(), t.conn, scanStepID, `
			SELECT environment, space, client, mapping, step FROM step_now
			WHERE state IN ('intent', 'uncertain', 'parked') AND state = 'intent' ORDER BY last`))
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
	return n, err
}

// Taken is wrapped by the error of an Append that would have made a step done
// with the id or the redirect url of another step. An id belongs to one step of
// its kind; a url belongs to one client.
type Taken struct {
	Step   StepID // the step that was to become done
	Holder StepID // the one that has the id or url
	URL    bool   // the url is taken, not the id
}

func (t Taken) Error() string {
	if t.URL {
		return "another client's step is done with the same redirect url"
	}
	return "another step is done with the same id"
}

// StepWithID finds another step that is done with the id or url of an event. ok is
// false when there is none. Append checks the same inside its transaction.
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

// findHolder looks for the id first, then for the url.
func findHolder(e Event, query func(string, ...any) *sql.Row) (t Taken, ok bool, err error) {
	t.Step = e.StepID
	scan := func(row *sql.Row) (bool, error) {
		h := &t.Holder
		return found(row.Scan(&h.Environment, &h.Space, &h.Client, &h.Mapping, &h.Step))
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

// rejectTaken rejects an event that would make a step done with the id or url of
// another. An id or url that the step has already, from a version that did not
// check, stays. A taken url that comes from an earlier answer and not from the
// event is dropped: the step is done without it.
func (t *transaction) rejectTaken(event Event, was, now current) (current, error) {
	if now.state != Done {
		return now, nil
	}
	e := Event{StepID: event.StepID, Kind: now.kind}
	if was.state != Done || was.remoteID != now.remoteID {
		e.ID = now.remoteID
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
		return now, rejected{taken}
	}
	return now, err
}
