package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/dispatch"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/retry"
	"claimsheet/importer/stoprule"
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
	return &cli.Command{
		Name:        "worker",
		Usage:       "carry out clients of runs that other processes coordinate (run --workers)",
		UsageText:   "claimsheet worker [-e ENVIRONMENT] [options]",
		Description: workerHelp,
		Flags:       append(ledgerFlags(), numberFlag("concurrency", "`N` requests of this worker in flight at the service", "the environment's, else 8")),
		Action: func(c *cli.Context) error {
			if c.IsSet("concurrency") && c.Int("concurrency") <= 0 {
				return problem.New("usage", "--concurrency must be more than 0").Hinted("leave it out to have the default")
			}
			return p.work(c.Context, p.where(c), c.Int("concurrency"))
		},
	}
}

// work carries out what runs hand over, until ctx is done. Where the ledger's server is away,
// or this process was cut off from it, it begins again when it can.
func (p *program) work(ctx context.Context, where load.Where, concurrency int) error {
	w := &worker{program: p, where: where, concurrency: concurrency}
	for {
		err := w.session(ctx)
		switch {
		case ctx.Err() != nil:
			w.say("stopped; what was under way is recorded")
			return nil
		case !isTransient(err):
			return err
		}
		w.say("%s; the worker goes on when it can", problem.OneLine(errorText(err)))
		retry.Sleep(ctx, rand.N(longestPause))
	}
}

// longestPause is how long a worker waits at most before it tries the server again.
const longestPause = 5 * time.Second

// isTransient reports whether a worker may go on in a new session after this error.
func isTransient(err error) bool {
	return errors.Is(err, ledger.ErrStopped) || errors.Is(err, importer.ErrCutOff) || errors.Is(err, ledger.ErrLocked) || errors.Is(err, ledger.ErrServer)
}

// worker carries out plans that runs hand over. A session lasts as long as its connection
// to the ledger.
type worker struct {
	*program
	where       load.Where
	concurrency int

	ledger  *ledgerSession
	journal *journal.File
	broker  *dispatch.Broker
	ctx     context.Context // of the session
	end     context.CancelCauseFunc

	background sync.WaitGroup // watch, and runs that are being left; waited for before the session is closed

	elsewhere map[string]bool // runs of the environment that go to another base url; used by watch

	mu   sync.Mutex
	runs map[string]*workerRun

	saying sync.Mutex // held while a line is printed
}

// workerRun is a run that a worker works for.
type workerRun struct {
	join    func() error // opens what follows, once
	session *load.Session
	job     *importer.Job
	working sync.WaitGroup // groups that are being carried out
	leaving bool           // no other group is begun
	clients int            // groups that were carried out
}

// say prints a line of the worker's log. River's goroutines call it too.
func (w *worker) say(format string, args ...any) {
	w.saying.Lock()
	defer w.saying.Unlock()
	fmt.Fprintln(w.Err, moment(time.Now()), fmt.Sprintf(format, args...))
}

// session works with one connection to the ledger, until that ends or ctx is done.
func (w *worker) session(ctx context.Context) error {
	w.ctx, w.end = context.WithCancelCause(ctx)
	defer w.end(nil)
	w.runs, w.elsewhere = map[string]*workerRun{}, map[string]bool{}
	defer w.close()
	if err := w.open(ctx); err != nil {
		return err
	}
	if w.concurrency == 0 {
		w.concurrency = w.ledger.session.Env.Limits.Concurrency
	}
	w.say("works for runs in the environment “%s” with %s", w.ledger.session.Env.Name, w.ledger)
	w.background.Go(w.watch)
	err := w.broker.Work(w.ctx, queueOf(w.ledger.session.Env), importer.ClientsAtOnce(w.concurrency), riverLog{w.end}, w.carryOut)
	w.end(nil)
	w.background.Wait()
	return err
}

// open opens the ledger and records what an earlier session had to keep elsewhere.
func (w *worker) open(ctx context.Context) (err error) {
	if w.ledger, err = openEnvironmentOf(w.where); err != nil {
		return err
	}
	l := w.ledger
	l.shared = true
	if err = l.needsDatabase(); err != nil {
		return err
	}
	if err := l.lock(); err != nil {
		return err
	}
	if err := w.replayJournal(l); err != nil {
		return err
	}
	w.journal = w.openJournal(l)
	w.broker, err = dispatch.Open(ctx, *l.server, l.ledger.Session())
	return err
}

// close ends the session's part in the ledger; its plans were given back.
func (w *worker) close() {
	for _, r := range w.runs {
		r.leave()
	}
	if w.broker != nil {
		w.broker.Close()
	}
	_ = w.journal.Close() // what is in it was synced
	if w.ledger != nil {
		w.ledger.close()
	}
	w.broker, w.ledger, w.journal = nil, nil, nil
}

// watchEvery is how often a worker sees to its connection and to its runs.
const watchEvery = 2 * time.Second

// aliveFile is the file in a worker's state folder that is written every few seconds
// while the worker is connected to its ledger.
const aliveFile = "worker.alive"

