package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// A run may be carried out by several processes. One coordinates it: it has the sheet,
// decides for which clients something is left to be done, carries the first of them out
// itself until the service has answered (see canary), and hands the plans of the others
// over. Workers carry those out, each with a Job of its own, with the same code and the same
// ledger, and hand the outcomes back (see worker.go). The coordinator records and counts
// them as if they were its own.
//
// Clients who belong to one group are handed over together. Locks keep the processes apart, as
// those of runs that share a ledger. So a group that is carried out twice, or begun again after
// its worker was killed, does no harm.

// beginDispatch returns where plans go that are handed over, and what to call behind
// the last of them. Without a Dispatcher nothing is.
func (j *Job) beginDispatch(ctx context.Context, fatal *firstError) (undone chan<- []mapping.Plan, end func()) {
	if j.Dispatch == nil {
		return nil, func() {}
	}
	j.guard.share(j.Dispatch)
	j.dispatched.begin()
	refreshed, stop := context.WithCancel(ctx)
	j.refreshing.Go(func() { j.refreshRules(refreshed) })
	plans, over := make(chan []mapping.Plan, dispatchedAtOnce), make(chan struct{})
	go func() {
		defer close(over)
		j.dispatchPlans(ctx, plans, fatal)
	}()
	return plans, func() {
		close(plans)
		<-over
		stop()
		j.refreshing.Wait()
	}
}

// dispatchPlans hands plans over as they come, and carries out itself what cannot be. It
// returns when all outcomes are recorded, or the run has stopped.
func (j *Job) dispatchPlans(ctx context.Context, undone <-chan []mapping.Plan, fatal *firstError) {
	collected := make(chan struct{})
	all, end := context.WithCancel(context.WithoutCancel(ctx)) // outcomes are collected also when the run stops
	defer end()
	go func() {
		defer close(collected)
		fatal.set(j.collect(all))
	}()
	batch := map[int64][]byte{}
	flush := func() {
		if len(batch) > 0 && ctx.Err() == nil {
			fatal.set(j.Dispatch.Add(context.WithoutCancel(ctx), batch)) // what is added is taken back when the run stops
		}
		batch = map[int64][]byte{}
	}
	for plans := range undone {
		encoded, ok := encodePlans(plans)
		switch {
		case fatal.get() != nil:
			continue
		case !ok || ctx.Err() != nil:
			_, err := j.carryOut(ctx, group{plans: plans})
			fatal.set(err)
			continue
		}
		batch[j.dispatched.add(plans, encoded)] = encoded
		if len(batch) == dispatchedAtOnce || len(undone) == 0 {
			flush()
			j.dispatched.await(ctx, mostDispatched)
		}
	}
	flush()
	j.dispatched.await(ctx, 1)
	if ctx.Err() != nil && fatal.get() == nil {
		j.takeBack(ctx, fatal)
	}
	end()
	<-collected
}

// collect records outcomes as they come in, and sees that what is out arrives, until ctx is
// done.
func (j *Job) collect(ctx context.Context) error {
	tick, check := time.NewTicker(collectEvery), time.NewTicker(checkEvery)
	defer tick.Stop()
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-check.C:
			if err := j.Ledger.Stopped(); err != nil {
				return err // while workers have the plans, nothing else here uses the ledger, and they begin none while it is silent
			}
			workers, err := j.Dispatch.Check(ctx, j.dispatched.all)
			if err != nil && ctx.Err() == nil {
				return err
			}
			j.dispatched.seen(workers)
		case <-tick.C:
			for n := 1; n > 0 && len(check.C) == 0; { // all that has come in, but not so long that a Check is late
				var err error
				if n, err = j.Dispatch.Collect(ctx, j.recordDispatched); err != nil && ctx.Err() == nil {
					return err
				}
			}
		}
	}
}

// recordDispatched records the outcome of a plan that was handed over.
func (j *Job) recordDispatched(number int64, outcome []byte) error {
	var w wireGroup
	if err := json.Unmarshal(outcome, &w); err != nil {
		return fmt.Errorf("an outcome cannot be read: %w", err)
	}
	if w.Fatal != "" {
		return errors.New(w.Fatal)
	}
	j.dispatched.count(w)
	if !j.dispatched.has(number) {
		return nil // it came before, and was not forgotten
	}
	for _, o := range w.Clients {
		if err := j.record(o); err != nil {
			return err
		}
	}
	j.dispatched.remove(number)
	return nil
}

