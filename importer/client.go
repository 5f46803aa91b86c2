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
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// readClient returns a run of a plan's client, by what the ledger knows now.
func (j *Job) readClient(plan mapping.Plan) *clientRun {
	known, err := j.readSteps(plan)
	return j.newClientRun(plan, known, err)
}

// newClientRun returns a run of a plan's client, and decides what is to be done. known is what the ledger
// knows of the client, and err why that cannot be read. execute returns what fails.
func (j *Job) newClientRun(plan mapping.Plan, known map[string]ledger.Step, err error) (r *clientRun) {
	r = &clientRun{job: j, plan: plan, leads: new(bool)}
	defer r.recoverPanic(&r.failed)
	if err == nil {
		known, err = r.ownerOfKnownID(known)
	}
	if err == nil {
		r.steps, err = j.reparse(r.plan, known)
	}
	if err == nil {
		r.decisions = decide(r.plan, r.steps, j.Binding)
		r.plan.Problems, err = r.problems()
	}
	if err == nil {
		r.noWork, err = j.withoutSteps(r.plan, r.steps)
	}
	if err == nil && r.noWork == nil {
		err = r.decideContacts()
		r.markDoneByThisRun()
	}
	r.failed = err
	return r
}

// problems returns the problems of the plan; if it has none, what is wrong with it by what the
// ledger knows.
func (r *clientRun) problems() (found problem.List, err error) {
	if len(r.plan.Problems) > 0 || len(r.plan.Steps) == 0 || r.job.leavesOut(r.plan) != "" {
		return r.plan.Problems, nil
	}
	found = takenNames(r.plan, r.steps, r.job.Binding)
	if len(found) == 0 && !r.job.SimilarKeys {
		found = similarClaims(r.plan, r.steps, r.job.Binding)
	}
	if len(found) == 0 {
		return r.addressProblems()
	}
	return found, nil
}

// again returns a run of the same client, by what the ledger knows now. It keeps what this
// run has noted for the guard.
func (r *clientRun) again() *clientRun {
	again := r.job.readClient(r.plan)
	again.group, again.leads = r.group, r.leads
	again.sent, again.answered, again.lookedUp = r.sent, r.answered, r.lookedUp
	again.refused, again.unanswered = r.refused, r.unanswered
	return again
}

// execute does what is missing of the plan, and returns what became of the rows. An error means that
// the run cannot go on.
func (r *clientRun) execute(ctx context.Context) (outcome clientOutcome, err error) {
	defer r.closeIntent()
	defer r.releaseSlot()
	defer r.recoverPanic(&err)
	switch {
	case r.failed != nil:
		return clientOutcome{}, r.failed
	case r.noWork != nil:
		return *r.noWork, nil
	}
	ctx = withRow(ctx, r.plan)
	first := r.decisions[0]
	for {
		outcome, err = r.findAndCreate(ctx)
		if !errors.Is(err, errStale) {
			break
		}
		r.decisions[0] = first // nothing was sent for the client: begin again, with a new look-up
	}
	if flushErr := r.commit(); err == nil {
		err = flushErr
	}
	outcome.Lines = r.lines(outcome)
	for _, d := range r.decisions {
		outcome.MappingChanged = outcome.MappingChanged || d.mapping && d.Status != ""
	}
	return outcome, err
}

// findAndCreate asks the service for the client as far as the ledger leaves that
// open, and then creates what is missing.
func (r *clientRun) findAndCreate(ctx context.Context) (clientOutcome, error) {
	if err := r.find(ctx); err != nil {
		return clientOutcome{}, err
	}
	if r.noWork != nil {
		return *r.noWork, nil
	}
	steps, err := walk(r.decisions, func(d decision) (stepOutcome, error) { return r.create(ctx, d) })
	if err != nil {
		return clientOutcome{}, err
	}
	outcome := outcomeOf(r.job.Binding, r.plan, steps, r.steps)
	if *r.leads && r.lacksURL {
		r.job.stop(errNoURL)
	}
	return outcome, nil
}

