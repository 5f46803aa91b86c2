package dispatch

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// Work carries out plans, up to most at a time, until ctx is done; what is under way is
// finished first. work gets the run of a plan, a function that reads the spec of that run,
// and the plan. It returns the outcome, or nil for a plan that it gives back, with which
// another worker goes on. Its error ends Work: the others see ctx done, and it is returned.
// ErrEnded as that error gives the plan back, too. log gets what River says.
//
// A plan may come a second time while another process still carries it out, or after that
// was lost; the ledger keeps them apart.
func (b *Broker) Work(ctx context.Context, queue string, most int, log slog.Handler, work func(ctx context.Context, run string, spec func(context.Context) ([]byte, error), plan []byte) ([]byte, error)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, job *river.Job[clientArgs]) error {
		err := b.carryOut(ctx, job.Args, work)
		if err != nil && !errors.As(err, new(*river.JobSnoozeError)) {
			end(err)
		}
		return err
	}))
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{
		Queues:  map[string]river.QueueConfig{queue: {MaxWorkers: most}},
		Workers: workers, Logger: slog.New(log), JobTimeout: -1, RetryPolicy: soon{},
		FetchCooldown: fetchPause, CompletedJobRetentionPeriod: time.Hour, CancelledJobRetentionPeriod: time.Hour,
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return refused(err)
	}
	<-ctx.Done()
	stopped, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWait)
	defer cancel()
	err = client.Stop(stopped)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

const (
	// fetchPause is how often River is asked for jobs at most.
	fetchPause = 50 * time.Millisecond
	// lastWait is how long the end waits for what is under way, which is done in less.
	lastWait = 10 * time.Minute
	// given is when another worker gets a plan that was given back.
	given = 100 * time.Millisecond
)

// soon delivers a failed job again at once.
type soon struct{}

func (soon) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(time.Second) }

// carryOut carries out one plan, unless somebody else has begun it.
func (b *Broker) carryOut(ctx context.Context, job clientArgs, work func(context.Context, string, func(context.Context) ([]byte, error), []byte) ([]byte, error)) error {
	if _, busy := b.busy.LoadOrStore(job, true); busy || ctx.Err() != nil {
		return river.JobSnooze(given) // leases do not keep the goroutines of one process apart
	}
	defer b.busy.Delete(job)
	attempt := rand.Text()
	plan, err := b.begin(ctx, job, attempt)
	if err != nil || plan == nil {
		return err
	}
	spec := func(ctx context.Context) ([]byte, error) { return b.spec(ctx, job.Run) }
	outcome, err := work(ctx, job.Run, spec, plan)
	switch {
	case err == nil && outcome == nil, errors.Is(err, ErrEnded):
		if err := b.giveBack(context.WithoutCancel(ctx), job, attempt); err != nil {
			return err
		}
		return river.JobSnooze(given)
	case err != nil:
		return errors.Join(err, b.giveBack(context.WithoutCancel(ctx), job, attempt))
	}
	return b.finish(context.WithoutCancel(ctx), job, attempt, outcome)
}

// begin notes that this process carries a plan out and returns it; nil when it is done, or
// begun by another process, or the run has ended, or its coordinator does not
// renew its leases, which delivers it again when it is back.
func (b *Broker) begin(ctx context.Context, job clientArgs, attempt string) (plan []byte, err error) {
	err = b.again(ctx, func(ctx context.Context) error {
		err := b.pool.QueryRow(ctx, `UPDATE dispatched_clients c SET begun = $3, attempt = $4 FROM dispatched_runs r, sessions s
			WHERE c.run = $1 AND c.number = $2 AND c.outcome IS NULL AND (c.begun IS NULL OR c.attempt = $4)
			AND r.run = c.run AND NOT r.stopped AND s.id = r.coordinator AND s.until > `+serverTime+` RETURNING c.plan`, job.Run, job.Number, b.session, attempt).Scan(&plan)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if missing(err) {
		return nil, nil // the coordinator makes them again
	}
	return plan, err
}

// spec is what a run's coordinator gives its workers.
func (b *Broker) spec(ctx context.Context, run string) (spec []byte, err error) {
	err = b.again(ctx, func(ctx context.Context) error {
		err := b.pool.QueryRow(ctx, `SELECT spec FROM dispatched_runs WHERE run = $1`, run).Scan(&spec)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrEnded
		}
		return err
	})
	return spec, err
}

// finish hands an outcome over, unless the plan was delivered to another process meanwhile.
func (b *Broker) finish(ctx context.Context, job clientArgs, attempt string, outcome []byte) error {
	return b.update(ctx, `UPDATE dispatched_clients SET outcome = $4 WHERE run = $1 AND number = $2 AND attempt = $3`, job.Run, job.Number, attempt, outcome)
}

// giveBack lets another process begin a plan.
func (b *Broker) giveBack(ctx context.Context, job clientArgs, attempt string) error {
	return b.update(ctx, `UPDATE dispatched_clients SET begun = NULL, attempt = NULL WHERE run = $1 AND number = $2 AND attempt = $3`, job.Run, job.Number, attempt)
}

// update changes rows, as far as they are there: tables that were lost are the coordinator's
// to fill again.
func (b *Broker) update(ctx context.Context, statement string, args ...any) error {
	err := b.again(ctx, func(ctx context.Context) error {
		_, err := b.pool.Exec(ctx, statement, args...)
		return err
	})
	if missing(err) {
		return nil
	}
	return err
}

// Active reports whether a run is there and its coordinator renews its leases.
func (b *Broker) Active(ctx context.Context, run string) (active bool, err error) {
	err = b.again(ctx, func(ctx context.Context) error {
		return b.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM dispatched_runs r JOIN sessions s ON s.id = r.coordinator WHERE r.run = $1 AND s.until > `+serverTime+`)`, run).Scan(&active)
	})
	if missing(err) {
		return true, nil
	}
	return active, err
}
