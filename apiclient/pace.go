package apiclient

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// longestPause bounds a single pause, whatever the service asks for; whoever
	// uses a Client decides whether a longer one is worth waiting for.
	longestPause = 15 * time.Minute
	// firstPause and mostPause are for a service that does not say how long: each
	// refusal in a row doubles the pause.
	firstPause, mostPause = 500 * time.Millisecond, time.Minute

	// adaptiveStart and adaptiveStep are where a rate that is to be found begins,
	// in requests per second, and what every second of good answers adds to it
	// until the service first asks for time.
	adaptiveStart, adaptiveStep = 2.0, 1.0
	// stepsBack is how many seconds of good answers lead from nothing back to the
	// rate that was cut; from its half, half as many.
	stepsBack = 20.0
	// leastRate is as slow as it gets by itself; pauses do the rest. leastStep is
	// what a second of good answers adds at least. slowGrowth is by how much the
	// first good answer raises a rate below one a second, the second twice as much,
	// and so on: each answer stands for seconds there, and what they would add all
	// at once would be refused again.
	leastRate, leastStep, slowGrowth = 1.0 / 60, 0.2, 0.2
	// room is what a request may be late on its way: so much more than a second
	// lies between a request and the one that is as many later as the rate, so that
	// no second at the service sees more than the rate.
	room = 50 * time.Millisecond
)

// pace is the line in which every request of a Client waits: they leave one by
// one, never closer together than the rate allows, and not at all while the
// service asks for time. The distance is counted from the last departure and
// not from a timetable, and whoever is at the head keeps it until the request
// leaves, so that one that was held up on its way out (by a new token) is not
// followed too soon by the next: no second ever sees more than the rate.
//
// A service that asks for time halves the rate, and good answers bring it back
// step by step (AIMD). Of several such answers in a row only the first does: the
// others say nothing of the rate.
type pace struct {
	head chan struct{} // one place: whoever is in it leaves next

	mu       sync.Mutex
	adaptive bool      // the rate is to be found
	ceiling  float64   // requests per second; 0 for none
	rate     float64   // at present; 0 for as fast as they come
	step     float64   // what a second of good answers adds to the rate
	lift     float64   // without a ceiling: where a cut rate is given up again; 0 for never
	last     time.Time // of the last departure
	until    time.Time // nobody leaves before
	why      string    // the pause's reason
	cut      time.Time // of the last cut: what left before it tells nothing new
	refusals int       // in a row
	good     int       // answers in a row that were no refusals, while there is a rate
	flow     flow
}

func newPace(ceiling float64, adaptive bool) *pace {
	p := &pace{head: make(chan struct{}, 1), adaptive: adaptive, ceiling: ceiling, rate: ceiling, step: ceiling / stepsBack}
	if adaptive {
		p.rate, p.step = adaptiveStart, adaptiveStep
		if ceiling > 0 {
			p.rate = min(ceiling, adaptiveStart)
		}
	}
	return p
}

// enter takes the head of the line; release gives it back, once.
func (p *pace) enter(ctx context.Context) (release func(), err error) {
	select {
	case p.head <- struct{}{}:
		return sync.OnceFunc(func() { <-p.head }), nil
	case <-ctx.Done():
		return nil, unsent("stopped before it was sent", ctx.Err())
	}
}

// ready waits until the one at the head may leave. One that took a turn does not
// wait for the end of a pause that began since.
func (p *pace) ready(ctx context.Context, turned bool) error {
	for ctx.Err() == nil {
		p.mu.Lock()
		now := time.Now()
		if turned && p.until.After(now) {
			why := p.why
			p.mu.Unlock()
			return &Failure{NotSent: true, Busy: true, Reason: why}
		}
		if wait := max(p.until.Sub(now), p.next().Sub(now)); wait > 0 {
			p.mu.Unlock()
			sleep(ctx, wait)
			continue
		}
		p.mu.Unlock()
		return nil
	}
	return unsent("stopped before it was sent", ctx.Err())
}

