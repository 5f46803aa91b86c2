package cli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestADamagedLedgerIsFound: doctor refuses a ledger in which a byte has changed, and no
// command takes a ledger that is gone for a new one.
func TestADamagedLedgerIsFound(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	place := []string{"--environments", s.path("environments.yaml")}
	s.mustRun(0)
	path := s.path(".claimsheet/ledger.db")
	data, err := os.ReadFile(path)
	must(t, err)
	data[bytes.Index(data, []byte("c2@example.com"))] = 'd'
	must(t, os.WriteFile(path, data, 0o600))
	if code, out, said := s.claimsheet(append([]string{"doctor"}, place...)...); code != 3 || !strings.Contains(said, "[ledger-damaged]") {
		t.Errorf("a changed byte: exit code %d\n%s%s", code, out, said)
	}
	must(t, os.Remove(path))
	for _, command := range [][]string{{"history"}, {"report"}, {"settle"}, {"copy-ledger", "--to", s.path("copy.db")}} {
		if code, out, said := s.claimsheet(append(command, place...)...); code != 3 || !strings.Contains(said, "[ledger-missing]") || strings.Contains(out+said, "nothing was ever run") {
			t.Errorf("%q without a ledger: exit code %d\n%s%s", command, code, out, said)
		}
	}
	for _, words := range [][]string{{}, {"a.db"}, {"--to", "a.db", "b.db"}} {
		if code, out, said := s.claimsheet(append([]string{"copy-ledger"}, words...)...); code != 2 {
			t.Errorf("%q: exit code %d\n%s%s", words, code, out, said)
		}
	}
}
