package apiclient

import (
	"context"
	"sync"
	"time"
)

// Turn waits until the service is not asking for time, and, under a rate, until
// the next request to leave would be the caller's. A request that is sent with
// the context it returns takes that place. So what must be made durable before
// a request is made durable just before it, and not minutes earlier by everyone
// in the line.
//
// Where the service asks for time between Turn and the request, the request is
// not sent at all: it would wait with what was made durable for it. The Verdict
// says so (NotSent, Retry), and the caller takes another turn.
//
// Between Turn and that one request the caller sends no other. leave gives a
// place back that was not used, and does nothing otherwise. The error, a
// *Failure, is that of a ctx that is done.
func (c *Client) Turn(ctx context.Context) (turn context.Context, leave func(), err error) {
	c.pace.pauseOver(ctx)
	if err := ctx.Err(); err != nil {
		return nil, nil, unsent("stopped before it was sent", err)
	}
	if !c.pace.limited() {
		return context.WithValue(ctx, turnKey{}, &slot{release: func() {}}), func() {}, nil
	}
	release, err := c.pace.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.pace.pauseOver(ctx)
	if err := ctx.Err(); err != nil {
		release()
		return nil, nil, unsent("stopped before it was sent", err)
	}
	return context.WithValue(ctx, turnKey{}, &slot{release: release}), release, nil
}

// Queues tells that Turn may wait: requests leave at a rate, or the service asks
// for time.
func (c *Client) Queues() bool {
	reason, _ := c.pace.waiting()
	return reason != "" || c.pace.limited()
}

// Waiting says what holds all requests up at present and until when: that the
// service asks for time, or a rate below one request a second. The reason is
// one line without personal data, "" when nothing is waited for.
func (c *Client) Waiting() (reason string, until time.Time) { return c.pace.waiting() }

// Spacing is the time between two requests at the present rate; 0 without one.
func (c *Client) Spacing() time.Duration { return c.pace.spacing() }

// slot is the head of the line, held for one request.
type slot struct {
	mu      sync.Mutex
	release func()
}

// take gives the slot to a request; nil when there is none, or it is taken.
func (p *slot) take() (release func()) {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	release, p.release = p.release, nil
	return release
}

type (
	turnKey struct{}
	tripKey struct{}
)

// trip is what the chain notes of one request. It is used by one goroutine at
// a time.
type trip struct {
	turn    *slot
	release func()    // gives the head of the line to the next
	left    time.Time // when it left the line; zero when it did not
}

// begin attaches a trip to a request's context.
func begin(ctx context.Context) (context.Context, *trip) {
	t := &trip{}
	t.turn, _ = ctx.Value(turnKey{}).(*slot)
	return context.WithValue(ctx, tripKey{}, t), t
}

func tripOf(ctx context.Context) *trip {
	return ctx.Value(tripKey{}).(*trip)
}
