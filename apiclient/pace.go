package apiclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"claimsheet/mapping/problem"
)

// Limiter keeps how fast requests may leave to one service, and whether it asks to wait, for all processes that send
// to it. What the state means is the Client's business; that of a service to which nothing was sent is nil. Its times
// are those of a clock that all processes share, so that their own clocks may be wrong.
//
// The text of an error is one line that is safe to log; a problem.Problem may have a hint.
type Limiter interface {
	// Change calls change with the state and the time, and keeps the state that it returns; nil leaves the state as it
	// is. No other process changes the state meanwhile. Where it is not known whether the state was kept, change may be
	// called again, with the state as it is then.
	Change(ctx context.Context, change func(state []byte, now time.Time) []byte) error
}

const (
	// maxAge is how long the state that was read last is used: how late a process may learn of
	// a pause that another process was asked for.
	maxAge = 250 * time.Millisecond
	// answersWithin is how long a process waits for the limiter's answer.
	answersWithin = 5 * time.Second
	// maxRetryAfter limits what is read from Retry-After.
	maxRetryAfter = 365 * 24 * time.Hour
)

// pacer says when the requests of a client may leave. It is safe for concurrent use.
//
// Under a rate a request waits twice: in a queue, until its departure is near, so that what must be durable
// before it leaves is written just before that; and then for the departure itself. The distance of departures is
// counted from the last one and not from a timetable. Where other processes send to the same
// service, departures come from their Limiter.
type pacer struct {
	now     func() time.Time
	ceiling float64       // requests per second, of this process; 0 for none
	limiter Limiter       // nil when no other process sends
	queue   chan struct{} // has room for one: the request that enters next
	flight  chan struct{} // has room for the requests in flight; nil for any number
	exit    chan struct{} // has room for one: the request that leaves next
	asking  chan struct{} // has room for one: who asks the limiter

	mu      sync.Mutex
	state   rateState // as it was read last; its times are the limiter's
	read    time.Time // when that was, at the latest; zero for never
	shown   time.Time // what the limiter's clock showed then
	entered int       // requests that have entered, and have not left
	recent  departures

	// Of the limiter only:
	granted []time.Time  // departures that this process has and has not used
	want    int          // how many it takes next
	news    []busyAnswer // that the limiter is not told yet
	good    int          // good answers that the limiter is not told yet
}

// newPacer makes the pacer of a Config.
func newPacer(cfg Config) *pacer {
	p := &pacer{now: cfg.Now, ceiling: cfg.RequestsPerSecond, limiter: cfg.Limiter, want: 1,
		state: rateState{Ceiling: cfg.RequestsPerSecond, late: margin},
		queue: make(chan struct{}, 1), exit: make(chan struct{}, 1), asking: make(chan struct{}, 1)}
	if cfg.Concurrency > 0 {
		p.flight = make(chan struct{}, cfg.Concurrency)
	}
	if cfg.Limiter != nil {
		p.state.late += lateness
	}
	return p
}

// Slot is one request's way to the service; Reserve returns it for one CreateReserved. A Slot is for one goroutine.
//
// A request enters, takes a place among those in flight, and leaves. The first and the last
// of these wait for the rate and for the end of a pause.
type Slot struct {
	pacer     *pacer
	impatient bool      // it does not leave after a pause has begun
	ahead     bool      // it goes ahead of the queue
	isIn      bool      // it has entered, and not left
	place     bool      // it counts among the requests in flight
	over      bool      // used or released
	failed    error     // why it could not enter when it was reserved: what rests on an earlier look-up must not leave later
	pause     time.Time // the end of the last pause before it entered
	cuts      int64     // of the rate until the request left
	waited    time.Duration
	guard     func() bool // asked last; nil for nothing to ask
}

// Reserve waits until the service does not ask to wait and, under a rate, until
// the caller's request would be among the next to leave. So what must be durable before
// a request is written just before it leaves, and not minutes earlier by every
// worker in the queue.
//
// The caller sends no other request until it has used or released the Slot. The
// error, a *Failure, means that ctx has ended. A Slot that cannot leave for another reason
// fails when it is to.
func (p *pacer) Reserve(ctx context.Context) (*Slot, error) {
	s := &Slot{pacer: p, impatient: true}
	err := p.enter(ctx, s)
	if err != nil && ctx.Err() != nil {
		s.Release()
		return nil, err
	}
	s.failed = err
	return s, nil
}

