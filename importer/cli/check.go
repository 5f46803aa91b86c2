package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/lint"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const checkHelp = `Without -e the names and types of templates and attributes are not checked; with it they are compared with the service's, and
attributes that no key fills are named. With a SHEET its headers and cells are checked: a header in the wrong row, totals, columns
that the mapping never uses, typed cells under attributes without a type, dates whose day and month a spreadsheet program may
have exchanged, and how many rows have wrong cells. --rows names each of them; the exit code is 1 if there are any. claimsheet
run --dry-run also compares rows with each other, plans what would be sent for each client, and compares it with what is done.

For programs --format writes to stdout: json is one object, also when the check fails (docs/operations.md has its fields); github is
annotations for a workflow; sarif is SARIF 2.1.0.

Examples:

    claimsheet check
    claimsheet check -m mapping.yaml -e uat leads.xlsx
    claimsheet check -m mapping.yaml --rows leads.xlsx
    claimsheet check -m mapping.yaml --format sarif > claimsheet.sarif`

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:         "check",
		Usage:        "check a mapping; with -e also against the service's templates, with a SHEET against its columns",
		UsageText:    "claimsheet check [-m FILE] [-e ENVIRONMENT] [--rows] [SHEET…]",
		BashComplete: offerFiles,
		Description:  checkHelp,
		Flags: slices.Concat(placeFlags(), []cli.Flag{
			switchFlag("rows", "name every cell of the SHEET that cannot be imported"),
			switchFlag("json", "print one JSON object on stdout; the same as --format json"),
			oneOf(textFlag("format", "", "how to print what was found: `FORMAT` is text, json, github or sarif"), lint.Formats()...),
		}, under(specialCategory, passwordFlag(), traceFlag())),
		Action: p.checkAction,
	}
}

func (p *program) checkAction(c *cli.Context) error {
	format := lint.Text
	if c.Bool("json") {
		format = lint.JSON
	}
	if c.IsSet("format") {
		given, err := lint.ReadFormat(c.String("format"))
		if err != nil {
			return err
		}
		if c.Bool("json") && given != lint.JSON {
			return problem.New("usage", "--json and --format %s exclude each other", given)
		}
		format = given
	}
	k := &checkRun{program: p, rows: c.Bool("rows"), where: withUsualMapping(p.where(c))}
	k.report.Version, k.report.Checked.Mapping = c.App.Version, k.where.Mapping
	err := k.check(c)
	k.report.Errors = append(k.report.Errors, k.found...)
	return k.finish(c.Context, err, format)
}

// checkRun is one run of the command check.
type checkRun struct {
	*program
	rows   bool // name every bad cell
	where  load.Where
	report lint.Report
	found  problem.List // wrong cells, when rows is set
	cached bool         // the templates are not the service's answer of now
}

// check looks at everything and fills the report.
func (k *checkRun) check(c *cli.Context) error {
	sheets, err := load.Sheets(c.Args().Slice())
	if err != nil {
		return err
	}
	password, err := passwordOf(c)
	if err != nil {
		return err
	}
	if k.rows && len(sheets) == 0 {
		return problem.New("no-sheet", "--rows checks the cells of a SHEET, and none is given").
			Hinted("%s", commandLine(k.where, "check", "--rows", "leads.xlsx"))
	}
	k.report.Checked.Sheets = sheets
	if !c.IsSet("env") {
		err = untraceable(c)
	} else {
		err = k.openTrace(c)
	}
	if err != nil {
		return err
	}
	connection := k.connection("")
	connection.ReadOnly, connection.Cache = true, true
	s, err := load.Open(c.Context, load.Options{
		Where: k.where, Sheets: sheets, Password: password.value, NeedEnvironment: c.IsSet("env"),
		Connection: connection,
	})
	k.report.Source, k.report.Warnings = s.Source, s.AllWarnings()
	if s.Mapping != nil {
		k.report.Checked.Templates = s.Mapping.Templates()
	}
	k.cached = !s.Cached.IsZero()
	if s.Env != nil {
		k.report.Checked.Environment = s.Env.Name
	}
	if err != nil {
		return err
	}
	defer s.Close()
	k.report.Checked.Columns = s.Binding.Columns()
	k.warn(s.Mapping.Cautions...)
	if s.Service != nil {
		k.warn(mapping.UnfilledAttributes(s.Mapping, s.Service)...)
	}
	if err := k.checkRows(c.Context, s); err != nil {
		return err
	}
	s.KeepTemplates()
	return nil
}

func (k *checkRun) warn(list ...problem.Problem) {
	k.report.Warnings = append(k.report.Warnings, list...)
}

// mostCells bounds how many wrong cells are kept.
const mostCells = 10_000

// checkRows checks the rows of the sheets: data without a header, rows that cannot be
// imported, and typed cells under attributes without a type.
func (k *checkRun) checkRows(ctx context.Context, s *load.Session) error {
	var wrong problem.List
	var typed mapping.TypedCells
	for _, src := range s.Sources {
		look, dates, rows, invalid := newLayout(src.Sheet(), s.Mapping.Sheet), draft.NewDateColumns(src.Sheet()), 0, 0
		var cells problem.List
		for record, err := range src.Records() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			look.see(record)
			dates.See(record)
			lead := s.Binding.Convert(record)
			typed.Add(lead.Typed)
			if rows++; len(lead.Problems) > 0 {
				invalid++
			}
			for _, p := range lead.Problems {
				if (k.rows || mapping.IsTotalsOrHeader(p)) && len(k.found)+len(cells) < mostCells {
					cells = append(cells, p)
				}
			}
		}
		title, warnings := look.verdict()
		k.warn(warnings...)
		k.report.Checked.Rows += rows
		if wrong = append(wrong, title...); len(title) > 0 {
			continue // the header row is wrong, so the cells are under wrong headers
		}
		k.warn(dates.Warnings()...)
		k.report.Checked.InvalidRows += invalid
		if k.rows {
			k.found = append(k.found, cells...)
			continue
		}
		k.warn(cells...)
		if invalid > 0 {
			k.warn(problem.At(problem.Where{File: src.Input.Given}, "invalid-rows", "wrong cells in %d of %s", invalid, reports.Count(rows, "row")).
				Hinted("%s names every cell", commandLine(k.where, append([]string{"check", "--rows"}, k.report.Checked.Sheets...)...)))
		}
	}
	if len(wrong) == 0 && len(s.Sources) > 0 {
		k.warn(s.Binding.UnusedColumns()...)
	}
	untyped, warnings := s.Binding.CheckTypes(typed)
	k.warn(warnings...)
	return append(wrong, untyped...).Err()
}

// finish prints the report, and returns the error that decides the exit code.
func (k *checkRun) finish(ctx context.Context, err error, format lint.Format) error {
	if k.report.Checked.InvalidRows > 0 && k.rows {
		k.summary = &result.Summary{}
		k.summary.Rows.Invalid = k.report.Checked.InvalidRows
	}
	k.ownObject = format == lint.JSON
	k.report.ExitCode = exitCode(ctx, err, k.summary, false)
	if other := k.report.Errors.Collect(err); err != nil && other != nil {
		if format == lint.Text { // Main prints it
			return errors.Join(k.report.Write(k.stdout, k.Err, format), err)
		}
		k.report.Failure, k.report.FailureHint = other.Error(), hintOf(other)
		if ctx.Err() != nil {
			k.report.Failure = "stopped by a signal; nothing was sent"
		}
	}
	if failed := k.report.Write(k.stdout, k.Err, format); failed != nil {
		return errors.Join(failed, err)
	}
	switch isOfMapping := func(p problem.Problem) bool { return p.Where.File == k.report.Checked.Mapping }; {
	case format == lint.Text && err == nil:
		fmt.Fprintln(k.Out, k.looked())
	case format == lint.Text && (k.report.Checked.Columns > 0 || slices.ContainsFunc(k.report.Errors, isOfMapping)):
		fmt.Fprintln(k.Err, k.looked())
	}
	if err != nil {
		return &printed{err}
	}
	return nil
}

// looked says what was found and what was looked at.
func (k *checkRun) looked() string {
	of := k.report.Checked
	words := []string{"checked " + of.Mapping + ": no mistake"}
	if n := len(k.report.Errors) - len(k.found); n > 0 {
		words[0] = "checked " + of.Mapping + ": " + reports.Count(n, "mistake")
	}
	if n := len(k.report.Warnings); n > 0 {
		words[0] += ", " + reports.Count(n, "warning")
	}
	if of.Columns > 0 {
		words = append(words, reports.Count(of.Columns, "column")+", "+reports.Count(of.Templates, "template"))
	}
	if of.Environment == "" {
		words = append(words, "without -e the names of templates are not checked")
	} else {
		cached := ""
		if k.cached {
			cached = " from the cache"
		}
		words = append(words, "compared with the templates of “"+of.Environment+"”"+cached)
	}
	if len(of.Sheets) == 0 {
		words = append(words, "without a SHEET its columns are not checked")
	} else if of.Rows > 0 {
		cells := "no wrong cells in " + reports.Count(of.Rows, "row")
		if of.InvalidRows > 0 {
			cells = fmt.Sprintf("wrong cells in %d of %s", of.InvalidRows, reports.Count(of.Rows, "row"))
		}
		words = append(words, cells)
	}
	return strings.Join(words, "; ")
}
