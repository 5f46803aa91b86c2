package cli_test

import (
	"archive/zip"
	"fmt"
	"html"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/sheet"
	"claimsheet/importer/sheet/sheettest"
	"claimsheet/mapping/cell"
)

// record is a row of a workbook by its headers.
type record map[string]string

// workbook reads a sheet of the workbook that a run wrote.
func (s *scene) workbook(file, sheet string) []record {
	s.t.Helper()
	return readSheet(s.t, s.path(file), sheet)
}

func (s *scene) results() []record { return s.workbook(s.book(), "Results") }
func (s *scene) steps() []record   { return s.workbook(s.book(), "Steps") }

// book is the name of the results workbook.
func (s *scene) book() string { return strings.TrimSuffix(s.input, ".xlsx") + ".results.xlsx" }

func readSheet(t testing.TB, path, name string) []record {
	t.Helper()
	list, err := records(path, name)
	must(t, err)
	return list
}

// records reads a sheet with the program's own reader, which refuses a file that is not whole. That a library reads the
// same is shown at the doors of reports and sheet.
func records(path, name string) (list []record, err error) {
	r, err := sheet.Open(path, sheet.Options{Name: name})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	headers := r.Sheet().Header
	for row, err := range r.Records() {
		if err != nil {
			return nil, err
		}
		for len(list) < row.Row-2 { // an empty row
			list = append(list, record{})
		}
		line := record{}
		for i, c := range row.Cells {
			if i < len(headers) {
				line[headers[i]] = c.Shown
			}
		}
		list = append(list, line)
	}
	return list, nil
}

// writeSheet writes the smallest workbook of texts and numbers, whose one sheet is Sheet1.
func writeSheet(t testing.TB, path string, header []any, rows [][]any) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<worksheet><sheetData>")
	for i, row := range append([][]any{header}, rows...) {
		fmt.Fprintf(&b, `<row r="%d">`, i+1)
		for j, value := range row {
			at := fmt.Sprint(cell.ColumnName(j), i+1)
			switch value := value.(type) {
			case nil:
			case string:
				fmt.Fprintf(&b, `<c r="%s" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`, at, html.EscapeString(value))
			case int, float64:
				fmt.Fprintf(&b, `<c r="%s"><v>%v</v></c>`, at, value)
			default:
				t.Fatalf("a cell of the type %T", value)
			}
		}
		b.WriteString("</row>")
	}
	b.WriteString("</sheetData></worksheet>")
	book := sheettest.Workbook(b.String())
	list := "xl/workbook.xml"
	book[list] = strings.Replace(book[list], `"Leads"`, `"Sheet1"`, 1)
	must(t, os.WriteFile(path, book.Zip(), 0o600))
}

// column is one column of the rows.
func column(records []record, name string) []string {
	var list []string
	for _, r := range records {
		list = append(list, r[name])
	}
	return list
}

// exitCodeOf is the exit code of a run by how many of its rows have each status.
func exitCodeOf(statuses map[string]int) int {
	switch {
	case statuses["uncertain"] > 0:
		return 4
	case statuses["failed"]+statuses["invalid"]+statuses["not started"] > 0:
		return 1
	}
	return 0
}

// said returns what a results workbook of the mapping stepThree says, by the names that the service gives to steps.
// Further contacts have their e-mail address for a key.
func (s *scene) said() map[string]saidStep {
	s.t.Helper()
	urls := map[string]string{}
	for _, r := range s.results() {
		urls[r["E-mail"]], urls[r["First name"]] = r["redirectUrl"], r["redirectUrl"]
	}
	said := map[string]saidStep{}
	for _, r := range s.steps() {
		key := r["Client key"]
		if !slices.Contains([]string{"done", "refused", "uncertain", "planned", ""}, r["State"]) {
			s.t.Fatalf("the sheet Steps has the state %q, which the design does not have", r["State"])
		}
		word := saidStep{state: r["State"], id: r["Id"]}
		kind, rest, _ := strings.Cut(r["Step"], "/")
		switch kind {
		case "link":
			word.url = urls[key]
			said["link "+key] = word
		case "claim":
			said["claim "+key+"/Loan "+strings.TrimPrefix(rest, "loan/")] = word
		case "activity":
			name, on, _ := strings.Cut(rest, "@")
			scope := ""
			if on != "client" {
				scope = "/Loan " + strings.TrimPrefix(on, "loan/")
			}
			said["activity "+key+scope+" "+name] = word
		case "contact":
			said["client "+strings.TrimPrefix(rest, "email/")] = word
		default:
			said["client "+key] = word
		}
	}
	return said
}

// checkPromise compares the workbook with what was created: nothing twice, no id lost, none wrong, nothing called
// failed that was created.
func (s *scene) checkPromise() {
	s.t.Helper()
	if list := disagreements(s.service, s.said()); len(list) > 0 {
		s.t.Errorf("the workbook and the service disagree:\n%s", strings.Join(list, "\n"))
	}
}

func editWorkbook(t *testing.T, path string, change func(f *excelize.File)) {
	t.Helper()
	f, err := excelize.OpenFile(path)
	must(t, err)
	change(f)
	must(t, f.SaveAs(path))
	must(t, f.Close())
}

// cellAt is the reference of a row's cell below a header.
func cellAt(t *testing.T, f *excelize.File, sheet, header string, row int) string {
	t.Helper()
	rows, err := f.GetRows(sheet)
	must(t, err)
	column := slices.Index(rows[0], header)
	if column < 0 {
		t.Fatalf("the sheet %s has no column %q", sheet, header)
	}
	return fmt.Sprint(cell.ColumnName(column), row)
}

// stepCell is the cell of a column in the line of a client's step in the sheet Steps.
func stepCell(t *testing.T, f *excelize.File, client, step, header string) string {
	t.Helper()
	rows, err := f.GetRows("Steps")
	must(t, err)
	for i, row := range rows {
		if len(row) > 2 && row[1] == client && row[2] == step {
			return cellAt(t, f, "Steps", header, i+1)
		}
	}
	t.Fatalf("the sheet Steps has no line for %s %s", client, step)
	return ""
}

// set writes a cell of the sheet Results.
func set(t *testing.T, f *excelize.File, header string, row int, value any) {
	t.Helper()
	must(t, f.SetCellValue("Results", cellAt(t, f, "Results", header, row), value))
}

// parts are the parts of a workbook by name, but for the one that holds the time of its making.
func parts(t *testing.T, path string) map[string]string {
	t.Helper()
	archive, err := zip.OpenReader(path)
	must(t, err)
	defer archive.Close()
	all := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		must(t, err)
		data, err := io.ReadAll(r)
		must(t, err)
		if f.Name != "docProps/core.xml" {
			all[f.Name] = string(data)
		}
	}
	return all
}
