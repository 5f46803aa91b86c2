package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/importer/retry"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// existing is what is known about a client that the service may have already: the
// result of a look-up, and why the run cannot continue with that client.
type existing struct {
	lookup.Result
	reason   string // "" for no reason
	nameless string // the reason in words that hold nothing personal; "" for none
	advice   string
}

// existingOf takes up what a look-up says.
func existingOf(r lookup.Result) existing {
	x := existing{Result: r}
	switch {
	case r.Failed != nil:
		x.refuse("", r.Failed.Error(), adviceLookup)
		if f, ok := errors.AsType[*apiclient.Failure](r.Failed); ok && f.Hint != "" {
			x.advice = f.Hint
		}
	case r.Unclear != "":
		x.refuse(r.Unclear, r.Unclear, adviceWhoIsIt)
	}
	return x
}

func (x *existing) refuse(nameless, reason, advice string) {
	x.nameless, x.reason, x.advice = nameless, reason, advice
}

const reasonKnown = "the service knows this client already"

// existing is what the mapping says about somebody whom the service knows. Contacts
// are always reused.
func (j *Job) existing(plan mapping.Plan) mapping.Existing {
	if plan.Role != "" {
		return mapping.Reuse
	}
	return j.Binding.Mapping().Client.Existing
}

// looksUp reports whether the service is asked for a client that the ledger does
// not know. It is not asked for one whose id the sheet gives.
func (j *Job) looksUp(plan mapping.Plan) bool {
	return !givesID(plan) && j.existing(plan) != mapping.Create && len(lookup.By(plan.Lookup)) > 0
}

// applyExisting does what the mapping says about a client that the service knows,
// and refuses one for which x has or gets a reason. over says that nothing more has
// to be done for the client.
func (j *Job) applyExisting(plan mapping.Plan, decisions []decision, x *existing) (o clientOutcome, over bool, err error) {
	if x.reason == "" {
		if err := j.checkOwner(plan, x); err != nil {
			return clientOutcome{}, false, err
		}
	}
	policy := j.existing(plan)
	switch {
	case x.reason != "":
	case x.ID != "" && policy == mapping.Skip:
		return leftOut(plan, ids{client: x.ID}, "", adviceSkipped), true, nil
	case x.ID != "" && policy == mapping.Fail:
		x.refuse(reasonKnown, reasonKnown, adviceKnown)
	default:
		return clientOutcome{}, false, nil
	}
	return j.refused(plan, decisions, *x), true, nil
}

// wasContact reports whether the ledger knows no more of a client than that a look-up
// found it as a contact of another: for its own rows, the service knew it already.
// Only that is known where clients whom the service knows are not reused.
func (r *clientRun) wasContact() bool {
	first, policy := &r.decisions[0], r.job.existing(r.plan)
	return (policy == mapping.Skip || policy == mapping.Fail) && (first.action == unchanged || first.action == changed) &&
		first.isFound() && !first.known.IsOfSheet() && first.step.KnownID == "" &&
		!slices.ContainsFunc(r.decisions[1:], func(d decision) bool { return d.step.Contact == nil && d.known != unknown })
}

// leaveOutContact does with a client who was found as a contact what the mapping says
// of clients whom the service knows.
func (r *clientRun) leaveOutContact(first *decision) (clientOutcome, bool, error) {
	x := existing{Result: lookup.Result{ID: first.known.ID}}
	first.action = send // of which it is refused
	return r.job.applyExisting(r.plan, r.decisions, &x)
}

// checkOwner refuses a client that is new to the ledger where another comes first: one
// that is done in the ledger, or one that an earlier attempt may have created with
// this client's address, whether or not a look-up finds somebody there. It reserves
// the id of a client that is adopted.
func (j *Job) checkOwner(plan mapping.Plan, x *existing) error {
	adopts := x.ID != "" && j.existing(plan) == mapping.Reuse
	event := j.foundEvent(plan, x.ID)
	if other, owned := j.lookups.OwnerOf(plan.Client, lookup.Asked(plan.Lookup), adopts); owned {
		x.refuse("a client with the same address may have been created by an earlier attempt", undecidedReason(other), adviceDoubtful)
		// It is read whether or not the run is being stopped.
		t, done, err := j.Ledger.StepWithID(context.Background(), event)
		if done {
			x.refuse(reasonClash, clashReason(plan.Client, identityOf(t)), adviceWhoIsIt)
		}
		return err
	}
	if !adopts {
		return nil
	}
	if row, column, ok := j.KnownIDs.other(mapping.ClientStep, x.ID, plan.Client, string(mapping.ClientStep)); ok {
		x.refuse("a look-up finds a client whose id the sheet gives to another client",
			fmt.Sprintf("a look-up finds the client %s, whose id the sheet gives to another client in %s", x.ID, j.Binding.At(column, row)), adviceWhoIsIt)
		return nil
	}
	t, ok, err := j.take(event)
	if err == nil && !ok {
		x.refuse(reasonClash, clashReason(plan.Client, identityOf(t)), adviceWhoIsIt)
	}
	return err
}

