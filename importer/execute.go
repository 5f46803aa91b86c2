package importer

import (
	"cmp"
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

// clientRun carries one client's plan out, in one goroutine: prepare first, then
// execute.
type clientRun struct {
	job       *Job
	plan      mapping.Plan
	inSheet   mapping.Identity // the client as the sheet names it: the plan's, unless the sheet gives the id of a client whom the ledger has under another key
	leader    *clientRun       // the run that this one is part of: its own, or that of the client whose contact it creates
	decisions []decision
	known     ids
	created   map[string]time.Time // when this run created the client and the claims, by step key
	pending   []ledger.Event       // outcomes that the next commit takes along
	policy    *retry.Policy        // by which the client step is sent again
	inDoubt   bool                 // it has a place in Job.inDoubt
	slot      *apiclient.Slot      // reserved for the client's creation, for which it is looked up first; else nil
	sent      int                  // creating requests that went out, whatever came of them
	reused    bool                 // a look-up found the client, and nothing was sent to create it
	lookedUp  bool                 // the service was asked about the client, and nothing more
	answered  bool                 // the service has answered a creating request
	altered   bool                 // by reparse
	asIs      bool                 // answers that the ledger has are not parsed again

	settled *clientOutcome // that of a plan for which nothing is to be done
	failed  error          // of prepare
}

// ids are what the run knows of a client by now.
type ids struct {
	client string
	claims map[string]string // by the claim step's key

	contacts map[string]string // further contacts, by the contact step's key
}

func (j *Job) newClientRun(plan mapping.Plan) *clientRun {
	r := &clientRun{job: j, plan: plan, inSheet: plan.Client, created: map[string]time.Time{}}
	r.known = ids{claims: map[string]string{}, contacts: map[string]string{}}
	r.leader = r
	return r
}

// prepare decides what is to be done, given what the ledger knows of the client. What
// fails is kept for execute.
func (r *clientRun) prepare(known map[string]ledger.Step) {
	defer r.recoverPanic(&r.failed)
	if known, r.failed = r.ownerOfKnownID(known); r.failed != nil {
		return
	}
	altered, err := false, error(nil)
	if !r.asIs {
		altered, err = r.job.reparse(known)
	}
	if err != nil {
		r.failed = err
		return
	}
	r.altered = altered
	if taken := takenNames(r.plan, known, r.job.Binding); len(taken) > 0 {
		r.plan.Problems = taken
	}
	if len(r.plan.Problems) == 0 && !r.job.SimilarKeys {
		r.plan.Problems = similarClaims(r.plan, known, r.job.Binding)
	}
	if r.settled, r.failed = r.job.withoutSteps(r.plan, known); r.settled != nil {
		r.settled.altered = altered
		return
	}
	r.decisions = decide(r.plan, known, r.job.Binding)
	if r.plan.Problems, r.failed = r.addressProblems(); r.failed == nil && len(r.plan.Problems) > 0 {
		r.settled, r.failed = r.job.withoutSteps(r.plan, known)
	}
	if r.failed != nil || r.settled != nil {
		return
	}
	if r.failed = r.decideContacts(); r.failed == nil {
		r.takeKnownIDs()
	}
}

// nothingLeft reports whether nothing is left to be done for the client, by what the ledger
// knew when the run was prepared.
func (r *clientRun) nothingLeft() bool {
	return r.settled != nil || r.failed == nil && !slices.ContainsFunc(r.decisions, func(d decision) bool { return d.action != unchanged })
}

// again returns a run of the same client by what the ledger knows now, with what holds on.
// asIs says that kept answers are not parsed again.
func (r *clientRun) again(asIs bool) *clientRun {
	again := r.job.newClientRun(r.plan)
	again.asIs, again.inSheet = asIs, r.inSheet
	again.leader = r.leader
	if r.leader == r {
		again.leader = again
	}
	again.sent, again.answered, again.lookedUp = r.sent, r.answered, r.lookedUp
	again.readAndPrepare()
	return again
}

// readAndPrepare is prepare with what the ledger knows of the client now.
func (r *clientRun) readAndPrepare() {
	known, err := r.job.readSteps(r.plan)
	if err != nil {
		r.failed = err
		return
	}
	r.prepare(known)
}

// recoverPanic makes an error of a panic. What is known by then is kept, and other
// workers finish what they do.
func (r *clientRun) recoverPanic(err *error) {
	if v := recover(); v != nil {
		*err = errors.Join(Caught(v), r.commit())
	}
}

// execute does what is missing of the plan. An error means that the run cannot go on;
// the clientOutcome says what became of the rows.
func (r *clientRun) execute(ctx context.Context) (outcome clientOutcome, err error) {
	defer r.leaveDoubt()
	defer r.releaseSlot()
	defer r.recoverPanic(&err)
	if r.job.mode == dry {
		r.foresee()
	}
	switch {
	case r.failed != nil:
		return clientOutcome{}, r.failed
	case r.settled != nil:
		return *r.settled, nil
	}
	defer r.job.canary.leave(r)
	ctx = lookup.WithRow(ctx, r.plan)
	first := r.decisions[0]
	for {
		outcome, err = r.findAndCreate(ctx)
		if !errors.Is(err, errStale) {
			break
		}
		r.decisions[0] = first // nothing was sent for the client
	}
	if flushErr := r.commit(); err == nil {
		err = flushErr
	}
	outcome.altered = r.altered
	for _, d := range r.decisions {
		outcome.MappingChanged = outcome.MappingChanged || d.mapping && d.action != send
	}
	if err == nil && r.job.mode == dry && len(outcome.Steps) > 0 {
		r.job.overlay.note(r, outcome.Steps[0])
	}
	return outcome, err
}

// findAndCreate asks the service for the client as far as the ledger leaves that
// open, and then creates what is missing.
func (r *clientRun) findAndCreate(ctx context.Context) (clientOutcome, error) {
	if r.job.mode != projects {
		if o, over, err := r.find(ctx); err != nil || over {
			return o, err
		}
	}
	steps, err := walk(r.decisions, func(d decision) (stepOutcome, error) { return r.create(ctx, d) })
	if err != nil {
		return clientOutcome{}, err
	}
	outcome := outcomeOf(r.job.Binding, r.plan, steps)
	if r.job.canary.leads(r) && withoutURL(outcome, r.job.Binding.Mapping().V1()) {
		r.job.stop(errNoURL)
	}
	return outcome, nil
}

// create does what a decision to send asks for.
func (r *clientRun) create(ctx context.Context, d decision) (stepOutcome, error) {
	switch {
	case r.job.mode == projects:
		return r.projected(d), nil
	case d.step.Contact != nil:
		return r.createContact(ctx, d)
	case d.step.On != "":
		return r.createOnContact(ctx, d)
	case d.step.KnownID != "":
		return r.takeKnownID(ctx, d)
	case r.job.mode == dry:
		r.job.tally.planned(d.step.Kind)
		return stepOutcome{Step: d.step, Status: result.Planned}, nil
	}
	return r.send(ctx, d)
}

// knownSteps is what the ledger knows of a plan's client, after kept answers have
// been parsed again.
func (j *Job) knownSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	known, err := j.readSteps(plan)
	if err != nil {
		return known, err
	}
	if _, err = j.reparse(known); isChanged(err) { // what somebody else has recorded meanwhile
		return j.readSteps(plan)
	}
	return known, err
}

