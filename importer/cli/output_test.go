package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
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

// stopper ends a command's context when the command prints its first line.
type stopper struct {
	printed bytes.Buffer
	stop    func()
}

func (s *stopper) Write(line []byte) (int, error) {
	s.stop()
	return s.printed.Write(line)
}

// TestLinkInterrupted: a signal between two links does not deny the first one.
func TestLinkInterrupted(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.mustRun(0)
	ctx, cancel := context.WithCancel(t.Context())
	out, diagnostics := &stopper{stop: cancel}, &bytes.Buffer{}
	cli.MainAt(ctx, []string{"link", "-m", s.path("mapping.yaml"), "c1@example.com", "c2@example.com", "c3@example.com"},
		cli.IO{In: strings.NewReader(""), Out: out, Err: diagnostics, Env: func(string) string { return "" }}, s.pace)
	if calls := s.since().calls; len(calls) != 1 || !strings.HasPrefix(out.printed.String(), "c1@example.com\t") {
		t.Fatalf("%d calls\n%s", len(calls), out.printed.String())
	}
	if said := diagnostics.String(); strings.Contains(said, "nothing was sent") || !strings.Contains(said, "after 1 of 3 links") || !strings.Contains(said, "key 2") {
		t.Errorf("it says %q", said)
	}
}

// TestEveryFailedOutputIsShown: of two workbooks that cannot be written, both are named.
func TestEveryFailedOutputIsShown(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	writeSheet(t, s.path("more.xlsx"), header, [][]any{lead(2, "A-2")})
	must(t, os.Mkdir(s.path("out"), 0o700))
	s.service.Play(apitest.Once(func(c apitest.Call) bool { return c.Kind == "link" }, apitest.Fault{Then: func() { must(t, os.RemoveAll(s.path("out"))) }}))
	expect(t, s.must(3, "run", "-o", s.path("out"), s.path("leads.xlsx"), s.path("more.xlsx")), "leads.results.xlsx", "more.results.xlsx", "claimsheet report")
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

// TestHiddenColumnsStayHidden, in plan and results, and when the results are run again with a column of ours before
// them.
func TestHiddenColumnsStayHidden(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, strings.Replace(stepThree, "sheet: {timezone: Europe/London}", placesMapping, 1), nil)
	s.placesWorkbook("leads.xlsx", nil)
	check := func(what, file string) {
		t.Helper()
		f, err := excelize.OpenFile(s.path(file))
		must(t, err)
		defer f.Close()
		var hidden []string
		for _, c := range []string{"A", "B", "C", "D", "E", "F", "I", "J", "K", "L", "M", "R"} {
			visible, err := f.GetColVisible("Results", c)
			must(t, err)
			if !visible {
				hidden = append(hidden, c)
			}
		}
		if diff := cmp.Diff([]string{"D", "E"}, hidden); diff != "" {
			t.Errorf("%s: hidden columns (-want +got):\n%s", what, diff)
		}
	}
	s.mustRun(0, "--dry-run")
	check("plan", "leads.plan.xlsx")
	s.mustRun(0)
	check("results", "leads.results.xlsx")
	editWorkbook(t, s.path("leads.results.xlsx"), func(f *excelize.File) {
		must(t, f.InsertCols("Results", "A", 1))
		must(t, f.SetCellValue("Results", "A1", "Import status"))
		must(t, f.RemoveCol("Results", "L"))
	})
	if p := s.rerun(s.book()); p.code != 0 {
		t.Fatalf("exit code %d\n%s", p.code, p.err)
	}
	check("results of a rerun", "leads.results.xlsx")
	if diff := cmp.Diff(parts(t, s.path("leads.results.xlsx")), parts(t, s.report())); diff != "" {
		t.Errorf("written again (-first +again):\n%s", diff)
	}
}
