package importer

import (
	"cmp"
	"context"
	"iter"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/parallel"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// Project writes into Drafts the results that plans have by what the ledger knows now, as the
// run Runs shows them: what that run brought about is done, what was done before it is
// unchanged, and a step that the ledger does not have is not started. It asks the service
// nothing and needs none, and records nothing. It returns the counts and the problems of the
// rows. Call it once, in place of Do.
func (j *Job) Project(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) (result.Summary, problem.List, error) {
	j.knows, j.mode = true, projects
	j.lookups = lookup.New(j.Service, lookup.Options{Now: j.now})
	if err := j.loadErased(ctx); err != nil {
		return result.Summary{}, nil, err
	}
	for runs, err := range parallel.Map(chunked(plans, readAhead), j.prepareClients) {
		if err != nil {
			return result.Summary{}, nil, err
		}
		for _, r := range runs {
			outcome, err := r.execute(ctx)
			if err == nil {
				err = j.record(outcome)
			}
			if err != nil {
				return result.Summary{}, nil, err
			}
		}
	}
	return j.tally.summary, j.tally.listed(), ctx.Err()
}

// projected is the outcome of a step that would be sent, by what became of the last attempt.
func (r *clientRun) projected(d decision) stepOutcome {
	o := stepOutcome{Step: d.step, Status: result.NotStarted, Error: "it was not sent", Advice: adviceStopped}
	switch {
	case d.known.To == ledger.Refused && d.known.Event.Status == 0:
		o.Status, o.Error, o.Advice = result.Failed, cmp.Or(d.known.Reason, o.Error), adviceNotSent
	case d.known.To == ledger.Refused:
		o.Status, o.Error, o.Advice = result.Failed, cmp.Or(d.known.Reason, "the service refused it"), r.adviceRefusal(d.step, "")
	}
	return o
}
