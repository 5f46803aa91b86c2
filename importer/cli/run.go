package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/draft"
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
	o := &runOptions{}
	command := newCommand("run", "[-m FILE] [-e ENVIRONMENT] [options] SHEET…", "import sheets; --dry-run only checks and plans", runHelp,
		slices.Concat(p.placeFlags("the mapping `FILE` (default: mapping.yaml)", p.templatesFlag(), p.ledgerFlag(),
			textFlag(&o.out, "out", "o", "the results `FILE` (default: SHEET.results.xlsx)"),
			switchFlag(&o.yes, "yes", "do not ask before the first run of a mapping"),
			switchFlag(&o.workers, "workers", "let workers send (docs/scale.md)"),
		), p.runFlags(o)),
		func(c *cli.Context) (err error) {
			o.where = withUsualMapping(o.where)
			if o.workers && o.dryRun {
				return problem.New("usage", "--workers is for a run: a dry run sends nothing").Hinted("leave one of them out")
			}
			if o.sheets, err = load.Sheets(c.Args().Slice()); err != nil {
				return err
			}
			return p.importSheets(c.Context, *o)
		})
	command.Before = func(c *cli.Context) error {
		return p.prepareRun(c, o, "no sheet is given", "claimsheet run -m mapping.yaml leads.xlsx")
	}
	return command
}

// runFlags are the flags that run and rerun share.
func (p *program) runFlags(o *runOptions) []cli.Flag {
	o.log = new(console.Observer)
	return []cli.Flag{
		switchFlag(&o.dryRun, "dry-run", "check and show what would be sent; send nothing"),
		switchFlag(&o.noLookup, "no-lookup", "in a dry run: no look-ups at the service"),
		numberFlag(&o.limit, "limit", "only the first `N` clients", ""),
		textFlag(&o.only, "only", "", "only the client with this `KEY`"),
		numberFlag(&o.minRows, "min-rows", "stop when the sheet has fewer than `N` rows", ""),
		textFlag(&o.failures, "max-failures", "", "stop when more than `N` or N% of the clients fail (20%)"),
		&cli.StringSliceFlag{Name: "accept", Usage: "pass the guard whose message names this `CODE`"},
		numberFlag(&o.concurrency, "concurrency", "`N` requests in flight (default: environment's)", ""),
		&cli.Float64Flag{Name: "rate", Usage: "`N` requests a second (default: environment's)", Destination: &o.rate, Action: aboveZero[float64]("rate")},
		p.passwordFlag(), jsonFlag(),
		switchFlag(&o.log.Quiet, "quiet", "print problems only, no summary"),
		textFlag(&o.log.LogFormat, "log-format", "", "the log's `FORMAT`: text or json"),
		textFlag(&o.log.LogFile, "log-file", "", "append the log to `FILE` (default: stderr)"),
		switchFlag(&o.log.NoProgress, "no-progress", "no progress bar and no progress lines"),
		p.traceFlag(),
	}
}

// runOptions are the flags of claimsheet run and claimsheet rerun.
type runOptions struct {
	where       load.Where
	sheets      []string
	workbook    *workbook.Results // the sheet of a rerun; nil for a run
	repeated    []string          // flags as given, for the commands that are proposed
	workers     bool              // hand the plans over to workers
	yes         bool              // do not ask before a first run, or before a rerun takes over what the ledger does not know
	out         string
	concurrency int // 0 for the environment's
	rate        float64
	limit       int
	only        string
	minRows     int
	dryRun      bool
	noLookup    bool
	log         *console.Observer // with its flags
	failures    string            // --max-failures as given
	maxFailures importer.MaxFailures
	accept      map[string]bool // of guardCodes
}