// readsLedger reports whether the ledger is asked about clients. A run may have
// recorded something since a dry run began that found the ledger empty.
func (j *Job) readsLedger() bool { return j.knows || j.mode != dry }

// readSteps reads what the ledger knows of a plan's client.
func (j *Job) readSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	if plan.Client == (mapping.Identity{}) {
		return nil, nil
	}
	var known map[string]ledger.Step
	if j.readsLedger() {
		// A record of what was done is read whether or not the run is being stopped.
		var err error
		if known, err = j.Ledger.Steps(context.Background(), j.owner(plan.Client), j.Binding.Mapping().Name.Text); err != nil {
			return nil, err
		}
	}
	return j.overlay.over(plan.Client, known), nil
}

// skipReasons say why a row is left out.
var skipReasons = map[mapping.SkipReason]string{
	mapping.BlankRow:  "the row is empty",
	mapping.HiddenRow: "the row is hidden, and the mapping's sheet.hidden_rows skips such rows",
	mapping.NotWhen:   "left out by the mapping's sheet.when",
}

// withoutSteps settles plans for which nothing is sent, whatever the service
// knows: left out, or with problems. It returns nil for other plans.
func (j *Job) withoutSteps(plan mapping.Plan, known map[string]ledger.Step) (*clientOutcome, error) {
	why := cmp.Or(skipReasons[plan.Skipped], j.leavesOut(plan))
	if why == "" && len(plan.Problems) == 0 {
		return nil, nil
	}
	made, url := createdBefore(known)
	o := leftOut(plan, made, url, why)
	if why == "" {
		o = invalidOutcome(j.Binding, plan, made, url)
	}
	o.Known = slices.SortedFunc(maps.Values(known), func(a, b ledger.Step) int { return a.At.Compare(b.At) })
	contacts, err := j.knownContacts(plan)
	ids := map[mapping.Identity]string{}
	for _, c := range contacts {
		ids[mapping.Identity{Space: c.Space, Key: c.Client}] = c.ID
	}
	showContacts(j.Binding, plan, o.Rows, ids)
	o.Known = append(o.Known, contacts...)
	return &o, err
}

