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

// own is the Limiter of a process that shares nothing.
type own struct {
	now   func() time.Time
	mu    sync.Mutex
	state State
}

func (o *own) Read(context.Context) (State, time.Time, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state, o.now(), nil
}

func (o *own) Change(_ context.Context, change func(*State, time.Time)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.state, o.now())
	return nil
}

const (
	// maxAge is how long the state that was read last is used: how late a process may learn of
	// a pause that another process was asked for.
	maxAge = 250 * time.Millisecond
	// answersWithin is how long a process waits for the limiter's answer.
	answersWithin = 5 * time.Second
)

// consult sees that the process knows the state as it was a moment ago, that the limiter knows
// what it has to be told, and, with take, that the process has departures where a request needs one.
// The error means that nothing may leave.
func (m *Meter) consult(ctx context.Context, take bool, within time.Duration) error {
	if _, ask := m.wants(take); !ask {
		return nil
	}
	if m.alone { // its own state answers at once
		within = answersWithin
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var err error
	select {
	case m.talk <- struct{}{}:
		if n, ask := m.wants(take); ask { // another request may have asked meanwhile
			err = m.ask(limited, n)
		}
		<-m.talk
	case <-limited.Done():
		err = limited.Err()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil && limited.Err() != nil && within < answersWithin:
		return ErrHeldBack
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("there is no answer within %v: %w", answersWithin, err)
	}
	return err
}

// wants reports whether the limiter must be asked, and for how many departures: for more where those of
// the last time were used.
func (m *Meter) wants(take bool) (n int, ask bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if take && m.rate() > 0 && !m.has(now) && !m.state.PausedUntil.After(m.time()) && m.grantable() <= 0 {
		if n = max(1, 2*m.used); m.alone {
			n = 1
		}
		if m.lacking.IsZero() {
			m.lacking = now
		}
	}
	stale := m.read.IsZero() || now.Sub(m.read) >= maxAge
	return n, n > 0 || len(m.news) > 0 || stale || m.alone && m.good > 0
}

// ask tells the limiter the news, takes n departures, and learns the state.
func (m *Meter) ask(ctx context.Context, n int) error {
	m.mu.Lock()
	news, good, cuts, lost := slices.Clone(m.news), m.good, m.state.Cuts, m.lost
	m.mu.Unlock()
	var state State
	var read, theirs time.Time
	var given []time.Time
	sent := m.now()
	take := func(row *State, now time.Time) {
		row.resume(now)
		for i := 0; i < good && row.Cuts == cuts; i++ {
			row.accepted(now, m.limits)
		}
		for _, r := range news {
			row.refused(now, r, m.limits)
		}
		if n > 0 {
			row.takeBack(lost, now, m.limits)
		}
		read, theirs = m.now(), now
		given = row.give(now, m.limits, n, read.Sub(sent))
		state = *row
	}
	var err error
	if n == 0 && len(news) == 0 && !m.alone {
		good = 0
		var now time.Time
		if state, now, err = m.limiter.Read(ctx); err == nil {
			take(&state, now)
		}
	} else {
		err = m.limiter.Change(ctx, take)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.news = m.news[len(news):]; len(m.news) > 0 {
		return nil // the state here has the news already, and consult comes again
	}
	if m.good = max(0, m.good-good); state.Cuts != m.state.Cuts {
		m.departures, m.good = nil, 0
	}
	m.state, m.read, m.shown = state, read, theirs
	if len(given) > 0 {
		m.departures, m.used, m.last, m.end = given, 0, given[len(given)-1], state.Last
		if !m.lacking.IsZero() {
			m.share = m.ours(m.last).Sub(m.lacking) / time.Duration(len(given))
		}
		m.lacking, m.lost = time.Time{}, time.Time{}
	}
	return nil
}
