package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// ledgerIsLost takes the ledger away while the first client is created, and has the run end. The function that it returns puts the
// ledger back.
func (s *scene) ledgerIsLost() (said string, putBack func()) {
	s.t.Helper()
	ledger := s.path(".claimsheet/ledger.db")
	s.service.Play(apitest.Once(onStep("client c1@example.com"), apitest.Fault{Then: func() {
		if err := os.Rename(ledger, ledger+".away"); err != nil {
			s.t.Error(err)
		}
	}}))
	p := s.mustRun(3, "--concurrency", "1")
	if posts := p.posts(); posts["client"] != 1 || len(posts) != 1 {
		s.t.Errorf("%v were sent, want one client", posts)
	}
	s.service.Play(nil)
	return p.err, func() { must(s.t, os.Rename(ledger+".away", ledger)) }
}

func (s *scene) journals() []string {
	found, err := filepath.Glob(s.path(".claimsheet/journal-*.jsonl"))
	must(s.t, err)
	return found
}

// TestLedgerLostUnderARun takes the ledger away while a request is in flight:
// the run sends nothing more, its id goes to the journal, and the next
// run takes it up and does the rest. Nothing is created twice.
func TestLedgerLostUnderARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, creating, leads(2))
	said, putBack := s.ledgerIsLost()
	if !strings.Contains(said, `client created, id "`+s.service.Created()["client c1@example.com"][0].ID+`"`) || strings.Contains(said, "c1@example.com") {
		t.Errorf("stderr is %q, want the id and no key", said)
	}
	putBack()
	for range 2 { // a dry run changes nothing
		if p := s.mustRun(3, "--dry-run"); !strings.Contains(p.err, "1 outcomes in the journals") {
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

// TestAnotherIDIsShown: a journal says that the service has created a client with another id than
// the ledger has. The command that records it says so, the client's row is uncertain, with both
// ids, and a decision settles it.
func TestAnotherIDIsShown(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, creating, leads(1))
	other := s.service.AddClient("other", "other@example.com", "")
	_, putBack := s.ledgerIsLost()
	putBack()
	kept := s.journals()
	if len(kept) != 1 {
		t.Fatalf("journals %v", kept)
	}
	must(t, os.Rename(kept[0], kept[0]+".away"))
	s.settle("--created", other, "c1@example.com:client")
	must(t, os.Rename(kept[0]+".away", kept[0]))
	s.mustRun(3, "--dry-run")
	if p := s.mustRun(4); !strings.Contains(p.err, "journal-conflict") || strings.Contains(p.out+p.err, "c1@example.com") {
		t.Errorf("the run says %s%s, want the conflict and no key", p.out, p.err)
	}
	for _, words := range [][]string{{"settle"}, {"history", "c1@example.com"}} {
		_, out, _ := s.claimsheet(append(words[:1:1], append([]string{"--environments", s.path("environments.yaml")}, words[1:]...)...)...)
		if !strings.Contains(out, s.service.Created()["client c1@example.com"][0].ID) || !strings.Contains(out, other) {
			t.Errorf("it shows %s, want both ids", out)
		}
	}
	s.settle("--created", other, "c1@example.com:client")
	if s.run(); len(s.journals()) > 0 {
		t.Errorf("journals %v are left", s.journals())
	}
}
