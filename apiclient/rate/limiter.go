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
	// freshFor is how long a process goes by what it has read of the state: how late it
	// may learn of a pause that another process was asked for.
	freshFor = 250 * time.Millisecond
	// answersWithin is how long a process waits for the limiter's answer.
	answersWithin = 5 * time.Second
)

// reading is what the limiter's clock has shown at a moment of the process's, at the latest. Of
// both clocks only what passes since counts.
type reading struct{ at, shown time.Time }

// theirs is the earliest that the limiter's clock can show at a moment of the process's.
func (r reading) theirs(ours time.Time) time.Time { return r.shown.Add(ours.Sub(r.at)) }

// ours is the latest that the process's clock can show at a moment of the limiter's.
func (r reading) ours(theirs time.Time) time.Time { return r.at.Add(theirs.Sub(r.shown)) }

// grant is the last slice of departures that this process was given. Its times are the
// limiter's.
type grant struct {
	reading
	slice, used   []time.Time   // those that are left, and those by which requests leave or have left
	before, after time.Time     // State.Last as it was, and as the slice left it
	uncertainty   time.Duration // by how much earlier than by the reading a departure may be
}

// has reports whether there is a departure that can still be used. One that has passed
// is lost: used late, it would be too close to those of others.
func (g *grant) has(now time.Time) bool {
	g.slice = slices.DeleteFunc(g.slice, func(at time.Time) bool { return now.After(g.ours(at).Add(lateness)) })
	return len(g.slice) > 0
}

// takeBack takes the departures back that were not used, where no process was given any
// since. A request that lost its departure has another one soon then, also at a low rate.
func (g *grant) takeBack(s *State) {
	if g.after.IsZero() || s.Last.UnixMicro() != g.after.UnixMicro() {
		return
	}
	s.Last = g.before
	for _, at := range g.used {
		if at = at.Add(g.uncertainty); at.After(s.Last) {
			s.Last = at
		}
	}
}

// Consult sees that the process knows the state as it was a moment ago, that
// the limiter knows what it has to be told, and, where want is not 0 and a request needs
// one, takes about as many departures when none are left. The error means that nothing may leave:
// ctx has ended, or the limiter does not answer.
func (m *Meter) Consult(ctx context.Context, want int) error {
	if _, ask := m.wants(want); !ask {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	var err error
	select {
	case m.talk <- struct{}{}:
		if n, ask := m.wants(want); ask { // another request may have asked meanwhile
			err = m.ask(limited, n)
		}
		<-m.talk
	case <-limited.Done():
		err = limited.Err()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("there is no answer within %v: %w", answersWithin, err)
	}
	return err
}

// wants reports whether the limiter must be asked, and for how many departures.
func (m *Meter) wants(want int) (n int, ask bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, theirs := m.now(), m.time()
	stale := m.clock.at.IsZero() || now.Sub(m.clock.at) >= freshFor
	if slept(m.clock.at, now) {
		m.grant.slice, stale = nil, true
	}
	if want > 0 && m.needsDeparture() && !m.state.PausedUntil.After(theirs) && !m.state.next(theirs, m.limits).Add(-ahead).After(theirs) {
		if n = max(want, 2*len(m.grant.used)); m.alone {
			n = 1
		}
		if m.lacking.IsZero() {
			m.lacking = now
		}
	}
	return n, n > 0 || len(m.news) > 0 || stale || m.alone && m.good > 0
}

// slept reports whether the machine has slept since then, or its clock was set: the
// process's own measure of time does not go on while it sleeps.
func slept(since, now time.Time) bool {
	return !since.IsZero() && (now.Round(0).Sub(since.Round(0))-now.Sub(since)).Abs() > lateness
}

// ask tells the limiter the news, takes n departures, and learns the state.
func (m *Meter) ask(ctx context.Context, n int) error {
	m.mu.Lock()
	news, good, cuts, last := slices.Clone(m.news), m.good, m.state.Cuts, m.grant
	last.used = slices.Clone(last.used)
	m.mu.Unlock()
	var state State
	var given grant
	sent := m.now()
	take := func(row *State, now time.Time) {
		row.resume(now, m.limits)
		for i := 0; i < good && row.Cuts == cuts; i++ {
			row.accepted(now, m.limits)
		}
		for _, r := range news {
			row.refused(now, r, m.limits)
		}
		if n > 0 {
			last.takeBack(row)
		}
		given = grant{reading: reading{m.now(), now}, before: row.Last}
		given.uncertainty = given.at.Sub(sent)
		given.slice = row.give(now, m.limits, n, given.uncertainty)
		given.after = row.Last
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
		return nil // the state here has the news already, and Consult comes again
	}
	if m.good = max(0, m.good-good); state.Cuts != m.state.Cuts {
		m.grant.slice, m.good = nil, 0
	}
	m.state, m.clock = state, given.reading
	if count := len(given.slice); count > 0 {
		if m.grant = given; !m.lacking.IsZero() {
			m.share = given.ours(given.slice[count-1]).Sub(m.lacking) / time.Duration(count)
		}
		m.lacking = time.Time{}
	}
	return nil
}