// identityOf returns the client who has a taken id or url.
func identityOf(t ledger.Taken) mapping.Identity {
	return mapping.Identity{Space: t.Holder.Space, Key: t.Holder.Client}
}

// applyHolder refuses a client whose address belongs to an earlier client of this
// run: a look-up should have found that one. In a dry run nobody was created; the
// run's look-up will find the holder, and it will do what the mapping says of
// known clients.
func (j *Job) applyHolder(plan mapping.Plan, decisions []decision, x *existing, holder lookup.Holder) clientOutcome {
	policy := mapping.Reuse
	if j.effects.dryRun {
		policy = j.existing(plan)
	}
	switch {
	case j.effects.dryRun && !holder.Sole:
		x.refuse(lookup.Disagree, lookup.Disagree, adviceWhoIsIt)
	case policy == mapping.Skip:
		return leftOut(plan, ids{}, "", adviceSkipped)
	case policy == mapping.Fail:
		x.refuse(reasonKnown, reasonKnown, adviceKnown)
	default:
		nameless, reason := takenReason(holder)
		x.refuse(nameless, reason, adviceTaken)
	}
	return j.refused(plan, decisions, *x)
}

// refused is the outcome of a client for which nothing is sent because of what
// was found out.
func (j *Job) refused(plan mapping.Plan, decisions []decision, x existing) clientOutcome {
	steps, _ := walk(decisions, func(d decision) (stepOutcome, error) {
		return stepOutcome{Step: d.step, Status: result.Failed, Error: x.reason, reason: x.nameless, Advice: x.advice, unanswered: x.Failed != nil, http: x.Status()}, nil
	})
	return outcomeOf(j.Binding, plan, steps)
}

// foundEvent is the event by which a client that a look-up found becomes done.
func (j *Job) foundEvent(plan mapping.Plan, id string) ledger.Event {
	return j.stamped(ledger.Event{StepID: ledger.StepID{ClientKey: j.owner(plan.Client), Step: string(mapping.ClientStep)}, To: ledger.Done,
		Run: j.runID(plan), Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: id})
}

// adopt makes the client step one that is done: a look-up found the client. In a
// dry run it will be.
func (d *decision) adopt(id string, j *Job) {
	d.override(func(s *ledger.Step) { s.To, s.ID, s.Via = ledger.Done, id, ledger.ViaAdopted })
	d.action, d.why = adopted, ""
	if j.effects.dryRun {
		d.action = willAdopt
	}
	d.noteURL(j.Binding.Mapping().V1())
}

// undecidedReason says that an address belongs to a client who may have been
// created with it.
func undecidedReason(other mapping.Identity) string {
	return fmt.Sprintf("the client of the key “%s” has the same address, and may have been created by an earlier attempt", other.Key)
}

// takenReason says that another client of the run has an address. The service
// has not said so.
func takenReason(h lookup.Holder) (nameless, reason string) {
	what := "e-mail address"
	if h.Phone {
		what = "phone number"
	}
	return "another client of the sheet has the same " + what, fmt.Sprintf("another client of the sheet, with the key “%s”, has the same %s", h.Client.Key, what)
}

// lookupFresh is how long a look-up that finds nobody is acted upon. Between it and the
// request lie at most a commit and the distance of two requests: where others may leave in
// between, because of a rate, both leave in one turn. After a pause that the service asked
// for, after one in which it did not answer, and after a longer wait for the first client,
// it is made again: somebody else may have created the client meanwhile.
const lookupFresh = 5 * time.Second

// isStale reports whether a client has to be looked up again before it is sent, if its look-up
// counts from asOf.
func (r *clientRun) isStale(d decision, asOf time.Time) bool {
	if d.absent.At.IsZero() {
		return false
	}
	if paused, _ := r.job.Service.PauseEnd(); !paused.Equal(d.absent.Pause) {
		return true
	}
	spacing := r.job.Service.Spacing()
	return r.job.now().Sub(asOf) > max(lookupFresh-spacing, spacing)
}