// createdBefore are the ids that the ledger knows of a client. They are shown in
// the workbook also where tonight's row is left out or wrong.
func createdBefore(known map[string]ledger.Step) (made ids, url string) {
	made.claims = map[string]string{}
	var link *ledger.Step // the one whose url came last
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
		switch {
		case step.URL == "":
		case step.Kind == ledger.KindLink && (link == nil || step.Ref.Last > link.Ref.Last):
			link, url = &step, step.URL
		case link == nil:
			url = step.URL
		}
	}
	return made, url
}

// takeKnownIDs takes the ids of what is done from the ledger.
func (r *clientRun) takeKnownIDs() {
	for i := range r.decisions {
		d := &r.decisions[i]
		if d.known.To != ledger.Done {
			continue
		}
		byRun := slices.Contains(r.job.Runs, d.known.Run)
		sent := byRun && (d.known.Via == ledger.ViaAnswer || d.known.Attempts > 0) && d.known.Via != ledger.ViaWorkbook
		if sent {
			r.created[d.step.Key] = d.known.At // by another client, before the client was read again, or by another process
		}
		d.inRun = (sent || byRun && r.job.mode == projects) && d.step.Contact == nil
		switch d.step.Kind {
		case mapping.ContactStep:
			r.known.contacts[d.step.Key] = d.known.ID
		case mapping.ClientStep:
			r.known.client, r.reused = d.known.ID, d.isFound()
		case mapping.ClaimStep:
			r.known.claims[d.step.Key] = d.known.ID
		}
	}
}

// send creates what a step asks for: the intent is durable before the first byte
// of its request, and so is the outcome of the step before. The request is sent
// again only while it is proved that the service did not process it, or where the
// environment allows it.
func (r *clientRun) send(ctx context.Context, d decision) (stepOutcome, error) {
	r.job.canary.enter(ctx, r.leader)
	var verdict apiclient.Verdict // on the last attempt
	for policy := r.retryPolicy(d); ; {
		if waited, err := r.waitForGate(ctx); err != nil {
			return stepOutcome{}, err
		} else if waited && !d.absent.At.IsZero() {
			d.absent.At = time.Unix(0, 0) // look it up again: somebody else may have created the client meanwhile
		}
		v, how, err := r.attempt(ctx, &d)
		switch {
		case err != nil:
			return stepOutcome{}, err
		case how == tooLate:
			return r.job.notStarted(ctx, d, ""), nil
		case how == stale && d.known.To != ledger.Uncertain:
			return stepOutcome{}, errStale
		case how == stale:
			if o, over, err := r.findAgain(ctx, &d, verdict); over || err != nil {
				return o, err
			}
			continue
		case how == withdrawn:
			continue
		}
		verdict = v
		r.answered = r.answered || verdict.Status != 0
		event, taken, err := r.judge(d, &verdict)
		if err != nil {
			return stepOutcome{}, err
		}
		r.pending = append(r.pending, event)
		r.job.react(ctx, verdict)
		next := policy.Next(verdict, r.isFresh(d.step), r.job.Service.Repeatable(apiclient.Kind(d.step.Kind)))
		if next.TooLong {
			r.job.stop(tooLong(next.Wait))
		}
		switch {
		case taken: // whoever has it, another attempt gets no better answer
			o := r.stepOutcome(d, event, verdict)
			o.wordless = false
			return o, nil
		case unsent(verdict) && event.To == ledger.Refused && ctx.Err() != nil:
			return r.job.notStarted(ctx, d, verdict.Detail), nil
		case !next.Again:
			return r.finish(ctx, d, event, verdict)
		}
		r.job.tally.retried(verdict)
		if err := r.commit(); err != nil { // a wait may be long, and end with a kill
			return stepOutcome{}, err
		}
		if !next.Shared {
			retry.Sleep(ctx, next.Wait)
		}
		if verdict.Effect == apiclient.Uncertain {
			if o, over, err := r.findAgain(ctx, &d, verdict); over || err != nil {
				return o, err
			}
		}
		d.override(func(s *ledger.Step) { s.To = event.To })
	}
}

