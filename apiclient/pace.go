package apiclient

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"claimsheet/apiclient/rate"
	"claimsheet/mapping/problem"
)

// maxRetryAfter limits what is read from Retry-After.
const maxRetryAfter = 365 * 24 * time.Hour

// pacer is where every request of a Client waits. No request leaves
// while as many are in flight as the service may have, nor while it asks to wait.
//
// Under a rate, requests leave one by one, never closer together than the rate
// allows. The distance is counted from the last departure and not from a
// timetable, and a request stays at the head of the queue until it departs. So when
// one is delayed (by a new token), the next does not follow too soon, and no second
// ever sees more requests than the rate. Where the connection is the network's, rate and
// pause are kept once more by the requests that have it.
type pacer struct {
	*rate.Meter
	head   chan struct{} // has room for one: the request that leaves next
	flight chan struct{} // has room for the requests in flight; nil for any number
}

func newPacer(cfg Config) *pacer {
	p := &pacer{Meter: rate.NewMeter(cfg.RequestsPerSecond, cfg.Limiter, cfg.Now), head: make(chan struct{}, 1)}
	if cfg.Concurrency > 0 {
		p.flight = make(chan struct{}, cfg.Concurrency)
	}
	return p
}

// Slot is one request's way past the pacer; Reserve returns it for one CreateReserved. A Slot is for
// one goroutine.
type Slot struct {
	pacer   *pacer
	ticket  rate.Ticket
	over    bool // used or released
	head    bool // it leaves next; only under a rate
	lent    bool // it has the place of another slot at the head, which it does not give back
	place   bool // it counts among the requests in flight
	waited  time.Duration
	leave   func() bool // asked last; nil for nothing to ask
	refused error       // why it cannot leave at all
}

// Reserve waits until the service does not ask to wait and, under a rate, until
// the caller's request would be the next to leave. So what must be durable before
// a request is written just before it leaves, and not minutes earlier by every
// worker in the queue.
//
// The caller sends no other request until it has used or released the Slot. The
// error, a *Failure, means that ctx has ended. A Slot that cannot leave for another reason
// fails when it is to.
func (c *Client) Reserve(ctx context.Context) (*Slot, error) {
	s := &Slot{pacer: c.pacer, ticket: rate.Ticket{Impatient: true}}
	err := s.await(ctx, rate.PauseOver, forever)
	if err == nil && s.pacer.Limited() {
		if err = s.takeHead(ctx); err == nil {
			err = s.await(ctx, rate.Granted, forever)
		}
	}
	if ctx.Err() != nil && err != nil {
		s.Release()
		return nil, err
	}
	if s.refused = err; err != nil {
		s.leaveHead()
	}
	return s, nil
}

type slotOfContext struct{}

// WithSlot returns a context whose look-ups leave in a slot's place at the head of the queue,
// until the slot is used or released. So a look-up and the request that rests on it leave one
// after the other, however many requests wait. slot may be nil.
func WithSlot(ctx context.Context, slot *Slot) context.Context {
	return context.WithValue(ctx, slotOfContext{}, slot)
}

// slot is the Slot of a request of ctx, at the head of the queue if a slot of ctx is there
// (WithSlot). leave is as in Slot.Guard.
func (c *Client) slot(ctx context.Context, leave func() bool) *Slot {
	other, _ := ctx.Value(slotOfContext{}).(*Slot)
	return &Slot{pacer: c.pacer, leave: leave, lent: other != nil && other.head}
}

// Await waits until fewer than Config.Concurrency requests are in flight, and takes
// a place among them for the slot's request. Where ctx ends before that,
// CreateReserved says so.
func (s *Slot) Await(ctx context.Context) { _ = s.takePlace(ctx) }

// Guard has leave asked just before the first byte of the slot's request. Where it says
// no, the request is not sent.
func (s *Slot) Guard(leave func() bool) { s.leave = leave }

// mayLeave asks the guard.
func (s *Slot) mayLeave() error {
	if s.leave != nil && !s.leave() {
		return unsent("it was not sent after all", nil)
	}
	return nil
}

// Release gives back what a slot has; a second time it does nothing.
func (s *Slot) Release() {
	if s != nil {
		s.over = true
		s.leaveHead()
		s.leavePlace()
	}
}

// getReady waits until the request may depart.
func (s *Slot) getReady(ctx context.Context) error {
	if s.refused != nil {
		return s.refused
	}
	if err := s.takePlace(ctx); err != nil {
		return err
	}
	return s.await(ctx, rate.Ready, forever)
}

// takePlace waits for a place among the requests in flight and, under a rate, for
// the head of the queue before that: whoever has a place never waits for the head.
func (s *Slot) takePlace(ctx context.Context) error {
	for {
		if !s.head && !s.lent && s.pacer.Limited() {
			s.leavePlace() // the rate began while it waited for the place
			if err := s.takeHead(ctx); err != nil {
				return err
			}
		}
		if s.place {
			return nil
		}
		if s.pacer.flight != nil {
			if err := s.takeRoom(ctx, s.pacer.flight); err != nil {
				return err
			}
		}
		s.place = true
	}
}

func (s *Slot) leavePlace() {
	if s.place && s.pacer.flight != nil {
		<-s.pacer.flight
	}
	s.place = false
}

func (s *Slot) takeHead(ctx context.Context) error {
	err := s.takeRoom(ctx, s.pacer.head)
	s.head = err == nil
	return err
}

func (s *Slot) leaveHead() {
	if s.head {
		s.head = false
		<-s.pacer.head
	}
}

func (s *Slot) takeRoom(ctx context.Context, room chan struct{}) error {
	defer s.measure(time.Now())
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return stopped(ctx)
	}
}

// measure adds the time since began to what the request has waited.
func (s *Slot) measure(began time.Time) { s.waited += time.Since(began) }

// forever is longer than any request waits.
const forever = 365 * 24 * time.Hour

// await waits until the request has come to a stage. It waits no longer than patience on a connection
// that it has: a look-up that would have to goes back into the queue then, and so fails a reserved request,
// at any stage, in a pause that began since it was reserved.
func (s *Slot) await(ctx context.Context, to rate.Stage, patience time.Duration) error {
	defer s.measure(time.Now())
	err := s.pacer.Await(ctx, &s.ticket, to, patience)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if paused, ok := errors.AsType[rate.Paused](err); ok {
		return &Failure{NotSent: true, Retry: AfterPause, Reason: string(paused), Err: rate.ErrHeldBack}
	}
	if errors.Is(err, rate.ErrHeldBack) {
		return &Failure{NotSent: true, Retry: AfterPause, Reason: "its connection was opened too late for the rate", Err: err}
	}
	said, hint := err.Error(), ""
	if found, ok := errors.AsType[problem.Problem](err); ok {
		said, hint = found.Message, found.Hint
	}
	return &Failure{NotSent: true, Stop: true, Reason: "nothing is sent while the rate of all processes is not known: " + said, Hint: hint, Err: err}
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
