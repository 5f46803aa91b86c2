package importer

import (
	"context"
	"errors"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// errand is one client's plan being carried out by one worker.
type errand struct {
	job     *Job
	plan    mapping.Plan
	known   ids
	pending []ledger.Event // outcomes that the next commit takes along
	sent    int            // creating requests that went out, whatever came of them
}

// carryOut does what is missing of a plan. An error means that the run cannot
// go on; what became of the rows stands in the Outcome.
func (j *Job) carryOut(ctx context.Context, plan mapping.Plan) (Outcome, int, error) {
	known, err := j.knownSteps(plan)
	if err != nil {
		return Outcome{}, 0, err
	}
	if o, over := j.withoutSteps(plan, known); over {
		return o, 0, nil
	}
	e := &errand{job: j, plan: plan, known: ids{claims: map[string]string{}}}
	decisions := decide(plan, known, j.Binding.Sheet(), j.Binding.Mapping().Digest)
	e.remember(decisions)

	if decisions[0].action == send && j.looksUp(plan) {
		defer j.meetings.alone(plan.Lookup)()
	}
	outcome, over, err := e.acquaint(ctx, decisions)
	if err == nil && !over {
		var steps []StepOutcome
		steps, err = walk(decisions, func(d decision) (StepOutcome, error) { return e.send(ctx, d) })
		outcome = outcomeOf(plan, steps)
	}
	if flushErr := e.commit(); err == nil {
		err = flushErr
	}
	finish(&outcome, decisions)
	return outcome, e.sent, err
}

// remember takes the ids of what is done from the ledger.
func (e *errand) remember(decisions []decision) {
	for _, d := range decisions {
		if d.known.To != ledger.Done {
			continue
		}
		switch d.step.Kind {
		case mapping.ClientStep:
			e.known.client = d.known.ID
			e.job.meetings.own(d.known.ID, e.plan.Client)
		case mapping.ClaimStep:
			e.known.claims[d.step.Key] = d.known.ID
		}
	}
}

// acquaint asks the service whether it knows a client who is new to the
// ledger, and does what the mapping says of known clients. over tells that
// nothing more is to be done for the client.
func (e *errand) acquaint(ctx context.Context, decisions []decision) (o Outcome, over bool, err error) {
	first := &decisions[0]
	if first.action != send || !e.job.looksUp(e.plan) || ctx.Err() != nil {
		return Outcome{}, false, nil
	}
	met, err := e.job.meetings.meet(ctx, e.plan)
	if err != nil {
		return Outcome{}, false, err
	}
	if o, over := e.job.greet(ctx, e.plan, decisions, &met); over {
		return o, true, nil
	}
	if met.id == "" {
		return Outcome{}, false, nil
	}
	e.known.client = met.id
	event := e.event(*first, ledger.Done)
	event.Via, event.ID, event.Data, event.Digest = ledger.ViaAdopted, met.id, first.asked.json(), first.asked.digest()
	if err := e.job.Ledger.Append(event); err != nil {
		return Outcome{}, false, err
	}
	first.adopt(met.id, e.job.Binding.Mapping().V1())
	return Outcome{}, false, nil
}

// send makes one request: the intent is durable before its first byte, and so
// is the outcome of the step before.
func (e *errand) send(ctx context.Context, d decision) (StepOutcome, error) {
	if ctx.Err() != nil {
		return StepOutcome{Step: d.step, Status: NotStarted, Error: e.job.whyStopped(ctx), Advice: adviceStopped}, nil
	}
	intent := e.event(d, ledger.Intent)
	intent.Data, intent.Digest = d.asked.json(), d.asked.digest()
	e.pending = append(e.pending, intent)
	if err := e.commit(); err != nil {
		return StepOutcome{}, err
	}
	e.sent++
	verdict := e.job.Service.Create(ctx, e.job.request(d.step, e.known))
	event, o := e.conclude(d, verdict)
	e.pending = append(e.pending, event)
	if verdict.Stop {
		e.job.stop(errors.New(verdict.Reason))
	}
	return o, nil
}

// conclude turns a verdict into the ledger's event and the step's outcome.
func (e *errand) conclude(d decision, v apiclient.Verdict) (ledger.Event, StepOutcome) {
	o := StepOutcome{Step: d.step, Error: said(v), Advice: v.Hint}
	advise := func(usual string) {
		if o.Advice == "" {
			o.Advice = usual
		}
	}
	var to ledger.State
	switch v.Effect {
	case apiclient.Created:
		to, o.Status, o.ID, o.URL, o.Error = ledger.Done, DoneRow, v.ID, v.URL, ""
		if v.URL == "" && d.step.Kind == mapping.ClientStep && e.job.Binding.Mapping().V1() {
			advise(adviceNoURL)
		}
		e.created(d.step, v.ID)
	case apiclient.Refused:
		to, o.Status = ledger.Failed, FailedRow
		advise(adviceRefused)
	case apiclient.NotSent:
		to, o.Status = ledger.NotSent, FailedRow
		advise(adviceNotSent)
	default:
		to, o.Status = ledger.Uncertain, Uncertain
		o.Advice = adviceUncertain(d.step)
	}
	event := e.event(d, to)
	event.ID, event.URL, event.Status, event.Answer = v.ID, v.URL, v.Status, v.Answer
	if to == ledger.Done {
		event.Via = ledger.ViaAnswer
	} else {
		event.Reason = v.Reason
	}
	return event, o
}

func (e *errand) created(step mapping.Step, id string) {
	switch step.Kind {
	case mapping.ClientStep:
		e.known.client = id
		e.job.meetings.own(id, e.plan.Client)
	case mapping.ClaimStep:
		e.known.claims[step.Key] = id
	}
}

// said is the verdict in words for the workbook: ours, then the service's own.
func said(v apiclient.Verdict) string {
	if v.Detail == "" {
		return v.Reason
	}
	return v.Reason + ": " + v.Detail
}

// commit makes the pending events durable.
func (e *errand) commit() error {
	if len(e.pending) == 0 {
		return nil
	}
	err := e.job.Ledger.Append(e.pending...)
	e.pending = e.pending[:0]
	return err
}

func (e *errand) event(d decision, to ledger.State) ledger.Event {
	return ledger.Event{
		StepID: e.job.stepID(e.plan.Client, d.step), To: to, At: time.Now().UTC(), Run: e.job.Run, Kind: string(d.step.Kind),
	}
}
