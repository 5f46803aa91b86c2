package cli

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/ledger"
	"claimsheet/importer/rerun"
	"claimsheet/importer/safefile"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const rerunHelp = `It takes corrected cells from the workbooks, sends what is still missing, and writes the workbooks again. Done steps are not
repeated, wherever their rows are. Give all workbooks of a run in one command.

Examples:

    claimsheet rerun leads.results.xlsx
    claimsheet rerun -m mapping.yaml -e uat --dry-run leads.results.xlsx`

func (p *program) rerunCommand() *cli.Command {
	return &cli.Command{
		Name:         "rerun",
		Usage:        "do what is still missing in results workbooks, edited or not",
		UsageText:    "claimsheet rerun [options] RESULTS.xlsx…",
		BashComplete: offerFiles,
		Description:  rerunHelp,
		Flags:        rerunFlags(),
		Action: func(c *cli.Context) error {
			if err := p.observe(c); err != nil {
				return err
			}
			if c.NArg() == 0 {
				return problem.New("no-sheet", "no results workbook is given").Hinted("claimsheet rerun leads.results.xlsx")
			}
			o, err := p.runOptions(c)
			if err != nil {
				return err
			}
			o.yes = c.Bool("yes")
			if o.sheets, err = load.Workbooks(c.Args().Slice()); err != nil {
				return err
			}
			if o.workbooks, err = workbook.ReadAll(o.sheets, o.password.value); err != nil {
				return err
			}
			o.typed = o.where
			if err := o.fromLedger(c.Context, c.IsSet("env")); err != nil {
				return err
			}
			p.place = o.where
			return p.importSheets(c.Context, o)
		},
	}
}

func rerunFlags() []cli.Flag {
	flags := withMapping("the mapping `FILE`; default: that of the run, as the ledger recorded it", append(placeFlags(), ledgerFlag()...))
	flags[1] = textFlag("env", "e", "the `ENVIRONMENT`; default: that of the run, as the ledger recorded it")
	flags = append(flags,
		textFlag("out", "o", "the new results workbook's `FILE`; default: the workbook itself; an edited one is kept under another name"),
		switchFlag("yes", "when the ledger is gone, take the ids from the workbook without asking"))
	return append(flags, runFlags()...)
}

// fromLedger sets the mapping and the environment that a rerun is not given to
// those of the run that wrote its workbook, as the ledger recorded them. What the
// workbook says is not used: anybody can write a workbook, and the environments
// file beside a mapping runs programs.
func (o *runOptions) fromLedger(ctx context.Context, envGiven bool) error {
	if o.where.Mapping != "" && envGiven {
		return nil
	}
	state := recordsFolder(o.where)
	places, err := recordPlaces(ctx, withUsualMapping(o.where), state)
	if err != nil {
		return err
	}
	for _, place := range places {
		run, known, err := recordedRun(ctx, place, o.workbooks[0].Run)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if !envGiven {
			o.where.Env = run.EnvironmentName
		}
		if o.where.Mapping == "" {
			o.where.Mapping, o.where.State = run.MappingFile, state
		}
		return o.checkMappingFile()
	}
	if o.where.Mapping != "" {
		return nil
	}
	return problem.At(problem.Where{File: o.workbooks[0].Path}, "no-mapping", "no ledger in %s knows the run that wrote the workbook, so its mapping must be named", state).
		Hinted("give the file of the mapping “%s”, or change to the folder whose .claimsheet has the run: %s",
			o.workbooks[0].Mapping, o.withMapping("mapping.yaml"))
}

// recordsFolder returns the state folder in which a rerun looks its run up: that
// of --state, else that beside the environments file or the mapping if one is
// given, else that of the working directory. It is never the workbook's own
// folder, because a ledger can come with a workbook.
func recordsFolder(where load.Where) string {
	if where.Mapping == "" && where.Environments == "" && where.State == "" {
		return statefolder.Path("mapping.yaml", "", "") // in the working directory
	}
	return where.StateDir(false)
}

// recordPlaces are where a rerun looks its run up: in the state folder, in the sandbox's,
// and in the database that the environment or --ledger names.
func recordPlaces(ctx context.Context, where load.Where, state string) ([]ledgerPlace, error) {
	places := []ledgerPlace{{folder: state}, {folder: statefolder.Sandbox(state)}}
	s, err := load.OpenEnvironment(where)
	if err != nil {
		s.Close()
		return places, nil // the environment may be the one of the run
	}
	defer s.Close()
	place, err := placeOfLedger(ctx, where, s.Env, s.State)
	if err == nil && place.server != nil {
		places = append([]ledgerPlace{place}, places...)
	}
	return places, err
}

