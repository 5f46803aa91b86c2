package importer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// Forecast tells what Do would do, with the same decisions, and sends nothing
// but look-ups (none with NoLookup, which takes unknown clients for new ones).
// Its requests, by kind, are those that Do then makes.
func (j *Job) Forecast(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) (err error) {
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	if err := j.know(ctx, false); err != nil {
		return err
	}
	probed := map[apiclient.By]bool{}
	if j.knows, err = j.Ledger.Knows(ctx, j.Environment); err != nil {
		return err
	}
	for inquiries, err := range orderedMap(inChunks(j.withoutLoss(ctx, plans), 4*max(j.Concurrency, 1)), j.inquire) {
		if err != nil {
			return err
		}
		j.askAhead(ctx, inquiries)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, in := range inquiries {
			if err := j.foreseeOne(ctx, in, probed); err != nil {
				return err
			}
		}
	}
	return nil
}

// inquiry is a plan with what the ledger says of it: what is to be done, or,
// with over, what became of it already.
type inquiry struct {
	plan      mapping.Plan
	decisions []decision
	outcome   Outcome
	over      bool
	err       error
}

// inquire asks the ledger, which a dry run does not change, about some plans.
func (j *Job) inquire(plans []mapping.Plan) []inquiry {
	list := make([]inquiry, len(plans))
	for i, plan := range plans {
		in := &list[i]
		in.plan = plan
		var known map[string]ledger.Step
		if j.knows {
			known, in.err = j.knownSteps(plan)
		}
		if in.err != nil {
			continue
		}
		if in.outcome, in.over = j.withoutSteps(plan, known); !in.over {
			in.decisions = decide(plan, known, j.Binding)
		}
	}
	return list
}

func (j *Job) foreseeOne(ctx context.Context, in inquiry, probed map[apiclient.By]bool) error {
	outcome, err := j.foresee(ctx, in, probed)
	if f, ok := errors.AsType[*apiclient.Failure](err); ok {
		return fmt.Errorf("%w: %w", ErrStopped, advised(f))
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
func (j *Job) askAhead(ctx context.Context, inquiries []inquiry) {
	if j.NoLookup {
		return
	}
	var g errgroup.Group
	g.SetLimit(max(j.Concurrency, 1))
	for _, in := range inquiries {
		if len(in.decisions) == 0 || in.decisions[0].known.To != "" || !j.looksUp(in.plan) {
			continue
		}
		g.Go(func() error {
			defer func() {
				if v := recover(); v != nil {
					j.stop(Caught(v))
				}
			}()
			if _, err := j.lookups.Prefetch(ctx, in.plan); err != nil {
				j.stop(err)
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return nil
}

func (j *Job) foresee(ctx context.Context, in inquiry, probed map[apiclient.By]bool) (o Outcome, err error) {
	if in.over || in.err != nil {
		return in.outcome, in.err
	}
	plan, decisions := in.plan, in.decisions
	(&errand{job: j, plan: plan, known: ids{claims: map[string]string{}}}).remember(decisions)
	if d := &decisions[0]; j.revisits(plan, *d) && !j.NoLookup {
		looked := func(l mapping.Lookup) { j.countLookups(l, probed) }
		if _, err := j.revisit(ctx, plan, d, looked); err != nil {
			return Outcome{}, err
		}
	} else if d.action == send && j.looksUp(plan) {
		j.countLookups(plan.Lookup, probed)
		var found lookup.Result
		if !j.NoLookup {
			if found, err = j.lookups.Find(ctx, plan); err != nil {
				return Outcome{}, err
			}
		}
		x := existingOf(found)
		o, over, err := j.applyExisting(plan, decisions, &x)
		if over || err != nil {
			noteMapping(&o, decisions)
			return o, err
		}
		if x.ID != "" {
			d.adopt(x.ID, j.Binding.Mapping().V1())
		} else if holder, ok := j.lookups.Reserve(plan); !ok {
			return j.foreseeShared(plan, decisions, holder)
		}
	}
	foreseeAdopted(decisions)
	steps, err := walk(decisions, func(d decision) (StepOutcome, error) {
		j.tally.planned(d.step.Kind)
		return StepOutcome{Step: d.step, Status: result.Planned}, nil
	})
	o = outcomeOf(j.Binding, plan, steps)
	noteMapping(&o, decisions)
	return o, err
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
func (j *Job) foreseeShared(plan mapping.Plan, decisions []decision, holder lookup.Holder) (Outcome, error) {
	var x existing
	switch policy := j.Binding.Mapping().Client.Existing; {
	case !holder.Sole:
		x.refuse(lookup.Disagree, adviceWhoIsIt)
	case policy == mapping.Skip:
		return leftOut(plan, ids{}, "", adviceSkipped), nil
	case policy == mapping.Fail:
		x.refuse(reasonKnown, adviceKnown)
	default:
		x.refuse(takenReason(holder), adviceTaken)
	}
	o := j.refused(plan, decisions, x)
	noteMapping(&o, decisions)
	return o, nil
}

// countLookups counts the look-ups that the run will make for a client, and
// the one of each kind by which it first learns what "nobody" looks like.
func (j *Job) countLookups(addresses mapping.Lookup, probed map[apiclient.By]bool) {
	for _, b := range lookup.By(addresses) {
		if !probed[b] {
			probed[b] = true
			j.tally.lookups(1)
		}
		j.tally.lookups(1)
	}
}
