package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// A further contact is a client of its own: it has a plan of one step, which the
// ledger has under the contact's own key. So whatever holds for clients holds for
// contacts: look-ups, doubts, addresses, ids. Every client that names a contact has
// a step for it, and the first who needs the contact creates it.

// hasContacts reports whether other runs of the job may be about the same person: a
// contact, or a client who may be a contact of another one.
func (j *Job) hasContacts(plan mapping.Plan) bool {
	return plan.Role != "" || j.Binding.ClientsAreContacts()
}

// furtherContacts are the contacts that a run has tried to create. Each is created by the
// client who needs it first; others wait meanwhile, and do not try again in vain.
type furtherContacts struct {
	mu  sync.Mutex
	all map[mapping.Identity]*furtherContact
}

type furtherContact struct {
	mu     sync.Mutex   // held while a client works on the contact
	failed *stepOutcome // what became of it; nil while it may be tried
}

func (f *furtherContacts) of(who mapping.Identity) *furtherContact {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[mapping.Identity]*furtherContact{}
	}
	if f.all[who] == nil {
		f.all[who] = &furtherContact{}
	}
	return f.all[who]
}

// decideContacts decides about the steps of further contacts by what the ledger
// knows of the contacts themselves. A contact that is not done is left to
// createContact, also when it is in doubt.
func (r *clientRun) decideContacts() error {
	for i := range r.decisions {
		if d := &r.decisions[i]; d.step.Contact != nil {
			if err := r.decideContact(d); err != nil {
				return err
			}
		}
	}
	r.decisions = slices.DeleteFunc(r.decisions, func(d decision) bool { return d.action == unneeded })
	return nil
}

func (r *clientRun) decideContact(d *decision) error {
	step, plan := d.step, *d.step.Contact
	if why := r.job.erased(plan.Client); why != "" {
		nameless := *step
		nameless.Key, nameless.Contact = string(mapping.ContactStep), nil // its key is that of the erased person
		d.action, d.why, d.advice, d.shown = erasedContact, "the contact “"+step.Title+"” was erased: "+why, adviceErasedContact, &nameless
		return nil
	}
	known, err := r.job.readSteps(plan)
	if err != nil {
		return err
	}
	altered, err := r.job.reparse(known)
	if err != nil {
		return err
	}
	r.altered = r.altered || altered
	r.decideOn(step, known)
	now := decide(plan, known, r.job.Binding)[0]
	if now.known.IsOfSheet() && d.action != unneeded { // the sheet may give another id by now
		plan.Steps[0].KnownID = r.job.KnownIDs.ofClient(plan.Client)
		now = decide(plan, known, r.job.Binding)[0]
	}
	switch {
	case now.known.To == ledger.Done && now.action != send, now.action == givenUp && d.action != unneeded:
		now.step = step
		*d = now
	default:
		plan.Steps[0].KnownID = r.job.KnownIDs.ofClient(plan.Client)
	}
	return nil
}

// decideOn decides about the activities on a contact, by what the ledger knows of it.
func (r *clientRun) decideOn(contact *mapping.Step, known map[string]ledger.Step) {
	for i := range r.decisions {
		d := &r.decisions[i]
		_, own, _ := mapping.ContactOf(d.step.Key)
		s, ok := known[own]
		if ok = ok && !(s.To == ledger.Sent && slices.Contains(r.job.Runs, s.Run)); ok && d.step.On == contact.Key { // else another client is sending it
			*d = decideStep(r.plan, d.step, map[string]ledger.Step{d.step.Key: s}, r.job.Binding)
		}
	}
}

// ofClient returns the id that the sheet gives for somebody in a row of their own,
// "" for none.
func (k KnownIDs) ofClient(who mapping.Identity) string { return k.Clients[fingerprint(who)] }

// contactPatience is how long a client waits for a contact on whom another process works.
const contactPatience = time.Minute

// createContact carries the plan of a further contact out, unless another client's
// run has tried it in vain.
func (r *clientRun) createContact(ctx context.Context, d decision) (o stepOutcome, err error) {
	if err := r.commit(); err != nil { // the contact's run has commits of its own
		return stepOutcome{}, err
	}
	r.releaseSlot() // it would wait for its own
	r.leaveDoubt()
	if r.job.mode == carriesOut {
		r.job.canary.enter(ctx, r.leader) // so that the client who goes first never waits for this one
	}
	contact := r.job.contacts.of(d.step.Contact.Client)
	contact.mu.Lock()
	defer contact.mu.Unlock()
	if contact.failed != nil {
		o = *contact.failed
		o.Step, o.answered, o.Unanswered, o.wordless = d.step, false, false, false
		return o, nil
	}
	waiting, stop := context.WithTimeout(ctx, contactPatience)
	defer stop()
	unlock, err := r.job.lock(waiting, []mapping.Plan{*d.step.Contact})
	if errors.Is(err, context.DeadlineExceeded) {
		return atWork(d.step), nil
	}
	if err != nil {
		return stepOutcome{}, err
	}
	defer unlock()
	c := r.job.newClientRun(*d.step.Contact)
	c.leader = r.leader
	c.readAndPrepare()
	outcome, err := c.execute(ctx)
	r.sent, r.answered, r.lookedUp = r.sent+c.sent, r.answered || c.answered, r.lookedUp || c.lookedUp
	if err != nil {
		return stepOutcome{}, err
	}
	o = outcome.Steps[0]
	o.Step = d.step
	if !o.ok() {
		contact.failed = &o
		return o, nil
	}
	r.known.contacts[d.step.Key] = o.ID
	if at, ok := c.created[string(mapping.ClientStep)]; ok {
		r.created[d.step.Key] = at
	}
	return o, nil
}

