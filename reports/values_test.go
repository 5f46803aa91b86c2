package reports_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"

	"claimsheet/importer/result"
	"claimsheet/importer/sheet"
	"claimsheet/mapping/cell"
	"claimsheet/reports"
)

// sheetOf is a book of one column with these cells.
func sheetOf(cells ...cell.Cell) reports.Workbook {
	var records []cell.Record
	var rows []result.Row
	for i, c := range cells {
		records = append(records, cell.Record{Row: i + 2, Cells: []cell.Cell{c}})
		rows = append(rows, result.Row{Row: i + 2, Status: result.Done})
	}
	return reports.Workbook{
		Sheet:   cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"Value"}},
		Records: each(records...), Rows: each(rows...), ClientIDHeader: "clientId",
	}
}

// column reads the stored values of column A below the header.
func column(t *testing.T, f *excelize.File, rows int) []string {
	t.Helper()
	var got []string
	for row := range rows {
		got = append(got, must(f.GetCellValue("Results", fmt.Sprint("A", row+2), excelize.Options{RawCellValue: true}))(t))
	}
	return got
}

// cellsOf are cells of one kind with these values.
func cellsOf(kind cell.Kind, values ...string) (cells []cell.Cell) {
	for _, v := range values {
		cells = append(cells, cell.Cell{Kind: kind, Raw: v, Shown: v})
	}
	return cells
}

// injections are texts that a spreadsheet program takes for formulas, or for
// something that leads to one.
var injections = []string{
	"=1+1", "=HYPERLINK(\"http://evil.test\",\"x\")", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1+1", "\r=1+1", "\n=1+1",
	"=\"a\"&\"b\"", "＝1+1", "＋1", "－1", "＠SUM(1)", "=DDE(\"a\";\"b\";\"c\")", "=WEBSERVICE(\"http://evil.test\")", "=IMPORTXML(\"http://evil.test\",\"//a\")",
	"-2+3+cmd|' /C calc'!A0", "@SUM(1+9)*cmd|' /C calc'!A0", "=1+1\";=1+1", "+447911123456", "-",
}

// a text stays the text that it is, byte for byte, and is marked so that it
// does also when somebody edits its cell.
func TestX4_TextStaysText(t *testing.T) {
	t.Parallel()
	plain := []string{
		" =1+1", "TRUE", "#N/A", "<f>1+1</f>", "]]>&amp;", "_x000D_", "_x005F_x0041_", "_x00e9_", "_xZZZZ_", "two\nlines", "two\r\nlines", "tab\there",
		" spaces ", "\u200bzero width", "e\u0301", "\u202egnp.exe", "😀", "'=1+1", "NUL \x00 here", "\x1b[31m", "\uFFFE", "\uFFFF",
		"00123", "1E5", "1.1000000000000001", "1980-05-01", "true", "plain",
	}
	quoted := map[string]bool{}
	for _, p := range append([]string{"TRUE", "#N/A", "00123", "1E5", "1.1000000000000001", "1980-05-01", "true"}, injections...) {
		quoted[p] = true
	}
	payloads := slices.Concat(plain, injections)
	path, f := written(t, sheetOf(cellsOf(cell.Text, payloads...)...))
	same(t, "as excelize reads them", payloads, column(t, f, len(payloads)))
	same(t, "as we read them", payloads, ownColumn(t, path))
	for row, p := range payloads {
		ref := fmt.Sprint("A", row+2)
		formula := must(f.GetCellFormula("Results", ref))(t)
		if typ := must(f.GetCellType("Results", ref))(t); typ != excelize.CellTypeInlineString || formula != "" {
			t.Errorf("%s %q is no text, but %v, and the formula %q", ref, p, typ, formula)
		}
		style := f.Styles.CellXfs.Xf[must(f.GetCellStyle("Results", ref))(t)]
		if isQuoted := style.QuotePrefix != nil && *style.QuotePrefix; isQuoted != quoted[p] {
			t.Errorf("%s %q is marked as a quoted text: %v, want %v", ref, p, isQuoted, quoted[p])
		}
	}
}

