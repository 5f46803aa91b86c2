package apiclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The functions of this file decide whether a request to the service is sent again, and
// after how long.
//
// A creating request is repeated only while it is proved that the service did
// not process it, or where the environment allows its kind to be repeated. A GET
// is repeated while another attempt may get an answer. Being asked to wait is no
// failed attempt: it is followed for a quarter of an hour, and a service that
// asks for more ends the run.

const (
	// MaxAttempts is how often a request is sent in all while none of them reaches
	// the service.
	MaxAttempts = 5

	firstRetryWait = 250 * time.Millisecond // on average
	// maxWaitInAll is the longest that one step waits because the service asks it
	// to, at once or in all.
	maxWaitInAll = 15 * time.Minute
	// maxLagging is how often a 404 for something just created is put down to the
	// service's own copies, which may not have it yet.
	maxLagging = 3
)

// RetryPolicy decides for one step, or for one GET, of one run. It is for one
// goroutine.
type RetryPolicy struct {
	backoff  *backoff.ExponentialBackOff
	attempts int
	lagged   int
	asked    time.Time // when the service first asked to wait; zero when it has not
}

// NewRetryPolicy returns a policy that backs off with full jitter: each wait is evenly
// distributed between 0 and a limit that begins at twice first (0 is 250 ms), doubles, and
// ends at a minute.
func NewRetryPolicy(first time.Duration) *RetryPolicy {
	return &RetryPolicy{backoff: &backoff.ExponentialBackOff{
		InitialInterval: cmp.Or(first, firstRetryWait), RandomizationFactor: 1, Multiplier: 2, MaxInterval: 30 * time.Second,
	}}
}

// RetryDecision says what to do after a request that left its step undone. The zero
// RetryDecision is to leave it.
type RetryDecision struct {
	Again   bool
	Wait    time.Duration // before the next attempt; what the service asks for, when TooLong
	Shared  bool          // the client holds back all requests for that time: the step need not wait itself
	TooLong bool          // the service asks for a longer wait than a run makes: end the run
}

// Next decides after a verdict. fresh says that an id in the request's path was
// created less than a minute ago; repeatable, that the environment allows this
// kind of step to be sent again when it is uncertain.
func (p *RetryPolicy) Next(v Verdict, fresh, repeatable bool) RetryDecision {
	wait := p.Backoff()
	switch {
	case v.Stop || v.Effect == Created:
		return RetryDecision{}
	case asksToWait(v) && p.exceedsMax(v.RetryAfter), v.Retry == Now && v.RetryAfter > maxWaitInAll:
		return RetryDecision{TooLong: true, Wait: v.RetryAfter}
	case v.Retry == AfterPause:
		return RetryDecision{Again: true, Wait: max(wait, v.RetryAfter), Shared: true}
	case v.Effect == Refused && v.Retry == Now:
		return RetryDecision{Again: !p.exceedsMax(0), Wait: max(wait, v.RetryAfter)}
	case v.Effect == Refused && v.Status == 404 && fresh && p.lagged < maxLagging:
		p.lagged++
		return RetryDecision{Again: true, Wait: wait}
	case v.Effect == NotSent, v.Effect == Uncertain && repeatable:
		p.attempts++
		return RetryDecision{Again: p.attempts < MaxAttempts, Wait: wait}
	}
	return RetryDecision{}
}

// asksToWait reports whether the service asks for a pause of all requests. It may
// do so in an answer that leaves the outcome uncertain.
func asksToWait(v Verdict) bool {
	return v.Retry == AfterPause || v.Effect == Uncertain && v.RetryAfter > 0
}

// Backoff returns the wait before the next attempt.
func (p *RetryPolicy) Backoff() time.Duration { return p.backoff.NextBackOff() }

// exceedsMax reports whether a wait that the service asks for, added to the time
// since it first asked, is longer than a run waits.
func (p *RetryPolicy) exceedsMax(wait time.Duration) bool {
	if p.asked.IsZero() {
		p.asked = time.Now()
	}
	return time.Since(p.asked)+wait > maxWaitInAll
}

// RetryGET calls ask, which sends GETs only, until it succeeds, and returns its last
// error. It is called at most attempts times (MaxAttempts is usual) while the error
// is a *Failure for which another attempt may get an answer, with the
// waits of NewRetryPolicy(first). While the service only asks to wait, it is called
// again for a quarter of an hour; after that, and where the service asks for a
// longer wait, the Failure returned has Stop set.
func RetryGET(ctx context.Context, attempts int, first time.Duration, ask func() error) error {
	for p := NewRetryPolicy(first); ; {
		err := ask()
		f, ok := errors.AsType[*Failure](err)
		if !ok || ctx.Err() != nil {
			return err
		}
		wait := p.Backoff()
		switch {
		case f.Retry == AfterPause:
			if p.exceedsMax(f.RetryAfter) {
				return &Failure{Stop: true, Err: err, Reason: f.Reason + ", and " + DescribeLongWait(f.RetryAfter)}
			}
		case f.Retry == Now && p.attempts+1 < attempts:
			p.attempts++
			Sleep(ctx, wait)
		default:
			return err
		}
	}
}

// DescribeLongWait says, as the predicate of a sentence about the service, that a run does
// not wait as long as the service asks it to.
func DescribeLongWait(wait time.Duration) string {
	if IsLongWait(wait) {
		return fmt.Sprintf("asks to wait for %s; run again then", wait.Round(time.Second))
	}
	return fmt.Sprintf("has been asking to wait for %s; run again later", maxWaitInAll)
}

// IsLongWait reports whether a single wait is longer than a run makes.
func IsLongWait(wait time.Duration) bool { return wait > maxWaitInAll }

// Sleep waits for d or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
