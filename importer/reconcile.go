package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// believable is how old an ambiguous attempt must be before a look-up that
// finds nobody is believed, where the job does not say: a service may still be
// creating what it was asked for when it stopped answering.
const believable = 10 * time.Minute

const reasonForgotten = "it may have been created, and the ledger does not know with which address; a look-up by that of the row finds nobody"

const reasonParked = "no answer that says whether it was created; a look-up finds nobody yet"

// react lets the guard see a verdict, and does what it says.
func (j *Job) react(ctx context.Context, v apiclient.Verdict) {
	stop, pause := j.guard.saw(v)
	if stop != nil {
		j.stop(stop)
	}
	if pause {
		j.gate.probe(ctx, j.answers)
	}
}

// hear lets the guard know of a look-up: whether it was forbidden.
func (j *Job) hear(ctx context.Context, met meeting) {
	switch {
	case met.http == 403:
		j.react(ctx, apiclient.Verdict{Effect: apiclient.Refused, Status: met.http})
	case !met.unmet:
		j.guard.allowed()
	}
}

// answers asks whether the service is there again: any answer but a 5xx will do.
// One that ends the run (a redirect, a 401) ends it here, before another POST
// meets it.
func (j *Job) answers(ctx context.Context) bool {
	req := j.Service.Routes().Templates()
	a, err := j.Service.Do(ctx, req)
	if err == nil && a.Status/100 != 2 && a.RetryAfter > longestWait {
		j.stop(tooFar(a.RetryAfter))
	}
	if v := j.Service.Judge(req, a, err); v.Stop {
		j.stop(hinted(errors.New(v.Reason), v.Hint))
	}
	return err == nil && a.Status < 500
}

// tooFar is why a run stops that is asked to wait for longer than it does.
func tooFar(wait time.Duration) error { return errors.New("the service " + tooFarWords(wait)) }

func tooFarWords(wait time.Duration) string {
	if wait > longestWait {
		return fmt.Sprintf("asks to wait for %s; run again then", wait.Round(time.Second))
	}
	return fmt.Sprintf("has been asking to wait for %s; run again later", longestWait)
}

// settleClient looks an uncertain client up: only a positive answer settles it
// in the run that asked. Nothing else can be looked up.
func (e *errand) settleClient(ctx context.Context, d decision, v apiclient.Verdict, o StepOutcome) (StepOutcome, error) {
	conflict := v.Effect == apiclient.Refused && v.Status == 409 && !v.Ruled
	if d.step.Kind != mapping.ClientStep || !e.job.looksUp(e.plan) || v.Effect != apiclient.Uncertain && !conflict {
		return o, nil
	}
	if conflict { // something exists: the look-up says whether it is this client
		met, err := e.job.meetings.meet(ctx, e.plan)
		if err != nil || met.id == "" {
			return e.contradicted(d, v, o), err
		}
		found, ok, err := e.adopt(d, v, met.id)
		if !ok {
			found.Status = result.Failed // who exists is another client
		}
		return found, err
	}
	silent := true
	for _, wait := range e.job.Patience {
		sleep(ctx, wait)
		if ctx.Err() != nil {
			break
		}
		met, err := e.job.meetings.meet(ctx, e.plan)
		switch {
		case err != nil:
			return o, err
		case met.id != "":
			o, _, err := e.adopt(d, v, met.id)
			return o, err
		case met.reason != "" && !met.unmet:
			return o, nil // not to be told who it is: an operator decides
		}
		silent = met.unmet
	}
	if silent { // no look-up, or none that was answered, says that there is nobody
		return o, nil
	}
	return e.park(d, v, o), nil
}

// contradicted makes a refusal uncertain: the service says that the client is
// there, and no look-up finds it. The refusal waits for its commit still.
func (e *errand) contradicted(d decision, v apiclient.Verdict, o StepOutcome) StepOutcome {
	const unfound = ", and a look-up does not find it"
	last := &e.pending[len(e.pending)-1]
	last.To, last.Reason = ledger.Uncertain, last.Reason+unfound
	o.Status, o.Error, o.Advice = result.Uncertain, o.Error+unfound, withHint(v.Hint, adviceUncertain(d.step))
	return o
}

