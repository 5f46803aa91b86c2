package ledger_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// closedLedger is the path of a ledger with one step, at rest.
func closedLedger(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	do(t, l.Append(story(jane("", "client"))...))
	do(t, l.Close())
	return path
}

// database runs SQL on a file, as another program would.
func database(t testing.TB, path string, statements ...string) {
	t.Helper()
	db := must(sql.Open("sqlite", path))(t)
	for _, s := range statements {
		must(db.Exec(s))(t)
	}
	do(t, db.Close())
}

func TestOpenRefuses(t *testing.T) {
	files := func(texts ...string) func(*testing.T, string) { // of the ledger, and of its log
		return func(t *testing.T, path string) {
			for i, text := range texts {
				do(t, os.WriteFile(path+[]string{"", "-wal"}[i], []byte(text), 0o600))
			}
		}
	}
	closed := func(change func(t *testing.T, path string)) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			do(t, os.Rename(closedLedger(t), path))
			change(t, path)
		}
	}
	tests := []struct {
		name    string
		make    func(t *testing.T, path string)
		damaged bool
		says    string
	}{
		{"garbage", files(strings.Repeat("garbage ", 1000)), true, "not a ledger"},
		{"a few bytes", files("SQLite format 3\x00"), true, "not a ledger"},
		{"an empty file", files(""), true, "0 bytes"},
		{"an empty file beside a log", files("", "log"), true, "0 bytes"},
		{"a log without its ledger", func(t *testing.T, path string) { do(t, os.WriteFile(path+"-wal", []byte("log"), 0o600)) }, true, "missing"},
		{"a closed backup beside the log of a killed run", closed(func(t *testing.T, path string) { do(t, os.WriteFile(path+"-wal", []byte("log"), 0o600)) }),
			true, "move ledger.db-wal and ledger.db-shm to another folder"},
		{"another program's database", func(t *testing.T, path string) { database(t, path, "CREATE TABLE t (x)") }, true, "not a ledger of Claimsheet"},
		{"another version", closed(func(t *testing.T, path string) { database(t, path, "PRAGMA user_version = 99") }), false, "made by another version of Claimsheet"},
		{"a folder", func(t *testing.T, path string) { do(t, os.Mkdir(path, 0o700)) }, false, "a folder"},
		{"a symbolic link", func(t *testing.T, path string) {
			if err := os.Symlink(closedLedger(t), path); err != nil {
				t.Skip(err)
			}
		}, false, "symbolic link"},
		{"the second half missing", closed(func(t *testing.T, path string) { do(t, os.Truncate(path, must(os.Stat(path))(t).Size()/2)) }), true, "ledger"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			test.make(t, path)
			before := listing(t, filepath.Dir(path))
			for how, open := range map[string]func(string) (*ledger.Ledger, error){"Open": ledger.Open, "OpenReadOnly": ledger.OpenReadOnly} {
				l, err := open(path)
				if err == nil {
					l.Close()
					t.Fatalf("%s: opened", how)
				}
				var p problem.Problem
				if !errors.As(err, &p) || p.Code == "" || p.Hint == "" || !strings.Contains(err.Error()+p.Hint, test.says) {
					t.Errorf("%s: got %v, want a problem with a hint, which say %q", how, err, test.says)
				}
				same(t, how+": damaged", isDamaged(err), test.damaged)
			}
			same(t, "the folder afterwards", listing(t, filepath.Dir(path)), before)
		})
	}
}

// listing is a folder and what is in it: names, and the contents of files.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		files[path] = ""
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			files[path] = string(text)
		}
		return err
	}))
	return files
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "a b%23#?", "state") // and no trouble with names that a URI would misread
	l := open(t, filepath.Join(dir, "ledger.db"))
	do(t, l.Append(story(jane("", "client"))...))
	modes := map[string]fs.FileMode{}
	do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			modes[d.Name()] = info.Mode()
		}
		return err
	}))
	same(t, "modes", modes, map[string]fs.FileMode{
		"state": fs.ModeDir | 0o700, "ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600})
	do(t, l.Close())
	same(t, "the folder and its only file at rest", len(listing(t, dir)), 2)
}

// A dry run looks at the ledger of a run that was killed, and must leave the
// log as it is.
func TestReadOnlyChangesNothing(t *testing.T) {
	atRest := closedLedger(t)
	killed := filepath.Join(t.TempDir(), "ledger.db")
	dir := t.TempDir()
	l := open(t, filepath.Join(dir, "ledger.db"))
	do(t, l.Append(story(jane("", "client"))...))
	copyLedger(t, dir, filepath.Dir(killed), "ledger.db", "ledger.db-wal", "ledger.db-shm")
	missing := filepath.Join(t.TempDir(), "state", "ledger.db")
	files := func(path string) map[string]string {
		all := listing(t, filepath.Dir(filepath.Dir(path)))
		delete(all, path+"-shm") // the index of the log
		return all
	}
	for path, want := range map[string][]ledger.Event{atRest: story(jane("", "client")), killed: story(jane("", "client")), missing: nil} {
		before := files(path)
		r := must(ledger.OpenReadOnly(path))(t)
		same(t, "events", must(r.Events(t.Context(), jane("", "client")))(t), want)
		do(t, r.Close())
		same(t, "files", files(path), before)
	}
}

// TestReaderBesideAWriter: a reader neither keeps a ledger from being opened and closed, nor what is
// read from standing as it did when reading began.
func TestReaderBesideAWriter(t *testing.T) {
	t.Parallel() // closing waits for readers
	path := closedLedger(t)
	r := must(ledger.OpenReadOnly(path))(t)
	defer r.Close()
	l := open(t, path)
	startRuns(t, l, func(*ledger.Run) {}, "r1", "r2", "r3")
	for range must(r.Runs(t.Context(), []string{service}))(t) {
		startRuns(t, l, func(*ledger.Run) {}, fmt.Sprint("later ", len(must(r.Runs(t.Context(), []string{service}))(t))))
	}
	same(t, "runs while it is open", len(must(r.Runs(t.Context(), []string{service}))(t)), 6)
	do(t, l.Close())
	same(t, "runs afterwards", len(must(r.Runs(t.Context(), []string{service}))(t)), 6)
}
