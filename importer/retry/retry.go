// Package retry decides whether a request to the service is sent again, and
// after how long.
//
// A creating request is repeated only while it is proved that the service did
// not process it, or where the environment allows its kind to be repeated. A GET
// is repeated while another attempt may get an answer. Being asked to wait is no
// failed attempt: it is followed for a quarter of an hour, and a service that
// asks for more ends the run.
package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"claimsheet/apiclient"
)

const (
	// Attempts is how often a request is sent in all while none of them reaches
	// the service.
	Attempts = 5

	firstWait = 250 * time.Millisecond // on average
	// longestWait is the longest that one step waits because the service asks it
	// to, at once or in all.
	longestWait = 15 * time.Minute
	// maxLagging is how often a 404 for something just created is put down to the
	// service's own copies, which may not have it yet.
	maxLagging = 3
)

// Policy decides for one step, or for one GET, of one run. It is for one
// goroutine.
type Policy struct {
	backoff  *backoff.ExponentialBackOff
	attempts int
	lagged   int
	asked    time.Time // when the service first asked to wait; zero when it has not
}

// NewPolicy returns a policy that backs off with full jitter: each wait is evenly
// distributed between 0 and a limit that begins at twice first (0 is 250 ms), doubles, and
// ends at a minute.
func NewPolicy(first time.Duration) *Policy {
	return &Policy{backoff: &backoff.ExponentialBackOff{
		InitialInterval: cmp.Or(first, firstWait), RandomizationFactor: 1, Multiplier: 2, MaxInterval: 30 * time.Second,
	}}
}

// Decision says what to do after a request that left its step undone. The zero
// Decision is to leave it.
type Decision struct {
	Again   bool
	Wait    time.Duration // before the next attempt; what the service asks for, when TooLong
	Shared  bool          // the client holds back all requests for that time: the step need not wait itself
	TooLong bool          // the service asks for a longer wait than a run makes: end the run
}

// Next decides after a verdict. fresh says that an id in the request's path was
// created less than a minute ago; repeatable, that the environment allows this
// kind of step to be sent again when it is uncertain.
func (p *Policy) Next(v apiclient.Verdict, fresh, repeatable bool) Decision {
	wait := p.Backoff()
	switch {
	case v.Stop || v.Effect == apiclient.Created:
		return Decision{}
	case asksToWait(v) && p.exceedsMax(v.RetryAfter), v.Retry == apiclient.Now && v.RetryAfter > longestWait:
		return Decision{TooLong: true, Wait: v.RetryAfter}
	case v.Retry == apiclient.AfterPause:
		return Decision{Again: true, Wait: max(wait, v.RetryAfter), Shared: true}
	case v.Effect == apiclient.Refused && v.Retry == apiclient.Now:
		return Decision{Again: !p.exceedsMax(0), Wait: max(wait, v.RetryAfter)}
	case v.Effect == apiclient.Refused && v.Status == 404 && fresh && p.lagged < maxLagging:
		p.lagged++
		return Decision{Again: true, Wait: wait}
	case v.Effect == apiclient.NotSent, v.Effect == apiclient.Uncertain && repeatable:
		p.attempts++
		return Decision{Again: p.attempts < Attempts, Wait: wait}
	}
	return Decision{}
}

// asksToWait reports whether the service asks for a pause of all requests. It may
// do so in an answer that leaves the outcome uncertain.
func asksToWait(v apiclient.Verdict) bool {
	return v.Retry == apiclient.AfterPause || v.Effect == apiclient.Uncertain && v.RetryAfter > 0
}

// Backoff returns the wait before the next attempt.
func (p *Policy) Backoff() time.Duration { return p.backoff.NextBackOff() }

// exceedsMax reports whether a wait that the service asks for, added to the time
// since it first asked, is longer than a run waits.
func (p *Policy) exceedsMax(wait time.Duration) bool {
	if p.asked.IsZero() {
		p.asked = time.Now()
	}
	return time.Since(p.asked)+wait > longestWait
}

// GET calls ask, which sends GETs only, until it succeeds, and returns its last
// error. It is called at most attempts times (Attempts is usual) while the error
// is a *apiclient.Failure for which another attempt may get an answer, with the
// waits of NewPolicy(first). While the service only asks to wait, it is called
// again for a quarter of an hour; after that, and where the service asks for a
// longer wait, the Failure returned has Stop set.
func GET(ctx context.Context, attempts int, first time.Duration, ask func() error) error {
	for p := NewPolicy(first); ; {
		err := ask()
		f, ok := errors.AsType[*apiclient.Failure](err)
		if !ok || ctx.Err() != nil {
			return err
		}
		wait := p.Backoff()
		switch {
		case f.Retry == apiclient.AfterPause:
			if p.exceedsMax(f.RetryAfter) {
				return &apiclient.Failure{Stop: true, Err: err, Reason: f.Reason + ", and " + TooLong(f.RetryAfter)}
			}
		case f.Retry == apiclient.Now && p.attempts+1 < attempts:
			p.attempts++
			Sleep(ctx, wait)
		default:
			return err
		}
	}
}

// TooLong says, as the predicate of a sentence about the service, that a run does
// not wait as long as the service asks it to.
func TooLong(wait time.Duration) string {
	if Exceeds(wait) {
		return fmt.Sprintf("asks to wait for %s; run again then", wait.Round(time.Second))
	}
	return fmt.Sprintf("has been asking to wait for %s; run again later", longestWait)
}

// Exceeds reports whether a single wait is longer than a run makes.
func Exceeds(wait time.Duration) bool { return wait > longestWait }

// Sleep waits for d or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
