package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

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
		return ledger.Run{}, problem.New("unknown-run", "no run in the environment “%s” has an id that begins with “%s”", d.setup.env.Name, oneLine(prefix)).
			Hinted("%s lists the runs", d.where.command("history"))
	case len(found) > 1 && prefix != "":
		return ledger.Run{}, problem.New("ambiguous-run", "%d runs have ids that begin with “%s”", len(found), oneLine(prefix)).
			Hinted("write more of the id; %s lists the runs", d.where.command("history"))
	}
	return found[0], nil
}

// pastRun is a run of which everything is at hand that its workbook shows.
type pastRun struct {
	run     ledger.Run
	summary importer.Summary
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
		Rows: importer.RowResults(ctx, l, r.run.ID), Steps: importer.StepResultsAsOf(ctx, l, r.run.ID, r.memo.Event),
		Problems: r.memo.Problems, Summary: r.summary, Facts: r.memo.Facts,
		ClientIDHeader: r.memo.ClientIDHeader, Binding: r.memo.Binding, Notice: r.memo.Notice,
	}
}
