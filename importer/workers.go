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
// ledger (Job.Work). When a group is finished, the coordinator projects it: it lays the plans
// beside what the ledger knows then, as claimsheet report does.
//
// Clients who belong to one group are handed over together. Locks keep the processes apart, as
// those of runs that share a ledger. So a group that is carried out twice, or begun again after
// its worker was killed, does no harm.

// beginDispatch starts the coordinator. It returns the channel for plans to hand over, and a function to
// call after the last. Without a Dispatcher it starts nothing, and the channel is nil.
func (j *Job) beginDispatch(ctx context.Context) (toWorkers chan<- []mapping.Plan, end func()) {
	if j.Dispatch == nil {
		return nil, func() {}
	}
	j.guard.share(j.Dispatch)
	refreshed, stop := context.WithCancel(ctx)
	j.refreshing.Go(func() { j.refreshRules(refreshed) })
	plans, ended := make(chan []mapping.Plan, dispatchedAtOnce), make(chan struct{})
	go func() {
		defer close(ended)
		(&coordinator{Job: j, projector: j.projector(), out: map[int64]bool{}}).dispatch(ctx, plans)
	}()
	return plans, func() {
		close(plans)
		<-ended
		stop()
		j.refreshing.Wait()
	}
}

// coordinator hands groups over to workers and projects those that are finished. It is for one goroutine.
type coordinator struct {
	*Job
	projector *Job
	last      int64          // the number of the last group
	out       map[int64]bool // the numbers of the groups that are not finished
}

// dispatch hands plans over as they come, and projects groups as they are finished. It returns
// when all are, or after an error. When ctx is done, groups that no worker has begun are finished too.
func (c *coordinator) dispatch(ctx context.Context, toWorkers <-chan []mapping.Plan) {
	collect, check := time.NewTicker(collectEvery), time.NewTicker(checkEvery)
	defer collect.Stop()
	defer check.Stop()
	defer func() {
		for range toWorkers { // what comes after an error
		}
	}()
	always, done, open := context.WithoutCancel(ctx), ctx.Done(), true
	for c.failed.Load() == nil && (open || len(c.out) > 0) {
		more := toWorkers
		if !open || len(c.out) >= maxDispatched && ctx.Err() == nil {
			more = nil
		}
		select {
		case plans, ok := <-more:
			if open = ok; !ok {
				break
			}
			groups := [][]mapping.Plan{plans}
			for len(toWorkers) > 0 && len(groups) < dispatchedAtOnce {
				groups = append(groups, <-toWorkers)
			}
			c.fail(c.handOver(ctx, groups))
		case <-done:
			if done = nil; !errors.Is(context.Cause(ctx), ErrStopped) {
				c.guard.announce(errors.New("it got a signal"))
			}
		case <-collect.C:
			c.fail(c.Dispatch.Collect(always, ctx.Err() != nil, func(groups map[int64][]byte) error { return c.project(ctx, groups) }))
		case <-check.C:
			err := c.Ledger.Stopped() // nothing else here uses the ledger, and workers begin nothing while this process is silent
			if err == nil {
				var workers int
				workers, err = c.Dispatch.Check(always, len(c.out))
				c.noWorker.Store(len(c.out) > 0 && workers == 0)
			}
			c.fail(err)
		}
	}
}

// handOver hands groups over. Those that come when the run has stopped it carries out itself.
func (c *coordinator) handOver(ctx context.Context, groups [][]mapping.Plan) error {
	batch := map[int64][]byte{}
	for _, plans := range groups {
		if encoded, err := json.Marshal(plans); err == nil && ctx.Err() == nil {
			c.last++
			c.out[c.last], batch[c.last] = true, encoded
		} else if err := c.runGroup(ctx, group{plans: plans}, c.keepOutcome); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return c.Dispatch.Add(context.WithoutCancel(ctx), batch) // what is added is withdrawn when the run stops
}

// project records what has become of groups that are finished. One whose number was not forgotten
// by the Dispatcher may come again.
func (c *coordinator) project(ctx context.Context, groups map[int64][]byte) error {
	c.observe(observation{of: ofNothing}) // what has stopped a worker stops this process first, for the rows to say so
	var all []mapping.Plan
	for number, encoded := range groups {
		var plans []mapping.Plan
		if err := json.Unmarshal(encoded, &plans); err != nil {
			return err
		}
		if c.out[number] {
			all = append(all, plans...)
		}
		delete(c.out, number)
	}
	for _, r := range c.projector.prepareClients(all) {
		if err := r.project(ctx, c.keepOutcome); err != nil {
			return err
		}
	}
	return nil
}

// A coordinator hands no further batch over while maxDispatched groups are out, so that the
// tables do not hold a whole sheet. A batch has up to dispatchedAtOnce groups.
const (
	maxDispatched    = 4_000
	dispatchedAtOnce = 100
)

// How often a coordinator looks for groups that are finished, and for workers that are gone.
const (
	collectEvery = 50 * time.Millisecond
	checkEvery   = 2 * time.Second
)

// HandOver is the version of what a coordinator hands over: plans as JSON, beside StopRules. Another
// JSON needs another version. The texts of plans are valid UTF-8: a sheet with others is refused.
const HandOver = 10

// Join prepares the job of a worker for Work. Runs, Environment, Binding, Service, Ledger,
// Journal, Concurrency, MaxFailures and Rules are to be set. The job ends with ctx.
func (j *Job) Join(ctx context.Context) error {
	j.guard.most = j.MaxFailures
	j.guard.share(j.Rules)
	j.guard.sent = j.Service.Sent
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	if err := j.load(j.ctx); err != nil {
		return err
	}
	j.canary.passed.Store(true) // the coordinator has let the first client go ahead
	j.refreshing.Go(func() { j.refreshRules(j.ctx) })
	return nil
}

// Leave stops what Join has started in the background. It does not wait for calls of Work,
// which then end soon.
func (j *Job) Leave() {
	j.cancel(nil)
	j.refreshing.Wait()
}

// Work carries out the plans of a group that the coordinator has handed over. done is false when
// the job has ended before the group. Several goroutines may call it, for different groups. An
// error means that this process cannot go on: ErrCutOff, ledger.ErrStopped and ledger.ErrServer
// that it may in a new session with the ledger. What was done is in the ledger in any case. Any
// other error of a group stops the run.
func (j *Job) Work(encoded []byte) (done bool, err error) {
	var plans []mapping.Plan
	if err := json.Unmarshal(encoded, &plans); err != nil {
		return false, fmt.Errorf("a plan cannot be read: %w", err)
	}
	if back, err := j.givesBack(); back {
		return false, err
	}
	j.working.Add(1)
	err = j.runGroup(j.ctx, group{plans: plans}, func(clientOutcome) error { return nil })
	if errors.Is(err, ledger.ErrStopped) || errors.Is(err, ledger.ErrServer) {
		return false, err
	}
	if err != nil {
		j.stop(err) // it would end the next worker too
	}
	if j.working.Add(-1) == 0 {
		j.observe(observation{of: ofNothing}) // when no group is left, the rules have all that was sent
	}
	back, err := j.givesBack()
	return !back, err
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
