package importer

import (
	"context"
	"slices"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/retry"
	"claimsheet/importer/stoprule"
	"claimsheet/mapping"
)

// send creates what a step asks for: the intent is durable before the first byte
// of its request, and so is the outcome of the step before. The request is sent
// again only while it is proved that the service did not process it, or where the
// environment allows it.
func (r *clientRun) send(ctx context.Context, d decision) (stepOutcome, error) {
	r.job.canary.enter(ctx, &r.leader.leads)
	var verdict apiclient.Verdict // on the last attempt
	for policy := r.retryPolicy(d); ; {
		if waited, err := r.waitForGate(ctx); err != nil {
			return stepOutcome{}, err
		} else if waited && !d.lookup.At.IsZero() {
			d.lookup.At = time.Unix(0, 0) // look it up again: somebody else may have created the client meanwhile
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
		r.job.seeVerdict(ctx, verdict)
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
		d.override(func(s *ledger.Step) { s.To, s.NotFound = event.To, event.NotFound })
	}
}

// attempted says how an attempt to send a step's request ended.
type attempted int

const (
	tried     attempted = iota // the request left, or it is proved that it did not
	tooLate                    // the run was stopped before
	stale                      // the look-up on which it rests is too old; there was no intent yet
	withdrawn                  // the intent was taken back: by then it was not to be sent
)

// attempt makes the intent durable and sends the request once, in a slot that it gives back,
// so that the queue does not wait for a client that has given up. If the look-up is stale it
// keeps the slot, for the next one.
func (r *clientRun) attempt(ctx context.Context, d *decision) (v apiclient.Verdict, how attempted, err error) {
	asOf, inTurn := d.lookup.At, r.slot != nil
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
	return r.job.Service.CreateReserved(ctx, slot, r.job.request(d.step, r.known)), tried, nil
}

// retryPolicy decides how often a step is sent. The client step keeps one policy: send is entered again after
// a look-up that was too old, and its attempts go on counting.
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
	r.job.observe(stoprule.Observation{Of: stoprule.Step, Kind: d.step.Kind, Effect: effect})
	return r.findCreated(ctx, d, event, v)
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
// whatever became of this one, until something was created. taken says that the answer has
// the redirect url of another client, and no id.
func (r *clientRun) judge(d decision, v *apiclient.Verdict) (event ledger.Event, taken bool, err error) {
	if *v, err = r.reclassifyConflict(d, *v); err == nil {
		*v, taken, err = r.takeURL(d, *v)
	}
	if err != nil {
		return ledger.Event{}, false, err
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
	event.NotFound = to == ledger.Uncertain && d.known.NotFound && unsent(*v) // what look-ups said of the attempt before still holds
	event.ID, event.URL, event.Status, event.Answer = v.ID, v.URL, v.Status, v.Answer
	return event, taken, nil
}