// adopt records that a look-up found the client whom this step asked for; ok is
// false when that is another client's. The redirect url is that of the answer,
// which may lack nothing but the id.
func (e *errand) adopt(d decision, v apiclient.Verdict, id string) (o StepOutcome, ok bool, err error) {
	event := e.job.foundEvent(e.plan, id)
	event.URL = v.URL
	t, ok, err := e.job.takeFound(&event)
	if err != nil || !ok {
		return StepOutcome{Step: d.step, Status: result.Uncertain, Error: clashReason(e.plan.Client, identityOf(t)), Advice: adviceWhoIsIt}, false, err
	}
	e.pending = append(e.pending, event)
	e.job.guard.made(d.step.Kind)
	e.created(d.step, id)
	o = StepOutcome{Step: d.step, Status: result.Done, ID: id, URL: event.URL, wordless: v.URL == "" && apiclient.Readable(v.Status, v.Answer)}
	if e.job.Binding.Mapping().V1() && o.URL == "" {
		o.Advice = adviceWithoutURL(true, o.wordless)
	}
	return o, true, nil
}

// park records that look-ups find nobody, which a later run may believe.
func (e *errand) park(d decision, v apiclient.Verdict, o StepOutcome) StepOutcome {
	event := e.event(d, ledger.Parked)
	event.Reason = reasonWith(reasonParked, v.Hint)
	e.pending = append(e.pending, event)
	o.Status, o.Error, o.Advice = result.Uncertain, reasonParked, withHint(v.Hint, adviceParked)
	return o
}

// meetAgain asks for a client once more before it is sent again though it may
// have been created.
func (e *errand) meetAgain(ctx context.Context, d *decision, v apiclient.Verdict) (o StepOutcome, over bool, err error) {
	if d.step.Kind != mapping.ClientStep || !e.job.looksUp(e.plan) || ctx.Err() != nil {
		return StepOutcome{}, false, nil
	}
	met, err := e.job.meetings.meet(ctx, e.plan)
	if d.asOf = met.at; err != nil || met.id == "" {
		return StepOutcome{}, false, err
	}
	o, _, err = e.adopt(*d, v, met.id)
	return o, true, err
}

// revisit settles a client step that an earlier run left uncertain or parked, as
// far as look-ups can. It is looked up by what was sent and, where the sheet has
// another address by now, by that too. Found by what was sent, it is adopted; not
// found, it is parked; twice not found when it has been parked for long enough, it
// is sent again, as one whom the service does not know.
//
// event is what is to be recorded of it; To is "" for nothing. looked is called
// for each look-up. The executor and the dry run share it.
func (j *Job) revisit(ctx context.Context, plan mapping.Plan, d *decision, looked func(mapping.Lookup)) (event ledger.Event, err error) {
	lookup := j.sentLookup(plan, *d)
	if other, doubted := j.meetings.doubt(plan.Client, lookup.asked, false); doubted { // an even earlier attempt
		d.why, d.advice = doubtReason(other), adviceDoubtful
		return ledger.Event{}, nil
	}
	sent, now, err := j.lookUndecided(ctx, plan, *d, lookup, looked)
	adopts := sent.id
	if sent.reason == "" && sent.id == "" && lookup.unknown {
		sent.reason = reasonForgotten
	}
	if err == nil && sent.reason == "" && sent.id == "" && j.ripe(*d) {
		adopts = now.id
		if err = j.readmit(plan, &now); now.reason == "" && now.id == "" {
			d.action, d.asOf = send, now.at
			return ledger.Event{}, err
		}
		sent.reason = now.reason
	}
	switch {
	case err != nil:
		return ledger.Event{}, err
	case sent.reason != "":
		d.why = sent.reason
		return ledger.Event{}, nil
	case adopts != "":
		event = j.foundEvent(plan, adopts)
		event.URL = d.known.URL
		t, ok, err := j.takeFound(&event)
		if err != nil || !ok {
			d.why = clashReason(plan.Client, identityOf(t))
			return ledger.Event{}, err
		}
		d.now(func(s *ledger.Step) { s.URL = event.URL })
		d.adopt(adopts, j.Binding.Mapping().V1())
		d.compareAdopted(j.Binding)
		return event, nil
	case d.known.To != ledger.Parked:
		event = j.foundEvent(plan, "")
		event.To, event.Via, event.Reason = ledger.Parked, "", reasonParked
		d.waitParked()
		d.now(func(s *ledger.Step) { s.To = ledger.Parked })
	default:
		d.waitParked()
	}
	return event, nil
}

