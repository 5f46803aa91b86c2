package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

func (p *program) rerunCommand() *cli.Command {
	return &cli.Command{
		Name:      "rerun",
		Usage:     "do what is still missing in results workbooks, edited or not",
		UsageText: "claimsheet rerun [options] RESULTS.xlsx…",
		Flags:     rerunFlags(),
		Action: func(c *cli.Context) error {
			if err := p.attend(c); err != nil {
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
			if o.sheets, err = expandAll(c.Args().Slice()); err != nil {
				return err
			}
			if o.origins, err = readOrigins(o.sheets, o.password.value); err != nil {
				return err
			}
			if err := o.fromLedger(c.Context, c.IsSet("env")); err != nil {
				return err
			}
			p.attended.where = o.place
			return p.run(c.Context, o)
		},
	}
}

func rerunFlags() []cli.Flag {
	flags := placeFlags()
	flags[0] = textFlag("mapping", "m", "the mapping `FILE`; default: that of the run, as the ledger recorded it")
	flags[1] = textFlag("env", "e", "the `ENVIRONMENT`; default: that of the run, as the ledger recorded it")
	flags = append(flags,
		textFlag("out", "o", "the new results workbook's `FILE`; default: the workbook itself; an edited one is kept under another name"),
		switchFlag("yes", "when the ledger is gone, take the ids from the workbook without asking"))
	return append(flags, runFlags()...)
}

// fromLedger sets the mapping and the environment that a rerun is not given to
// those of the run that wrote its workbook, as the ledger recorded them. What
// the workbook says is not used: anybody can write a workbook, and the
// environments file beside a mapping runs programs.
func (o *runOptions) fromLedger(ctx context.Context, envGiven bool) error {
	if o.mapping != "" && envGiven {
		return nil
	}
	state := o.recordsIn()
	for _, folder := range []string{state, filepath.Join(state, "sandbox")} {
		run, known, err := recordedRun(ctx, folder, o.origins[0].property[runProperty])
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if !envGiven {
			o.env = run.EnvironmentName
		}
		if o.mapping == "" {
			o.mapping, o.state = run.MappingFile, state
		}
		return o.recordedMapping()
	}
	if o.mapping != "" {
		return nil
	}
	return problem.At(problem.Where{File: o.origins[0].path}, "no-mapping", "no ledger in %s knows the run that wrote the workbook, so its mapping must be named", state).
		Hinted("give the file of the mapping “%s”, or change to the folder whose .claimsheet has the run: %s",
			o.origins[0].property[mappingProperty], o.withMapping("mapping.yaml"))
}

// recordsIn is the state folder in which a rerun looks its run up: that of
// --state, else that beside the environments file or the mapping if one is
// named, else that of the working directory. The workbook's own folder is no such
// place: a ledger can come along with a workbook.
func (w place) recordsIn() string {
	if w.mapping == "" && w.environments == "" && w.state == "" {
		return environment.StateDir("mapping.yaml", "", "") // in the working directory
	}
	path, _ := environment.Find(w.mapping, w.environments)
	return environment.StateDir(w.mapping, path, w.state)
}

// recordedRun is a run of the ledger in a state folder.
func recordedRun(ctx context.Context, state, id string) (run ledger.Run, known bool, err error) {
	path := ledgerFile(state)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || id == "" {
		return ledger.Run{}, false, nil
	}
	if err := refuseShared(state); err != nil {
		return ledger.Run{}, false, err
	}
	records, err := ledger.OpenReadOnly(path)
	if err != nil {
		return ledger.Run{}, false, err
	}
	defer records.Close()
	return records.Run(ctx, id)
}

// recordedMapping refuses a mapping that is no longer where it was.
func (o *runOptions) recordedMapping() error {
	if info, err := os.Stat(o.mapping); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return problem.At(problem.Where{File: o.origins[0].path}, "no-mapping", "the mapping file of the run that wrote the workbook, %s, is not there", o.mapping).
		Hinted("name the file in which the mapping “%s” is now: %s", o.origins[0].property[mappingProperty], o.withMapping("mapping.yaml"))
}

// withMapping is the command as it was given, and with a mapping.
func (o *runOptions) withMapping(path string) string {
	named := *o
	named.mapping = path
	words := named.command()
	if o.dryRun {
		words = slices.Insert(words, 4, "--dry-run")
	}
	if o.yes {
		words = slices.Insert(words, 4, "--yes")
	}
	return reports.CommandLine(words)
}

// recall is what a rerun's workbooks say beside their rows, compared with the
// ledger.
type recall struct {
	*importer.Recall
	setup *setup
}

// recall compares the workbooks with the ledger and changes nothing. What the
// ledger does not know is taken over only after a confirmation. It is nil for a
// run of sheets.
func (p *program) recall(ctx context.Context, o runOptions, s *setup, b *books) (*recall, error) {
	if o.origins == nil {
		return nil, nil
	}
	r := &recall{&importer.Recall{Ledger: b.known, Environment: s.scope, Binding: s.binding,
		ActivityIDs: s.env.Wire.ActivityID != "", NewIdentity: o.newIdentity}, s}
	var found problem.List
	for _, src := range r.newestFirst() {
		if err := found.Collect(r.check(ctx, o, src, b)); err != nil {
			return nil, err
		}
	}
	switch {
	case len(found) > 0:
		return nil, found
	case o.dryRun && r.Missing+r.Words > 0:
		return nil, &incomplete{problem.New("dry-run-ledger", "a dry run changes nothing, and the ledger is first to learn of %d steps from the workbook", r.Missing+r.Words).
			Hinted("leave --dry-run out; you are asked before anything is taken over")}
	case r.Missing > 0 && !o.yes:
		return r, p.confirm(o, r.Missing, ledgerFile(s.state))
	}
	return r, nil
}

// check compares one workbook with the ledger, and refuses one whose word cannot
// be taken.
func (r *recall) check(ctx context.Context, o runOptions, src *source, b *books) error {
	before := r.Missing
	_, runKnown, err := b.known.Run(ctx, src.origin.property[runProperty])
	if err != nil {
		return err
	}
	r.Unknown = !runKnown
	if err := r.CheckSteps(ctx, stepLines(src.input)); err != nil {
		return err
	}
	missing := r.Missing > before
	if runKnown && !missing && (r.Words == 0 || !o.dryRun) {
		return nil
	}
	if err := src.origin.otherLedger(r.setup, runKnown); err != nil {
		return err
	}
	if (!runKnown || missing) && !r.Complete(src.origin.steps()) {
		return problem.At(problem.Where{File: src.input.given}, "steps-missing",
			"lines of the workbook's sheet Steps are gone, and the ledger does not know what they said: what is done could be done again").
			Hinted("give the copy that was kept of the workbook, or bring the ledger back: %s", ledgerFile(r.setup.state))
	}
	return nil
}

// otherLedger refuses to take over what another ledger, still there, knows
// better.
func (o *origin) otherLedger(s *setup, runKnown bool) error {
	bound := o.property[ledgerProperty]
	if runKnown || bound == "" || bound == absolute(ledgerFile(s.state)) {
		return nil
	}
	if _, err := os.Stat(bound); err != nil {
		return nil
	}
	return problem.At(problem.Where{File: o.path}, "other-ledger", "the workbook belongs to the ledger %s; this run would use %s, which does not know it",
		bound, ledgerFile(s.state)).
		Hinted("give --state with the folder of earlier runs, or the mapping and the environments file that belong to it")
}

// confirm asks whether steps are to be taken over. Only a typed yes will do; a
// script says so with --yes.
func (p *program) confirm(o runOptions, steps int, ledger string) error {
	question := fmt.Sprintf("The ledger %s does not know %d steps that the workbook shows as done or undecided.\n"+
		"Take them over from the workbook, so that they are not sent again?", ledger, steps)
	if console.Confirm(p.In, p.Err, question) {
		return nil
	}
	command := slices.Insert(o.command(), 2, "--yes")
	return &incomplete{problem.New("not-confirmed", "nothing was sent: the ledger does not know what the workbook shows as done").
		Hinted("bring the ledger back, or take the ids from the workbook: %s", reports.CommandLine(command))}
}

// before makes the ledger know what the workbooks do, and passes the plans on
// but for those of clients whose ids contradict it.
func (r *recall) before(ctx context.Context, plans iter.Seq2[mapping.Plan, error], run string) (iter.Seq2[mapping.Plan, error], error) {
	if r.Missing > 0 {
		urls, err := r.urls()
		if err != nil {
			return nil, err
		}
		for _, src := range r.newestFirst() {
			_, known, err := r.Ledger.Run(ctx, src.origin.property[runProperty])
			if err != nil {
				return nil, err
			}
			r.Unknown = !known
			if err := r.TakeOver(ctx, stepLines(src.input), run, urls); err != nil {
				return nil, err
			}
		}
	}
	if err := r.Settle(ctx, uuid.NewString()); err != nil {
		return nil, err
	}
	if err := r.CheckRows(ctx, r.rows()); err != nil {
		return nil, err
	}
	return r.Hold(plans), nil
}

// newestFirst are the workbooks by the age of their runs: what the newest says of
// a step counts.
func (r *recall) newestFirst() []*source {
	return slices.SortedStableFunc(slices.Values(r.setup.sources), func(a, b *source) int {
		return b.origin.started().Compare(a.origin.started())
	})
}

// enterRuns makes the ledger know the runs that wrote the workbooks, now that it
// knows what they made.
func (r *recall) enterRuns(ctx context.Context) error {
	for _, src := range r.setup.sources {
		run := src.origin.run(r.setup)
		if _, known, err := r.Ledger.Run(ctx, run.ID); err != nil || known || run.ID == "" {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.Ledger.StartRun(run); err != nil {
			return err
		}
	}
	return nil
}

// rows are those of all the workbooks.
func (r *recall) rows() iter.Seq2[importer.WorkbookRow, error] {
	return func(yield func(importer.WorkbookRow, error) bool) {
		for i, src := range r.setup.sources {
			for row, err := range src.results.rows() {
				row.Record.Table = i
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// urls are the clients' redirect urls as the workbooks show them. A row with
// another client's id shows another client's url.
func (r *recall) urls() (map[mapping.Identity]string, error) {
	ids, err := r.clientIDs()
	if err != nil {
		return nil, err
	}
	urls := map[mapping.Identity]string{}
	for row, err := range r.rows() {
		if err != nil {
			return nil, err
		}
		if row.URL == "" {
			continue
		}
		who := r.setup.binding.Client(row.Record)
		if id := ids[who]; row.ClientID == "" || id == "" || row.ClientID == id {
			urls[who] = row.URL
		}
	}
	return urls, nil
}

// clientIDs are the clients' ids as the sheets Steps show them.
func (r *recall) clientIDs() (map[mapping.Identity]string, error) {
	ids := map[mapping.Identity]string{}
	for _, src := range r.setup.sources {
		for line, err := range stepLines(src.input) {
			if err != nil {
				return nil, err
			}
			if line.Step == string(mapping.ClientStep) {
				ids[line.Identity(r.setup.binding.KeySpace())] = line.ID
			}
		}
	}
	return ids, nil
}
