package rate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// longestLead is how long before its departure at most a request may begin to open its
// connection.
const longestLead = ahead / 2

// Meter says when the next request of a client may leave. It is safe for concurrent use.
//
// A request under a rate needs a departure that the Limiter has given to this process; where other
// processes send to the same service, rate and pause are theirs too.
type Meter struct {
	now     func() time.Time
	limits  limits
	limiter Limiter
	alone   bool          // no other process sends
	talk    chan struct{} // has room for one: who asks the limiter

	mu     sync.Mutex
	state  State   // as it was read last; its times are the limiter's
	clock  reading // when that was; zero for never
	grant  grant
	recent Departures
	left   time.Time     // alone: when the last request leaves on its connection
	lead   time.Duration // how long the last request waited for its connection: the next one may begin to open one so much earlier

	lacking time.Time     // since when this process needs a departure; zero for not
	share   time.Duration // time between two departures of this process, as others have left it

	// What the limiter is not told yet.
	news []Refusal
	good int // good answers
}

// NewMeter makes a Meter for a process whose clock is now. A ceiling is in requests per second; 0 is
// none. limiter is nil when no other process sends to the service.
func NewMeter(ceiling float64, limiter Limiter, now func() time.Time) *Meter {
	m := &Meter{now: now, limits: limits{ceiling, margin}, limiter: limiter, alone: limiter == nil, talk: make(chan struct{}, 1)}
	if m.alone {
		m.limiter = &own{now: now}
	} else {
		m.limits.margin += lateness
	}
	return m
}

// time is the earliest that the limiter's clock can show. The caller holds mu.
func (m *Meter) time() time.Time { return m.clock.theirs(m.now()) }

// rate is the rate at present; 0 for no limit. The caller holds mu.
func (m *Meter) rate() float64 { return m.state.perSecond(m.time(), m.limits) }

// needsDeparture reports whether a request needs a departure, and this process has none.
// The caller holds mu.
func (m *Meter) needsDeparture() bool { return m.rate() > 0 && !m.grant.has(m.now()) }

// Hold is what holds a request back; the zero Hold lets it leave.
type Hold struct {
	Pause  time.Duration // until the service's pause ends; not more than 0 for none
	Reason string        // of the pause
	Wait   time.Duration // until rate and pause allow it, or until the Meter must be consulted again
	Lacks  bool          // it needs a departure first
}

// May reports whether a request may leave now.
func (h Hold) May() bool { return h.Wait <= 0 && !h.Lacks }

// Hold returns what holds the next request back.
func (m *Meter) Hold() Hold {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hold()
}

// hold is Hold. The caller holds mu.
func (m *Meter) hold() Hold {
	h := m.pause()
	switch {
	case m.needsDeparture():
		h.Lacks, h.Wait = true, max(h.Pause, m.grantable())
	case m.rate() > 0: // those that have waited for their connections go first
		next := m.grant.ours(m.grant.slice[0])
		if m.left.After(next) {
			next = m.left
		}
		h.Wait = max(h.Pause, next.Add(-m.lead).Sub(m.now()))
	}
	return h
}

// pause is what holds requests back whatever the rate. The caller holds mu.
func (m *Meter) pause() Hold {
	pause := m.state.PausedUntil.Sub(m.time())
	return Hold{Pause: pause, Reason: m.state.PauseReason, Wait: pause}
}

// grantable is how long it takes until a departure can be had. The caller holds mu.
func (m *Meter) grantable() time.Duration {
	return m.state.next(m.time(), m.limits).Add(-ahead).Sub(m.time())
}

// Departure is a request's leave to go.
type Departure struct {
	At   time.Time // by the process's clock
	Cuts int64     // of the rate until then

	connected bool      // Leave was asked
	slot      time.Time // by the limiter's clock; zero for none that can be used
	due       time.Time // by the process's: when it leaves on its connection; zero while that is open
}

// Depart takes a departure for a request; ok is false when it may not leave.
func (m *Meter) Depart() (d Departure, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d = Departure{At: m.now(), Cuts: m.state.Cuts}
	if !m.hold().May() {
		return d, false
	}
	if m.rate() > 0 {
		m.use(&d)
	}
	if m.alone {
		d.slot, d.due = time.Time{}, time.Time{}
	}
	m.recent.add(d.At, 1)
	return d, true
}

// use gives the next departure to a request. The caller holds mu.
func (m *Meter) use(d *Departure) {
	d.slot = m.grant.slice[0]
	d.due = m.grant.ours(d.slot)
	m.grant.slice, m.grant.used = m.grant.slice[1:], append(m.grant.used, d.slot)
}

