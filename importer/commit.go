package importer

import (
	"errors"
	"fmt"
	"strings"

	"claimsheet/importer/ledger"
)

// stepChanged is returned when the ledger refuses an event: another process, or somebody
// who decided by hand, has changed the step since this run read it. What the service
// answered is kept all the same. The error ends the work on one client, which is begun
// again (executeUnchanged). Wrapped in another error, it is no more than a part of what
// ends the run.
type stepChanged struct {
	step ledger.StepID
	why  error          // wraps ledger.ErrTransition or ledger.Taken
	kept []ledger.Event // outcomes that only the emergency file has
}

func (s *stepChanged) Error() string { return "a step was changed meanwhile: " + s.why.Error() }

func (s *stepChanged) Unwrap() error { return s.why }

func isChanged(err error) bool {
	_, ok := err.(*stepChanged)
	return ok
}

// isRefusal reports whether the ledger refuses an event and goes on.
func isRefusal(err error) bool {
	return (errors.Is(err, ledger.ErrTransition) || errors.As(err, new(ledger.Taken))) && !errors.Is(err, ledger.ErrStopped)
}

// commit makes events durable, in the ledger or, when that cannot be written any
// more, in the emergency file. Where the ledger refuses one it returns stepChanged.
func (j *Job) commit(events []ledger.Event) error {
	err := j.append(events)
	if !errors.Is(err, ledger.ErrLeaseLost) || errors.Is(err, ledger.ErrStopped) { // else they are appended again
		j.holders.release(events...)
	}
	switch {
	case errors.Is(err, ledger.ErrStopped):
		return j.keepStopped(err, events)
	case isRefusal(err):
		return j.commitApart(events, err)
	}
	return err
}

// keepStopped keeps the outcomes of events that the ledger cannot take any more.
func (j *Job) keepStopped(stopped error, events []ledger.Event) error {
	keep := j.Emergency.Keep
	if errors.Is(stopped, ledger.ErrLeaseLost) { // the step is another process's by now
		keep = j.Emergency.KeepOther
	}
	return errors.Join(stopped, keep(events...))
}

// commitApart makes the outcomes of a refused call durable one by one: one of its events
// must not take another's id with it. An intent is left out, so its request is not sent.
func (j *Job) commitApart(events []ledger.Event, refusal error) error {
	changed := &stepChanged{step: events[len(events)-1].StepID, why: refusal}
	for i, e := range events {
		if e.To == ledger.Intent {
			continue
		}
		err := refusal
		if len(events) > 1 {
			err = j.append([]ledger.Event{e})
		}
		if isRefusal(err) {
			changed.step, changed.why = e.StepID, err
			err = j.commitOvertaken(e, changed)
		}
		switch {
		case errors.Is(err, ledger.ErrStopped):
			return j.keepStopped(err, events[i:])
		case err != nil:
			return err
		}
	}
	return changed
}

// commitOvertaken makes an outcome durable that the ledger refuses. What the service has
// created is recorded as uncertain, so that no run sends it again. Else the answer is kept
// in the emergency file. An outcome without an answer says nothing that the ledger lacks.
func (j *Job) commitOvertaken(e ledger.Event, changed *stepChanged) error {
	if e.Status == 0 {
		return nil
	}
	if e.To == ledger.Done {
		if err := j.append([]ledger.Event{overtaken(e, changed.why)}); !isRefusal(err) {
			return err
		}
	}
	changed.kept = append(changed.kept, e)
	return j.Emergency.KeepOther(e)
}

// reasonOvertaken begins the reason of a step that the service has created after somebody
// had decided about it, or another process had concluded something else.
const reasonOvertaken = "the service created it, and meanwhile another process or a decision (claimsheet settle) had changed the step"

// overtaken is the outcome by which a step becomes uncertain that the service has created:
// with the id, or without it where another step has that.
func overtaken(e ledger.Event, refusal error) ledger.Event {
	e.To, e.Via, e.Reason = ledger.Uncertain, "", reasonOvertaken
	if t, ok := errors.AsType[ledger.Taken](refusal); ok {
		reason, _ := takenAnswer(e.Kind, e.ID, t)
		e.Reason, e.ID, e.URL = reasonWith(reason, hintTaken), "", ""
	} else if e.ID != "" {
		e.Reason += "; its id there is " + e.ID
	}
	return e
}

// isOvertaken reports whether a step is uncertain by overtaken. A person decides about it,
// also where its answer can be read.
func isOvertaken(s ledger.Step) bool {
	return s.To == ledger.Uncertain && strings.HasPrefix(s.Reason, reasonOvertaken)
}

// append is Ledger.Append. After a panic the ledger counts as one that cannot be written:
// it is unknown whether it has the events.
func (j *Job) append(events []ledger.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %w", ledger.ErrStopped, Caught(v))
		}
	}()
	return j.Ledger.Append(events...)
}
