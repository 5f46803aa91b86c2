package importer

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/mapping"
)

// Where several processes write the ledger, the clients of a group are locked, with the
// addresses by which they are looked up, before what the ledger knows of them is read. So
// processes keep out of each other's way. What a process does is safe without that: the
// ledger refuses what another one has done meanwhile.

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

// lockAgain is how long a process waits before it asks again for clients on whom another
// process works.
const lockAgain = 200 * time.Millisecond

// lock returns when this process may work on the clients of some plans. When ctx is done
// before that it returns its error, except where the run is being stopped: then nothing is
// sent for the clients.
func (j *Job) lock(ctx context.Context, plans []mapping.Plan) (unlock func() error, err error) {
	var members ledger.LeaseGroup
	for _, plan := range plans {
		if plan.Client != (mapping.Identity{}) && len(plan.Steps) > 0 && len(plan.Problems) == 0 && j.leavesOut(plan) == "" {
			members = append(members, ledger.LeaseMember{ClientKey: j.owner(plan.Client), Addresses: lookup.Addresses(plan), Run: j.Runs[0]})
		}
	}
	if len(members) == 0 || !j.Ledger.Shared() {
		return func() error { return nil }, nil
	}
	for {
		leased, err := j.Ledger.Lease(j.now().UTC(), []ledger.LeaseGroup{members})
		switch {
		case err != nil:
			return nil, err
		case leased[0]:
			return func() error { return j.Ledger.Release(members) }, nil
		}
		j.waiting.add(1)
		select {
		case <-ctx.Done():
		case <-time.After(lockAgain):
		}
		j.waiting.add(-1)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil, ctx.Err()
		case ctx.Err() != nil:
			return func() error { return nil }, nil
		}
	}
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

// waiting counts the groups that wait for other processes. It is safe for concurrent use.
type waiting struct{ groups atomic.Int32 }

func (w *waiting) add(n int32) { w.groups.Add(n) }

// why says that the run waits for other processes; "" when it does not.
func (w *waiting) why() string {
	if w.groups.Load() == 0 {
		return ""
	}
	return "another run is at work on the clients that are left"
}
