package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

// TestBackupBesideAnotherLog: a closed backup beside the log of a killed run is
// refused, with the steps that help, and opens when the log was moved away.
func TestBackupBesideAnotherLog(t *testing.T) {
	t.Parallel()
	testform.OnlyLong(t)
	dir, killed := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	l := open(t, path)
	clients := func(from, to int) {
		for i := from; i < to; i++ {
			do(t, l.Append(finished(of(fmt.Sprintf("client-%04d@example.com", i), "", "client"), fmt.Sprint("id-", i), "")...))
		}
	}
	clients(0, 100)
	do(t, l.Close())
	copyLedger(t, dir, killed, "ledger.db")
	l = open(t, path)
	clients(100, 1300) // SQLite folds the log into the file meanwhile
	copyLedger(t, dir, killed, "ledger.db-wal")
	do(t, l.Close())

	path = filepath.Join(killed, "ledger.db")
	before := listing(t, killed)
	for how, open := range map[string]func(string) (*ledger.Ledger, error){"Open": ledger.Open, "OpenReadOnly": ledger.OpenReadOnly} {
		l, err := open(path)
		var p problem.Problem
		if !errors.Is(err, ledger.ErrDamaged) || !errors.As(err, &p) || !strings.Contains(p.Hint, "move ledger.db-wal and ledger.db-shm") {
			t.Errorf("%s: got %v, %v; want ErrDamaged with a hint to move the log", how, l, err)
		}
	}
	same(t, "the folder afterwards", listing(t, killed), before)

	do(t, os.Rename(path+"-wal", path+"-wal-away"))
	known, err := open(t, path).KnownClients(t.Context(), jane("", "client").Environment, 1000)
	do(t, err)
	same(t, "clients of the backup", known, 100)
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
		if !errors.Is(err, ledger.ErrDamaged) || !errors.As(err, &p) || !strings.Contains(p.Hint, "from a backup; or move it away, and rerun") {
			t.Errorf("got %v, want ErrDamaged with what to do", err)
		}
	}
	sound, err := os.ReadFile(path)
	do(t, err)
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
	l, err := ledger.OpenReadOnly(path)
	do(t, err)
	defer l.Close()
	return l.Check(t.Context())
}
