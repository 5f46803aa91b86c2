package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/importer/retry"
	"claimsheet/mapping"
)

// believable is how old an uncertain attempt must be before a look-up that finds
// nobody is believed, where the job does not say: a service may still be creating
// what it was asked for when it stopped answering.
const believable = 10 * time.Minute

const reasonForgotten = "it may have been created, and the ledger does not know with which address; a look-up by that of the row finds nobody"

const reasonParked = "no answer that says whether it was created; a look-up finds nobody yet"

// findCreated is the outcome of a step that is not sent again. A client whose
// creation is uncertain is looked up: only a positive answer settles it in the run
// that asked. Nothing else can be looked up.
func (r *clientRun) findCreated(ctx context.Context, d decision, event ledger.Event, v apiclient.Verdict) (stepOutcome, error) {
	o := r.stepOutcome(d, event, v)
	conflict := v.Effect == apiclient.Refused && v.Status == 409 && !v.Ruled
	if d.step.Kind != mapping.ClientStep || !r.job.looksUp(r.plan) || v.Effect != apiclient.Uncertain && !conflict {
		return o, nil
	}
	if conflict { // something exists: the look-up says whether it is this client
		found, err := r.job.lookups.Find(ctx, r.plan)
		if err != nil || found.ID == "" {
			return r.contradicted(d, v), err
		}
		o, ok, err := r.adoptCreated(d, v, found.ID)
		if !ok {
			o.Status = result.Failed // who exists is another client
		}
		return o, err
	}
	silent := true
	for _, wait := range r.job.LookAgain {
		retry.Sleep(ctx, wait)
		if ctx.Err() != nil {
			break
		}
		found, err := r.job.lookups.Find(ctx, r.plan)
		switch {
		case err != nil:
			return o, err
		case found.ID != "":
			o, _, err := r.adoptCreated(d, v, found.ID)
			return o, err
		case found.Unclear != "":
			return o, nil // somebody has to find out who it is
		}
		silent = found.Failed != nil
	}
	if silent { // no look-up, or none that was answered, says that there is nobody
		return o, nil
	}
	return r.park(d, v), nil
}

// contradicted makes a refusal uncertain: the service says that the client is
// there, and no look-up finds it. The refusal is not committed yet.
func (r *clientRun) contradicted(d decision, v apiclient.Verdict) stepOutcome {
	const unfound = ", and a look-up does not find it"
	last := &r.pending[len(r.pending)-1]
	last.To, last.Reason = ledger.Uncertain, last.Reason+unfound
	o := r.stepOutcome(d, *last, v)
	o.Error += unfound
	return o
}

// adoptCreated records that a look-up found the client that this step asked for; ok
// is false when another client has that id. The redirect url is that of the answer,
// which may lack nothing but the id.
func (r *clientRun) adoptCreated(d decision, v apiclient.Verdict, id string) (o stepOutcome, ok bool, err error) {
	event := r.job.foundEvent(r.plan, id)
	event.URL = v.URL
	t, ok, err := r.job.takeFound(&event)
	if err != nil || !ok {
		return stepOutcome{Step: d.step, Status: result.Uncertain, Error: clashReason(r.plan.Client, identityOf(t)), Advice: adviceWhoIsIt}, false, err
	}
	r.pending = append(r.pending, event)
	r.job.guard.made(d.step.Kind)
	r.noteCreated(d.step, id)
	return r.stepOutcome(d, event, v), true, nil
}

// park records that look-ups find nobody, which a later run may believe.
func (r *clientRun) park(d decision, v apiclient.Verdict) stepOutcome {
	event := r.event(d, ledger.Parked)
	event.Reason = reasonWith(reasonParked, v.Hint)
	r.pending = append(r.pending, event)
	return r.stepOutcome(d, event, v)
}

// findAgain looks a client up once more before it is sent again although it may
// have been created.
func (r *clientRun) findAgain(ctx context.Context, d *decision, v apiclient.Verdict) (o stepOutcome, over bool, err error) {
	if d.step.Kind != mapping.ClientStep || !r.job.looksUp(r.plan) || ctx.Err() != nil {
		return stepOutcome{}, false, nil
	}
	found, err := r.job.lookups.Find(ctx, r.plan)
	if d.asOf = found.At; err != nil || found.ID == "" {
		return stepOutcome{}, false, err
	}
	o, _, err = r.adoptCreated(*d, v, found.ID)
	return o, true, err
}

