package cli_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
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
// edited results and of another night again, after all that has changed the
// ledger: every part is what it was, byte for byte.
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
	for i, want := range []string{s.path("third.xlsx"), second, first} {
		again := s.path("again.xlsx")
		s.must("report", append(env, "-o", again, runs[i])...)
		if diff := cmp.Diff(parts(t, want), parts(t, again)); diff != "" {
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

// TestReportOfEverySample writes the results of every sample again.
func TestReportOfEverySample(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"v1-step-1", "v1-resume", "v2-step-1", "v2-step-3", "v2-several-claims"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &workplace{t: t, dir: t.TempDir()}
			must(t, copySample(filepath.Join(root, "samples", name), w.dir))
			if got := w.claimsheet("run", w.path("leads.xlsx")); got.code != 1 { // every sample has invalid rows
				t.Fatalf("exit code %d\n%s", got.code, got.err)
			}
			w.must("report", "-o", w.path("again.xlsx"))
			if diff := cmp.Diff(parts(t, w.path("leads.results.xlsx")), parts(t, w.path("again.xlsx"))); diff != "" {
				t.Errorf("(-first +again):\n%s", diff)
			}
		})
	}
}

// TestReportWritesWhereTheRunDid replaces the run's own workbook, keeps one that
// was edited, and leaves a later run's alone.
func TestReportWritesWhereTheRunDid(t *testing.T) {
	t.Parallel()
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

// TestReportAfterAFailedWriting: a run whose workbook could not be written has
// lost nothing.
func TestReportAfterAFailedWriting(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, [2]string{"ann@example.com", "A-1"})
	folder := w.path("out")
	must(t, os.Mkdir(folder, 0o700))
	w.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "client" {
			_ = os.RemoveAll(folder)
		}
		return apitest.Fault{}
	})
	got := w.claimsheet("run", "-o", filepath.Join(folder, "r.xlsx"), w.path("leads.xlsx"))
	if got.code != 3 || !strings.Contains(got.err, "claimsheet report -m "+w.path("mapping.yaml")+" -o FILE") {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	w.must("report", "-o", w.path("leads.results.xlsx"))
	if diff := cmp.Diff([]string{"done"}, w.column("Import status")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
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
