package rate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limiter keeps the State of one service for all processes that send to it.
// Its times are those of a clock that all processes share, so that their own clocks may
// be wrong.
//
// The text of an error is one line that is safe to log; a problem.Problem may have a hint.
type Limiter interface {
	// Read returns the state and the time.
	Read(ctx context.Context) (State, time.Time, error)
	// Change calls change with the state and the time, and keeps what it makes of the
	// state. No other process changes the state meanwhile. Where it is not known whether
	// that was kept, change may be called again, with the state as it is then.
	Change(ctx context.Context, change func(s *State, now time.Time)) error
}

const (
	// maxAge is how long the state that was read last is used: how late a process may learn of
	// a pause that another process was asked for.
	maxAge = 250 * time.Millisecond
	// answersWithin is how long a process waits for the limiter's answer.
	answersWithin = 5 * time.Second
	// forever is longer than any request waits.
	forever = 365 * 24 * time.Hour
)

// Meter says when the requests of a client may leave. It is safe for concurrent use.
//
// Under a rate a request waits twice: in a queue, until its departure is near enough to open a
// connection, and on the connection, for the departure itself. So no second at the service sees
// more requests than the rate, however long connections take to open. The distance of departures is
// counted from the last one and not from a timetable. Where other processes send to the same
// service, departures come from their Limiter.
type Meter struct {
	now     func() time.Time
	limits  limits
	limiter Limiter       // nil when no other process sends
	queue   chan struct{} // has room for one: the request that enters next
	exit    chan struct{} // has room for one: the request that leaves next
	asking  chan struct{} // has room for one: who asks the limiter

	mu      sync.Mutex
	state   State     // as it was read last; its times are the limiter's
	read    time.Time // when that was, at the latest; zero for never
	shown   time.Time // what the limiter's clock showed then
	entered int       // requests that have entered, and have not left
	recent  departures

	// Of the limiter only:
	granted []time.Time // departures that this process has and has not used
	want    int         // how many it takes next
	news    []Refusal   // that the limiter is not told yet
	good    int         // good answers that the limiter is not told yet
}

// NewMeter makes a Meter for a process whose clock is now. A ceiling is in requests per second; 0 is
// none. limiter is nil when no other process sends to the service.
func NewMeter(ceiling float64, limiter Limiter, now func() time.Time) *Meter {
	m := &Meter{now: now, limits: limits{ceiling, margin}, limiter: limiter, want: 1,
		queue: make(chan struct{}, 1), exit: make(chan struct{}, 1), asking: make(chan struct{}, 1)}
	if limiter != nil {
		m.limits.margin += lateness
	}
	return m
}

// Ticket is one request's way past a Meter. It is for one goroutine.
type Ticket struct {
	Impatient bool      // it does not leave when a pause has begun since it entered
	Ahead     bool      // it goes ahead of the queue
	Cuts      int64     // of the rate until the request left
	entered   bool      // and not left
	pause     time.Time // the end of the last pause before it entered
}

// HeldBack is the error of an impatient request after a pause has begun, and of any request that would have to wait
// for too long on its connection. It says why, in one line without personal data.
type HeldBack string

// Error returns the reason.
func (h HeldBack) Error() string { return string(h) }

const tooLate HeldBack = "its connection was opened too late for the rate"

// Enter waits until there is no pause and, under a rate, until the request's departure is near. A request that
// has entered and then waited for something else enters again, without the queue: its departure may be later now.
// The error means that nothing may leave: ctx has ended, or the limiter does not answer; or it is the HeldBack of an
// impatient request that enters again.
func (m *Meter) Enter(ctx context.Context, t *Ticket) error {
	if t.entered || t.Ahead {
		return m.await(ctx, t, false, forever)
	}
	return m.inTurn(ctx, m.queue, forever, func(time.Duration) error { return m.await(ctx, t, false, forever) })
}

// Leave waits until the request may leave on its connection, but no longer than patience: then the error
// is a HeldBack. Other errors are those of Enter.
func (m *Meter) Leave(ctx context.Context, t *Ticket, patience time.Duration) error {
	return m.inTurn(ctx, m.exit, patience, func(rest time.Duration) error { return m.await(ctx, t, true, rest) })
}

