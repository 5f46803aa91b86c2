package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"claimsheet/importer/bootclock"
)

// Several processes may write one ledger on a server at the same time. What keeps them
// apart is a lease: who works on a client leases it first, with the addresses by which
// it is looked up and with its contacts, and nobody else may begin a request for them
// until the lease is given back or has ended.
//
// A process renews all its leases at once, every few seconds. They end when it does not:
// by the server's clock, a fixed time after it last did. Then, and after the time that a
// request may still take which began before, another process may lease the client; what
// was an intent becomes uncertain. A process that was stopped for so long, and goes on,
// begins no request: it asks Leased, which goes by a clock that counts while the machine
// sleeps.
//
// A ledger in a file has one process that writes, and no leases.

// ErrLeaseLost is wrapped by an Append of an intent whose client this process has not
// leased, or not any more.
var ErrLeaseLost = errors.New("the lease of the client is lost")

// LeaseName names what is leased: the SHA-256 of a client's key or of an address.
type LeaseName [sha256.Size]byte

func compareNames(a, b LeaseName) int { return slices.Compare(a[:], b[:]) }

// LeaseGroup is what the work on one client needs for itself: all of it or nothing.
type LeaseGroup struct {
	Clients   []ClientKey // the client, and its contacts
	Addresses []string    // by which they are looked up
}

// names are the names of a group, each once.
func (g LeaseGroup) names() []LeaseName {
	var names []LeaseName
	for _, who := range g.Clients {
		names = append(names, who.leaseName())
	}
	for _, address := range g.Addresses {
		names = append(names, leaseName("address", g.Clients[0].Environment, address))
	}
	slices.SortFunc(names, compareNames)
	return slices.Compact(names)
}

func (k ClientKey) leaseName() LeaseName {
	return leaseName("client", k.Environment, k.Space, k.Client)
}

func leaseName(parts ...string) LeaseName {
	var all checksum
	for _, p := range parts {
		all = all.text(p)
	}
	return sha256.Sum256(all)
}

// Leases are the leases of this process on a server. Package postgres has the only ones.
// Their methods are called in a transaction of Server.Write, by one goroutine.
type Leases interface {
	// Renew makes all leases of this process last from now on.
	Renew() error
	// Own are the names that this process has.
	Own() ([]LeaseName, error)
	// Take leases names, except those that another process has, which it returns.
	Take(names []LeaseName) (others []LeaseName, err error)
	// Release gives names back.
	Release(names []LeaseName) error
	// Last is how long leases last when they are not renewed.
	Last() time.Duration
	// End gives back everything and ends the part of this process in the ledger.
	End() error
}

// leases are the leases of this process, by what the ledger knows of them. The writer's
// goroutine uses them; lasting may be called by any.
type leases struct {
	Leases
	clock    func() bootclock.Reading
	held     map[LeaseName]int // how many groups need it
	renewing *bootclock.Reading
	renewed  atomic.Pointer[bootclock.Reading] // before the last renewal that was committed was sent
	lost     atomic.Bool                       // another process has one of them by now
	ours     map[StepID]int64                  // the events of the intents that were open when that was noticed
	stop     chan struct{}
}

// renewals is how often leases are renewed within the time that they last.
const renewals = 6

func newLeases(on Leases, clock func() bootclock.Reading) *leases {
	if clock == nil {
		clock = bootclock.Now
	}
	l := &leases{Leases: on, clock: clock, held: map[LeaseName]int{}, ours: map[StepID]int64{}, stop: make(chan struct{})}
	l.renewed.Store(&bootclock.Reading{}) // never: the first transaction does it
	return l
}

// age is how long ago the leases were renewed.
func (l *leases) age() time.Duration { return l.clock().Since(*l.renewed.Load()) }

// lasting reports whether the leases have not ended by any clock of the server's that
// goes as fast as ours.
func (l *leases) lasting() bool { return !l.lost.Load() && l.age() < l.Last()-l.Last()/10 }

// keep renews the leases, and finds out which are lost when they had ended before. It is
// called in a transaction.
func (l *leases) keep(t *transaction) error {
	now := l.clock()
	ended := now.Since(*l.renewed.Load()) >= l.Last()
	if err := l.Renew(); err != nil {
		return err
	}
	l.renewing = &now
	if !ended {
		return nil
	}
	own, err := l.Own()
	if err != nil {
		return err
	}
	for name := range l.held {
		if !slices.Contains(own, name) {
			l.lost.Store(true)
		}
	}
	for id, r := range t.open { // another process may have concluded something about them
		l.ours[id] = r.last.event
	}
	clear(t.open)
	t.unnoted = true
	return nil
}

// committed makes a renewal count.
func (l *leases) committed() {
	if l != nil && l.renewing != nil {
		l.renewed.Store(l.renewing)
		l.renewing = nil
	}
}

// renewRegularly renews the leases of a ledger until it is closed.
func (l *leases) renewRegularly(w *writer) {
	for tick := time.NewTicker(l.Last() / renewals); ; {
		select {
		case <-l.stop:
			tick.Stop()
			return
		case <-tick.C:
			if w.submit(true, l.keep) != nil {
				return // the ledger has stopped
			}
		}
	}
}

