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

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/statefolder"
	"claimsheet/importer/cli/workbook"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const reportHelp = `A RUN is its id, or enough of its first characters; claimsheet history lists the runs. The default is the latest run. The workbook
has the cells that it had when the run wrote it, whatever was run, settled or edited since. Only the sheet Progress is new: it
shows what the service has said until now. It is made from the ledger and the run's own copy of the sheet; neither the sheet, nor
the mapping, nor the service is needed.

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
			textFlag("out", "o", "the workbook's `FILE`; default: where the run wrote it, unless a later run did so too"),
			jsonFlag()),
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

// reportJSON is the object of claimsheet report.
type reportJSON struct {
	Environment string    `json:"environment" doc:"the environment's name"`
	Run         string    `json:"run" doc:"the run's id"`
	Started     time.Time `json:"started" doc:"when the run began"`
	Results     string    `json:"results" doc:"the path of the workbook"`
}

// report writes the workbook of a run again.
func (p *program) report(ctx context.Context, where load.Where, o reportOptions) error {
	l, err := p.openLedger(where)
	defer l.close()
	if err != nil {
		return err
	}
	run, err := l.findRun(ctx, o.run)
	if err != nil {
		return err
	}
	if at, pruned, err := l.ledger.Pruned(ctx, run.ID); err != nil {
		return err
	} else if pruned {
		return problem.New("run-pruned", "the rows of run %s of %s were dropped on %s, so its workbook cannot be written again", run.ID, moment(run.Started), moment(at)).
			Hinted("the ledger keeps the rows of the newest runs, as many as keep_runs says in the environments file; what is known of a client: %s", l.command("history", "CLIENT-KEY"))
	}
	past, err := l.openPastRun(run, o.password)
	if err != nil {
		return err
	}
	defer past.close()
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
	book := past.book(ctx, l.ledger)
	if book.Progress, err = l.progress(ctx, run.ID); err != nil {
		return err
	}
	written, err := place.WriteWorkbook(book)
	if err != nil {
		return err
	}
	if written.Aside != "" {
		console.PrintProblems(p.Err, problem.List{keptAside(to.path, written.Aside, l.command("rerun", written.Aside))})
	}
	if err := l.ledger.NoteOutput(run.ID, safefile.Absolute(written.Path), written.Digest); err != nil {
		return err
	}
	p.object = reportJSON{l.session.Env.Name, run.ID, run.Started, written.Path}
	fmt.Fprintf(p.Out, "%s: the results of run %s of %s\n", problem.OneLine(written.Path), run.ID, moment(run.Started))
	return nil
}

// usualOutput returns where the run wrote its workbook, or would have. It fails when
// another run has written a workbook there since.
func (l *ledgerSession) usualOutput(ctx context.Context, past *pastRun) (string, error) {
	path := past.run.Output
	if path == "" {
		input := cmp.Or(workbook.FromProperties("", past.snapshot.Binding).Input, past.run.Input)
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

// pastRun is an earlier run with everything that its workbook shows.
type pastRun struct {
	run      ledger.Run
	summary  result.Summary
	snapshot *reportSnapshot
	reader   sheetReader
	own      []int
	close    func()
}

// openPastRun opens what is kept of a run.
func (l *ledgerSession) openPastRun(r ledger.Run, password string) (*pastRun, error) {
	named := fmt.Sprintf("run %s of %s", r.ID, moment(r.Started))
	s, err := readSummary(r.Summary)
	switch {
	case err != nil:
		return nil, err
	case r.KeptInput == "":
		return nil, problem.New("input-purged", "the input of %s was purged, so its workbook cannot be written again", named).
			Hinted("what is known of a client: %s", l.command("history", "CLIENT-KEY"))
	case r.Finished.IsZero() || s.Workbook == nil:
		return nil, problem.New("run-unfinished", "%s did not end: it was stopped from outside, and not every row has a result", named).
			Hinted("run the sheet again: what is done is not sent again, and its workbook shows every row")
	}
	past := &pastRun{run: r, summary: s.Summary, snapshot: s.Workbook}
	return past, past.open(filepath.Join(statefolder.Inputs(l.session.State), filepath.Base(r.KeptInput)), password)
}

// open opens the kept copy of the sheet, which must be what the run read.
func (r *pastRun) open(path, password string) error {
	in := &load.Input{Path: path, Given: r.run.Input, Password: password}
	digest, err := safefile.Digest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem.At(problem.Where{File: path}, "input-missing", "the run's copy of its sheet is not there").
			Hinted("bring the file back from a backup of the state folder")
	case err != nil:
		return safefile.Unreadable(path, err)
	case digest != r.run.InputDigest:
		return problem.At(problem.Where{File: path}, "input-changed", "this is not the sheet that the run read: its copy was changed since").
			Hinted("bring the file back from a backup of the state folder")
	}
	if _, ours, _ := reports.IsOurs(path); !ours {
		reader, err := in.Open(r.snapshot.Sheet)
		if err != nil {
			return err
		}
		r.reader, r.close = reader, func() { _ = reader.Close() }
		return nil
	}
	binding, err := workbook.Read(path, password)
	if err != nil {
		return err
	}
	results, err := workbook.Open(in.Open, binding)
	if err != nil {
		return err
	}
	r.reader, r.own, r.close = results, results.AddedColumns(), func() { _ = results.Close() }
	return nil
}

// markSuperseded marks the workbook that goes to path as older than the run that
// began after its run, as that run marks the workbooks that it finds. What the ledger
// does not know, because it was lost and restored, is in the mark of an earlier
// writing of the workbook.
func (r *pastRun) markSuperseded(ctx context.Context, l *ledger.Ledger, path string) error {
	binding := workbook.FromProperties("", r.snapshot.Binding)
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
	r.snapshot.Binding = binding.Properties()
	return nil
}

// notedOnce notes where the records will be in the workbook, the first time that they
// are read.
func notedOnce(records iter.Seq2[cell.Record, error], places *reports.Places) iter.Seq2[cell.Record, error] {
	noted := false
	return func(yield func(cell.Record, error) bool) {
		first := !noted
		noted = true
		for record, err := range records {
			if first && err == nil {
				places.Note(record)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// book returns what the run's workbook showed.
func (r *pastRun) book(ctx context.Context, l *ledger.Ledger) reports.Book {
	binding := workbook.FromProperties("", r.snapshot.Binding)
	places := &reports.Places{Own: r.own}
	if binding.Sheets > 1 {
		places.File = filepath.Base(r.run.Output)
	}
	tab := r.reader.Sheet()
	tab.File, tab.Copied = r.run.Input, places.At
	return reports.Book{
		Sheet: tab, Records: notedOnce(r.reader.Records(), places), Own: r.own,
		Made: r.run.Started,
		Rows: l.Rows(ctx, r.run.ID, r.snapshot.Event), Steps: l.RunSteps(ctx, r.run.ID, r.snapshot.Event),
		Problems: r.snapshot.Problems, Summary: r.summary, Facts: r.snapshot.Facts,
		ClientIDHeader: r.snapshot.ClientIDHeader, Contacts: binding.Contacts, Binding: r.snapshot.Binding, Notice: r.snapshot.Notice,
	}
}
