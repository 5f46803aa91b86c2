package rate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// longestWait is for how long requests may already wait on their connections when another one departs.
const longestWait = ahead / 2

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

	mu    sync.Mutex
	state State     // as it was read last; its times are the limiter's
	read  time.Time // when that was, at the latest; zero for never
	shown time.Time // what the limiter's clock showed then

	departures []time.Time // that this process was given and has not used, by the limiter's clock
	used       int         // how many of them it has used
	last, end  time.Time   // the last of them, and State.Last as they left it
	lost       time.Time   // end, where the last one was lost; else zero
	recent     departures
	left       time.Time // alone: when the last request leaves on its connection

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

// Of both clocks only what passes since the last reading counts. Callers of the functions below hold mu.

// time is the earliest that the limiter's clock can show.
func (m *Meter) time() time.Time { return m.shown.Add(m.now().Sub(m.read)) }

// ours is the latest that the process's clock can show at a moment of the limiter's.
func (m *Meter) ours(theirs time.Time) time.Time { return m.read.Add(theirs.Sub(m.shown)) }

// rate is the rate at present; 0 for no limit.
func (m *Meter) rate() float64 { return m.state.perSecond(m.time(), m.limits) }

// has reports whether there is a departure that can still be used. One that has passed
// is lost: used late, it would be too close to those of others.
func (m *Meter) has(now time.Time) bool {
	m.departures = slices.DeleteFunc(m.departures, func(at time.Time) bool { return m.isLate(at, now) })
	return len(m.departures) > 0
}

func (m *Meter) isLate(departure, now time.Time) bool {
	return now.After(m.ours(departure).Add(lateness))
}

// grantable is how long it takes until a departure can be had.
func (m *Meter) grantable() time.Duration {
	return m.state.next(m.time(), m.limits).Add(-ahead).Sub(m.time())
}

// use takes the next departure.
func (m *Meter) use() time.Time {
	departure := m.departures[0]
	m.departures = m.departures[1:]
	m.used++
	return departure
}

// Stage is what a request waits for.
type Stage int

// The stages of a request.
const (
	PauseOver Stage = iota
	Granted         // this process has a departure, where it needs one
	Ready           // the request may depart
	Departed        // it has departed, and opens a connection
	Left            // it leaves on its connection
)

// Ticket is one request's way past a Meter.
type Ticket struct {
	Impatient bool      // from Ready on it does not wait for the end of a pause
	Cuts      int64     // of the rate until the request left
	departure time.Time // by the limiter's clock; zero for none. Alone: when it leaves on its connection
}

// Paused is the error of a request that is not to wait for the end of a pause. It says why there is one.
type Paused string

// Error returns the reason.
func (p Paused) Error() string { return string(p) }

// ErrHeldBack is the error of a request that would have to wait for too long.
var ErrHeldBack = errors.New("held back on its connection")

