package cli

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "import a sheet; --dry-run only checks and plans",
		UsageText: "claimsheet run -m FILE [-e ENVIRONMENT] [options] SHEET",
		Flags: append(append(placeFlags(),
			textFlag("out", "o", "the results workbook's `FILE`; default: SHEET with .results.xlsx")),
			runFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return problem.New("no-sheet", "no sheet is given").Hinted("claimsheet run -m mapping.yaml leads.xlsx")
			}
			o, err := p.runOptions(c)
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
		switchFlag("dry-run", "check everything and say what would be sent; nothing is"),
		switchFlag("no-lookup", "in a dry run: do not ask the service which clients it knows"),
		numberFlag("limit", "take the first `N` clients only", "all"),
		textFlag("only", "", "take the client with this `KEY` only"),
		numberFlag("min-rows", "stop when the sheet has fewer than `N` rows: the export is broken", "none"),
		numberFlag("concurrency", "`N` clients side by side", "the environment's, else 8"),
		&cli.Float64Flag{Name: "rate", Usage: "at most `N` requests per second", DefaultText: "the environment's, else no ceiling"},
		switchFlag("json", "print one JSON object on stdout at the end"),
		switchFlag("quiet", "print problems only, no summary"),
	}, guardFlags()...)
}

// runOptions are the flags of claimsheet run and claimsheet rerun.
type runOptions struct {
	place
	guards
	sheet       string
	origin      *origin // of a rerun's workbook; nil for a run
	yes         bool    // rerun: take over what the ledger does not know without asking
	out         string
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
		place: p.placeOf(c), sheet: c.Args().First(), out: c.String("out"),
		concurrency: c.Int("concurrency"), rate: c.Float64("rate"),
		limit: c.Int("limit"), only: c.String("only"), minRows: c.Int("min-rows"),
		dryRun: c.Bool("dry-run"), noLookup: c.Bool("no-lookup"), json: c.Bool("json"), quiet: c.Bool("quiet"),
	}
	var err error
	if o.guards, err = guardsOf(c); err != nil {
		return o, err
	}
	switch {
	case c.NArg() > 1:
		return o, problem.New("usage", "one sheet at a time; %d are given", c.NArg()).Hinted("run the command once for each")
	case o.noLookup && !o.dryRun:
		return o, problem.New("usage", "--no-lookup is for a dry run: a run must know which clients exist").
			Hinted("add --dry-run; to create clients unasked, write existing: create in the mapping")
	}
	for _, name := range []string{"limit", "concurrency", "rate", "min-rows"} {
		if c.IsSet(name) && c.Float64(name) <= 0 && c.Int(name) <= 0 {
			return o, problem.New("usage", "--%s must be more than 0", name).Hinted("leave it out to have it as usual")
		}
	}
	return o, nil
}

// run is the whole import: load and bind, look through the sheet, carry the
// plans out (or only foresee them), write the workbook.
func (p *program) run(ctx context.Context, o runOptions) error {
	started := time.Now()
	id := uuid.NewString()
	s, err := prepare(ctx, settings{
		place: o.place, sheet: o.sheet, origin: o.origin, environment: true, keepIn: o.keepIn, readOnly: o.dryRun, rate: o.rate, run: id,
	})
	defer s.close()
	if err != nil {
		return err
	}
	sayProblems(p.Err, s.warnings)
	books, err := openBooks(s, o.dryRun)
	if err != nil {
		return err
	}
	defer books.close()
	record := o.runRecord(s, id, started)
	out := target{path: o.output(), dryRun: o.dryRun, ledger: books.known}
	if err := out.check(ctx, started); err != nil {
		return err
	}
	if err := books.setAside(s, out.path); err != nil {
		return err
	}
	places, err := importer.EmergencyPlaces(ledgerFile(s.state), out.path)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := p.takeUp(books.known, places); err != nil {
			return err
		}
	}

	survey, err := importer.Take(ctx, s.binding, s.rows, !o.dryRun)
	if err != nil {
		return err
	}
	if survey.Rows < o.minRows {
		return tooFewRows(survey.Rows, o.minRows)
	}
	job, err := o.job(s, books, survey, id)
	if err != nil {
		return err
	}
	if err := o.vet(ctx, job, s, survey); err != nil {
		return err
	}
	recall, err := p.recall(ctx, o, s, books)
	if err != nil {
		return err
	}
	if err := books.start(record); err != nil {
		return err
	}
	if !o.dryRun {
		s.input.keep()
		if err := books.known.SetDefinition(s.scope, s.mapping.Name.Text, s.mapping.Definition()); err != nil {
			return err
		}
	}
	if !o.dryRun {
		job.Emergency = p.openEmergency(id, books.known, places)
		defer job.Emergency.Close()
	}
	plans := survey.Plans(s.binding, s.rows)
	if recall != nil {
		if plans, err = recall.before(ctx, plans, id); err != nil {
			return err
		}
	}
	var runErr error
	if o.dryRun {
		runErr = job.Forecast(ctx, plans)
	} else {
		runErr = job.Do(ctx, plans)
	}
	if !complete(runErr, o.dryRun) {
		return runErr
	}
	e := ending{options: o, setup: s, books: books, survey: survey, record: record, target: out, why: runErr}
	if err := p.finish(ctx, job, e); err != nil {
		return err
	}
	return runErr
}

// job is what is left of the options once everything is loaded.
func (o runOptions) job(s *setup, b *books, survey *importer.Survey, id string) (*importer.Job, error) {
	concurrency := o.concurrency
	if concurrency == 0 {
		concurrency = s.env.Limits.Concurrency
	}
	job := &importer.Job{
		Run: id, Environment: s.scope, Binding: s.binding, Service: s.service,
		Ledger: b.known, Draft: b.draft, Concurrency: concurrency, Limit: o.limit, NoLookup: o.noLookup,
		MaxFailures: o.maxFailures, NewLedger: o.newLedger, Patience: patienceOf(lookAgain),
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

// lookAgain is when a client whose creation is uncertain is looked up in the
// same run. Tests shorten it, also in a built program (-ldflags -X).
var lookAgain = "0s 5s 30s"

func patienceOf(text string) []time.Duration {
	var waits []time.Duration
	for _, word := range strings.Fields(text) {
		if d, err := time.ParseDuration(word); err == nil {
			waits = append(waits, d)
		}
	}
	return waits
}

func keyColumns(m *mapping.Mapping) string {
	names := make([]string, len(m.Client.Key))
	for i, w := range m.Client.Key {
		names[i] = "“" + w.Text + "”"
	}
	return strings.Join(names, " | ")
}

func (o runOptions) runRecord(s *setup, id string, started time.Time) ledger.Run {
	return ledger.Run{
		ID: id, Environment: s.scope, EnvironmentName: s.env.Name,
		Mapping: s.mapping.Name.Text, MappingFile: s.mapping.File, MappingDigest: s.mapping.Digest,
		Input: o.sheet, InputDigest: s.input.digest, KeptInput: s.input.path,
		Version: Version, Started: started.UTC(),
	}
}
