package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// reparse reads the kept answers of a plan's client again, by the pointers of the environment (wire)
// as they are now, and records what they now say: after a pointer was corrected, ids and urls come from
// the answers and nothing is sent again. A decision of settle stays as it is.
func (j *Job) reparse(plan mapping.Plan, known map[string]ledger.Step) (map[string]ledger.Step, error) {
	if j.Service == nil {
		return known, nil
	}
	var events []ledger.Event
	for key, step := range known {
		again, isNews := j.parseAgain(step, known[ledger.KindClient].ID)
		if !isNews {
			continue
		}
		event := j.stamped(ledger.Event{StepID: step.StepID, State: again.State, Run: j.Runs[0], Kind: step.Kind, Via: again.Via,
			Status: again.Status, ID: again.ID, URL: again.URL})
		t, taken, err := j.Ledger.StepWithID(uninterrupted, event)
		if err != nil {
			return nil, err
		}
		if taken { // it stays as it is, and the reason says whose the id is
			reason, whose := takenAnswer(step.Kind, again.ID, t)
			again = step
			again.Reason = reasonWith(reason+": "+whose, hintTaken)
		} else {
			again.At = event.At // the run stays: nothing is sent in this one
			events = append(events, event)
		}
		known[key] = again
	}
	if len(events) == 0 {
		return known, nil
	}
	err := j.Ledger.Append(events...)
	if isRefusal(err) { // another process has recorded something meanwhile
		return j.readSteps(plan)
	}
	return known, err
}

// parseAgain returns a step as its kept answer describes it by the present pointers.
// isNews reports whether that differs from the ledger.
func (j *Job) parseAgain(step ledger.Step, clientID string) (again ledger.Step, isNews bool) {
	if step.Answer == nil || step.Status/100 != 2 || step.Via == ledger.ViaByHand || step.Via == ledger.ViaConflict {
		return step, false
	}
	if step.State == ledger.Done && !j.Service.Reads(apiclient.Kind(step.Kind)) {
		return step, false // its answer has nothing that could be corrected
	}
	v := j.judgeStored(step, clientID)
	again = step
	again.State, again.Via = ledger.Done, ledger.ViaAnswer
	again.ID, again.URL = cmp.Or(v.ID, step.ID), cmp.Or(v.URL, step.URL)
	switch {
	case step.State == ledger.Uncertain:
		isNews = v.Effect == apiclient.Created
	case step.Via == ledger.ViaAdopted || step.Via == ledger.ViaSheet:
		// Everything else was built on the id that a look-up found, or that the sheet gave.
		isNews = again.ID == step.ID && again.URL != step.URL
	case step.State == ledger.Done && v.Effect == apiclient.Created:
		isNews = again.ID != step.ID || again.URL != step.URL
	}
	return again, isNews
}

// knownSteps is what the ledger knows of a plan's client, after kept answers have
// been parsed again.
func (j *Job) knownSteps(plan mapping.Plan) (map[string]ledger.Step, error) {
	known, err := j.readSteps(plan)
	if err != nil {
		return nil, err
	}
	return j.reparse(plan, known)
}

const reasonKnown = "the service knows this client already"

// applyLookUp does what the mapping says about what the look-up of a client found: the client
// is left out, rejected, or stays as decided. found is the event by which it becomes done then.
func (r *clientRun) applyLookUp(first *decision) (found ledger.Event, err error) {
	of, ifKnown := r.lookup, r.job.ifKnown(r.plan)
	switch {
	case of.failed != nil:
		advice := adviceLookup
		if f, ok := errors.AsType[*apiclient.Failure](of.failed); ok && f.Hint != "" {
			advice = f.Hint
		}
		first.reject(of.unclear, reasonNoLookUp, advice)
		return found, nil
	case of.unclear != "":
		first.reject(of.unclear, of.unclear, adviceWhoIsIt)
		return found, nil
	case of.id == "":
		return found, nil
	case ifKnown == mapping.Skip:
		why := reasonKnown + ", so its rows were left out"
		first.reject(why, why, adviceSkipped)
		o := leftOut(r.job.Binding, r.plan, map[string]string{string(mapping.ClientStep): of.id}, "", adviceSkipped)
		r.noWork = &o
		return found, nil
	}
	found, clash, err := r.foundEvent(of.id, "")
	switch {
	case clash != "":
		first.reject(clash, reasonClash, adviceWhoIsIt)
		r.lookup.id = "" // it is another client's
	case ifKnown == mapping.Fail:
		first.reject(reasonKnown, reasonKnown, adviceKnown)
		first.ID = of.id
	}
	return found, err
}

