package importer

import (
	"context"
	"errors"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// What the ledger knows of a client is read before its run and holds as a rule until the
// run is over: the ledger is locked, or the client is leased. Where a step has changed all
// the same, the ledger refuses what the run would record, and the client is read again. Its
// rows say so when that does not help; the other clients go on.

// mostReadings is how often a client is read again.
const mostReadings = 3

// executeUnchanged is execute for a client whose steps somebody else may change meanwhile.
// last is the run that had the outcome.
func (r *clientRun) executeUnchanged(ctx context.Context) (outcome clientOutcome, last *clientRun, err error) {
	stopped := false
	for readings := 0; ; {
		outcome, err = r.execute(ctx)
		if changed, ok := err.(*stepChanged); ok {
			r = r.again()
			r.noteKept(changed.kept)
			r.asIs = readings == mostReadings || r.isUnleased()
			if r.readAndPrepare(); r.asIs {
				outcome, err = r.changedOutcome(changed)
				return outcome, r, err
			}
			readings++
			continue
		}
		f, failed := errors.AsType[*apiclient.Failure](err)
		if !failed || stopped {
			return outcome, r, err
		}
		// A look-up said that no other request will fare better: the client is
		// recorded as not started, like all that follow.
		r.job.stop(f)
		stopped, r = true, r.again()
		r.readAndPrepare()
	}
}

// isUnleased reports whether nothing may be sent for the client, because the run has found
// nothing to do for it and has not leased it.
func (r *clientRun) isUnleased() bool { return r.job.Ledger.Shared() && len(r.group) == 0 }

// again is a run of the same client that has done nothing yet, with what holds on.
func (r *clientRun) again() *clientRun {
	again := r.job.newClientRun(r.plan)
	again.reread = true
	again.tickets, again.group, again.leased, again.kept = r.tickets, r.group, r.leased, r.kept
	again.sent, again.answered, again.lookedUp = r.sent, r.answered, r.lookedUp
	return again
}

// reparse is Job.reparse, unless the run takes the steps as they are.
func (r *clientRun) reparse(known map[string]ledger.Step) (altered bool, err error) {
	if r.asIs {
		return false, nil
	}
	return r.job.reparse(known)
}

// noteKept notes outcomes that only the emergency file has. Their steps are not sent again
// in this run, whatever the ledger says.
func (r *clientRun) noteKept(events []ledger.Event) {
	if r.kept == nil {
		r.kept = map[ledger.StepID]string{}
	}
	for _, e := range events {
		r.kept[e.StepID] = e.ID
	}
}

// keptID is the id that the emergency file has of a step; ok is false where it has nothing.
func (r *clientRun) keptID(step *mapping.Step) (id string, ok bool) {
	if len(r.leader.kept) == 0 { // as a rule
		return "", false
	}
	id, ok = r.leader.kept[r.job.stepID(r.plan.Client, step)]
	return id, ok
}

const (
	reasonChanged = "the ledger refused to record the step, because another process or a decision (claimsheet settle) had changed it meanwhile"
	adviceAgain   = "claimsheet history CLIENT-KEY shows what was recorded. Run again when nothing else works on the client: only what is missing is sent."
	reasonKept    = "the service answered, and the ledger refused the answer, because another process or a decision (claimsheet settle) had changed the step meanwhile: it is in the emergency file"
	adviceKept    = "The step is not sent again in this run. Look in the service what there is. Before you run again, see claimsheet settle: it records the answer, or says what is left to be decided."
)

// tellKept says of which steps only the emergency file has the answer.
func (r *clientRun) tellKept(steps []stepOutcome) {
	for i := range steps {
		id, kept := r.keptID(steps[i].Step)
		if o := &steps[i]; kept && !o.ok() {
			o.Status, o.Error, o.Advice, o.reason = result.Uncertain, reasonKept, adviceKept, reasonKept
			if id != "" {
				o.Error += "; its id in the service is " + id
			}
		}
	}
}

// changedOutcome is the outcome of a client that is not carried out to its end, because
// a step of it was changed whenever it was recorded.
func (r *clientRun) changedOutcome(changed *stepChanged) (clientOutcome, error) {
	switch {
	case r.failed != nil:
		return clientOutcome{}, r.failed
	case r.settled != nil:
		return *r.settled, nil
	}
	steps, _ := walk(r.decisions, func(d decision) (stepOutcome, error) { // which returns no error
		o := stepOutcome{Step: d.step, Status: result.NotStarted, Error: "another step of the client was changed meanwhile", Advice: adviceAgain}
		if r.job.stepID(r.plan.Client, d.step) != changed.step {
			return o, nil
		}
		o.Status, o.Error, o.reason = result.Failed, reasonChanged, reasonChanged
		if t, taken := errors.AsType[ledger.Taken](changed.why); taken {
			o.Error += ": what it was to get is that of " + holderOf(t)
		}
		return o, nil
	})
	r.tellKept(steps)
	return outcomeOf(r.job.Binding, r.plan, steps), nil
}