// create carries out the decision to send a step.
func (r *clientRun) create(ctx context.Context, d decision) (stepOutcome, error) {
	switch {
	case r.job.mode == modeReport && d.Step.KnownID == "":
		return r.projected(ctx, d), nil
	case d.Step.Contact != nil:
		return r.createContact(ctx, d)
	case d.Step.On != "":
		return r.createOnContact(ctx, d)
	case d.Step.KnownID != "":
		return r.takeKnownID(ctx, d)
	}
	return r.send(ctx, d)
}

// send creates what a step asks for. Before the first byte of its request the intent is durable, and
// the outcome of the step before it. The request is sent again only while it is proved that the
// service did not process it, or where the environment allows it.
func (r *clientRun) send(ctx context.Context, d decision) (stepOutcome, error) {
	if r.job.mode == modeDry {
		return r.planned(d)
	}
	r.job.canary.enter(ctx, r.leads)
	policy := apiclient.NewRetryPolicy(0)
	if d.Step.Kind == mapping.ClientStep { // send is called again when a look-up was too old, and earlier attempts count
		r.policy = cmp.Or(r.policy, policy)
		policy = r.policy
	}
	for {
		if waited, err := r.commitAndWaitForGate(ctx); err != nil {
			return stepOutcome{}, err
		} else if waited && d.Step.Kind == mapping.ClientStep && !r.lookup.at.IsZero() && ctx.Err() == nil {
			return stepOutcome{}, errStale // another program may have created the client meanwhile
		}
		verdict, err := r.attempt(ctx, &d)
		switch {
		case err == errTooLate:
			return r.job.notStarted(ctx, d, ""), nil
		case err == errWithdrawn:
			continue
		case err != nil:
			return stepOutcome{}, err
		}
		r.answered = r.answered || verdict.Status != 0
		event := r.judge(d, &verdict)
		r.record(d.Step.Key, event)
		if d.Step.Kind == mapping.LinkStep || d.Step.Kind == mapping.ClientStep && r.job.Binding.Mapping().V1() {
			r.lacksURL = event.URL == "" && apiclient.Readable(verdict.Status, verdict.Answer)
		}
		r.job.seeVerdict(ctx, verdict)
		// A client is looked up instead of being repeated.
		repeatable := d.Step.Kind != mapping.ClientStep && r.job.Service.Repeatable(apiclient.Kind(d.Step.Kind))
		next := policy.Next(verdict, r.namesJustCreated(d.Step), repeatable)
		if next.TooLong {
			r.job.stop(tooLong(next.Wait))
		}
		switch {
		case mayRepeat(verdict) && event.State == ledger.Refused && ctx.Err() != nil:
			return r.job.notStarted(ctx, d, verdict.Detail), nil
		case !next.Again:
			effect := verdict.Effect
			if event.State == ledger.Uncertain {
				effect = apiclient.Uncertain
			} else if event.State == ledger.Refused {
				r.refused = cmp.Or(r.refused, verdict.Status)
			}
			r.job.observe(observation{of: ofStep, kind: d.Step.Kind, effect: effect})
			return r.concludeStep(ctx, d, event, verdict)
		}
		if err := r.commit(); err != nil { // a wait may be long, and end with a kill
			return stepOutcome{}, err
		}
		if !next.Shared {
			apiclient.Sleep(ctx, next.Wait)
		}
		d.known.State, d.known.NotFound = event.State, event.NotFound
	}
}

// Why an attempt has not sent a step's request.
var (
	errTooLate   = errors.New("the run was stopped before there was an intent")
	errStale     = errors.New("the look-up on which it rests is too old, and there is no intent yet")
	errWithdrawn = errors.New("the intent was taken back: try again")
)

// attempt makes the intent durable and sends the request once, in a slot that it gives back. If the
// look-up is stale it keeps the slot, for the next look-up.
func (r *clientRun) attempt(ctx context.Context, d *decision) (v apiclient.Verdict, err error) {
	asOf, lookUpHadSlot := r.lookup.at, r.slot != nil
	if !r.takeSlot(ctx) {
		return v, errTooLate
	}
	slot := r.slot
	slot.Guard(r.job.stillLocked)
	if lookUpHadSlot {
		asOf = r.job.now() // the look-up left in this slot: no later one is possible
	}
	if r.isStale(*d, asOf) {
		return v, errStale
	}
	defer r.releaseSlot()
	if err := r.intend(*d); err != nil {
		return v, err
	}
	if slot.Await(ctx); r.isStale(*d, asOf) || !r.job.gate.open() || !r.job.stillLocked() { // since the intent
		r.withdraw(d)
		return v, errWithdrawn
	}
	return r.job.Service.CreateReserved(ctx, slot, requestOf(r.job.Service.Routes(), r.job.Service.LinkBody(), d.Step, r.idOf)), nil
}

