package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"claimsheet/importer/cli"
)

// client4 is what is known of client 4: its claim may or may not be there.
var client4 = []string{"client c4@example.com", claim4}

// TestRerunDoesWhatIsMissing corrects client 3 in a workbook that was edited in
// every other way too: only client 3 is sent.
func TestRerunDoesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		edit func(t *testing.T, f *excelize.File)
		rows int
	}{
		{"sorted", func(t *testing.T, f *excelize.File) {
			for range 3 { // the first row goes to the end, three times
				must(t, f.DuplicateRowTo("Results", 2, 6))
				must(t, f.RemoveRow("Results", 2))
			}
			must(t, f.DuplicateRowTo("Steps", 2, 4))
			must(t, f.RemoveRow("Steps", 2))
		}, 4},
		{"filtered", func(t *testing.T, f *excelize.File) {
			for row := 2; row <= 5; row++ {
				must(t, f.SetRowVisible("Results", row, row == 2))
			}
		}, 4},
		{"a row deleted", func(t *testing.T, f *excelize.File) { must(t, f.RemoveRow("Results", 2)) }, 3},
		{"a source column deleted", func(t *testing.T, f *excelize.File) { removeColumn(t, f, "Note") }, 4},
		{"our columns deleted", func(t *testing.T, f *excelize.File) {
			for _, header := range []string{"Import status", "contactId", "claimIds", "redirectUrl", "Failed step", "Error", "What to do", "Source row"} {
				removeColumn(t, f, header)
			}
		}, 4},
		{"columns moved", func(t *testing.T, f *excelize.File) {
			moveToFront(t, f, "E-mail")
			moveToFront(t, f, "redirectUrl")
			moveToFront(t, f, "Source row")
			moveToFront(t, f, "Import status")
		}, 4},
		{"ids erased", func(t *testing.T, f *excelize.File) {
			for row := 2; row <= 5; row++ {
				set(t, f, "contactId", row, nil)
				set(t, f, "claimIds", row, nil)
			}
			must(t, f.SetCellValue("Steps", stepCell(t, f, "c1@example.com", "client", "Id"), nil))
		}, 4},
		{"the sheet Steps deleted", func(t *testing.T, f *excelize.File) { must(t, f.DeleteSheet("Steps")) }, 4},
	} {
		if short := []string{"sorted", "ids erased"}; !*long && !slices.Contains(short, test.name) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newRerunScene(t)
			before := shown(t, s.results())
			s.edit(func(f *excelize.File) {
				set(t, f, "Amount", 4, 250.25)
				test.edit(t, f)
			})
			p := s.rerun()
			if p.code != 4 || p.summary.Rows.Total != test.rows || p.summary.Rows.Done != 1 || p.summary.Rows.Uncertain != 1 {
				t.Fatalf("exit code %d, rows %+v\n%s", p.code, p.summary.Rows, p.err)
			}
			s.createdOnce(all("c1@example.com", "00901"), all("c2@example.com", "00902"), all("c3@example.com", "00903"), client4)
			s.checkResults(before, shown(t, s.results()), test.name)
			if header := headerOf(t, s.results()); slices.Contains(header, "") || slices.Index(header, "Import status") != len(header)-8 {
				t.Errorf("the new workbook's columns are %q", header)
			}
			for _, call := range s.creations() {
				if call.Kind == "activity" && !strings.Contains(call.Body, `"workflowName":"Leads"`) {
					t.Errorf("the workflow is not named after the sheet first imported: %s", call.Body)
				}
			}
		})
	}
}

// checkResults compares the new workbook with the one before, client by client.
func (s *rerunScene) checkResults(before, after map[string]record, edit string) {
	t := s.t
	t.Helper()
	for email, now := range after {
		then := before[email]
		for _, header := range []string{"Agreement no", "Name", "Signed", "Opt in"} {
			if now[header] != then[header] {
				t.Errorf("%s: %s was %q and is now %q", email, header, then[header], now[header])
			}
		}
		if email != "c3@example.com" && (now["contactId"] != then["contactId"] || now["claimIds"] != then["claimIds"] || now["redirectUrl"] != then["redirectUrl"]) {
			t.Errorf("%s: the ids were %v and are now %v", email, then, now)
		}
		if edit != "our columns deleted" && now["Source row"] != then["Source row"] {
			t.Errorf("%s: the source row was %s and is now %s", email, then["Source row"], now["Source row"])
		}
	}
	three := after["c3@example.com"]
	if three["Import status"] != "done" || three["redirectUrl"] != s.url("c3@example.com") || three["Agreement no"] != "00903" {
		t.Errorf("the corrected row says %v", three)
	}
}