// inTurn takes a slot for a client that is to be looked up and then created, if more requests
// may leave in between than lookupFresh allows. The look-up of the context that it returns
// leaves in the slot, and so does the creating request.
func (r *clientRun) inTurn(ctx context.Context) (context.Context, error) {
	crowd := time.Duration(r.job.workers()) * r.job.Service.Spacing() // until all have sent a request
	if r.slot == nil && !r.job.effects.dryRun && crowd > lookupFresh {
		if err := r.job.lookups.Learn(ctx, r.plan); err != nil { // others may wait for that, and must not wait for this turn
			return ctx, err
		}
		r.job.canary.enter(ctx, r.leader)
		r.takeSlot(ctx)
	}
	return apiclient.WithSlot(ctx, r.slot), nil
}

// errStale is returned for a client step that was not sent because the look-up
// on which it rests is too old.
var errStale = errors.New("the look-up is too old")

// find finds out whether the service knows the client already, as far as the
// ledger leaves that open, and does what the mapping says of known clients. over
// says that nothing more has to be done for the client.
func (r *clientRun) find(ctx context.Context) (o clientOutcome, over bool, err error) {
	first := &r.decisions[0]
	ctx = apiclient.WithSlot(ctx, r.slot)
	switch {
	case ctx.Err() != nil, r.job.effects.offline:
	case r.wasContact():
		return r.leaveOutContact(first)
	case r.job.revisits(r.plan, *first):
		return clientOutcome{}, false, r.reconcile(ctx, first)
	case first.action == send && r.job.looksUp(r.plan):
		return r.findExisting(ctx, first)
	}
	return clientOutcome{}, false, nil
}

// findExisting asks the service whether it knows a client who is new to the ledger.
func (r *clientRun) findExisting(ctx context.Context, first *decision) (o clientOutcome, over bool, err error) {
	fx := r.job.effects
	fx.look(r.plan.Lookup)
	var found lookup.Result
	if !fx.noLookup {
		if ctx, err = r.inTurn(ctx); err != nil {
			return clientOutcome{}, false, err
		}
		if found, err = r.job.lookups.Find(ctx, r.plan); err != nil {
			return clientOutcome{}, false, err
		}
		fx.looked(ctx, found)
	}
	x := existingOf(found)
	o, over, err = r.job.applyExisting(r.plan, r.decisions, &x)
	if err != nil {
		return clientOutcome{}, false, err
	}
	if !over && x.ID == "" {
		if holder, ok := r.job.lookups.Reserve(r.plan); !ok {
			o, over = r.job.applyHolder(r.plan, r.decisions, &x, holder), true
		}
	}
	r.lookedUp = over
	switch {
	case over && x.reason != "":
		event := r.event(*first, ledger.Failed)
		event.Reason = "nothing was created: see the workbook"
		return o, over, r.record(event)
	case over:
		return o, over, nil
	case x.ID == "":
		first.absent = x.Result
		return o, over, nil
	}
	r.known.client, r.reused = x.ID, first.known.Attempts == 0
	event := r.job.foundEvent(r.plan, x.ID)
	w := r.wanted(first)
	event.Data, event.Digest, event.Addresses = w.json(), w.digest(), w.asked()
	first.adopt(x.ID, r.job)
	if r.reused {
		skipActivities(r.decisions, r.job.Binding)
	}
	return o, over, r.record(event)
}

// believable is how old an uncertain attempt must be before a look-up that finds
// nobody is believed, where the job does not say: a service may still be creating
// what it was asked for when it stopped answering.
const believable = 10 * time.Minute

const reasonForgotten = "it may have been created, and the ledger does not know with which address; a look-up by that of the row finds nobody"

const reasonUnproven = "a look-up finds nobody, and that proves nothing: the value by which it asks is none of the fields that were sent"

const reasonParked = "no answer that says whether it was created; a look-up finds nobody yet"

