package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"claimsheet/importer/ledger"
)

// Work has handle carry out the plans of a queue, up to most groups at a time, until ctx is done, and waits for what is under way. It
// returns the cause of ctx, nil for context.Canceled. log gets what River says.
//
// handle gets the plans of a group of a run. Unless they are done, another worker goes on with them; after ErrEnded only if the run's
// coordinator was just silent. Several goroutines call it.
//
// The same plans may come twice at once, to two processes; the locks of the ledger keep them apart.
func (b *Broker) Work(ctx context.Context, queue string, most int, log slog.Handler,
	handle func(run string, plans []byte) (done bool, err error)) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, job *river.Job[groupArgs]) error {
		done, err := handle(job.Args.Run, []byte(job.Args.Plans))
		switch {
		case errors.Is(err, ErrEnded):
			return river.JobCancel(err) // see Run.Check
		case err != nil || !done:
			return river.JobSnooze(snooze)
		}
		return nil
	}))
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{
		ID:     strconv.FormatInt(b.session, 10), // see abandoned
		Queues: map[string]river.QueueConfig{queue: {MaxWorkers: most}}, Workers: workers, Logger: slog.New(log), JobTimeout: -1,
		PollOnly: true, FetchPollInterval: fetchEvery, FetchCooldown: fetchPause, // no connection that waits for notifications
		CompletedJobRetentionPeriod: time.Hour, CancelledJobRetentionPeriod: time.Hour,
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return refused(err)
	}
	<-ctx.Done()
	err = client.Stop(context.WithoutCancel(ctx))
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

const (
	// fetchPause is the shortest time between two fetches of jobs, and fetchEvery the longest.
	fetchPause, fetchEvery = 50 * time.Millisecond, 200 * time.Millisecond
	// snooze is the time after which River has plans worked again that were given back.
	snooze = 100 * time.Millisecond
)

// Active returns the runs whose coordinator is not silent.
func (b *Broker) Active(ctx context.Context) (runs map[string]bool, err error) {
	err = b.again(ctx, func(ctx context.Context) error {
		rows, err := b.pool.Query(ctx,
			`SELECT r.run FROM dispatched_runs r JOIN (`+ledger.Sessions+`) s ON s.number = r.coordinator WHERE s.silent < $1`, b.silence)
		if err != nil {
			return err
		}
		runs = map[string]bool{}
		var run string
		_, err = pgx.ForEachRow(rows, []any{&run}, func() error {
			runs[run] = true
			return nil
		})
		return err
	})
	return runs, err
}

// IsStopped reports whether workers begin nothing of a run any more. The error is ErrEnded when the run is not there.
func (b *Broker) IsStopped(ctx context.Context, run string) (stopped bool, err error) {
	err = b.read(ctx, &stopped, `SELECT stopped FROM dispatched_runs WHERE run = $1`, run)
	return stopped, err
}

// Spec reads what a run's coordinator gives its workers. The error is ErrEnded when the run is not there.
func (b *Broker) Spec(ctx context.Context, run string, spec any) error {
	return b.read(ctx, spec, `SELECT spec FROM dispatched_runs WHERE run = $1`, run)
}

// read reads what a query says of a run.
func (b *Broker) read(ctx context.Context, to any, query, run string) error {
	return b.again(ctx, func(ctx context.Context) error {
		err := b.pool.QueryRow(ctx, query, run).Scan(to)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrEnded
		}
		return err
	})
}