// prepareRun is prepare of run and rerun, and checks their flags. It opens the log first, so that a run that cannot start is reported too.
func (p *program) prepareRun(c *cli.Context, o *runOptions, noSheet, example string) error {
	p.run, p.observer = uuid.NewString(), o.log
	o.log.Stderr, o.log.Terminal, o.log.Dumb, o.log.DryRun = p.Err, p.stderr, p.Env("TERM") == "dumb", o.dryRun
	err := p.observer.Open(p.run)
	if p.Err = p.observer; err == nil {
		err = p.prepare(c)
	}
	o.where = p.where
	o.where.MustName = true // a nightly job says where it sends
	switch {
	case err != nil:
		return err
	case c.NArg() == 0:
		return problem.New("no-sheet", "%s", noSheet).Hinted("%s", example)
	case o.noLookup && !o.dryRun:
		return problem.New("usage", "--no-lookup is for a dry run: a run must know which clients exist").
			Hinted("add --dry-run; to create clients without looking them up, write existing: create in the mapping")
	}
	if o.accept, err = acceptedGuards(c.StringSlice("accept")); err != nil {
		return err
	}
	o.where.NewLedger = o.accept["ledger-missing"]
	if o.maxFailures, err = parseMaxFailures(o.failures); err != nil {
		return err
	}
	repeated := []string{"password", "only", "limit", "concurrency", "rate", "min-rows", "max-failures", "workers", "accept"}
	if !o.dryRun {
		repeated = append(repeated, "out")
	}
	o.repeated = givenFlags(c, repeated...)
	return nil
}

// parseMaxFailures reads --max-failures, "" for the default.
func parseMaxFailures(text string) (importer.MaxFailures, error) {
	if text == "" {
		return importer.DefaultMaxFailures, nil
	}
	share, isShare := strings.CutSuffix(text, "%")
	if percent, err := strconv.ParseFloat(share, 64); isShare && err == nil && percent > 0 && percent <= 100 {
		return importer.MaxFailures{Percent: percent}, nil
	}
	if count, err := strconv.Atoi(text); err == nil && count >= 0 {
		return importer.MaxFailures{Count: count}, nil
	}
	return importer.MaxFailures{}, problem.New("usage", "--max-failures takes a number such as 10 or a share such as 5%%").
		Hinted("leave it out to have 20%%")
}

// isOfRerun reports whether path is the workbook that a rerun is given.
func (o runOptions) isOfRerun(path string) bool {
	return o.workbook != nil && safefile.Absolute(o.workbook.Path) == safefile.Absolute(path)
}

// words returns the command of the run, without --dry-run.
func (o runOptions) words() []string {
	words := []string{"run"}
	if o.workbook != nil {
		words[0] = "rerun"
	}
	if o.where.Templates != "" {
		words = append(words, "--templates", o.where.Templates)
	}
	return commandWords(o.where, slices.Concat(words, o.repeated, o.sheets)...)
}

// output returns where the workbook of a sheet goes. -o is a file or, always for several sheets, a folder.
func (o runOptions) output(path string) string {
	usual := strings.TrimSuffix(path, filepath.Ext(path))
	switch {
	case o.dryRun:
		usual += ".plan.xlsx"
	case o.workbook != nil:
		usual = path
	default:
		usual += ".results.xlsx"
	}
	switch {
	case o.out == "":
		return usual
	case safefile.IsFolder(o.out):
		return filepath.Join(o.out, filepath.Base(usual))
	}
	return o.out
}

// importRun is a run, or a dry run, from the sheets to the workbooks.
type importRun struct {
	*program
	options runOptions
	started time.Time

	sheets []*sheetRun // set by load
	scope  string      // set by useLedger: the ledger's name for the environment
	// Set by surveySheets.
	rows   *spool.Rows // of all sheets
	survey *importer.Survey
	job    *importer.Job

	lost    error // set by guardLostRun: the refusal of a rerun, which is returned once the ids of its own workbook are recorded
	stopped error // set by execute: why the run had to stop before its end
}

// sheetRun is what a run does with one of its sheets. The ledger has each as a run of its own; a client in several sheets is one client.
type sheetRun struct {
	source  *load.Input
	table   int // its index among the run's sheets
	record  ledger.Run
	output  string // where the workbook goes
	watch   *draft.SheetWatch
	preview *reports.Preview // of its workbook
	draft   *spool.Results   // what goes into it
}

// importSheets is the way from sheet to workbook. Nothing is sent before execute.
func (p *program) importSheets(ctx context.Context, o runOptions) error {
	p.where = o.where
	r := &importRun{program: p, started: time.Now(), options: o}
	for _, phase := range []func(context.Context) error{r.load, r.useLedger, r.surveySheets, r.guard, r.execute, r.report} {
		if err := phase(ctx); err != nil {
			return err
		}
	}
	return r.stopped
}

