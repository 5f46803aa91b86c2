package apiclient_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
)

// TestRetryPolicy holds each kind of verdict to how often a step is sent in all,
// to how long the waits are, and to whether the run ends.
func TestRetryPolicy(t *testing.T) {
	busy := func(wait time.Duration) apiclient.Verdict {
		return apiclient.Verdict{Effect: apiclient.Refused, Status: 429, Retry: apiclient.AfterPause, RetryAfter: wait}
	}
	for name, c := range map[string]struct {
		verdict           apiclient.Verdict
		fresh, repeatable bool
		sent              int // at most 20
		tooLong           bool
	}{
		"created":                      {apiclient.Verdict{Effect: apiclient.Created, Status: 201}, true, true, 1, false},
		"refused":                      {apiclient.Verdict{Effect: apiclient.Refused, Status: 422}, true, true, 1, false},
		"uncertain":                    {apiclient.Verdict{Effect: apiclient.Uncertain, Status: 200}, true, false, 1, false},
		"uncertain, repeatable":        {apiclient.Verdict{Effect: apiclient.Uncertain}, false, true, 5, false},
		"not sent":                     {apiclient.Verdict{Effect: apiclient.NotSent}, false, false, 5, false},
		"a stop":                       {apiclient.Verdict{Effect: apiclient.NotSent, Stop: true}, true, true, 1, false},
		"404":                          {apiclient.Verdict{Effect: apiclient.Refused, Status: 404}, false, false, 1, false},
		"404 of something fresh":       {apiclient.Verdict{Effect: apiclient.Refused, Status: 404}, true, false, 4, false},
		"asked to wait a second":       {busy(time.Second), false, false, 20, false},
		"asked to wait a quarter":      {busy(14 * time.Minute), false, false, 2, true},
		"asked to wait for an hour":    {busy(time.Hour), false, false, 1, true},
		"retry without being asked to": {apiclient.Verdict{Effect: apiclient.Refused, Status: 409, Retry: apiclient.Now}, false, false, 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := apiclient.NewRetryPolicy(0)
				var next apiclient.RetryDecision
				sent := 1
				for ; sent < 20; sent++ {
					if next = p.Next(c.verdict, c.fresh, c.repeatable); !next.Again {
						break
					}
					if next.Wait > time.Minute && next.Wait != c.verdict.RetryAfter || next.Wait < c.verdict.RetryAfter {
						t.Errorf("a wait of %v", next.Wait)
					}
					time.Sleep(next.Wait)
				}
				if sent != c.sent || next.TooLong != c.tooLong {
					t.Errorf("sent %d times, too far %v; want %d, %v", sent, next.TooLong, c.sent, c.tooLong)
				}
			})
		})
	}
}

// TestRetriedGET asks again while the answer may be another one: five times
// where the service fails, a quarter of an hour where it asks for time.
func TestRetriedGET(t *testing.T) {
	other := errors.New("other")
	for name, c := range map[string]struct {
		err   error
		asked int
		stop  bool
	}{
		"an answer":      {nil, 1, false},
		"another error":  {other, 1, false},
		"a failure":      {&apiclient.Failure{}, 1, false},
		"one that may":   {&apiclient.Failure{Retry: apiclient.Now}, 5, false},
		"busy":           {&apiclient.Failure{Retry: apiclient.AfterPause, RetryAfter: 5 * time.Minute}, 4, true},
		"busy for hours": {&apiclient.Failure{Retry: apiclient.AfterPause, RetryAfter: time.Hour}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				err := apiclient.RetryGET(t.Context(), apiclient.MaxAttempts, 0, func() error {
					asked++
					if f := new(apiclient.Failure); errors.As(c.err, &f) {
						time.Sleep(f.RetryAfter) // the client holds its requests back
					}
					return c.err
				})
				f := new(apiclient.Failure)
				stop := errors.As(err, &f) && f.Stop
				if asked != c.asked || stop != c.stop || !errors.Is(err, c.err) {
					t.Errorf("asked %d times, stop %v, error %v; want %d, %v, %v", asked, stop, err, c.asked, c.stop, c.err)
				}
			})
		})
	}
}
