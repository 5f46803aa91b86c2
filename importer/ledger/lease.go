package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"
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

// LeaseGroup is what the work on one client needs for itself: all of it or nothing. It has
// the client first, and then its contacts.
type LeaseGroup []LeaseMember

// LeaseMember is somebody who may be created by the work on a client.
type LeaseMember struct {
	ClientKey
	Addresses []string // by which they are looked up
	// Run is the run for which the work is done. A process may work for several runs; what it
	// leases for one is not free for the others.
	Run string
}

func (m LeaseMember) addressNames() []LeaseName {
	var names []LeaseName
	for _, address := range m.Addresses {
		names = append(names, leaseName("address", m.Environment, address))
	}
	return names
}

// names are the names of a group, each once.
func (g LeaseGroup) names() []LeaseName {
	var names []LeaseName
	for _, m := range g {
		names = append(append(names, m.leaseName()), m.addressNames()...)
	}
	slices.SortFunc(names, compareNames)
	return slices.Compact(names)
}

// isReserved reports whether one of the group's addresses is reserved for somebody who is not
// the member with that address.
func (g LeaseGroup) isReserved(reserved map[LeaseName]LeaseName) bool {
	return slices.ContainsFunc(g, func(m LeaseMember) bool {
		return slices.ContainsFunc(m.addressNames(), func(n LeaseName) bool {
			of, ok := reserved[n]
			return ok && of != m.leaseName()
		})
	})
}

func (k ClientKey) leaseName() LeaseName {
	return leaseName("client", k.Environment, k.Space, k.Client)
}

func leaseName(parts ...string) LeaseName {
	var all []byte
	for _, p := range parts {
		all = fmt.Appendf(all, "%d:%s", len(p), p) // two lists of parts never give the same bytes
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
	// Away returns which of names other processes have leased, and which other processes have
	// reserved, with the client for whom.
	Away(names []LeaseName) (others map[LeaseName]bool, reserved map[LeaseName]LeaseName, err error)
	// Take leases names. A process that had one of them learns it by the column takeovers
	// of counter, which each transaction reads; stolen says that there is one.
	Take(names []LeaseName) (stolen bool, err error)
	// Release gives names back.
	Release(names []LeaseName) error
	// Reserve lets other processes lease names for one client only, for some time.
	Reserve(names []LeaseName, client LeaseName, time time.Duration) error
	// TTL is how long leases last when they are not renewed.
	TTL() time.Duration
	// End gives back everything and ends the part of this process in the ledger.
	End() error
}

// leases are the leases of this process, by what the ledger knows of them. The writer's
// goroutine uses them; lasting may be called by any.
type leases struct {
	Leases
	clock    func() time.Time
	held     map[LeaseName]int    // how many groups need it
	holders  map[LeaseName]string // for which run
	reserved map[LeaseName]reservation
	kept     int // names in reserved when it was last cleaned
	renewing *time.Time
	renewed  atomic.Pointer[time.Time] // before the last renewal that was committed was sent
	lost     atomic.Bool               // another process has one of them by now
	gone     map[LeaseName]bool        // which
	ours     map[StepID]row            // the intents that were open when that was noticed
	stop     chan struct{}
}

// renewals is how often leases are renewed within the time that they last.
const renewals = 6

func newLeases(on Leases, clock func() time.Time) *leases {
	if clock == nil {
		clock = time.Now
	}
	l := &leases{Leases: on, clock: clock, held: map[LeaseName]int{}, holders: map[LeaseName]string{}, reserved: map[LeaseName]reservation{}, gone: map[LeaseName]bool{}, ours: map[StepID]row{}, stop: make(chan struct{})}
	l.renewed.Store(&time.Time{}) // never: the first transaction does it
	return l
}

// age is how long ago the leases were renewed.
func (l *leases) age() time.Duration {
	now, then := l.clock(), *l.renewed.Load()
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0))) // the process's own clock may stand still while the machine sleeps
}

