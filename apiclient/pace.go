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

// Slot is one request's way to the service; Reserve returns it for one CreateReserved. A Slot is for one goroutine.
//
// A request enters, takes a place among those in flight, and leaves on its connection. The first and the last
// of these wait for the rate and for the end of a pause.
type Slot struct {
	client *Client
	ticket rate.Ticket
	place  bool // it counts among the requests in flight
	over   bool // used or released
	waited time.Duration
	guard  func() bool // asked last; nil for nothing to ask
}

// Reserve waits until the service does not ask to wait and, under a rate, until
// the caller's request would be among the next to leave. So what must be durable before
// a request is written just before it leaves, and not minutes earlier by every
// worker in the queue.
//
// The caller sends no other request until it has used or released the Slot. The
// error, a *Failure, means that ctx has ended. A Slot that cannot leave for another reason
// fails when it is to.
func (c *Client) Reserve(ctx context.Context) (*Slot, error) {
	s := &Slot{client: c, ticket: rate.Ticket{Impatient: true}}
	if err := s.enter(ctx); err != nil && ctx.Err() != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// WithSlot returns a context whose look-ups leave in a slot's place in the queue,
// until the slot is used or released. So a look-up and the request that rests on it leave one
// after the other, however many requests wait. slot may be nil.
func WithSlot(ctx context.Context, slot *Slot) context.Context {
	return context.WithValue(ctx, (*Slot)(nil), slot)
}

// slot is the Slot of a request of ctx. guard is as in Slot.Guard.
func (c *Client) slot(ctx context.Context, guard func() bool) *Slot {
	other, _ := ctx.Value((*Slot)(nil)).(*Slot)
	return &Slot{client: c, guard: guard, ticket: rate.Ticket{Ahead: other != nil && !other.over}}
}

// Guard has leave asked just before the first byte of the slot's request. Where it says no, the request is not sent.
func (s *Slot) Guard(leave func() bool) { s.guard = leave }

// Release gives back what a slot has; a second time it does nothing.
func (s *Slot) Release() {
	if s == nil {
		return
	}
	s.over = true
	s.client.meter.Release(&s.ticket)
	if s.place && s.client.flight != nil {
		<-s.client.flight
	}
	s.place = false
}

// enter waits in the queue; a second time, until its departure is near again: since then, a look-up may have left before it.
func (s *Slot) enter(ctx context.Context) error {
	return s.wait(ctx, func() error { return s.client.meter.Enter(ctx, &s.ticket) })
}

// Await waits until fewer than Config.Concurrency requests are in flight, and takes
// a place among them for the slot's request. The error, a *Failure, means that ctx has
// ended; CreateReserved returns it too.
func (s *Slot) Await(ctx context.Context) error {
	if s.place || s.client.flight == nil {
		return nil
	}
	return s.wait(ctx, func() error {
		select {
		case s.client.flight <- struct{}{}:
			s.place = true
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// leave waits until the request may leave on the connection that it has, but no longer than patience: a look-up that
// would have to goes back into the queue, and so fails a reserved request in a pause that began since it was reserved.
func (s *Slot) leave(ctx context.Context, patience time.Duration) error {
	if err := s.wait(ctx, func() error { return s.client.meter.Leave(ctx, &s.ticket, patience) }); err != nil {
		return err
	}
	if s.guard != nil && !s.guard() {
		return unsent("it was not sent after all", nil)
	}
	return nil
}

// wait waits, and returns the failure of a request that does not leave for a reason that the Meter names.
func (s *Slot) wait(ctx context.Context, until func() error) error {
	began := time.Now()
	err := until()
	s.waited += time.Since(began)
	held, isHeld := errors.AsType[rate.HeldBack](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return stopped(ctx)
	case isHeld:
		return &Failure{NotSent: true, Retry: AfterPause, Reason: string(held), Err: err}
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
	return unsent(StoppedBefore, ctx.Err())
}