// reconcile settles a client step that an earlier run left uncertain or parked, as
// far as look-ups can. The client is looked up by what was sent and, where the
// sheet has another address by now, by that too. Found by what was sent, it is
// adopted; not found, it is parked; not found twice when it has been parked for
// long enough, it is sent again, like a client that the service does not know.
func (r *clientRun) reconcile(ctx context.Context, d *decision) error {
	j := r.job
	if j.effects.noLookup {
		return nil
	}
	was := j.sentLookup(r.plan, *d)
	if other, owned := j.lookups.OwnerOf(r.plan.Client, was.asked, false); owned { // an even earlier attempt
		d.why, d.advice = undecidedReason(other), adviceDoubtful
		return nil
	}
	sent, now, err := j.lookUndecided(ctx, r.plan, *d, was)
	found := sent.ID
	if sent.reason == "" && sent.ID == "" && was.unknown {
		sent.reason = reasonForgotten
	}
	if err == nil && sent.reason == "" && sent.ID == "" && j.ripe(*d) {
		found = now.ID
		if err = j.readmit(r.plan, &now); now.reason == "" && now.ID == "" {
			d.action, d.asOf = send, now.At
			return err
		}
		sent.reason = now.reason
	}
	switch {
	case err != nil:
		return err
	case sent.reason != "":
		d.why = sent.reason
		return nil
	case found != "":
		return r.adoptEarlier(d, found)
	}
	parked := d.known.To == ledger.Parked
	d.waitParked()
	if parked {
		return nil
	}
	d.override(func(s *ledger.Step) { s.To = ledger.Parked })
	event := r.event(*d, ledger.Parked)
	event.Reason = reasonParked
	return r.record(event)
}

// adoptEarlier adopts the client that an earlier run asked for.
func (r *clientRun) adoptEarlier(d *decision, id string) error {
	event := r.job.foundEvent(r.plan, id)
	event.URL = d.known.URL
	t, ok, err := r.job.takeFound(&event)
	if err != nil || !ok {
		d.why = clashReason(r.plan.Client, identityOf(t))
		return err
	}
	d.override(func(s *ledger.Step) { s.URL = event.URL })
	d.adopt(id, r.job)
	d.compareAdopted(r.job.Binding)
	r.known.client = id
	return r.record(event)
}

// lookUndecided looks a client up whose creation is in doubt: sent is what the
// addresses find with which it was asked for; now is what the addresses of the
// sheet find, which is the same where they were not corrected. Before "nobody" is
// acted upon, the service is asked twice. sent.reason is why the answers do not say
// what became of the client.
func (j *Job) lookUndecided(ctx context.Context, plan mapping.Plan, d decision, was sentLookup) (sent, now existing, err error) {
	ask := func(addresses mapping.Lookup, fields map[string]string) (existing, error) {
		j.effects.look(addresses)
		r, err := j.lookups.FindBy(ctx, addresses, fields)
		return existingOf(r), err
	}
	sent, err = ask(was.Lookup, was.fields)
	if err == nil && sent.Nobody() && j.ripe(d) {
		sent, err = ask(was.Lookup, was.fields)
	}
	if now = sent; err != nil || !was.corrected || len(lookup.Asked(plan.Lookup)) == 0 {
		return sent, now, err
	}
	now, err = ask(plan.Lookup, lookup.Fields(plan))
	switch {
	case sent.reason != "":
	case now.reason != "":
		sent.reason = now.reason
	case sent.ID != "" && now.ID != "" && sent.ID != now.ID:
		sent.reason = fmt.Sprintf("the address with which it was asked for is that of %s in the service, and the corrected one that of %s", sent.ID, now.ID)
	}
	return sent, now, err
}

// readmit refuses a client that was certainly not created by the attempt that was in
// doubt, where the run cannot treat it like a new one.
func (j *Job) readmit(plan mapping.Plan, x *existing) error {
	if err := j.checkOwner(plan, x); err != nil || x.reason != "" {
		return err
	}
	switch {
	case x.ID == "" && !j.looksUp(plan):
		x.reason = "the sheet has no address any more by which the client could be looked up"
	case x.ID == "":
		if holder, ok := j.lookups.Reserve(plan); !ok {
			x.reason = takenReason(holder)
		}
	case j.Binding.Mapping().Client.Existing != mapping.Reuse:
		x.reason = reasonKnown
	}
	return nil
}

// compareAdopted notes what differs where the client was asked for with other data
// than the sheet has now.
func (d *decision) compareAdopted(b *mapping.Binding) {
	action := d.action
	if d.compare(b); d.action == unchanged {
		d.action = action
	}
}

