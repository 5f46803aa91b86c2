package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// longestPause limits a single pause, whatever the service asks for. The
	// caller decides whether a longer one is worth waiting for.
	longestPause = 15 * time.Minute
	// firstPause and maxPause are for a service that does not say how long to
	// wait: each refusal in a row doubles the pause.
	firstPause, maxPause = 500 * time.Millisecond, time.Minute
	// maxRetryAfter limits what is read from Retry-After.
	maxRetryAfter = 365 * 24 * time.Hour

	// adaptiveStart is the first rate of an adaptive client, in requests per
	// second. Until the service first asks to wait, every second of good answers
	// adds adaptiveStep.
	adaptiveStart, adaptiveStep = 2.0, 1.0
	// recoverySeconds is how many seconds of good answers lead from zero back to
	// the rate before it was cut; from half of it, half as many.
	recoverySeconds = 20.0
	// minRate is the lowest rate that cuts lead to; below that only pauses slow
	// the client down. minStep is the least that a second of good answers adds.
	minRate, minStep = 1.0 / 60, 0.2
	// slowGrowth is by how much the first good answer raises a rate below one a
	// second; the second raises it by twice as much, and so on. At such a rate each
	// answer stands for several seconds, and adding the steps of all of them at once
	// would be refused again.
	slowGrowth = 0.2
	// margin is how late a request may be on its way. The distance between requests
	// is a bit larger than the rate asks for, so that no second at the service sees
	// more requests than the rate.
	margin = 50 * time.Millisecond
)

// pace is the queue in which every request of a Client waits. No request leaves
// while as many are in flight as the service may have, nor while it asks to wait.
//
// Under a rate, requests leave one by one, never closer together than the rate
// allows. The distance is counted from the last departure and not from a
// timetable, and a request stays at the head of the queue until it leaves. So when
// one is delayed (by a new token), the next does not follow too soon, and no second
// ever sees more requests than the rate.
//
// When the service asks to wait, the rate is halved, and good answers raise it
// again step by step (AIMD). Of several such answers in a row only the first
// counts, because the others were sent before the cut.
type pace struct {
	now    func() time.Time
	head   chan struct{} // has room for one: the request that leaves next
	flight chan struct{} // has room for the requests in flight; nil for any number

	mu       sync.Mutex
	adaptive bool      // the client finds the rate
	ceiling  float64   // requests per second; 0 for none
	rate     float64   // at present; 0 for no limit
	step     float64   // what a second of good answers adds to the rate
	restore  float64   // without a ceiling: the rate at which the limit ends again; 0 for never
	last     time.Time // of the last departure
	until    time.Time // no request leaves before
	why      string    // the reason of the pause
	cut      time.Time // of the last cut: answers to requests that left before it do not cut again
	refusals int       // in a row
	good     int       // good answers in a row while there is a rate
	recent   departures
}

func newPace(ceiling float64, adaptive bool, inFlight int, now func() time.Time) *pace {
	p := &pace{now: now, head: make(chan struct{}, 1), adaptive: adaptive, ceiling: ceiling, rate: ceiling, step: ceiling / recoverySeconds}
	if inFlight > 0 {
		p.flight = make(chan struct{}, inFlight)
	}
	if adaptive {
		p.rate, p.step = adaptiveStart, adaptiveStep
		if ceiling > 0 {
			p.rate = min(ceiling, adaptiveStart)
		}
	}
	return p
}

// turn is one request's way through the queue. It is for one goroutine.
type turn struct {
	pace     *pace
	reserved bool // it fails where it would have to wait for the end of a pause
	head     bool // it leaves next; only under a rate
	place    bool // it counts among the requests in flight
	waited   time.Duration
	leave    func() bool // asked last; nil for nothing to ask
}

// measure adds the time since began to what the request has waited.
func (t *turn) measure(began time.Time) { t.waited += time.Since(began) }

// reserve waits for the end of a pause and, under a rate, for the head of the queue.
func (p *pace) reserve(ctx context.Context) (*turn, error) {
	t := &turn{pace: p, reserved: true}
	defer t.measure(time.Now())
	err := p.waitOutPause(ctx)
	if err != nil || !p.limited() {
		return t, err
	}
	if err = t.takeHead(ctx); err == nil {
		err = p.waitOutPause(ctx)
	}
	if err != nil {
		t.end()
	}
	return t, err
}

