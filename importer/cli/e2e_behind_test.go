package cli_test

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
)

// rerun runs claimsheet rerun over workbooks of the scene.
func (s *scene) rerun(books ...string) (code int, said string) {
	s.t.Helper()
	words := []string{"rerun", "--environments", s.path("environments.yaml"), "-m", s.path("mapping.yaml")}
	for _, word := range books {
		if strings.HasSuffix(word, ".xlsx") {
			word = s.path(word)
		}
		words = append(words, word)
	}
	code, out, diagnostics := s.claimsheet(words...)
	return code, out + diagnostics
}

// saveState keeps a copy of the state folder, as a backup does.
func (s *scene) saveState(name string) {
	s.t.Helper()
	if err := os.CopyFS(s.path(name), os.DirFS(s.path(".claimsheet"))); err != nil {
		s.t.Fatal(err)
	}
}

// restoreState puts a backup in the place of the state folder; "" leaves none.
func (s *scene) restoreState(name string) {
	s.t.Helper()
	if err := os.RemoveAll(s.path(".claimsheet")); err != nil {
		s.t.Fatal(err)
	}
	if name == "" {
		return
	}
	if err := os.CopyFS(s.path(".claimsheet"), os.DirFS(s.path(name))); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(s.path(".claimsheet"), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

// advised returns the command that a refusal ends with.
func advised(t *testing.T, said string) []string {
	t.Helper()
	found := regexp.MustCompile(`claimsheet ((?:run|rerun) [^;\n]*)`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("no command is advised:\n%s", said)
	}
	return strings.Fields(found[1])
}

// copiedInTheMiddle runs with flags, and leaves the ledger as it was in the middle of
// the run.
func (s *scene) copiedInTheMiddle(flags ...string) {
	s.t.Helper()
	ledger, middle := s.path(".claimsheet/ledger.db"), s.path("middle.db")
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "claim" {
			once.Do(func() {
				if code, out, said := s.claimsheet("copy-ledger", "--environments", s.path("environments.yaml"), "--to", middle); code != 0 {
					s.t.Errorf("the copy: exit code %d\n%s%s", code, out, said)
				}
			})
		}
		return apitest.Fault{}
	})
	s.mustRun(0, flags...)
	s.service.Play(nil)
	s.restoreState("")
	must(s.t, os.Mkdir(s.path(".claimsheet"), 0o700))
	must(s.t, os.Rename(middle, ledger))
}

// TestAWorkbookFromBeforeTheMiddleOfARun: the ledger was copied while a run worked whose
// workbook has a name of its own, and put back after its end. The workbook before is
// not enough then; with that of the run nothing is created again.
func TestAWorkbookFromBeforeTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.sheet(leads(5))
	second := s.path("second.xlsx")
	s.copiedInTheMiddle("-o", second)
	before := len(s.service.Calls())
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		if p := s.mustRun(3, flags...); !strings.Contains(p.err, "[lost-run]") || !strings.Contains(p.err, second) {
			t.Errorf("run %q:\n%s", flags, p.err)
		}
	}
	code, said := s.rerun("--yes", "leads.results.xlsx")
	if code != 3 || !strings.Contains(said, "[lost-run]") {
		t.Fatalf("rerun: exit code %d\n%s", code, said)
	}
	if code, said := s.rerun("--yes", "leads.results.xlsx", "second.xlsx"); code != 0 {
		t.Fatalf("the advised command: exit code %d\n%s", code, said)
	}
	s.expectUnchanged(5, before)
}

// expectUnchanged runs once more: all rows are unchanged, and since the first before
// calls nothing was sent.
func (s *scene) expectUnchanged(rows, before int) {
	s.t.Helper()
	if p := s.mustRun(0); p.summary.Rows.Unchanged != rows {
		s.t.Errorf("rows %+v", p.summary.Rows)
	}
	if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
		s.t.Errorf("something was sent\n%s", transcript(calls))
	}
	s.checkPromise()
}

// TestALedgerFromTheMiddleOfARun: the ledger was copied while a run worked, and put back
// after the run had ended. It knows that the run began; its workbook says what came
// after.
func TestALedgerFromTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.sheet(leads(5))
	s.copiedInTheMiddle()
	before := len(s.service.Calls())
	p := s.mustRun(3)
	code, out, said := s.claimsheet(advised(t, p.err)...)
	if code != 3 || !strings.Contains(said, "--yes") {
		t.Fatalf("the advised command: exit code %d\n%s%s", code, out, said)
	}
	if code, out, said = s.claimsheet(advised(t, said)...); code != 0 {
		t.Fatalf("the command that it advises: exit code %d\n%s%s", code, out, said)
	}
	s.expectUnchanged(5, before)
}
