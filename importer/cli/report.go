package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const reportHelp = `A RUN is its id, or as many of its first characters as tell it from others; claimsheet history lists them. Without one it
is the latest. The workbook has the cells that it had when the run wrote it, whatever was run, settled or edited since. It is
made from the ledger and the run's own copy of the sheet; neither the sheet, nor the mapping, nor the service is needed.`

func (p *program) reportCommand() *cli.Command {
	return &cli.Command{
		Name:        "report",
		Usage:       "write a run's results workbook again, from the ledger and the kept input",
		UsageText:   "claimsheet report [options] [RUN]",
		Description: reportHelp,
		Flags: append(deskFlags(), passwordFlag(),
			textFlag("out", "o", "the workbook's `FILE`; default: where the run wrote it, unless a later run did so too")),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return problem.New("usage", "one run at a time; %d are named", c.NArg()).Hinted("claimsheet history lists the runs")
			}
			password, err := passwordOf(c)
			if err != nil {
				return err
			}
			return p.report(c.Context, p.placeOf(c), c.Args().First(), c.String("out"), password.value)
		},
	}
}

// report writes the workbook of a run once more.
func (p *program) report(ctx context.Context, where place, prefix, out, password string) error {
	d, err := p.openDesk(where)
	defer d.close()
	if err != nil {
		return err
	}
	run, err := d.findRun(ctx, prefix)
	if err != nil {
		return err
	}
	past, err := d.recallRun(run, password)
	if err != nil {
		return err
	}
	defer past.close()
	to := target{path: out, ledger: d.known}
	if out == "" {
		if to.path, err = d.usualOutput(ctx, past); err != nil {
			return err
		}
	}
	if err := to.check(ctx, time.Now()); err != nil {
		return err
	}
	place, err := to.placement(ctx, time.Now())
	if err != nil {
		return err
	}
	written, err := place.WriteWorkbook(past.book(ctx, d.known))
	if err != nil {
		return err
	}
	if written.Aside != "" {
		console.PrintProblems(p.Err, problem.List{keptAside(to.path, written.Aside, d.where.command("rerun", written.Aside))})
	}
	if err := d.known.NoteOutput(run.ID, absolute(written.Path), written.Digest); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: the results of run %s of %s\n", problem.OneLine(written.Path), run.ID, moment(run.Started))
	return nil
}

// usualOutput is where the run wrote its workbook, or would have. The workbook
// that another run has written there since is not replaced unasked.
func (d *desk) usualOutput(ctx context.Context, past *pastRun) (string, error) {
	path := past.run.Output
	if path == "" || strings.EqualFold(filepath.Ext(path), "."+formatCSV) {
		input := cmp.Or(past.memo.Binding[inputProperty], past.run.Input)
		path = strings.TrimSuffix(input, sheet.Ext(input)) + ".results.xlsx"
	}
	by, known, err := d.known.OutputOf(ctx, path)
	if err != nil {
		return "", err
	}
	if known && by != past.run.ID {
		return "", problem.At(problem.Where{File: path}, "output-of-another-run", "here are the results of another run, %s", by).
			Hinted("name another file with -o")
	}
	return path, nil
}

// moment is a time as a person here reads it.
func moment(at time.Time) string { return at.Local().Format(time.DateTime) }

// runsOf are the runs in the environment, the newest first.
func (d *desk) runsOf(ctx context.Context) ([]ledger.Run, error) {
	if d.known == nil {
		return nil, nil
	}
	scopes, err := d.scopes(ctx)
	if err != nil {
		return nil, err
	}
	var runs []ledger.Run
	for r, err := range d.known.Runs(ctx, scopes) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// findRun is the run whose id begins with prefix; the latest for "".
func (d *desk) findRun(ctx context.Context, prefix string) (ledger.Run, error) {
	runs, err := d.runsOf(ctx)
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
		return ledger.Run{}, problem.New("no-run", "nothing was ever run in the environment “%s”", d.setup.env.Name).
			Hinted("-e names another environment, --state another state folder; this one is %s", d.setup.state)
	case len(found) == 0:
		return ledger.Run{}, problem.New("unknown-run", "no run in the environment “%s” has an id that begins with “%s”", d.setup.env.Name, problem.OneLine(prefix)).
			Hinted("%s lists the runs", d.where.command("history"))
	case len(found) > 1 && prefix != "":
		return ledger.Run{}, problem.New("ambiguous-run", "%d runs have ids that begin with “%s”", len(found), problem.OneLine(prefix)).
			Hinted("write more of the id; %s lists the runs", d.where.command("history"))
	}
	return found[0], nil
}

// pastRun is a run of which everything is at hand that its workbook shows.
type pastRun struct {
	run     ledger.Run
	summary result.Summary
	memo    *memo
	reader  table
	own     []int
	close   func()
}

// recallRun opens what is kept of a run.
func (d *desk) recallRun(r ledger.Run, password string) (*pastRun, error) {
	named := fmt.Sprintf("run %s of %s", r.ID, moment(r.Started))
	s, err := readSummary(r.Summary)
	switch {
	case err != nil:
		return nil, err
	case r.KeptInput == "":
		return nil, problem.New("input-purged", "the input of %s was purged, so its workbook cannot be made again", named).
			Hinted("what is known of a client: %s", d.where.command("history", "CLIENT-KEY"))
	case r.Finished.IsZero() || s.Workbook == nil:
		return nil, problem.New("run-unfinished", "%s did not end: it was stopped from outside, and not every row has a result", named).
			Hinted("run the sheet again: what is done is not sent again, and its workbook shows every row")
	}
	past := &pastRun{run: r, summary: s.Summary, memo: s.Workbook}
	return past, past.open(filepath.Join(d.setup.state, "inputs", filepath.Base(r.KeptInput)), password)
}

// open opens the kept copy of the sheet, which must be what the run read.
func (r *pastRun) open(path, password string) error {
	in := &input{path: path, given: r.run.Input, password: password}
	digest, err := reports.DigestOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem.At(problem.Where{File: path}, "input-missing", "the run's copy of its sheet is not there").
			Hinted("bring the file back from a backup of the state folder")
	case err != nil:
		return cannotRead(path, err)
	case digest != r.run.InputDigest:
		return problem.At(problem.Where{File: path}, "input-changed", "this is not the sheet that the run read: its copy was changed since").
			Hinted("bring the file back from a backup of the state folder")
	}
	if _, ours, _ := reports.IsOurs(path); !ours {
		reader, err := in.open(r.memo.Sheet)
		if err != nil {
			return err
		}
		r.reader, r.close = reader, func() { _ = reader.Close() }
		return nil
	}
	from, err := readOrigin(path, password)
	if err != nil {
		return err
	}
	results, err := openResults(in, from)
	if err != nil {
		return err
	}
	r.reader, r.own, r.close = results, results.ownColumns(), func() { _ = results.Close() }
	return nil
}

// book is what the run's workbook showed.
func (r *pastRun) book(ctx context.Context, l *ledger.Ledger) reports.Book {
	tab := r.reader.Sheet()
	tab.File = r.run.Input
	return reports.Book{
		Sheet: tab, Records: r.reader.Records(), Own: r.own,
		Made: r.run.Started,
		Rows: l.Rows(ctx, r.run.ID), Steps: l.RunStepsAsOf(ctx, r.run.ID, r.memo.Event),
		Problems: r.memo.Problems, Summary: r.summary, Facts: r.memo.Facts,
		ClientIDHeader: r.memo.ClientIDHeader, Binding: r.memo.Binding, Notice: r.memo.Notice,
	}
}
