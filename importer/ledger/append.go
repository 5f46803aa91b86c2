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
