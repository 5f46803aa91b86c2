package cli

import (
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
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