// findCreated is the outcome of a step that is not sent again. A client whose
// creation is uncertain is looked up: only a positive answer settles it in the run
// that asked. Nothing else can be looked up.
func (r *clientRun) findCreated(ctx context.Context, d decision, event ledger.Event, v apiclient.Verdict) (stepOutcome, error) {
	o := r.stepOutcome(d, event, v)
	conflict := v.Effect == apiclient.Refused && v.Status == 409 && !v.Ruled
	if d.step.Kind != mapping.ClientStep || !r.job.looksUp(r.plan) || event.To != ledger.Uncertain && !conflict {
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
		return stepOutcome{Step: d.step, Status: result.Uncertain, Error: clashReason(r.plan.Client, identityOf(t)), reason: reasonClash, Advice: adviceWhoIsIt}, false, err
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
	found, err := r.job.lookups.Find(apiclient.WithSlot(ctx, r.slot), r.plan)
	if d.absent = found; err != nil || found.ID == "" {
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
	switch {
	case sent.reason != "" || sent.ID != "":
	case was.unknown:
		sent.reason = reasonForgotten
	case was.unproven:
		sent.reason = reasonUnproven
	}
	if err == nil && sent.reason == "" && sent.ID == "" && j.ripe(*d) {
		found = now.ID
		if err = j.readmit(r.plan, &now); now.reason == "" && now.ID == "" {
			d.action, d.absent = send, now.Result
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
	if given := d.step.KnownID; given != "" && !sameID(given, id) {
		d.why = fmt.Sprintf("a look-up finds %s, and the sheet gives the id %s", id, given)
		return nil
	}
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
	case givesID(plan):
	case x.ID == "" && !j.looksUp(plan):
		x.reason = "the sheet has no address any more by which the client could be looked up"
	case x.ID == "":
		if holder, ok := j.lookups.Reserve(plan); !ok {
			_, x.reason = takenReason(holder)
		}
	case j.existing(plan) != mapping.Reuse:
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
	if d.action != needsOperator || d.step.Kind != mapping.ClientStep || j.existing(plan) == mapping.Create {
		return false
	}
	return len(lookup.By(j.sentLookup(plan, d).Lookup)) > 0
}

// ripe reports whether a parked step is old enough for "nobody" to be believed. The
// service may still be creating what an earlier run asked for.
func (j *Job) ripe(d decision) bool {
	return d.known.To == ledger.Parked && !slices.Contains(j.Runs, d.known.Run) && d.known.Age(j.now()) >= cmp.Or(j.Believable, believable)
}

// sentLookup is how a client whose creation is in doubt is looked up: by the
// addresses that were sent.
type sentLookup struct {
	mapping.Lookup
	fields    map[string]string // what was sent, to compare with who is found
	asked     []string          // by which addresses
	corrected bool              // the sheet has another address by now
	unknown   bool              // what was sent is not known any more: the addresses are tonight's
	unproven  bool              // no value by which it was looked up stands in what was sent
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
		sent.unproven = !slices.ContainsFunc(was.Values, func(v wantedValue) bool {
			return v.Value != "" && (v.Value == was.Lookup.Email || v.Value == was.Lookup.Phone)
		})
		sent.Lookup = mapping.Lookup{Email: was.Lookup.Email, Phone: was.Lookup.Phone, Confirm: was.Lookup.Confirm}
		sent.asked = was.Lookup.Asked
	}
	if sent.corrected = !slices.Equal(sent.asked, lookup.Asked(plan.Lookup)); !sent.corrected {
		sent.Lookup = plan.Lookup // in the format of tonight
	}
	return sent
}

// addressProblems refuses a client whose address in the sheet is that of another client in
// the ledger: of one who is done, where this client was created with another address, as
// when a column of the sheet was sorted alone; and of one who was given up.
func (r *clientRun) addressProblems() (found problem.List, err error) {
	first := &r.decisions[0]
	asked := lookup.Asked(r.plan.Lookup)
	isNew := first.action == send && first.known == unknown
	if r.plan.Role != "" || len(asked) == 0 || !isNew && first.action != changed || r.job.existing(r.plan) == mapping.Create {
		return nil, nil
	}
	// It is read whether or not the run is being stopped.
	owners, err := r.job.Ledger.AddressOwners(context.Background(), r.job.Environment, asked)
	for _, address := range asked {
		o, owned := owners[address]
		if !owned || o.ClientKey == r.job.owner(r.plan.Client) || o.State != ledger.GivenUp && (isNew || o.State != ledger.Done) {
			continue
		}
		for _, row := range r.plan.Rows {
			p := problem.At(r.job.Binding.AtRow(row), "address-taken", "the address of this row, whose client is “%s”, is that of the client “%s” in the ledger", r.plan.Client.Key, o.Client).
				Hinted("see that no column was sorted alone; if both are one person, give the rows one client key")
			p.Seen = r.plan.Client.Key
			found = append(found, p)
		}
		break
	}
	return found, err
}
