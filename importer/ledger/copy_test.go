package ledger_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	do(t, l.Append(finished(jane("", "client"), "client", "x1", "")...))
	id := jane("m", "claim/c/1")
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim"}))
	events, err := ledger.Copy(t.Context(), path, backup)
	do(t, err)
	same(t, "events", events, int64(3))
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Failed, At: noon})) // the run goes on
	info, err := os.Stat(backup)
	do(t, err)
	same(t, "mode", info.Mode(), os.FileMode(0o600))
	b := open(t, backup)
	n, err := b.MarkInterrupted("r", noon)
	do(t, err)
	steps, err := b.Steps(t.Context(), id.ClientKey, "m")
	do(t, err)
	if n != 1 || steps[id.Step].To != ledger.Uncertain {
		t.Errorf("MarkInterrupted has found %d steps, and the step is %q", n, steps[id.Step].To)
	}
}

// TestCopyRefuses: nothing is replaced, nothing damaged is copied, and nothing is left
// behind.
func TestCopyRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "ledger.db")
	refused := func(what, to string, kind error) {
		t.Helper()
		before := entries(t, dir)
		_, err := ledger.Copy(t.Context(), path, to)
		if !errors.As(err, new(problem.Problem)) || kind != nil && !errors.Is(err, kind) {
			t.Errorf("%s: %v", what, err)
		}
		same(t, what+": files", entries(t, dir), before)
	}
	copied := filepath.Join(dir, "copy.db")
	refused("no ledger", copied, os.ErrNotExist)
	l := open(t, path)
	do(t, l.Append(finished(jane("", "client"), "client", "x1", "")...))
	do(t, l.Close())
	for _, suffix := range []string{"", "-wal"} {
		do(t, os.WriteFile(copied+suffix, []byte("mine"), 0o600))
		refused("a file that ends in "+suffix, copied, os.ErrExist)
		text, err := os.ReadFile(copied + suffix)
		do(t, err)
		same(t, "the file", string(text), "mine")
		do(t, os.Remove(copied+suffix))
	}
	refused("itself", path, os.ErrExist)
	refused("a folder that is not there", filepath.Join(dir, "none", "copy.db"), nil)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ledger.Copy(gone, path, copied); !errors.Is(err, context.Canceled) || errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("stopped: %v", err)
	}
	_, err := ledger.Copy(t.Context(), path, copied)
	do(t, err)
	do(t, os.Remove(copied))
	database(t, path, `DELETE FROM clients`)
	refused("a damaged ledger", copied, ledger.ErrDamaged)
}

// TestCopyIsPlacedWhole: a file that was made in the place of the copy, after Copy has
// looked, is not replaced; also on a file system without hard links.
func TestCopyIsPlacedWhole(t *testing.T) {
	for name, link := range map[string]func(from, to string) error{
		"links": os.Link,
		"no links": func(from, to string) error {
			return &os.LinkError{Op: "link", Old: from, New: to, Err: errors.ErrUnsupported}
		},
	} {
		t.Run(name, func(t *testing.T) {
			made, to := filepath.Join(t.TempDir(), "ledger.db"), filepath.Join(t.TempDir(), "copy.db")
			do(t, os.WriteFile(made, []byte("copy"), 0o600))
			do(t, os.WriteFile(to, []byte("mine"), 0o600))
			err := ledger.Place(made, to, link)
			if text, _ := os.ReadFile(to); !errors.Is(err, os.ErrExist) || string(text) != "mine" {
				t.Errorf("%v; the file is %q", err, text)
			}
			do(t, os.Remove(to))
			do(t, ledger.Place(made, to, link))
			same(t, "files", entries(t, filepath.Dir(to)), []string{filepath.Dir(to), to})
		})
	}
}

