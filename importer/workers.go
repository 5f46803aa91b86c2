package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// A run may be carried out by several processes. One coordinates it: it has the sheet,
// decides for which clients something is left to be done, carries the first of them out
// itself until the service has answered (see canary), and hands the plans of the others
// over. Workers carry those out, each with a Job of its own, with the same code and the same
// ledger, and hand the outcomes back (Job.Work). The coordinator records and counts
// them as if they were its own.
//
// Clients who belong to one group are handed over together. Locks keep the processes apart, as
// those of runs that share a ledger. So a group that is carried out twice, or begun again after
// its worker was killed, does no harm.

// beginDispatch returns where plans go that are handed over, and what to call behind
// the last of them. Without a Dispatcher nothing is.
func (j *Job) beginDispatch(ctx context.Context) (undone chan<- []mapping.Plan, end func()) {
	if j.Dispatch == nil {
		return nil, func() {}
	}
	j.guard.share(j.Dispatch)
	refreshed, stop := context.WithCancel(ctx)
	j.refreshing.Go(func() { j.refreshRules(refreshed) })
	plans, over := make(chan []mapping.Plan, dispatchedAtOnce), make(chan struct{})
	go func() {
		defer close(over)
		j.dispatchPlans(ctx, plans)
	}()
	return plans, func() {
		close(plans)
		<-over
		stop()
		j.refreshing.Wait()
	}
}

// dispatchPlans hands plans over as they come, and records outcomes as they come in. It returns
// when all are recorded, or after an error. When ctx is done, groups that no worker has begun
// are recorded as not started, and what workers have begun comes back as it is.
func (j *Job) dispatchPlans(ctx context.Context, undone <-chan []mapping.Plan) {
	collect, check := time.NewTicker(collectEvery), time.NewTicker(checkEvery)
	defer collect.Stop()
	defer check.Stop()
	defer func() {
		for range undone { // what comes after an error
		}
	}()
	always, done, open := context.WithoutCancel(ctx), ctx.Done(), true
	for j.failed.Load() == nil && (open || j.dispatched.count() > 0) {
		more := undone
		if !open || j.dispatched.count() >= mostDispatched && ctx.Err() == nil {
			more = nil
		}
		select {
		case plans, ok := <-more:
			if open = ok; !ok {
				break
			}
			groups := [][]mapping.Plan{plans}
			for len(undone) > 0 && len(groups) < dispatchedAtOnce {
				groups = append(groups, <-undone)
			}
			j.fail(j.handOver(ctx, groups))
		case <-done:
			if done = nil; !errors.Is(context.Cause(ctx), ErrStopped) {
				j.guard.announce(errSignal)
			}
		case <-collect.C:
			j.fail(j.Dispatch.Collect(always, ctx.Err() != nil, func(number int64, plans, outcome []byte) error {
				return j.recordDispatched(ctx, number, plans, outcome)
			}))
		case <-check.C:
			err := j.Ledger.Stopped() // nothing else here uses the ledger, and workers begin nothing while this process is silent
			if err == nil {
				var workers int
				workers, err = j.Dispatch.Check(always, j.dispatched.count())
				j.dispatched.seen(workers)
			}
			j.fail(err)
		}
	}
}

