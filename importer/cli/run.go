package cli

import (
	"context"
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
	"claimsheet/importer/emergency"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "import sheets; --dry-run only checks and plans",
		UsageText: "claimsheet run -m FILE [-e ENVIRONMENT] [options] SHEET…",
		Flags: append(append(placeFlags(),
			textFlag("out", "o", "the results workbook's `FILE`, or for several sheets a folder; default: SHEET with .results.xlsx"), archiveFlag()),
			runFlags()...),
		Action: func(c *cli.Context) error {
			if err := p.attend(c); err != nil {
				return err
			}
			if c.NArg() == 0 {
				return problem.New("no-sheet", "no sheet is given").Hinted("claimsheet run -m mapping.yaml leads.xlsx")
			}
			o, err := p.runOptions(c)
			if err == nil {
				o.sheets, err = expand(c.Args().Slice())
			}
			if err != nil {
				return err
			}
			return p.run(c.Context, o)
		},
	}
}

// runFlags are the flags that run and rerun share.
func runFlags() []cli.Flag {
	return append([]cli.Flag{
		textFlag("format", "", "the results' `FORMAT`, xlsx or csv; a csv is for reading: types, formats and steps are lost (default: xlsx)"),
		switchFlag("dry-run", "check everything and say what would be sent; nothing is"),
		passwordFlag(),
		switchFlag("no-lookup", "in a dry run: do not ask the service which clients it knows"),
		numberFlag("limit", "take the first `N` clients only", "all"),
		textFlag("only", "", "take the client with this `KEY` only"),
		numberFlag("min-rows", "stop when the sheet has fewer than `N` rows: the export is broken", "none"),
		numberFlag("concurrency", "`N` clients side by side", "the environment's, else 8"),
		&cli.Float64Flag{Name: "rate", Usage: "at most `N` requests per second", DefaultText: "the environment's, else no ceiling"},
		switchFlag("json", "print one JSON object on stdout at the end"),
		switchFlag("quiet", "print problems only, no summary"),
	}, append(guardFlags(), attendFlags()...)...)
}

// runOptions are the flags of claimsheet run and claimsheet rerun.
type runOptions struct {
	place
	guards
	sheets      []string
	password    password
	origins     []*origin // of a rerun's workbooks; nil for a run
	yes         bool      // rerun: take over what the ledger does not know without asking
	out         string
	format      string // xlsx or csv
	concurrency int
	rate        float64
	limit       int
	only        string
	minRows     int
	dryRun      bool
	noLookup    bool
	json        bool
	quiet       bool
}

func (p *program) runOptions(c *cli.Context) (runOptions, error) {
	o := runOptions{
		place: p.placeOf(c), out: c.String("out"), format: c.String("format"),
		concurrency: c.Int("concurrency"), rate: c.Float64("rate"),
		limit: c.Int("limit"), only: c.String("only"), minRows: c.Int("min-rows"),
		dryRun: c.Bool("dry-run"), noLookup: c.Bool("no-lookup"), json: c.Bool("json"), quiet: c.Bool("quiet"),
	}
	var err error
	if o.guards, err = guardsOf(c); err != nil {
		return o, err
	}
	if o.password, err = passwordOf(c); err != nil {
		return o, err
	}
	switch {
	case o.noLookup && !o.dryRun:
		return o, problem.New("usage", "--no-lookup is for a dry run: a run must know which clients exist").
			Hinted("add --dry-run; to create clients unasked, write existing: create in the mapping")
	}
	for _, name := range []string{"limit", "concurrency", "rate", "min-rows"} {
		if c.IsSet(name) && c.Float64(name) <= 0 && c.Int(name) <= 0 {
			return o, problem.New("usage", "--%s must be more than 0", name).Hinted("leave it out to have it as usual")
		}
	}
	return o, o.settleFormat()
}

// run is the whole import: load and bind, look through the sheets, carry the
// plans out (or only foresee them), write the workbooks.
func (p *program) run(ctx context.Context, o runOptions) error {
	r := &running{options: o, started: time.Now()}
	defer r.close()
	if err := r.prepare(ctx, p); err != nil {
		return err
	}
	if err := r.look(ctx, p); err != nil {
		return err
	}
	plans, err := r.begin(ctx, p)
	if err != nil {
		return err
	}
	stop := p.watch(r.job.Progress, r.survey.Clients, o.ceiling(r.setup))
	if o.dryRun {
		r.why = r.job.Forecast(ctx, plans)
	} else {
		r.why = r.job.Do(ctx, plans)
	}
	stop()
	if !complete(r.why, o.dryRun) {
		return r.why
	}
	if err := p.finish(ctx, r.job, r); err != nil {
		return err
	}
	if err := p.attended.completes(ctx, r.job, r); err != nil {
		return err
	}
	return r.why
}