// atWork is the outcome of a step that waited in vain for a contact on whom another process works.
func atWork(step *mapping.Step) stepOutcome {
	const why = "another process is at work on the contact"
	return stepOutcome{Step: step, Status: result.Failed, Error: why, Reason: why, Advice: "Nothing was sent. Run again when the other process has finished."}
}

// createOnContact sends an activity on a further contact, unless another client has sent it
// meanwhile.
func (r *clientRun) createOnContact(ctx context.Context, d decision) (o stepOutcome, err error) {
	if r.job.mode == carriesOut {
		r.job.canary.enter(ctx, r.leader)
	}
	who, own, _ := mapping.ContactOf(d.step.Key)
	contact := r.job.contacts.of(who)
	contact.mu.Lock()
	defer contact.mu.Unlock()
	waiting, stop := context.WithTimeout(ctx, contactPatience)
	defer stop()
	unlock, err := r.job.lock(waiting, []mapping.Plan{{Client: who, Role: d.step.On, Rows: r.plan.Rows, Steps: []mapping.Step{*d.step}}})
	if errors.Is(err, context.DeadlineExceeded) {
		return atWork(d.step), nil
	}
	if err != nil {
		return stepOutcome{}, err
	}
	defer unlock()
	known, err := r.job.readSteps(mapping.Plan{Client: who})
	if err != nil {
		return stepOutcome{}, err
	}
	if s, ok := known[own]; ok {
		if d = decideStep(r.plan, d.step, map[string]ledger.Step{d.step.Key: s}, r.job.Binding); d.action != send {
			return d.outcome(), nil
		}
	}
	if r.job.mode == dry {
		if r.job.overlay.isPlanned(d.step.Key) {
			return stepOutcome{Step: d.step, Status: result.Unchanged}, nil
		}
		r.job.tally.planned(d.step.Kind)
		return stepOutcome{Step: d.step, Status: result.Planned}, nil
	}
	if o, err = r.send(ctx, d); err == nil {
		err = r.commit() // so that the next client finds it
	}
	return o, err
}

// knownContacts are the steps by which the ledger knows the contacts of a client
// for whom nothing is planned.
func (j *Job) knownContacts(plan mapping.Plan) (list []ledger.Step, err error) {
	for _, c := range plan.Contacts {
		if j.erased(c.Client) != "" {
			continue
		}
		known, err := j.knownSteps(mapping.Plan{Client: c.Client})
		if err != nil {
			return nil, err
		}
		if step, ok := known[string(mapping.ClientStep)]; ok {
			step.Kind = ledger.KindContact
			list = append(list, step)
		}
	}
	return list, nil
}

// administratorOf is the key of the step of a claim's administrator; "" for one that
// the environment has.
func administratorOf(claim *mapping.Step) string {
	if claim.AdministratorID != "" {
		return ""
	}
	return cmp.Or(claim.Administrator, string(mapping.ClientStep))
}

// adviceRefusal says what to do about a step that the service refused. hint is that of a
// rule of the environment, "" for none.
func (r *clientRun) adviceRefusal(step *mapping.Step, hint string) string {
	usual := adviceRefused
	switch {
	case step.Kind != mapping.ClaimStep:
	case r.reused:
		usual = adviceReused
	}
	advice := cmp.Or(hint, usual)
	if ofSheet := r.adviceOfSheet(step); ofSheet != "" {
		advice = withHint(advice, ofSheet)
	}
	return advice
}

// adviceOfSheet says what to do about an id of the sheet (known_id) in the request of a
// refused step, as long as nothing was created with that id; "" where there is none. The
// service's document does not show how an unknown id is refused.
func (r *clientRun) adviceOfSheet(refused *mapping.Step) string {
	for i := range r.decisions {
		d := &r.decisions[i]
		id := d.ofSheet()
		if id == "" || !sendsIDOf(refused, d.step) || slices.ContainsFunc(r.decisions, func(on decision) bool {
			_, created := r.created[on.step.Key]
			return sendsIDOf(on.step, d.step) && (created || on.known.To == ledger.Done && !on.known.IsOfSheet())
		}) {
			continue
		}
		name := result.ShownStep(d.step.Key)
		if d.step.Kind != mapping.ContactStep {
			name = r.plan.Client.Key + ":" + name
		}
		return fmt.Sprintf(adviceKnownIDRefused, id, name)
	}
	return ""
}

// ofSheet returns the id that the sheet gives for the step, where that is the one that
// counts; "" otherwise.
func (d *decision) ofSheet() string {
	switch {
	case d.known.IsOfSheet():
		return d.known.ID
	case d.known.To == ledger.Done:
		return ""
	case d.step.Contact != nil:
		return d.step.Contact.Steps[0].KnownID
	}
	return d.step.KnownID
}

// sendsIDOf reports whether the request of a step holds the id of a client, contact or
// claim.
func sendsIDOf(step, of *mapping.Step) bool {
	switch {
	case of.Kind == mapping.ClaimStep:
		return step.Kind == mapping.ActivityStep && step.Claim == of.Key
	case step.On != "":
		return step.On == of.Key
	case step.Kind == mapping.ClaimStep:
		isClient := of.Kind == mapping.ClientStep && step.Claimants == nil
		return isClient || administratorOf(step) == of.Key || slices.Contains(step.Claimants, of.Key)
	}
	return of.Kind == mapping.ClientStep && (step.Kind == mapping.LinkStep || step.Kind == mapping.ActivityStep && step.Claim == "")
}
