package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// maxRetryAfter limits what is read from Retry-After.
const maxRetryAfter = 365 * 24 * time.Hour

// pace is the queue in which every request of a Client waits. No request leaves
// while as many are in flight as the service may have, nor while it asks to wait.
//
// Under a rate, requests leave one by one, never closer together than the rate
// allows. The distance is counted from the last departure and not from a
// timetable, and a request stays at the head of the queue until it leaves. So when
// one is delayed (by a new token), the next does not follow too soon, and no second
// ever sees more requests than the rate.
//
// Where other processes send to the same service, rate and pause are theirs too: then
// the head of the queue needs a departure that the limiter of all has given to this
// process; see sharing.
type pace struct {
	now     func() time.Time
	head    chan struct{} // has room for one: the request that leaves next
	flight  chan struct{} // has room for the requests in flight; nil for any number
	limits  limits
	shared  *sharing     // nil when no other process sends
	waiting atomic.Int64 // requests that wait for the head

	mu     sync.Mutex
	state  RateState // its times are those of clock
	recent Departures
}

func newPace(cfg Config) *pace {
	p := &pace{now: cfg.Now, head: make(chan struct{}, 1), limits: limits{cfg.RequestsPerSecond, cfg.Adaptive, margin}}
	if cfg.Concurrency > 0 {
		p.flight = make(chan struct{}, cfg.Concurrency)
	}
	if cfg.Limiter != nil {
		p.limits.margin += lateness
		p.shared = newSharing(cfg.Limiter, cfg.Now())
	}
	p.state.start(p.limits)
	return p
}

// clock is the time by which departures and pauses are: the process's, or the one that
// all processes share. The caller holds mu.
func (p *pace) clock() time.Time {
	if p.shared != nil {
		return p.shared.clock.time(p.now())
	}
	return p.now()
}

// turn is one request's way through the queue. It is for one goroutine.
type turn struct {
	pace     *pace
	reserved bool  // it fails where it would have to wait for the end of a pause
	head     bool  // it leaves next; only under a rate
	place    bool  // it counts among the requests in flight
	cuts     int64 // RateState.Cuts when it left
	waited   time.Duration
	refused  error // why it cannot leave at all
}

// measure adds the time since began to what the request has waited.
func (t *turn) measure(began time.Time) { t.waited += time.Since(began) }

// reserve waits for the end of a pause and, under a rate, for the head of the queue.
// The error means that ctx has ended. A turn that cannot leave for another reason fails
// when it is to.
func (p *pace) reserve(ctx context.Context) (*turn, error) {
	t := &turn{pace: p, reserved: true}
	defer t.measure(time.Now())
	err := p.waitOutPause(ctx, false)
	if err == nil && p.limited() {
		if err = t.takeHead(ctx); err == nil {
			err = p.waitOutPause(ctx, true)
		}
	}
	if err == nil {
		return t, nil
	}
	t.end()
	if ctx.Err() == nil {
		t.refused, err = err, nil
	}
	return t, err
}

// enter waits until the request may leave: it has a place among those in flight,
// and rate and pause allow it.
func (t *turn) enter(ctx context.Context) error {
	defer t.measure(time.Now())
	if t.refused != nil {
		return t.refused
	}
	if err := t.takePlace(ctx); err != nil {
		return err
	}
	return t.ready(ctx)
}

// takePlace waits for a place among the requests in flight and, under a rate, for
// the head of the queue before that: whoever has a place never waits for the head.
func (t *turn) takePlace(ctx context.Context) error {
	for {
		if !t.head && t.pace.limited() {
			t.leavePlace() // the rate began while it waited for the place
			if err := t.takeHead(ctx); err != nil {
				return err
			}
		}
		if t.place {
			return nil
		}
		if t.pace.flight != nil {
			select {
			case t.pace.flight <- struct{}{}:
			case <-ctx.Done():
				return stopped(ctx)
			}
		}
		t.place = true
	}
}

func (t *turn) takeHead(ctx context.Context) error {
	t.pace.waiting.Add(1)
	defer t.pace.waiting.Add(-1)
	select {
	case t.pace.head <- struct{}{}:
		t.head = true
		return nil
	case <-ctx.Done():
		return stopped(ctx)
	}
}

// ready waits until the request, which has a place, may leave. A reserved one does
// not wait for the end of a pause that has begun since: it fails.
func (t *turn) ready(ctx context.Context) error {
	p := t.pace
	for ctx.Err() == nil {
		if err := p.consult(ctx, true); err != nil {
			return err
		}
		p.mu.Lock()
		may, pause, wait := p.may()
		why := p.state.PauseReason
		p.mu.Unlock()
		if t.reserved && pause > 0 {
			return &Failure{NotSent: true, Retry: AfterPause, Reason: why}
		}
		if may {
			return nil
		}
		sleep(ctx, max(pause, wait))
	}
	return stopped(ctx)
}