// lookUndecided looks a client up whose creation is in doubt: sent is what the
// addresses find with which it was asked for, now what those of the sheet find,
// the same where they were not corrected. Before an "absent" is acted upon they
// are asked twice. sent.reason is why nothing can be told.
func (j *Job) lookUndecided(ctx context.Context, plan mapping.Plan, d decision, lookup sentLookup, looked func(mapping.Lookup)) (sent, now meeting, err error) {
	looks := 1
	if j.ripe(d) {
		looks = 2
	}
	for range looks {
		looked(lookup.Lookup)
		sent, err = j.meetings.ask(ctx, lookup.Lookup, lookup.fields)
		if err != nil || sent.id != "" || sent.reason != "" {
			break
		}
	}
	if now = sent; err != nil || !lookup.corrected || len(askedAddresses(plan.Lookup)) == 0 {
		return sent, now, err
	}
	looked(plan.Lookup)
	now, err = j.meetings.ask(ctx, plan.Lookup, fieldTexts(plan))
	switch {
	case sent.reason != "":
	case now.reason != "":
		sent.reason = now.reason
	case sent.id != "" && now.id != "" && sent.id != now.id:
		sent.reason = fmt.Sprintf("the address with which it was asked for is that of %s in the service, and the corrected one that of %s", sent.id, now.id)
	}
	return sent, now, err
}

// readmit says in met why a client who was surely not created by the attempt that
// was in doubt cannot be gone on with as a new one.
func (j *Job) readmit(plan mapping.Plan, met *meeting) error {
	if err := j.checkWhose(plan, met); err != nil || met.reason != "" {
		return err
	}
	switch {
	case met.id == "" && !j.looksUp(plan):
		met.reason = "the sheet has no address any more by which the client could be looked up"
	case met.id == "":
		met.reason = j.meetings.claim(plan)
	case j.Binding.Mapping().Client.Existing != mapping.Reuse:
		met.reason = reasonKnown
	}
	return nil
}

// compareAdopted says what differs of a client who was asked for with other data
// than the sheet has now.
func (d *decision) compareAdopted(b *mapping.Binding) {
	if d.compare(b); d.action == keep {
		d.action = adopted
	}
}

// waitParked leaves a parked step to a later run, which decides by itself. What
// was said when it was parked stays.
func (d *decision) waitParked() {
	d.advice = adviceParked
	if d.known.To != ledger.Parked || d.why == "" {
		d.why = reasonParked
	}
}

// revisits tells whether a client step is one that look-ups may settle.
func (j *Job) revisits(plan mapping.Plan, d decision) bool {
	if d.action != operator || d.step.Kind != mapping.ClientStep || j.Binding.Mapping().Client.Existing == mapping.Create {
		return false
	}
	by, _ := asks(j.sentLookup(plan, d).Lookup)
	return len(by) > 0
}

// ripe tells that a parked step is old enough for an "absent" to be believed.
// The service may still be creating what an earlier run asked for.
func (j *Job) ripe(d decision) bool {
	return d.known.To == ledger.Parked && !slices.Contains(j.Runs, d.known.Run) && d.known.Age(ledger.Now()) >= cmp.Or(j.Believable, believable)
}