// commitAndWaitForGate returns when the gate is open, and whether it was shut. Before it waits, and before a
// wait for the service, it makes outcomes durable: a wait may be long, and end with a kill.
func (r *clientRun) commitAndWaitForGate(ctx context.Context) (waited bool, err error) {
	waited = !r.job.gate.open()
	if waited || r.job.Service.Queues() {
		err = r.commit()
	}
	if waited {
		r.releaseSlot() // the GET that finds out whether the service answers may need it
		r.job.gate.wait(ctx)
	}
	return waited, err
}

// replicaLag is for how long after a thing was created the service may still answer that there is no
// such thing.
const replicaLag = 60 * time.Second

// namesJustCreated reports whether the step's request has the id of something that was created so
// recently that the service may not find it yet.
func (r *clientRun) namesJustCreated(step *mapping.Step) bool {
	owner := string(mapping.ClientStep)
	if step.Claim != "" {
		owner = step.Claim
	}
	return step.Kind != mapping.ClientStep && slices.ContainsFunc(append(contactsNeeded(step), owner), func(key string) bool {
		s := r.steps[key]
		return s.State == ledger.Done && s.Attempts > 0 && s.Age(r.job.now()) < replicaLag
	})
}

// judge returns the event to record of a step, by the verdict on its last request, which it may
// change. A step that an earlier request may have created stays uncertain, unless this one created
// it.
func (r *clientRun) judge(d decision, v *apiclient.Verdict) ledger.Event {
	if v.Effect == apiclient.Refused && v.Retry == apiclient.Never && v.Status == 409 { // something is there already
		switch {
		case d.isDoubted():
			v.Effect, v.Reason = apiclient.Uncertain, v.Reason+reasonEarlier
		case d.Step.Kind == mapping.ClientStep && r.job.looksUp(r.plan) && !v.Ruled:
			v.Effect, v.Reason = apiclient.Uncertain, v.Reason+reasonUnfound
		}
	}
	to, via, reason := ledger.Uncertain, "", reasonWith(v.Reason, v.Hint)
	switch {
	case v.Effect == apiclient.Created:
		to, via, reason = ledger.Done, ledger.ViaAnswer, ""
	case v.Effect == apiclient.NotSent && d.known.State == ledger.Uncertain:
		reason = reasonNotRepeated
	case v.Effect == apiclient.Refused && d.known.State == ledger.Uncertain:
		v.Reason += reasonEarlier
		reason = reasonWith(v.Reason, v.Hint)
	case v.Effect == apiclient.NotSent, v.Effect == apiclient.Refused:
		to, reason = ledger.Refused, v.Reason
	}
	event := r.event(d, to)
	event.Via, event.Reason = via, reason
	event.NotFound = to == ledger.Uncertain && d.known.NotFound && mayRepeat(*v) // what look-ups said of the attempt before still holds
	event.ID, event.URL, event.Status, event.Answer = v.ID, v.URL, v.Status, v.Answer
	return event
}

// isDoubted reports whether an earlier attempt at the step may have worked, also if a person has decided that it did not.
func (d decision) isDoubted() bool {
	return d.known.State == ledger.Uncertain || d.known.Via == ledger.ViaByHand && d.known.Attempts > 0
}

// withoutSteps settles plans for which nothing is sent, whatever the service
// knows: left out, or with problems. It returns nil for other plans.
func (j *Job) withoutSteps(plan mapping.Plan, known map[string]ledger.Step) (*clientOutcome, error) {
	why := cmp.Or(skipReasons[plan.Skipped], j.leavesOut(plan))
	if why == "" && len(plan.Problems) == 0 {
		return nil, nil
	}
	made, url := createdBefore(known), lastGiven(known).URL
	var lines []result.Step
	for _, s := range slices.SortedFunc(maps.Values(known), func(a, b ledger.Step) int { return a.At.Compare(b.At) }) {
		lines = append(lines, lineOf(s.StepID.Step, s.Kind, s))
	}
	for _, wanted := range plan.Wanted() {
		if wanted.Contact == nil {
			continue
		}
		steps, err := j.knownSteps(mapping.Plan{Client: wanted.Contact.Client})
		if err != nil {
			return nil, err
		}
		if s, ok := steps[string(mapping.ClientStep)]; ok {
			made[wanted.Key] = s.ID
			lines = append(lines, lineOf(wanted.Key, ledger.KindContact, s))
		}
	}
	o := leftOut(j.Binding, plan, made, url, why)
	if why == "" {
		o = invalidOutcome(j.Binding, plan, made, url)
	}
	o.Lines = lines
	return &o, nil
}

