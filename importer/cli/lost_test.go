package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger"
)

// ledgerIsLost takes the ledger away while the first client is created, and has the run end. The function that it
// returns puts the ledger back.
func (s *scene) ledgerIsLost() (said string, putBack func()) {
	s.t.Helper()
	path := s.path(".claimsheet/ledger.db")
	s.service.Play(apitest.Once(onStep("client c1@example.com"), apitest.Fault{Then: func() {
		if err := os.Rename(path, path+".away"); err != nil {
			s.t.Error(err)
		}
	}}))
	p := s.mustRun(3, "--concurrency", "1")
	if posts := p.posts(); posts["client"] != 1 || len(posts) != 1 {
		s.t.Errorf("%v were sent, want one client", posts)
	}
	s.service.Play(nil)
	return p.err, func() { must(s.t, os.Rename(path+".away", path)) }
}

func (s *scene) journals() []string {
	found, err := filepath.Glob(s.path(".claimsheet/*.outcomes"))
	must(s.t, err)
	return found
}

// TestLedgerLostUnderARun takes the ledger away while a request is in flight: the run sends nothing more, its id goes
// to the journal, and the next run takes it up and does the rest. Nothing is created twice.
func TestLedgerLostUnderARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, creating, leads(2))
	said, putBack := s.ledgerIsLost()
	if !strings.Contains(said, `client created, id "`+s.service.Created()["client c1@example.com"][0].ID+`"`) || strings.Contains(said, "c1@example.com") {
		t.Errorf("stderr is %q, want the id and no key", said)
	}
	putBack()
	for range 2 { // a dry run changes nothing
		if p := s.mustRun(3, "--dry-run"); !strings.Contains(p.err, "1 outcomes in the journal") {
			t.Errorf("stderr is %q, want it to tell of the outcome to be taken up", p.err)
		}
	}
	if p := s.mustRun(0); !strings.Contains(p.err, "had to keep in its journal: 1") {
		t.Errorf("stderr is %q, want it to tell of the outcome taken up", p.err)
	}
	s.mustRun(0, "--dry-run")
	s.mustRun(0)
	s.checkMadeOnce()
	if made, left := s.service.Created(), s.journals(); len(made) != 4 || len(left) > 0 {
		t.Errorf("%v were created, and the journals %v are left", made, left)
	}
}

// copiedInTheMiddle runs with flags, and leaves the ledger as it was in the middle of the run.
func (s *scene) copiedInTheMiddle(flags ...string) {
	s.t.Helper()
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "claim" {
			once.Do(func() { s.must(0, "copy-ledger", "--to", s.path("middle.db")) })
		}
		return apitest.Fault{}
	})
	s.mustRun(0, flags...)
	s.service.Play(nil)
	s.restoreState("")
	must(s.t, os.Mkdir(s.path(".claimsheet"), 0o700))
	must(s.t, os.Rename(s.path("middle.db"), s.path(".claimsheet/ledger.db")))
}

// TestLedgerFromTheMiddleOfARun: the ledger was copied while a run worked, and put back after the run had ended. It
// knows that the run began; its workbook says what came after. Where that has a name of its own, the workbook before is
// not enough.
func TestLedgerFromTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, book := range []string{"leads.results.xlsx", "second.xlsx"} {
		s := newScene(t, stepThree, leads(2))
		s.mustRun(0)
		s.sheet(leads(5))
		s.copiedInTheMiddle("-o", s.path(book))
		s.mustRun(3, "--dry-run")
		p := s.mustRun(3)
		if book == "second.xlsx" {
			expect(t, p.err, "[lost-run]", s.path(book))
			if p = s.rerun("--yes", "leads.results.xlsx"); p.code != 3 || !strings.Contains(p.err, "[lost-run]") {
				t.Fatalf("rerun: exit code %d\n%s", p.code, p.err)
			}
			p = s.rerun("--yes", "leads.results.xlsx", book)
		} else {
			if p = claimsheet(t, advised(t, p.err)...); p.code != 3 || !strings.Contains(p.err, "--yes") {
				t.Fatalf("the advised command: exit code %d\n%s", p.code, p.err)
			}
			p = claimsheet(t, advised(t, p.err)...)
		}
		if p.code != 0 {
			t.Fatalf("the command that it advises: exit code %d\n%s", p.code, p.err)
		}
		s.since()
		if p := s.mustRun(0); p.summary.Rows.Unchanged != 5 || len(p.posts()) > 0 {
			t.Errorf("rows %+v\n%s", p.summary.Rows, transcript(p.calls))
		}
		s.checkPromise()
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

// TestFirstRunsTogether: a run that begins with nothing makes its folders although others that give up make and remove
// them meanwhile.
func TestFirstRunsTogether(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	beside := func(state string, do func()) {
		done := make(chan struct{})
		var busy sync.WaitGroup
		busy.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				_ = os.MkdirAll(filepath.Join(state, "inputs"), 0o700)
				for _, dir := range []string{filepath.Join(state, "inputs"), state, filepath.Dir(state)} {
					_ = os.Remove(dir) // stays when something is in it
				}
			}
		})
		do()
		close(done)
		busy.Wait()
	}
	for i := range longOr(10, 2) {
		state := s.path(fmt.Sprintf("above%d/state", i))
		beside(state, func() { s.mustRun(3, "--state", state, "--min-rows", "99") })
	}
	for i := range longOr(50, 10) {
		state := s.path(fmt.Sprintf("locks%d/state", i))
		beside(state, func() {
			release, err := ledger.Lock(filepath.Join(state, "ledger.db"))
			must(t, err)
			release()
		})
	}
}
