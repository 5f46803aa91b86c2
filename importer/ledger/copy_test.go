package ledger_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// TestCopyOfOpenLedger: a ledger can be copied while it is open. What was an intent
// then is found in the copy, too, and the copy can take the place of any ledger.
func TestCopyOfOpenLedger(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "state", "ledger.db"), filepath.Join(dir, "backup.db")
	l := open(t, path)
	release, err := ledger.Lock(path) // as a run that goes on
	do(t, err)
	defer release()
	do(t, l.Append(finished(jane("", "client"), "x1", "")...))
	id := jane("m", "claim/c/1")
	do(t, l.Append(ledger.Event{StepID: id, State: ledger.Sent, At: noon, Kind: "claim"}))
	same(t, "steps", must(copied(t.Context(), path, backup))(t), 2)
	do(t, l.Append(ledger.Event{StepID: id, State: ledger.Refused, At: noon})) // the run goes on
	info := must(os.Stat(backup))(t)
	same(t, "mode", info.Mode(), os.FileMode(0o600))
	b := open(t, backup)
	steps := must(b.Steps(t.Context(), id.ClientKey, "m"))(t)
	same(t, "the step in the copy", steps[id.Step].State, ledger.Uncertain)
}

// TestCopyRefuses: nothing is replaced, nothing damaged is copied, and nothing is left
// behind.
func TestCopyRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "ledger.db")
	refused := func(what, to string, kind error) error {
		t.Helper()
		before := listing(t, dir)
		_, err := copied(t.Context(), path, to)
		if !errors.As(err, new(problem.Problem)) || kind != nil && !errors.Is(err, kind) {
			t.Errorf("%s: %v", what, err)
		}
		same(t, what+": files", listing(t, dir), before)
		return err
	}
	target := filepath.Join(dir, "copy.db")
	l := open(t, path)
	do(t, l.Append(finished(jane("", "client"), "x1", "")...))
	do(t, l.Close())
	do(t, os.WriteFile(target, []byte("mine"), 0o600))
	refused("a file", target, os.ErrExist)
	text := must(os.ReadFile(target))(t)
	same(t, "the file", string(text), "mine")
	do(t, os.Remove(target))
	refused("itself", path, os.ErrExist)
	refused("a folder that is not there", filepath.Join(dir, "none", "copy.db"), nil)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := copied(gone, path, target); !errors.Is(err, context.Canceled) || isDamaged(err) {
		t.Errorf("stopped: %v", err)
	}
	must(copied(t.Context(), path, target))(t)
	do(t, os.Remove(target))
	database(t, path, `DELETE FROM clients`)
	if err := refused("a damaged ledger", target, nil); !isDamaged(err) {
		t.Errorf("a damaged ledger: %v", err)
	}
}

// copied copies the ledger at path to a new file.
func copied(ctx context.Context, path, to string) (steps int, err error) {
	l, err := ledger.OpenReadOnly(path)
	if err != nil {
		return 0, err
	}
	steps, err = ledger.Save(ctx, l, to)
	return steps, errors.Join(err, l.Close())
}

// TestHalfWrittenLedger: a process was killed in the middle of a large transaction that rewrote the file itself: some
// pages are new, and the old ones are in the journal beside it. SQLite rolls it back, also for a command that only reads.
func TestHalfWrittenLedger(t *testing.T) {
	source := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, source)
	for i := range 300 {
		do(t, l.Append(finished(jane("m", fmt.Sprint("claim/c/", i)), fmt.Sprint(i), "")...))
	}
	steps := func(l *ledger.Ledger) map[string]ledger.Step {
		return must(l.Steps(t.Context(), jane("", "").ClientKey, "m"))(t)
	}
	want := steps(l)
	do(t, l.Close())
	db := must(sql.Open("sqlite", source))(t)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{`PRAGMA cache_size = 2`, `BEGIN IMMEDIATE`, `UPDATE steps SET reason = hex(zeroblob(500))`} {
		must(db.Exec(statement))(t)
	}
	for what, read := range map[string]func(path string) (*ledger.Ledger, error){"to read": ledger.OpenReadOnly, "to write": ledger.Open} {
		killed := t.TempDir()
		copyLedger(t, filepath.Dir(source), killed, "ledger.db", "ledger.db-journal")
		l := must(read(filepath.Join(killed, "ledger.db")))(t)
		same(t, what, steps(l), want)
		do(t, l.Close())
	}
}
