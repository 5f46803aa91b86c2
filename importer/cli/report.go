package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/result"
	"claimsheet/importer/safefile"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const reportHelp = `A RUN is its id, or enough of its first characters; claimsheet history lists the runs. The default is the latest run. The workbook
has the run's own copy of the sheet, and beside each row what the ledger says of it now: what was settled or done since is shown.
Neither the sheet, nor the mapping, nor the service is needed. A run that was killed has its workbook too.

Examples:

    claimsheet report -e uat
    claimsheet report -e uat -o friday.xlsx 3f9a`

func (p *program) reportCommand() *cli.Command {
	return &cli.Command{
		Name:        "report",
		Usage:       "write a run's results workbook again, from the ledger and the kept input",
		UsageText:   "claimsheet report [options] [RUN]",
		Description: reportHelp,
		Flags: append(ledgerFlags(), passwordFlag(),
			textFlag("out", "o", "the workbook's `FILE`; default: where the run wrote it, unless a later run did so too")),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return problem.New("usage", "one run at a time; %d are named", c.NArg()).Hinted("claimsheet history lists the runs")
			}
			password, err := passwordOf(c)
			if err != nil {
				return err
			}
			if err := refuseCSV(c.String("out")); err != nil {
				return err
			}
			return p.report(c.Context, p.where(c), reportOptions{c.Args().First(), c.String("out"), password.value})
		},
	}
}

// reportOptions are the flags of claimsheet report.
type reportOptions struct {
	run      string // the first characters of its id
	out      string
	password string
}

// report writes the workbook of a run again.
func (p *program) report(ctx context.Context, where load.Where, o reportOptions) error {
	l, err := p.openLedger(where, hooks.Sharing(&postgres.Sharing{}))
	defer l.close()
	if err != nil {
		return err
	}
	run, err := l.findRun(ctx, o.run)
	if err != nil {
		return err
	}
	past, err := l.openPastRun(run, o.password)
	if err != nil {
		return err
	}
	defer past.close()
	if err := past.project(ctx, l); err != nil {
		return err
	}
	to := target{path: o.out, ledger: l.ledger}
	if o.out == "" {
		if to.path, err = l.usualOutput(ctx, past); err != nil {
			return err
		}
	}
	if err := to.check(ctx, time.Now()); err != nil {
		return err
	}
	if err := past.markSuperseded(ctx, l.ledger, to.path); err != nil {
		return err
	}
	place, err := to.placement(ctx, time.Now())
	if err != nil {
		return err
	}
	book := past.book()
	if book.Progress, err = l.progress(ctx, run.Environment, past.survey); err != nil {
		return err
	}
	written, err := place.Write(book)
	if err != nil {
		return err
	}
	if written.Aside != "" {
		console.PrintProblems(p.Err, problem.List{workbookKept(to.path, written.Aside, l.command("rerun", written.Aside))})
	}
	if err := l.ledger.NoteOutput(run.ID, safefile.Absolute(written.Path), written.Digest); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: the results of run %s of %s\n", problem.OneLine(written.Path), run.ID, moment(run.Started))
	return nil
}

// usualOutput returns where the run wrote its workbook, or would have. It fails when
// another run has written a workbook there since.
func (l *ledgerSession) usualOutput(ctx context.Context, past *pastRun) (string, error) {
	path := past.run.Output
	if path == "" {
		input := cmp.Or(workbook.FromProperties("", past.kept.Binding).Input, past.run.Input)
		path = strings.TrimSuffix(input, filepath.Ext(input)) + ".results.xlsx"
	}
	by, known, err := l.ledger.OutputOf(ctx, path)
	if err != nil {
		return "", err
	}
	if known && by != past.run.ID {
		return "", problem.At(problem.Where{File: path}, "output-of-another-run", "this file has the results of another run, %s", by).
			Hinted("name another file with -o")
	}
	return path, nil
}

// moment formats a time in the local timezone.
func moment(at time.Time) string { return at.Local().Format(time.DateTime) }

