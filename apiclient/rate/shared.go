package rate

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	// freshFor is how long a process goes by what it has read of the state: how late it
	// may learn of a pause that another process was asked for.
	freshFor = 250 * time.Millisecond
	// answersWithin is how long a process waits for the limiter's answer.
	answersWithin = 5 * time.Second
)

// sharing is a process's part of a rate that several processes share. Its fields, but for
// the first two, are guarded by Meter.mu.
type sharing struct {
	limiter Limiter
	talk    chan struct{} // has room for one: who asks the limiter

	clock clock
	asked time.Time   // by the process's clock: when the state was known last; zero for never
	slice []time.Time // departures that were given to this process
	last  grant       // what the last slice was

	lacking time.Time     // since when this process needs a departure; zero for not
	share   time.Duration // time between two departures of this process, as others have left it

	// What the limiter is not told yet.
	news []Refusal
	good int // good answers
}

func newSharing(limiter Limiter, now time.Time) *sharing {
	return &sharing{limiter: limiter, talk: make(chan struct{}, 1), clock: clock{anchor: now}}
}

// grant is the last slice of departures that a process was given.
type grant struct {
	before, after time.Time   // State.Last as it was, and as the slice left it
	used          []time.Time // departures by which requests leave or have left
	uncertainty   time.Duration
}

// takeBack takes the departures back that were not used, where no process was given any
// since. A request that lost its departure has another one soon then, also at a low rate.
func (g grant) takeBack(s *State) {
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

// has reports whether there is a departure that can still be used. One that has passed
// is lost: used late, it would be too close to those of others.
func (s *sharing) has(now time.Time) bool {
	s.slice = slices.DeleteFunc(s.slice, func(at time.Time) bool { return now.After(at.Add(lateness)) })
	return len(s.slice) > 0
}

// use uses a departure up, and returns it; none is needed where there is no rate.
func (s *sharing) use() time.Time {
	if len(s.slice) == 0 {
		return time.Time{}
	}
	at := s.slice[0]
	s.slice = s.slice[1:]
	s.last.used = append(s.last.used, at)
	return at
}

// lose notes that no request leaves by a departure that was used up.
func (s *sharing) lose(at time.Time) {
	s.last.used = slices.DeleteFunc(s.last.used, at.Equal)
}

// refused notes what the limiter must be told. Departures at the rate before are lost.
func (s *sharing) refused(r Refusal) {
	s.news, s.good, s.slice = append(s.news, r), 0, nil
}

// take takes departures, and what is to be known of them.
func (s *sharing) take(departures []time.Time, of grant, now time.Time) {
	if len(departures) == 0 {
		return
	}
	s.slice, s.last = departures, of
	if !s.lacking.IsZero() {
		n := time.Duration(len(departures))
		s.share = (now.Sub(s.lacking) + departures[n-1].Sub(s.clock.time(now))) / n
	}
	s.lacking = time.Time{}
}

// Consult sees that the process knows the shared state as it was a moment ago, that
// the limiter knows what it has to be told, and, where want is not 0 and a request needs
// one, takes about as many departures when none are left. It does nothing where nothing is
// shared. The error means that nothing may leave: ctx has ended, or the limiter does not
// answer.
func (m *Meter) Consult(ctx context.Context, want int) error {
	if m.shared == nil {
		return nil
	}
	if _, ask := m.wants(want); !ask {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	select {
	case m.shared.talk <- struct{}{}:
		defer func() { <-m.shared.talk }()
	case <-limited.Done():
		return unanswered(ctx, limited.Err())
	}
	n, ask := m.wants(want) // another request may have asked meanwhile
	if !ask {
		return nil
	}
	if err := m.ask(limited, n); err != nil {
		return unanswered(ctx, err)
	}
	return nil
}

// unanswered is why the limiter has given no answer.
func unanswered(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
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
	s, now, shared := m.shared, m.now(), m.time()
	if slept(s.asked, now) {
		s.slice, s.asked = nil, time.Time{}
	}
	if want > 0 && m.needsDeparture(shared) && !m.state.PausedUntil.After(shared) && !m.next(shared).After(shared) {
		if n = max(want, 2*len(s.last.used)); s.lacking.IsZero() {
			s.lacking = now
		}
	}
	return n, n > 0 || len(s.news) > 0 || s.asked.IsZero() || now.Sub(s.asked) >= freshFor
}

// slept reports whether the machine has slept since then, or its clock was set: the
// process's own measure of time does not go on while it sleeps.
func slept(since, now time.Time) bool {
	return !since.IsZero() && (now.Round(0).Sub(since.Round(0))-now.Sub(since)).Abs() > lateness
}

// ask reads the shared state and changes it: it tells the limiter the news and takes n
// departures.
func (m *Meter) ask(ctx context.Context, n int) error {
	s := m.shared
	m.mu.Lock()
	news, good, cuts, before, last := slices.Clone(s.news), s.good, m.state.Cuts, s.clock, s.last
	last.used = slices.Clone(last.used)
	clock := before
	m.mu.Unlock()
	var state State
	var departures []time.Time
	var of grant
	var asked time.Time
	var jumped bool
	sent := m.now()
	take := func(row *State, now time.Time) {
		clock, asked = before, m.now()
		jumped = clock.learn(sent, asked, now)
		row.resume(now, m.limits)
		for i := 0; i < good && row.Cuts == cuts; i++ {
			row.accepted(now, m.limits)
		}
		for _, r := range news {
			row.refused(now, r, m.limits)
		}
		if n > 0 && !jumped {
			last.takeBack(row)
		}
		of = grant{before: row.Last, uncertainty: clock.uncertainty()}
		departures = row.give(now, m.limits, n, of.uncertainty)
		of.after = row.Last
		state = *row
	}
	var err error
	if n == 0 && len(news) == 0 {
		good = 0
		var now time.Time
		if state, now, err = s.limiter.Read(ctx); err == nil {
			take(&state, now)
		}
	} else {
		err = s.limiter.Change(ctx, take)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.news = s.news[len(news):]; len(s.news) > 0 {
		return nil // the state here has the news already, and consult comes again
	}
	if jumped || state.Cuts != m.state.Cuts {
		s.slice, s.good = nil, 0
	}
	s.good = max(0, s.good-good)
	m.state, s.clock, s.asked = state, clock, asked
	s.take(departures, of, asked)
	return nil
}
