package importer

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/stoprule"
	"claimsheet/mapping"
)

// commit makes events durable, in the ledger or, when that cannot be written any
// more, in the journal. Where the ledger refuses one it returns stepChanged.
func (j *Job) commit(events []ledger.Event) error {
	if j.mode != carriesOut {
		return nil
	}
	err := j.append(events)
	switch {
	case err == nil:
		j.seeAnswers(events, nil)
	case errors.Is(err, ledger.ErrStopped):
		return errors.Join(err, j.Journal.Keep(events...))
	case isRefusal(err):
		return j.commitApart(events, err)
	}
	return err
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

// commitApart makes the outcomes of a refused call durable one by one: one of its events
// must not take another's id with it. An intent is left out, so its request is not sent.
func (j *Job) commitApart(events []ledger.Event, refusal error) error {
	changed := &stepChanged{step: events[len(events)-1].StepID, why: refusal}
	var errs []error // an error about one outcome does not take another's id with it either
	for i, e := range events {
		if e.To == ledger.Sent {
			continue
		}
		err := refusal
		if len(events) > 1 {
			err = j.append([]ledger.Event{e})
		}
		j.seeAnswers([]ledger.Event{e}, err)
		if isRefusal(err) {
			changed.step, changed.why = e.StepID, err
			err = j.commitOvertaken(e, err)
		}
		switch {
		case errors.Is(err, ledger.ErrStopped):
			return errors.Join(append(errs, err, j.Journal.Keep(events[i:]...))...)
		case err != nil:
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return changed
}

// seeAnswers lets the guard see whether the answers by which steps were created held what
// other steps have. At the second such answer in a row the run stops.
func (j *Job) seeAnswers(events []ledger.Event, refusal error) {
	taken, isTaken := errors.AsType[ledger.Taken](refusal)
	for _, e := range events {
		if e.To != ledger.Done || e.Via != ledger.ViaAnswer || refusal != nil && !(isTaken && !taken.Address && taken.Step == e.StepID) {
			continue
		}
		j.observe(stoprule.Observation{Of: stoprule.Answer, Kind: mapping.StepKind(e.Kind), Bad: isTaken})
	}
}

// commitOvertaken makes an outcome durable that the ledger refuses. What the service has
// created is recorded as uncertain, so that no run sends it again. An outcome without an answer
// says nothing that the ledger lacks, and a refused request has created nothing.
func (j *Job) commitOvertaken(e ledger.Event, refusal error) error {
	if e.Status == 0 || e.To == ledger.Refused {
		return nil
	}
	err := j.append([]ledger.Event{overtaken(e, refusal)})
	if isRefusal(err) { // it is refused in every way
		return errors.Join(fmt.Errorf("an answer cannot be recorded: %w", err), j.Journal.Keep(e))
	}
	return err
}

// reasonOvertaken begins the reason of a step that the service has created after somebody
// had decided about it, or another process had concluded something else.
const reasonOvertaken = "the service created it, and meanwhile another process or a decision (claimsheet settle) had changed the step"

// overtaken is the outcome by which a step becomes uncertain that the service has created:
// with the id, or without it where another step has that.
func overtaken(e ledger.Event, refusal error) ledger.Event {
	e.To, e.Via, e.Reason = ledger.Uncertain, ledger.ViaJournal, reasonOvertaken
	if t, ok := errors.AsType[ledger.Taken](refusal); ok {
		reason, _ := takenAnswer(e.Kind, e.ID, t)
		e.Reason, e.ID, e.URL = reasonWith(reason, hintTaken), "", ""
	} else if e.ID != "" {
		e.Reason += "; its id there is " + e.ID
	}
	return e
}

// isOvertaken reports whether a step is uncertain by overtaken. A person decides about it,
// also where its answer can be read; a client may be found by a look-up before that.
func isOvertaken(s ledger.Step) bool {
	return s.To == ledger.Uncertain && strings.HasPrefix(s.Reason, reasonOvertaken)
}

// What the ledger knows of a client is read before its run and holds as a rule until the
// run is over. Where a step has changed all the same, the ledger refuses what the run would
// record, and the client is read again, once (Job.finishClient). Its rows say so when that
// does not help; the other clients go on.

// stepChanged is returned when the ledger refuses an event: another process, or somebody
// who decided by hand, has changed the step since this run read it. What the service
// answered is kept all the same. Wrapped in another error, it is no more than a part of what
// ends the run.
type stepChanged struct {
	step ledger.StepID
	why  error // wraps ledger.ErrTransition or ledger.Taken
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

// holderOf names the step that has a taken id or url.
func holderOf(t ledger.Taken) string {
	client := fmt.Sprintf("the client with the key “%s”", t.Holder.Client)
	if at, ok := ledger.Erased(t.Holder.Client); ok {
		client = "a client who was erased on " + at.Format(time.DateOnly)
	}
	if t.Holder.Step != ledger.KindClient {
		return fmt.Sprintf("the step %s of %s", t.Holder.Step, client)
	}
	return client
}

// takenAnswer says that the service gave a step what another step has: reason
// without names, whose with them. The id is named, a url never, because it is a
// credential.
func takenAnswer(kind, id string, t ledger.Taken) (reason, whose string) {
	whose = "it is that of " + holderOf(t)
	if t.URL {
		return "the service gave it a redirect url that it had given to another client", whose
	}
	return fmt.Sprintf("the service gave it the id of another %s", kind), "id " + id + "; " + whose
}
