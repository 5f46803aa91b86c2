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
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
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
	k := &check{program: p}
	return newCommand("check", "[-m FILE] [-e ENVIRONMENT] [--rows] [SHEET…]",
		"check a mapping; with -e also against the service's templates, with a SHEET against its columns", checkHelp,
		p.placeFlags("the mapping `FILE` (default: mapping.yaml)", p.templatesFlag(), jsonFlag(), p.passwordFlag(), p.traceFlag(),
			switchFlag(&k.rows, "rows", "name every cell of the SHEET that cannot be imported")),
		func(c *cli.Context) error {
			p.where = withUsualMapping(p.where)
			k.report.Checked.Mapping, k.report.Checked.Sheets = p.where.Mapping, []string{}
			err := k.run(c)
			k.errors = append(k.errors, k.cells...)
			return k.finish(c.Context, err)
		})
}

// check is one run of the command: load, survey, report.
type check struct {
	*program
	rows bool // the flag

	source   []byte // of the mapping file, whose lines are shown
	errors   problem.List
	warnings problem.List
	cells    problem.List // wrong cells, when --rows asks for them
	report   struct {     // what --json prints; its fields are part of what users rely on
		Checked struct { // what the check looked at
			Mapping     string   `json:"mapping"`
			Environment string   `json:"environment"` // "" when the service was not asked
			Sheets      []string `json:"sheets"`
			Columns     int      `json:"columns"`     // that the mapping names; 0 when it cannot be bound
			Templates   int      `json:"templates"`   // that the mapping names
			Rows        int      `json:"rows"`        // that were read
			InvalidRows int      `json:"invalidRows"` // that cannot be imported as they are
		} `json:"checked"`
		Errors   int         `json:"errors"`
		Warnings int         `json:"warnings"`
		Problems []foundJSON `json:"problems"`
		ExitCode int         `json:"exitCode"`
	}
}