// skipReasons say why a row is left out.
var skipReasons = map[string]string{
	mapping.BlankRow: "the row is empty",
	mapping.NotWhen:  "left out by the mapping's sheet.when",
}

// createdBefore returns the ids that the ledger knows of a client, by the keys of the steps. The workbook shows them also beside a row that is left
// out or wrong.
func createdBefore(known map[string]ledger.Step) map[string]string {
	made := map[string]string{}
	for key, step := range known {
		if step.State == ledger.Done {
			made[key] = step.ID
		}
	}
	return made
}

// markDoneByThisRun decides which steps are done in this run. In a report it also has the outcome of an uncertain step shown.
func (r *clientRun) markDoneByThisRun() {
	for i := range r.decisions {
		d := &r.decisions[i]
		byRun := slices.Contains(r.job.Runs, d.known.Run)
		switch open := d.Status == result.Uncertain && r.job.mode == modeReport; {
		case open && byRun:
			d.Status = "" // what became of it in the run; see projected
		case open && d.known.NotFound && (d.Step.Contact != nil || r.job.ifKnown(r.plan) != mapping.Create):
			d.Advice = adviceNotFound // as reconcile has it until it decides
		}
		if d.known.State != ledger.Done {
			continue
		}
		inRun := byRun && d.known.Via != ledger.ViaWorkbook && d.Step.Contact == nil && // for another client, or by another process
			(d.known.Via == ledger.ViaAnswer || d.known.Attempts > 0 || r.job.mode == modeReport)
		if inRun && d.Status == result.Unchanged {
			d.Status = result.Done
		}
	}
}

// A further contact is a client too: it has a plan of one step, which the ledger has under
// the contact's own key. So contacts have look-ups, doubts, addresses and ids as clients
// have. Every client that names a contact has a step for it, and the first who needs the
// contact creates it.

// decideContacts decides about the steps of further contacts by what the ledger
// knows of the contacts themselves. It leaves a contact that is not done to
// createContact, also when it is in doubt.
func (r *clientRun) decideContacts() error {
	for i := range r.decisions {
		if d := &r.decisions[i]; d.Step.Contact != nil {
			if err := r.decideContact(d); err != nil {
				return err
			}
		}
	}
	r.decisions = slices.DeleteFunc(r.decisions, func(d decision) bool { return d.isUnneeded() })
	return nil
}

func (r *clientRun) decideContact(d *decision) error {
	step, plan := d.Step, *d.Step.Contact
	known, err := r.job.knownSteps(plan)
	if err != nil {
		return err
	}
	for i := range r.decisions { // the activities on it
		on := &r.decisions[i]
		_, own, _ := mapping.ContactOf(on.Step.Key)
		s, ok := known[own]
		if ok && (on.Step.Key == step.Key || on.Step.On == step.Key) {
			r.know(on.Step.Key, s)
		}
		// Another client may be sending it.
		inFlight := s.State == ledger.Uncertain && slices.Contains(r.job.Runs, s.Run) && r.job.mode != modeReport
		if ok && on.Step.On == step.Key && !inFlight {
			*on = decideStep(r.plan, on.Step, map[string]ledger.Step{on.Step.Key: s}, r.job.Binding)
		}
	}
	now := decide(plan, known, r.job.Binding)[0]
	if now.known.State == ledger.Done || now.known.State == ledger.Closed && !d.isUnneeded() || r.job.mode == modeReport && d.Status == "" {
		now.Step = step
		*d = now
	}
	return nil
}