// enter waits until the request may leave: it has a place among those in flight,
// and rate and pause allow it.
func (t *turn) enter(ctx context.Context) error {
	defer t.measure(time.Now())
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
		p.mu.Lock()
		now := p.now()
		why, pause := p.why, p.until.Sub(now)
		wait := max(pause, p.next().Sub(now))
		p.mu.Unlock()
		if t.reserved && pause > 0 {
			return &Failure{NotSent: true, Retry: AfterPause, Reason: why}
		}
		if wait <= 0 {
			return nil
		}
		sleep(ctx, wait)
	}
	return stopped(ctx)
}

// depart lets the request leave, and the next one come to the head of the queue.
func (t *turn) depart() (at time.Time) {
	at = t.pace.depart()
	t.leaveHead()
	return at
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

// depart notes that a request leaves, and returns when.
func (p *pace) depart() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = p.now()
	p.recent.add(p.last)
	return p.last
}

// next returns when the rate allows the next departure. The caller holds mu.
func (p *pace) next() time.Time {
	if p.rate == 0 || p.last.IsZero() {
		return time.Time{}
	}
	return p.last.Add(time.Duration(float64(time.Second+margin) / p.rate))
}

// spacing returns the time between two departures at the present rate.
func (p *pace) spacing() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / p.rate)
}

// waitOutPause waits for the end of a pause, but not for the rate.
func (p *pace) waitOutPause(ctx context.Context) error {
	for ctx.Err() == nil {
		p.mu.Lock()
		wait := p.until.Sub(p.now())
		p.mu.Unlock()
		if wait <= 0 {
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
	return p.rate > 0
}

// refused begins a pause and halves the rate, after an answer in which the
// service asks to wait. sentAt is when the request left.
func (p *pace) refused(a Answer, sentAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	afterCut := sentAt.After(p.cut)
	if p.good = 0; afterCut {
		p.refusals++
	}
	wait := a.RetryAfter
	if wait == 0 {
		wait = min(firstPause<<min(max(p.refusals, 1)-1, 16), maxPause)
	}
	if until := now.Add(min(wait, longestPause)); until.After(p.until) {
		p.until, p.why = until, fmt.Sprintf("the service asks to wait (HTTP %d)", a.Status)
	}
	if !afterCut || p.refusals > 1 {
		return
	}
	p.cut = now
	before := p.recent.perSecond(now)
	if p.rate > 0 {
		before = min(before, p.rate)
	} else {
		p.step, p.restore = max(before/recoverySeconds, minStep), 2*before
	}
	if p.adaptive {
		p.step = max(before/recoverySeconds, minStep)
	}
	p.rate = max(before/2, minRate)
	if p.ceiling > 0 {
		p.rate = min(p.rate, p.ceiling)
	}
}

// accepted raises the rate after any other answer. In a second that uses the rate
// up there are as many answers as the rate, so the second adds one step.
func (p *pace) accepted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusals = 0
	if p.rate == 0 {
		return
	}
	if p.good++; p.rate < 1 {
		p.rate += slowGrowth * float64(p.good) * p.rate
	} else {
		p.rate += p.step / p.rate
	}
	switch {
	case p.ceiling > 0:
		p.rate = min(p.rate, p.ceiling)
	case p.restore > 0 && p.rate >= p.restore:
		p.rate = 0
	}
}

// waiting says why all requests wait at present and until when; see Client.Waiting.
func (p *pace) waiting() (reason string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	switch next := p.next(); {
	case p.until.After(now):
		return p.why, p.until
	case next.Sub(now) > time.Second:
		return fmt.Sprintf("requests are held at %.2g a second", p.rate), next
	}
	return "", time.Time{}
}

// departures counts how many requests left in the present second and in the one
// before.
type departures struct {
	second          int64
	count, previous int
}

func (d *departures) add(now time.Time) {
	d.advance(now)
	d.count++
}

func (d *departures) advance(now time.Time) {
	switch s := now.Unix(); {
	case s == d.second+1:
		d.second, d.previous, d.count = s, d.count, 0
	case s != d.second:
		d.second, d.previous, d.count = s, 0, 0
	}
}

// perSecond returns how many requests leave in a second at present, at least one.
func (d *departures) perSecond(now time.Time) float64 {
	d.advance(now)
	return float64(max(d.count, d.previous, 1))
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
