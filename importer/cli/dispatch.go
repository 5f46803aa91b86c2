package cli

import (
	"context"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/dispatch"
	"claimsheet/importer/stoprule"
	"claimsheet/mapping/problem"
)

// runSpec is what a run gives the workers that carry its plans out, as JSON.
type runSpec struct {
	Session     load.Shared
	Runs        []string // as importer.Job.Runs
	Environment string   // as importer.Job.Environment
	MaxFailures stoprule.MaxFailures
	SimilarKeys bool // as importer.Job.SimilarKeys
}

// queueOf is the queue in which runs and workers of an environment meet.
func queueOf(env *environment.Environment) string {
	return dispatch.QueueName(apiclient.ServiceKey(env.BaseURL))
}

// needsDatabase refuses a ledger in a file, which one process has for itself.
func (l *ledgerSession) needsDatabase() error {
	if l.place.server != nil {
		return nil
	}
	return problem.New("workers-need-database", "the ledger of the environment “%s” is a file, and workers share one in a database", l.session.Env.Name).
		Hinted("give the environment a ledger in PostgreSQL (ledger: postgres://…), or say where it is with --ledger; docs/scale.md shows how")
}

// dispatch has workers carry the plans of the run out, where that is asked for.
func (r *importRun) dispatch(ctx context.Context) error {
	if !r.options.workers {
		return nil
	}
	shared, err := r.session.Share()
	if err != nil {
		return err
	}
	spec := runSpec{Session: shared, Runs: r.job.Runs, Environment: r.scope, MaxFailures: r.options.maxFailures, SimilarKeys: r.job.SimilarKeys}
	broker, err := dispatch.Open(ctx, *r.ledger.place.server, r.ledger.ledger.Session())
	if err != nil {
		return err
	}
	r.closers = append(r.closers, broker.Close)
	run, err := broker.Start(ctx, r.run, queueOf(r.session.Env), spec)
	if err != nil {
		return err
	}
	r.closers = append(r.closers, func() { _ = run.End(context.Background()) }) // the next run removes what stays
	r.job.Dispatch = run
	return nil
}