// wasContact reports whether the ledger has a client only because a look-up found it as a contact of
// another client, and the mapping does not reuse known clients (existing: skip or fail). For its own
// rows, it is then a client whom the service knew already.
func (r *clientRun) wasContact() bool {
	first, ifKnown := &r.decisions[0], r.job.ifKnown(r.plan)
	return (ifKnown == mapping.Skip || ifKnown == mapping.Fail) && (first.isDoneAsWanted() || first.Status == result.Changed) &&
		isFound(first.known) && first.known.Via != ledger.ViaSheet && first.Step.KnownID == "" &&
		!slices.ContainsFunc(r.decisions[1:], func(d decision) bool { return d.Step.Contact == nil && d.known.State != "" })
}

// wasLeftOut reports whether an earlier run has left the client out, because a look-up found it and
// the mapping skips known clients.
func (r *clientRun) wasLeftOut() bool {
	known := r.decisions[0].known
	return r.job.ifKnown(r.plan) == mapping.Skip && known.State == ledger.Refused && known.Attempts == 0 && known.ID != ""
}

// foundEvent returns the event by which the client becomes done, because a look-up found it under an id. url is that of an
// earlier answer; the event has it unless another client has it by now. clash says that another client of the ledger
// has the id; "" if no other has it.
func (r *clientRun) foundEvent(id, url string) (event ledger.Event, clash string, err error) {
	event = r.event(r.decisions[0], ledger.Done)
	event.Via, event.ID, event.URL = ledger.ViaAdopted, id, url
	t, taken, err := r.job.Ledger.StepWithID(uninterrupted, event)
	switch {
	case taken && t.URL:
		event.URL = ""
	case taken:
		clash = "the service has one client for this key and for " + holderOf(t)
	}
	return event, clash, err
}

// addressOwner returns another client who owns one of these addresses and was not refused. Of an address by
// which the client is looked up (asked), an owner counts who was looked up by it, may have been created, or
// was worked on in this run; any other is left to a look-up. Of an address that the client has besides
// (sent), which a family may share, an owner counts whose key it is.
func (j *Job) addressOwner(who mapping.Identity, asked, sent []string) (owner ledger.AddressOwner, owned bool, err error) {
	sent = slices.DeleteFunc(slices.Clone(sent), func(address string) bool { return slices.Contains(asked, address) })
	owners, err := j.Ledger.AddressOwners(uninterrupted, j.Environment, slices.Concat(asked, sent))
	for _, o := range owners {
		counts := o.IsKey() || slices.Contains(asked, o.Address) && (o.LookedUp || o.IsUncertain() || slices.Contains(j.Runs, o.Run))
		if counts && o.ClientKey != j.clientKey(who) && o.State != ledger.Refused {
			return o, true, nil
		}
	}
	return owner, false, err
}

// addressProblems returns problems if the client was created with another address than the sheet now gives it, and another
// client who is done owns that address, as when a column of the sheet was sorted alone.
func (r *clientRun) addressProblems() (found problem.List, err error) {
	if r.decisions[0].Status != result.Changed || r.plan.Role != "" || r.job.ifKnown(r.plan) == mapping.Create {
		return nil, nil
	}
	o, owned, err := r.job.addressOwner(r.plan.Client, askedBy(r.plan.Lookup), nil)
	if !owned || o.State != ledger.Closed && (o.State != ledger.Done || !o.LookedUp) {
		return nil, err
	}
	for _, row := range r.plan.Rows {
		p := problem.At(r.job.Binding.AtRow(row), "address-taken", "the address of this row is that of another client in the ledger").
			Hinted("see that no column was sorted alone; if both are one person, give the rows one client key")
		p.Seen = fmt.Sprintf("“%s” has the address of “%s”", r.plan.Client.Key, o.Client)
		found = append(found, p)
	}
	return found, nil
}

// refusal says why a client who must not be created with the address of owner o is refused.
func refusal(o ledger.AddressOwner, who mapping.Identity) (why, advice string) {
	other := "the client of the key “" + o.Client + "”"
	if o.Client == who.Key {
		other = fmt.Sprintf("the client of this key in the key space “%s”, not in “%s”,", o.Space, who.Space)
	}
	what := "e-mail address"
	if strings.HasPrefix(o.Address, mapping.PhoneSpace+" ") {
		what = "phone number"
	}
	if o.State == ledger.Done || o.State == ledger.Closed {
		return fmt.Sprintf("%s has the same %s", other, what), adviceTaken
	}
	return fmt.Sprintf("%s has the same %s, and may have been created by an earlier attempt", other, what), adviceDoubtful
}

