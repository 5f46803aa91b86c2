package importer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/importer/retry"
	"claimsheet/mapping"
)

// errand is one client's plan being carried out by one worker.
type errand struct {
	job     *Job
	plan    mapping.Plan
	known   ids
	made    map[string]time.Time // when this run made the client and the claims, by step key
	pending []ledger.Event       // outcomes that the next commit takes along
	pace    *retry.Policy        // with which the client is sent again
	sent    int                  // creating requests that went out, whatever came of them
	reused  bool                 // a look-up found the client, and nothing was sent to create it

	answered bool // the service has answered a creating request
}

// carryOut does what is missing of a plan. An error means that the run cannot
// go on; what became of the rows stands in the Outcome.
func (j *Job) carryOut(ctx context.Context, plan mapping.Plan, ticket lookup.Ticket) (outcome Outcome, sent int, err error) {
	e := &errand{job: j, plan: plan, known: ids{claims: map[string]string{}}, made: map[string]time.Time{}}
	defer func() {
		if v := recover(); v != nil { // what is known by now is kept, and other workers finish what they do
			err = errors.Join(Caught(v), e.commit())
		}
	}()
	known, err := j.knownSteps(plan)
	if err != nil {
		return Outcome{}, 0, err
	}
	if o, over := j.withoutSteps(plan, known); over {
		o.Known = slices.SortedFunc(maps.Values(known), func(a, b ledger.Step) int { return a.At.Compare(b.At) })
		return o, 0, nil
	}
	defer j.canary.leave(e)
	decisions := decide(plan, known, j.Binding)
	complete(plan, decisions, j.Binding)
	e.remember(decisions)

	if d := decisions[0]; d.action != keep && (j.looksUp(plan) || j.revisits(plan, d)) {
		ticket.Wait()
	}
	for first := decisions[0]; ; decisions[0] = first {
		var over bool
		if outcome, over, err = e.meet(ctx, decisions); err != nil || over {
			break
		}
		var steps []StepOutcome
		steps, err = walk(decisions, func(d decision) (StepOutcome, error) { return e.send(ctx, d) })
		if errors.Is(err, errStale) {
			continue // nothing was sent for the client
		}
		outcome = outcomeOf(j.Binding, plan, steps)
		if j.canary.leads(e) && withoutURL(outcome, j.Binding.Mapping().V1()) {
			j.stop(errNoURL)
		}
		break
	}
	if flushErr := e.commit(); err == nil {
		err = flushErr
	}
	noteMapping(&outcome, decisions)
	return outcome, e.sent, err
}

// remember takes the ids of what is done from the ledger.
func (e *errand) remember(decisions []decision) {
	for i := range decisions {
		d := &decisions[i]
		if d.known.To != ledger.Done {
			continue
		}
		switch d.step.Kind {
		case mapping.ClientStep:
			e.known.client, e.reused = d.known.ID, d.known.Via == ledger.ViaAdopted && d.known.Attempts == 0
			if other, clash := e.job.sharedWith(d.known.ID, e.plan.Client); clash {
				d.action, d.why, d.advice = disputed, clashReason(e.plan.Client, other), adviceWhoIsIt
			}
		case mapping.ClaimStep:
			e.known.claims[d.step.Key] = d.known.ID
		}
	}
}

// send carries a step out: the intent is durable before the first byte of its
// request, and so is the outcome of the step before. It is sent again only
// while it is proved that the service did not process it.
func (e *errand) send(ctx context.Context, d decision) (StepOutcome, error) {
	e.job.canary.enter(ctx, e)
	var verdict apiclient.Verdict // on the last attempt
	for pace := e.paceOf(d); ; {
		if err := e.pass(ctx); err != nil {
			return StepOutcome{}, err
		}
		slot, stopped := e.job.Service.Reserve(ctx)
		if stopped != nil {
			return e.job.cutShort(ctx, d, ""), nil
		}
		if e.isStale(d) {
			slot.Release()
			if d.known.To != ledger.Uncertain {
				return StepOutcome{}, errStale
			}
			if o, over, err := e.meetAgain(ctx, &d, verdict); over || err != nil {
				return o, err
			}
			continue
		}
		if err := e.intend(d); err != nil {
			slot.Release()
			return StepOutcome{}, err
		}
		var err error
		verdict, err = e.weigh(d, slot.Create(ctx, e.job.request(d.step, e.known)))
		e.answered = e.answered || verdict.Status != 0
		taken := false
		if err == nil {
			verdict, taken, err = e.takeAnswer(d, verdict)
		}
		if err != nil {
			return StepOutcome{}, err
		}
		event, o := e.conclude(d, verdict)
		e.pending = append(e.pending, event)
		e.job.react(ctx, verdict)
		next := pace.Next(verdict, e.isFresh(d.step), e.job.Service.Repeatable(apiclient.Kind(d.step.Kind)))
		if next.TooLong {
			e.job.stop(tooLong(next.Wait))
		}
		if taken { // whoever has it, another attempt gets no better answer
			o.wordless = false
			return o, nil
		}
		if event.To == ledger.NotSent && ctx.Err() != nil {
			return e.job.cutShort(ctx, d, verdict.Detail), nil
		}
		if !next.Again {
			return e.finish(ctx, d, verdict, o)
		}
		e.job.tally.retried(verdict)
		if err := e.commit(); err != nil { // a wait may be long, and end with a kill
			return StepOutcome{}, err
		}
		if !next.Shared {
			retry.Sleep(ctx, next.Wait)
		}
		if verdict.Effect == apiclient.Uncertain {
			if o, over, err := e.meetAgain(ctx, &d, verdict); over || err != nil {
				return o, err
			}
		}
		d.now(func(s *ledger.Step) { s.To = event.To })
	}
}

