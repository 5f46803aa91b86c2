package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const runHelp = `It sends what the sheets ask for and the ledger does not know as done, and writes a results workbook for each sheet. Several sheets, or a
pattern in quotes, are one run. Flags come before the sheets.

Examples:

    claimsheet run --dry-run leads.xlsx
    claimsheet run -m mapping.yaml -e uat leads.xlsx
    claimsheet run -e uat --limit 3 'exports/*.xlsx'`

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:        "run",
		Usage:       "import sheets; --dry-run only checks and plans",
		UsageText:   "claimsheet run [-m FILE] [-e ENVIRONMENT] [options] SHEET…",
		Description: runHelp,
		Flags: slices.Concat(placeFlags(), ledgerFlag(), []cli.Flag{
			textFlag("out", "o", "the results `FILE` (default: SHEET.results.xlsx)"),
			switchFlag("yes", "do not ask before the first run of a mapping"),
			switchFlag("workers", "let workers send (docs/scale.md)"),
		}, runFlags()),
		Action: func(c *cli.Context) error {
			if err := p.observe(c); err != nil {
				return err
			}
			if c.NArg() == 0 {
				return problem.New("no-sheet", "no sheet is given").Hinted("claimsheet run -m mapping.yaml leads.xlsx")
			}
			o, err := p.runOptions(c)
			o.where, o.yes, o.workers = withUsualMapping(o.where), c.Bool("yes"), c.Bool("workers")
			if err == nil && o.workers && o.dryRun {
				err = problem.New("usage", "--workers is for a run: a dry run sends nothing").Hinted("leave one of them out")
			}
			if err == nil {
				o.sheets, err = load.Sheets(c.Args().Slice())
			}
			if err != nil {
				return err
			}
			return p.importSheets(c.Context, o)
		},
	}
}

// runFlags are the flags that run and rerun share.
func runFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		switchFlag("dry-run", "check and show what would be sent; send nothing"),
		switchFlag("no-lookup", "in a dry run: no look-ups at the service"),
		numberFlag("limit", "only the first `N` clients", ""),
		textFlag("only", "", "only the client with this `KEY`"),
		numberFlag("min-rows", "stop when the sheet has fewer than `N` rows", ""),
	}, guardFlags(), []cli.Flag{
		numberFlag("concurrency", "`N` requests in flight (default: environment's)", ""),
		&cli.Float64Flag{Name: "rate", Usage: "`N` requests a second (default: environment's)"},
		passwordFlag(), jsonFlag(),
		switchFlag("quiet", "print problems only, no summary"),
	}, observeFlags(), []cli.Flag{traceFlag()})
}

// runOptions are the flags of claimsheet run and claimsheet rerun.
type runOptions struct {
	guards
	where       load.Where
	typed       load.Where // of a rerun: where without what the ledger has added
	pace        pace
	sheets      []string
	workbooks   []*workbook.Binding // of the sheets of a rerun; nil for a run
	password    password
	workers     bool // hand the plans over to workers
	yes         bool // do not ask before a first run, or before a rerun takes over what the ledger does not know
	out         string
	concurrency int // 0 for the environment's
	rate        float64
	limit       int
	only        string
	minRows     int
	dryRun      bool
	noLookup    bool
	quiet       bool
}

func (p *program) runOptions(c *cli.Context) (runOptions, error) {
	o := runOptions{
		where: p.where(c), pace: p.pace, out: c.String("out"),
		concurrency: c.Int("concurrency"), rate: c.Float64("rate"),
		limit: c.Int("limit"), only: c.String("only"), minRows: c.Int("min-rows"),
		dryRun: c.Bool("dry-run"), noLookup: c.Bool("no-lookup"), quiet: c.Bool("quiet"),
	}
	var err error
	if o.guards, err = guardsOf(c); err != nil {
		return o, err
	}
	if o.password, err = passwordOf(c); err != nil {
		return o, err
	}
	if o.noLookup && !o.dryRun {
		return o, problem.New("usage", "--no-lookup is for a dry run: a run must know which clients exist").
			Hinted("add --dry-run; to create clients without looking them up, write existing: create in the mapping")
	}
	for _, name := range []string{"limit", "concurrency", "rate", "min-rows"} {
		if c.IsSet(name) && c.Float64(name) <= 0 && c.Int(name) <= 0 {
			return o, problem.New("usage", "--%s must be more than 0", name).Hinted("leave it out to have the default")
		}
	}
	if err := refuseCSV(o.out); err != nil {
		return o, err
	}
	return o, p.openTrace(c)
}