// attempted says how an attempt to send a step's request ended.
type attempted int

const (
	answered  attempted = iota // the request left, or could not
	tooLate                    // the run was stopped before
	stale                      // the look-up on which it rests is too old; there was no intent yet
	withdrawn                  // the intent was taken back: by then it was not to be sent
)

// attempt makes the intent durable and sends the request once, in a slot that it gives back,
// so that the queue does not wait for a client that has given up. If the look-up is stale it
// keeps the slot, for the next one.
func (r *clientRun) attempt(ctx context.Context, d *decision) (v apiclient.Verdict, how attempted, err error) {
	asOf, inTurn := d.absent.At, r.slot != nil
	if !r.takeSlot(ctx) {
		return v, tooLate, nil
	}
	slot := r.slot
	slot.Guard(r.job.stillLocked)
	if inTurn {
		asOf = r.job.now() // no later look-up can be had, however long this one took
	}
	if r.isStale(*d, asOf) {
		return v, stale, nil // the next look-up leaves in the slot
	}
	defer r.releaseSlot()
	if err := r.intend(d); err != nil {
		return v, withdrawn, err
	}
	if slot.Await(ctx); r.isStale(*d, asOf) || !r.job.gate.open() || !r.job.stillLocked() { // since the intent
		r.withdraw(d)
		return v, withdrawn, nil
	}
	return r.job.Service.CreateReserved(ctx, slot, r.job.request(d.step, r.known)), answered, nil
}

// takeSlot reserves a slot for the client's next request; ok is false when ctx is done before
// that. Whoever waits for a slot has a place in Job.inDoubt: so no one who has a slot waits
// for such a place.
func (r *clientRun) takeSlot(ctx context.Context) (ok bool) {
	if r.slot != nil {
		return true
	}
	if !r.enterDoubt(ctx) {
		return false
	}
	slot, err := r.job.Service.Reserve(ctx)
	if err != nil {
		r.leaveDoubt()
		return false
	}
	r.slot = slot
	return true
}

// releaseSlot gives the slot back, if it is not used.
func (r *clientRun) releaseSlot() {
	r.slot.Release()
	r.slot = nil
}

// enterDoubt waits until a request of the client may be in doubt; ok is false when ctx is
// done before that.
func (r *clientRun) enterDoubt(ctx context.Context) (ok bool) {
	if r.inDoubt {
		return true // with an outcome that is not committed yet
	}
	select {
	case r.job.inDoubt <- struct{}{}:
		r.inDoubt = true
	case <-ctx.Done():
	}
	return r.inDoubt
}

// leaveDoubt gives the client's place in Job.inDoubt back, unless an outcome waits for its
// commit. While an intent is committed and its outcome is not known, do not call it.
func (r *clientRun) leaveDoubt() {
	if r.inDoubt && len(r.pending) == 0 {
		r.inDoubt = false
		<-r.job.inDoubt
	}
}

// retryPolicy decides how often a step is sent. A client may be looked up again
// between two attempts, which makes them no fewer.
func (r *clientRun) retryPolicy(d decision) *retry.Policy {
	if d.step.Kind != mapping.ClientStep {
		return retry.NewPolicy(retry.Pace{Now: r.job.now})
	}
	if r.policy == nil {
		r.policy = retry.NewPolicy(retry.Pace{Now: r.job.now})
	}
	return r.policy
}

// finish ends a step that is not sent again.
func (r *clientRun) finish(ctx context.Context, d decision, event ledger.Event, v apiclient.Verdict) (stepOutcome, error) {
	effect := v.Effect
	if event.To == ledger.Uncertain {
		effect = apiclient.Uncertain
	}
	if why := r.job.guard.ended(d.step.Kind, effect); why != nil {
		r.job.stop(why)
	}
	return r.findCreated(ctx, d, event, v)
}

// notStarted is the outcome of a step that was not sent before the run ended. said
// is what the service said when the run was stopped for that. A step that was
// uncertain before stays so.
func (j *Job) notStarted(ctx context.Context, d decision, said string) stepOutcome {
	o := stepOutcome{Step: d.step, Status: result.NotStarted, Error: j.whyStopped(ctx), Advice: adviceStopped}
	if d.known.To == ledger.Uncertain {
		o.Status, o.Error, o.Advice = result.Uncertain, reasonNotRepeated, adviceUncertain(d.step)
	}
	if said != "" {
		o.Error += "; the service says: " + said
	}
	return o
}

