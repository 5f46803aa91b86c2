package ledger_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// isDamaged reports whether a ledger was refused because it is not sound.
func isDamaged(err error) bool {
	p, _ := errors.AsType[problem.Problem](err)
	return p.Code == "ledger-damaged"
}

// TestDamagedLedger: a file that SQLite cannot read is refused when it is opened, and one
// whose rows contradict each other by Check, with what to do.
func TestDamagedLedger(t *testing.T) {
	t.Parallel()
	path := closedLedger(t)
	do(t, checked(t, path))
	refused := func(err error) {
		t.Helper()
		var p problem.Problem
		if !isDamaged(err) || !errors.As(err, &p) || !strings.Contains(p.Hint, "from a backup; or move it away, and rerun") {
			t.Errorf("got %v, want ledger-damaged with what to do", err)
		}
	}
	sound := must(os.ReadFile(path))(t)
	database(t, path, "DELETE FROM clients")
	refused(checked(t, path))
	for at := 100; at < 2*4096; at++ { // the schema, and the table after it
		sound[at] = 0xff
	}
	do(t, os.WriteFile(path, sound, 0o600))
	for _, open := range []func(string) (*ledger.Ledger, error){ledger.Open, ledger.OpenReadOnly} {
		_, err := open(path)
		refused(err)
	}
}

// checked is the result of Check.
func checked(t testing.TB, path string) error {
	t.Helper()
	l := must(ledger.OpenReadOnly(path))(t)
	defer l.Close()
	return l.Check(t.Context())
}
