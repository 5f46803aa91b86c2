package cli_test

import (
	"fmt"
	"html"
	"os"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
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

// records reads a sheet with the program's own reader, which refuses a file that is
// not whole. That a library reads the same is shown at the doors of reports and sheet.
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

// writeSheet writes the smallest workbook of texts and numbers, whose one sheet is
// Sheet1.
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

// said returns what a results workbook of the mapping stepThree says, by the names
// that the service gives to steps. Further contacts have their e-mail address for a key.
func (s *scene) said() map[string]apitest.Said {
	s.t.Helper()
	urls := map[string]string{}
	for _, r := range s.results() {
		urls[r["E-mail"]], urls[r["First name"]] = r["redirectUrl"], r["redirectUrl"]
	}
	said := map[string]apitest.Said{}
	for _, r := range s.steps() {
		key := r["Client key"]
		word := apitest.Said{State: stateWord(s.t, r["State"]), ID: r["Id"]}
		kind, rest, _ := strings.Cut(r["Step"], "/")
		switch kind {
		case "link":
			word.URL = urls[key]
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

func stateWord(t *testing.T, state string) apitest.State {
	t.Helper()
	words := map[string]apitest.State{
		"done": apitest.Done, "refused": apitest.Failed, "uncertain": apitest.Uncertain,
		"planned": apitest.Pending, "": apitest.Pending,
	}
	word, known := words[state]
	if !known {
		t.Fatalf("the sheet Steps has the state %q, which is none of the design's", state)
	}
	return word
}

// checkPromise compares the workbook with what was created: nothing twice, no
// id lost, none wrong, nothing called failed that was created.
func (s *scene) checkPromise() {
	s.t.Helper()
	if v := s.service.Check(s.said()); !v.OK() {
		s.t.Errorf("the workbook and the service disagree: %s", v)
	}
}