func headerOf(t *testing.T, path string) []string {
	t.Helper()
	f, err := excelize.OpenFile(path)
	must(t, err)
	defer f.Close()
	rows, err := f.GetRows("Results")
	must(t, err)
	return rows[0]
}

func removeColumn(t *testing.T, f *excelize.File, header string) {
	t.Helper()
	must(t, f.RemoveCol("Results", letters(cellAt(t, f, "Results", header, 1))))
}

// moveToFront moves a column with its values, types and number formats.
func moveToFront(t *testing.T, f *excelize.File, header string) {
	t.Helper()
	must(t, f.InsertCols("Results", "A", 1))
	from := letters(cellAt(t, f, "Results", header, 1))
	for row := 1; row <= 5; row++ {
		at, to := fmt.Sprint(from, row), fmt.Sprint("A", row)
		raw, err := f.GetCellValue("Results", at, excelize.Options{RawCellValue: true})
		must(t, err)
		kind, err := f.GetCellType("Results", at)
		must(t, err)
		style, err := f.GetCellStyle("Results", at)
		must(t, err)
		var value any = raw
		if n, err := strconv.ParseFloat(raw, 64); err == nil && kind != excelize.CellTypeSharedString && kind != excelize.CellTypeInlineString {
			value = n
		}
		must(t, f.SetCellValue("Results", to, value))
		must(t, f.SetCellStyle("Results", to, to, style))
	}
	must(t, f.RemoveCol("Results", from))
}

func letters(cell string) string { return strings.TrimRight(cell, "0123456789") }

// TestRerunKeepsTheEditedWorkbook: what a person wrote is never overwritten,
// and -o leaves the workbook alone.
func TestRerunKeepsTheEditedWorkbook(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	s.edit(func(f *excelize.File) { set(t, f, "Note", 2, "a remark") })
	edited, err := os.ReadFile(s.results())
	must(t, err)
	if p := s.rerun("-o", s.path("other.xlsx")); p.code != 4 || p.summary.Results != s.path("other.xlsx") || strings.Contains(p.err, "[output-edited]") {
		t.Fatalf("exit code %d, results %s\n%s", p.code, p.summary.Results, p.err)
	}
	if now, err := os.ReadFile(s.results()); err != nil || string(now) != string(edited) {
		t.Errorf("with -o the workbook itself changed (%v)", err)
	}
	p := s.rerun()
	aside := s.aside()
	if kept, err := os.ReadFile(aside); err != nil || string(kept) != string(edited) {
		t.Errorf("the copy is not the edited workbook (%v)", err)
	}
	want := s.results() + ": is not as the last run wrote it; the file that was here is kept as " + aside + " [output-edited]\n" +
		"  hint: the corrections in it were used in this run\n"
	if !strings.Contains(p.err, want) {
		t.Errorf("want\n%sgot\n%s", want, p.err)
	}
	if note := shown(t, s.results())["c1@example.com"]["Note"]; note != "a remark" {
		t.Errorf("the new workbook's note is %q", note)
	}
	s.keepsWorkbook("a rerun that has nothing to keep", func() outcome { return s.rerun() }, "")
}

func (s *rerunScene) glob(pattern string) []string {
	s.t.Helper()
	found, err := filepath.Glob(s.path(pattern))
	must(s.t, err)
	return found
}

// aside is the one edited workbook that is kept.
func (s *rerunScene) aside() string {
	s.t.Helper()
	kept := s.glob("leads.results-*.xlsx")
	if len(kept) != 1 {
		s.t.Fatalf("%d edited workbooks are kept", len(kept))
	}
	return kept[0]
}