// ceiling is the most calls per second, 0 for as fast as they come.
func (o runOptions) ceiling(s *setup) float64 {
	if o.rate > 0 {
		return o.rate
	}
	return s.env.Limits.RequestsPerSecond
}

// job is what is left of the options once everything is loaded.
func (o runOptions) job(s *setup, b *books, survey *importer.Survey, runs []string) (*importer.Job, error) {
	concurrency := o.concurrency
	if concurrency == 0 {
		concurrency = s.env.Limits.Concurrency
	}
	job := &importer.Job{
		Runs: runs, Environment: s.scope, Binding: s.binding, Service: s.service,
		Ledger: b.known, Drafts: b.drafts, Concurrency: concurrency, Limit: o.limit, NoLookup: o.noLookup,
		MaxFailures: o.maxFailures, NewLedger: o.newLedger, Patience: o.pace.LookAgain, FirstWait: o.pace.AskAgain, Believable: o.pace.Believable, Now: o.pace.Now,
	}
	if o.only != "" {
		if who := s.binding.Identity(o.only); survey.Has(who) {
			job.Only = who
		} else {
			return nil, problem.New("unknown-key", "--only names a client key that the sheet does not hold").
				Hinted("the client key is the column %s of the mapping's client.key", keyColumns(s.mapping))
		}
	}
	return job, nil
}

func keyColumns(m *mapping.Mapping) string {
	names := make([]string, len(m.Client.Key))
	for i, w := range m.Client.Key {
		names[i] = "“" + w.Text + "”"
	}
	return strings.Join(names, " | ")
}

// running is a run under way: what was asked for, and what is at hand of it by
// now.
type running struct {
	options runOptions
	started time.Time
	setup   *setup
	books   *books
	parts   []*part
	places  []string // for emergency files
	survey  *importer.Survey
	job     *importer.Job
	recall  *recall // of a rerun
	why     error   // why the run had to stop before its end, nil when it had not
}

// close gives back what is open, the latest first.
func (r *running) close() {
	if r.job != nil && r.job.Emergency != nil {
		r.job.Emergency.Close()
	}
	if r.books != nil {
		r.books.close()
	}
	r.setup.close()
}

// prepare loads and binds everything, opens the ledger and sees to it that the
// workbooks can be written. The run must be closed, also after an error.
func (r *running) prepare(ctx context.Context, p *program) (err error) {
	o, a := r.options, p.attended
	r.setup, err = prepare(ctx, settings{
		place: o.place, sheets: o.sheets, password: o.password.value, origins: o.origins, environment: true, keepIn: o.keepIn,
		corrected: !o.dryRun && o.format != formatCSV,
		readOnly:  o.dryRun, rate: o.rate, run: a.run,
	})
	a.knows(r.setup)
	if r.setup.mapping != nil { // they may be why the mapping cannot be used
		console.PrintWarnings(p.Err, r.setup.mapping.Warnings)
	}
	if err != nil {
		return err
	}
	notices, err := o.notices(r.setup)
	if err != nil {
		return err
	}
	console.PrintWarnings(p.Err, append(r.setup.warnings, notices...))
	r.setup.olderLedger = o.newLedger
	if r.books, err = openBooks(r.setup, o.dryRun); err != nil {
		if errors.Is(err, ledger.ErrLocked) {
			r.setup.keepInputs() // the run that holds the ledger may be reading the same copies
		}
		return err
	}
	if err := r.settleScope(ctx); err != nil {
		return err
	}
	for _, from := range o.origins {
		if err := from.refusesEnvironment(r.setup); err != nil {
			return err
		}
	}
	if r.parts, err = o.parts(r.setup, r.books.known, a.run, r.started); err != nil {
		return err
	}
	if err := checkTargets(ctx, r.parts, r.started); err != nil {
		return err
	}
	if err := r.checkBehind(ctx); err != nil {
		return err
	}
	if err := r.books.setAside(r.setup, r.parts); err != nil {
		return err
	}
	r.places, err = emergency.Places(ledgerFile(r.setup.state), r.parts[0].target.path)
	if err != nil {
		return err
	}
	if o.dryRun {
		return foreseeTakeUp(r.books.known, r.places)
	}
	return p.takeUp(r.books.known, r.places)
}