// Leave says whether a request that has a Departure may leave now on the connection that it
// has got, so that rate and pause hold for the moments at which requests leave. The zero Hold
// lets it leave, and sets d.At. Else the caller waits for Hold.Wait (after Consult where
// Hold.Lacks) and calls Leave again, or gives up. When the departure has passed because the
// connection took long to open, Leave takes another one for it if that comes within patience.
// Once the request may leave, a further call with the same d is for another connection.
func (m *Meter) Leave(d *Departure, patience time.Duration) Hold {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if !d.connected {
		d.connected = true
		m.lead = min(max(0, now.Sub(d.At)), longestLead)
	}
	h := m.pause()
	switch {
	case h.Pause > 0 || m.rate() == 0:
	case m.alone:
		h.Wait = m.waitAlone(d, now, max(patience, 0))
	default:
		if !d.slot.IsZero() && now.After(d.due.Add(lateness)) { // lost: no request leaves by it
			m.grant.used = slices.DeleteFunc(m.grant.used, d.slot.Equal)
			d.slot = time.Time{}
		}
		if h.Lacks = d.slot.IsZero() && m.needsDeparture(); h.Lacks {
			m.grant.takeBack(&m.state)
			h.Wait = m.grantable()
			return h
		}
		if d.slot.IsZero() {
			if h.Wait = m.grant.ours(m.grant.slice[0]).Sub(now); h.Wait > max(patience, 0) {
				return h
			}
			m.use(d)
		}
		h.Wait = d.due.Sub(now)
	}
	if h.May() {
		d.At, d.Cuts, d.slot, d.due = now, m.state.Cuts, time.Time{}, time.Time{}
	}
	return h
}

// waitAlone is how long a request waits where no other process sends: until it has its
// distance from the one that left before. One whose connection was there at once does not
// wait: half of the margin is for that. The caller holds mu.
func (m *Meter) waitAlone(d *Departure, now time.Time, patience time.Duration) time.Duration {
	const early = margin / 2
	if d.due.IsZero() || now.After(d.due.Add(early)) {
		due := m.left.Add(m.state.spacing(m.time(), m.limits))
		if due.Before(now) {
			due = now
		}
		if wait := due.Add(-early).Sub(now); wait > patience {
			return wait
		}
		m.left, d.due = due, due
	}
	return d.due.Add(-early).Sub(now)
}

// Spacing returns the time between two departures of this process at the present rate; 0
// for no rate.
func (m *Meter) Spacing() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	rate := m.rate()
	if rate == 0 {
		return 0
	}
	return max(time.Duration(float64(time.Second)/rate), m.share)
}

// Limited reports whether there is a rate at present.
func (m *Meter) Limited() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rate() > 0
}

// Refused begins a pause and halves the rate, after an answer in which the service asks to
// wait. The limiter is told; where that fails, the next Consult does so.
func (m *Meter) Refused(ctx context.Context, r Refusal) {
	m.mu.Lock()
	r.sent = m.recent.perSecond(m.now())
	m.state.refused(m.time(), r, m.limits)
	m.news, m.good, m.grant.slice = append(m.news, r), 0, nil // departures at the rate before are lost
	m.mu.Unlock()
	_ = m.Consult(context.WithoutCancel(ctx), 0)
}

// Accepted raises the rate after any other answer.
func (m *Meter) Accepted() {
	m.mu.Lock()
	if m.state.Rate > 0 {
		m.good++
	}
	m.mu.Unlock()
	if m.alone { // with others, the limiter is told when it is asked for departures
		_ = m.Consult(context.Background(), 0)
	}
}

// PauseEnd returns when the last pause ends or has ended, by the clock of all that share it;
// over is false before that. It is zero, and over, when there was none.
func (m *Meter) PauseEnd() (end time.Time, over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.PausedUntil, !m.state.PausedUntil.After(m.time())
}

// Waiting says why all requests wait at present and until when, in one line without
// personal data: the service asks to wait, or the rate is below one a second; "" when
// nothing waits.
func (m *Meter) Waiting() (reason string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.hold()
	switch {
	case h.Pause > 0:
		return h.Reason, m.now().Add(h.Pause)
	case h.Wait > time.Second:
		return fmt.Sprintf("requests are held at %.2g a second", m.rate()), m.now().Add(h.Wait)
	}
	return "", time.Time{}
}
