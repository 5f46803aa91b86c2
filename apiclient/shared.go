package apiclient

import (
	"context"
	"errors"
	"slices"
	"time"

	"claimsheet/mapping/problem"
)

// SharedLimiter keeps the RateState of one service for all processes that send to it.
// Its times are those of a clock that all processes share, so that their own clocks may
// be wrong.
//
// The text of an error is one line that is safe to log; a problem.Problem may have a hint.
type SharedLimiter interface {
	// Read returns the state and the time.
	Read(ctx context.Context) (RateState, time.Time, error)
	// Change calls change with the state and the time, and keeps what it makes of the
	// state. No other process changes the state meanwhile. Where it is not known whether
	// that was kept, change may be called again, with the state as it is then.
	Change(ctx context.Context, change func(s *RateState, now time.Time)) error
}

const (
	// freshFor is how long a process goes by what it has read of the state: how late it
	// may learn of a pause that another process was asked for.
	freshFor = 250 * time.Millisecond
	// answersWithin is how long a process waits for the limiter's answer.
	answersWithin = 5 * time.Second
	// drift is by how much of the time that passes two clocks may come apart.
	drift = 1.0 / 1000
)

// sharing is a process's part of a rate that several processes share. Its fields, but for
// the first two, are guarded by pace.mu.
type sharing struct {
	limiter SharedLimiter
	talk    chan struct{} // has room for one: who asks the limiter

	clock sharedClock
	asked time.Time   // by the process's clock: when the state was known last; zero for never
	slice []time.Time // departures that were given to this process
	used  int         // departures of the last slice that were used

	lacking time.Time     // since when this process needs a departure; zero for not
	share   time.Duration // time between two departures of this process, as others have left it

	// What the limiter is not told yet.
	news []refusal
	good int // good answers
}

func newSharing(limiter SharedLimiter, now time.Time) *sharing {
	return &sharing{limiter: limiter, talk: make(chan struct{}, 1), clock: sharedClock{anchor: now}}
}

// has reports whether there is a departure that can still be used. One that has passed
// is lost: used late, it would be too close to those of others.
func (s *sharing) has(now time.Time) bool {
	s.slice = slices.DeleteFunc(s.slice, func(at time.Time) bool { return now.After(at.Add(lateness)) })
	return len(s.slice) > 0
}

// use uses a departure up; none is needed where there is no rate.
func (s *sharing) use() {
	if len(s.slice) > 0 {
		s.slice = s.slice[1:]
		s.used++
	}
}

// refused notes what the limiter must be told. Departures at the rate before are lost.
func (s *sharing) refused(r refusal) {
	s.news, s.good, s.slice = append(s.news, r), 0, nil
}

// given takes departures.
func (s *sharing) given(departures []time.Time, now time.Time) {
	if len(departures) == 0 {
		return
	}
	s.slice, s.used = departures, 0
	if !s.lacking.IsZero() {
		n := time.Duration(len(departures))
		s.share = (now.Sub(s.lacking) + departures[n-1].Sub(s.clock.time(now))) / n
	}
	s.lacking = time.Time{}
}

