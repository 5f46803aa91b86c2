package importer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// A further contact is a client of its own: it has a plan of one step, which the
// ledger has under the contact's own key. So whatever holds for clients holds for
// contacts: look-ups, doubts, addresses, ids. Every client that names a contact has
// a step for it, and the first of them in the sheet creates it.

// contactsOf are the plans of a client's further contacts.
func contactsOf(plan mapping.Plan) []mapping.Plan {
	var list []mapping.Plan
	for i := range plan.Steps {
		if c := plan.Steps[i].Contact; c != nil {
			list = append(list, *c)
		}
	}
	return list
}

// hasContacts reports whether other runs of the job may be about the same person: a
// contact, or a client who may be a contact of another one.
func (j *Job) hasContacts(plan mapping.Plan) bool {
	return plan.Role != "" || j.Binding.ClientsAreContacts()
}

// metContacts is what became of contacts in this run: of those that another client's
// run need not try again and, in a dry run, of all whom the run would create.
type metContacts struct {
	mu      sync.Mutex
	of      map[mapping.Identity]metContact
	planned map[string]bool // in a dry run: activities on contacts, by the step's key
}

// isPlanned reports whether an earlier client of a dry run has the activity on a contact,
// and notes that this one has it.
func (m *metContacts) isPlanned(step string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.planned[step]
	if m.planned == nil {
		m.planned = map[string]bool{}
	}
	m.planned[step] = true
	return before
}

type metContact struct {
	outcome stepOutcome
	known   ledger.Step // in a dry run: as the ledger will have it; zero where the step is not done
}

func (m *metContacts) find(who mapping.Identity) (metContact, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	met, ok := m.of[who]
	return met, ok
}

// noteMet notes what became of a client or contact, as far as other runs have to
// know it and do not find it in the ledger. first is the decision about its step.
func (r *clientRun) noteMet(first decision, o stepOutcome) {
	j := r.job
	if !j.hasContacts(r.plan) || o.ok() && (!j.effects.dryRun || first.action == unchanged || first.action == changed) || !o.ok() && r.plan.Role == "" {
		return
	}
	o.answered, o.unanswered, o.wordless = false, false, false
	met := metContact{outcome: o}
	if o.ok() {
		w := wantedOf(r.plan, first.step, j.Binding.Mapping().Name.Text)
		met.known.To, met.known.ID, met.known.Via, met.known.Kind = ledger.Done, o.ID, ledger.ViaAnswer, ledger.KindClient
		if r.reused {
			met.known.Via = ledger.ViaAdopted
		}
		if r.plan.Steps[0].KnownID != "" {
			met.known.Reason = ledger.ReasonKnownID
		}
		met.known.Data, met.known.Digest = w.json(), w.digest()
	}
	j.met.mu.Lock()
	defer j.met.mu.Unlock()
	if _, ok := j.met.of[r.plan.Client]; !ok {
		j.met.of[r.plan.Client] = met
	}
}

// foresee makes the client's step one that is done where an earlier client of this
// dry run has it as a contact.
func (r *clientRun) foresee() {
	met, ok := r.job.met.find(r.plan.Client)
	if !ok || met.known.To != ledger.Done || r.decisions[0].known.To == ledger.Done {
		return
	}
	d := &r.decisions[0]
	d.known, d.wanted = &met.known, wantedOf(r.plan, d.step, r.job.Binding.Mapping().Name.Text)
	d.foreseen = true
	d.compare(r.job.Binding)
	if d.isFound() {
		skipActivities(r.decisions, r.job.Binding)
	}
}

// await returns when the clients ahead in the sheet are through with what this one
// shares with them, and decides again about what they may have created meanwhile.
func (r *clientRun) await() error {
	first := r.decisions[0]
	mayBeMet := first.known.To != ledger.Done && r.plan.Role == "" && r.job.hasContacts(r.plan)
	if len(r.tickets) > 0 && (mayBeMet || first.action != unchanged && (r.job.looksUp(r.plan) || r.job.revisits(r.plan, first))) {
		r.tickets[0].Wait()
	}
	switch {
	case r.job.effects.dryRun:
		r.foresee()
	case mayBeMet:
		if r.readAndPrepare(); r.failed != nil {
			return r.failed
		}
	}
	return r.awaitContacts()
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
	altered, err := r.reparse(known)
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
		if s, ok := known[own]; ok && d.step.On == contact.Key {
			*d = decideStep(r.plan, d.step, map[string]ledger.Step{d.step.Key: s}, r.job.Binding)
		}
	}
}

