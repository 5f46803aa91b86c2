package importer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// Forecast tells what Do would do, with the same decisions, and sends nothing
// but look-ups (none with NoLookup, which takes unknown clients for new ones).
// Its requests, by kind, are those that Do then makes.
func (j *Job) Forecast(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.meetings = newAcquaintances(j.Service)
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	probed := map[apiclient.By]bool{}
	for ahead, err := range inChunks(j.withoutLoss(ctx, plans), 4*max(j.Concurrency, 1)) {
		if err != nil {
			return err
		}
		j.askAhead(ctx, ahead)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, plan := range ahead {
			if err := j.foreseeOne(ctx, plan, probed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *Job) foreseeOne(ctx context.Context, plan mapping.Plan, probed map[apiclient.By]bool) error {
	outcome, err := j.foresee(ctx, plan, probed)
	if f, ok := errors.AsType[*apiclient.Failure](err); ok {
		return fmt.Errorf("%w: %w", ErrStopped, f)
	}
	if err != nil {
		return err
	}
	return j.record(outcome)
}

// inChunks passes plans on n at a time.
func inChunks(plans iter.Seq2[mapping.Plan, error], n int) iter.Seq2[[]mapping.Plan, error] {
	return func(yield func([]mapping.Plan, error) bool) {
		var chunk []mapping.Plan
		for plan, err := range plans {
			if err != nil {
				yield(nil, err)
				return
			}
			if chunk = append(chunk, plan); len(chunk) == n {
				if !yield(chunk, nil) {
					return
				}
				chunk = nil
			}
		}
		if len(chunk) > 0 {
			yield(chunk, nil)
		}
	}
}

// askAhead looks up the clients of some plans side by side; foresee finds the
// answers, and asks again where there is none.
func (j *Job) askAhead(ctx context.Context, plans []mapping.Plan) {
	if j.NoLookup {
		return
	}
	var g errgroup.Group
	g.SetLimit(max(j.Concurrency, 1))
	for _, plan := range plans {
		g.Go(func() error {
			defer func() {
				if v := recover(); v != nil {
					j.stop(Caught(v))
				}
			}()
			known, err := j.knownSteps(plan)
			_, over := j.withoutSteps(plan, known)
			if _, isKnown := known["client"]; err == nil && !over && !isKnown && j.looksUp(plan) {
				if _, err := j.meetings.early(ctx, plan); err != nil {
					j.stop(err)
				}
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return nil
}

func (j *Job) foresee(ctx context.Context, plan mapping.Plan, probed map[apiclient.By]bool) (Outcome, error) {
	known, err := j.knownSteps(plan)
	if err != nil {
		return Outcome{}, err
	}
	if o, over := j.withoutSteps(plan, known); over {
		return o, nil
	}
	decisions := decide(plan, known, j.Binding)
	(&errand{job: j, plan: plan, known: ids{claims: map[string]string{}}}).remember(decisions)
	if decisions[0].action == send && j.looksUp(plan) {
		j.countLookups(plan, probed)
		var met meeting
		if !j.NoLookup {
			if met, err = j.meetings.meet(ctx, plan); err != nil {
				return Outcome{}, err
			}
		}
		o, over, err := j.greet(ctx, plan, decisions, &met)
		if over || err != nil {
			noteMapping(&o, decisions)
			return o, err
		}
		if met.id != "" && decisions[0].action == send {
			decisions[0].adopt(met.id, j.Binding.Mapping().V1())
		}
	}
	if d := &decisions[0]; j.revisits(plan, *d) && !j.NoLookup {
		if err := j.foreseeRevisit(ctx, plan, d, probed); err != nil {
			return Outcome{}, err
		}
	}
	if decisions[0].action == send && j.looksUp(plan) {
		if other, shared := j.meetings.claim(plan); shared {
			return j.foreseeShared(ctx, plan, decisions, other)
		}
	}
	foreseeAdopted(decisions)
	steps, err := walk(decisions, func(d decision) (StepOutcome, error) {
		j.tally.planned(d.step.Kind)
		return StepOutcome{Step: d.step, Status: Planned}, nil
	})
	o := outcomeOf(plan, steps)
	noteMapping(&o, decisions)
	return o, err
}

// foreseeRevisit is revisit without a trace.
func (j *Job) foreseeRevisit(ctx context.Context, plan mapping.Plan, d *decision, probed map[apiclient.By]bool) error {
	j.countLookups(plan, probed)
	id, reason, err := j.lookTwice(ctx, plan, *d)
	switch {
	case err != nil:
		return err
	case id != "":
		d.adopt(id, j.Binding.Mapping().V1())
	case reason == "" && j.ripe(*d):
		j.countLookups(plan, probed) // it looks twice
		d.action = send
	}
	return nil
}

// foreseeAdopted shows a client whom the run will take over as planned: it is
// not done yet.
func foreseeAdopted(decisions []decision) {
	if decisions[0].action == adopted {
		decisions[0].action = foreseen
	}
}

// foreseeShared is what the run makes of a client whom a look-up will find,
// because an earlier client of the sheet has the same address.
func (j *Job) foreseeShared(ctx context.Context, plan mapping.Plan, decisions []decision, other mapping.Identity) (Outcome, error) {
	met := meeting{reason: clashReason(other), advice: adviceWhoIsIt}
	switch j.Binding.Mapping().Client.Existing {
	case mapping.Skip:
		return leftOut(plan, ids{}, "", adviceSkipped), nil
	case mapping.Fail:
		met = meeting{reason: reasonKnown, advice: adviceKnown}
	}
	o, _, err := j.greet(ctx, plan, decisions, &met)
	noteMapping(&o, decisions)
	return o, err
}

// countLookups counts the look-ups that the run will make for a client, and
// the one of each kind by which it first learns what "nobody" looks like.
func (j *Job) countLookups(plan mapping.Plan, probed map[apiclient.By]bool) {
	by, _ := asks(plan.Lookup)
	for _, b := range by {
		if !probed[b] {
			probed[b] = true
			j.tally.lookups(1)
		}
		j.tally.lookups(1)
	}
}