// consult sees that the process knows the shared state as it was a moment ago, that
// the limiter knows what it has to be told, and, if it is to, takes departures when none
// are left. It does nothing where nothing is shared.
func (p *pace) consult(ctx context.Context, take bool) error {
	if p.shared == nil {
		return nil
	}
	if _, ask := p.wants(take); !ask {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	select {
	case p.shared.talk <- struct{}{}:
		defer func() { <-p.shared.talk }()
	case <-limited.Done():
		return unasked(ctx, limited.Err())
	}
	n, ask := p.wants(take) // another request may have asked meanwhile
	if !ask {
		return nil
	}
	if err := p.ask(limited, n); err != nil {
		return unasked(ctx, err)
	}
	return nil
}

// tell tells the limiter what it does not know yet. Where that fails, the next request
// does so before it leaves.
func (p *pace) tell(ctx context.Context) {
	_ = p.consult(context.WithoutCancel(ctx), false)
}

// wants reports whether the limiter must be asked, and for how many departures.
func (p *pace) wants(take bool) (n int, ask bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now, shared := p.shared, p.now(), p.clock()
	if slept(s.asked, now) {
		s.slice, s.asked = nil, time.Time{}
	}
	if take && p.needsDeparture(shared) && !p.state.PausedUntil.After(shared) && !p.next(shared).After(shared) {
		if n = max(int(p.waiting.Load())+1, 2*s.used); s.lacking.IsZero() {
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
func (p *pace) ask(ctx context.Context, n int) error {
	s := p.shared
	p.mu.Lock()
	news, good, cuts, before := slices.Clone(s.news), s.good, p.state.Cuts, s.clock
	p.mu.Unlock()
	var state RateState
	var clock sharedClock
	var departures []time.Time
	var asked time.Time
	var jumped bool
	sent := p.now()
	take := func(row *RateState, now time.Time) {
		clock, asked = before, p.now()
		jumped = clock.learn(sent, asked, now)
		row.resume(now, p.limits)
		for i := 0; i < good && row.Cuts == cuts; i++ {
			row.accepted(now, p.limits)
		}
		for _, r := range news {
			row.refused(now, r, p.limits)
		}
		departures = row.give(now, p.limits, n, clock.doubt())
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.news = s.news[len(news):]; len(s.news) > 0 {
		return nil // the state here has the news already, and consult comes again
	}
	if jumped || state.Cuts != p.state.Cuts {
		s.slice, s.good = nil, 0
	}
	s.good = max(0, s.good-good)
	p.state, s.clock, s.asked = state, clock, asked
	s.given(departures, asked)
	return nil
}

// unasked is the failure of a request that may not leave because the limiter did not
// answer.
func unasked(ctx context.Context, err error) *Failure {
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	said, hint := err.Error(), ""
	if errors.Is(err, context.DeadlineExceeded) {
		said = "there is no answer within " + answersWithin.String()
	}
	if p, ok := errors.AsType[problem.Problem](err); ok {
		said, hint = p.Message, p.Hint
	}
	return &Failure{NotSent: true, Stop: true, Reason: "nothing is sent while the rate of all processes is not known: " + said, Hint: hint, Err: err}
}

// sharedClock tells the time of the shared clock by the process's own, as readings show
// it. Of the process's clock only what passes counts, not what it shows.
type sharedClock struct {
	anchor   time.Time     // by the process's clock
	epoch    time.Time     // by the shared clock; zero before the first reading
	least    time.Duration // what has passed since anchor is ahead of what has passed since epoch by that at least,
	most     time.Duration // and by that at most
	measured time.Time
}

// learn takes a reading of the shared clock that was made between two moments of the
// process's. jumped says that one of the clocks was set since the last one.
func (c *sharedClock) learn(sent, got, shared time.Time) (jumped bool) {
	if c.epoch.IsZero() {
		c.epoch = shared
		c.least, c.most, c.measured = sent.Sub(c.anchor), got.Sub(c.anchor), got
		return false
	}
	passed := shared.Sub(c.epoch)
	least, most := sent.Sub(c.anchor)-passed, got.Sub(c.anchor)-passed
	apart := time.Duration(drift * float64(got.Sub(c.measured)))
	c.measured = got
	c.least, c.most = max(c.least-apart, least), min(c.most+apart, most)
	if c.least > c.most {
		c.least, c.most = least, most
		return true
	}
	return false
}

// time is the earliest that the shared clock can show at a moment of the process's.
func (c *sharedClock) time(now time.Time) time.Time {
	return c.epoch.Add(now.Sub(c.anchor) - c.most)
}

// doubt is by how much later it can be.
func (c *sharedClock) doubt() time.Duration { return c.most - c.least }