// has reports whether an activity on a contact is to be sent, or with inDoubt has an outcome
// that is not known, which an earlier client of this run may be finding out.
func (r *clientRun) has(contact *mapping.Step, inDoubt bool) bool {
	return slices.ContainsFunc(r.decisions, func(d decision) bool {
		return d.step.On == contact.Key && (d.action == send || inDoubt && d.action == needsOperator)
	})
}

// ofClient returns the id that the sheet gives for somebody in a row of their own,
// "" for none.
func (k KnownIDs) ofClient(who mapping.Identity) string { return k.clients[fingerprint(who)] }

// awaitContacts returns when the earlier clients of the sheet that name the same
// contacts are through with them, and lets the later ones go on as soon as nothing
// is left to be done about a contact. It is called before the run may send anything:
// while it waits, nobody waits for it.
func (r *clientRun) awaitContacts() error {
	for i := range r.decisions {
		d := &r.decisions[i]
		if d.step.Contact == nil {
			continue
		}
		ticket := r.ticketOf(d.step)
		if d.action == send || r.has(d.step, true) {
			ticket.Wait()
			if err := r.decideContact(d); err != nil {
				return err
			}
		}
		if d.action != send && !r.has(d.step, false) {
			ticket.Done()
		}
	}
	r.takeKnownIDs()
	return nil
}

// ticketOf is the place of a contact among those with its addresses.
func (r *clientRun) ticketOf(step *mapping.Step) lookup.Ticket {
	n := 0
	for i := range r.plan.Steps {
		if r.plan.Steps[i].Contact == nil {
			continue
		}
		if n++; r.plan.Steps[i].Contact == step.Contact && n < len(r.tickets) {
			return r.tickets[n]
		}
	}
	return lookup.Ticket{}
}

// createContact carries the plan of a further contact out, unless another client's
// run has tried it in vain.
func (r *clientRun) createContact(ctx context.Context, d decision) (o stepOutcome, err error) {
	ticket := r.ticketOf(d.step)
	defer func() {
		if !isChanged(err) && !r.has(d.step, false) { // else the contact is not through
			ticket.Done()
		}
	}()
	if met, ok := r.job.met.find(d.step.Contact.Client); ok {
		return r.metOutcome(d, met), nil
	}
	if err := r.commit(); err != nil { // the contact's run has commits of its own
		return stepOutcome{}, err
	}
	r.releaseSlot() // it would wait for its own
	r.leaveDoubt()
	c := r.job.newClientRun(*d.step.Contact)
	c.tickets, c.leader = []lookup.Ticket{ticket}, r.leader
	c.readAndPrepare()
	outcome, err := c.execute(ctx)
	r.sent, r.answered, r.lookedUp = r.sent+c.sent, r.answered || c.answered, r.lookedUp || c.lookedUp
	if err != nil {
		return stepOutcome{}, err
	}
	o = outcome.Steps[0]
	o.Step = d.step
	if o.ok() {
		r.known.contacts[d.step.Key] = o.ID
		if at, ok := c.created[string(mapping.ClientStep)]; ok {
			r.created[d.step.Key] = at
		}
	}
	return o, nil
}

// metOutcome is the outcome of a contact's step where the run has met the contact
// before.
func (r *clientRun) metOutcome(d decision, met metContact) stepOutcome {
	o := met.outcome
	if met.known.To == ledger.Done {
		again := decision{step: &d.step.Contact.Steps[0], known: &met.known, foreseen: true}
		again.wanted = wantedOf(*d.step.Contact, again.step, r.job.Binding.Mapping().Name.Text)
		again.compare(r.job.Binding)
		o = again.outcome()
		o.known = nil
	}
	o.Step = d.step
	return o
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
