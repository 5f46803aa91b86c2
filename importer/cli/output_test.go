package cli_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/cli"
)

// TestProblemsOnce: what is wrong with the sheet is printed once, and the same in many rows in one line.
func TestProblemsOnce(t *testing.T) {
	t.Parallel()
	rows := leads(2)
	for i := range 45 {
		bad := lead(10+i, "B-1")
		bad[3] = "yesterday"
		rows = append(rows, bad)
	}
	s := newScene(t, stepThree, rows)
	var printed sharedText
	stdio := cli.IO{Out: io.Discard, Err: &printed, Env: func(string) string { return "" }}
	if code := cli.MainAt(t.Context(), s.args("--max-failures", "100%"), stdio, s.pace); code != 1 {
		t.Errorf("exit code %d\n%s", code, printed.String())
	}
	if said := printed.String(); strings.Count(said, "(source row ") != 1 || !strings.Contains(said, "the same in 44 more places: D5, D6, ") {
		t.Errorf("printed in all, once each:\n%s", said)
	}
}

// placesWorkbook is a sheet as people keep it: a title above the header, an empty column, empty rows, rows that a
// filter hides, a column that somebody hid.
func (s *scene) placesWorkbook(file string, bad map[int]string) {
	s.t.Helper()
	f := excelize.NewFile()
	must(s.t, f.SetSheetName("Sheet1", "Leads Oct 26"))
	set := func(ref string, values ...any) { must(s.t, f.SetSheetRow("Leads Oct 26", ref, &values)) }
	set("A1", "Leads of October")
	set("B4", header...)
	for i, row := range []int{5, 6, 9, 12, 13, 15} {
		values := lead(i+1, fmt.Sprintf("A-%d", i+1))
		if amount := bad[row]; amount != "" {
			values[slices.Index(header, any("Amount"))] = amount
		}
		set(fmt.Sprintf("B%d", row), values...)
	}
	must(s.t, f.SetRowVisible("Leads Oct 26", 9, false))
	must(s.t, f.SetRowVisible("Leads Oct 26", 12, false))
	must(s.t, f.SetColVisible("Leads Oct 26", "D:E", false))
	must(s.t, f.SaveAs(s.path(file)))
}

const placesMapping = "sheet: {timezone: Europe/London, header_row: 4}"

func cellOf(t *testing.T, path, sheet, ref string) (text, fill, comment string) {
	t.Helper()
	f, err := excelize.OpenFile(path)
	must(t, err)
	defer f.Close()
	text, err = f.GetCellValue(sheet, ref)
	must(t, err)
	id, err := f.GetCellStyle(sheet, ref)
	must(t, err)
	style, err := f.GetStyle(id)
	must(t, err)
	comments, err := f.GetComments(sheet)
	must(t, err)
	for _, c := range comments {
		if c.Cell == ref {
			comment = c.Text
		}
	}
	return text, strings.Join(style.Fill.Color, " "), comment
}

// TestCellsAreNamedWhereTheyAreCorrected: the terminal, the Error column and the sheet Problems name the cell of the
// results workbook; it is coloured and explained, and what is written there is what rerun reads.
func TestCellsAreNamedWhereTheyAreCorrected(t *testing.T) {
	t.Parallel()
	s := newScene(t, strings.Replace(stepThree, "sheet: {timezone: Europe/London}", placesMapping, 1), nil)
	s.placesWorkbook("leads.xlsx", map[int]string{13: "ask"})
	p := s.mustRun(1)
	const named = "Results!I6 (source row 13)"
	expect(t, p.err, named)
	results := s.path("leads.results.xlsx")
	text, fill, comment := cellOf(t, results, "Results", "I6")
	if text != "ask" || fill != "FFC7CE" || !strings.Contains(comment, "Amount is not a number") {
		t.Errorf("the cell named says %q, its ground is %q and its comment %q", text, fill, comment)
	}
	if row := s.results()[4]; !strings.HasPrefix(row["Error"], named+": Amount is not a number") || row["Source row"] != "13" {
		t.Errorf("the row says %q, source row %s", row["Error"], row["Source row"])
	}
	if at := column(s.workbook("leads.results.xlsx", "Problems"), "Where"); !slices.Equal(at, []string{named}) {
		t.Errorf("Problems names %q, want %q", at, named)
	}

	// A column of ours is moved to the front: the cell is J6 now, and it is bad still.
	editWorkbook(t, results, func(f *excelize.File) {
		moveToFront(t, f, "Import status")
		must(t, f.SetCellValue("Results", "J6", "still"))
	})
	rerun := s.rerun(s.book())
	if rerun.code != 1 || !strings.Contains("\n"+rerun.err, "\n"+named+": Amount") {
		t.Fatalf("after the workbook was rearranged: exit code %d, want the new workbook's cell\n%s", rerun.code, rerun.err)
	}
	if text, fill, _ := cellOf(t, results, "Results", "I6"); text != "still" || fill != "FFC7CE" {
		t.Errorf("the cell named says %q, its ground is %q", text, fill)
	}
	editWorkbook(t, results, func(f *excelize.File) { must(t, f.SetCellValue("Results", "I6", 12.5)) })
	rerun = s.rerun(s.book())
	if rerun.code != 0 || rerun.summary.Rows.Done != 1 || rerun.summary.Rows.Unchanged != 5 {
		t.Errorf("after the correction: exit code %d, rows %+v\n%s", rerun.code, rerun.summary.Rows, rerun.err)
	}
	if text, fill, comment := cellOf(t, results, "Results", "I6"); text != "12.5" || fill != "" || comment != "" {
		t.Errorf("the corrected cell says %q, its ground is %q and its comment %q", text, fill, comment)
	}
	s.checkPromise()
}
