package importer

import (
	"context"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
)

// reclassifyConflict gives a conflict another meaning where an earlier attempt at the step
// may have worked, in this run or before: what the service says is there
// already may be what that attempt made, whatever an operator found since. The
// step is uncertain then; a client is looked up as always.
func (r *clientRun) reclassifyConflict(d decision, v apiclient.Verdict) (apiclient.Verdict, error) {
	if v.Effect != apiclient.Refused || v.Retry != apiclient.Never || v.Status != 409 {
		return v, nil
	}
	// What was done is read whether or not the run is being stopped.
	events, err := r.job.Ledger.Events(context.Background(), r.job.stepID(r.plan.Client, d.step))
	if err != nil || !doubted(events) {
		return v, err
	}
	v.Effect, v.Reason = apiclient.Uncertain, v.Reason+", and an earlier attempt may have created it"
	return v, nil
}

// doubted tells that some attempt since the step was last done may have worked
// without a word.
func doubted(events []ledger.Event) bool {
	doubt := false
	for _, event := range events {
		switch event.To {
		case ledger.Uncertain, ledger.Parked:
			doubt = true
		case ledger.Done:
			doubt = false
		}
	}
	return doubt
}