// recordedRun returns a run of the ledger at a place.
func recordedRun(ctx context.Context, place ledgerPlace, id string) (run ledger.Run, known bool, err error) {
	if id == "" {
		return ledger.Run{}, false, nil
	}
	if there, err := place.exists(ctx); err != nil || !there {
		return ledger.Run{}, false, err
	}
	if err := statefolder.Check(place.folder); err != nil {
		return ledger.Run{}, false, err
	}
	records, err := place.openReadOnly(ctx)
	if err != nil {
		return ledger.Run{}, false, err
	}
	defer records.Close()
	return records.Run(ctx, id)
}

// checkMappingFile refuses a recorded mapping that is no longer there.
func (o *runOptions) checkMappingFile() error {
	if info, err := os.Stat(o.where.Mapping); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return problem.At(problem.Where{File: o.workbooks[0].Path}, "no-mapping", "the mapping file of the run that wrote the workbook, %s, is not there", o.where.Mapping).
		Hinted("name the file in which the mapping “%s” is now: %s", o.workbooks[0].Mapping, o.withMapping("mapping.yaml"))
}

// withMapping returns the command as it was given, with a mapping.
func (o *runOptions) withMapping(path string) string {
	named := *o
	named.where.Mapping = path
	words := named.command()
	if o.dryRun {
		words = slices.Insert(words, 4, "--dry-run")
	}
	if o.yes {
		words = slices.Insert(words, 4, "--yes")
	}
	return reports.CommandLine(words)
}

// comparison compares the workbooks of a run with the ledger, and makes the ledger know
// what only they know.
type comparison struct {
	*rerun.Comparison
	run *importRun
}

// compareWorkbooks compares the workbooks of a rerun with the ledger and changes
// nothing. What the ledger does not know is recorded only after the user has
// agreed.
func (r *importRun) compareWorkbooks(ctx context.Context) error {
	if !r.options.isRerun() {
		return nil
	}
	r.rerun = &comparison{Comparison: &rerun.Comparison{Ledger: r.ledger.ledger, Environment: r.scope, Binding: r.session.Binding,
		ActivityIDs: r.session.Env.Wire.ActivityID != "", NewIdentity: r.options.accept["new-identity"]}, run: r}
	var found problem.List
	for _, src := range r.rerun.newestFirst() {
		if err := found.Collect(r.rerun.compare(ctx, src)); err != nil {
			return err
		}
	}
	missing, decisions := r.rerun.Missing, r.rerun.Words
	switch {
	case len(found) > 0:
		return found
	case r.options.dryRun && missing+decisions > 0:
		return &incomplete{problem.New("dry-run-ledger", "a dry run changes nothing, and the ledger must learn %d steps from the workbook first", missing+decisions).
			Hinted("leave --dry-run out; you are asked before anything is recorded")}
	case missing > 0 && !r.options.yes:
		return r.confirmTakeOver(ctx, missing)
	}
	return nil
}