// WithSlot returns a context whose look-ups leave in a slot's place in the queue,
// until the slot is used or released. So a look-up and the request that rests on it leave one
// after the other, however many requests wait. slot may be nil.
func WithSlot(ctx context.Context, slot *Slot) context.Context {
	return context.WithValue(ctx, (*Slot)(nil), slot)
}

// slot is the Slot of a request of ctx.
func (p *pacer) slot(ctx context.Context) *Slot {
	other, _ := ctx.Value((*Slot)(nil)).(*Slot)
	return &Slot{pacer: p, ahead: other != nil && !other.over}
}

// Guard has leave asked just before the slot's request is given to the network. Where it says no, the request is not sent.
func (s *Slot) Guard(leave func() bool) { s.guard = leave }

// Release gives back what a slot has; a second time it does nothing.
func (s *Slot) Release() {
	if s == nil {
		return
	}
	s.over = true
	s.pacer.mu.Lock()
	s.pacer.noteLeft(s)
	s.pacer.mu.Unlock()
	if s.place {
		<-s.pacer.flight
	}
	s.place = false
}

// Await waits until fewer than Config.Concurrency requests are in flight, and takes
// a place among them for the slot's request. The error, a *Failure, means that ctx has
// ended; CreateReserved returns it too.
func (s *Slot) Await(ctx context.Context) error {
	if s.place || s.pacer.flight == nil {
		return nil
	}
	defer s.count(time.Now())
	select {
	case s.pacer.flight <- struct{}{}:
		s.place = true
		return nil
	case <-ctx.Done():
		return stopped(ctx)
	}
}

// enter waits until there is no pause and, under a rate, until the request's departure is near. The error is a *Failure.
func (p *pacer) enter(ctx context.Context, s *Slot) error {
	err := s.failed
	switch {
	case s.isIn || err != nil:
	case s.ahead:
		_, err = p.await(ctx, s, false)
	default:
		_, err = p.awaitInLine(ctx, s, p.queue, false)
	}
	return err
}

// leave waits until the request may leave. If the service asks to wait meanwhile, the request goes back into the queue, but
// not when it is impatient: the error, a *Failure, then has Retry AfterPause.
func (p *pacer) leave(ctx context.Context, s *Slot) error {
	held, err := p.awaitInLine(ctx, s, p.exit, true)
	for ; held != ""; held, err = p.awaitInLine(ctx, s, p.exit, true) {
		if s.impatient {
			return &Failure{NotSent: true, Retry: AfterPause, Reason: held}
		}
		s.Release()
		if err := p.enter(ctx, s); err != nil {
			return err
		}
		if err := s.Await(ctx); err != nil {
			return err
		}
	}
	if err == nil && s.guard != nil && !s.guard() {
		return unsent("it was not sent after all", nil)
	}
	return err
}

// awaitInLine is await for one request after the other, unless none has to wait.
func (p *pacer) awaitInLine(ctx context.Context, s *Slot, turn chan struct{}, leave bool) (held string, err error) {
	if p.Queues() {
		began := time.Now()
		select {
		case turn <- struct{}{}:
			s.count(began)
			defer func() { <-turn }()
		case <-ctx.Done():
			return "", stopped(ctx)
		}
	}
	return p.await(ctx, s, leave)
}

