package importer

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/mapping"
)

// Where several processes write the ledger, a run leases each client before it reads
// what the ledger knows of it, together with its contacts and the addresses by which they
// are looked up. So nobody else creates any of them meanwhile, and what was read stays
// true. A client on whom another process works is left until all others are done: the run
// then holds no other lease, so two runs never wait for each other in a circle.

// ErrCutOff is wrapped by what ends the part of this process in a run, and not the run: it
// cannot know any more what the other processes do.
var ErrCutOff = errors.New("this process was cut off from the others")

// cutOff is an error that wraps ErrCutOff and says why in its own words.
type cutOff string

func (c cutOff) Error() string { return string(c) }
func (c cutOff) Unwrap() error { return ErrCutOff }

// errLeaseLost ends a run that was stopped or cut off for so long that another process
// may have taken its clients over.
const errLeaseLost = cutOff("this process was paused, or cut off from the ledger's server, for so long that another one may have taken its clients over")

// elsewhere are the plans of clients on whom another process works.
type elsewhere struct {
	mu    sync.Mutex
	plans []mapping.Plan
	left  int // of them, when the run waits for them
}

func (e *elsewhere) add(plan mapping.Plan) { e.plans = append(e.plans, plan) }

// waiting says that the run waits for other processes; "" when it does not.
func (e *elsewhere) waiting() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left == 0 {
		return ""
	}
	return "another run is at work on the clients that are left"
}

func (e *elsewhere) wait(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left += n
}

// leaseGroup is what the work on a plan's client needs for itself; nothing where nothing
// is sent.
func (j *Job) leaseGroup(plan mapping.Plan) ledger.LeaseGroup {
	if plan.Client == (mapping.Identity{}) || len(plan.Steps) == 0 || len(plan.Problems) > 0 || j.leavesOut(plan) != "" {
		return nil
	}
	g := ledger.LeaseGroup{j.leaseMember(plan)}
	for _, c := range contactsOf(plan) {
		g = append(g, j.leaseMember(c))
	}
	return g
}

// leaseMember is the client of a plan, or the contact, with the addresses by which it is
// looked up.
func (j *Job) leaseMember(plan mapping.Plan) ledger.LeaseMember {
	return ledger.LeaseMember{ClientKey: j.owner(plan.Client), Addresses: lookup.Addresses(plan), Run: j.Runs[0]}
}

// lease leases the clients of plans, as far as no other process has them.
func (j *Job) lease(plans []mapping.Plan) (groups []ledger.LeaseGroup, leased []bool, err error) {
	groups, leased = make([]ledger.LeaseGroup, len(plans)), make([]bool, len(plans))
	if j.effects.dryRun || !j.Ledger.Shared() {
		for i := range leased {
			leased[i] = true
		}
		return groups, leased, nil
	}
	for i, plan := range plans {
		groups[i] = j.leaseGroup(plan)
	}
	if leased, err = j.Ledger.Lease(j.now().UTC(), groups); err == nil {
		j.forgetLookUps(plans, leased)
		err = j.loadUndecided(context.Background(), true)
	}
	return groups, leased, err
}

// forgetLookUps drops look-ups that were made before their clients were leased. Since then
// another process may have created somebody with the same address. One from just before
// may stay: an address is kept for longer for who was created with it (Reserve).
func (j *Job) forgetLookUps(plans []mapping.Plan, leased []bool) {
	now := j.now()
	for i, plan := range plans {
		before := now
		if leased[i] {
			before = now.Add(-lookupFresh)
		}
		j.lookups.Forget(plan.Client, before)
	}
}

// queue takes the client's place, and those of its contacts, among those with the same
// addresses.
func (r *clientRun) queue() {
	r.tickets = r.job.lookups.Queue(append([]mapping.Plan{r.plan}, contactsOf(r.plan)...)...)
}

// release gives the lease of a client back.
func (j *Job) release(group ledger.LeaseGroup) error {
	if len(group) == 0 {
		return nil
	}
	return j.Ledger.Release(group)
}

// stillLeased reports whether a request may begin. Where another process has taken clients
// of this run over, because this one was paused or cut off for too long, the run ends.
func (j *Job) stillLeased() bool {
	if j.Ledger.Leased() {
		return true
	}
	j.stop(errLeaseLost)
	return false
}

// leaseAgain is how long a run waits before it asks again for a client on whom another
// process works.
const leaseAgain = 500 * time.Millisecond

// runElsewhere carries out the plans of clients on whom another process was at work,
// each as soon as that has ended.
func (j *Job) runElsewhere(ctx context.Context, fatal *firstError) {
	var g errgroup.Group
	g.SetLimit(j.workers())
	j.elsewhere.wait(len(j.elsewhere.plans))
	for _, plan := range j.elsewhere.plans {
		if fatal.get() != nil {
			break
		}
		g.Go(func() error {
			r, err := j.awaitLease(ctx, plan)
			j.elsewhere.wait(-1)
			if err == nil {
				_, err = j.runClient(ctx, r)
			}
			fatal.set(err)
			return nil
		})
	}
	_ = g.Wait() // the functions return nil
}

// awaitLease returns the run of a client when it has leased it, or when the run is being
// stopped: then nothing is sent for the client.
func (j *Job) awaitLease(ctx context.Context, plan mapping.Plan) (*clientRun, error) {
	for {
		r := j.prepareClients([]mapping.Plan{plan})[0]
		if r.failed != nil && !isChanged(r.failed) {
			return nil, errors.Join(r.failed, j.release(r.group))
		}
		if r.leased {
			r.queue()
			return r, nil
		}
		select {
		case <-ctx.Done():
			r.readAndPrepare()
			return r, nil
		case <-time.After(leaseAgain):
		}
	}
}
