package importer

import (
	"context"
	"errors"
	"iter"
	"strings"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// Forecast tells what Do would do, with the same decisions, and sends nothing
// but look-ups (none with NoLookup, which takes unknown clients for new ones).
// Its requests, by kind, are those that Do then makes.
func (j *Job) Forecast(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	j.meetings, j.promised = newAcquaintances(j.Service), map[string]mapping.Identity{}
	ctx, j.cancel = context.WithCancelCause(ctx)
	defer j.cancel(nil)
	probed := map[apiclient.By]bool{}
	for plan, err := range plans {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		outcome, err := j.foresee(ctx, plan, probed)
		if f := new(apiclient.Failure); errors.As(err, &f) {
			return &stopped{f}
		}
		if err == nil {
			err = j.record(outcome)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stopped is a failure that ended the run.
type stopped struct{ *apiclient.Failure }

func (s *stopped) Error() string        { return ErrStopped.Error() + ": " + s.Failure.Error() }
func (s *stopped) Is(target error) bool { return target == ErrStopped }

func (j *Job) foresee(ctx context.Context, plan mapping.Plan, probed map[apiclient.By]bool) (Outcome, error) {
	known, err := j.knownSteps(plan)
	if err != nil {
		return Outcome{}, err
	}
	if o, over := j.withoutSteps(plan, known); over {
		return o, nil
	}
	decisions := decide(plan, known, j.Binding.Sheet(), j.Binding.Mapping().Digest)
	if client := known["client"]; client.To == ledger.Done {
		j.meetings.own(client.ID, plan.Client)
	}
	if decisions[0].action == send && j.looksUp(plan) {
		j.countLookups(plan, probed)
		var met meeting
		if !j.NoLookup {
			if met, err = j.meetings.meet(ctx, plan); err != nil {
				return Outcome{}, err
			}
		}
		if o, over := j.greet(ctx, plan, decisions, &met); over {
			finish(&o, decisions)
			return o, nil
		}
		if met.id != "" {
			decisions[0].adopt(met.id, j.Binding.Mapping().V1())
		}
	}
	if other, shared := j.promise(plan, decisions[0]); shared {
		return j.foreseeShared(ctx, plan, decisions, other), nil
	}
	steps, err := walk(decisions, func(d decision) (StepOutcome, error) {
		j.tally.planned(d.step.Kind)
		return StepOutcome{Step: d.step, Status: Planned}, nil
	})
	o := outcomeOf(plan, steps)
	finish(&o, decisions)
	return o, err
}

// promise notes that a client would be created. shared tells that a client
// promised before has the address by which this one is looked up: the run will
// find that one.
func (j *Job) promise(plan mapping.Plan, client decision) (other mapping.Identity, shared bool) {
	if client.action != send || !j.looksUp(plan) {
		return mapping.Identity{}, false
	}
	by, values := asks(plan.Lookup)
	for i := range by {
		if other, shared = j.promised[promiseKey(by[i], values[i])]; shared {
			return other, true
		}
	}
	j.promised[promiseKey(apiclient.ByEmail, plan.Lookup.Email)] = plan.Client
	j.promised[promiseKey(apiclient.ByPhone, plan.Lookup.Phone)] = plan.Client
	delete(j.promised, promiseKey(apiclient.ByEmail, ""))
	delete(j.promised, promiseKey(apiclient.ByPhone, ""))
	return mapping.Identity{}, false
}

// foreseeShared is what the run makes of a client whom a look-up will find,
// because an earlier client of the sheet has the same address.
func (j *Job) foreseeShared(ctx context.Context, plan mapping.Plan, decisions []decision, other mapping.Identity) Outcome {
	met := meeting{reason: clashReason(other), advice: adviceWhoIsIt}
	switch j.Binding.Mapping().Client.Existing {
	case mapping.Skip:
		return leftOut(plan, "", adviceSkipped)
	case mapping.Fail:
		met = meeting{reason: reasonKnown, advice: adviceKnown}
	}
	o, _ := j.greet(ctx, plan, decisions, &met)
	finish(&o, decisions)
	return o
}

func promiseKey(by apiclient.By, value string) string {
	return string(by) + " " + strings.ToLower(value)
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