// adopt makes a step one that is done: a look-up found the client, or the sheet gives the id.
// In a dry run it will be.
func (r *clientRun) adopt(d *decision, id string) {
	d.known.State, d.known.ID, d.known.Via = ledger.Done, id, ledger.ViaAdopted
	d.Status, d.Error = result.Done, ""
	if r.job.mode == modeDry {
		d.Status = result.Planned
	}
	d.Advice = adviceNoLink(d.Step.Kind, d.known, r.job.Binding.Mapping().V1())
}

// lookupFresh is for how long a client may be created after a look-up that did not find it: later,
// another program may have created it. Usually only a commit and the spacing of two requests are in
// between; if a rate lets other requests leave in between, both leave in one slot. The look-up is
// made again after a pause that the service asked for, after one in which it did not answer, and
// after a long wait for the first client.
const lookupFresh = 5 * time.Second

// isStale reports whether a client has to be looked up again before it is created, if its look-up
// counts as made at asOf.
func (r *clientRun) isStale(d decision, asOf time.Time) bool {
	if d.Step.Kind != mapping.ClientStep || r.lookup.at.IsZero() {
		return false
	}
	if paused, _ := r.job.Service.PauseEnd(); !paused.Equal(r.lookup.pause) {
		return true
	}
	spacing := r.job.Service.Spacing()
	return r.job.now().Sub(asOf) > max(lookupFresh-spacing, spacing)
}

// reserveForLookUp takes a slot for a client that is to be looked up and then created, if the requests that may
// leave in between could take longer than lookupFresh. A look-up with the context that it returns
// leaves in the slot, and so does the creating request.
func (r *clientRun) reserveForLookUp(ctx context.Context) (context.Context, error) {
	crowd := time.Duration(ClientsAtOnce(r.job.Concurrency)) * r.job.Service.Spacing() // until all have sent a request
	if r.slot == nil && r.job.mode != modeDry && crowd > lookupFresh {
		for _, by := range waysOf(r.plan.Lookup) { // before the slot: other clients wait for what is learnt
			if err := r.job.lookups.learn(ctx, by); err != nil {
				return ctx, err
			}
		}
		r.job.canary.enter(ctx, r.leads)
		r.takeSlot(ctx)
	}
	return apiclient.WithSlot(ctx, r.slot), nil
}

// find finds out whether the service knows the client already, if the ledger does not say it, and
// does what the mapping says about known clients.
func (r *clientRun) find(ctx context.Context) error {
	first := &r.decisions[0]
	ctx = apiclient.WithSlot(ctx, r.slot)
	switch {
	case r.wasContact(), r.job.mode == modeReport && r.wasLeftOut():
		first.Status, first.mapping, r.lookup = "", false, lookedUp{id: first.known.ID}
		_, err := r.applyLookUp(first)
		return err
	case ctx.Err() != nil, r.job.mode == modeReport:
	case first.known.Via == ledger.ViaJournal && slices.Contains(r.job.Runs, first.known.Run): // its answer had the id of another step
	case first.Status == result.Uncertain && r.job.ifKnown(r.plan) != mapping.Create:
		return r.reconcile(ctx, first)
	case first.Status == "" && r.job.looksUp(r.plan):
		return r.findExisting(ctx, first)
	}
	return nil
}

// findExisting asks the service whether it knows a client who is new to the ledger. It rejects one
// whose address another client owns.
func (r *clientRun) findExisting(ctx context.Context, first *decision) error {
	j := r.job
	var found ledger.Event
	owner, owned, err := j.addressOwner(r.plan.Client, askedBy(r.plan.Lookup), mapping.Addresses(r.plan.Addresses))
	switch {
	case err != nil:
		return err
	case owned:
		why, advice := refusal(owner, r.plan.Client)
		first.reject(why, "another client has the same address", advice)
	case j.mode == modeDry && j.NoLookup:
		return nil
	default:
		if ctx, err = r.reserveForLookUp(ctx); err == nil {
			r.lookup, err = j.lookups.find(ctx, r.plan)
		}
		if err != nil {
			return err
		}
		if j.mode == modeRun {
			j.seeLookUp(r.lookup)
		}
		if found, err = r.applyLookUp(first); err != nil {
			return err
		}
	}
	switch {
	case r.noWork != nil && r.wasLeftOut():
		r.lookedUp = true
		return nil
	case first.reason != "":
		r.lookedUp, r.unanswered, r.refused = true, r.lookup.failed != nil, r.lookup.status()
		event := r.event(*first, ledger.Refused)
		event.Reason, event.ID, event.Answer = first.reason, r.lookup.id, ledger.Words(first.Error, first.Advice)
		return r.recordNow(first.Step.Key, event)
	case r.lookup.id == "":
		return nil
	}
	r.attachWanted(&found, *first)
	r.adopt(first, found.ID)
	if first.known.Attempts == 0 {
		skipActivities(r.decisions, j.Binding)
	}
	return r.recordNow(first.Step.Key, found)
}