// Await waits until a request has come to a stage, but no longer than patience: then the error is
// ErrHeldBack or a Paused. Any other error means that nothing may leave: ctx has ended, or the limiter
// does not answer.
//
// A request that has Departed and whose connection took long to open may have lost its departure; it
// then takes another one, so that rate and pause hold for the moments at which requests leave.
func (m *Meter) Await(ctx context.Context, t *Ticket, to Stage, patience time.Duration) error {
	end, takes := time.Now().Add(patience), to > PauseOver && to < Left
	for lacks := false; ; {
		if err := m.consult(ctx, takes || lacks, min(answersWithin, patience)); err != nil {
			return err
		}
		var wait time.Duration
		var paused string
		patience = time.Until(end)
		wait, lacks, paused = m.try(t, to, patience)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case wait <= 0 && !lacks:
			return nil
		case paused != "" && (t.Impatient && to >= Ready || wait > patience):
			return Paused(paused)
		case wait > patience:
			return ErrHeldBack
		}
		sleep(ctx, wait)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// try lets a request come to a stage if it may: then it needs not wait, and lacks nothing. Else it is to
// try again after a while, with a departure where it lacks one. paused says why there is a pause.
func (m *Meter) try(t *Ticket, to Stage, patience time.Duration) (wait time.Duration, lacks bool, paused string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if pause := m.state.PausedUntil.Sub(m.time()); pause > 0 {
		return pause, false, m.state.PauseReason
	}
	if m.rate() > 0 && to > PauseOver {
		wait, lacks = m.tryRate(t, to, now, patience)
	}
	if wait > 0 || lacks || to < Departed {
		return max(0, wait), lacks, ""
	}
	if t.Cuts = m.state.Cuts; to == Departed {
		m.recent.add(now, 1)
	} else {
		*t = Ticket{Impatient: t.Impatient, Cuts: t.Cuts} // on another connection it needs another departure
	}
	return 0, false, ""
}

func (m *Meter) tryRate(t *Ticket, to Stage, now time.Time, patience time.Duration) (wait time.Duration, lacks bool) {
	switch {
	case to == Left && m.alone:
		return m.tryAlone(t, now, patience), false
	case to == Left && !t.departure.IsZero() && m.isLate(t.departure, now):
		if t.departure.Equal(m.last) {
			m.lost = m.end
			m.state.takeBack(m.lost, m.time(), m.limits)
		}
		t.departure = time.Time{}
	}
	if to == Left && !t.departure.IsZero() {
		return m.ours(t.departure).Sub(now), false
	}
	if !m.has(now) {
		return max(0, m.grantable()), true
	}
	next := m.ours(m.departures[0])
	switch {
	case to == Granted:
		return 0, false
	case to == Left:
		if wait = next.Sub(now); wait <= patience {
			t.departure = m.use()
		}
		return wait, false
	case m.left.Add(-longestWait).After(next): // those that wait on their connections go first
		next = m.left.Add(-longestWait)
	}
	if wait = next.Sub(now); wait <= 0 && to == Departed {
		if departure := m.use(); !m.alone {
			t.departure = departure
		}
	}
	return wait, false
}

// tryAlone is how long a request waits on its connection where no other process sends: until it has its
// distance from the one that left before.
func (m *Meter) tryAlone(t *Ticket, now time.Time, patience time.Duration) time.Duration {
	if t.departure.IsZero() || now.After(t.departure.Add(margin/2)) {
		due := m.left.Add(m.state.spacing(m.time(), m.limits))
		if due.Before(now) {
			due = now
		}
		if due.Sub(now) > patience {
			return due.Sub(now)
		}
		t.departure, m.left = due, due
	}
	return t.departure.Sub(now)
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
// wait. The limiter is told; where that fails, the next request does so.
func (m *Meter) Refused(ctx context.Context, r Refusal) {
	m.mu.Lock()
	if r.sent = m.recent.perSecond(m.now()); !m.alone { // the others send too
		r.sent = max(r.sent, m.rate())
	}
	m.state.refused(m.time(), r, m.limits)
	m.news, m.good, m.departures = append(m.news, r), 0, nil // departures at the rate before are lost
	m.mu.Unlock()
	_ = m.consult(context.WithoutCancel(ctx), false, answersWithin)
}

// Accepted raises the rate after any other answer.
func (m *Meter) Accepted() {
	m.mu.Lock()
	if m.state.Rate > 0 {
		m.good++
	}
	m.mu.Unlock()
	if m.alone { // with others, the limiter is told when it is asked for departures
		_ = m.consult(context.Background(), false, answersWithin)
	}
}

// PauseEnd returns when the last pause ends or has ended, by the clock of all that share it;
// over is false before that. It is zero, and over, when there was none.
func (m *Meter) PauseEnd() (end time.Time, over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.PausedUntil, !m.state.PausedUntil.After(m.time())
}

// Waiting says why the service asks to wait and until when, in one line without personal data; "" when it
// does not.
func (m *Meter) Waiting() (reason string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pause := m.state.PausedUntil.Sub(m.time()); pause > 0 {
		return m.state.PauseReason, m.now().Add(pause)
	}
	return "", time.Time{}
}