// takeBack ends a run that has stopped: what nobody has begun is recorded as not started,
// and what workers have begun comes back as it is.
func (j *Job) takeBack(ctx context.Context, fatal *firstError) {
	if why := context.Cause(ctx); !errors.Is(why, ErrStopped) {
		j.guard.announce(errSignal)
	}
	for j.dispatched.out() > 0 && fatal.get() == nil {
		numbers, err := j.Dispatch.Withdraw(context.WithoutCancel(ctx))
		fatal.set(err)
		for _, number := range numbers {
			if plans, out := j.dispatched.remove(number); out && fatal.get() == nil {
				_, err := j.carryOut(ctx, group{plans: plans})
				fatal.set(err)
			}
		}
		time.Sleep(collectEvery)
	}
}

// dispatched are the groups of a coordinator that workers have. It is safe for concurrent
// use.
type dispatched struct {
	mu      sync.Mutex
	last    int64
	plans   map[int64][]mapping.Plan
	bytes   map[int64][]byte
	less    chan struct{}                     // has an element when there are fewer than before
	unseen  int                               // Checks in a row that saw no worker
	sent    map[string]map[apiclient.Kind]int // by the processes
	retries map[string]map[string]int
}

// A coordinator hands no further batch over while mostDispatched plans are out, so that neither
// its memory nor the tables hold a whole sheet. A batch has up to dispatchedAtOnce plans.
const (
	mostDispatched   = 4_000
	dispatchedAtOnce = 100
)

// How often a coordinator looks for outcomes that have come in, and for plans that were
// lost on their way.
const (
	collectEvery = 50 * time.Millisecond
	checkEvery   = 2 * time.Second
)

// begin makes room for plans.
func (d *dispatched) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plans, d.bytes, d.less = map[int64][]mapping.Plan{}, map[int64][]byte{}, make(chan struct{}, 1)
	d.sent, d.retries = map[string]map[apiclient.Kind]int{}, map[string]map[string]int{}
}

// add notes a group that is handed over and returns its number.
func (d *dispatched) add(plans []mapping.Plan, encoded []byte) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	d.plans[d.last], d.bytes[d.last] = plans, encoded
	return d.last
}

// remove returns a group that is not out any more; ok is false when it was not out.
func (d *dispatched) remove(number int64) (plans []mapping.Plan, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	plans, ok = d.plans[number]
	delete(d.plans, number)
	delete(d.bytes, number)
	select {
	case d.less <- struct{}{}:
	default:
	}
	return plans, ok
}

// await returns when fewer than n plans are out, or ctx is done.
func (d *dispatched) await(ctx context.Context, n int) {
	for d.out() >= n {
		select {
		case <-ctx.Done():
			return
		case <-d.less:
		}
	}
}

func (d *dispatched) out() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.plans)
}

// all are the plans that are out.
func (d *dispatched) all() map[int64][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.bytes)
}

// seen notes how many workers a Check has seen.
func (d *dispatched) seen(workers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unseen++; workers > 0 {
		d.unseen = 0
	}
}

func (d *dispatched) has(number int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.plans[number]
	return ok
}

// count notes what a worker has sent for the run so far. Outcomes come in any order, so a lower
// total is an older one.
func (d *dispatched) count(w wireGroup) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if total(w.Sent) >= total(d.sent[w.Process]) {
		d.sent[w.Process], d.retries[w.Process] = w.Sent, w.Retries
	}
}

// requests is how many requests the workers have sent.
func (d *dispatched) requests() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, sent := range d.sent {
		n += total(sent)
	}
	return n
}

// addSent adds the requests that the workers have sent.
func (d *dispatched) addSent(r *result.Requests) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, sent := range d.sent {
		for kind, n := range sent {
			addRequests(r, kind, n)
		}
	}
}

// addRetries returns retries with those of the workers added; retries may be nil.
func (d *dispatched) addRetries(retries map[string]int) map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, of := range d.retries {
		if retries == nil {
			retries = map[string]int{}
		}
		for why, n := range of {
			retries[why] += n
		}
	}
	return retries
}

func total[K comparable](counts map[K]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// waiting says that nobody carries out what was handed over; "" when somebody does. A
// worker needs a moment to begin, so one Check that sees none says nothing.
func (d *dispatched) waiting() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.plans) == 0 || d.unseen < 2 {
		return ""
	}
	return "no worker is at work: start claimsheet worker"
}