// TestCopyRemovesWhatKilledOnesLeft: half a copy is personal data, and nobody would
// look for it. A copy that another process makes just now stays, and so does what no
// copy makes.
func TestCopyRemovesWhatKilledOnesLeft(t *testing.T) {
	path, dir := closedLedger(t), t.TempDir()
	long := time.Now().Add(-2 * time.Hour)
	folder := func(name string, files map[string]time.Time) {
		t.Helper()
		do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		for file, written := range files {
			at := filepath.Join(dir, name, file)
			do(t, os.WriteFile(at, []byte("jane@example.com"), 0o600))
			do(t, os.Chtimes(at, written, written))
		}
		do(t, os.Chtimes(filepath.Join(dir, name), long, long))
	}
	folder(".ledger-copy-1", map[string]time.Time{"ledger.db": long, "ledger.db-journal": long})
	folder(".ledger-copy-2", nil)
	folder(".ledger-copy-3", map[string]time.Time{"ledger.db": time.Now()})
	folder(".ledger-copy-4", map[string]time.Time{"ledger.db": long, "notes.txt": long})
	folder("other", map[string]time.Time{"ledger.db": long})
	_, err := ledger.Copy(t.Context(), path, filepath.Join(dir, "copy.db"))
	do(t, err)
	want := []string{dir}
	for _, name := range []string{".ledger-copy-3", ".ledger-copy-3/ledger.db", ".ledger-copy-4", ".ledger-copy-4/notes.txt",
		"copy.db", "other", "other/ledger.db"} {
		want = append(want, filepath.Join(dir, name))
	}
	same(t, "files", entries(t, dir), want)
}

// entries are the files of a folder, its name and theirs, and of those in it.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	do(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}

// TestHalfWrittenLedger: a process was killed while it rewrote the file itself, so the
// journal lies beside it. A command that only reads lets SQLite roll it back under the
// lock, and so does a copy; while another process has the lock, that one does it.
func TestHalfWrittenLedger(t *testing.T) {
	source := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, source)
	ids := storySteps(longOr(200, 60))
	storied(t, l, ids)
	want, err := told(t, l, ids)
	do(t, err)
	do(t, l.Close())
	half := halfWritten(t, source)
	for what, read := range map[string]func(path string) (*ledger.Ledger, error){
		"to read":  ledger.OpenReadOnly,
		"to write": ledger.Open,
		"a copy": func(path string) (*ledger.Ledger, error) {
			if _, err := ledger.Copy(t.Context(), path, path+".copy"); err != nil {
				return nil, err
			}
			return ledger.OpenReadOnly(path + ".copy")
		},
		"a check": func(path string) (*ledger.Ledger, error) {
			if err := checked(t, path); err != nil {
				return nil, err
			}
			return ledger.OpenReadOnly(path)
		},
	} {
		path := half(t)
		l, err := read(path)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		got, err := told(t, l, ids)
		do(t, err)
		same(t, what, got, want)
		do(t, l.Close())
	}
	path := half(t)
	release, err := ledger.Lock(path)
	do(t, err)
	if l, err := ledger.OpenReadOnly(path); err == nil {
		t.Error("it was read while another process has the lock")
		l.Close()
	}
	release()
	l, err = ledger.OpenReadOnly(path)
	do(t, err)
	do(t, l.Close())
}

// halfWritten returns what makes copies of a closed ledger as a kill in the middle of a
// large transaction leaves it: some pages are new, and the old ones are in the journal.
func halfWritten(t *testing.T, source string) func(*testing.T) string {
	t.Helper()
	db, err := sql.Open("sqlite", source)
	do(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{`PRAGMA cache_size = 2`, `BEGIN IMMEDIATE`, `UPDATE steps SET reason = hex(zeroblob(500))`} {
		_, err := db.Exec(statement)
		do(t, err)
	}
	pages, err := os.ReadFile(source)
	do(t, err)
	journal, err := os.ReadFile(source + "-journal")
	do(t, err)
	_, err = db.Exec(`ROLLBACK`)
	do(t, err)
	return func(t *testing.T) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "ledger.db")
		do(t, os.WriteFile(path, pages, 0o600))
		do(t, os.WriteFile(path+"-journal", journal, 0o600))
		return path
	}
}