// watch ends the session when the ledger's server is lost, and leaves runs that have ended.
func (w *worker) watch() {
	alive := filepath.Join(w.ledger.session.State, aliveFile)
	for tick := time.NewTicker(watchEvery); ; {
		if err := w.ledger.ledger.Flush(); err != nil {
			w.end(err)
		}
		if w.ctx.Err() == nil {
			_ = os.WriteFile(alive, []byte(moment(time.Now())+"\n"), 0o600) // a probe that sees none restarts the worker
			w.leaveEnded()
		}
		select {
		case <-w.ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
	}
}

// leaveEnded leaves the runs that have ended, or whose coordinator is gone, when nothing is under
// way for them any more.
func (w *worker) leaveEnded() {
	active, err := w.broker.Active(w.ctx)
	if err != nil {
		w.end(err)
		return
	}
	w.checkAddress(active)
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, r := range w.runs {
		if _, ok := active[id]; ok || r.leaving {
			continue
		}
		r.leaving = true
		w.background.Go(func() {
			r.leave()
			w.forget(id, r)
			w.say("done with run %s; clients that this worker carried out: %d", id, r.clients)
		})
	}
}

// checkAddress says, once for each run, that a run of the environment goes to another base url:
// this worker never gets any of its clients.
func (w *worker) checkAddress(active map[string]bool) {
	env := w.ledger.session.Env
	for id := range active {
		run, known, err := w.ledger.ledger.Run(w.ctx, id)
		if err != nil || !known || w.elsewhere[id] || run.EnvironmentName != env.Name {
			continue
		}
		here, _, err := w.ledger.service(w.ctx)
		if there, _ := environment.ServiceOf(run.Environment); err == nil && there != here {
			w.elsewhere[id] = true
			w.say("run %s: this worker cannot work for it: its environment “%s” is at %s, and this worker's base_url is %s", id, env.Name, there, here)
		}
	}
}

// leave closes what join has opened, when nothing is under way.
func (r *workerRun) leave() {
	r.working.Wait()
	if r.job != nil {
		r.job.Leave()
	}
	r.close()
}

func (r *workerRun) close() {
	if r.session != nil {
		r.session.Close()
	}
	r.session = nil
}

// forget has a run joined again if more of it comes.
func (w *worker) forget(id string, r *workerRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs[id] == r {
		delete(w.runs, id)
	}
}

// begin returns a run of which a group is begun; the caller ends with working.Done. It returns
// nil for one that is being left.
func (w *worker) begin(id string) *workerRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.runs[id]
	if r == nil {
		r = &workerRun{}
		r.join = sync.OnceValue(func() error { return w.joinRun(id, r) })
		w.runs[id] = r
	}
	if r.leaving {
		return nil
	}
	r.working.Add(1)
	return r
}

// unfit is how long a worker waits before it looks again at a run for which it
// cannot work.
const unfit = 5 * time.Second

// carryOut carries out the plans of a group. It returns nil for those that it gives back, and an
// error, which ends the session, or dispatch.ErrEnded when nothing of the run may be begun.
func (w *worker) carryOut(run string, plans []byte) (outcome []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = importer.Caught(v)
		}
		if err != nil && !errors.Is(err, dispatch.ErrEnded) {
			w.end(err)
		}
	}()
	if w.ctx.Err() != nil {
		return nil, nil
	}
	runs, err := w.broker.Active(w.ctx)
	if err != nil {
		return nil, err
	}
	if stopped, active := runs[run]; stopped || !active {
		return nil, dispatch.ErrEnded
	}
	r := w.begin(run)
	if r == nil {
		return nil, dispatch.ErrEnded
	}
	defer r.working.Done()
	if err := r.join(); isTransient(err) {
		return nil, err
	} else if err != nil {
		retry.Sleep(w.ctx, unfit)
		w.forget(run, r)
		return nil, nil
	}
	outcome, err = r.job.Work(plans)
	w.mu.Lock()
	defer w.mu.Unlock()
	if outcome != nil {
		r.clients++
	}
	return outcome, err
}

// joinRun makes the job for a run.
func (w *worker) joinRun(id string, r *workerRun) (err error) {
	defer func() {
		if err != nil {
			r.close()
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
	connection.Concurrency = w.concurrency
	connection.Share = func(_ context.Context, s *load.Session) (load.Limiter, error) {
		return w.ledger.limiter(s.Env), nil
	}
	if r.session, err = load.Join(w.ctx, w.where, hooks.Connection(connection), spec.Session); err != nil {
		return err
	}
	job := hooks.Job(&importer.Job{
		Runs: spec.Runs, Environment: spec.Environment, Binding: r.session.Binding, Service: r.session.Client, Ledger: w.ledger.ledger, Journal: w.journal,
		Concurrency: w.concurrency, MaxFailures: spec.MaxFailures, SimilarKeys: spec.SimilarKeys, Rules: w.broker.Rules(id),
		LookAgain: w.pace.LookAgain, FirstWait: w.pace.AskAgain, Believable: w.pace.Believable, Clock: w.pace.Clock,
	})
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
	MaxFailures stoprule.MaxFailures
	SimilarKeys bool // as importer.Job.SimilarKeys
}

// queueOf is the queue in which runs and workers of an environment meet.
func queueOf(env *environment.Environment) string {
	return dispatch.QueueName(apiclient.ServiceKey(env.BaseURL))
}

// needsDatabase refuses a ledger in a file, which one process has for itself.
func (l *ledgerSession) needsDatabase() error {
	if l.server != nil {
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
	broker, err := dispatch.Open(ctx, *r.ledger.server, r.ledger.ledger.Session())
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

// riverLog takes River's log. An error ends the session, and what it had begun comes back; what
// the record holds is not said.
type riverLog struct{ end context.CancelCauseFunc }

func (riverLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }
func (l riverLog) Handle(_ context.Context, r slog.Record) error {
	l.end(ledger.ServerFailed(errors.New("River: " + r.Message)))
	return nil
}
func (l riverLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l riverLog) WithGroup(string) slog.Handler      { return l }
