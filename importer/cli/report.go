package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/ledger"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/problem"
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
		sayProblems(p.Err, problem.List{keptAside(to.path, written.Aside, d.where.command("rerun", written.Aside))})
	}
	if err := d.known.NoteOutput(run.ID, absolute(written.Path), written.Digest); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: the results of run %s of %s\n", oneLine(written.Path), run.ID, moment(run.Started))
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