// TestEditedWorkbookIsKeptAndNamed: commands that do not read the edited workbook
// say where it is and how its corrections come in after all.
func TestEditedWorkbookIsKeptAndNamed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"run", "report"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := newRerunScene(t)
			s.edit(func(f *excelize.File) { set(t, f, "Amount", 4, 250.25) })
			var words []string
			if command == "run" {
				words = []string{"-m", s.path("mapping.yaml"), "--quiet", s.path("leads.xlsx")}
			} else {
				words = []string{"-m", s.path("mapping.yaml")}
			}
			var out, diagnostics bytes.Buffer
			quickMain(t.Context(), append([]string{command}, words...), cli.IO{Out: &out, Err: &diagnostics, Env: func(string) string { return "" }})
			aside := s.aside()
			_, again, found := strings.Cut(diagnostics.String(), "to use them: claimsheet ")
			again, _, _ = strings.Cut(again, "\n")
			if !found || !strings.Contains(diagnostics.String(), "is kept as "+aside) {
				t.Fatalf("the edited workbook is kept as %s, and this says nothing of it:\n%s", aside, &diagnostics)
			}
			if p := s.main("", append([]string{"rerun", "--json"}, strings.Fields(again)[1:]...)...); p.summary.Rows.Done != 1 {
				t.Errorf("claimsheet %s: exit code %d, rows %+v\n%s", again, p.code, p.summary.Rows, p.err)
			}
		})
	}
}

