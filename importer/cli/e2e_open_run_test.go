package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/reports"
)

// whileRunning runs a night and gives back the results workbook of the night
// before as it lay there when the first thing was created: what a kill and a
// lost disk would have left.
func (s *scene) whileRunning(flags ...string) []byte {
	s.t.Helper()
	var once sync.Once
	var left []byte
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" {
			once.Do(func() { left, _ = os.ReadFile(s.path("leads.results.xlsx")) })
		}
		return apitest.Fault{}
	})
	s.mustRun(0, flags...)
	s.service.Play(nil)
	if left == nil {
		s.t.Fatal("nothing was created")
	}
	return left
}

func (s *scene) asides() []string {
	found, err := filepath.Glob(s.path("leads.results-*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// TestAWorkbookOfBeforeALostRun: a run was killed and its ledger is lost. The workbook
// of the night before says that a later run began; what that run created is unknown.
func TestAWorkbookOfBeforeALostRun(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, []string{"killed"}, bothOrders, func(t *testing.T, v variant) {
		s := newScene(t, stepThree, leads(2))
		s.mustRun(0)
		s.saveState("backup")
		newcomers := [][]any{lead(8, "A-8"), lead(9, "A-9")}
		s.sheet(append(leads(2), newcomers...))
		if v.order == "above" {
			s.sheet(append(newcomers, leads(2)...))
		}
		v.doubt(s, "claim c8@example.com/Loan A-8")
		if found := s.asides(); len(found) > 0 {
			t.Errorf("a workbook that nobody edited was kept aside: %q", found)
		}
		if v.odd { // the ledger is of the night before, else gone
			s.restoreState("backup")
		} else {
			s.restoreState("")
		}
		left, err := os.ReadFile(s.path("leads.results.xlsx"))
		must(t, err)
		write(t, s.path("copied.xlsx"), string(left))
		before := len(s.service.Calls())
		for _, book := range []string{"leads.results.xlsx", "copied.xlsx"} {
			for _, flags := range [][]string{v.flags("--yes"), {"--yes", "--dry-run"}, {"--yes", "--accept", "new-ledger"}} {
				code, said := s.rerun(append(flags, book)...)
				if code != 3 || !strings.Contains(said, "--accept lost-run") {
					t.Errorf("rerun %q: exit code %d\n%s", flags, code, said)
				}
			}
		}
		for _, flags := range [][]string{{"--dry-run"}, v.flags()} {
			s.mustRun(3, flags...)
		}
		if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
			t.Errorf("something was sent\n%s", transcript(calls))
		}
		if code, said := s.rerun("--yes", "--accept", "lost-run", "leads.results.xlsx"); code != 0 {
			t.Errorf("rerun --accept lost-run: exit code %d\n%s", code, said)
		}
	})
}

// TestAWorkbookOfBeforeAKilledRun: where the ledger is there, it knows what the
// killed run made.
func TestAWorkbookOfBeforeAKilledRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.mustRun(0)
	s.sheet(append(leads(2), lead(9, "A-9")))
	left := s.whileRunning()
	write(t, s.path("leads.results.xlsx"), string(left))
	before := len(s.service.Calls())
	if code, said := s.rerun("leads.results.xlsx"); code != 0 {
		t.Errorf("exit code %d\n%s", code, said)
	}
	s.mustRun(0)
	if calls := s.service.Calls()[before:]; postsTo(calls) > 0 {
		t.Errorf("something was sent\n%s", transcript(calls))
	}
	write(t, s.path("left.xlsx"), string(left))
	for book, open := range map[string]bool{"left.xlsx": true, "leads.results.xlsx": false} {
		if property, _, err := reports.IsOurs(s.path(book)); err != nil || (property["claimsheet.next-run"] != "") != open {
			t.Errorf("%s: %v, %v", book, property, err)
		}
	}
}