// useLedger opens the ledger, and checks that it and the workbooks can be used.
func (r *importRun) useLedger(ctx context.Context) (err error) {
	o := r.options
	if o.workers {
		if err := r.needsDatabase(); err != nil {
			return err
		}
	}
	if o.dryRun {
		err = r.session.OpenForReading()
	} else {
		err = r.session.OpenForWriting(true, hooks.silence)
	}
	if err != nil {
		return err
	}
	if r.scope, err = r.session.ConfirmScope(ctx, o.accept["same-service"], o.accept["new-service"], o.dryRun); err != nil {
		return err
	}
	if book := o.workbook; book != nil {
		if err := book.CheckEnvironment(r.session.Env.Name, r.scope); err != nil {
			return err
		}
	}
	for _, s := range r.sheets {
		s.record.Environment = r.scope
		if _, err := placement(ctx, r.session.Ledger, s.output, o.dryRun); err != nil {
			return err
		}
	}
	return r.checkGuards(ctx, ledgerGuards)
}

// load loads and binds everything, prints the warnings, and makes a sheetRun for each sheet.
func (r *importRun) load(ctx context.Context) (err error) {
	o := r.options
	var copied []func(column, row int) problem.Copy
	for i := range o.sheets {
		s := &sheetRun{table: i, preview: new(reports.Preview)}
		r.sheets = append(r.sheets, s)
		if !o.dryRun { // people correct cells in results workbooks
			copied = append(copied, s.preview.At)
		}
	}
	connection := r.connection(r.run)
	connection.ReadOnly, connection.Concurrency, connection.Rate, connection.Shared = o.dryRun, o.concurrency, o.rate, true
	r.session, err = load.Open(ctx, load.Options{
		Where: o.where, Sheets: o.sheets, Workbook: o.workbook, Password: r.password,
		NeedEnvironment: true, KeepInputs: !o.dryRun, Copied: copied,
		Connection: connection,
	})
	if m := r.session.Mapping; m != nil {
		r.observer.Mapping = m.Name.Text
		console.PrintWarnings(r.Err, m.Warnings) // they may explain why it cannot be used
	}
	if env := r.session.Env; env != nil {
		r.observer.Environment = env.Name
	}
	if err != nil {
		return err
	}
	r.closers = append(r.closers, r.session.Close, r.session.CloseLedger)
	var found problem.List
	var paths []string
	takenBy := map[string]string{}
	for i, s := range r.sheets {
		src := r.session.Inputs[i]
		given := src.Given
		s.source, s.output, s.watch = src, o.output(given), draft.NewSheetWatch(src.Sheet())
		s.record = ledger.Run{
			ID: r.run, EnvironmentName: r.session.Env.Name,
			Mapping: r.session.Mapping.Name.Text, MappingFile: safefile.Absolute(r.session.Mapping.File), MappingDigest: r.session.Mapping.Digest,
			// Started is rounded as the ledger keeps it.
			Input: given, InputDigest: src.Digest, KeptInput: src.Path, Version: thisVersion(), Started: r.started.UTC().Truncate(time.Microsecond),
		}
		if i > 0 { // the first has the run's own id
			s.record.ID = uuid.NewString()
		}
		out := problem.Where{File: s.output}
		if other, taken := takenBy[safefile.Absolute(s.output)]; taken {
			found = append(found, problem.At(out, "output-twice", "the workbooks of %s and %s would be written to the same file", other, given).
				Hinted("rename one of the sheets, name a folder that exists with -o, or import each with an -o of its own"))
		}
		if src.Encrypted && s.output == given {
			found = append(found, problem.At(out, "output-encrypted",
				"the new results workbook, which is not encrypted, would take the place of this encrypted one").
				Hinted("choose another name with -o"))
		} else if src.Encrypted {
			r.session.Warnings = append(r.session.Warnings, problem.At(out, "not-encrypted", "this workbook will not be encrypted, though the sheet is").
				Hinted("it holds personal data and redirect urls: keep it where only you can read it"))
		}
		takenBy[safefile.Absolute(s.output)] = given
		paths = append(paths, s.output)
	}
	for i, name := range cell.BookNames(paths) {
		r.sheets[i].preview.File, r.sheets[i].preview.Own = name, r.session.Inputs[i].AddedColumns()
	}
	console.PrintWarnings(r.Err, r.session.Warnings)
	return found.Err()
}

