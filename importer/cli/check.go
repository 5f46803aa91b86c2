package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/lint"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/result"
	"claimsheet/importer/spool"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/draft"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const checkHelp = `Without -e the names and types of templates and attributes are not checked; with it they are compared with the service's, and
attributes that no key fills are named. With a SHEET its headers and cells are checked: a header in the wrong row, totals, columns
that the mapping never uses, typed cells under attributes without a type, dates whose day and month a spreadsheet program may
have exchanged, and how many rows have wrong cells. Each client is planned as in a dry run, so rows of one client that do not
agree are wrong too. --rows names them all; the exit code is 1 if there are any. Only claimsheet run --dry-run compares the
plans with what is done, with ids that are known, and with the clients that the service knows, and writes the plan workbook.

For programs --json prints one object on stdout, also when the check fails (docs/json.md has its fields).

Examples:

    claimsheet check
    claimsheet check -m mapping.yaml -e uat leads.xlsx
    claimsheet check -m mapping.yaml --rows leads.xlsx`

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:         "check",
		Usage:        "check a mapping; with -e also against the service's templates, with a SHEET against its columns",
		UsageText:    "claimsheet check [-m FILE] [-e ENVIRONMENT] [--rows] [SHEET…]",
		BashComplete: offerFiles,
		Description:  checkHelp,
		Flags: slices.Concat(placeFlags(), []cli.Flag{
			switchFlag("rows", "name every cell of the SHEET that cannot be imported"),
			switchFlag("json", "print one JSON object on stdout"),
		}, under(specialCategory, passwordFlag(), traceFlag())),
		Action: p.checkAction,
	}
}

func (p *program) checkAction(c *cli.Context) error {
	k := &checkRun{program: p, rows: c.Bool("rows"), where: withUsualMapping(p.where(c))}
	k.report.Checked.Mapping = k.where.Mapping
	err := k.check(c)
	k.report.Errors = append(k.report.Errors, k.found...)
	return k.finish(c.Context, err, c.Bool("json"))
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
	k.warn(s.Binding.Warnings()...)
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

// checkedSheet is what the check found in the rows of a sheet.
type checkedSheet struct {
	look    *draft.HeaderWatch
	dates   *draft.DateColumns
	rows    int
	invalid int
	found   problem.List // wrong cells and rows, those that are named

	warnings problem.List // of cells that are used all the same
}

// checkRows checks the rows of the sheets: data without a header, rows that cannot be
// imported, also because rows of one client do not agree, and typed cells under
// attributes without a type.
func (k *checkRun) checkRows(ctx context.Context, s *load.Session) error {
	sheets, notes, err := k.lookAtRows(ctx, s)
	if err != nil {
		return err
	}
	var wrong problem.List
	for i, sheet := range sheets {
		title, warnings := sheet.look.Verdict(s.Mapping.Sheet.HeaderRowGiven)
		k.warn(warnings...)
		k.report.Checked.Rows += sheet.rows
		if wrong = append(wrong, title...); len(title) > 0 {
			continue // the header row is wrong, so the cells are under wrong headers
		}
		k.warn(sheet.dates.Warnings()...)
		sheet.warnings.Sort()
		k.warn(sheet.warnings...)
		k.report.Checked.InvalidRows += sheet.invalid
		sheet.found.Sort() // the plans come in the order of the clients' last rows
		if k.rows {
			k.found = append(k.found, sheet.found...)
			continue
		}
		k.warn(sheet.found...)
		if sheet.invalid > 0 {
			k.warn(problem.At(problem.Where{File: s.Sources[i].Input.Given}, "invalid-rows", "wrong cells in %d of %s", sheet.invalid, reports.Count(sheet.rows, "row")).
				Hinted("%s names every cell", commandLine(k.where, append([]string{"check", "--rows"}, k.report.Checked.Sheets...)...)))
		}
	}
	if len(wrong) == 0 && len(s.Sources) > 0 {
		k.warn(s.Binding.UnusedColumns()...)
	}
	untyped, warnings := s.Binding.CheckCells(notes)
	k.warn(warnings...)
	return append(wrong, untyped...).Err()
}

// lookAtRows reads all rows, and plans each client as a dry run does.
func (k *checkRun) lookAtRows(ctx context.Context, s *load.Session) (sheets []*checkedSheet, notes mapping.CellNotes, err error) {
	if len(s.Sources) == 0 {
		return nil, notes, nil
	}
	for _, src := range s.Sources {
		sheets = append(sheets, &checkedSheet{look: draft.NewHeaderWatch(src.Sheet()), dates: draft.NewDateColumns(src.Sheet())})
	}
	rows, err := spool.NewRows(filepath.Dir(s.Sources[0].Input.Path), func(yield func(cell.Record, error) bool) {
		for record, err := range s.Records() {
			if err == nil {
				sheet := sheets[record.Table]
				sheet.rows++
				sheet.look.See(record)
				sheet.dates.See(record)
			}
			if !yield(record, err) {
				return
			}
		}
	})
	if err != nil {
		return nil, notes, err
	}
	defer rows.Close()
	survey, err := importer.Take(ctx, s.Binding, rows, false)
	if err != nil {
		return nil, notes, err
	}
	for plan, err := range survey.Plans(s.Binding, rows) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, notes, err
		}
		k.noteProblems(sheets, survey.RowProblems(s.Binding, plan))
		for _, p := range plan.Warnings {
			if sheet := sheets[p.Where.Table]; len(sheet.warnings) < mostCells {
				sheet.warnings = append(sheet.warnings, p)
			}
		}
	}
	return sheets, survey.Notes, nil
}

// noteProblems counts the rows of a client that cannot be imported, and keeps the
// problems that are named.
func (k *checkRun) noteProblems(sheets []*checkedSheet, list problem.List) {
	invalid := map[cell.Row]bool{}
	for _, p := range list {
		sheet, row := sheets[p.Where.Table], cell.RowOf(p.Where.Table, p.Where.Row)
		if !invalid[row] {
			invalid[row] = true
			sheet.invalid++
		}
		if !p.Part && (k.rows || mapping.IsTotalsOrHeader(p)) && len(sheet.found) < mostCells {
			sheet.found = append(sheet.found, p)
		}
	}
}

// finish prints the report, and returns the error that decides the exit code.
func (k *checkRun) finish(ctx context.Context, err error, asJSON bool) error {
	if k.report.Checked.InvalidRows > 0 && k.rows {
		k.summary = &result.Summary{}
		k.summary.Rows.Invalid = k.report.Checked.InvalidRows
	}
	k.ownObject = asJSON
	k.report.ExitCode = exitCode(ctx, err, k.summary)
	if other := k.report.Errors.Collect(err); err != nil && other != nil {
		if !asJSON { // Main prints it
			return errors.Join(k.report.Write(k.stdout, k.Err, asJSON), err)
		}
		k.report.Failure = endProblems(other)[0]
		if ctx.Err() != nil {
			k.report.Failure = problem.New("", "stopped by a signal; nothing was sent")
		}
	}
	if failed := k.report.Write(k.stdout, k.Err, asJSON); failed != nil {
		return errors.Join(failed, err)
	}
	switch isOfMapping := func(p problem.Problem) bool { return p.Where.File == k.report.Checked.Mapping }; {
	case !asJSON && err == nil:
		fmt.Fprintln(k.Out, k.looked())
	case !asJSON && (k.report.Checked.Columns > 0 || slices.ContainsFunc(k.report.Errors, isOfMapping)):
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
