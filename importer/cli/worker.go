package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/dispatch"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

const workerHelp = `It carries out runs that were started with claimsheet run --workers, in the same environment and with the same ledger. The ledger must be
in a PostgreSQL database. Start as many workers as you like, on any machine, each with a state folder of its own. You may stop one at any time: others
go on with what it had begun. It needs no mapping and no sheet; those are the run's. It works until Ctrl-C or SIGTERM, and waits while the database is
away. docs/scale.md shows how to set it up with systemd and Kubernetes.

Examples:

    claimsheet worker -e uat
    claimsheet worker -e uat --state /var/lib/worker-2 --concurrency 16`

func (p *program) workerCommand() *cli.Command {
	concurrency := 0
	return newCommand("worker", "[-e ENVIRONMENT] [options]",
		"carry out clients of runs that other processes coordinate (run --workers)", workerHelp,
		p.ledgerFlags(numberFlag(&concurrency, "concurrency", "`N` requests of this worker in flight at the service", "the environment's, else 8")),
		func(c *cli.Context) error { return p.work(c.Context, concurrency) })
}

// work carries out what runs hand over, until ctx is done, in one session after another: a session ends when the
// runs that it worked for have ended, and begins again where the ledger's server was away.
func (p *program) work(ctx context.Context, concurrency int) error {
	w := &worker{program: p, concurrency: concurrency}
	for worked := false; ; worked = worked || w.broker != nil {
		err := w.oneSession(ctx)
		switch {
		case ctx.Err() != nil:
			w.say("stopped; what was under way is recorded")
			return nil
		case errors.Is(err, errRunsEnded):
			continue
		case !isTransient(err) && (w.broker != nil || !worked): // what keeps a worker from opening another session may pass
			return err
		}
		w.say("%s; the worker goes on when it can", problem.OneLine(errorText(err)))
		apiclient.Sleep(ctx, rand.N(longestPause))
	}
}

// errRunsEnded ends a session whose runs have ended.
var errRunsEnded = errors.New("the runs have ended")

// longestPause is how long a worker waits at most before it tries the server again.
const longestPause = 5 * time.Second

// isTransient reports whether a worker may go on in a new session after this error.
func isTransient(err error) bool {
	return errors.Is(err, ledger.ErrStopped) || errors.Is(err, importer.ErrCutOff) || problem.ClassOf(err) == problem.Locked ||
		errors.Is(err, ledger.ErrServer)
}

// worker carries out plans that runs hand over. What it holds belongs to one session.
type worker struct {
	*program
	concurrency int

	journal *journal.File
	broker  *dispatch.Broker // nil until the session is open
	ctx     context.Context
	end     context.CancelCauseFunc

	mu   sync.Mutex // held for runs
	runs map[string]*workerRun
}

// workerRun is a run that a worker works for.
type workerRun struct {
	join    func() error // opens what follows, once
	session *load.Session
	job     *importer.Job
	silent  atomic.Bool  // its coordinator is silent, so nothing of the run is begun
	clients atomic.Int64 // groups that were carried out
}

// say prints a line of the worker's log. River's goroutines call it too.
func (w *worker) say(format string, args ...any) {
	fmt.Fprintln(w.Err, moment(time.Now()), fmt.Sprintf(format, args...))
}

// oneSession works with one connection to the ledger.
func (w *worker) oneSession(ctx context.Context) error {
	w.ctx, w.end = context.WithCancelCause(ctx)
	defer w.end(nil)
	w.runs, w.broker, w.journal = map[string]*workerRun{}, nil, nil
	defer w.close()
	if err := w.open(ctx); err != nil {
		return err
	}
	env := w.session.Env
	w.concurrency = cmp.Or(w.concurrency, env.Concurrency)
	w.say("works for runs in the environment “%s” with %s", env.Name, w.session.Place)
	var watching sync.WaitGroup
	watching.Go(w.watch)
	err := w.broker.Work(w.ctx, queueOf(env), importer.ClientsAtOnce(w.concurrency), riverLog{w.end}, w.carryOut)
	w.end(nil)
	watching.Wait()
	return err
}

// open opens the ledger and records what an earlier session had to keep elsewhere.
func (w *worker) open(ctx context.Context) (err error) {
	if err = w.openEnvironment(); err != nil {
		return err
	}
	if err = w.needsDatabase(); err != nil {
		return err
	}
	if err := w.openSharedAndReplay(); err != nil {
		return err
	}
	if w.journal, err = w.openJournal(); err != nil {
		return err
	}
	w.broker, err = dispatch.Open(ctx, *w.session.Place.Server, w.session.Ledger)
	return err
}

// close ends the session's part in the ledger and in its runs, for which nothing is under way any more.
func (w *worker) close() {
	for id, r := range w.runs {
		if r.job != nil {
			r.job.Leave()
			w.say("done with run %s; clients that this worker carried out: %d", id, r.clients.Load())
		}
		if r.session != nil {
			r.session.Close()
		}
	}
	if w.broker != nil {
		w.broker.Close()
	}
	_ = w.journal.Close() // what is in it was synced
	w.session.CloseLedger()
	w.session.Close()
}

// watchEvery is how often a worker sees to its connection and to its runs.
const watchEvery = 2 * time.Second

// aliveFile is the file in a worker's state folder that is written every few seconds while the worker is connected to its ledger.
const aliveFile = "worker.alive"