// believable is the default of Job.Believable: how old an uncertain attempt must be before a look-up
// that does not find the client is believed. A service that has stopped answering may still be
// creating it.
const believable = 10 * time.Minute

const reasonUnproven = "a look-up finds nobody, and that proves nothing: the value by which it asks is not known to be one of the fields that were sent"

// concludeStep returns the outcome of a step that is not sent again. A client whose creation is
// uncertain is looked up: if it is found, it is done; if not, it stays uncertain in this run.
// Other steps cannot be looked up.
func (r *clientRun) concludeStep(ctx context.Context, d decision, event ledger.Event, v apiclient.Verdict) (stepOutcome, error) {
	o := r.stepOutcome(d, event, v)
	if d.Step.Kind != mapping.ClientStep || !r.job.looksUp(r.plan) || event.State != ledger.Uncertain {
		return o, nil
	}
	isAbsent := false // as the last look-up says
	for _, wait := range r.job.LookAgain {
		apiclient.Sleep(ctx, wait)
		if ctx.Err() != nil {
			break
		}
		found, err := r.job.lookups.find(ctx, r.plan)
		switch isAbsent = found.nobody(); {
		case err != nil:
			return o, err
		case found.id != "":
			return r.adoptCreated(d, v, found.id)
		case found.unclear != "" && found.failed == nil:
			return o, nil // a person has to find out who it is
		}
	}
	if !isAbsent || v.Status == 409 { // then the service says that it is there
		return o, nil
	}
	event = r.notFound(d, v.Hint)
	r.record(d.Step.Key, event)
	return r.stepOutcome(d, event, v), nil
}

// adoptCreated records that a look-up found the client that this step asked for. The redirect url comes from the answer
// v, which may have one without an id. If another client has the id, the client stays uncertain.
func (r *clientRun) adoptCreated(d decision, v apiclient.Verdict, id string) (stepOutcome, error) {
	event, clash, err := r.foundEvent(id, v.URL)
	if err != nil || clash != "" {
		if n := len(r.pending); n > 0 && v.Status/100 != 2 { // a 2xx answer is kept
			r.pending[n-1].Answer = ledger.Words(clash, adviceWhoIsIt)
		}
		return stepOutcome{Step: d.Step, Status: result.Uncertain, Error: clash, reason: reasonClash, Advice: adviceWhoIsIt}, err
	}
	r.record(d.Step.Key, event)
	r.job.observe(observation{of: ofStep, kind: d.Step.Kind, effect: apiclient.Created})
	return r.stepOutcome(d, event, v), nil
}

// notFound returns the event by which a client stays uncertain, and which notes that look-ups did not
// find it. A later run may believe them.
func (r *clientRun) notFound(d decision, hint string) ledger.Event {
	event := r.event(d, ledger.Uncertain)
	event.NotFound, event.Reason = true, reasonWith(reasonNotFound, hint)
	return event
}

