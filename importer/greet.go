package importer

import (
	"context"
	"errors"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// looksUp tells whether the service is asked for a client that the ledger does
// not know.
func (j *Job) looksUp(plan mapping.Plan) bool {
	by, _ := asks(plan.Lookup)
	return j.Binding.Mapping().Client.Existing != mapping.Create && len(by) > 0
}

// knownSteps is what the ledger knows of a plan's client, whose kept answers are
// read again. A step that the ledger has in an older spelling of its key takes
// that in the plan.
func (j *Job) knownSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	return j.stepsOf(plan, j.reread)
}

// stepsOf is knownSteps with another way to read kept answers again.
func (j *Job) stepsOf(plan mapping.Plan, reread func(map[string]ledger.Step) error) (map[string]ledger.Step, error) {
	if plan.Client == (mapping.Identity{}) {
		return nil, nil
	}
	// A record of what was done is read whether or not the run is being stopped.
	known, err := j.Ledger.Steps(context.Background(), j.owner(plan.Client), j.Binding.Mapping().Name.Text)
	if err == nil {
		err = reread(known)
	}
	respell(plan, known)
	return known, err
}

// skipWords say why a row is left out.
var skipWords = map[mapping.SkipReason]string{
	mapping.BlankRow:  "the row is empty",
	mapping.HiddenRow: "the row is hidden, and the mapping's sheet.hidden_rows skips such rows",
	mapping.NotWhen:   "left out by the mapping's sheet.when",
}

// withoutSteps settles plans for which nothing is sent, whatever the service
// knows: left out, or with problems.
func (j *Job) withoutSteps(plan mapping.Plan, known map[string]ledger.Step) (Outcome, bool) {
	made, url := madeOf(known)
	switch why := j.leavesOut(plan); {
	case plan.Skipped != "":
		return leftOut(plan, made, url, skipWords[plan.Skipped]), true
	case why != "":
		return leftOut(plan, made, url, why), true
	case len(plan.Problems) > 0:
		return invalidOutcome(j.Binding, plan, made, url), true
	}
	return Outcome{}, false
}

// madeOf is what the ledger knows to be made of a client: nothing that it
// knows is kept from the workbook because tonight's row is left out or wrong.
func madeOf(known map[string]ledger.Step) (made ids, url string) {
	made.claims = map[string]string{}
	for key, step := range known {
		if step.To != ledger.Done {
			continue
		}
		switch step.Kind {
		case ledger.KindClient:
			made.client = step.ID
		case ledger.KindClaim:
			made.claims[key] = step.ID
		}
		if step.URL != "" && (url == "" || step.Kind == ledger.KindLink) {
			url = step.URL
		}
	}
	return made, url
}

// greet does what the mapping says of a client whom the service knows, and
// refuses one of whom it cannot be told who it is. over tells that nothing more is
// to be done. The executor and the dry run share it.
func (j *Job) greet(plan mapping.Plan, decisions []decision, met *meeting) (o Outcome, over bool, err error) {
	if met.reason == "" {
		if err := j.checkWhose(plan, met); err != nil {
			return Outcome{}, false, err
		}
	}
	existing := j.Binding.Mapping().Client.Existing
	switch {
	case met.reason != "":
	case met.id != "" && existing == mapping.Skip:
		return leftOut(plan, ids{client: met.id}, "", adviceSkipped), true, nil
	case met.id != "" && existing == mapping.Fail:
		met.reason, met.advice = reasonKnown, adviceKnown
	default:
		return Outcome{}, false, nil
	}
	return j.refused(plan, decisions, *met), true, nil
}

// checkWhose says in met why a client who is new to the ledger has to give way to
// another: what the ledger has done comes first, then an earlier attempt that may
// have created the other client with this one's address, whether or not somebody
// is found there. An id that is adopted is taken.
func (j *Job) checkWhose(plan mapping.Plan, met *meeting) error {
	adopts := met.id != "" && j.Binding.Mapping().Client.Existing == mapping.Reuse
	event := j.foundEvent(plan, met.id)
	if other, doubted := j.meetings.doubt(plan.Client, askedAddresses(plan.Lookup), adopts); doubted {
		met.reason, met.advice = doubtReason(other), adviceDoubtful
		// It is read whether or not the run is being stopped.
		t, done, err := j.Ledger.Holder(context.Background(), event)
		if done {
			met.reason, met.advice = clashReason(plan.Client, identityOf(t)), adviceWhoIsIt
		}
		return err
	}
	if !adopts {
		return nil
	}
	t, ok, err := j.take(event)
	if err == nil && !ok {
		met.reason, met.advice = clashReason(plan.Client, identityOf(t)), adviceWhoIsIt
	}
	return err
}

// refused is the outcome of a client for whom nothing is sent because of what
// was found out.
func (j *Job) refused(plan mapping.Plan, decisions []decision, met meeting) Outcome {
	steps, _ := walk(decisions, func(d decision) (StepOutcome, error) {
		return StepOutcome{Step: d.step, Status: result.Failed, Error: met.reason, Advice: met.advice, unmet: met.unmet, http: met.http}, nil
	})
	return outcomeOf(j.Binding, plan, steps)
}

// foundEvent is the event by which a client becomes done whom a look-up found.
func (j *Job) foundEvent(plan mapping.Plan, id string) ledger.Event {
	return ledger.Event{StepID: ledger.StepID{Owner: j.owner(plan.Client), Step: string(mapping.ClientStep)}, To: ledger.Done,
		At: time.Now().UTC(), Run: j.run(plan), Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: id}
}

const (
	reasonKnown    = "the service knows this client already"
	reasonDisagree = "the look-ups by e-mail and by phone disagree"
)

// adopt makes the client step one that is done: a look-up found the client.
func (d *decision) adopt(id string, v1 bool) {
	d.now(func(s *ledger.Step) { s.To, s.ID, s.Via = ledger.Done, id, ledger.ViaAdopted })
	d.action, d.why = adopted, ""
	d.noteURL(v1)
}

// stops tells that a failure is one that no other request will be spared.
func stops(err error) bool {
	f, ok := errors.AsType[*apiclient.Failure](err)
	return ok && f.Stop
}

// adviceAfter is what to do about a look-up that failed.
func adviceAfter(err error) string {
	if f, ok := errors.AsType[*apiclient.Failure](err); ok && f.Hint != "" {
		return f.Hint
	}
	return adviceLookup
}

// noteMapping notes that the mapping asks for something else than it did.
func noteMapping(o *Outcome, decisions []decision) {
	for _, d := range decisions {
		o.MappingChanged = o.MappingChanged || d.mapping && d.action != send
	}
}
