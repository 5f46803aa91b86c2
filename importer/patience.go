package importer

import (
	"cmp"
	"time"

	"github.com/cenkalti/backoff/v5"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

const (
	// firstWait is the first wait on average.
	firstWait = 250 * time.Millisecond
	// maxAttempts bounds how often a request is sent again that surely did not
	// arrive. Being asked to wait is no attempt.
	maxAttempts = 5
	// longestWait is the longest that one step waits because the service asks
	// it to, at once or in all; a service that asks for more ends the run.
	longestWait = 15 * time.Minute
	// lagging is how long after a thing was made the service's own copies may
	// still answer that there is no such thing.
	lagging = 60 * time.Second
	// maxLagging bounds how often a 404 is put down to that.
	maxLagging = 3
)

// patience decides, for one step in one run, whether it is sent again and
// after how long. Only what is proved not to have been processed is.
type patience struct {
	backoff  *backoff.ExponentialBackOff
	attempts int
	lagged   int
	asked    time.Time // when the service first asked to wait; zero when it has not
}

// newPatience backs off with full jitter: evenly between 0 and a limit that
// begins at twice the first wait, half a second usually, and doubles, up to a
// minute.
func newPatience(first time.Duration) *patience {
	return &patience{backoff: &backoff.ExponentialBackOff{
		InitialInterval: cmp.Or(first, firstWait), RandomizationFactor: 1, Multiplier: 2, MaxInterval: 30 * time.Second,
	}}
}

// rest is what to do after a verdict that leaves the step undone.
type rest struct {
	again  bool
	wait   time.Duration
	shared bool // the service asks: its client holds back all requests by itself
	tooFar bool // it asks for longer than the run waits
}

// after decides. fresh tells that an id in the request's path was made less
// than a minute ago; repeatable, that the environment allows the kind to be
// sent again when it is uncertain.
func (p *patience) after(v apiclient.Verdict, fresh, repeatable bool) rest {
	wait := p.backoff.NextBackOff()
	switch {
	case v.Stop || v.Effect == apiclient.Created:
		return rest{}
	case asksToWait(v) && p.exceeds(v.RetryAfter), v.Retry == apiclient.Now && v.RetryAfter > longestWait:
		return rest{tooFar: true, wait: v.RetryAfter}
	case v.Retry == apiclient.AfterPause:
		return rest{again: true, wait: max(wait, v.RetryAfter), shared: true}
	case v.Effect == apiclient.Refused && v.Retry == apiclient.Now:
		return rest{again: !p.exceeds(0), wait: max(wait, v.RetryAfter)}
	case v.Effect == apiclient.Refused && v.Status == 404 && fresh && p.lagged < maxLagging:
		p.lagged++
		return rest{again: true, wait: wait}
	case v.Effect == apiclient.NotSent, v.Effect == apiclient.Uncertain && repeatable:
		p.attempts++
		return rest{again: p.attempts < maxAttempts, wait: wait}
	}
	return rest{}
}

// asksToWait reports whether the service asks for a pause of all requests. It may
// do so in an answer that leaves the outcome uncertain.
func asksToWait(v apiclient.Verdict) bool {
	return v.Retry == apiclient.AfterPause || v.Effect == apiclient.Uncertain && v.RetryAfter > 0
}

// exceeds reports whether a wait that the service asks for, after all that has
// been waited for it, is longer than a run waits. Only the time that passes
// counts.
func (p *patience) exceeds(wait time.Duration) bool {
	if p.asked.IsZero() {
		p.asked = time.Now()
	}
	return time.Since(p.asked)+wait > longestWait
}

// onPath tells whether a step's request holds the id of something made before
// it, and when that was made.
func (e *errand) onPath(step *mapping.Step) (made time.Time, ok bool) {
	switch {
	case step.Kind == mapping.ClientStep:
		return time.Time{}, false
	case step.Kind == mapping.ActivityStep && step.Claim != "":
		made, ok = e.made[step.Claim]
	default:
		made, ok = e.made["client"]
	}
	return made, ok
}
