package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// TestLock: one has the lock, and another is told which process. It ends with its process, as cli's tests show, which kill runs.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	release := must(ledger.Lock(path))(t)
	_, err := ledger.Lock(path)
	p, ok := errors.AsType[problem.Problem](err)
	if problem.ClassOf(err) != problem.Locked || !ok || p.Hint == "" || !strings.Contains(err.Error(), fmt.Sprintf("process %d, since 20", os.Getpid())) {
		t.Errorf("got %v, want a problem of the class Locked that names process %d", err, os.Getpid())
	}
	release()
	release()                                                                             // more than once is harmless
	if locked, err := safefile.NewLock(path + ".lock").TryLock(); !locked || err != nil { // as flock in a backup does
		t.Fatal(locked, err)
	}
	if _, err := ledger.Lock(path); problem.ClassOf(err) != problem.Locked || strings.Contains(err.Error(), "process ") {
		t.Errorf("got %v, want that no process is named", err)
	}
}

func TestLockWhereNoFolderCanBe(t *testing.T) {
	path := filepath.Join(closedLedger(t), "state", "ledger.db") // below a file
	var p problem.Problem
	if _, err := ledger.Lock(path); !errors.As(err, &p) || problem.ClassOf(err) == problem.Locked {
		t.Errorf("Lock: got %v, want a problem of another class than Locked", err)
	}
	if _, err := ledger.Open(path); !errors.As(err, &p) {
		t.Errorf("Open: got %v, want a problem", err)
	}
}

// TestWasOpened: a lock file says that there was a ledger once that is noted, and not because a
// process held the lock.
func TestWasOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	for _, opened := range []bool{false, true} {
		release := must(ledger.Lock(path))(t)
		same(t, "opened before", ledger.WasOpened(path), opened)
		do(t, ledger.NoteOpened(path))
		same(t, "opened", ledger.WasOpened(path), true)
		release()
	}
}
