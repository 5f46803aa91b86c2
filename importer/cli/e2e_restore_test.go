package cli_test

import (
	"os"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// night imports a sheet of its own, under the scene's mapping.
func (s *scene) night(code int, name string, rows [][]any, flags ...string) []apitest.Call {
	s.t.Helper()
	before := len(s.service.Calls())
	writeSheet(s.t, s.path(name), header, rows)
	words := append([]string{"run", "-m", s.path("mapping.yaml")}, flags...)
	if got, out, said := s.claimsheet(append(words, s.path(name))...); got != code {
		s.t.Fatalf("%s: exit code %d, want %d\n%s%s", name, got, code, out, said)
	}
	return s.service.Calls()[before:]
}

// TestRestoreFromABackup: a ledger of the first night gets the workbooks of the second
// and the third. What failed in the second was done in the third, and what was in
// doubt still is. A rerun of the second alone sends nothing. A rerun of both, in either
// order, takes all their ids over before it sends anything.
func TestRestoreFromABackup(t *testing.T) {
	onlyLong(t)
	const second, third = "second.results.xlsx", "third.results.xlsx"
	inEveryVariant(t, append([]string{"refused"}, everyWay...), bothOrders, func(t *testing.T, v variant) {
		books := []string{second, third}
		if v.order == "above" {
			books = []string{third, second}
		}
		s := newScene(t, stepThree, nil)
		s.night(0, "first.xlsx", leads(1))
		s.saveState("backup")
		code := 0
		if v.way == "refused" {
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Kind == "claim" || c.Step == "link c1@example.com" {
					return apitest.Answer(apitest.JSON(409, `{"message":"come again"}`))
				}
				return apitest.Fault{}
			})
			s.night(3, "second.xlsx", leads(4), v.flags()...)
			s.service.Play(nil)
		} else {
			code = 4
			s.input = "second.xlsx"
			s.sheet(leads(4))
			v.doubt(s, "claim c2@example.com/Loan A-2")
			s.mustRun(code, v.flags()...) // a run that was killed has no workbook
		}
		s.night(code, "third.xlsx", append([][]any{lead(9, "A-9")}, leads(4)...), v.flags()...)
		s.restoreState("backup")

		before := len(s.service.Calls())
		for _, flags := range [][]string{{"--yes"}, {"--yes", "--dry-run"}} {
			if code, said := s.rerun(append(flags, second)...); code != 3 || !strings.Contains(said, third) {
				t.Errorf("%q: exit code %d\n%s", flags, code, said)
			}
		}
		dry := append([]string{"--yes", "--dry-run"}, books...)
		if got, said := s.rerun(dry...); got != 3 || !strings.Contains(said, "[dry-run-ledger]") {
			t.Errorf("%q: exit code %d\n%s", dry, got, said)
		}
		for _, words := range [][]string{append(v.flags("--yes"), books...), dry} {
			if got, said := s.rerun(words...); got != code {
				t.Errorf("%q: exit code %d, want %d\n%s", words, got, code, said)
			}
		}
		s.night(code, "second.xlsx", leads(4))
		s.night(code, "third.xlsx", append([][]any{lead(9, "A-9")}, leads(4)...))
		if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
			t.Errorf("made again:\n%s", transcript(calls))
		}
	})
}

// TestARestoreIsNoticed: each night has a sheet, and so a workbook, of its own name, and
// the ledger of the first night is put back after the second: a copy in the place of the
// ledger, a copy where nothing is left, and the whole state folder. The third night is
// refused until the second night's workbook was given, so nothing is created again.
func TestARestoreIsNoticed(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, what := range []string{"copy", "copy alone", "folder"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, nil)
			s.night(0, "first.xlsx", leads(1))
			s.saveState("backup")
			if code, out, said := s.claimsheet("copy-ledger", "--environments", s.path("environments.yaml"), "--to", s.path("copy.db")); code != 0 {
				t.Fatal(code, out, said)
			}
			s.night(0, "second.xlsx", leads(2))
			switch what {
			case "folder":
				s.restoreState("backup")
			case "copy alone":
				s.restoreState("")
				must(t, os.Mkdir(s.path(".claimsheet"), 0o700))
			}
			if what != "folder" {
				must(t, os.Rename(s.path("copy.db"), s.path(".claimsheet/ledger.db")))
			}
			before := len(s.service.Calls())
			s.sheet(leads(3))
			for _, flags := range [][]string{{"--dry-run"}, nil} {
				if p := s.mustRun(3, flags...); !strings.Contains(p.err, "[lost-run]") {
					t.Errorf("run %q:\n%s", flags, p.err)
				}
			}
			if code, said := s.rerun("--yes", "first.results.xlsx", "second.results.xlsx"); code != 0 {
				t.Fatalf("rerun: exit code %d\n%s", code, said)
			}
			if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
				t.Errorf("made again:\n%s", transcript(calls))
			}
			s.mustRun(0)
			s.checkPromise()
		})
	}
}

// TestTheNewestWorkbookAlone is enough where it has all that the others have, and
// the older one after it sends nothing that it has.
func TestTheNewestWorkbookAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, nil)
	s.service.Play(apitest.Once(onStep("link c2@example.com"), apitest.Answer(apitest.JSON(400, `{}`))))
	s.night(1, "second.xlsx", leads(3))
	s.night(0, "third.xlsx", leads(3))
	s.restoreState("")
	before := len(s.service.Calls())
	for _, book := range []string{"third.results.xlsx", "second.results.xlsx"} {
		if code, said := s.rerun("--yes", book); book == "third.results.xlsx" && code != 0 || code == 4 {
			t.Errorf("%s: exit code %d\n%s", book, code, said)
		}
	}
	if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
		t.Errorf("made again:\n%s", transcript(calls))
	}
}

// TestWorkbooksDisagreeOnAState: what was in doubt in the older workbook and done
// in the newer one is done.
func TestWorkbooksDisagreeOnAState(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, books := range [][]string{{"second.results.xlsx", "third.results.xlsx"}, {"third.results.xlsx", "second.results.xlsx"}} {
		s := newScene(t, stepThree, nil)
		s.service.Play(apitest.Once(onStep("link c2@example.com"), apitest.CreateThen(apitest.JSON(500, `{}`))))
		s.night(4, "second.xlsx", leads(2))
		s.settle("--created", "https://example.com/found", "link")
		s.night(0, "third.xlsx", leads(2))
		s.restoreState("")
		before := len(s.service.Calls())
		if code, said := s.rerun(append([]string{"--yes"}, books...)...); code != 0 {
			t.Errorf("%q: exit code %d\n%s", books, code, said)
		}
		if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
			t.Errorf("made again:\n%s", transcript(calls))
		}
	}
}

// TestARepairOfAnOlderWorkbook: with the ledger in place, a workbook may be older than
// another: nothing is refused, and no copy is kept of a workbook without edits.
func TestARepairOfAnOlderWorkbook(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, nil)
	s.service.Play(apitest.Once(onStep("link c2@example.com"), apitest.Answer(apitest.JSON(400, `{}`))))
	s.night(1, "second.xlsx", leads(3))
	s.night(0, "third.xlsx", [][]any{lead(7, "A-7")})
	if code, said := s.rerun("second.results.xlsx"); code != 0 {
		t.Errorf("exit code %d\n%s", code, said)
	}
	s.night(0, "third.xlsx", [][]any{lead(7, "A-7")})
	names, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.Contains(name.Name(), ".results-") {
			t.Errorf("kept aside: %s", name.Name())
		}
	}
}