// ownColumn is column A below the header as the importer reads it.
func ownColumn(t fatal, path string) []string {
	t.Helper()
	r := must(sheet.Open(path, sheet.Options{Name: "Results"}))(t)
	defer r.Close()
	var got []string
	for record, err := range r.Records() {
		noError(t, err)
		if c := record.Cell(0); c.Kind != cell.Text {
			t.Fatalf("row %d is of kind %v", record.Row, c.Kind)
		}
		got = append(got, record.Cell(0).Raw)
	}
	return got
}

// Any text comes back as it was: control characters and what no XML may hold too. Bytes that
// are no UTF-8 become U+FFFD, as in every program.
func TestAnyTextComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		char := rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("_x0059F\r\n\t \x00\x1f<>&\"'\uFFFE\uFFFF\uFFFD\u0085\u2028😀")))
		texts := rapid.SliceOfN(rapid.StringOfN(char, 1, 20, -1), 1, 20).Draw(rt, "texts")
		w := must(writeWorkbook(dir+"/a.xlsx", sheetOf(cellsOf(cell.Text, texts...)...)))(rt)
		if diff := cmp.Diff(texts, ownColumn(rt, w.Path)); diff != "" {
			rt.Errorf("(-want +got):\n%s", diff)
		}
	})
	path, _ := written(t, sheetOf(cellsOf(cell.Text, "a\xff\xed\xa0\x80b")...))
	same(t, "no UTF-8", []string{"a\uFFFD\uFFFD\uFFFD\uFFFDb"}, ownColumn(t, path))
}

// An error that only one program knows would make another call the file
// damaged.
func TestErrorValues(t *testing.T) {
	t.Parallel()
	_, f := written(t, sheetOf(
		cell.Cell{Kind: cell.Error, Raw: "#DIV/0!"}, cell.Cell{Kind: cell.Error, Raw: "#SPILL!"},
		cell.Cell{Kind: cell.Error, Raw: "Err:502"}, cell.Cell{Kind: cell.Uncomputed}))
	same(t, "errors", []string{"#DIV/0!", "#VALUE!", "#VALUE!", "#N/A"}, column(t, f, 4))
}

// The source's serials mean the same days, and our own moments are right, in
// either date system.
func TestDateSystems(t *testing.T) {
	t.Parallel()
	for _, date1904 := range []bool{false, true} {
		b := sheetOf(
			cell.Cell{Kind: cell.Date, Raw: "29342", Shown: "1980-05-01", Format: "mm-dd-yy"},
			cell.Cell{Kind: cell.Date, Raw: "29342.5", Shown: "1980-05-01T12:00:00", Format: "d mmm yyyy"},
		)
		b.Sheet.Date1904 = date1904
		moment := time.Date(2026, 11, 20, 2, 30, 7, 0, time.FixedZone("", 3600))
		b.Steps = each(result.Step{Number: 1, Step: "client", At: moment})
		_, f := written(t, b)
		props := must(f.GetWorkbookProps())(t)
		if got := props.Date1904 != nil && *props.Date1904; got != date1904 {
			t.Errorf("date system 1904: got %v, want %v", got, date1904)
		}
		same(t, "serials", []string{"29342", "29342.5"}, column(t, f, 2))
		// 14 is the short date in the reader's own order.
		if got := kind(t, f, "Results", "A2") + ", " + kind(t, f, "Results", "A3"); got != "number #14, number d mmm yyyy" {
			t.Errorf("formats: got %s", got)
		}
		if got, _ := f.GetCellValue("Steps", "H2"); got != "2026-11-20 01:30:07" {
			t.Errorf("1904 %v: the moment shows as %s", date1904, got)
		}
	}
}

func TestLongTextsAreCutVisibly(t *testing.T) {
	t.Parallel()
	b := sheetOf(cell.Cell{})
	b.Rows = each(result.Row{Row: 2, Status: result.Failed, Error: strings.Repeat("😀", 20000)})
	_, f := written(t, b)
	if got, err := f.GetCellValue("Results", "F2"); err != nil || got != strings.Repeat("😀", 16383)+"…" {
		t.Errorf("a long error has %d bytes (error %v)", len(got), err)
	}
}