// withContact calls do while no other client works on the contact, in this process and in others.
func (r *clientRun) withContact(ctx context.Context, step *mapping.Step, plan mapping.Plan,
	do func(*furtherContact) (stepOutcome, error)) (stepOutcome, error) {
	if err := r.commit(); err != nil { // the client who has the contact needs a place and a slot, and must not wait for those of this one
		return stepOutcome{}, err
	}
	r.releaseSlot()
	r.closeIntent()
	if r.job.mode == modeRun {
		r.job.canary.enter(ctx, r.leads) // so that the client who goes first never waits for this one
	}
	known, _ := r.job.contacts.LoadOrStore(plan.Client, &furtherContact{})
	contact := known.(*furtherContact)
	contact.mu.Lock()
	defer contact.mu.Unlock()
	waiting, stop := context.WithTimeout(ctx, contactPatience)
	defer stop()
	unlock, err := r.job.lock(waiting, []mapping.Plan{plan}, r.group)
	if errors.Is(err, context.DeadlineExceeded) {
		const why = "another process is at work on the contact"
		return stepOutcome{Step: step, Status: result.Failed, Error: why, reason: why,
			Advice: "Nothing was sent. Run again when the other process has finished."}, nil
	}
	if err != nil {
		return stepOutcome{}, err
	}
	defer unlock()
	return do(contact)
}

// contactPatience is how long a client waits for a contact on whom another process works.
const contactPatience = time.Minute

// createContact carries out the plan of a further contact, unless that has failed already for
// another client.
func (r *clientRun) createContact(ctx context.Context, d decision) (stepOutcome, error) {
	return r.withContact(ctx, d.Step, *d.Step.Contact, func(contact *furtherContact) (o stepOutcome, err error) {
		if contact.failed != nil {
			o = *contact.failed
			o.Step = d.Step
			return o, nil
		}
		c := r.job.readClient(*d.Step.Contact)
		c.leads = r.leads
		outcome, err := c.execute(ctx)
		if s, ok := c.steps[string(mapping.ClientStep)]; ok {
			r.know(d.Step.Key, s)
		}
		r.sent, r.answered, r.lookedUp = r.sent+c.sent, r.answered || c.answered, r.lookedUp || c.lookedUp
		r.refused, r.unanswered = cmp.Or(r.refused, c.refused), r.unanswered || c.unanswered
		if err != nil {
			return stepOutcome{}, err
		}
		o = outcome.Steps[0]
		o.Step = d.Step
		if !o.ok() {
			contact.failed = &o
		}
		return o, nil
	})
}

// createOnContact sends an activity on a further contact, unless the ledger shows by now that
// another client has sent it.
func (r *clientRun) createOnContact(ctx context.Context, d decision) (stepOutcome, error) {
	who, own, _ := mapping.ContactOf(d.Step.Key)
	plan := mapping.Plan{Client: who, Role: d.Step.On, Rows: r.plan.Rows, Steps: []mapping.Step{*d.Step}}
	return r.withContact(ctx, d.Step, plan, func(*furtherContact) (stepOutcome, error) {
		known, err := r.job.readSteps(plan)
		if err != nil {
			return stepOutcome{}, err
		}
		if s, ok := known[own]; ok {
			r.know(d.Step.Key, s)
			if d = decideStep(r.plan, d.Step, map[string]ledger.Step{d.Step.Key: s}, r.job.Binding); d.Status != "" {
				return d.outcome(), nil
			}
		}
		o, err := r.send(ctx, d)
		if err == nil {
			err = r.commit() // so that the next client finds it
		}
		return o, err
	})
}

// planned counts a request that a run would make. It records in the overlay what is created of people,
// where later clients find it.
func (r *clientRun) planned(d decision) (stepOutcome, error) {
	if d.Step.Kind == mapping.ClientStep || d.Step.On != "" {
		event := r.event(d, ledger.Done)
		event.Via = ledger.ViaAnswer
		r.attachWanted(&event, d)
		r.record(d.Step.Key, event)
	}
	if err := r.commit(); err != nil { // as before a request
		return stepOutcome{}, err
	}
	r.job.tally.plan(d.Step.Kind)
	return stepOutcome{Step: d.Step, Status: result.Planned}, nil
}

var errNoURL = errors.New("the first client has no redirect url: the pointer wire.redirect_url of the environment is wrong")
