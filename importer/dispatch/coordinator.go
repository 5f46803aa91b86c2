package dispatch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"

	"claimsheet/importer/ledger/postgres"
)

// Run is a run that this process coordinates. It is safe for concurrent use; its errors are as
// of Broker. Where the tables are lost, Rules, Add and Check make them again.
type Run struct {
	broker *Broker
	id     string
	queue  string
	spec   []byte

	mu      sync.Mutex
	rules   []byte // as the coordinator saw them last
	stopped bool
	ended   bool
}

// Outcome is what became of a plan.
type Outcome struct {
	Number  int64
	Outcome []byte
}

// Start begins a run, without stop rules yet. spec is what workers need for all of its
// clients. It removes runs whose coordinator's leases ended more than an hour ago, or that has
// no session any more. ctx limits the call; errors are as of Broker.
func (b *Broker) Start(ctx context.Context, id, queue string, spec []byte) (*Run, error) {
	r := &Run{broker: b, id: id, queue: queue, spec: spec}
	err := b.inTransaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM dispatched_runs r WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = r.coordinator AND s.until + $1 > `+postgres.ServerTime+`)`, abandonedAfter.Microseconds())
		if err != nil {
			return err
		}
		return r.insert(ctx, tx)
	})
	return r, err
}

// abandonedAfter is how long after the leases of a coordinator have ended its run counts as
// abandoned.
const abandonedAfter = time.Hour

func (r *Run) insert(ctx context.Context, tx pgx.Tx) error {
	r.mu.Lock()
	rules, stopped := r.rules, r.stopped
	r.mu.Unlock()
	_, err := tx.Exec(ctx, `INSERT INTO dispatched_runs (run, coordinator, spec, rules, stopped) VALUES ($1, $2, $3, coalesce($4, ''::bytea), $5) ON CONFLICT (run) DO NOTHING`, r.id, r.broker.session, r.spec, rules, stopped)
	return err
}

// Rules is Broker.Rules for this run. Where the tables were lost, it begins with the rules
// as they were seen last.
func (r *Run) Rules(ctx context.Context, change func(rules []byte) (now []byte, stopped bool, err error)) error {
	noted := func(rules []byte) ([]byte, bool, error) {
		now, stopped, err := change(rules)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil {
			r.rules, r.stopped = now, r.stopped || stopped
		}
		return now, stopped, err
	}
	err := r.broker.Rules(ctx, r.id, noted)
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended || !missing(err) && !errors.Is(err, ErrEnded) {
		return err
	}
	if err := r.restore(ctx); err != nil {
		return err
	}
	return r.broker.Rules(ctx, r.id, noted)
}

// restore makes the tables again, and the run in them.
func (r *Run) restore(ctx context.Context) error {
	if err := r.broker.prepare(ctx); err != nil {
		return err
	}
	return r.broker.inTransaction(ctx, r.insert)
}

// Add hands plans over, by numbers of their own in the run. Those that are there already are
// left as they are.
func (r *Run) Add(ctx context.Context, plans map[int64][]byte) error {
	numbers := slices.Sorted(maps.Keys(plans)) // in the order of the sheet
	add := func(ctx context.Context, tx pgx.Tx) error {
		jobs, err := r.enqueue(ctx, tx, numbers)
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for i, n := range numbers {
			batch.Queue(`INSERT INTO dispatched_clients (run, number, plan, job, queued) VALUES ($1, $2, $3, $4, now()) ON CONFLICT DO NOTHING`, r.id, n, plans[n], jobs[i])
		}
		return tx.SendBatch(ctx, batch).Close()
	}
	err := r.broker.inTransaction(ctx, add)
	if missing(err) || foreign(err) {
		if err = r.restore(ctx); err == nil {
			err = r.broker.inTransaction(ctx, add)
		}
	}
	return err
}

// enqueue inserts a job for each number and returns their ids.
func (r *Run) enqueue(ctx context.Context, tx pgx.Tx, numbers []int64) ([]int64, error) {
	params := make([]river.InsertManyParams, len(numbers))
	for i, n := range numbers {
		params[i] = river.InsertManyParams{Args: clientArgs{r.id, n}, InsertOpts: &river.InsertOpts{Queue: r.queue, MaxAttempts: attempts}}
	}
	inserted, err := r.broker.river.InsertManyTx(ctx, tx, params)
	if err != nil {
		return nil, err
	}
	jobs := make([]int64, len(inserted))
	for i, row := range inserted {
		jobs[i] = row.Job.ID
	}
	return jobs, nil
}

// attempts is how often River delivers a job that fails; the coordinator enqueues another
// one behind it.
const attempts = 10

// Collect returns up to most outcomes that have come in, in no order. They stay in the
// tables, and are returned again, until Collected removes them.
func (r *Run) Collect(ctx context.Context, most int) (list []Outcome, err error) {
	err = r.broker.again(ctx, func(ctx context.Context) error {
		list = nil
		rows, err := r.broker.pool.Query(ctx, `SELECT number, outcome FROM dispatched_clients WHERE run = $1 AND outcome IS NOT NULL LIMIT $2`, r.id, most)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Outcome])
		return err
	})
	return list, r.unlessMissing(err)
}

// Collected removes outcomes that Collect has returned.
func (r *Run) Collected(ctx context.Context, list []Outcome) error {
	numbers := make([]int64, len(list))
	for i, o := range list {
		numbers[i] = o.Number
	}
	err := r.broker.again(ctx, func(ctx context.Context) error {
		_, err := r.broker.pool.Exec(ctx, `DELETE FROM dispatched_clients WHERE run = $1 AND number = ANY($2)`, r.id, numbers)
		return err
	})
	return r.unlessMissing(err)
}

// Withdraw takes back the plans that nobody carries out, and returns their numbers: those
// that nobody has begun, and those of workers that are gone.
func (r *Run) Withdraw(ctx context.Context) (numbers []int64, err error) {
	err = r.broker.again(ctx, func(ctx context.Context) error {
		rows, err := r.broker.pool.Query(ctx, `DELETE FROM dispatched_clients c WHERE c.run = $1 AND c.outcome IS NULL AND (c.begun IS NULL OR NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.begun AND `+
			working+`)) RETURNING c.number`, r.id)
		if err != nil {
			return err
		}
		numbers, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	return numbers, r.unlessMissing(err)
}

// working is whether a session s may still carry out what it has begun: it is connected, and
// its leases last. What another process begins in its place waits for its leases.
const working = `s.until > ` + postgres.ServerTime + ` AND ` + postgres.IsConnected

// Check delivers plans again whose worker is gone, or whose job River has lost. all returns the
// plans whose outcomes were not collected; those that are not in the tables are added again.
// It returns how many workers carry plans out at present. Call it every few seconds.
func (r *Run) Check(ctx context.Context, all func() map[int64][]byte) (workers int, err error) {
	if err := r.redeliver(ctx); missing(err) {
		if err := r.restore(ctx); err != nil {
			return 0, err
		}
	} else if err != nil {
		return 0, err
	}
	lost := all() // before what is there is read: outcomes are collected meanwhile
	there, err := r.there(ctx)
	if err != nil {
		return 0, r.unlessMissing(err)
	}
	for _, n := range there {
		delete(lost, n)
	}
	if len(lost) > 0 {
		if err := r.Add(ctx, lost); err != nil {
			return 0, err
		}
	}
	err = r.broker.again(ctx, func(ctx context.Context) error {
		return r.broker.pool.QueryRow(ctx, `SELECT count(DISTINCT begun) FROM dispatched_clients WHERE run = $1 AND outcome IS NULL`, r.id).Scan(&workers)
	})
	return workers, r.unlessMissing(err)
}

// unlessMissing is err, or nil where tables are missing: the next Check makes them again.
func (r *Run) unlessMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

// there are the numbers of the plans in the tables.
func (r *Run) there(ctx context.Context) (numbers []int64, err error) {
	err = r.broker.again(ctx, func(ctx context.Context) error {
		rows, err := r.broker.pool.Query(ctx, `SELECT number FROM dispatched_clients WHERE run = $1`, r.id)
		if err != nil {
			return err
		}
		numbers, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	return numbers, err
}

// deliveryTime is how long River may take to deliver a job, and a worker to say that it has
// begun.
const deliveryTime = `interval '15 seconds'`

// redeliver enqueues plans again that are not on their way.
func (r *Run) redeliver(ctx context.Context) error {
	return r.broker.inTransaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `UPDATE dispatched_clients c SET begun = NULL, attempt = NULL WHERE c.run = $1 AND c.outcome IS NULL AND c.begun IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.begun AND `+working+`) RETURNING c.number`, r.id)
		if err != nil {
			return err
		}
		numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		rows, err = tx.Query(ctx, `SELECT c.number FROM dispatched_clients c WHERE c.run = $1 AND c.outcome IS NULL AND c.begun IS NULL AND c.queued < now() - `+deliveryTime+`
			AND NOT c.number = ANY($2) AND NOT EXISTS (SELECT 1 FROM river_job j WHERE j.id = c.job AND j.args->>'run' = c.run AND (j.args->>'number')::bigint = c.number AND (j.state IN ('available', 'pending', 'retryable', 'scheduled') AND j.scheduled_at < now() + `+deliveryTime+`
			OR j.state = 'running' AND j.attempted_at > now() - `+deliveryTime+`)) FOR UPDATE SKIP LOCKED`, r.id, numbers)
		if err != nil {
			return err
		}
		lost, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if numbers = append(numbers, lost...); err != nil || len(numbers) == 0 {
			return err
		}
		jobs, err := r.enqueue(ctx, tx, numbers)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE dispatched_clients c SET job = n.job, queued = now() FROM unnest($2::bigint[], $3::bigint[]) AS n (number, job) WHERE c.run = $1 AND c.number = n.number`, r.id, numbers, jobs)
		return err
	})
}

// End removes the run, with all that was handed over.
func (r *Run) End(ctx context.Context) error {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	err := r.broker.again(ctx, func(ctx context.Context) error {
		_, err := r.broker.pool.Exec(ctx, `DELETE FROM dispatched_runs WHERE run = $1`, r.id)
		return err
	})
	if missing(err) {
		return nil
	}
	return err
}

// foreign reports whether a plan could not be added because its run is not there.
func foreign(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && said.Code == "23503"
}
