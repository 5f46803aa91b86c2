package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// What follows is Lock as the importer asks for it: for groups of clients, without a wait, where
// groups of one caller may overlap.

// ErrLeaseLost was the error of an intent of a client that is not locked. Nothing returns it.
var ErrLeaseLost = errors.New("the lease of the client is lost")

// LeaseGroup is what the work on one client needs for itself: all of it or nothing.
type LeaseGroup []LeaseMember

// LeaseMember is somebody who may be created by the work on a client.
type LeaseMember struct {
	ClientKey
	Addresses []string // by which they are looked up
	Run       string   // the run for which the work is done; names that it has need not be locked again
}

// leases are the names that groups have, each locked for one run.
type leases struct {
	mu   sync.Mutex
	held map[string]*lease
}

type lease struct {
	run    string
	groups int
	unlock func()
}

func (g LeaseGroup) names() (names []string) {
	for _, m := range g {
		names = append(names, m.LockName())
		for _, address := range m.Addresses {
			names = append(names, AddressLockName(m.Environment, address))
		}
	}
	return names
}

// Lease locks groups without a wait, each as a whole or not at all; leased has one element for
// each. Groups of one run may overlap. A step of a newly locked client that is an intent belongs
// to a process that is gone: it is recorded as uncertain, with the time at. In a ledger that is
// not shared every group is leased, and nothing is recorded.
func (l *Ledger) Lease(at time.Time, groups []LeaseGroup) (leased []bool, err error) {
	leased = make([]bool, len(groups))
	for i, g := range groups {
		if leased[i] = true; l.Shared() && len(g) > 0 {
			if leased[i], err = l.leaseGroup(at, g); err != nil {
				return nil, err
			}
		}
	}
	return leased, nil
}

func (l *Ledger) leaseGroup(at time.Time, g LeaseGroup) (leased bool, err error) {
	l.leases.mu.Lock()
	defer l.leases.mu.Unlock()
	now, end := context.WithCancel(context.Background())
	end()
	var got []string
	fresh := map[string]bool{}
	for _, name := range g.names() {
		held := l.leases.held[name]
		if held == nil {
			unlock, err := l.Lock(now, name)
			if err != nil {
				l.giveBack(got)
				if errors.Is(err, context.Canceled) {
					err = nil
				}
				return false, err
			}
			held = &lease{run: g[0].Run, unlock: unlock}
			l.leases.held[name], fresh[name] = held, true
		}
		if held.run != g[0].Run {
			l.giveBack(got)
			return false, nil
		}
		held.groups++
		got = append(got, name)
	}
	for _, m := range g {
		if fresh[m.LockName()] {
			err = errors.Join(err, l.interruptOf(m.ClientKey, at))
		}
	}
	return err == nil, err
}

// giveBack gives names back; l.leases.mu is held.
func (l *Ledger) giveBack(names []string) {
	for _, name := range names {
		held := l.leases.held[name]
		if held == nil {
			continue
		}
		if held.groups--; held.groups == 0 {
			delete(l.leases.held, name)
			held.unlock()
		}
	}
}

// interruptOf makes the intents of a client uncertain who was just locked.
func (l *Ledger) interruptOf(who ClientKey, at time.Time) error {
	return l.submit(true, func(t *transaction) error {
		client, ok, err := t.findClient(who)
		if !ok || err != nil {
			return err
		}
		open, err := gather(stream(context.Background(), t, func(rows *sql.Rows) (row, error) { return t.rows.scan(rows) }, stepsOf+`WHERE s.client = ? AND s.state = 1`, client.client))
		for _, r := range open {
			err = errors.Join(err, t.interrupt(r, r.run, at))
		}
		return err
	})
}

// Release gives a group back that Lease has leased. It does not wait.
func (l *Ledger) Release(group LeaseGroup) error {
	if l.Shared() {
		l.leases.mu.Lock()
		defer l.leases.mu.Unlock()
		l.giveBack(group.names())
	}
	return nil
}

// Reserve does nothing: an address belongs to the client whose intent has it.
func (l *Ledger) Reserve(LeaseMember, time.Duration) error { return nil }

// Leased is Holds.
func (l *Ledger) Leased() bool { return l.Holds() }