// watch ends the session when the ledger's server is lost, and when the runs have ended or their coordinators are gone.
func (w *worker) watch() {
	alive := filepath.Join(w.session.State, aliveFile)
	elsewhere := map[string]bool{}
	for tick := time.NewTicker(watchEvery); ; {
		err := w.session.Ledger.Flush()
		if err == nil && w.ctx.Err() == nil {
			_ = os.WriteFile(alive, []byte(moment(time.Now())+"\n"), 0o600) // a probe that sees none restarts the worker
			err = w.checkRuns(elsewhere)
		}
		if err != nil {
			w.end(err)
		}
		select {
		case <-w.ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
	}
}

// checkRuns returns errRunsEnded when all runs that this worker has joined are over. It says, once for each run, that a run of the
// environment goes to another base url: this worker never gets any of its clients.
func (w *worker) checkRuns(elsewhere map[string]bool) error {
	w.mu.Lock()
	joined := maps.Clone(w.runs) // before the broker is asked, because its answer may lack a run that is joined later
	w.mu.Unlock()
	active, err := w.broker.Active(w.ctx)
	if err != nil {
		return err
	}
	env := w.session.Env
	for id := range active {
		run, known, err := w.session.Ledger.Run(w.ctx, id)
		if err != nil || !known || elsewhere[id] || run.EnvironmentName != env.Name {
			continue
		}
		here, _, err := w.session.ServiceScope(w.ctx)
		if there, _ := environment.ServiceOf(run.Environment); err == nil && there != here {
			elsewhere[id] = true
			w.say("run %s: this worker cannot work for it: its environment “%s” is at %s, and this worker's base_url is %s", id, env.Name, there, here)
		}
	}
	goesOn := len(joined) == 0
	for id, r := range joined {
		r.silent.Store(!active[id])
		goesOn = goesOn || active[id]
	}
	if !goesOn {
		return errRunsEnded
	}
	return nil
}

// unfit is how long a worker waits before it looks again at a run for which it cannot work.
const unfit = 5 * time.Second

// carryOut carries out the plans of a group; done is false for those that it gives back. An error ends the session, but for
// dispatch.ErrEnded.
func (w *worker) carryOut(run string, plans []byte) (done bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = importer.Caught(v)
		}
		if err != nil && !errors.Is(err, dispatch.ErrEnded) {
			w.end(err)
		}
	}()
	if w.ctx.Err() != nil {
		return false, nil
	}
	stopped, err := w.broker.IsStopped(w.ctx, run)
	if stopped {
		err = dispatch.ErrEnded
	}
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	r := w.runs[run]
	if r == nil {
		r = &workerRun{}
		r.join = sync.OnceValue(func() error { return w.joinRun(run, r) })
		w.runs[run] = r
	}
	w.mu.Unlock()
	if r.silent.Load() {
		return false, dispatch.ErrEnded
	}
	if err := r.join(); isTransient(err) {
		return false, err
	} else if err != nil { // it is tried again: its environment may be corrected
		apiclient.Sleep(w.ctx, unfit)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.runs[run] == r {
			delete(w.runs, run)
		}
		return false, nil
	}
	if done, err = r.job.Work(plans); done {
		r.clients.Add(1)
	}
	return done, err
}

// joinRun makes the job for a run.
func (w *worker) joinRun(id string, r *workerRun) (err error) {
	defer func() {
		if err != nil && r.session != nil {
			r.session.Close()
		}
		if err != nil && w.ctx.Err() == nil && !errors.Is(err, dispatch.ErrEnded) {
			w.say("run %s: this worker cannot work for it: %s", id, problem.OneLine(errorText(err)))
		}
	}()
	var spec runSpec
	if err := w.broker.Spec(w.ctx, id, &spec); err != nil {
		return err
	}
	connection := w.connection(id)
	connection.Concurrency, connection.Shared = w.concurrency, true
	if r.session, err = load.Join(w.ctx, w.where, connection, spec.Session); err != nil {
		return err
	}
	job := &importer.Job{
		Runs: spec.Runs, Environment: spec.Environment, Binding: r.session.Binding, Service: r.session.Client, Ledger: w.session.Ledger, Journal: w.journal,
		Concurrency: w.concurrency, MaxFailures: spec.MaxFailures, SimilarKeys: spec.SimilarKeys, Rules: w.broker.Run(id),
		LookAgain: w.pace.LookAgain, FirstWait: w.pace.AskAgain, Believable: w.pace.Believable, Clock: w.pace.Clock,
	}
	hooks.job(job)
	if err := job.Join(w.ctx); err != nil {
		return err
	}
	r.job = job
	w.say("works for run %s of the mapping “%s”", id, problem.OneLine(r.session.Mapping.Name.Text))
	return nil
}

// runSpec is what a run gives the workers that carry its plans out, as JSON.
type runSpec struct {
	Session     load.Shared
	Runs        []string // as importer.Job.Runs
	Environment string   // as importer.Job.Environment
	MaxFailures importer.MaxFailures
	SimilarKeys bool // as importer.Job.SimilarKeys
}

// queueOf is the queue in which runs and workers of an environment meet.
func queueOf(env *environment.Environment) string {
	return dispatch.QueueName(apiclient.ServiceKey(env.BaseURL))
}

// needsDatabase refuses a ledger in a file, which one process has for itself.
func (p *program) needsDatabase() error {
	if p.session.Place.Server != nil {
		return nil
	}
	return problem.New("workers-need-database", "the ledger of the environment “%s” is a file, and workers share one in a database", p.session.Env.Name).
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
	broker, err := dispatch.Open(ctx, *r.session.Place.Server, r.session.Ledger)
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

// riverLog takes River's log. An error ends the session, and what it had begun comes back; what the record holds is not said.
type riverLog struct{ end context.CancelCauseFunc }

func (riverLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }
func (l riverLog) Handle(_ context.Context, r slog.Record) error {
	l.end(ledger.ServerFailed(errors.New("River: " + r.Message)))
	return nil
}
func (l riverLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l riverLog) WithGroup(string) slog.Handler      { return l }
