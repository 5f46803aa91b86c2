package importer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
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
	mu sync.Mutex
	of map[mapping.Identity]metContact
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
		if d.action == send {
			ticket.Wait()
			if err := r.decideContact(d); err != nil {
				return err
			}
		}
		if d.action != send {
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
		if !isChanged(err) { // else the contact is not through
			ticket.Done()
		}
	}()
	if met, ok := r.job.met.find(d.step.Contact.Client); ok {
		return r.metOutcome(d, met), nil
	}
	if err := r.commit(); err != nil { // the contact's run has commits of its own
		return stepOutcome{}, err
	}
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

// Administrators are the people of a sheet who administer claims, and those who are
// to be created with administrator: false, each with the first cell that says so. The
// zero value has nobody.
type Administrators map[[16]byte]*administration

type administration struct{ administers, not sheetCell }

// sheetCell is a cell; the zero value is none.
type sheetCell struct {
	row    cell.Row
	column int
}

// add notes what a row says of people.
func (a Administrators) add(row cell.Row, list []mapping.Administration) {
	for _, it := range list {
		who := fingerprint(it.Who)
		known := a[who]
		if known == nil {
			known = &administration{}
			a[who] = known
		}
		at := &known.not
		if it.Administers {
			at = &known.administers
		}
		if at.row == 0 {
			*at = sheetCell{row, it.Column}
		}
	}
}

// mixedAdministrators are the problems of the people of a plan who administer claims in
// one row of the sheet and are to be created with administrator: false by another, as
// long as they are not created: whichever row came first would decide. known is what
// the ledger knows of the plan's client, and readSteps reads what it knows of a contact.
func (j *Job) mixedAdministrators(plan mapping.Plan, known map[string]ledger.Step,
	readSteps func(mapping.Plan) (map[string]ledger.Step, error)) (found problem.List, err error) {
	if len(j.Administrators) == 0 || len(plan.Problems) > 0 {
		return nil, nil
	}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		who, role, now := plan.Client, "", known
		switch {
		case step.Contact != nil:
			who, role = step.Contact.Client, step.Contact.Role
		case step.Kind != mapping.ClientStep:
			continue
		}
		mixed := j.Administrators[fingerprint(who)]
		administers := administersClaims(plan, step.Key)
		if mixed == nil || mixed.administers.row == 0 || mixed.not.row == 0 || !administers && !step.NotAdministrator ||
			step.KnownID != "" || j.KnownIDs.ofClient(who) != "" {
			continue
		}
		if step.Contact != nil {
			if now, err = readSteps(*step.Contact); err != nil {
				return nil, err
			}
		}
		if mayExist(now[string(mapping.ClientStep)].To) {
			continue
		}
		other := mixed.administers
		if !step.NotAdministrator {
			other = mixed.not
		}
		for _, row := range step.Rows {
			found = append(found, j.Binding.MixedAdministrator(role, row, !step.NotAdministrator, j.Binding.At(other.column, other.row)))
		}
	}
	return found, nil
}

// administersClaims reports whether the person of a step administers a claim that the
// plan creates.
func administersClaims(plan mapping.Plan, key string) bool {
	for i := range plan.Steps {
		if claim := &plan.Steps[i]; claim.Kind == mapping.ClaimStep && claim.KnownID == "" && administratorOf(claim) == key {
			return true
		}
	}
	return false
}

// administratorOf is the key of the step of a claim's administrator; "" for one that
// the environment has.
func administratorOf(claim *mapping.Step) string {
	if claim.AdministratorID != "" {
		return ""
	}
	return cmp.Or(claim.Administrator, string(mapping.ClientStep))
}

// reasonNotAdministrator says that a person's other role decided how they were created.
const reasonNotAdministrator = "it was created with administrator: false, for another role in the mapping, and administers claims here"

// noteAdministrators notes the people who administer claims of the plan and were
// created with administrator: false in another role.
func (r *clientRun) noteAdministrators() {
	for i := range r.decisions {
		d := &r.decisions[i]
		if !d.notAdministrator || (d.action != unchanged && d.action != changed) || strings.HasSuffix(d.why, reasonNotAdministrator) || !administersClaims(r.plan, d.step.Key) {
			continue
		}
		if d.why != "" {
			d.why += "; "
		}
		d.action, d.why = changed, d.why+reasonNotAdministrator
	}
}

// administeredByOther reports whether a claim's administrator was created with
// administrator: false in another role.
func (r *clientRun) administeredByOther(claim *mapping.Step) bool {
	for i := range r.decisions {
		if d := &r.decisions[i]; d.notAdministrator && d.step.Key == administratorOf(claim) {
			return true
		}
	}
	return false
}

// adviceRefusal says what to do about a step that the service refused. hint is that of a
// rule of the environment, "" for none.
func (r *clientRun) adviceRefusal(step *mapping.Step, hint string) string {
	usual := adviceRefused
	switch {
	case step.Kind != mapping.ClaimStep:
	case r.administeredByOther(step):
		usual = adviceNotAdministrator
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
	case step.Kind == mapping.ClaimStep:
		isClient := of.Kind == mapping.ClientStep && step.Claimants == nil
		return isClient || administratorOf(step) == of.Key || slices.Contains(step.Claimants, of.Key)
	}
	return of.Kind == mapping.ClientStep && (step.Kind == mapping.LinkStep || step.Kind == mapping.ActivityStep && step.Claim == "")
}
