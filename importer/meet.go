package importer

import (
	"context"
	"errors"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// lookupFresh is how long a look-up that finds nobody is acted upon. Between it
// and the request lie at most a commit and a place in the line of requests. After
// a longer wait (for the first client, for a service that asks for time or does
// not answer) somebody else may have created the client meanwhile.
const lookupFresh = 5 * time.Second

// errStale is returned for a client step that was not sent because the look-up
// on which it rests is too old.
var errStale = errors.New("the look-up is too old")

// isStale reports that a client is to be looked up again before it is sent.
func (e *errand) isStale(d decision) bool {
	return !d.asOf.IsZero() && e.job.Now().Sub(d.asOf) > e.job.freshness()
}

// freshness is lookupFresh or, where requests leave so seldom that a look-up and
// the request behind it cannot be closer, twice the time in which each worker
// has sent one.
func (j *Job) freshness() time.Duration {
	return max(lookupFresh, 2*time.Duration(max(j.Concurrency, 1))*j.Service.Spacing())
}

// meet finds out whether the service knows the client already, as far as the
// ledger leaves that open, and does what the mapping says of known clients. over
// reports that nothing more is to be done for the client.
func (e *errand) meet(ctx context.Context, decisions []decision) (o Outcome, over bool, err error) {
	first := &decisions[0]
	switch {
	case ctx.Err() != nil:
	case e.job.revisits(e.plan, *first):
		return Outcome{}, false, e.revisit(ctx, first)
	case first.action == send && e.job.looksUp(e.plan):
		return e.acquaint(ctx, decisions)
	}
	return Outcome{}, false, nil
}

// acquaint asks the service whether it knows a client who is new to the ledger.
func (e *errand) acquaint(ctx context.Context, decisions []decision) (o Outcome, over bool, err error) {
	first := &decisions[0]
	met, err := e.job.meetings.meet(ctx, e.plan)
	if err != nil {
		return Outcome{}, false, err
	}
	e.job.hear(ctx, met)
	o, over, err = e.job.greet(e.plan, decisions, &met)
	if err != nil {
		return Outcome{}, false, err
	}
	if !over && met.id == "" {
		if taken := e.job.meetings.claim(e.plan); taken != "" {
			met.reason, met.advice = taken, adviceTaken
			o, over = e.job.refused(e.plan, decisions, met), true
		}
	}
	o.asked = over
	switch {
	case over && met.reason != "":
		event := e.event(*first, ledger.Failed)
		event.Reason = "nothing was created: see the workbook"
		return o, over, e.record(event)
	case over:
		return o, over, nil
	case met.id == "":
		first.asOf = met.at
		return o, over, nil
	}
	e.known.client, e.reused = met.id, first.known.Attempts == 0
	event := e.job.foundEvent(e.plan, met.id)
	event.Data, event.Digest = first.asked.json(), first.asked.digest()
	first.adopt(met.id, e.job.Binding.Mapping().V1())
	return o, over, e.record(event)
}

// revisit settles a client whose creation is in doubt, as far as look-ups can.
func (e *errand) revisit(ctx context.Context, d *decision) error {
	event, err := e.job.revisit(ctx, e.plan, d, func(mapping.Lookup) {})
	if err != nil || event.To == "" {
		return err
	}
	e.known.client = event.ID
	return e.record(event)
}

// record makes an event durable at once, with what is pending.
func (e *errand) record(event ledger.Event) error {
	e.pending = append(e.pending, event)
	return e.commit()
}
