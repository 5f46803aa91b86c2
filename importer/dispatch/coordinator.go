package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"claimsheet/importer/ledger"
)

// Run is a run that this process coordinates, or of which it is a worker. It is an
// importer.Dispatcher for the one, and importer.SharedRules for both; its errors are as of Broker.
type Run struct {
	broker *Broker
	run    string
	queue  string // "" for a worker
}

// Run returns a run that another process coordinates, and that may have ended.
func (b *Broker) Run(id string) *Run { return &Run{broker: b, run: id} }

// Start begins a run, without stop rules yet. id is letters, digits and hyphens; spec is what workers need for all of the run's clients, as
// JSON. It removes runs whose coordinator has no session any more. ctx limits the call.
func (b *Broker) Start(ctx context.Context, id, queue string, spec any) (*Run, error) {
	err := b.again(ctx, func(ctx context.Context) error {
		batch := &pgx.Batch{} // is a transaction
		batch.Queue(`DELETE FROM dispatched_runs r WHERE r.coordinator NOT IN (SELECT s.number FROM (` + ledger.Sessions + `) s)`)
		batch.Queue(`DELETE FROM river_job j WHERE j.kind = $1 AND NOT EXISTS (SELECT 1 FROM dispatched_runs r WHERE r.run = ANY (j.tags))`,
			groupArgs{}.Kind())
		batch.Queue(`INSERT INTO dispatched_runs (run, coordinator, spec) VALUES ($1, $2, $3) ON CONFLICT (run) DO NOTHING`, id, b.session, spec)
		return b.pool.SendBatch(ctx, batch).Close()
	})
	return &Run{b, id, queue}, err
}

// Add hands groups of plans over, by numbers of their own in the run.
func (r *Run) Add(ctx context.Context, groups map[int64][]byte) error {
	var jobs []river.InsertManyParams
	for _, n := range slices.Sorted(maps.Keys(groups)) { // in the order of the sheet
		jobs = append(jobs, river.InsertManyParams{Args: groupArgs{r.run, n, string(groups[n])}, InsertOpts: &river.InsertOpts{Queue: r.queue,
			Tags: []string{r.run}}})
	}
	return r.broker.again(ctx, func(ctx context.Context) error {
		_, err := r.broker.river.InsertMany(ctx, jobs)
		return err
	})
}

// Collect calls do with the groups whose jobs are finished, if any, and removes the jobs when that succeeds; do may get a group again that
// could not be removed. When the run stops, workers begin nothing any more, and do also gets groups that no worker carries out.
func (r *Run) Collect(ctx context.Context, stops bool, do func(groups map[int64][]byte) error) error {
	states := []rivertype.JobState{rivertype.JobStateCompleted}
	if stops {
		states = append(states, rivertype.JobStateCancelled)
		err := r.broker.exec(ctx, `WITH stopped AS (UPDATE dispatched_runs SET stopped = true WHERE run = $1 AND NOT stopped)
			UPDATE river_job j SET state = 'cancelled', finalized_at = now() WHERE $1 = ANY (j.tags) AND (j.state IN ('available', 'pending', 'retryable', 'scheduled') OR `+abandoned+`)`, r.run, r.broker.silence)
		if err != nil {
			return err
		}
	}
	var found *river.JobListResult
	err := r.broker.again(ctx, func(ctx context.Context) (err error) {
		found, err = r.broker.river.JobList(ctx, river.NewJobListParams().States(states...).Queues(r.queue).TagsAll(r.run).First(collectedAtOnce))
		return err
	})
	if err != nil || len(found.Jobs) == 0 {
		return err
	}
	ids, groups := make([]int64, len(found.Jobs)), map[int64][]byte{}
	for i, job := range found.Jobs {
		var args groupArgs
		if err := json.Unmarshal(job.EncodedArgs, &args); err != nil {
			return fmt.Errorf("a job of the run cannot be read: %w", err)
		}
		ids[i], groups[args.Number] = job.ID, []byte(args.Plans)
	}
	if err := do(groups); err != nil {
		return err
	}
	return r.broker.exec(ctx, `DELETE FROM river_job WHERE id = ANY ($1)`, ids)
}

// collectedAtOnce is how many jobs are read from the tables at once.
const collectedAtOnce = 200

// abandoned is whether a job j was begun by a worker that is not connected any more, or is silent for
// as long as the second parameter says. River's client has the number of the worker's session.
const abandoned = `(j.state = 'running' AND j.attempted_by[array_upper(j.attempted_by, 1)] NOT IN
	(SELECT s.number::text FROM (` + ledger.Sessions + `) s WHERE s.silent < $2))`

// Check makes jobs available again whose worker is gone, and those that workers have refused because this process was silent; what another
// worker begins then waits for the locks of the first. It returns how many workers carry jobs out. The error also says that fewer jobs than
// out are left. Call it every few seconds, and not at the same time as other methods.
func (r *Run) Check(ctx context.Context, out int) (workers int, err error) {
	err = r.broker.exec(ctx, `UPDATE river_job j SET state = 'available', finalized_at = NULL WHERE $1 = ANY (j.tags) AND (j.state = 'cancelled' OR `+abandoned+`)
		AND EXISTS (SELECT 1 FROM dispatched_runs WHERE run = $1 AND NOT stopped)`, r.run, r.broker.silence)
	if err != nil {
		return 0, err
	}
	var jobs int
	err = r.broker.again(ctx, func(ctx context.Context) error {
		return r.broker.pool.QueryRow(ctx,
			`SELECT count(*), count(DISTINCT attempted_by[array_upper(attempted_by, 1)]) FILTER (WHERE state = 'running') FROM river_job WHERE $1 = ANY (tags)`, r.run).Scan(&jobs, &workers)
	})
	if err == nil && jobs < out {
		err = ledger.ServerFailed(fmt.Errorf("%d of %d groups that were handed over have disappeared from the database; what was done is in the ledger",
			out-jobs, out))
	}
	return workers, err
}

// End removes the run, with all that was handed over. What River's tables held is personal data, so
// its room is given back at once, where this user owns them; the server does it later in any case. FULL
// gives back that of the indexes too, and is left out while another process uses the table.
func (r *Run) End(ctx context.Context) error {
	err := r.broker.exec(ctx, `WITH run AS (DELETE FROM dispatched_runs WHERE run = $1) DELETE FROM river_job WHERE $1 = ANY (tags)`, r.run)
	for _, how := range []string{"SKIP_LOCKED", "FULL, SKIP_LOCKED"} {
		if err == nil {
			err = r.broker.exec(ctx, `VACUUM (`+how+`) river_job`)
		}
	}
	return err
}