// surveySheets is the first pass: it reads and groups every row, converts it too unless the run is dry, and
// refuses a sheet whose form is wrong. Then it makes the job.
// Rows and results are kept in private files, which hold personal data: in the state folder or, in a dry run, which
// leaves that unchanged, beside the workbook.
func (r *importRun) surveySheets(ctx context.Context) (err error) {
	s, o, folder := r.session, r.options, r.session.State
	r.observer.Started(thisVersion(), s.Mapping.File, o.sheets)
	if o.dryRun {
		folder = filepath.Dir(r.sheets[0].output)
	}
	for _, sheet := range r.sheets {
		if sheet.draft, err = spool.NewResults(folder); err != nil {
			return err
		}
		r.closers = append(r.closers, func() { _ = sheet.draft.Close() })
	}
	r.rows, r.survey, err = s.Survey(ctx, folder, !o.dryRun, func(record cell.Record) {
		sheet := r.sheets[record.Table]
		sheet.watch.See(record)
		sheet.preview.Note(record)
	})
	if err != nil {
		return err
	}
	found, doubtful := s.Binding.CheckCells(r.survey.Notes)
	console.PrintWarnings(r.Err, doubtful)
	for _, sheet := range r.sheets {
		console.PrintWarnings(r.Err, sheet.watch.Warnings())
		if sheet.watch.Rows < o.minRows {
			return problem.At(problem.Where{File: sheet.source.Book}, "min-rows",
				"rows in the sheet: %d, fewer than --min-rows %d: the export is broken", sheet.watch.Rows, o.minRows).
				Of(problem.Stopped).Hinted("nothing was sent; look at the export")
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	r.observer.Surveyed(r.survey.Rows, r.survey.Clients, r.survey.Invalid)
	for _, sheet := range r.sheets {
		if err := sheet.preview.Fits(sheet.source.Sheet(), len(s.Mapping.Contacts) > 0); err != nil {
			return err
		}
	}
	return r.makeJob()
}

func (r *importRun) makeJob() error {
	o, s := r.options, r.session
	r.job = &importer.Job{
		Environment: r.scope, Binding: s.Binding, Service: s.Client, Ledger: r.session.Ledger, Concurrency: cmp.Or(o.concurrency,
			s.Env.Concurrency), Limit: o.limit,
		NoLookup: o.noLookup, Groups: r.survey.Groups, MaxFailures: o.maxFailures,
		NewLedger: o.accept["new-ledger"], SimilarKeys: o.accept["similar-key"],
		LookAgain: r.pace.LookAgain, FirstWait: r.pace.AskAgain, Believable: r.pace.Believable, Clock: r.pace.Clock,
	}
	for _, sheet := range r.sheets {
		r.job.Runs, r.job.Drafts = append(r.job.Runs, sheet.record.ID), append(r.job.Drafts, sheet.draft)
	}
	hooks.job(r.job)
	if o.only == "" {
		return nil
	}
	if r.job.Only = s.Binding.Identity(o.only); r.survey.Number(r.job.Only) == 0 {
		var columns []string
		for _, column := range s.Mapping.Client.Key {
			columns = append(columns, "“"+column.Text+"”")
		}
		return problem.New("unknown-client", "--only names a client key that is not in the sheet").
			Hinted("the client key is the column %s of the mapping's client.key", strings.Join(columns, " | "))
	}
	return nil
}

// guard records the outcomes in the journal of an earlier run, refuses what must not be sent, and says what is new.
func (r *importRun) guard(ctx context.Context) error {
	if r.options.dryRun {
		n, err := journal.Pending(r.session.Place.Journal())
		if err != nil {
			return err
		}
		if n > 0 {
			return problem.New("dry-run-journal",
				"a dry run changes nothing, and %d outcomes in the journal of an earlier run must be recorded in the ledger first", n).
				Of(problem.Stopped).Hinted("leave --dry-run out: the run records them before anything else; claimsheet settle records them, too, and sends nothing")
		}
	} else {
		if err := r.replayJournal(); err != nil {
			return err
		}
		r.takeTracked(ctx)
	}
	if err := r.checkGuards(ctx, planGuards); err != nil {
		return err
	}
	grown, err := r.job.Growth(ctx, r.plans())
	if err != nil {
		return err
	}
	console.PrintProblems(r.Err, grown)
	if err := r.compareWorkbook(ctx); err != nil {
		return err
	}
	return r.confirmFirst(ctx)
}

// plans returns the plans of all clients, in the order of the sheets.
func (r *importRun) plans() iter.Seq2[mapping.Plan, error] {
	return r.survey.Plans(r.session.Binding, r.rows)
}

// execute carries the plans out; a dry run only predicts them. A run that had to stop in good order is no error here: report returns why.
func (r *importRun) execute(ctx context.Context) (err error) {
	do := r.job.Forecast
	if !r.options.dryRun {
		do = r.job.Do
		if err := r.recordStart(ctx); err != nil {
			return err
		}
		if err := r.dispatch(ctx); err != nil {
			return err
		}
	}
	defer context.AfterFunc(ctx, func() {
		fmt.Fprintf(r.Err, "claimsheet: stopping: requests in flight: %d; waiting for their answers; press Ctrl-C again to stop at once\n",
			r.session.Client.InFlight())
	})()
	stop := r.observer.Watch(r.job.Progress, r.survey.Clients)
	err = do(ctx, r.plans())
	stop()
	if errors.Is(err, importer.ErrLostLedger) {
		return problem.New("new-ledger", "%s", err).
			Of(problem.Stopped).Hinted("look for the state folder of earlier runs; or add --accept new-ledger if the ledger is new on purpose")
	}
	if errors.Is(err, importer.ErrStopped) && !r.options.dryRun {
		r.stopped = err
		return nil
	}
	return err
}

// recordStart records that the run began, marks the workbooks of the mapping's latest run as older, and opens the journal: all that must be
// known of the run before it sends anything.
func (r *importRun) recordStart(ctx context.Context) (err error) {
	l := r.session.Ledger
	for _, sheet := range r.sheets {
		if sheet.record.Summary, err = json.Marshal(runSummary{Kept: r.keep(sheet)}); err != nil {
			return err
		}
		if err := l.StartRun(sheet.record); err != nil {
			return err
		}
	}
	r.session.KeepInputs()
	latest, err := l.LatestOutputs(ctx, r.scope, r.session.Mapping.Name.Text)
	if err != nil {
		return err
	}
	for _, path := range latest {
		if err := r.supersede(ctx, path); err != nil {
			return err
		}
	}
	if err := l.ChangeDefinition(r.scope, r.session.Mapping.Name.Text, r.session.Binding.Definition); err != nil {
		return err
	}
	if r.job.Journal, err = r.openJournal(); err != nil {
		return err
	}
	r.closers = append(r.closers, func() { _ = r.job.Journal.Close() })
	return nil
}

// supersede marks a workbook of the mapping's latest run: with the ledger lost, it must not pass for the latest. One that cannot be marked
// is a warning.
func (r *importRun) supersede(ctx context.Context, path string) error {
	by, last, _, err := r.session.Ledger.OutputOf(ctx, path)
	if err != nil {
		return err
	}
	b, err := workbook.Find(path)
	if err == nil && (b == nil || b.NextRun != "" || b.Dropped) {
		return nil // nothing there can pass for the latest results
	}
	was := ""
	if err == nil {
		was, err = safefile.Digest(path)
	}
	if err == nil {
		err = workbook.Supersede(path, r.run, safefile.Absolute(r.sheets[0].output), func(digest string) error {
			if was != last {
				return nil // it was edited, so it will be kept
			}
			return r.session.Ledger.NoteOutput(by, path, digest)
		})
	}
	if err != nil {
		console.PrintProblems(r.Err, problem.List{problem.At(problem.Where{File: path}, "not-marked",
			"could not be marked as older than this run: %v", problem.Cause(err)).
			Hinted("close it in other programs; it must not be used alone to bring a lost ledger back")})
	}
	return nil
}