// compare compares one workbook with the ledger, and refuses one that cannot be
// relied on.
func (r *comparison) compare(ctx context.Context, src *load.Source) error {
	before, ledgerFile := r.Missing, r.run.ledger.path()
	known, err := r.run.ledger.knownRun(ctx, src.Workbook.Run)
	if err != nil {
		return err
	}
	runKnown := known == runEnded
	r.Unknown = !runKnown
	if err := r.CheckSteps(ctx, workbook.Steps(src.Input.Open)); err != nil {
		return err
	}
	missing := r.Missing > before
	if runKnown && !missing && (r.Words == 0 || !r.run.options.dryRun) {
		return nil
	}
	if bound := src.Workbook.Ledger; known == runUnknown && bound != "" && bound != safefile.Absolute(ledgerFile) && exists(bound) {
		return problem.At(problem.Where{File: src.Workbook.Path}, "other-ledger", "the workbook belongs to the ledger %s; this run would use %s, which does not know it",
			bound, ledgerFile).
			Hinted("give --state with the folder of earlier runs, or the mapping and the environments file that belong to it")
	}
	if (!runKnown || missing) && !r.Complete(src.Workbook.Steps) {
		return problem.At(problem.Where{File: src.Input.Given}, "steps-missing",
			"lines of the workbook's sheet Steps are gone, and the ledger does not know what they said: what is done could be done again").
			Hinted("give the copy that was kept of the workbook, or bring the ledger back: %s", ledgerFile)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// confirmTakeOver asks whether the ledger may record the steps of the workbooks.
// Scripts give --yes instead.
func (r *importRun) confirmTakeOver(ctx context.Context, steps int) error {
	question := fmt.Sprintf("The ledger %s does not know %d steps that the workbook shows as done or undecided.\n"+
		"Take them over from the workbook, so that they are not sent again?", r.ledger.path(), steps)
	if console.Confirm(ctx, r.In, r.Err, question) {
		return nil
	}
	command := slices.Insert(r.options.command(), 2, "--yes")
	return &incomplete{problem.New("not-confirmed", "nothing was sent: the ledger does not know what the workbook shows as done").
		Hinted("bring the ledger back, or take the ids from the workbook: %s", reports.CommandLine(command))}
}

// apply makes the ledger know what the workbooks do, and returns the plans without
// those of clients whose ids contradict it.
func (r *comparison) apply(ctx context.Context, plans iter.Seq2[mapping.Plan, error], job *importer.Job) (iter.Seq2[mapping.Plan, error], error) {
	if err := r.takeOver(ctx); err != nil {
		return nil, err
	}
	if err := r.Settle(ctx, uuid.NewString()); err != nil {
		return nil, err
	}
	if err := r.CheckRows(ctx, r.rows()); err != nil {
		return nil, err
	}
	if !r.run.options.dryRun {
		if err := r.recordRuns(ctx); err != nil {
			return nil, err
		}
	}
	job.Prior = r.Prior()
	return r.Hold(plans), nil
}

// takeOver records the steps that the ledger does not know.
func (r *comparison) takeOver(ctx context.Context) error {
	if r.Missing == 0 {
		return nil
	}
	urls, err := r.urls()
	if err != nil {
		return err
	}
	for _, src := range r.newestFirst() {
		known, err := r.run.ledger.knownRun(ctx, src.Workbook.Run)
		if err != nil {
			return err
		}
		r.Unknown = known != runEnded
		if err := r.TakeOver(ctx, workbook.Steps(src.Input.Open), r.run.run, urls); err != nil {
			return err
		}
	}
	return nil
}

// newestFirst returns the workbooks by the age of their runs: what the newest says
// about a step, and which link and url it shows, counts.
func (r *comparison) newestFirst() []*load.Source {
	return slices.SortedStableFunc(slices.Values(r.run.session.Sources), func(a, b *load.Source) int {
		return b.Workbook.Started.Compare(a.Workbook.Started)
	})
}

// recordRuns records the runs that wrote the workbooks, now that the ledger knows
// what they did.
func (r *comparison) recordRuns(ctx context.Context) error {
	for _, src := range r.run.session.Sources {
		known, err := r.run.ledger.knownRun(ctx, src.Workbook.Run)
		if err != nil {
			return err
		}
		switch run := r.unknownRun(src.Workbook); {
		case run.ID == "" || known == runEnded:
		case known == runBegun:
			err = r.run.ledger.ledger.FinishRun(run)
		default:
			err = r.run.ledger.ledger.StartRun(run)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownRun returns the run that wrote a workbook, for a ledger that does not know
// it. The mapping file is the one of this run: a workbook must not name the files
// that are read the next time.
func (r *comparison) unknownRun(b *workbook.Binding) ledger.Run {
	m, at := r.run.session.Mapping, b.Started
	if at.IsZero() {
		at = time.Now()
	}
	return ledger.Run{ID: b.Run, Environment: r.run.scope, EnvironmentName: r.run.session.Env.Name,
		Mapping: m.Name.Text, MappingFile: m.File, MappingDigest: m.Digest,
		Input: b.Input, InputDigest: b.InputDigest, Started: at.UTC(), Finished: at.UTC()}
}

// rows returns the rows of all the workbooks.
func (r *comparison) rows() iter.Seq2[rerun.Row, error] {
	return r.rowsOf(r.run.session.Sources)
}

// rowsOf returns the rows of some of the workbooks, in their order.
func (r *comparison) rowsOf(sources []*load.Source) iter.Seq2[rerun.Row, error] {
	return func(yield func(rerun.Row, error) bool) {
		for _, src := range sources {
			fill := mapping.FillDown(r.run.session.Mapping.FillDown(), src.Sheet())
			for row, err := range src.Results.Rows() {
				if err == nil {
					row.Record = fill(row.Record)
				}
				row.Record.Table = slices.Index(r.run.session.Sources, src)
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// urls returns the clients' redirect urls as the newest workbooks show them. A row with
// the id of another client shows that client's url, and is left out.
func (r *comparison) urls() (map[mapping.Identity]string, error) {
	ids, err := r.clientIDs()
	if err != nil {
		return nil, err
	}
	urls := map[mapping.Identity]string{}
	for row, err := range r.rowsOf(r.newestFirst()) {
		if err != nil {
			return nil, err
		}
		who := r.Binding.Client(row.Record)
		if row.URL == "" || urls[who] != "" {
			continue
		}
		if id := ids[who]; row.ClientID == "" || id == "" || row.ClientID == id {
			urls[who] = row.URL
		}
	}
	return urls, nil
}

// clientIDs returns the clients' ids as the newest sheets Steps show them.
func (r *comparison) clientIDs() (map[mapping.Identity]string, error) {
	ids := map[mapping.Identity]string{}
	for _, src := range r.newestFirst() {
		for line, err := range workbook.Steps(src.Input.Open) {
			if err != nil {
				return nil, err
			}
			if who := line.Identity(r.Binding.KeySpace()); line.Step == string(mapping.ClientStep) && ids[who] == "" {
				ids[who] = line.ID
			}
		}
	}
	return ids, nil
}