type foundJSON struct {
	Severity string `json:"severity"` // error or warning
	Code     string `json:"code"`
	Where    string `json:"where"`
	File     string `json:"file"`
	Line     int    `json:"line"`   // 0 for a cell
	Column   int    `json:"column"` // in characters, from 1
	Sheet    string `json:"sheet"`
	Cell     string `json:"cell"`
	Row      int    `json:"row"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

func (k *check) run(c *cli.Context) error {
	sheets, err := load.Sheets(c.Args().Slice())
	if err != nil {
		return err
	}
	if k.rows && len(sheets) == 0 {
		return problem.New("no-sheet", "--rows checks the cells of a SHEET, and none is given").
			Hinted("%s", k.commandFor("check", "--rows", "leads.xlsx"))
	}
	k.report.Checked.Sheets = append(k.report.Checked.Sheets, sheets...)
	s, err := load.Open(c.Context, load.Options{
		Where: k.where, Sheets: sheets, Password: k.password, NeedEnvironment: c.IsSet("env"),
		Connection: k.asking(),
	})
	k.source = s.MappingText
	if s.Mapping != nil {
		k.warn(s.Mapping.Warnings...)
		k.report.Checked.Templates = s.Mapping.Templates()
	}
	k.warn(s.Warnings...)
	if s.Env != nil {
		k.report.Checked.Environment = s.Env.Name
	}
	if err != nil {
		return err
	}
	k.closers = append(k.closers, s.Close)
	k.report.Checked.Columns = s.Binding.Columns()
	k.warn(s.Binding.Warnings()...)
	var notes mapping.CellNotes
	if len(s.Inputs) > 0 {
		if notes, err = k.survey(c.Context, s); err != nil {
			return err
		}
	}
	untyped, warnings := s.Binding.CheckCells(notes)
	k.warn(warnings...)
	return untyped.Err()
}

func (k *check) warn(list ...problem.Problem) { k.warnings = append(k.warnings, list...) }

// maxCells bounds how many wrong cells are kept.
const maxCells = 10_000

// checkedSheet is what the check found in the rows of a sheet.
type checkedSheet struct {
	*draft.SheetWatch
	invalid int
	found   problem.List // wrong cells and rows, those that are named
}

// survey reads the rows of the sheets and plans each client as a dry run does.
func (k *check) survey(ctx context.Context, s *load.Session) (notes mapping.CellNotes, err error) {
	var sheets []*checkedSheet
	for _, src := range s.Inputs {
		sheets = append(sheets, &checkedSheet{SheetWatch: draft.NewSheetWatch(src.Sheet())})
	}
	rows, survey, err := s.Survey(ctx, filepath.Dir(s.Inputs[0].Path), false, func(record cell.Record) {
		sheets[record.Table].See(record)
	})
	if err != nil {
		return notes, err
	}
	for plan, err := range survey.Plans(s.Binding, rows) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return notes, err
		}
		k.noteProblems(sheets, importer.RowProblems(s.Binding, plan))
	}
	for i, sheet := range sheets {
		k.warn(sheet.Warnings()...)
		k.report.Checked.Rows += sheet.Rows
		k.report.Checked.InvalidRows += sheet.invalid
		sheet.found.Sort() // the plans come in the order of the clients' last rows
		if k.rows {
			k.cells = append(k.cells, sheet.found...)
			continue
		}
		k.warn(sheet.found...)
		if sheet.invalid > 0 {
			k.warn(problem.At(problem.Where{File: s.Inputs[i].Given}, "invalid-rows", "wrong cells in %d of %s", sheet.invalid,
				reports.Count(sheet.Rows, "row")).
				Hinted("%s names every cell", k.commandFor(append([]string{"check", "--rows"}, k.report.Checked.Sheets...)...)))
		}
	}
	k.warn(s.Binding.UnusedColumns()...)
	return survey.Notes, nil
}

// noteProblems counts the rows of a client that cannot be imported, and keeps the problems that are named.
func (k *check) noteProblems(sheets []*checkedSheet, list problem.List) {
	invalid := map[cell.Row]bool{}
	for _, p := range list {
		sheet, row := sheets[p.Where.Table], cell.RowOf(p.Where.Table, p.Where.Row)
		if !invalid[row] {
			invalid[row] = true
			sheet.invalid++
		}
		if !p.Part && (k.rows || mapping.IsTotals(p)) && len(sheet.found) < maxCells {
			sheet.found = append(sheet.found, p)
		}
	}
}

// finish prints what was found, and returns the error that decides the exit code.
func (k *check) finish(ctx context.Context, err error) error {
	if k.report.Checked.InvalidRows > 0 && k.rows {
		k.counts.Invalid = k.report.Checked.InvalidRows
	}
	failure := k.errors.Collect(err) // what is no problem of the files
	if !k.asJSON {
		k.writeText()
		k.said = failure == nil
		return err
	}
	k.errors = append(k.errors, endProblems(failure)...)
	k.report.ExitCode = exitCode(ctx, err, k.counts)
	failed := k.writeJSON()
	k.said = failed == nil
	return errors.Join(failed, err)
}

func (k *check) writeJSON() error {
	k.report.Errors, k.report.Warnings, k.report.Problems = len(k.errors), len(k.warnings), []foundJSON{}
	for i, p := range slices.Concat(k.errors, k.warnings) {
		w, severity := p.Where, "error"
		if i >= len(k.errors) {
			severity = "warning"
		}
		file := w.File
		if file == "" && w.Sheet != "" && w.Table < len(k.report.Checked.Sheets) {
			file = k.report.Checked.Sheets[w.Table] // places of cells name it only when there are several
		}
		k.report.Problems = append(k.report.Problems, foundJSON{severity, p.Code, w.String(), file, w.Line, w.Column, w.Sheet, w.Cell, w.Row,
			p.Message, p.Hint})
	}
	return reports.WriteObject(k.stdout, k.report)
}

// writeText prints warnings and errors as all commands do, those of the mapping file with their lines, and what was looked at.
func (k *check) writeText() {
	for _, p := range k.warnings.Grouped() {
		console.PrintExcerpts(k.Err, problem.List{p}, k.excerpt)
	}
	console.PrintExcerpts(k.Err, k.errors, k.excerpt)
	isOfMapping := func(p problem.Problem) bool { return p.Where.File == k.report.Checked.Mapping }
	switch {
	case len(k.errors) == len(k.cells):
		fmt.Fprintln(k.Out, k.looked())
	case k.report.Checked.Columns > 0 || slices.ContainsFunc(k.errors, isOfMapping):
		fmt.Fprintln(k.Err, k.looked())
	}
}

// excerpt returns the line of the mapping file in which a problem is, with a mark under its place.
func (k *check) excerpt(p problem.Problem) string {
	at, lines := p.Where, strings.Split(strings.ReplaceAll(string(k.source), "\r\n", "\n"), "\n")
	if at.File != k.report.Checked.Mapping || at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	line := strings.ReplaceAll(lines[at.Line-1], "\t", " ")
	return fmt.Sprintf("%4d | %s\n     | %*s\n", at.Line, line, max(at.Column, 1), "^")
}

// looked says what was found and what was looked at.
func (k *check) looked() string {
	of, mistakes, against := k.report.Checked, "no mistake", "without -e the names of templates are not checked"
	if n := len(k.errors) - len(k.cells); n > 0 {
		mistakes = reports.Count(n, "mistake")
	}
	if n := len(k.warnings); n > 0 {
		mistakes += ", " + reports.Count(n, "warning")
	}
	words := []string{"checked " + of.Mapping + ": " + mistakes}
	if of.Columns > 0 {
		words = append(words, reports.Count(of.Columns, "column")+", "+reports.Count(of.Templates, "template"))
	}
	if of.Environment != "" {
		against = "compared with the templates of “" + of.Environment + "”"
	}
	words = append(words, against)
	switch rows := reports.Count(of.Rows, "row"); {
	case len(of.Sheets) == 0:
		words = append(words, "without a SHEET its columns are not checked")
	case of.InvalidRows > 0:
		words = append(words, fmt.Sprintf("wrong cells in %d of %s", of.InvalidRows, rows))
	case of.Rows > 0:
		words = append(words, "no wrong cells in "+rows)
	}
	return strings.Join(words, "; ")
}