// handOver hands groups over. Those that cannot be, or come when the run has stopped, it
// carries out itself.
func (j *Job) handOver(ctx context.Context, groups [][]mapping.Plan) error {
	batch := map[int64][]byte{}
	for _, plans := range groups {
		if encoded, ok := encodePlans(plans); ok && ctx.Err() == nil {
			batch[j.dispatched.add()] = encoded
		} else if err := j.runGroup(ctx, group{plans: plans}, j.record); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return j.Dispatch.Add(context.WithoutCancel(ctx), batch) // what is added is withdrawn when the run stops
}

// recordDispatched records the outcome of a group that was handed over; one that was withdrawn
// is not started.
func (j *Job) recordDispatched(ctx context.Context, number int64, encoded, outcome []byte) error {
	if outcome == nil {
		var plans []mapping.Plan
		err := json.Unmarshal(encoded, &plans)
		if err == nil && j.dispatched.remove(number) {
			err = j.runGroup(ctx, group{plans: plans}, j.record)
		}
		return err
	}
	var w wireGroup
	if err := json.Unmarshal(outcome, &w); err != nil {
		return fmt.Errorf("an outcome cannot be read: %w", err)
	}
	if w.Fatal != "" {
		return errors.New(w.Fatal)
	}
	j.dispatched.note(w)
	if !j.dispatched.remove(number) {
		return nil // it came before, and was not forgotten
	}
	for _, o := range w.Clients {
		if err := j.record(o); err != nil {
			return err
		}
	}
	return nil
}

// A coordinator hands no further batch over while mostDispatched groups are out, so that the
// tables do not hold a whole sheet. A batch has up to dispatchedAtOnce groups.
const (
	mostDispatched   = 4_000
	dispatchedAtOnce = 100
)

// How often a coordinator looks for outcomes that have come in, and for workers that are gone.
const (
	collectEvery = 50 * time.Millisecond
	checkEvery   = 2 * time.Second
)

// A worker carries out plans that the coordinator of a run hands over.
// Plans and outcomes travel as JSON. encodePlans writes the plans of a group and Job.Work
// reads them; Job.Work writes their outcomes (wireGroup) and Job.recordDispatched reads them.

// mostEncoded is how many bytes of plans are handed over together at most. Their outcome has
// then less than the 32 MB that River takes.
const mostEncoded = 4 << 20

// encodePlans are the plans of a group as they are handed over; ok is false for too many. Their
// texts are valid UTF-8: a sheet with others is refused.
func encodePlans(plans []mapping.Plan) (encoded []byte, ok bool) {
	encoded, err := json.Marshal(plans)
	return encoded, err == nil && len(encoded) <= mostEncoded
}

// Join prepares the job of a worker for Work. Runs, Environment, Binding, Service, Ledger,
// Journal, Concurrency, MaxFailures and Rules are to be set. The job ends with ctx.
func (j *Job) Join(ctx context.Context) error {
	j.guard.most = j.MaxFailures
	j.guard.share(j.Rules)
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	if err := j.load(j.ctx, j.MaxFailures.Lifted()); err != nil {
		return err
	}
	j.canary.pass() // the coordinator has let the first client go ahead
	j.refreshing.Go(func() { j.refreshRules(j.ctx) })
	return nil
}

// Leave stops what Join has started in the background. It does not wait for calls of Work,
// which then end soon.
func (j *Job) Leave() {
	j.cancel(nil)
	j.refreshing.Wait()
}

// Work carries out the plans of a group that the coordinator has handed over, and returns their
// outcomes for it; nil when the job has ended before the group. Several goroutines may call it,
// for different groups. An error means that this process cannot go on: ErrCutOff,
// ledger.ErrStopped and ledger.ErrServer that it may in a new session with the ledger. What was
// done is in the ledger in any case.
func (j *Job) Work(encoded []byte) (outcome []byte, err error) {
	var plans []mapping.Plan
	if err := json.Unmarshal(encoded, &plans); err != nil {
		return nil, fmt.Errorf("a plan cannot be read: %w", err)
	}
	if back, err := j.givesBack(); back {
		return nil, err
	}
	var done wireGroup
	err = j.runGroup(j.ctx, group{plans: plans}, func(o clientOutcome) error {
		done.Clients = append(done.Clients, o)
		return nil
	})
	if errors.Is(err, ledger.ErrStopped) || errors.Is(err, ledger.ErrServer) {
		return nil, err
	}
	if back, cause := j.givesBack(); back {
		return nil, cause
	}
	if err != nil { // it would end the next worker too
		return json.Marshal(wireGroup{Fatal: err.Error()})
	}
	done.Process, done.Sent = j.guard.process, j.Service.Sent()
	return json.Marshal(done)
}

// givesBack reports whether the process ends, and not the run, so that plans are given back. The
// error says why where that is not its own wish.
func (j *Job) givesBack() (back bool, err error) {
	cause := context.Cause(j.ctx)
	if errors.Is(cause, ErrCutOff) {
		return true, cause
	}
	return cause != nil && !errors.Is(cause, ErrStopped), nil
}
