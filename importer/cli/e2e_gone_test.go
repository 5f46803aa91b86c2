package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestARunWithoutItsLedger: the ledger is gone, and the file with which it was locked says
// that there was one. A run makes no new one in its place unless that is meant; the sandbox
// may lose its own.
func TestARunWithoutItsLedger(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, creating, leads(2))
	s.mustRun(0)
	path := s.path(".claimsheet/ledger.db")
	must(t, os.Remove(path))
	must(t, os.Remove(s.path("leads.results.xlsx")))
	for _, flags := range [][]string{{"--dry-run"}, nil, nil} {
		if p := s.mustRun(3, flags...); !strings.Contains(p.err, "[ledger-missing]") || len(p.posts()) > 0 {
			t.Errorf("%q: created %v\n%s", flags, p.posts(), p.err)
		}
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("a new ledger is there: %v", err)
	}
	if p := s.mustRun(0, "--accept", "ledger-missing"); p.posts()["client"] != 2 {
		t.Errorf("created %v", p.posts())
	}
	s = newScene(t, creating, leads(2))
	s.mustRun(0, "-e", "sandbox")
	must(t, os.Remove(s.path(".claimsheet/sandbox/ledger.db")))
	s.mustRun(0, "-e", "sandbox")
}
