package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/importer/cli/workbook"
	"claimsheet/reports"
)

// properties are a workbook's document properties in their order by name.
func properties(t *testing.T, path string) string {
	t.Helper()
	all, ours, err := reports.IsOurs(path)
	if err != nil || !ours {
		t.Fatalf("%s: %v, %v", path, ours, err)
	}
	text, err := json.MarshalIndent(all, "", " ")
	must(t, err)
	return string(text)
}

// listedRuns are the ids of the runs that history lists, the newest first.
func (s *scene) listedRuns() []string {
	s.t.Helper()
	return regexp.MustCompile(`(?m)^[0-9a-f]{8}`).FindAllString(s.must(0, "history"), -1)
}

// report writes the report of a run, the latest if none is named, to again.xlsx.
func (s *scene) report(run ...string) string {
	s.t.Helper()
	s.must(0, append([]string{"report", "-o", s.path("again.xlsx")}, run...)...)
	return s.path("again.xlsx")
}

// TestReportIsTheFirstWriting writes the workbooks of a run, of a rerun of its
// edited results and of another night again. What nothing has changed since is as it
// was, byte for byte, but for the mark of a later run; the first run's rows show what
// the rerun has settled and sent.
func TestReportIsTheFirstWriting(t *testing.T) {
	t.Parallel()
	s := halfDone(t)
	first := keep(t, s.path(s.book()), s.path("first.xlsx"))
	editWorkbook(t, s.path(s.book()), func(f *excelize.File) {
		must(t, f.SetCellValue("Steps", stepCell(t, f, "c4@example.com", "claim/loan/A-4", "Settle"), "not created"))
	})
	if p := s.rerun("-o", "second.xlsx", s.book()); p.code != 0 {
		t.Fatalf("the rerun: exit code %d\n%s", p.code, p.err)
	}
	second := keep(t, s.path("second.xlsx"), s.path("second-kept.xlsx"))
	s.mustRun(1, "-o", s.path("third.xlsx"))
	must(t, os.Remove(s.path("leads.xlsx")))
	runs := s.listedRuns()
	if len(runs) != 3 {
		t.Fatalf("%d runs are listed, want 3", len(runs))
	}
	// What a later run has marked, or would have marked if it had known the place, is
	// marked in the same way.
	var listed struct {
		Runs []struct{ Run, Results string }
	}
	must(t, json.Unmarshal([]byte(s.must(0, "history", "--json")), &listed))
	nothing := func(string) error { return nil }
	must(t, workbook.Supersede(second, listed.Runs[0].Run, listed.Runs[0].Results, nothing))
	must(t, workbook.Supersede(first, listed.Runs[1].Run, listed.Runs[1].Results, nothing))
	must(t, os.WriteFile(s.path("mapping.yaml"), []byte("name: other\n"), 0o600)) // the kept one is used
	for i, want := range []string{s.path("third.xlsx"), second} {
		again := s.report(runs[i])
		was, is := parts(t, want), parts(t, again)
		if i > 0 { // a mark stands behind the other properties, and a report sorts them
			was["docProps/custom.xml"], is["docProps/custom.xml"] = properties(t, want), properties(t, again)
		}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("run %d (-first +again):\n%s", 3-i, diff)
		}
	}
	again := s.report(runs[2])
	if diff := cmp.Diff([]string{"done", "done", "invalid", "done"}, column(readSheet(t, again, "Results"), "Import status")); diff != "" {
		t.Errorf("the first run's rows (-want +got):\n%s", diff)
	}
	if posts := s.since().posts(); len(posts) > 0 {
		t.Errorf("%v were sent", posts)
	}
}

// TestReportKeepsTheMark: a report is marked as older than a later run, in the place
// of the run's own workbook and elsewhere, also when a restored ledger does not know
// that run any more; and a run that begins marks the reports of the run before it.
func TestReportKeepsTheMark(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	s.mustRun(0)
	s.must(0, "report", "-o", s.path("before.xlsx"))
	s.saveState("backup")
	s.sheet(leads(2))
	s.mustRun(0, "-o", s.path("second.xlsx"))
	for _, lost := range []bool{false, true} {
		if lost {
			s.restoreState("backup")
		}
		runs := s.listedRuns()
		first := runs[len(runs)-1]
		s.must(0, "report", first)
		s.must(0, "report", "-o", s.path("after.xlsx"), first)
		if !lost {
			s.saveState("now")
		}
		s.restoreState("backup")
		for _, book := range []string{"leads.results.xlsx", "before.xlsx", "after.xlsx"} {
			if p := s.rerun("--yes", book); p.code != 3 || !strings.Contains(p.err, "[lost-run]") || !strings.Contains(p.err, "second.xlsx") {
				t.Errorf("lost %v, %s alone: exit code %d\n%s", lost, book, p.code, p.err)
			}
		}
		s.restoreState("now")
		second := keep(t, s.path("second.xlsx"), s.path("kept"))
		if p := s.rerun("after.xlsx"); p.code != 0 || len(p.posts()) > 0 {
			t.Errorf("lost %v, with the ledger: exit code %d\n%s%s", lost, p.code, p.err, transcript(p.calls))
		}
		s.restoreState("now") // that run is undone: it has not marked the workbook either
		must(t, os.Rename(second, s.path("second.xlsx")))
	}
}

// TestReportWritesWhereTheRunDid replaces the run's own workbook, keeps one that
// was edited, and leaves a later run's alone.
func TestReportWritesWhereTheRunDid(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	kept := func() int {
		found, err := filepath.Glob(s.path("leads.results-*.xlsx"))
		must(t, err)
		return len(found)
	}
	s.mustRun(0)
	results := s.path(s.book())
	first := parts(t, keep(t, results, s.path("first.xlsx")))
	must(t, os.Remove(results))
	if out := s.must(0, "report"); !strings.HasPrefix(out, results+": the results of run ") {
		t.Errorf("printed %q", out)
	}
	if diff := cmp.Diff(first, parts(t, results)); diff != "" {
		t.Errorf("written again (-first +again):\n%s", diff)
	}
	editWorkbook(t, results, func(f *excelize.File) { must(t, f.SetCellValue("Results", "A2", "mine")) })
	expect(t, s.must(0, "report"), "[output-edited]")
	if n := kept(); n != 1 {
		t.Errorf("%d edited workbooks were kept, want one", n)
	}
	s.mustRun(0)
	second := parts(t, results)
	expect(t, s.must(2, "report", s.listedRuns()[1]), "[output-of-another-run]")
	if diff := cmp.Diff(second, parts(t, results)); diff != "" {
		t.Errorf("the later run's results were changed:\n%s", diff)
	}
	if s.mustRun(0); kept() != 1 {
		t.Error("a workbook that nobody edited was kept")
	}
}
