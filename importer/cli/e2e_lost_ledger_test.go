package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestLedgerGoneAfterAKill: what a killed run leaves says whether there was a ledger: not where
// it was killed before it had made one.
func TestLedgerGoneAfterAKill(t *testing.T) {
	t.Parallel()
	t.Run("one was made", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, stepThree, leads(1))
		s.mustRun(0)
		write(t, s.path(".claimsheet/ledger.db.holder"), `{"pid":1}`)
		for _, name := range []string{".claimsheet/ledger.db", ".claimsheet/ledger.db-wal", ".claimsheet/ledger.db-shm", "leads.results.xlsx"} {
			if err := os.Remove(s.path(name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if p := s.mustRun(3); len(p.posts()) > 0 || !strings.Contains(p.err, "[ledger-missing]") {
			t.Errorf("created %v\n%s", p.posts(), p.err)
		}
	})
	t.Run("none was made", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, stepThree, leads(1))
		must(t, os.MkdirAll(s.path(".claimsheet"), 0o700))
		must(t, os.WriteFile(s.path(".claimsheet/ledger.db.lock"), nil, 0o600))
		s.mustRun(0)
	})
}
