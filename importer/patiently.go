package importer

import (
	"context"
	"errors"
	"time"

	"claimsheet/apiclient"
)

// Patiently asks the service for something, and again for as long as it only
// asks for time: the client holds its requests back by itself meanwhile, and
// waiting is no attempt. A service that asks for more than a quarter of an hour,
// at once or in all, gets no other request: the failure has Stop set. Where the
// next attempt may fare better, five are made in all, with the waits of a step.
// ask sends GETs only; its other errors are returned as they are. first is the
// first wait on average, each further one twice the last; 0 is 250 ms.
func Patiently(ctx context.Context, first time.Duration, ask func() error) error {
	return askAgain(ctx, maxAttempts, first, ask)
}

func askAgain(ctx context.Context, attempts int, first time.Duration, ask func() error) error {
	for pace := newPatience(first); ; {
		err := ask()
		f, ok := errors.AsType[*apiclient.Failure](err)
		if !ok || ctx.Err() != nil {
			return err
		}
		wait := pace.backoff.NextBackOff()
		switch {
		case f.Retry == apiclient.AfterPause:
			if pace.exceeds(f.RetryAfter) {
				return &apiclient.Failure{Stop: true, Err: err, Reason: f.Reason + ", and " + tooFarWords(f.RetryAfter)}
			}
		case f.Retry == apiclient.Now && pace.attempts+1 < attempts:
			pace.attempts++
			sleep(ctx, wait)
		default:
			return err
		}
	}
}
