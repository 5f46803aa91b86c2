package cli_test

import (
	"archive/zip"
	"encoding/json"
	"io"
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

// parts are the parts of a workbook by name, but for the one that holds the
// time of its making.
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

// keep copies a workbook aside.
func keep(t *testing.T, path, to string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(to, data, 0o600))
	return to
}

// listedRuns are the ids of the runs that history lists, the newest first.
func listedRuns(t *testing.T, out string) []string {
	t.Helper()
	return regexp.MustCompile(`(?m)^[0-9a-f]{8}`).FindAllString(out, -1)
}

// TestReportIsTheFirstWriting writes the workbooks of a run, of a rerun of its
// edited results and of another night again. What nothing has changed since is as it
// was, byte for byte, but for the mark of a later run; the first run's rows show what
// the rerun has settled and sent.
func TestReportIsTheFirstWriting(t *testing.T) {
	t.Parallel()
	s := newRerunScene(t)
	env := []string{"--environments", s.path("environments.yaml")}
	first := keep(t, s.results(), s.path("first.xlsx"))

	s.edit(func(f *excelize.File) {
		set(t, f, "Amount", 4, 77.5)
		must(t, f.SetCellValue("Steps", stepCell(t, f, "c4@example.com", "claim/loan/00904", "Settle"), "not created"))
	})
	if p := s.rerun("-o", s.path("second.xlsx")); p.code != 0 {
		t.Fatalf("the rerun: exit code %d\n%s", p.code, p.err)
	}
	second := keep(t, s.path("second.xlsx"), s.path("second-kept.xlsx"))
	if p := s.main("", "run", "-m", s.path("mapping.yaml"), "--json", "-o", s.path("third.xlsx"), s.path("leads.xlsx")); p.code != 1 {
		t.Fatalf("the third run: exit code %d\n%s", p.code, p.err)
	}
	must(t, os.Remove(s.path("leads.xlsx")))
	must(t, os.Remove(s.path("mapping.yaml")))
	sent := s.sent()

	runs := listedRuns(t, s.must("history", env...))
	if len(runs) != 3 {
		t.Fatalf("%d runs are listed, want 3", len(runs))
	}
	// What a later run has marked, or would have marked if it had known the place, is
	// marked in the same way.
	var listed struct {
		Runs []struct{ Run, Results string }
	}
	must(t, json.Unmarshal([]byte(s.must("history", append(env, "--json")...)), &listed))
	nothing := func(string) error { return nil }
	must(t, workbook.Supersede(second, listed.Runs[0].Run, listed.Runs[0].Results, nothing))
	must(t, workbook.Supersede(first, listed.Runs[1].Run, listed.Runs[1].Results, nothing))
	for i, want := range []string{s.path("third.xlsx"), second, first} {
		again := s.path("again.xlsx")
		s.must("report", append(env, "-o", again, runs[i])...)
		was, is := parts(t, want), parts(t, again)
		if i > 0 { // a mark stands behind the other properties, and a report sorts them
			was["docProps/custom.xml"], is["docProps/custom.xml"] = properties(t, want), properties(t, again)
		}
		if i == 2 {
			got := column(readSheet(t, again, "Results"), "Import status")
			if diff := cmp.Diff([]string{"done", "done", "invalid", "done"}, got); diff != "" {
				t.Errorf("the first run's rows (-want +got):\n%s", diff)
			}
			continue
		}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("run %d (-first +again):\n%s", 3-i, diff)
		}
	}
	if n := s.sent() - sent; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// must runs a command that prints words, and expects it to end well.
func (s *rerunScene) must(command string, words ...string) string {
	s.t.Helper()
	got := runSaid(s.t, "", append([]string{command}, words...)...)
	if got.code != 0 || got.err != "" {
		s.t.Fatalf("%s ended with exit code %d\n%s%s", command, got.code, got.out, got.err)
	}
	return got.out
}

// TestReportKeepsTheMark: a report is marked as older than a later run, in the place
// of the run's own workbook and elsewhere, also when a restored ledger does not know
// that run any more; and a run that begins marks the reports of the run before it.
func TestReportKeepsTheMark(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	report := func(words ...string) {
		t.Helper()
		if code, _, said := s.claimsheet(append([]string{"report", "--environments", s.path("environments.yaml")}, words...)...); code != 0 {
			t.Fatalf("report: exit code %d\n%s", code, said)
		}
	}
	s.mustRun(0)
	report("-o", s.path("before.xlsx"))
	s.saveState("backup")
	s.sheet(leads(2))
	s.mustRun(0, "-o", s.path("second.xlsx"))
	before := len(s.service.Calls())
	for _, lost := range []bool{false, true} {
		if lost {
			s.restoreState("backup")
		}
		run := listedRuns(t, s.history())
		first := run[len(run)-1]
		report(first)
		report("-o", s.path("after.xlsx"), first)
		if !lost {
			s.saveState("now")
		}
		s.restoreState("backup")
		for _, book := range []string{"leads.results.xlsx", "before.xlsx", "after.xlsx"} {
			code, said := s.rerun("--yes", book)
			if code != 3 || !strings.Contains(said, "[lost-run]") || !strings.Contains(said, "second.xlsx") {
				t.Errorf("lost %v, %s alone: exit code %d\n%s", lost, book, code, said)
			}
		}
		s.restoreState("now")
		second := keep(t, s.path("second.xlsx"), s.path("kept"))
		if code, said := s.rerun("after.xlsx"); code != 0 {
			t.Errorf("lost %v, with the ledger: exit code %d\n%s", lost, code, said)
		}
		s.restoreState("now") // that run is undone: it has not marked the workbook either
		must(t, os.Rename(second, s.path("second.xlsx")))
	}
	if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
		t.Errorf("something was sent\n%s", transcript(calls))
	}
}

