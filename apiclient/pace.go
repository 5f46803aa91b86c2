package apiclient

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"claimsheet/apiclient/rate"
	"claimsheet/mapping/problem"
)

// maxRetryAfter limits what is read from Retry-After.
const maxRetryAfter = 365 * 24 * time.Hour

// pace is the queue in which every request of a Client waits. No request leaves
// while as many are in flight as the service may have, nor while it asks to wait.
//
// Under a rate, requests leave one by one, never closer together than the rate
// allows. The distance is counted from the last departure and not from a
// timetable, and a request stays at the head of the queue until it departs. So when
// one is delayed (by a new token), the next does not follow too soon, and no second
// ever sees more requests than the rate. Where the connection is the network's, rate and
// pause are kept once more by the requests that have it: see turn.goOn.
type pace struct {
	*rate.Meter
	head    chan struct{} // has room for one: the request that leaves next
	flight  chan struct{} // has room for the requests in flight; nil for any number
	waiting atomic.Int64  // requests that wait for the head
}

func newPace(cfg Config) *pace {
	p := &pace{Meter: rate.NewMeter(rate.Limits{Ceiling: cfg.RequestsPerSecond, Adaptive: cfg.Adaptive}, cfg.Limiter, cfg.Now), head: make(chan struct{}, 1)}
	if cfg.Concurrency > 0 {
		p.flight = make(chan struct{}, cfg.Concurrency)
	}
	return p
}

// consult is rate.Meter.Consult. With take it has departures taken for the requests that
// wait, this one included.
func (p *pace) consult(ctx context.Context, take bool) error {
	want := 0
	if take {
		want = int(p.waiting.Load()) + 1
	}
	err := p.Consult(ctx, want)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return stopped(ctx)
	}
	said, hint := err.Error(), ""
	if found, ok := errors.AsType[problem.Problem](err); ok {
		said, hint = found.Message, found.Hint
	}
	return &Failure{NotSent: true, Stop: true, Reason: "nothing is sent while the rate of all processes is not known: " + said, Hint: hint, Err: err}
}

// turn is one request's way through the queue. It is for one goroutine.
type turn struct {
	pace     *pace
	reserved bool // it fails where it would have to wait for the end of a pause
	head     bool // it leaves next; only under a rate
	lent     bool // it has the place of a slot at the head, which it does not give back
	place    bool // it counts among the requests in flight
	left     rate.Departure
	waited   time.Duration
	leave    func() bool // asked last; nil for nothing to ask
	refused  error       // why it cannot leave at all
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
	if err == nil && p.Limited() {
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
		if !t.head && !t.lent && t.pace.Limited() {
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
	for ctx.Err() == nil {
		if err := t.pace.consult(ctx, true); err != nil {
			return err
		}
		held := t.pace.Hold()
		if t.reserved && held.Pause > 0 {
			return &Failure{NotSent: true, Retry: AfterPause, Reason: held.Reason}
		}
		if held.May() {
			return nil
		}
		sleep(ctx, held.Wait)
	}
	return stopped(ctx)
}

// depart lets the request leave, and the next one come to the head of the queue. Much time
// may have passed since it was ready: it waits until it may leave again.
func (t *turn) depart(ctx context.Context) error {
	defer t.measure(time.Now())
	for {
		if err := t.ready(ctx); err != nil {
			return err
		}
		var ok bool
		if t.left, ok = t.pace.Depart(); ok {
			t.leaveHead()
			return nil
		}
	}
}

// errHeldBack is the cause of the failure of a request that would have to wait on its
// connection for too long.
var errHeldBack = errors.New("held back on its connection")

// goOn holds a request back that has departed and has its connection: until the end of a
// pause that has begun since, and until another departure where the connection took too
// long for its own. It never waits for the head of the queue, whose holder may wait for its
// place, and no longer than patience. After that the error is errHeldBack; so it is in a
// pause for a request that is not to wait for the end of one.
func (t *turn) goOn(ctx context.Context, patience time.Duration) error {
	defer t.measure(time.Now())
	end := time.Now().Add(patience)
	limited, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	var held rate.Hold
	for {
		err := t.pace.consult(limited, held.Lacks)
		switch {
		case ctx.Err() != nil:
			return stopped(ctx)
		case err != nil && limited.Err() != nil:
			return heldBack(held)
		case err != nil:
			return err
		}
		patience = time.Until(end)
		if held = t.pace.Leave(&t.left, patience); held.May() {
			return nil
		}
		if held.Wait > patience || t.reserved && held.Pause > 0 {
			return heldBack(held)
		}
		sleep(limited, held.Wait)
	}
}

// heldBack is the failure of a request that is not to wait on its connection.
func heldBack(held rate.Hold) *Failure {
	f := &Failure{NotSent: true, Retry: AfterPause, Reason: "its connection was opened too late for the rate", Err: errHeldBack}
	if held.Pause > 0 {
		f.Reason = held.Reason
	}
	return f
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

// waitOutPause waits for the end of a pause, and with take until this process has a
// departure, where it needs one; but not until the request may leave.
func (p *pace) waitOutPause(ctx context.Context, take bool) error {
	for ctx.Err() == nil {
		if err := p.consult(ctx, take); err != nil {
			return err
		}
		held := p.Hold()
		wait, lacks := held.Pause, take && held.Lacks
		if lacks {
			wait = held.Wait
		}
		if wait <= 0 && !lacks {
			return nil
		}
		sleep(ctx, wait)
	}
	return stopped(ctx)
}

// refused notes an answer to t in which the service asks to wait.
func (p *pace) refused(ctx context.Context, t *turn, a Answer) {
	p.Refused(ctx, rate.Refusal{Status: a.Status, Wait: a.RetryAfter, Cuts: t.left.Cuts})
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
