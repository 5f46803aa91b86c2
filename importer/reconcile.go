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
	"claimsheet/mapping"
)

// believable is how old an ambiguous attempt must be before a look-up that
// finds nobody is believed, where the job does not say: a service may still be
// creating what it was asked for when it stopped answering.
const believable = 10 * time.Minute

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
		return e.adopt(d, v, met.id)
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
			return e.adopt(d, v, met.id)
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
	o.Status, o.Error, o.Advice = Uncertain, o.Error+unfound, withHint(v.Hint, adviceUncertain(d.step))
	return o
}

// adopt records that a look-up found the client whom this step asked for. The
// redirect url is that of the answer, which may lack nothing but the id.
func (e *errand) adopt(d decision, v apiclient.Verdict, id string) (StepOutcome, error) {
	if other, clash := e.job.meetings.own(id, e.plan.Client); clash {
		return StepOutcome{Step: d.step, Status: Uncertain, Error: clashReason(e.plan.Client, other), Advice: adviceWhoIsIt}, nil
	}
	event := e.event(d, ledger.Done)
	event.Via, event.ID = ledger.ViaAdopted, id
	e.pending = append(e.pending, event)
	e.job.guard.made(d.step.Kind)
	e.created(d.step, id)
	o := StepOutcome{Step: d.step, Status: DoneRow, ID: id, URL: v.URL, wordless: v.URL == "" && apiclient.Readable(v.Status, v.Answer)}
	if e.job.Binding.Mapping().V1() && v.URL == "" {
		o.Advice = adviceWithoutURL(true, o.wordless)
	}
	return o, nil
}

// park records that look-ups find nobody, which a later run may believe.
func (e *errand) park(d decision, v apiclient.Verdict, o StepOutcome) StepOutcome {
	event := e.event(d, ledger.Parked)
	event.Reason = reasonWith(reasonParked, v.Hint)
	e.pending = append(e.pending, event)
	o.Status, o.Error, o.Advice = Uncertain, reasonParked, withHint(v.Hint, adviceParked)
	return o
}

// meetAgain asks for a client once more before it is sent again: what was
// refused for now may have been made by somebody else meanwhile.
func (e *errand) meetAgain(ctx context.Context, d decision, v apiclient.Verdict) (o StepOutcome, over bool, err error) {
	if d.step.Kind != mapping.ClientStep || !e.job.looksUp(e.plan) || ctx.Err() != nil {
		return StepOutcome{}, false, nil
	}
	met, err := e.job.meetings.meet(ctx, e.plan)
	if err != nil || met.id == "" {
		return StepOutcome{}, false, err
	}
	o, err = e.adopt(d, v, met.id)
	return o, true, err
}

// revisit settles a client step that an earlier run left uncertain or parked,
// as far as look-ups can: found, it is adopted; not found, it is parked; twice
// not found when it has been parked for long enough, it is sent again.
func (e *errand) revisit(ctx context.Context, d *decision) error {
	if !e.job.revisits(e.plan, *d) || ctx.Err() != nil {
		return nil
	}
	id, reason, err := e.job.lookTwice(ctx, e.plan, *d)
	switch {
	case err != nil:
		return err
	case id != "":
		event := e.event(*d, ledger.Done)
		event.Via, event.ID = ledger.ViaAdopted, id
		e.known.client = id
		d.adopt(id, e.job.Binding.Mapping().V1())
		return e.job.Ledger.Append(event)
	case reason != "":
		d.why = reason
	case e.job.ripe(*d):
		d.action = send
	case d.known.To != ledger.Parked:
		event := e.event(*d, ledger.Parked)
		event.Reason = reasonParked
		d.waitParked()
		d.now(func(s *ledger.Step) { s.To = ledger.Parked })
		return e.job.Ledger.Append(event)
	default:
		d.waitParked()
	}
	return nil
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
	return d.action == operator && d.step.Kind == mapping.ClientStep && j.looksUp(plan)
}

// ripe tells that a parked step is old enough for an "absent" to be believed.
// The service may still be creating what an earlier run asked for.
func (j *Job) ripe(d decision) bool {
	return d.known.To == ledger.Parked && !slices.Contains(j.Runs, d.known.Run) && d.known.Age(ledger.Now()) >= cmp.Or(j.Believable, believable)
}

// lookTwice looks a client up, a second time before an "absent" is acted upon.
// reason tells why it cannot be told who it is.
func (j *Job) lookTwice(ctx context.Context, plan mapping.Plan, d decision) (id, reason string, err error) {
	looks := 1
	if j.ripe(d) {
		looks = 2
	}
	for range looks {
		met, err := j.meetings.meet(ctx, plan)
		if err != nil || met.id != "" || met.reason != "" {
			return met.id, met.reason, err
		}
	}
	return "", "", nil
}