// reconcile settles a client step that an earlier run left uncertain, as far as look-ups can. The
// client is looked up by the addresses that were sent and, if the sheet has another address by now,
// by that too. Found by what was sent, it is adopted. Not found, it stays uncertain. Not found in a
// later run either, long enough after the first time, it is sent again as a new client.
func (r *clientRun) reconcile(ctx context.Context, d *decision) error {
	j := r.job
	if j.mode == modeDry && j.NoLookup {
		return nil
	}
	was := sentLookupOf(r.plan, *d)
	if len(waysOf(was.Lookup)) == 0 {
		return nil
	}
	o, owned, err := j.addressOwner(r.plan.Client, slices.Concat(was.asked, askedBy(r.plan.Lookup)), nil)
	if err != nil {
		return err
	}
	if owned { // a look-up may find the owner
		d.Error, d.Advice = refusal(o, r.plan.Client)
		return nil
	}
	sent, now, why, err := j.lookUndecided(ctx, r.plan, *d, was)
	if err != nil {
		return err
	}
	found := sent.id
	switch {
	case why != "" || found != "":
	case was.unproven:
		why = reasonUnproven
	case !j.absenceIsBelieved(*d):
		d.Advice = adviceNotFound // a later run decides about it
		if d.known.NotFound {
			d.Error = cmp.Or(d.Error, reasonNotFound) // the reason that was given first stays
			return nil
		}
		d.Error = reasonNotFound
		return r.recordNow(d.Step.Key, r.notFound(*d, ""))
	case now.id == "":
		d.Status, d.Error, d.Advice, r.lookup = "", "", "", now
		return nil
	case !givesID(r.plan) && j.ifKnown(r.plan) != mapping.Reuse:
		why = reasonKnown
	default:
		found = now.id
	}
	if given := d.Step.KnownID; why == "" && given != "" && !sameID(given, found) {
		why = fmt.Sprintf("a look-up finds %s, and the sheet gives the id %s", found, given)
	}
	if why != "" {
		d.Error = why
		return nil
	}
	event, clash, err := r.foundEvent(found, d.known.URL)
	if err != nil || clash != "" {
		d.Error = clash
		return err
	}
	d.known.URL = event.URL
	r.adopt(d, found)
	status := d.Status
	if d.compare(r.plan, j.Binding); d.Status == result.Unchanged {
		d.Status = status // the client was asked for with the data that the sheet has now
	}
	return r.recordNow(d.Step.Key, event)
}

// lookUndecided looks up a client whose creation is in doubt. sent is what the addresses find with
// which it was asked for; now is what the addresses of the sheet find, the same if they were not
// corrected. Before the client is sent again because it is not found, the service is asked twice.
// why says that the answers do not say what became of the client.
func (j *Job) lookUndecided(ctx context.Context, plan mapping.Plan, d decision, was sentLookup) (sent, now lookedUp, why string, err error) {
	sent, err = j.lookups.findBy(ctx, was.Lookup, was.fields)
	if err == nil && sent.nobody() && j.absenceIsBelieved(d) {
		sent, err = j.lookups.findBy(ctx, was.Lookup, was.fields)
	}
	why = sent.unclear
	if now = sent; err != nil || !was.corrected || len(askedBy(plan.Lookup)) == 0 {
		return sent, now, why, err
	}
	now, err = j.lookups.findBy(ctx, plan.Lookup, fieldsOf(plan))
	if now.at.After(sent.at) {
		now.at = sent.at // what rests on both is as old as the first
	}
	why = cmp.Or(why, now.unclear)
	if why == "" && sent.id != "" && now.id != "" && sent.id != now.id {
		why = fmt.Sprintf("the address with which it was asked for is that of %s in the service, and the corrected one that of %s", sent.id, now.id)
	}
	return sent, now, why, err
}

// absenceIsBelieved reports whether an earlier run has not found a client either, long enough ago that a look-up
// which does not find it is believed: see Job.Believable.
func (j *Job) absenceIsBelieved(d decision) bool {
	return d.known.NotFound && !slices.Contains(j.Runs, d.known.Run) && d.known.Age(j.now()) >= cmp.Or(j.Believable, believable)
}

// sentLookup is how a client whose creation is in doubt is looked up: by the
// addresses that were sent.
type sentLookup struct {
	mapping.Lookup
	fields    map[string]string // what was sent, to compare with who is found
	asked     []string          // by which addresses
	corrected bool              // the sheet has another address by now
	unproven  bool              // no field that is known to have been sent has the value of a look-up
}

// sentLookupOf reads the addresses that were sent from the step's record.
func sentLookupOf(plan mapping.Plan, d decision) sentLookup {
	var was wanted
	if d.known.Data == nil || json.Unmarshal(d.known.Data, &was) != nil {
		// It was taken over from a results workbook, which does not hold them, or they were purged.
		return sentLookup{Lookup: plan.Lookup, fields: fieldsOf(plan), asked: askedBy(plan.Lookup), unproven: true}
	}
	sent := sentLookup{fields: map[string]string{}}
	for _, v := range was.Values {
		sent.fields[v.Name] = v.Value
	}
	if was.Lookup != nil {
		sent.unproven = !slices.ContainsFunc(was.Values, func(v wantedValue) bool {
			return v.Value != "" && (v.Value == was.Lookup.Email || v.Value == was.Lookup.Phone)
		})
		sent.Lookup = mapping.Lookup{Email: was.Lookup.Email, Phone: was.Lookup.Phone, Mode: was.Lookup.Mode}
		sent.asked = was.Lookup.Asked
	}
	if sent.corrected = !slices.Equal(sent.asked, askedBy(plan.Lookup)); !sent.corrected {
		sent.Lookup = plan.Lookup // the same addresses, as the mapping writes them now
	}
	return sent
}