// TestRerunKilledWhileItWrites: the same command works again.
func TestRerunKilledWhileItWrites(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	s.edit(func(f *excelize.File) { set(t, f, "Amount", 4, 250.25) })
	args := []string{"rerun", "-m", s.path("mapping.yaml"), "--json", s.results()}
	for _, stage := range []string{".claimsheet-*/new-*", ".claimsheet-*/edited", "leads.results-*.xlsx"} {
		cmd := exec.Command(programName, args...)
		must(t, cmd.Start())
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		for over := false; !over; {
			select {
			case <-ended:
				over = true // it was quicker than this test
			default:
				over = len(s.glob(stage)) > 0
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		correction := shown(t, s.results())["c3@example.com"]["Amount"] // fails where there is no workbook
		for _, kept := range s.glob("leads.results-*.xlsx") {
			correction += shown(t, kept)["c3@example.com"]["Amount"]
		}
		if !strings.Contains(correction, "250.25") {
			t.Fatalf("killed at %s, it leaves no corrected workbook", stage)
		}
	}
	if p := runMain(t, "", args...); p.code != 4 || p.summary.Rows.Done+p.summary.Rows.Unchanged != 3 {
		t.Errorf("the same command: exit code %d, rows %+v\n%s", p.code, p.summary.Rows, p.err)
	}
}

// keepsWorkbook does something that must say said while the results workbook is
// watched, which must be there all the time.
func (s *rerunScene) keepsWorkbook(what string, do func() outcome, said string) {
	s.t.Helper()
	stop, missing := make(chan struct{}), make(chan bool)
	go func() {
		gone := false
		for {
			select {
			case <-stop:
				missing <- gone
				return
			default:
				_, err := os.Stat(s.results())
				gone = gone || err != nil
			}
		}
	}()
	p := do()
	close(stop)
	if <-missing {
		s.t.Errorf("%s: for a while there was no workbook at its place", what)
	}
	if !strings.Contains(p.err, said) || said == "" && strings.Contains(p.err, "[output-edited]") {
		s.t.Errorf("%s: want %q\n%s", what, said, p.err)
	}
}

// TestRerunDryRun: it foresees the run, and changes nothing.
func TestRerunDryRun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	s.edit(func(f *excelize.File) { set(t, f, "Amount", 4, 250.25) })
	edited, err := os.ReadFile(s.results())
	must(t, err)
	sent := s.sent()
	plan := s.rerun("--dry-run")
	if now, err := os.ReadFile(s.results()); err != nil || string(now) != string(edited) || s.sent() != sent {
		t.Errorf("the dry run changed the workbook, or sent something (%v)", err)
	}
	if plan.summary.Results != s.path("leads.results.plan.xlsx") || plan.summary.Rows.Planned != 1 {
		t.Errorf("results %s, rows %+v\n%s", plan.summary.Results, plan.summary.Rows, plan.err)
	}
	if run := s.rerun(); run.summary.Requests != plan.summary.Requests {
		t.Errorf("foreseen %+v, sent %+v", plan.summary.Requests, run.summary.Requests)
	}
}

// TestRerunRefuses: what is no results workbook of this environment and
// mapping.
func TestRerunRefuses(t *testing.T) {
	t.Parallel()
	s := newRerunScene(t)
	for _, test := range []struct {
		name, code string
		args       func() []string
	}{
		{"another environment", "[other-environment]", func() []string { return s.rerunArgs("-e", "live") }},
		{"the sandbox", "[other-environment]", func() []string { return s.rerunArgs("-e", "sandbox") }},
		{"a lead sheet", "[not-results]", func() []string { return []string{"rerun", s.path("leads.xlsx")} }},
		{"no file", "[no-file]", func() []string { return []string{"rerun", s.path("none.xlsx")} }},
		{"a plan", "[plan-workbook]", func() []string {
			s.main("", "run", "-m", s.path("mapping.yaml"), "--dry-run", "--json", s.path("leads.xlsx"))
			return []string{"rerun", s.path("leads.plan.xlsx")}
		}},
		{"a plan, run", "[plan-workbook]", func() []string {
			return []string{"run", "-m", s.path("mapping.yaml"), s.path("leads.plan.xlsx")}
		}},
		{"the mapping moved", "[no-mapping]", func() []string {
			must(t, os.Rename(s.path("mapping.yaml"), s.path("moved.yaml")))
			return s.rerunArgs()
		}},
		{"another mapping", "[other-mapping]", func() []string {
			write(t, s.path("other.yaml"), strings.Replace(rerunMapping, "name: loans", "name: cars", 1))
			return []string{"rerun", "-m", s.path("other.yaml"), s.results()}
		}},
		{"other keys", "[other-mapping]", func() []string {
			write(t, s.path("mapping.yaml"), strings.Replace(rerunMapping, "key: E-mail", "key: Name", 1))
			return s.rerunArgs()
		}},
		{"a copy without its ledger", "[other-ledger]", func() []string {
			return []string{"rerun", "--yes", "-m", s.path("mapping.yaml"), "--state", s.path("elsewhere"), s.results()}
		}},
		{"run instead of rerun", "[results-workbook]", func() []string {
			return []string{"run", "-m", s.path("mapping.yaml"), s.results()}
		}},
		{"no workbook", "[no-sheet]", func() []string { return []string{"rerun"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			write(t, s.path("mapping.yaml"), rerunMapping)
			sent := s.sent()
			p := s.main("", test.args()...)
			if p.code != 2 || !strings.Contains(p.err, test.code) {
				t.Errorf("exit code %d, want 2 and %s\n%s", p.code, test.code, p.err)
			}
			if s.sent() != sent {
				t.Errorf("%d requests were sent", s.sent()-sent)
			}
		})
	}
}

// TestPlanLeadsToItsSheet: whatever a plan is given to, the hint names the file that it was made from. It
// does not name the mapping that the plan names: anybody can write a workbook.
func TestPlanLeadsToItsSheet(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newRerunScene(t)
	s.main("", "run", "-m", s.path("mapping.yaml"), "--dry-run", "--json", s.path("leads.xlsx"))
	s.rerun("--dry-run")
	for plan, want := range map[string]string{
		"leads.plan.xlsx":         s.path("leads.xlsx"),
		"leads.results.plan.xlsx": s.results(),
	} {
		for _, words := range [][]string{{"run", "-m", s.path("mapping.yaml")}, {"rerun"}} {
			p := s.main("", append(words, s.path(plan))...)
			if p.code != 2 || !strings.Contains(p.err, "[plan-workbook]") || !strings.HasSuffix(p.err, ": "+want+"\n") {
				t.Errorf("%s %s: exit code %d, want 2 and the hint %q\n%s", words[0], plan, p.code, want, p.err)
			}
		}
	}
}