// depart notes that the one at the head leaves.
func (p *pace) depart() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	p.flow.note(p.last)
	return p.last
}

// next is when the rate allows another departure. It is called with mu held.
func (p *pace) next() time.Time {
	if p.rate == 0 || p.last.IsZero() {
		return time.Time{}
	}
	return p.last.Add(time.Duration(float64(time.Second+room) / p.rate))
}

// spacing is the time between two departures at the present rate.
func (p *pace) spacing() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / p.rate)
}

// pauseOver waits for the end of a pause only.
func (p *pace) pauseOver(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		wait := time.Until(p.until)
		p.mu.Unlock()
		if wait <= 0 {
			return
		}
		sleep(ctx, wait)
	}
}

// limited tells that there is a rate at present.
func (p *pace) limited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate > 0
}

// refused takes an answer into account by which the service asks for time;
// left is when its request departed.
func (p *pace) refused(a Answer, left time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	news := left.After(p.cut)
	if p.good = 0; news {
		p.refusals++
	}
	wait := a.RetryAfter
	if wait == 0 {
		wait = min(firstPause<<min(max(p.refusals, 1)-1, 16), mostPause)
	}
	if until := now.Add(min(wait, longestPause)); until.After(p.until) {
		p.until, p.why = until, fmt.Sprintf("the service asks for time (HTTP %d)", a.Status)
	}
	if !news || p.refusals > 1 {
		return
	}
	p.cut = now
	before := p.flow.perSecond(now)
	if p.rate > 0 {
		before = min(before, p.rate)
	} else {
		p.step, p.lift = max(before/stepsBack, leastStep), 2*before
	}
	if p.adaptive {
		p.step = max(before/stepsBack, leastStep)
	}
	p.rate = max(before/2, leastRate)
	if p.ceiling > 0 {
		p.rate = min(p.rate, p.ceiling)
	}
}

// accepted takes any other answer into account. A second in which the rate is
// used up has as many answers as the rate, so it adds one step.
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
	case p.lift > 0 && p.rate >= p.lift:
		p.rate = 0
	}
}

// waiting is what holds the line up, "" when nothing does for long.
func (p *pace) waiting() (reason string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch next := p.next(); {
	case p.until.After(now):
		return p.why, p.until
	case next.Sub(now) > time.Second:
		return fmt.Sprintf("requests are held at %.2g a second", p.rate), next
	}
	return "", time.Time{}
}

// flow counts departures: those of the present second and of the one before.
type flow struct {
	second      int64
	count, past int
}

func (f *flow) note(now time.Time) {
	f.turn(now)
	f.count++
}

func (f *flow) turn(now time.Time) {
	switch s := now.Unix(); {
	case s == f.second+1:
		f.second, f.past, f.count = s, f.count, 0
	case s != f.second:
		f.second, f.past, f.count = s, 0, 0
	}
}

// perSecond is how many leave in a second at present, at least one.
func (f *flow) perSecond(now time.Time) float64 {
	f.turn(now)
	return float64(max(f.count, f.past, 1))
}

// paced is the line as a RoundTripper.
type paced struct {
	pace *pace
	next http.RoundTripper
}

func (t paced) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	trip := tripOf(ctx)
	release := trip.turn.take()
	turned := release != nil
	if !turned {
		var err error
		if release, err = t.pace.enter(ctx); err != nil {
			return nil, err
		}
	}
	defer release()
	if err := t.pace.ready(ctx, turned); err != nil {
		return nil, err
	}
	trip.release = release
	return t.next.RoundTrip(req)
}

// departing is where a request leaves the line: it has all that it needs.
type departing struct {
	pace *pace
	next http.RoundTripper
}

func (t departing) RoundTrip(req *http.Request) (*http.Response, error) {
	trip := tripOf(req.Context())
	trip.left = t.pace.depart()
	trip.release()
	return t.next.RoundTrip(req)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
