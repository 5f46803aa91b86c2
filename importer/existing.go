package importer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// existing is what is known about a client that the service may have already: the
// result of a look-up, and why the run cannot continue with that client.
type existing struct {
	lookup.Result
	reason string // "" for no reason
	advice string
}

// existingOf takes up what a look-up says.
func existingOf(r lookup.Result) existing {
	x := existing{Result: r}
	switch {
	case r.Failed != nil:
		x.refuse(r.Failed.Error(), adviceLookup)
		if f, ok := errors.AsType[*apiclient.Failure](r.Failed); ok && f.Hint != "" {
			x.advice = f.Hint
		}
	case r.Unclear != "":
		x.refuse(r.Unclear, adviceWhoIsIt)
	}
	return x
}

func (x *existing) refuse(reason, advice string) { x.reason, x.advice = reason, advice }

const reasonKnown = "the service knows this client already"

// looksUp reports whether the service is asked for a client that the ledger does
// not know.
func (j *Job) looksUp(plan mapping.Plan) bool {
	return j.Binding.Mapping().Client.Existing != mapping.Create && len(lookup.By(plan.Lookup)) > 0
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
	policy := j.Binding.Mapping().Client.Existing
	switch {
	case x.reason != "":
	case x.ID != "" && policy == mapping.Skip:
		return leftOut(plan, ids{client: x.ID}, "", adviceSkipped), true, nil
	case x.ID != "" && policy == mapping.Fail:
		x.refuse(reasonKnown, adviceKnown)
	default:
		return clientOutcome{}, false, nil
	}
	return j.refused(plan, decisions, *x), true, nil
}

// checkOwner refuses a client that is new to the ledger where another comes first: one
// that is done in the ledger, or one that an earlier attempt may have created with
// this client's address, whether or not a look-up finds somebody there. It reserves
// the id of a client that is adopted.
func (j *Job) checkOwner(plan mapping.Plan, x *existing) error {
	adopts := x.ID != "" && j.Binding.Mapping().Client.Existing == mapping.Reuse
	event := j.foundEvent(plan, x.ID)
	if other, owned := j.lookups.OwnerOf(plan.Client, lookup.Asked(plan.Lookup), adopts); owned {
		x.refuse(undecidedReason(other), adviceDoubtful)
		// It is read whether or not the run is being stopped.
		t, done, err := j.Ledger.StepWithID(context.Background(), event)
		if done {
			x.refuse(clashReason(plan.Client, identityOf(t)), adviceWhoIsIt)
		}
		return err
	}
	if !adopts {
		return nil
	}
	t, ok, err := j.take(event)
	if err == nil && !ok {
		x.refuse(clashReason(plan.Client, identityOf(t)), adviceWhoIsIt)
	}
	return err
}

// applyHolder refuses a client whose address belongs to an earlier client of this
// run: a look-up should have found that one. In a dry run nobody was created; the
// run's look-up will find the holder, and it will do what the mapping says of
// known clients.
func (j *Job) applyHolder(plan mapping.Plan, decisions []decision, x *existing, holder lookup.Holder) clientOutcome {
	policy := mapping.Reuse
	if j.effects.dryRun {
		policy = j.Binding.Mapping().Client.Existing
	}
	switch {
	case j.effects.dryRun && !holder.Sole:
		x.refuse(lookup.Disagree, adviceWhoIsIt)
	case policy == mapping.Skip:
		return leftOut(plan, ids{}, "", adviceSkipped)
	case policy == mapping.Fail:
		x.refuse(reasonKnown, adviceKnown)
	default:
		x.refuse(takenReason(holder), adviceTaken)
	}
	return j.refused(plan, decisions, *x)
}

// refused is the outcome of a client for which nothing is sent because of what
// was found out.
func (j *Job) refused(plan mapping.Plan, decisions []decision, x existing) clientOutcome {
	steps, _ := walk(decisions, func(d decision) (stepOutcome, error) {
		return stepOutcome{Step: d.step, Status: result.Failed, Error: x.reason, Advice: x.advice, unanswered: x.Failed != nil, http: x.Status()}, nil
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
func takenReason(h lookup.Holder) string {
	what := "e-mail address"
	if h.Phone {
		what = "phone number"
	}
	return fmt.Sprintf("another client of the sheet, with the key “%s”, has the same %s", h.Client.Key, what)
}

// lookupFresh is how long a look-up that finds nobody is acted upon. Between it
// and the request lie at most a commit and a place in the line of requests. After
// a longer wait (for the first client, for a service that asks for time or does
// not answer) somebody else may have created the client meanwhile.
const lookupFresh = 5 * time.Second

// errStale is returned for a client step that was not sent because the look-up
// on which it rests is too old.
var errStale = errors.New("the look-up is too old")

// freshness is lookupFresh or, where requests leave so seldom that a look-up and
// the request behind it cannot be closer, twice the time in which each worker
// has sent one.
func (j *Job) freshness() time.Duration {
	return max(lookupFresh, 2*time.Duration(j.workers())*j.Service.Spacing())
}

// find finds out whether the service knows the client already, as far as the
// ledger leaves that open, and does what the mapping says of known clients. over
// says that nothing more has to be done for the client.
func (r *clientRun) find(ctx context.Context) (o clientOutcome, over bool, err error) {
	first := &r.decisions[0]
	switch {
	case ctx.Err() != nil:
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
		first.asOf = x.At
		return o, over, nil
	}
	r.known.client, r.reused = x.ID, first.known.Attempts == 0
	event := r.job.foundEvent(r.plan, x.ID)
	w := r.wanted(first)
	event.Data, event.Digest = w.json(), w.digest()
	first.adopt(x.ID, r.job)
	return o, over, r.record(event)
}