// findRun returns the run whose id begins with prefix; the latest for "".
func (l *ledgerSession) findRun(ctx context.Context, prefix string) (ledger.Run, error) {
	runs, err := l.runs(ctx)
	if err != nil {
		return ledger.Run{}, err
	}
	var found []ledger.Run
	for _, r := range runs {
		if strings.HasPrefix(r.ID, strings.ToLower(prefix)) {
			found = append(found, r)
		}
	}
	switch {
	case len(runs) == 0:
		return ledger.Run{}, problem.New("no-run", "nothing was ever run in the environment “%s”", l.session.Env.Name).
			Hinted("-e names another environment, --state another state folder; this one is %s", l.session.State)
	case len(found) == 0:
		return ledger.Run{}, problem.New("unknown-run", "no run in the environment “%s” has an id that begins with “%s”", l.session.Env.Name, problem.OneLine(prefix)).
			Hinted("%s lists the runs", l.command("history"))
	case len(found) > 1 && prefix != "":
		return ledger.Run{}, problem.New("ambiguous-run", "%d runs have ids that begin with “%s”", len(found), problem.OneLine(prefix)).
			Hinted("write more of the id; %s lists the runs", l.command("history"))
	}
	return found[0], nil
}

// sheetReader reads the kept copy of a sheet.
type sheetReader interface {
	Sheet() cell.Sheet
	Records() iter.Seq2[cell.Record, error]
}

// pastRun is an earlier run of one sheet, with what its workbook shows.
type pastRun struct {
	run      ledger.Run
	summary  result.Summary // requests and seconds are those of the run; the counts are of now
	kept     *keptRun
	mapping  *mapping.Mapping
	sheet    cell.Sheet
	own      []int
	preview  *reports.Preview
	rows     *spool.Rows
	draft    *spool.Results
	survey   *importer.Survey
	problems problem.List
	closers  []func() error
}

func (r *pastRun) close() {
	for i := len(r.closers) - 1; i >= 0; i-- {
		_ = r.closers[i]() // of files that are read only, or removed
	}
}

// openPastRun opens what is kept of a run.
func (l *ledgerSession) openPastRun(run ledger.Run, password string) (_ *pastRun, err error) {
	named := fmt.Sprintf("run %s of %s", run.ID, moment(run.Started))
	s, err := readSummary(run.Summary)
	switch {
	case err != nil:
		return nil, err
	case run.KeptInput == "" || s.Kept == nil:
		return nil, problem.New("input-purged", "the input of %s was purged, or never here, so its workbook cannot be written again", named).
			Hinted("what is known of a client: %s", l.command("history", "CLIENT-KEY"))
	}
	r := &pastRun{run: run, summary: s.Summary, kept: s.Kept}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	var found problem.List
	if r.mapping, found = mapping.Parse(run.MappingFile, []byte(s.Kept.Mapping)); len(found) > 0 {
		return nil, found
	}
	reader, err := r.open(filepath.Join(statefolder.Inputs(l.session.State), filepath.Base(run.KeptInput)), password)
	if err != nil {
		return nil, err
	}
	r.preview = &reports.Preview{Own: r.own}
	if workbook.FromProperties("", r.kept.Binding).Sheets > 1 {
		r.preview.File = filepath.Base(run.Output)
	}
	r.sheet = reader.Sheet()
	r.sheet.File, r.sheet.Copied = run.Input, r.preview.At
	if r.draft, err = spool.NewResults(l.session.State); err != nil {
		return nil, err
	}
	r.closers = append(r.closers, r.draft.Close)
	if r.rows, err = spool.NewRows(l.session.State, notedIn(r.preview, reader.Records(), mapping.FillDown(r.mapping.FillDown(), r.sheet))); err != nil {
		return nil, err
	}
	r.closers = append(r.closers, r.rows.Close)
	return r, nil
}