// refuseCSV refuses a name given with -o that asks for a CSV file.
func refuseCSV(out string) error {
	if !strings.EqualFold(filepath.Ext(out), ".csv") {
		return nil
	}
	return problem.At(problem.Where{File: out}, "usage", "results are always a workbook").Hinted("let the name given with -o end in .xlsx")
}

// isRerun reports whether the sheets are results workbooks.
func (o runOptions) isRerun() bool { return o.workbooks != nil }

// command returns the command of the run, without --dry-run.
func (o runOptions) command() []string {
	words := []string{"run"}
	if o.isRerun() {
		words[0] = "rerun"
	}
	if o.where.Templates != "" {
		words = append(words, "--templates", o.where.Templates)
	}
	if o.password.reference != "" {
		words = append(words, "--password", o.password.reference)
	}
	if o.only != "" {
		words = append(words, "--only", o.only)
	}
	if o.limit > 0 {
		words = append(words, "--limit", fmt.Sprint(o.limit))
	}
	if o.out != "" && !o.dryRun {
		words = append(words, "-o", o.out)
	}
	if o.workers {
		words = append(words, "--workers")
	}
	words = append(words, o.guards.words()...)
	return commandWords(o.where, append(words, o.sheets...)...)
}

// rerunCommand returns the command that continues a run from its results
// workbooks. It needs no mapping and environment where it finds them in the
// ledger of the run.
func (o runOptions) rerunCommand(workbooks ...string) []string {
	where := o.where
	if o.isRerun() {
		where = o.typed
	} else if found := (load.Where{Environments: where.Environments, State: where.State, Ledger: where.Ledger}); recordsFolder(where) == recordsFolder(found) {
		where = found
	}
	return commandWords(where, append([]string{"rerun"}, workbooks...)...)
}

// lookCommand returns the command that serves what a run in the sandbox has left.
func (o runOptions) lookCommand() []string {
	words := []string{"claimsheet", "sandbox", "--state", o.where.StateDir(false)}
	if o.where.Templates != "" {
		words = append(words, "--templates", o.where.Templates)
	}
	return words
}

// importRun is a run, or a dry run, from the sheets to the workbooks.
type importRun struct {
	*program
	options runOptions
	started time.Time

	// load fills these,
	session *load.Session
	place   ledgerPlace // of the ledger, once it was needed to reach the service
	ledger  *ledgerSession
	scope   string      // the ledger's name for the environment
	sheets  []*sheetRun // with their workbooks
	folders []string    // of journals
	// survey these,
	rows   *spool.Rows // of all sheets
	survey *importer.Survey
	job    *importer.Job
	// and execute this.
	stopped error // why the run had to stop before its end

	rerun   *comparison // nil for a run of sheets
	closers []func()
}

// importSheets is the way from sheet to workbook. Nothing is sent before execute.
func (p *program) importSheets(ctx context.Context, o runOptions) error {
	r := &importRun{program: p, started: time.Now(), options: o}
	if hooks.LedgerMayBeLost() {
		r.options.accept["new-ledger"] = true
	}
	defer r.close()
	for _, phase := range []func(context.Context) error{r.load, r.look, r.guard, r.execute, r.report} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return r.stopped
}

func (r *importRun) close() {
	if r.job != nil && r.job.Journal != nil {
		r.job.Journal.Close()
	}
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
	}
	switch {
	case r.ledger != nil:
		r.ledger.close()
	case r.session != nil:
		r.session.Close()
	}
}