// waitForGate returns when the gate is open, and whether it was shut. What is known is
// durable before that, and before a wait for the service: a wait may be long, and end with a
// kill.
func (r *clientRun) waitForGate(ctx context.Context) (waited bool, err error) {
	waited = !r.job.gate.open()
	if waited || r.job.Service.Queues() {
		err = r.commit()
	}
	if waited {
		r.releaseSlot() // who asks whether the service answers may need its place
		r.job.gate.wait(ctx)
	}
	return waited, err
}

// intend makes the intent durable, together with what is pending.
func (r *clientRun) intend(d *decision) error {
	intent := r.event(*d, ledger.Sent)
	w := r.wanted(d)
	r.identify(&intent, w)
	if d.known.To == ledger.Uncertain {
		intent.Via = ledger.ViaRepeatable
	}
	r.pending = append(r.pending, intent)
	r.sent++
	err := r.commit()
	if isChanged(err) {
		r.sent--
	}
	return err
}

// identify adds what a step asks for to its event, with the addresses that the client has
// from then on.
func (r *clientRun) identify(e *ledger.Event, w *wanted) {
	e.Data, e.Digest, e.Addresses = w.json(), w.digest(), w.Addresses
	if r.job.existing(r.plan) != mapping.Create {
		e.LookedUp = w.asked()
	}
}

// withdraw takes an intent back whose request was not sent. The next commit makes
// that durable. A step with an earlier attempt that may have worked stays uncertain.
func (r *clientRun) withdraw(d *decision) {
	event := r.event(*d, ledger.Refused)
	event.Reason = "it was not sent after all"
	if d.known.To == ledger.Uncertain {
		event.To, event.Reason = ledger.Uncertain, reasonNotRepeated
	}
	r.pending = append(r.pending, event)
	d.override(func(s *ledger.Step) { s.To = event.To })
}

// wanted is what a step asks for. It is not known yet where the ledger does not
// know the step.
func (r *clientRun) wanted(d *decision) *wanted {
	if d.wanted == nil {
		d.wanted = wantedOf(r.plan, d.step, r.job.Binding.Mapping().Name.Text)
	}
	return d.wanted
}

// lagging is how long after a thing was created the service's own copies may
// still answer that there is no such thing.
const lagging = 60 * time.Second

// isFresh reports whether the step's request holds the id of something that was
// created so recently that the service may not find it yet.
func (r *clientRun) isFresh(step *mapping.Step) bool {
	before := string(mapping.ClientStep)
	switch {
	case step.Kind == mapping.ClientStep:
		return false
	case step.Kind == mapping.ActivityStep && step.Claim != "":
		before = step.Claim
	}
	return slices.ContainsFunc(append(contactsNeeded(step), before), func(key string) bool {
		at, ok := r.created[key]
		return ok && r.job.now().Sub(at) < lagging
	})
}

// judge says what became of a step, as the event to record, by the verdict on its
// last request. A step that an earlier request may have created stays uncertain,
// whatever became of this one, until something was created. So is one whose answer
// holds what another step has, which is taken.
func (r *clientRun) judge(d decision, v *apiclient.Verdict) (event ledger.Event, taken bool, err error) {
	if *v, err = r.reclassifyConflict(d, *v); err == nil {
		*v, taken, err = r.takeAnswer(d, *v)
	}
	if err != nil {
		return ledger.Event{}, false, errors.Join(err, r.keepAnswer(d, *v))
	}
	to, via, reason := ledger.Uncertain, "", reasonWith(v.Reason, v.Hint)
	switch {
	case v.Effect == apiclient.Created:
		to, via, reason = ledger.Done, ledger.ViaAnswer, ""
		r.noteCreated(d.step, v.ID)
	case v.Effect == apiclient.NotSent && d.known.To == ledger.Uncertain:
		reason = reasonNotRepeated
	case v.Effect == apiclient.Refused && d.known.To == ledger.Uncertain:
		v.Reason += reasonEarlier
		reason = reasonWith(v.Reason, v.Hint)
	case v.Effect == apiclient.NotSent, v.Effect == apiclient.Refused:
		to, reason = ledger.Refused, v.Reason
	}
	event = r.event(d, to)
	event.Via, event.Reason = via, reason
	event.ID, event.URL, event.Status, event.Answer = v.ID, v.URL, v.Status, v.Answer
	return event, taken, nil
}