// paceOf is how patiently a step is sent: a client may be looked up again between
// two attempts, which makes them no fewer.
func (e *errand) paceOf(d decision) *retry.Policy {
	if d.step.Kind != mapping.ClientStep {
		return retry.NewPolicy(0)
	}
	if e.pace == nil {
		e.pace = retry.NewPolicy(0)
	}
	return e.pace
}

// finish ends a step that is not sent again. Only a client who was surely not
// created leaves the address to another.
func (e *errand) finish(ctx context.Context, d decision, v apiclient.Verdict, o StepOutcome) (StepOutcome, error) {
	if why := e.job.guard.ended(d.step.Kind, v.Effect); why != nil {
		e.job.stop(why)
	}
	o, err := e.settleClient(ctx, d, v, o)
	if d.step.Kind == mapping.ClientStep && o.Status == result.Failed && v.Effect != apiclient.Created {
		e.job.lookups.Release(e.plan)
	}
	return o, err
}

// cutShort is the outcome of a step that the end of the run came before. said is
// what the service said when the run was stopped for that.
func (j *Job) cutShort(ctx context.Context, d decision, said string) StepOutcome {
	o := StepOutcome{Step: d.step, Status: result.NotStarted, Error: j.whyStopped(ctx), Advice: adviceStopped}
	if said != "" {
		o.Error += "; the service says: " + said
	}
	return o
}

// pass waits until the gate is open. What is known is durable before that, and
// before a wait for the service: a wait may be long, and end with a kill.
func (e *errand) pass(ctx context.Context) error {
	if e.job.gate.open() && !e.job.Service.Queues() {
		return nil
	}
	err := e.commit()
	e.job.gate.wait(ctx)
	return err
}

// intend makes the intent durable, together with what is pending.
func (e *errand) intend(d decision) error {
	intent := e.event(d, ledger.Intent)
	intent.Data, intent.Digest = d.asked.json(), d.asked.digest()
	if d.known.To == ledger.Uncertain {
		intent.Via = ledger.ViaRepeatable
	}
	e.pending = append(e.pending, intent)
	e.sent++
	return e.commit()
}

// lagging is how long after a thing was created the service's own copies may
// still answer that there is no such thing.
const lagging = 60 * time.Second

// isFresh reports whether the step's request holds the id of something that was
// created so recently that the service may not find it yet.
func (e *errand) isFresh(step *mapping.Step) bool {
	before := string(mapping.ClientStep)
	switch {
	case step.Kind == mapping.ClientStep:
		return false
	case step.Kind == mapping.ActivityStep && step.Claim != "":
		before = step.Claim
	}
	made, ok := e.made[before]
	return ok && time.Since(made) < lagging
}

// conclude turns a verdict into the ledger's event and the step's outcome.
func (e *errand) conclude(d decision, v apiclient.Verdict) (ledger.Event, StepOutcome) {
	o := StepOutcome{Step: d.step, Error: said(v), Advice: v.Hint, answered: v.Status != 0, http: v.Status,
		wordless: v.Effect == apiclient.Uncertain && apiclient.Readable(v.Status, v.Answer)}
	advise := func(usual string) {
		if o.Advice == "" {
			o.Advice = usual
		}
	}
	var to ledger.State
	switch v.Effect {
	case apiclient.Created:
		to, o.Status, o.ID, o.URL, o.Error = ledger.Done, result.Done, v.ID, v.URL, ""
		if v.URL == "" && d.step.Kind == mapping.ClientStep && e.job.Binding.Mapping().V1() {
			o.wordless = true
			advise(adviceNoURL)
		}
		e.created(d.step, v.ID)
	case apiclient.Refused:
		to, o.Status = ledger.Failed, result.Failed
		if v.Retry != apiclient.Never || v.Stop {
			to = ledger.NotSent // not for what it asks: it may be sent again
			advise(adviceBusy)
		}
		if e.reused && d.step.Kind == mapping.ClaimStep {
			advise(adviceReused)
		}
		advise(adviceRefused)
	case apiclient.NotSent:
		to, o.Status = ledger.NotSent, result.Failed
		advise(adviceNotSent)
	default:
		to, o.Status = ledger.Uncertain, result.Uncertain
		o.Advice = withHint(v.Hint, adviceUncertain(d.step))
	}
	event := e.event(d, to)
	event.ID, event.URL, event.Status, event.Answer = v.ID, v.URL, v.Status, v.Answer
	switch to {
	case ledger.Done:
		event.Via = ledger.ViaAnswer
	case ledger.Uncertain:
		event.Reason = reasonWith(v.Reason, v.Hint)
	default:
		event.Reason = v.Reason
	}
	return event, o
}

// created notes what was made.
func (e *errand) created(step *mapping.Step, id string) {
	e.made[step.Key] = time.Now()
	switch step.Kind {
	case mapping.ClientStep:
		e.known.client = id
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
	e.job.holders.release(e.pending...)
	if errors.Is(err, ledger.ErrStopped) {
		err = errors.Join(err, e.job.Emergency.Keep(e.pending...))
	}
	e.pending = e.pending[:0]
	return err
}

func (e *errand) event(d decision, to ledger.State) ledger.Event {
	return ledger.Event{
		StepID: e.job.stepID(e.plan.Client, d.step), To: to, At: time.Now().UTC(), Run: e.job.run(e.plan), Kind: string(d.step.Kind),
	}
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

// noteMapping notes that the mapping asks for something else than it did.
func noteMapping(o *Outcome, decisions []decision) {
	for _, d := range decisions {
		o.MappingChanged = o.MappingChanged || d.mapping && d.action != send
	}
}
