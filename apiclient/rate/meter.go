package rate

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Meter says when the next request of a client may leave. It is safe for concurrent use.
//
// Where other processes send to the same service, rate and pause are theirs too: then a
// request under a rate needs a departure that the Limiter of all has given to this process.
type Meter struct {
	now    func() time.Time
	limits Limits
	shared *sharing // nil when no other process sends

	mu     sync.Mutex
	state  State // its times are those of time
	recent Departures
	left   time.Time     // without others: when the last request leaves on its connection
	lead   time.Duration // how long the last request waited for its connection: the next one may begin to open one so much earlier
}

// NewMeter makes a Meter for a process whose clock is now. limiter is nil when no other
// process sends to the service.
func NewMeter(l Limits, limiter Limiter, now func() time.Time) *Meter {
	l.margin = margin
	m := &Meter{now: now, limits: l}
	if limiter != nil {
		m.limits.margin += lateness
		m.shared = newSharing(limiter, now())
	}
	m.state.start(m.limits)
	return m
}

// time is the time by which departures and pauses are: the process's, or the one that
// all processes share. The caller holds mu.
func (m *Meter) time() time.Time {
	if m.shared != nil {
		return m.shared.clock.time(m.now())
	}
	return m.now()
}

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

func (m *Meter) hold() Hold {
	now := m.time()
	h := Hold{Pause: m.state.PausedUntil.Sub(now), Reason: m.state.PauseReason, Lacks: m.needsDeparture(now)}
	h.Wait = max(h.Pause, m.next(now).Sub(now))
	return h
}

// Departure is a request's leave to go.
type Departure struct {
	At   time.Time // by the process's clock
	Cuts int64     // of the rate until then

	connected bool      // Leave was asked
	slot      time.Time // with others: by the shared clock; zero for none that can be used
	due       time.Time // without others: when it leaves on its connection; zero while that is open
}

// Depart takes a departure for a request; ok is false when it may not leave.
func (m *Meter) Depart() (d Departure, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d = Departure{At: m.now(), Cuts: m.state.Cuts}
	if !m.hold().May() {
		return d, false
	}
	if m.shared != nil {
		d.slot = m.shared.use()
	} else {
		m.state.Last = d.At
	}
	m.recent.add(d.At, 1)
	return d, true
}

// next returns when the next request may leave. Where it needs a departure first, it is
// when one can be had. The caller holds mu.
func (m *Meter) next(now time.Time) time.Time {
	next := m.state.next(now, m.limits)
	switch {
	case m.shared == nil && m.left.Add(-m.lead).After(next):
		return m.left.Add(-m.lead) // those that have waited for their connections go first
	case m.shared == nil:
		return next
	case m.needsDeparture(now):
		return next.Add(-ahead)
	case len(m.shared.slice) > 0:
		return m.shared.slice[0].Add(-m.lead)
	}
	return time.Time{}
}

// needsDeparture reports whether a request needs a departure, and this process has none.
// The caller holds mu.
func (m *Meter) needsDeparture(now time.Time) bool {
	return m.shared != nil && !m.shared.has(now) && m.state.perSecond(now, m.limits) > 0
}

// Spacing returns the time between two departures of this process at the present rate; 0
// for no rate.
func (m *Meter) Spacing() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	rate := m.state.perSecond(m.time(), m.limits)
	if rate == 0 {
		return 0
	}
	every := time.Duration(float64(time.Second) / rate)
	if m.shared != nil {
		every = max(every, m.shared.share)
	}
	return every
}

// Limited reports whether there is a rate at present.
func (m *Meter) Limited() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.perSecond(m.time(), m.limits) > 0
}

// Refused begins a pause and halves the rate, after an answer in which the service asks to
// wait. Others that share the rate are told; where that fails, the next Consult does so.
func (m *Meter) Refused(ctx context.Context, r Refusal) {
	m.mu.Lock()
	r.sent = m.recent.perSecond(m.now())
	m.state.refused(m.time(), r, m.limits)
	if m.shared != nil {
		m.shared.refused(r)
	}
	m.mu.Unlock()
	_ = m.Consult(context.WithoutCancel(ctx), 0)
}

// Accepted raises the rate after any other answer.
func (m *Meter) Accepted() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shared == nil {
		m.state.accepted(m.now(), m.limits)
	} else if m.state.Rate > 0 {
		m.shared.good++
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
		return fmt.Sprintf("requests are held at %.2g a second", m.state.perSecond(m.time(), m.limits)), m.now().Add(h.Wait)
	}
	return "", time.Time{}
}