// The reasons of a step that is uncertain by an earlier attempt: where it was not
// sent again, and behind the reason why the service refused it then.
const (
	reasonNotRepeated = "an earlier request may have created it, and it was not sent again"
	reasonEarlier     = ", and an earlier attempt may have created it"
)

// keepAnswer records an answer that could not be compared with the ledger, because
// the ledger could not be read. The run ends, the step is uncertain, and the ids in
// the answer are not lost with it.
func (r *clientRun) keepAnswer(d decision, v apiclient.Verdict) error {
	event := r.event(d, ledger.Uncertain)
	event.Reason = "the service answered, and the ledger could not be read: its answer is kept"
	event.Status, event.Answer = v.Status, v.Answer
	return r.record(event)
}

// stepOutcome is a step's outcome by the event that was recorded of it; the words
// are the verdict's.
func (r *clientRun) stepOutcome(d decision, event ledger.Event, v apiclient.Verdict) stepOutcome {
	o := stepOutcome{Step: d.step, Error: said(v), Reason: v.Reason, Advice: v.Hint, answered: v.Status != 0, http: v.Status,
		wordless: v.Effect == apiclient.Uncertain && apiclient.Readable(v.Status, v.Answer)}
	switch event.To {
	case ledger.Done:
		o.Status, o.ID, o.URL, o.Error = result.Done, event.ID, event.URL, ""
		if d.known == unknown && event.Via == ledger.ViaAnswer {
			o.made = &ledger.Step{Event: event, Attempts: 1}
		}
		lacksURL := event.URL == "" && d.step.Kind == mapping.ClientStep && r.job.Binding.Mapping().V1()
		if event.Via == ledger.ViaAdopted {
			o.wordless, o.Advice = v.URL == "" && apiclient.Readable(v.Status, v.Answer), ""
			if lacksURL {
				o.Advice = adviceWithoutURL(true, o.wordless)
			}
		} else if lacksURL {
			o.wordless, o.Advice = true, cmp.Or(v.Hint, adviceNoURL)
		}
	case ledger.Refused:
		switch o.Status = result.Failed; {
		case v.Effect == apiclient.NotSent:
			o.Advice = cmp.Or(v.Hint, adviceNotSent)
		case unsent(v):
			o.Advice = cmp.Or(v.Hint, adviceBusy)
		default:
			o.Advice = r.adviceRefusal(d.step, v.Hint)
		}
	default:
		if event.NotFound {
			o.Status, o.Error, o.Advice = result.Uncertain, reasonNotFound, withHint(v.Hint, adviceNotFound)
			break
		}
		o.Status, o.Advice = result.Uncertain, withHint(v.Hint, adviceUncertain(d.step))
	}
	return o
}

// unsent reports whether a request was not sent, or was refused for another reason than what it
// asks for: it may be sent again.
func unsent(v apiclient.Verdict) bool {
	return v.Effect == apiclient.NotSent || v.Effect == apiclient.Refused && (v.Retry != apiclient.Never || v.Stop)
}

// noteCreated takes the id of what was created.
func (r *clientRun) noteCreated(step *mapping.Step, id string) {
	r.created[step.Key] = r.job.now()
	switch step.Kind {
	case mapping.ClientStep:
		r.known.client = id
	case mapping.ClaimStep:
		r.known.claims[step.Key] = id
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
func (r *clientRun) commit() error {
	if len(r.pending) == 0 {
		return nil
	}
	last := r.pending[len(r.pending)-1]
	err := r.job.commit(r.pending)
	if r.pending = r.pending[:0]; last.To != ledger.Sent || err != nil {
		r.leaveDoubt()
	}
	return err
}

// record makes an event durable at once, with what is pending.
func (r *clientRun) record(event ledger.Event) error {
	r.pending = append(r.pending, event)
	return r.commit()
}

func (r *clientRun) event(d decision, to ledger.State) ledger.Event {
	return r.job.stamped(ledger.Event{
		StepID: r.job.stepID(r.plan.Client, d.step), To: to, Run: r.job.runID(r.plan), Kind: string(d.step.Kind),
	})
}

// whyStopped is why the run was stopped, for rows that are not started.
func (j *Job) whyStopped(ctx context.Context) string {
	if cause := context.Cause(ctx); errors.Is(cause, ErrStopped) {
		return cause.Error()
	}
	return ErrStopped.Error()
}