// look goes through the sheets and refuses what must not be sent. Nothing is
// sent before it has come to its end, and nothing is remembered.
func (r *running) look(ctx context.Context, p *program) (err error) {
	p.attended.starts(r.setup, r.options)
	if r.survey, err = p.survey(ctx, r.options, r.setup, r.parts); err != nil {
		return err
	}
	p.attended.log.Info("first pass", r.counted()...)
	if err := checkWidths(r.parts); err != nil {
		return err
	}
	if r.job, err = r.options.job(r.setup, r.books, r.survey, runsOf(r.parts)); err != nil {
		return err
	}
	grown, err := r.options.vet(ctx, r.job, r.setup, r.survey)
	if err != nil {
		return err
	}
	console.PrintProblems(p.Err, grown)
	r.recall, err = p.recall(ctx, r.options, r.setup, r.books)
	return err
}

// counted is what the first pass has found. A dry run finds the invalid rows
// later.
func (r *running) counted() []any {
	found := []any{"rows", r.survey.Rows, "clients", r.survey.Clients}
	if !r.options.dryRun {
		found = append(found, "invalidRows", r.survey.Invalid)
	}
	return found
}

// begin enters the run into the ledger, and makes its plans.
func (r *running) begin(ctx context.Context, p *program) (plans iter.Seq2[mapping.Plan, error], err error) {
	if err := r.books.start(r.parts); err != nil {
		return nil, err
	}
	if s := r.setup; !r.options.dryRun {
		s.keepInputs()
		if err := r.markOlder(ctx, p); err != nil {
			return nil, err
		}
		if err := r.define(ctx); err != nil {
			return nil, err
		}
		r.job.Emergency = p.openEmergency(p.attended.run, r.books.known, r.places)
	}
	plans = r.job.Recorded(ctx, r.survey.Plans(r.setup.binding, r.setup.rows))
	if r.recall == nil {
		return plans, nil
	}
	plans, err = r.recall.before(ctx, plans, p.attended.run)
	if err == nil && !r.options.dryRun {
		err = r.recall.enterRuns(ctx)
	}
	r.recall.Keep(r.job)
	return plans, err
}

// define remembers what the names of the mapping's steps are made from.
func (r *running) define(ctx context.Context) error {
	s, known := r.setup, r.books.known
	then, _, err := known.Definition(ctx, s.scope, s.mapping.Name.Text)
	if err != nil {
		return err
	}
	return known.SetDefinition(s.scope, s.mapping.Name.Text, s.binding.Definition(then))
}

// The formats in which results are written.
const (
	formatXLSX = "xlsx"
	formatCSV  = "csv"
)

// settleFormat finds the format of the results: the one that is given, else the
// one that the name given with -o ends in. A plan is always a workbook.
func (o *runOptions) settleFormat() error {
	named := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
	switch {
	case !slices.Contains([]string{"", formatXLSX, formatCSV}, o.format):
		return problem.New("usage", "--format must be xlsx or csv").Hinted("leave it out to have a workbook")
	case o.format == "" && named == formatCSV:
		o.format = formatCSV
	case o.format == "":
		o.format = formatXLSX
	case o.format != named && (named == formatXLSX || named == formatCSV):
		return problem.New("usage", "--format %s and -o FILE.%s contradict each other", o.format, named).Hinted("leave one of them out")
	}
	if o.dryRun && o.format == formatCSV {
		return problem.New("usage", "the plan of a dry run is a workbook: marks, comments and calls have no place in a CSV file").
			Hinted("leave --format out, and let the name given with -o end in .xlsx")
	}
	return nil
}

// command is the command of the run, without --dry-run.
func (o runOptions) command() []string {
	verb := "run"
	if o.origins != nil {
		verb = "rerun"
	}
	words := o.words(verb)
	if o.templates != "" {
		words = append(words, "--templates", o.templates)
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
	} else if o.format == formatCSV {
		words = append(words, "--format", formatCSV)
	}
	words = append(words, o.guards.words()...)
	return append(words, o.sheets...)
}

// words are a command with the flags that say where things are. The rerun after
// a run has mapping and environment from the ledger, where it finds that one
// without them.
func (o runOptions) words(verb string) []string {
	words := []string{"claimsheet", verb}
	flags := []struct{ name, value string }{
		{"-m", o.mapping}, {"-e", o.env}, {"--environments", o.environments}, {"--state", o.state},
	}
	if verb == "rerun" && o.origins == nil && o.recordsIn() == (place{environments: o.environments, state: o.state}).recordsIn() {
		flags = flags[2:]
	}
	for _, f := range flags {
		if f.value != "" {
			words = append(words, f.name, f.value)
		}
	}
	return words
}