// await waits until the request may enter or, where leave is set, leave. held says why it has to enter again; "" when it has not.
func (p *pacer) await(ctx context.Context, s *Slot, leave bool) (held string, err error) {
	defer s.count(time.Now())
	for {
		wait, ask, held := p.try(s, leave)
		switch {
		case ctx.Err() != nil:
			return "", stopped(ctx)
		case ask:
			if err := p.ask(ctx); err != nil {
				return "", err
			}
			continue
		case wait <= 0:
			return held, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// count counts what was waited since a time.
func (s *Slot) count(since time.Time) { s.waited += time.Since(since) }

// try lets the request on if it need not wait. Otherwise it is to try again after a while, or as soon as the limiter
// was asked; or, when it is to leave and a pause has begun, held says why not.
func (p *pacer) try(s *Slot, leave bool) (wait time.Duration, ask bool, held string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isStale() {
		return 0, true, ""
	}
	now := p.limiterNow()
	pause := p.state.PausedUntil.Sub(now)
	switch {
	case leave && (pause > 0 || s.impatient && !s.pause.Equal(p.state.PausedUntil)):
		return 0, false, cmp.Or(p.state.PauseReason, "the service asks to wait")
	case pause > 0:
		return pause, false, ""
	}
	if p.state.perSecond() > 0 {
		wait, ask = p.tryRate(s, leave, now)
	}
	switch {
	case wait > 0 || ask:
	case leave:
		p.noteLeft(s)
		p.recent.add(p.now(), 1)
		s.cuts = p.state.Cuts
	default:
		s.isIn, s.pause = true, p.state.PausedUntil
		p.entered++
	}
	return wait, ask, ""
}

func (p *pacer) tryRate(s *Slot, leave bool, now time.Time) (wait time.Duration, ask bool) {
	before := 0 // requests that leave before this one
	if !leave && !s.ahead {
		before = p.entered
	}
	due, ok := p.due(now, before)
	if !ok {
		wait = p.state.next(now).Sub(now) - lead
		return wait, wait <= 0
	}
	switch wait = due.Sub(now); {
	case !leave:
		wait -= lead
	case wait > 0:
	case p.limiter == nil:
		p.state.depart(now)
	default:
		p.granted = p.granted[1:]
	}
	return wait, false
}

// The caller of noteLeft, due, limiterNow and isStale holds mu.

func (p *pacer) noteLeft(s *Slot) {
	if s.isIn {
		s.isIn = false
		p.entered--
	}
}

// due returns when a request may leave before which some others do. ok is false when the limiter has to be asked.
func (p *pacer) due(now time.Time, others int) (at time.Time, ok bool) {
	if p.limiter == nil {
		return p.state.next(now).Add(time.Duration(others) * p.state.spacing()), true
	}
	for len(p.granted) > 0 && isLate(p.granted[0], now) { // used now it would be too close to others
		p.granted, p.want = p.granted[1:], 1
	}
	if others < len(p.granted) {
		return p.granted[others], true
	}
	return time.Time{}, false
}

// limiterNow is what the limiter's clock shows at least. Of both clocks only what passes since the last reading counts.
func (p *pacer) limiterNow() time.Time {
	if p.limiter == nil {
		return p.now()
	}
	return p.shown.Add(p.now().Sub(p.read))
}

// isStale reports whether the state must be read before anything leaves, or the limiter be told something.
func (p *pacer) isStale() bool {
	return p.limiter != nil && (len(p.news) > 0 || p.read.IsZero() || p.now().Sub(p.read) >= maxAge)
}

// ask tells the limiter the news and learns the state, or takes departures if the state is known. The error is a *Failure.
func (p *pacer) ask(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	p.mu.Lock()
	last := p.read
	p.mu.Unlock()
	var err error
	select {
	case p.asking <- struct{}{}:
		err = p.exchange(limited, last)
		<-p.asking
	case <-limited.Done():
		err = limited.Err()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return stopped(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("there is no answer within %v: %w", answersWithin, err)
	}
	said, hint := err.Error(), ""
	if found, ok := errors.AsType[problem.Problem](err); ok {
		said, hint = found.Message, found.Hint
	}
	return &Failure{NotSent: true, Stop: true, Hint: hint, Err: err,
		Reason: "nothing is sent while the rate of all processes is not known: " + said}
}

// exchange is ask, unless another request has asked since the last reading.
func (p *pacer) exchange(ctx context.Context, last time.Time) error {
	p.mu.Lock()
	stale := p.isStale()
	if !stale && p.read != last {
		p.mu.Unlock()
		return nil
	}
	news, good, cuts, late, n := slices.Clone(p.news), p.good, p.state.Cuts, p.state.late, 0
	if !stale {
		n = p.want
	} else if len(news) == 0 {
		good = 0 // the state is only read
	}
	p.mu.Unlock()
	sent := p.now()
	var state rateState
	var read, shown time.Time
	var granted []time.Time
	var unreadable error
	err := p.limiter.Change(ctx, func(kept []byte, now time.Time) []byte {
		read, shown = p.now(), now
		s := rateState{late: late}
		if unreadable = nil; kept != nil {
			unreadable = json.Unmarshal(kept, &s)
		}
		if unreadable != nil { // as a new one it would lose a pause that others were asked for
			return nil
		}
		s.resume(now, p.ceiling)
		for i := 0; i < good && s.Cuts == cuts; i++ {
			s.accepted()
		}
		for _, r := range news {
			s.refused(now, r)
		}
		granted = s.give(now, n, read.Sub(sent))
		if state = s; n == 0 && len(news) == 0 {
			return nil
		}
		return encode(s)
	})
	if err = errors.Join(err, unreadable); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.news = p.news[len(news):]; len(p.news) > 0 {
		return nil // the state here has the rest of the news already
	}
	if p.good -= min(good, p.good); state.Cuts != p.state.Cuts {
		p.granted, p.good = nil, 0
	}
	p.state, p.read, p.shown = state, read, shown
	if n := len(granted); n > 0 {
		p.granted, p.want = append(p.granted, granted...), 2*n
	}
	return nil
}

// refused begins a pause and halves the rate, after an answer in which the service asks to
// wait. The limiter is told; where that fails, the next request does so.
func (p *pacer) refused(ctx context.Context, r busyAnswer) {
	p.mu.Lock()
	r.sent = p.recent.add(p.now(), 0)
	now := p.limiterNow()
	if p.limiter != nil { // the others send too
		r.sent = max(r.sent, p.state.perSecond())
		p.news, p.good, p.granted = append(p.news, r), 0, nil // departures at the rate before are lost
	}
	p.state.refused(now, r)
	p.mu.Unlock()
	if p.limiter != nil {
		_ = p.ask(context.WithoutCancel(ctx))
	}
}

// accepted raises the rate after any other answer. The limiter is told when it is asked for departures.
func (p *pacer) accepted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limiter == nil && p.state.Rate > 0 {
		p.state.accepted()
	} else if p.state.Rate > 0 {
		p.good++
	}
}

// Queues reports whether Reserve may wait: there is a rate or a pause, or the limiter must be asked.
func (p *pacer) Queues() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isStale() || p.state.PausedUntil.After(p.limiterNow()) || p.state.perSecond() > 0
}

// InFlight returns how many requests are given to the network and not answered yet; 0
// where Config.Concurrency sets no limit.
func (p *pacer) InFlight() int { return len(p.flight) }

// Spacing returns the time between two requests at the present rate; 0 for no rate.
func (p *pacer) Spacing() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.spacing()
}

// PauseEnd returns when the last pause that the service has asked for ends, or has ended, by the clock of all that
// share it; over is false before that. It is zero, and over, when the service has asked for none.
func (p *pacer) PauseEnd() (end time.Time, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.PausedUntil, !p.state.PausedUntil.After(p.limiterNow())
}

// Waiting says why the service asks to wait and until when, in one line without personal data; "" when it does not.
func (p *pacer) Waiting() (reason string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pause := p.state.PausedUntil.Sub(p.limiterNow()); pause > 0 {
		return p.state.PauseReason, p.now().Add(pause)
	}
	return "", time.Time{}
}

// retryAfter reads the header Retry-After, in seconds or as a date; 0 when there
// is none, when it cannot be read or when it is past. A date is compared with the
// service's own date, where the answer has it, because this machine's clock may be
// wrong.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return min(max(0, at.Sub(now)), maxRetryAfter)
}

// stopped is the failure of a request that was still waiting when ctx ended.
func stopped(ctx context.Context) *Failure {
	return unsent(StoppedBefore, ctx.Err())
}