// waitParked leaves a parked step to a later run, which decides about it. The reason
// that was given when it was parked stays.
func (d *decision) waitParked() {
	d.advice = adviceParked
	if d.known.To != ledger.Parked || d.why == "" {
		d.why = reasonParked
	}
}

// revisits reports whether look-ups may settle a client step that is uncertain.
func (j *Job) revisits(plan mapping.Plan, d decision) bool {
	if d.action != needsOperator || d.step.Kind != mapping.ClientStep || j.Binding.Mapping().Client.Existing == mapping.Create {
		return false
	}
	return len(lookup.By(j.sentLookup(plan, d).Lookup)) > 0
}

// ripe reports whether a parked step is old enough for "nobody" to be believed. The
// service may still be creating what an earlier run asked for.
func (j *Job) ripe(d decision) bool {
	return d.known.To == ledger.Parked && !slices.Contains(j.Runs, d.known.Run) && d.known.Age(j.clock()) >= cmp.Or(j.Believable, believable)
}

// loadUndecided reads the addresses of the clients that earlier runs may have
// created, the earliest attempt first.
func (j *Job) loadUndecided(ctx context.Context) error {
	for step, err := range j.Ledger.UndecidedClients(ctx, j.Environment) {
		if err != nil {
			return err
		}
		who := mapping.Identity{Space: step.Space, Key: step.Client}
		keys := []string{lookup.Address(who)}
		var was wanted
		if json.Unmarshal(step.Data, &was) == nil { // it is purged otherwise
			keys = append(keys, was.Addresses...)
			for _, v := range was.Values { // older records say no addresses
				for _, address := range j.Binding.AddressesIn(v.Value) {
					keys = append(keys, lookup.Address(address))
				}
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		j.lookups.AddUndecided(who, keys)
	}
	return nil
}

// sentLookup is how a client whose creation is in doubt is looked up: by the
// addresses that were sent.
type sentLookup struct {
	mapping.Lookup
	fields    map[string]string // what was sent, to compare with who is found
	asked     []string          // by which addresses
	corrected bool              // the sheet has another address by now
	unknown   bool              // what was sent is not known any more: the addresses are tonight's
}

// sentLookup reads the addresses that were sent from the step's record.
func (j *Job) sentLookup(plan mapping.Plan, d decision) sentLookup {
	var was wanted
	if d.known.Data == nil || json.Unmarshal(d.known.Data, &was) != nil {
		// The step was taken over from a results workbook, which does not hold them.
		return sentLookup{Lookup: plan.Lookup, fields: lookup.Fields(plan), asked: lookup.Asked(plan.Lookup),
			unknown: d.known.Digest != d.wanted.digest()}
	}
	sent := sentLookup{fields: map[string]string{}}
	for _, v := range was.Values {
		sent.fields[v.Name] = v.Value
	}
	if was.Lookup != nil {
		sent.Lookup = mapping.Lookup{Email: was.Lookup.Email, Phone: was.Lookup.Phone, Confirm: was.Lookup.Confirm}
		sent.asked = was.Lookup.Asked
	} else {
		sent.Lookup, sent.asked = oldLookup(plan, was, j.Binding)
	}
	if sent.corrected = !slices.Equal(sent.asked, lookup.Asked(plan.Lookup)); !sent.corrected {
		sent.Lookup = plan.Lookup // in the format of tonight
	}
	return sent
}

// oldLookup is the look-up for an older record, which does not say how the client
// was looked up: tonight's addresses, if they were sent, else the first address that
// was sent.
func oldLookup(plan mapping.Plan, was wanted, b *mapping.Binding) (sentBy mapping.Lookup, asked []string) {
	sent := map[string]string{} // what was sent as an address
	for _, v := range was.Values {
		for _, address := range b.AddressesIn(v.Value) {
			key := lookup.Address(address)
			sent[key] = v.Value
			switch {
			case sentBy.Email == "" && address.IsEmail():
				sentBy.Email, sentBy.EmailAddress = v.Value, address
			case sentBy.Phone == "" && strings.HasPrefix(address.Key, "+"):
				sentBy.Phone, sentBy.PhoneNumber = v.Value, address
			}
		}
	}
	now := lookup.Asked(plan.Lookup)
	if len(now) > 0 && !slices.ContainsFunc(now, func(key string) bool { return sent[key] == "" }) {
		return plan.Lookup, now
	}
	return sentBy, lookup.Asked(sentBy)
}