// history lists the runs of the scene.
func (s *scene) history() string {
	s.t.Helper()
	code, out, said := s.claimsheet("history", "--environments", s.path("environments.yaml"))
	if code != 0 {
		s.t.Fatalf("history: exit code %d\n%s", code, said)
	}
	return out
}

// TestReportWritesWhereTheRunDid replaces the run's own workbook, keeps one that
// was edited, and leaves a later run's alone.
func TestReportWritesWhereTheRunDid(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	w.claimsheet("run", w.path("leads.xlsx"))
	results := w.path("leads.results.xlsx")
	first := parts(t, keep(t, results, w.path("first.xlsx")))
	must(t, os.Remove(results))
	if out := w.must("report"); !strings.HasPrefix(out, results+": the results of run ") {
		t.Errorf("printed %q", out)
	}
	if diff := cmp.Diff(first, parts(t, results)); diff != "" {
		t.Errorf("written again (-first +again):\n%s", diff)
	}
	editWorkbook(t, results, func(f *excelize.File) { must(t, f.SetCellValue("Results", "A2", "mine")) })
	if got := w.claimsheet("report"); got.code != 0 || !strings.Contains(got.err, "[output-edited]") {
		t.Errorf("over an edited workbook: exit code %d\n%s", got.code, got.err)
	}
	if kept, _ := filepath.Glob(w.path("leads.results-*.xlsx")); len(kept) != 1 {
		t.Errorf("the edited workbook was kept as %q, want one file", kept)
	}
	w.claimsheet("run", w.path("leads.xlsx"))
	second := parts(t, results)
	runs := listedRuns(t, w.must("history"))
	got := w.claimsheet("report", runs[1])
	if got.code != 2 || !strings.Contains(got.err, "[output-of-another-run]") {
		t.Errorf("over a later run's results: exit code %d\n%s", got.code, got.err)
	}
	if diff := cmp.Diff(second, parts(t, results)); diff != "" {
		t.Errorf("the later run's results were changed:\n%s", diff)
	}
	if got := w.claimsheet("run", w.path("leads.xlsx")); got.code != 0 {
		t.Errorf("a run after a report: exit code %d\n%s", got.code, got.err)
	}
	if kept, _ := filepath.Glob(w.path("leads.results-*.xlsx")); len(kept) != 1 {
		t.Errorf("a workbook that nobody edited was kept: %q", kept)
	}
}

func TestReportRefuses(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	var all strings.Builder
	refused := func(name string, words ...string) {
		got := w.claimsheet("report", words...)
		if got.code != 2 || got.out != "" {
			t.Errorf("%s: exit code %d, want 2\n%s", name, got.code, got.out)
		}
		all.WriteString(name + "\n" + got.err + "\n")
	}
	refused("before any run")
	w.claimsheet("run", w.path("leads.xlsx"))
	w.claimsheet("run", w.path("leads.xlsx"))
	refused("an unknown run", "zebra")
	refused("two runs", "a", "b")
	kept, err := filepath.Glob(w.path(".claimsheet/inputs/*"))
	must(t, err)
	must(t, os.WriteFile(kept[0], []byte("something else"), 0o600))
	refused("a changed input", "-o", w.path("x.xlsx"))
	must(t, os.Remove(kept[0]))
	refused("a missing input", "-o", w.path("x.xlsx"))
	w.must("history", "--purge", "--older-than", "0d", "--yes")
	refused("a purged input", "-o", w.path("x.xlsx"))
	w.golden("report_refused.txt", regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}`).ReplaceAllString(all.String(), "ID"))
}

// TestReportOfAcceptedSimilarKey: a claim that a run with --accept similar-key did not
// come to is shown as not sent, not as invalid.
func TestReportOfAcceptedSimilarKey(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, [][]any{lead(1, "A-1"), lead(2, "B-1")})
	s.mustRun(0)
	s.sheet([][]any{lead(1, "a 1"), lead(2, "B-1")})
	s.mustRun(0, "--accept", "similar-key", "--only", "c2@example.com")
	if got := column(s.reported("Results"), "Import status"); len(got) != 2 || got[0] == "invalid" {
		t.Errorf("the report has the rows %q", got)
	}
}

// reported writes the report of the latest run to again.xlsx, and returns one of its sheets.
func (s *scene) reported(sheet string) []record {
	s.t.Helper()
	code, out, said := s.claimsheet("report", "--environments", s.path("environments.yaml"), "-o", s.path("again.xlsx"))
	if code != 0 {
		s.t.Fatalf("report: exit code %d\n%s%s", code, out, said)
	}
	return s.workbook("again.xlsx", sheet)
}
