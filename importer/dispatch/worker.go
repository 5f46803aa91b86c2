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

	"claimsheet/importer/ledger/postgres"
)

// Handler carries out one plan. run is the id of its run, and spec reads what Start was given
// for that run. It returns the outcome; nil gives the plan back, and another worker goes on
// with it. Any error gives the plan back too, and ends Work, but for ErrEnded. Several
// goroutines call it.
type Handler func(ctx context.Context, run string, spec Spec, plan []byte) (outcome []byte, err error)

// Spec reads what the coordinator of a run gives its workers. The error is ErrEnded when the
// run is not there, else as of Broker.
type Spec func(ctx context.Context) ([]byte, error)

// Work has handle carry out the plans of a queue, up to most at a time. It ends when ctx is
// done or handle returns an error, and waits up to ten minutes for the plans under way. It
// returns the error of handle or the cause of ctx; for context.Canceled nil, or why River did
// not end in time. log gets what River says.
//
// The same plan may come twice at once, to two processes; the leases of the ledger keep them
// apart.
func (b *Broker) Work(ctx context.Context, queue string, most int, log slog.Handler, handle Handler) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, job *river.Job[clientArgs]) error {
		err := b.carryOut(ctx, job.Args, handle)
		if err != nil && !errors.As(err, new(*river.JobSnoozeError)) {
			end(err)
		}
		return err
	}))
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{
		Queues:  map[string]river.QueueConfig{queue: {MaxWorkers: most}},
		Workers: workers, Logger: slog.New(log), JobTimeout: -1, RetryPolicy: retryAfterSecond{},
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
	// fetchPause is the shortest time between two fetches of jobs.
	fetchPause = 50 * time.Millisecond
	// lastWait is how long the end waits for what is under way, which is done in less.
	lastWait = 10 * time.Minute
	// snooze is the time after which River delivers again a plan that was given back.
	snooze = 100 * time.Millisecond
)

// retryAfterSecond is River's retry policy: a job that failed is delivered again after a
// second, however often it has failed.
type retryAfterSecond struct{}

func (retryAfterSecond) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(time.Second) }

// carryOut carries out one plan, unless somebody else has begun it.
func (b *Broker) carryOut(ctx context.Context, job clientArgs, handle Handler) error {
	if ctx.Err() != nil {
		return river.JobSnooze(snooze)
	}
	if _, busy := b.busy.LoadOrStore(job, true); busy {
		return river.JobSnooze(snooze) // leases do not keep the goroutines of one process apart
	}
	defer b.busy.Delete(job)
	attempt := rand.Text()
	plan, err := b.begin(ctx, job, attempt)
	if err != nil || plan == nil {
		return err
	}
	spec := func(ctx context.Context) ([]byte, error) { return b.spec(ctx, job.Run) }
	outcome, err := handle(ctx, job.Run, spec, plan)
	switch {
	case err == nil && outcome == nil, errors.Is(err, ErrEnded):
		if err := b.giveBack(context.WithoutCancel(ctx), job, attempt); err != nil {
			return err
		}
		return river.JobSnooze(snooze)
	case err != nil:
		return errors.Join(err, b.giveBack(context.WithoutCancel(ctx), job, attempt))
	}
	return b.finish(context.WithoutCancel(ctx), job, attempt, outcome)
}

// begin notes that this process carries a plan out, and returns it. It returns nil when the
// plan is done, when another process has begun it, when the run has ended or is stopped, and
// when the leases of its coordinator have ended; a coordinator that comes back delivers it
// again.
func (b *Broker) begin(ctx context.Context, job clientArgs, attempt string) (plan []byte, err error) {
	err = b.again(ctx, func(ctx context.Context) error {
		err := b.pool.QueryRow(ctx, `UPDATE dispatched_clients c SET begun = $3, attempt = $4 FROM dispatched_runs r, sessions s
			WHERE c.run = $1 AND c.number = $2 AND c.outcome IS NULL AND (c.begun IS NULL OR c.attempt = $4)
			AND r.run = c.run AND NOT r.stopped AND s.id = r.coordinator AND s.until > `+postgres.ServerTime+` RETURNING c.plan`, job.Run, job.Number, b.session, attempt).Scan(&plan)
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

// Active reports whether a run is there and the leases of its coordinator last. It is also true
// while the tables are missing: the coordinator makes them again, and nothing is known until
// then.
func (b *Broker) Active(ctx context.Context, run string) (active bool, err error) {
	err = b.again(ctx, func(ctx context.Context) error {
		return b.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM dispatched_runs r JOIN sessions s ON s.id = r.coordinator WHERE r.run = $1 AND s.until > `+postgres.ServerTime+`)`, run).Scan(&active)
	})
	if missing(err) {
		return true, nil
	}
	return active, err
}
