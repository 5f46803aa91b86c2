package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
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