// inTurn lets one request after the other do something, unless none has to wait.
func (m *Meter) inTurn(ctx context.Context, turn chan struct{}, patience time.Duration, do func(rest time.Duration) error) error {
	if !m.Queues() {
		return do(patience)
	}
	end := time.NewTimer(patience)
	defer end.Stop()
	began := time.Now()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
		return do(patience - time.Since(began))
	case <-end.C:
		return tooLate
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release takes a request back that does not leave.
func (m *Meter) Release(t *Ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left(t)
}

// await waits until a request may enter or, where leave is set, leave.
func (m *Meter) await(ctx context.Context, t *Ticket, leave bool, patience time.Duration) error {
	for end := time.Now().Add(patience); ; patience = time.Until(end) {
		wait, ask, held := m.try(t, leave)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case ask:
			if err := m.ask(ctx, min(answersWithin, patience)); err != nil {
				return err
			}
			continue
		case wait <= 0:
			return nil
		case wait > patience:
			return held
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// try lets a request on if it need not wait. Otherwise it is to try again after a while, or as soon as the limiter
// was asked. held is the error if that is too long.
func (m *Meter) try(t *Ticket, leave bool) (wait time.Duration, ask bool, held HeldBack) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isStale() {
		return 0, true, ""
	}
	now, held := m.time(), HeldBack(m.state.PauseReason)
	if t.Impatient && t.entered && !t.pause.Equal(m.state.PausedUntil) {
		return forever + 1, false, held
	}
	if pause := m.state.PausedUntil.Sub(now); pause > 0 {
		return pause, false, held
	}
	if m.state.perSecond(now, m.limits) > 0 {
		wait, ask = m.tryRate(t, leave, now)
	}
	switch {
	case wait > 0 || ask:
	case leave:
		m.left(t)
		m.recent.add(m.now(), 1)
		t.Cuts = m.state.Cuts
	case !t.entered:
		t.entered, t.pause = true, m.state.PausedUntil
		m.entered++
	}
	return wait, ask, tooLate
}

func (m *Meter) tryRate(t *Ticket, leave bool, now time.Time) (wait time.Duration, ask bool) {
	before := 0 // requests that leave before this one
	if !leave && !t.entered && !t.Ahead {
		before = m.entered
	}
	due, ok := m.due(now, before)
	if !ok {
		wait = m.state.next(now, m.limits).Sub(now) - Lead
		return wait, wait <= 0
	}
	switch wait = due.Sub(now); {
	case !leave:
		wait -= Lead
	case wait > 0:
	case m.limiter == nil:
		m.state.depart(now, m.limits)
	default:
		m.granted = m.granted[1:]
	}
	return wait, false
}

// due returns when a request may leave before which some others do. ok is false when the limiter has to be asked.
func (m *Meter) due(now time.Time, others int) (at time.Time, ok bool) {
	if m.limiter == nil {
		return m.state.next(now, m.limits).Add(time.Duration(others) * m.state.spacing(now, m.limits)), true
	}
	for len(m.granted) > 0 && isLate(m.granted[0], now) { // used now it would be too close to others
		m.granted, m.want = m.granted[1:], 1
	}
	if others < len(m.granted) {
		return m.granted[others], true
	}
	return time.Time{}, false
}

// The caller of the functions below holds mu.

func (m *Meter) left(t *Ticket) {
	if t.entered {
		t.entered = false
		m.entered--
	}
}

// time is what the limiter's clock shows at least. Of both clocks only what passes since the last reading counts.
func (m *Meter) time() time.Time {
	if m.limiter == nil {
		return m.now()
	}
	return m.shown.Add(m.now().Sub(m.read))
}

// isStale reports whether the state must be read before anything leaves, or the limiter be told something.
func (m *Meter) isStale() bool {
	return m.limiter != nil && (len(m.news) > 0 || m.read.IsZero() || m.now().Sub(m.read) >= maxAge)
}

// ask tells the limiter the news and learns the state, or takes departures if the state is known.
func (m *Meter) ask(ctx context.Context, within time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	m.mu.Lock()
	last := m.read
	m.mu.Unlock()
	var err error
	select {
	case m.asking <- struct{}{}:
		err = m.exchange(limited, last)
		<-m.asking
	case <-limited.Done():
		err = limited.Err()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil && limited.Err() != nil && within < answersWithin:
		return tooLate
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("there is no answer within %v: %w", answersWithin, err)
	}
	return err
}

// exchange is ask, unless another request has asked since the last reading.
func (m *Meter) exchange(ctx context.Context, last time.Time) error {
	m.mu.Lock()
	stale := m.isStale()
	if !stale && m.read != last {
		m.mu.Unlock()
		return nil
	}
	news, good, cuts, n := slices.Clone(m.news), m.good, m.state.Cuts, 0
	if !stale {
		n = m.want
	}
	m.mu.Unlock()
	sent := m.now()
	var state State
	var read, shown time.Time
	var granted []time.Time
	change := func(s *State, now time.Time) {
		read, shown = m.now(), now
		s.resume(now)
		for i := 0; i < good && s.Cuts == cuts; i++ {
			s.accepted(now, m.limits)
		}
		for _, r := range news {
			s.refused(now, r, m.limits)
		}
		granted = s.give(now, m.limits, n, read.Sub(sent))
		state = *s
	}
	if n == 0 && len(news) == 0 {
		good = 0
		kept, now, err := m.limiter.Read(ctx)
		if err != nil {
			return err
		}
		change(&kept, now)
	} else if err := m.limiter.Change(ctx, change); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.news = m.news[len(news):]; len(m.news) > 0 {
		return nil // the state here has the rest of the news already
	}
	if m.good -= min(good, m.good); state.Cuts != m.state.Cuts {
		m.granted, m.good = nil, 0
	}
	m.state, m.read, m.shown = state, read, shown
	if n := len(granted); n > 0 {
		m.granted, m.want = append(m.granted, granted...), 2*n
	}
	return nil
}

// Refused begins a pause and halves the rate, after an answer in which the service asks to
// wait. The limiter is told; where that fails, the next request does so.
func (m *Meter) Refused(ctx context.Context, r Refusal) {
	m.mu.Lock()
	r.sent = m.recent.add(m.now(), 0)
	now := m.time()
	if m.limiter != nil { // the others send too
		r.sent = max(r.sent, m.state.perSecond(now, m.limits))
		m.news, m.good, m.granted = append(m.news, r), 0, nil // departures at the rate before are lost
	}
	m.state.refused(now, r, m.limits)
	m.mu.Unlock()
	if m.limiter != nil {
		_ = m.ask(context.WithoutCancel(ctx), answersWithin)
	}
}

// Accepted raises the rate after any other answer. The limiter is told when it is asked for departures.
func (m *Meter) Accepted() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limiter == nil && m.state.Rate > 0 {
		m.state.accepted(m.now(), m.limits)
	} else if m.state.Rate > 0 {
		m.good++
	}
}

// Queues reports whether Enter may wait: there is a rate or a pause, or the limiter must be asked.
func (m *Meter) Queues() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.time()
	return m.isStale() || m.state.PausedUntil.After(now) || m.state.perSecond(now, m.limits) > 0
}

// Spacing returns the time between two departures at the present rate; 0 for no rate.
func (m *Meter) Spacing() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.spacing(m.time(), m.limits)
}

// PauseEnd returns when the last pause ends or has ended, by the clock of all that share it;
// over is false before that. It is zero, and over, when there was none.
func (m *Meter) PauseEnd() (end time.Time, over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.PausedUntil, !m.state.PausedUntil.After(m.time())
}

// Waiting says why the service asks to wait and until when, in one line without personal data; "" when it does not.
func (m *Meter) Waiting() (reason string, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pause := m.state.PausedUntil.Sub(m.time()); pause > 0 {
		return m.state.PauseReason, m.now().Add(pause)
	}
	return "", time.Time{}
}