// lasting reports whether the leases have not ended by any clock of the server's that
// goes as fast as ours.
func (l *leases) lasting() bool { return !l.lost.Load() && l.age() < l.TTL()-l.TTL()/10 }

// keep renews the leases, and finds out which are lost when they had ended before. It is
// called in a transaction.
func (l *leases) keep(t *transaction) error {
	now, ended := l.clock(), l.age() >= l.TTL()
	if err := l.Renew(); err != nil {
		return err
	}
	l.renewing = &now
	if !ended {
		return nil
	}
	return l.check(t)
}

// check finds out whether another process has taken something over that this one had
// leased.
func (l *leases) check(t *transaction) error {
	own, err := l.Own()
	if err != nil {
		return err
	}
	has := make(map[LeaseName]bool, len(own))
	for _, name := range own {
		has[name] = true
	}
	for name := range l.held {
		if !has[name] {
			l.gone[name] = true
			l.lost.Store(true)
		}
	}
	if !l.lost.Load() {
		return nil
	}
	for id, r := range t.open { // another process may have concluded something about them
		l.ours[id] = r
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
	for tick := time.NewTicker(l.TTL() / renewals); ; {
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

// reservation is for whom this process has reserved an address: the client whom it has created
// with it.
type reservation struct {
	client LeaseName
	run    string
	until  time.Time
}

// reserve notes for whom names are reserved, and forgets now and then those that are not any
// more.
func (l *leases) reserve(names []LeaseName, to reservation) {
	const few = 1000
	if len(l.reserved) >= max(2*l.kept, few) {
		maps.DeleteFunc(l.reserved, func(_ LeaseName, s reservation) bool { return time.Now().After(s.until) })
		l.kept = len(l.reserved)
	}
	for _, n := range names {
		l.reserved[n] = to
	}
}

// apart reports whether this process has something of a group for another of its runs.
func (l *leases) apart(g LeaseGroup) bool {
	return slices.ContainsFunc(g, func(m LeaseMember) bool {
		elsewhere := func(n LeaseName) bool { return l.held[n] > 0 && l.holders[n] != m.Run }
		return elsewhere(m.leaseName()) || slices.ContainsFunc(m.addressNames(), func(n LeaseName) bool {
			s, ok := l.reserved[n]
			return elsewhere(n) || ok && time.Now().Before(s.until) && s.run != m.Run && s.client != m.leaseName()
		})
	})
}

// Lease leases groups, each as a whole or not at all; leased has one element for each. A group
// that is not leased is with another process, or with another run of this one. Groups of the
// same run may overlap. A step of a newly leased client that is an intent belongs to a process
// that is gone: it is recorded as uncertain, with the time at. In a ledger that is not shared
// every group is leased, and nothing is recorded.
func (l *Ledger) Lease(at time.Time, groups []LeaseGroup) (leased []bool, err error) {
	leased = make([]bool, len(groups))
	if !l.Shared() {
		for i := range leased {
			leased[i] = true
		}
		return leased, nil
	}
	err = l.submit(true, func(t *transaction) error { return t.lease(at, groups, leased) })
	return leased, err
}

// lease is Ledger.Lease in a transaction.
func (t *transaction) lease(at time.Time, groups []LeaseGroup, taken []bool) error {
	var all []LeaseName
	for _, g := range groups {
		all = append(all, g.names()...)
	}
	slices.SortFunc(all, compareNames)
	others, reserved, err := t.leases.Away(slices.Compact(all))
	if err != nil {
		return err
	}
	fresh, needed := map[ClientKey]bool{}, []LeaseName{}
	for i, g := range groups {
		names := g.names()
		if g.isReserved(reserved) || t.leases.apart(g) || slices.ContainsFunc(names, func(n LeaseName) bool { return others[n] }) {
			continue
		}
		taken[i] = true
		for _, m := range g {
			fresh[m.ClientKey] = t.leases.held[m.leaseName()] == 0 || fresh[m.ClientKey]
		}
		for _, name := range names {
			if t.leases.held[name]++; t.leases.held[name] == 1 {
				needed = append(needed, name)
				t.leases.holders[name] = g[0].Run
			}
		}
	}
	stolen, err := t.leases.Take(needed)
	if err == nil && stolen {
		_, err = t.interruptAbandoned("", at) // of the process that had them, so that nobody takes its addresses for free
	}
	if err != nil {
		return err
	}
	return t.interruptOf(fresh, at)
}

// interruptOf makes the intents of clients uncertain that were just leased.
func (t *transaction) interruptOf(fresh map[ClientKey]bool, at time.Time) error {
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
			if err := t.interrupt(r, r.last.run, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reserve keeps the addresses of who for that client: for a time, no other process and no other
// run of this one may lease them for somebody else. The service may not find yet who was created
// with them. It does not wait for the commit.
func (l *Ledger) Reserve(who LeaseMember, duration time.Duration) error {
	names := who.addressNames()
	if !l.Shared() || len(names) == 0 {
		return nil
	}
	return l.submit(false, func(t *transaction) error {
		t.leases.reserve(names, reservation{who.leaseName(), who.Run, time.Now().Add(duration)})
		return t.leases.Reserve(names, who.leaseName(), duration)
	})
}

// Release gives a group back that Lease has leased. It does not wait.
func (l *Ledger) Release(group LeaseGroup) error {
	if !l.Shared() {
		return nil
	}
	return l.submit(false, func(t *transaction) error {
		var free []LeaseName
		for _, name := range group.names() {
			if t.leases.held[name] == 0 {
				return errors.New("a lease is given back that this process does not have")
			}
			if t.leases.held[name]--; t.leases.held[name] == 0 {
				delete(t.leases.held, name)
				delete(t.leases.holders, name)
				free = append(free, name)
			}
		}
		return t.leases.Release(free)
	})
}

// Leased reports whether this process still has what it has leased, so that a request may
// begin whose intent is recorded. As a rule it asks a clock and not the server; after a
// pause it renews the leases first. A file needs none.
func (l *Ledger) Leased() bool {
	if !l.Shared() {
		return true
	}
	leases := l.write.tx.leases
	for !leases.lasting() {
		if leases.lost.Load() || l.submit(true, leases.keep) != nil {
			return false
		}
	}
	return true
}

// Shared reports whether other processes may write the ledger at the same time.
func (l *Ledger) Shared() bool { return l.write != nil && l.write.tx.shared }

// Session is the number of this process among those that write a shared ledger; 0 for a
// file.
func (l *Ledger) Session() int64 {
	if l.server == nil {
		return 0
	}
	return l.server.Session
}

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
	if !t.shared || !t.leases.gone[e.ClientKey.leaseName()] || was.id == 0 {
		return false, nil
	}
	ours, open := t.leases.ours[e.StepID]
	again := open && was.attempts != ours.attempts // another process has sent it again
	switch {
	case was.state == Intent && open && !again:
		return false, nil
	case (was.state == Uncertain || was.state == Parked) && !again && (e.To != Uncertain || len(e.Answer) > 0):
		if allows(was.state, was.kind, *e) == nil {
			return false, nil
		}
		late := *e
		if late.Via = ViaEmergency; allows(was.state, was.kind, late) == nil {
			*e = late
			return false, nil
		}
	}
	if e.To == NotSent || e.To == Failed || e.To == Uncertain && len(e.Answer) == 0 || was.state == Done && e.ID == was.remoteID && (e.ID != "" || !again || was.kind == KindLink) {
		return true, nil
	}
	return false, rejected{fmt.Errorf("%w: %w, and the step was done or sent by another process too", ErrStopped, ErrLeaseLost)}
}