// load loads and binds everything, opens the ledger, and checks that the ledger and the
// workbooks can be used.
func (r *importRun) load(ctx context.Context) error {
	previews, err := r.open(ctx)
	if err != nil {
		return err
	}
	if err := r.openLedger(); err != nil {
		return err
	}
	if err := r.settleScope(ctx); err != nil {
		return err
	}
	if r.sheets, err = r.makeSheetRuns(previews); err != nil {
		return err
	}
	var found problem.List
	for _, s := range r.sheets {
		if err := found.Collect(s.target.check(ctx, r.started)); err != nil {
			return err
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	if err := r.pass(ctx, ledgerGuards); err != nil {
		return err
	}
	r.folders, err = journal.Folders(r.ledger.place.file(), r.sheets[0].target.path)
	return err
}

// open loads the session and prints its warnings. It returns a preview for each sheet.
func (r *importRun) open(ctx context.Context) (previews []*reports.Preview, err error) {
	o := r.options
	var copied []func(column, row int) problem.Copy
	for range o.sheets {
		preview := new(reports.Preview)
		previews = append(previews, preview)
		if !o.dryRun { // people correct cells in results workbooks
			copied = append(copied, preview.At)
		}
	}
	connection := r.connection(r.run)
	connection.ReadOnly, connection.Concurrency, connection.Rate = o.dryRun, o.concurrency, o.rate
	connection.Share = func(ctx context.Context, s *load.Session) (load.Limiter, error) {
		place, err := placeOfLedger(ctx, o.where, s.Env, s.State)
		if err != nil {
			return nil, err
		}
		r.place = place
		return place.limiter(s.Env), nil
	}
	r.session, err = load.Open(ctx, load.Options{
		Where: o.where, Sheets: o.sheets, Workbooks: o.workbooks, Password: o.password.value,
		NeedEnvironment: true, KeepInputs: !o.dryRun, Copied: copied,
		Connection: hooks.Connection(connection),
	})
	if m := r.session.Mapping; m != nil {
		r.observer.Named(m.Name.Text, "")
		console.PrintWarnings(r.Err, m.Warnings) // they may explain why it cannot be used
	}
	if env := r.session.Env; env != nil {
		r.observer.Named("", env.Name)
	}
	if err != nil {
		return nil, err
	}
	for _, b := range o.workbooks {
		if p, ok := b.CheckTogether(len(o.workbooks)); ok {
			r.session.Warnings = append(r.session.Warnings, p)
		}
	}
	for _, src := range r.session.Sources {
		if src.Encrypted() {
			p, err := unencrypted(src.Input.Given, o.output(src.Input.Given))
			if err != nil {
				return nil, err
			}
			r.session.Warnings = append(r.session.Warnings, p)
		}
	}
	console.PrintWarnings(r.Err, r.session.Warnings)
	return previews, nil
}

func (r *importRun) openLedger() error {
	r.ledger = &ledgerSession{session: r.session, where: r.options.where, place: r.place, run: r.run, dryRun: r.options.dryRun,
		accept: r.options.accept, sharing: hooks.Sharing(&postgres.Sharing{})}
	if err := r.ledger.find(context.Background()); err != nil {
		return err
	}
	if r.options.workers {
		if err := r.ledger.needsDatabase(); err != nil {
			return err
		}
	}
	if r.options.dryRun {
		return r.ledger.openReadOnly()
	}
	if err := r.ledger.lock(r.Err); err != nil {
		if errors.Is(err, ledger.ErrLocked) {
			r.session.KeepInputs() // the run that has the ledger may be reading the same copies
		}
		return err
	}
	if err := r.session.CheckInputs(); err != nil {
		return &incomplete{err}
	}
	return nil
}

// look is the first pass: it reads, converts and groups every row. It refuses a sheet with too
// few rows, one whose header row is a title, one that leaves no room for Claimsheet's columns,
// and typed cells under attributes without a type. The rows are kept in private files of the run,
// and so are its results. They hold personal data, so they are never in the system's folder for
// temporary files: a run has them in the state folder, and a dry run, which leaves that
// unchanged, beside its workbook.
func (r *importRun) look(ctx context.Context) error {
	s, o, folder := r.session, r.options, r.session.State
	r.observer.Started(thisVersion(), s.Mapping.File, o.sheets)
	if o.dryRun {
		folder = filepath.Dir(r.sheets[0].target.path)
	}
	for _, sheet := range r.sheets {
		var err error
		if sheet.draft, err = spool.NewResults(folder); err != nil {
			return err
		}
		r.closers = append(r.closers, func() { _ = sheet.draft.Close() })
	}
	var err error
	r.rows, r.survey, err = surveyRows(ctx, s, folder, true, func(record cell.Record) {
		sheet := r.sheets[record.Table]
		sheet.layout.see(record)
		sheet.preview.Note(record)
	})
	if r.rows != nil {
		r.closers = append(r.closers, func() { _ = r.rows.Close() })
	}
	if err != nil {
		return err
	}
	found, doubtful := s.Binding.CheckCells(r.survey.Notes)
	console.PrintWarnings(r.Err, doubtful)
	for _, sheet := range r.sheets {
		wrong, warnings := sheet.layout.header.Verdict(s.Mapping.Sheet.HeaderRowGiven)
		found = append(found, wrong...)
		console.PrintWarnings(r.Err, warnings)
		if !s.Mapping.Sheet.SkipHidden {
			console.PrintProblems(r.Err, sheet.layout.hiddenRows())
		}
		if sheet.layout.rows < o.minRows {
			return &incomplete{problem.At(problem.Where{File: sheet.source.Book()}, "min-rows",
				"rows in the sheet: %d, fewer than --min-rows %d: the export is broken", sheet.layout.rows, o.minRows).
				Hinted("nothing was sent; look at the export")}
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	r.observer.Surveyed(r.survey.Rows, r.survey.Clients, r.survey.Invalid)
	for _, sheet := range r.sheets {
		if err := found.Collect(sheet.preview.Fits(sheet.source.Sheet(), len(s.Mapping.Contacts) > 0)); err != nil {
			return err
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	r.job, err = r.newJob()
	return err
}

// newJob returns the engine's job.
func (r *importRun) newJob() (*importer.Job, error) {
	o, s := r.options, r.session
	concurrency := o.concurrency
	if concurrency == 0 {
		concurrency = s.Env.Limits.Concurrency
	}
	var runs []string
	var drafts []*spool.Results
	for _, sheet := range r.sheets {
		runs, drafts = append(runs, sheet.record.ID), append(drafts, sheet.draft)
	}
	job := hooks.Job(&importer.Job{
		Runs: runs, Environment: r.scope, Binding: s.Binding, Service: s.Client,
		Ledger: r.ledger.ledger, Drafts: drafts, Concurrency: concurrency, Limit: o.limit, NoLookup: o.noLookup,
		Groups: r.survey.Groups, MaxFailures: o.maxFailures,
		NewLedger: o.accept["new-ledger"], SimilarKeys: o.accept["similar-key"],
		LookAgain: o.pace.LookAgain, FirstWait: o.pace.AskAgain, Believable: o.pace.Believable, Clock: o.pace.Clock,
	})
	if o.only == "" {
		return job, nil
	}
	if job.Only = s.Binding.Identity(o.only); r.survey.Number(job.Only) == 0 {
		var columns []string
		for _, column := range s.Mapping.Client.Key {
			columns = append(columns, "“"+column.Text+"”")
		}
		return nil, problem.New("unknown-client", "--only names a client key that is not in the sheet").
			Hinted("the client key is the column %s of the mapping's client.key", strings.Join(columns, " | "))
	}
	return job, nil
}

// guard records what earlier runs had to keep elsewhere, refuses what must not be sent, and says
// what the user may want to know before anything is sent.
func (r *importRun) guard(ctx context.Context) error {
	if r.options.dryRun {
		if err := r.refuseJournals(r.ledger.ledger, r.folders); err != nil {
			return err
		}
	} else {
		if err := r.replayJournals(r.ledger.ledger, r.folders); err != nil {
			return err
		}
		r.takeTracked(ctx)
	}
	if err := r.pass(ctx, planGuards); err != nil {
		return err
	}
	grown, err := r.job.Growth(ctx, r.plans(ctx))
	if err != nil {
		return err
	}
	console.PrintProblems(r.Err, grown)
	if err := r.compareWorkbooks(ctx); err != nil {
		return err
	}
	if r.announces() {
		console.PrintProblems(r.Err, r.survey.Problems)
		rows := map[[2]int]bool{}
		for _, p := range r.survey.Problems {
			rows[[2]int{p.Where.Table, p.Where.Row}] = true
		}
		if more := r.survey.Invalid - len(rows); more > 0 {
			fmt.Fprintf(r.Err, "claimsheet: invalid rows besides these: %d; the results workbook names every cell\n", more)
		}
	}
	return r.confirmFirst(ctx)
}

// announces reports whether the problems of the survey are printed before anything is sent. Where
// clients are left out, they may be of those.
func (r *importRun) announces() bool {
	return !r.options.dryRun && r.options.limit == 0 && r.options.only == ""
}

// plans returns the plans of all clients, in the order of the sheets.
func (r *importRun) plans(ctx context.Context) iter.Seq2[mapping.Plan, error] {
	return r.survey.Plans(r.session.Binding, r.rows)
}

// execute carries the plans out; a dry run only predicts them. A run that had to
// stop in good order is no error here: report writes its workbooks and returns
// why it stopped.
func (r *importRun) execute(ctx context.Context) error {
	plans, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, r.stopping)()
	stop := r.observer.Watch(r.job.Progress, r.survey.Clients)
	if r.options.dryRun {
		err = r.job.Forecast(ctx, plans)
	} else {
		err = r.job.Do(ctx, plans)
	}
	stop()
	if errors.Is(err, importer.ErrLostLedger) {
		return &incomplete{problem.New("new-ledger", "%s", err).
			Hinted("look for the state folder of earlier runs; or add --accept new-ledger if the ledger is new on purpose")}
	}
	if errors.Is(err, importer.ErrStopped) && !r.options.dryRun {
		r.stopped = err
		return nil
	}
	return err
}

// begin records the run in the ledger and returns its plans.
func (r *importRun) begin(ctx context.Context) (iter.Seq2[mapping.Plan, error], error) {
	if !r.options.dryRun {
		if err := r.record(ctx); err != nil {
			return nil, err
		}
		if err := r.dispatch(ctx); err != nil {
			return nil, err
		}
	}
	plans := r.plans(ctx)
	if r.rerun == nil {
		return plans, nil
	}
	return r.rerun.apply(ctx, plans, r.job)
}

// record records the start of the run. Steps that a killed run left in flight
// become uncertain.
func (r *importRun) record(ctx context.Context) error {
	l := r.ledger.ledger
	for _, sheet := range r.sheets {
		var err error
		sheet.kept = r.keep(sheet)
		if sheet.record.Summary, err = json.Marshal(runSummary{Kept: sheet.kept}); err != nil {
			return err
		}
		if err := l.StartRun(sheet.record); err != nil {
			return err
		}
	}
	if _, err := l.MarkInterrupted(r.run, time.Now().UTC()); err != nil {
		return err
	}
	r.session.KeepInputs()
	if err := r.supersede(ctx); err != nil {
		return err
	}
	if err := l.ChangeDefinition(r.scope, r.session.Mapping.Name.Text, r.session.Binding.Definition); err != nil {
		return err
	}
	r.job.Journal = r.openJournal(r.run, l, r.folders)
	return nil
}

// stopping says what a run waits for after a signal, while it still runs.
func (r *importRun) stopping() {
	fmt.Fprintf(r.Err, "claimsheet: stopping: requests in flight: %d; waiting for their answers; press Ctrl-C again to stop at once\n", r.session.Client.InFlight())
}