// Lease leases groups, each as a whole or not at all. Groups of one process do not keep
// each other away. taken says which were leased; for the others another process is at
// work. A step of a leased client that is an intent belongs to a process that is gone,
// and becomes uncertain, as by MarkInterrupted. In a file every group is leased, and
// nothing is recorded.
func (l *Ledger) Lease(run string, at time.Time, groups []LeaseGroup) (taken []bool, err error) {
	taken = make([]bool, len(groups))
	if !l.Shared() {
		for i := range taken {
			taken[i] = true
		}
		return taken, nil
	}
	err = l.submit(true, func(t *transaction) error { return t.lease(run, at, groups, taken) })
	return taken, err
}

// lease is Ledger.Lease in a transaction.
func (t *transaction) lease(run string, at time.Time, groups []LeaseGroup, taken []bool) error {
	var ask []LeaseName
	for _, g := range groups {
		for _, name := range g.names() {
			if t.leases.held[name] == 0 {
				ask = append(ask, name)
			}
		}
	}
	slices.SortFunc(ask, compareNames)
	ask = slices.Compact(ask)
	others, err := t.leases.Take(ask)
	if err != nil {
		return err
	}
	away := map[LeaseName]bool{}
	for _, name := range others {
		away[name] = true
	}
	fresh := map[ClientKey]bool{}
	for i, g := range groups {
		names := g.names()
		if slices.ContainsFunc(names, func(n LeaseName) bool { return away[n] }) {
			continue
		}
		taken[i] = true
		for _, who := range g.Clients {
			fresh[who] = t.leases.held[who.leaseName()] == 0 || fresh[who]
		}
		for _, name := range names {
			t.leases.held[name]++
		}
	}
	unneeded := slices.DeleteFunc(ask, func(n LeaseName) bool { return away[n] || t.leases.held[n] > 0 })
	if err := t.leases.Release(unneeded); err != nil {
		return err
	}
	return t.interruptOf(fresh, run, at)
}

// interruptOf makes the intents of clients uncertain that were just leased.
func (t *transaction) interruptOf(fresh map[ClientKey]bool, run string, at time.Time) error {
	var keys list
	for who, is := range fresh {
		if is {
			keys = append(keys, who.Client)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	open, err := gather(stream(context.Background(), t.conn, t.rows.scan, `SELECT `+stepColumns+` FROM steps s JOIN clients c ON c.id = s.client
		WHERE s.state = 1 AND c.client IN (SELECT value FROM json_each(?))`, keys))
	if err != nil {
		return err
	}
	for _, r := range open {
		if fresh[r.ClientKey] {
			if err := t.interrupt(r, run, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Release gives a group back that Lease has leased. It does not wait.
func (l *Ledger) Release(group LeaseGroup) error {
	if !l.Shared() {
		return nil
	}
	return l.submit(false, func(t *transaction) error {
		var free []LeaseName
		for _, name := range group.names() {
			if t.leases.held[name]--; t.leases.held[name] <= 0 {
				delete(t.leases.held, name)
				free = append(free, name)
			}
		}
		return t.leases.Release(free)
	})
}

// Leased reports whether the leases of this process have not ended, so that a request may
// begin whose intent is recorded. It asks a clock and not the server. A file needs no
// leases.
func (l *Ledger) Leased() bool { return !l.Shared() || l.write.tx.leases.lasting() }

// Shared reports whether other processes may write the ledger at the same time.
func (l *Ledger) Shared() bool { return l.write != nil && l.write.tx.shared }

// mayBegin refuses an intent for a client that this process has not leased.
func (t *transaction) mayBegin(e Event) error {
	if t.shared && e.To == Intent && (t.leases.lost.Load() || t.leases.held[e.ClientKey.leaseName()] == 0) {
		return rejected{ErrLeaseLost}
	}
	return nil
}

// late decides about an outcome that comes after this process has lost its leases, where
// another process has concluded something about the step meanwhile. The outcome replaces
// that, like one that had to wait in an emergency file. known says that append has
// nothing more to do: nothing was created, or the ledger knows it already. What was
// created a second time is an error that wraps ErrStopped, so that the caller keeps the
// outcome elsewhere.
func (t *transaction) late(e *Event, was row) (known bool, err error) {
	if !t.shared || !t.leases.lost.Load() || was.id == 0 || was.state == Intent && was.last.event == t.leases.ours[e.StepID] {
		return false, nil
	}
	e.Via = ViaEmergency
	switch {
	case was.state != Intent && allows(was.state, was.kind, *e) == nil: // an intent is another process's, which has its row in memory
		return false, nil
	case e.To == NotSent || e.To == Failed || e.To == Uncertain && len(e.Answer) == 0 || was.state == Done && e.ID == was.remoteID:
		return true, nil
	}
	return false, rejected{fmt.Errorf("%w: %w, and another process has sent the step again", ErrStopped, ErrLeaseLost)}
}