// depart lets the request leave, and the next one come to the head of the queue. Where it
// may not leave any more, because much time has passed since it was ready, it waits
// until it may again.
func (t *turn) depart(ctx context.Context) (at time.Time, err error) {
	for {
		at, ok := t.pace.depart(t)
		if ok {
			t.leaveHead()
			return at, nil
		}
		if err := t.ready(ctx); err != nil {
			return at, err
		}
	}
}

// end gives back whatever the request still has of the queue.
func (t *turn) end() {
	t.leaveHead()
	t.leavePlace()
}

func (t *turn) leaveHead() {
	if t.head {
		t.head = false
		<-t.pace.head
	}
}

func (t *turn) leavePlace() {
	if t.place && t.pace.flight != nil {
		<-t.pace.flight
	}
	t.place = false
}

// depart notes that a request leaves, and returns when; ok is false when it may not.
func (p *pace) depart(t *turn) (at time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at = p.now()
	if may, _, _ := p.may(); !may {
		return at, false
	}
	if p.shared != nil {
		p.shared.use()
	} else {
		p.state.Last = at
	}
	p.recent.add(at, 1)
	t.cuts = p.state.Cuts
	return at, true
}

// may reports whether a request may leave now; otherwise how long the pause and the rate
// hold it back at least. The caller holds mu.
func (p *pace) may() (may bool, pause, wait time.Duration) {
	now := p.clock()
	pause, wait = p.state.PausedUntil.Sub(now), p.next(now).Sub(now)
	return pause <= 0 && wait <= 0 && !p.needsDeparture(now), pause, wait
}

// next returns when the next request may leave. Where it needs a departure first, it is
// when one can be had. The caller holds mu.
func (p *pace) next(now time.Time) time.Time {
	next := p.state.next(now, p.limits)
	switch {
	case p.shared == nil:
		return next
	case p.needsDeparture(now):
		return next.Add(-ahead)
	case len(p.shared.slice) > 0:
		return p.shared.slice[0]
	}
	return time.Time{}
}

// needsDeparture reports whether a request needs a departure, and this process has none.
// The caller holds mu.
func (p *pace) needsDeparture(now time.Time) bool {
	return p.shared != nil && !p.shared.has(now) && p.state.perSecond(now, p.limits) > 0
}

// spacing returns the time between two departures of this process at the present rate.
func (p *pace) spacing() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	rate := p.state.perSecond(now, p.limits)
	if rate == 0 {
		return 0
	}
	every := time.Duration(float64(time.Second) / rate)
	if p.shared != nil {
		every = max(every, p.shared.share)
	}
	return every
}

// waitOutPause waits for the end of a pause, and where this process needs a departure and
// is to take one, until it has that; but not until it may leave.
func (p *pace) waitOutPause(ctx context.Context, take bool) error {
	for ctx.Err() == nil {
		if err := p.consult(ctx, take); err != nil {
			return err
		}
		p.mu.Lock()
		now := p.clock()
		wait, lacks := p.state.PausedUntil.Sub(now), take && p.needsDeparture(now)
		if lacks {
			wait = max(wait, p.next(now).Sub(now))
		}
		p.mu.Unlock()
		if wait <= 0 && !lacks {
			return nil
		}
		sleep(ctx, wait)
	}
	return stopped(ctx)
}

// limited reports whether there is a rate at present.
func (p *pace) limited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.perSecond(p.clock(), p.limits) > 0
}

// refused begins a pause and halves the rate, after an answer to t in which the
// service asks to wait.
func (p *pace) refused(ctx context.Context, t *turn, a Answer) {
	p.mu.Lock()
	r := refusal{status: a.Status, wait: a.RetryAfter, cuts: t.cuts, sent: p.recent.perSecond(p.now())}
	p.state.refused(p.clock(), r, p.limits)
	if p.shared != nil {
		p.shared.refused(r)
	}
	p.mu.Unlock()
	p.tell(ctx)
}

// accepted raises the rate after any other answer.
func (p *pace) accepted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared == nil {
		p.state.accepted(p.now(), p.limits)
	} else if p.state.Rate > 0 {
		p.shared.good++
	}
}

// held says why all requests wait at present and until when; see Client.Waiting.
func (p *pace) held() (reason string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	local := func(at time.Time) time.Time { return p.now().Add(at.Sub(now)) }
	switch next := p.next(now); {
	case p.state.PausedUntil.After(now):
		return p.state.PauseReason, local(p.state.PausedUntil)
	case next.Sub(now) > time.Second:
		return fmt.Sprintf("requests are held at %.2g a second", p.state.perSecond(now, p.limits)), local(next)
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
	return unsent("stopped before it was sent", ctx.Err())
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
