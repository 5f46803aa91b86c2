package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"claimsheet/apiclient"
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
	plans, ended := make(chan []mapping.Plan, dispatchedAtOnce), make(chan struct{})
	go func() {
		defer close(ended)
		(&coordinator{Job: j, out: map[int64]bool{}}).dispatch(ctx, plans)
	}()
	return plans, func() {
		close(plans)
		<-ended
		stop()
		j.refreshing.Wait()
	}
}

// coordinator hands groups over to workers and records their outcomes. It is for one goroutine.
type coordinator struct {
	*Job
	last   int64          // the number of the last group
	out    map[int64]bool // the numbers of the groups whose outcomes have not come in
	unseen int            // Checks in a row that saw no worker
}

// dispatch hands plans over as they come, and records outcomes as they come in. It returns
// when all are recorded, or after an error. When ctx is done, groups that no worker has begun
// are recorded as not started, and what workers have begun comes back as it is.
func (c *coordinator) dispatch(ctx context.Context, undone <-chan []mapping.Plan) {
	collect, check := time.NewTicker(collectEvery), time.NewTicker(checkEvery)
	defer collect.Stop()
	defer check.Stop()
	defer func() {
		for range undone { // what comes after an error
		}
	}()
	always, done, open := context.WithoutCancel(ctx), ctx.Done(), true
	for c.failed.Load() == nil && (open || len(c.out) > 0) {
		more := undone
		if !open || len(c.out) >= mostDispatched && ctx.Err() == nil {
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
			c.fail(c.handOver(ctx, groups))
		case <-done:
			if done = nil; !errors.Is(context.Cause(ctx), ErrStopped) {
				c.guard.announce(errSignal)
			}
		case <-collect.C:
			c.fail(c.Dispatch.Collect(always, ctx.Err() != nil, func(number int64, plans, outcome []byte) error {
				return c.recordOutcome(ctx, number, plans, outcome)
			}))
		case <-check.C:
			err := c.Ledger.Stopped() // nothing else here uses the ledger, and workers begin nothing while this process is silent
			if err == nil {
				var workers int
				workers, err = c.Dispatch.Check(always, len(c.out))
				c.seeWorkers(workers)
			}
			c.fail(err)
		}
	}
}

// handOver hands groups over. Those that cannot be, or come when the run has stopped, it
// carries out itself.
func (c *coordinator) handOver(ctx context.Context, groups [][]mapping.Plan) error {
	batch := map[int64][]byte{}
	for _, plans := range groups {
		if encoded, ok := encodePlans(plans); ok && ctx.Err() == nil {
			c.last++
			c.out[c.last], batch[c.last] = true, encoded
		} else if err := c.runGroup(ctx, group{plans: plans}, c.record); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return c.Dispatch.Add(context.WithoutCancel(ctx), batch) // what is added is withdrawn when the run stops
}

// recordOutcome records the outcome of a group that was handed over; one that was withdrawn
// is not started. An outcome that was not forgotten may come again.
func (c *coordinator) recordOutcome(ctx context.Context, number int64, encoded, outcome []byte) error {
	if outcome == nil {
		var plans []mapping.Plan
		err := json.Unmarshal(encoded, &plans)
		if err == nil && c.forget(number) {
			err = c.runGroup(ctx, group{plans: plans}, c.record)
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
	c.tally.noteSent(w.Process, w.Sent)
	if !c.forget(number) {
		return nil
	}
	for _, o := range w.Clients {
		if err := c.record(o); err != nil {
			return err
		}
	}
	return nil
}

// forget notes that a group is not out any more, and reports whether it was.
func (c *coordinator) forget(number int64) (was bool) {
	was = c.out[number]
	if delete(c.out, number); len(c.out) == 0 {
		c.noWorker.Store(false)
	}
	return was
}

// seeWorkers notes how many workers a Check has seen. A worker needs a moment to begin, so one
// Check that sees none says nothing.
func (c *coordinator) seeWorkers(workers int) {
	if c.unseen++; workers > 0 {
		c.unseen = 0
	}
	c.noWorker.Store(len(c.out) > 0 && c.unseen > 1)
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
// reads them; Job.Work writes their outcomes (wireGroup) and coordinator.recordOutcome reads them.

// mostEncoded is how many bytes of plans are handed over together at most. Their outcome has
// then less than the 32 MB that River takes.
const mostEncoded = 4 << 20

// encodePlans are the plans of a group as they are handed over; ok is false for too many. Their
// texts are valid UTF-8: a sheet with others is refused.
func encodePlans(plans []mapping.Plan) (encoded []byte, ok bool) {
	encoded, err := json.Marshal(plans)
	return encoded, err == nil && len(encoded) <= mostEncoded
}

// wireGroup is the outcomes of a group on their way to the coordinator, with what the process
// has sent for the run so far.
type wireGroup struct {
	Clients []clientOutcome

	Fatal string // why the run cannot go on; "" as a rule

	Process string // of the worker, in the shared rules
	Sent    map[apiclient.Kind]int
}

// Join prepares the job of a worker for Work. Runs, Environment, Binding, Service, Ledger,
// Journal, Concurrency, MaxFailures and Rules are to be set. The job ends with ctx.
func (j *Job) Join(ctx context.Context) error {
	j.guard.most = j.MaxFailures
	j.guard.share(j.Rules)
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	if err := j.load(j.ctx); err != nil {
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
