package importer

import (
	"context"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// looksUp tells whether the service is asked for a client that the ledger does
// not know.
func (j *Job) looksUp(plan mapping.Plan) bool {
	by, _ := asks(plan.Lookup)
	return j.Binding.Mapping().Client.Existing != mapping.Create && len(by) > 0
}

// knownSteps is what the ledger knows of a plan's client.
func (j *Job) knownSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	if plan.Client == (mapping.Identity{}) {
		return nil, nil
	}
	// A record of what was done is read whether or not the run is being stopped.
	return j.Ledger.Steps(context.Background(), j.owner(plan.Client), j.Binding.Mapping().Name.Text)
}

// withoutSteps settles plans for which nothing is sent, whatever the service
// knows: left out, or with problems.
func (j *Job) withoutSteps(plan mapping.Plan, known map[string]ledger.Step) (Outcome, bool) {
	client := known["client"]
	switch why := j.leavesOut(plan); {
	case plan.Skipped:
		return leftOut(plan, "", "left out by the mapping's sheet.when"), true
	case why != "":
		return leftOut(plan, client.ID, why), true
	case len(plan.Problems) > 0:
		url := client.URL
		if link := known["link"]; link.URL != "" {
			url = link.URL
		}
		return invalidOutcome(plan, client.ID, url), true
	}
	return Outcome{}, false
}

// greet does what the mapping says of a client whom the service knows, and
// refuses one of whom it cannot be told who it is. over tells that nothing
// more is to be done. The executor and the dry run share it.
func (j *Job) greet(ctx context.Context, plan mapping.Plan, decisions []decision, met *meeting) (o Outcome, over bool) {
	existing := j.Binding.Mapping().Client.Existing
	if met.id != "" && existing == mapping.Reuse {
		other, clash := j.meetings.own(met.id, plan.Client)
		if !clash {
			other, clash = j.otherOwner(ctx, met.id, plan.Client)
		}
		if clash {
			met.reason, met.advice = clashReason(other), adviceWhoIsIt
		}
	}
	switch {
	case met.reason != "":
	case met.id != "" && existing == mapping.Skip:
		return leftOut(plan, met.id, adviceSkipped), true
	case met.id != "" && existing == mapping.Fail:
		met.reason, met.advice = reasonKnown, adviceKnown
	default:
		return Outcome{}, false
	}
	steps, _ := walk(decisions, func(d decision) (StepOutcome, error) {
		return StepOutcome{Step: d.step, Status: FailedRow, Error: met.reason, Advice: met.advice}, nil
	})
	return outcomeOf(plan, steps), true
}

const reasonKnown = "the service knows this client already"

// otherOwner finds another client of the ledger that has the same id.
func (j *Job) otherOwner(ctx context.Context, id string, who mapping.Identity) (mapping.Identity, bool) {
	for owner, err := range j.Ledger.OwnersOf(ctx, j.Environment, id) {
		other := mapping.Identity{Space: owner.Space, Key: owner.Client}
		if err == nil && other != who {
			return other, true
		}
	}
	return mapping.Identity{}, false
}

// adopt makes the client step one that is done: a look-up found the client.
func (d *decision) adopt(id string, v1 bool) {
	d.action, d.known.To, d.known.ID = adopted, ledger.Done, id
	if v1 {
		d.why = adviceNoLinkV1
	}
}

// stops tells that a failure is one that no other request will be spared.
func stops(err error) bool {
	f, ok := err.(*apiclient.Failure)
	return ok && f.Stop
}

// finish adds what is known only of the client as a whole.
func finish(o *Outcome, decisions []decision) {
	for _, d := range decisions {
		o.MappingChanged = o.MappingChanged || d.mapping && d.action != send
	}
}