// open opens the kept copy of the sheet, which must be what the run read.
func (r *pastRun) open(path, password string) (sheetReader, error) {
	in := &load.Input{Path: path, Given: r.run.Input, Password: password}
	digest, err := safefile.Digest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem.At(problem.Where{File: path}, "input-missing", "the run's copy of its sheet is not there").
			Hinted("bring the file back from a backup of the state folder")
	case err != nil:
		return nil, safefile.Unreadable(path, err)
	case digest != r.run.InputDigest:
		return nil, problem.At(problem.Where{File: path}, "input-changed", "this is not the sheet that the run read: its copy was changed since").
			Hinted("bring the file back from a backup of the state folder")
	}
	if _, ours, _ := reports.IsOurs(path); !ours {
		reader, err := in.Open(load.SheetOptions(r.mapping))
		if err != nil {
			return nil, err
		}
		r.closers = append(r.closers, reader.Close)
		return reader, nil
	}
	binding, err := workbook.Read(path, password)
	if err != nil {
		return nil, err
	}
	results, err := workbook.Open(in.Open, binding)
	if err != nil {
		return nil, err
	}
	r.own, r.closers = results.AddedColumns(), append(r.closers, results.Close)
	return results, nil
}

// notedIn yields records, filled, and notes where they will be in the workbook.
func notedIn(preview *reports.Preview, records iter.Seq2[cell.Record, error], fill func(cell.Record) cell.Record) iter.Seq2[cell.Record, error] {
	return func(yield func(cell.Record, error) bool) {
		for record, err := range records {
			if err == nil {
				preview.Note(record)
				record = fill(record)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// project plans the run's sheet again, with the mapping and the templates of then, and
// lays the plans beside what the ledger knows now.
func (r *pastRun) project(ctx context.Context, l *ledgerSession) error {
	binding, found := mapping.BindAll(r.mapping, []cell.Sheet{r.sheet}, r.kept.Service, r.kept.Date)
	if err := found.Err(); err != nil {
		return err
	}
	survey, err := importer.Take(ctx, binding, r.rows, true)
	if err != nil {
		return err
	}
	r.survey = survey
	job := &importer.Job{Runs: []string{r.run.ID}, Environment: r.run.Environment, Binding: binding, Ledger: l.ledger,
		Drafts: []*spool.Results{r.draft}, Limit: r.kept.Limit, SimilarKeys: r.kept.SimilarKeys}
	now, problems, err := job.Project(ctx, survey.Plans(binding, r.rows))
	r.summary.Run, r.summary.Environment = r.run.ID, r.run.EnvironmentName
	r.summary.Rows, r.summary.Clients, r.summary.WithoutLink = now.Rows, now.Clients, now.WithoutLink
	r.problems = problemsOf(0, problems)
	return err
}

// markSuperseded marks the workbook that goes to path as older than the run that
// began after its run, as that run marks the workbooks that it finds. What the ledger
// does not know, because it was lost and restored, is in the mark of an earlier
// writing of the workbook.
func (r *pastRun) markSuperseded(ctx context.Context, l *ledger.Ledger, path string) error {
	binding := workbook.FromProperties("", r.kept.Binding)
	for _, place := range []string{path, r.run.Output} {
		if b, _ := workbook.Find(place); binding.NextRun == "" && b != nil && b.Run == r.run.ID {
			binding.NextRun, binding.NextResults = b.NextRun, b.NextResults
		}
	}
	if binding.NextRun == "" {
		next, _, err := l.RunAfter(ctx, r.run)
		if err != nil {
			return err
		}
		binding.NextRun = next.ID
		if next.Output != safefile.Absolute(path) {
			binding.NextResults = next.Output
		}
	}
	r.kept.Binding = binding.Properties()
	return nil
}

// book returns what the run's workbook shows now.
func (r *pastRun) book() reports.Workbook {
	b := workbookOf(r.mapping, r.draft)
	b.Sheet, b.Records, b.Preview, b.Made = r.sheet, r.rows.Records(), r.preview, r.run.Started
	b.Problems, b.Summary, b.Facts = r.problems, r.summary, r.kept.Facts
	b.Binding, b.Notice = r.kept.Binding, r.kept.Notice
	return b
}