// ownerOfKnownID makes the plan one of the client who has, in the ledger, the id that the sheet gives,
// whatever the row's key, and returns what the ledger knows of that client. If the ledger has a
// client under the row's own key for whom something was sent or found, nothing changes.
func (r *clientRun) ownerOfKnownID(known map[string]ledger.Step) (map[string]ledger.Step, error) {
	j := r.job
	if own := known[string(mapping.ClientStep)]; !givesID(r.plan) || j.erased(r.plan.Client) != "" || own.State != "" &&
		(own.State != ledger.Refused || own.Attempts > 0) {
		return known, nil
	}
	holder, isKnown, err := j.Ledger.StepWithID(uninterrupted,
		ledger.Event{StepID: ledger.StepID{ClientKey: ledger.ClientKey{Environment: j.Environment}}, Kind: ledger.KindClient, ID: r.plan.Steps[0].KnownID})
	if _, isErased := ledger.Erased(holder.Holder.Client); !isKnown || isErased || err != nil || holder.Holder.Step != ledger.KindClient {
		return known, err
	}
	r.plan.Client = mapping.Identity{Space: holder.Holder.Space, Key: holder.Holder.Client}
	return j.readSteps(r.plan)
}

// takeKnownID takes over a client or claim whose id the sheet gives, and sends nothing. It refuses an
// id that another client or claim has, and a client whose address is that of another one who is in doubt or was given up.
func (r *clientRun) takeKnownID(ctx context.Context, d decision) (stepOutcome, error) {
	event := r.event(d, ledger.Done)
	event.Via, event.Reason, event.ID = ledger.ViaSheet, "the sheet gives its id", d.Step.KnownID
	r.attachWanted(&event, d)
	t, taken, err := r.job.Ledger.StepWithID(uninterrupted, event)
	isOwn := taken && t.Kind == ledger.KindClaim && t.Holder.ClientKey == event.ClientKey && t.Holder.Mapping != event.Mapping
	switch {
	case err != nil:
		return stepOutcome{}, err
	case isOwn && d.Step.Kind == mapping.ClaimStep && d.known.State == "":
		return stepOutcome{Step: d.Step, Status: result.Unchanged, ID: event.ID}, nil // the client's claim by another mapping
	case ctx.Err() != nil || r.job.mode == modeReport:
		return r.projected(ctx, d), nil
	}
	why, advice := "", ""
	if taken {
		why, advice = fmt.Sprintf("the id %s is that of another %s: of %s", event.ID, t.Kind, holderOf(t)), adviceKnownIDTwice
	} else if d.Step.Kind == mapping.ClientStep {
		var o ledger.AddressOwner
		if o, taken, err = r.job.addressOwner(r.plan.Client, askedBy(r.plan.Lookup), nil); taken && (o.IsUncertain() || o.State == ledger.Closed) {
			why, advice = refusal(o, r.plan.Client)
		}
	}
	switch {
	case err != nil:
		return stepOutcome{}, err
	case why != "" && d.known.NotFound: // it stays uncertain
		return stepOutcome{Step: d.Step, Status: result.Uncertain, Error: why, Advice: advice}, nil
	case why != "":
		failed := r.event(d, ledger.Refused)
		failed.Reason, failed.Answer = "nothing was created: see the workbook", ledger.Words(why, advice)
		r.record(d.Step.Key, failed)
		return stepOutcome{Step: d.Step, Status: result.Failed, Error: why, Advice: advice}, nil
	}
	r.record(d.Step.Key, event)
	if r.job.mode == modeDry { // so that the client's next step meets it
		if err := r.commit(); err != nil {
			return stepOutcome{}, err
		}
	}
	if d.Step.Kind == mapping.ClientStep {
		skipActivities(r.decisions, r.job.Binding) // they come after this step
	}
	r.adopt(&d, event.ID)
	return d.outcome(), nil
}
