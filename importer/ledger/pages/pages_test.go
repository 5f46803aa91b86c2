package pages_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"claimsheet/importer/ledger/pages"
)

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// exec executes statements on the file at path, guarded by sums if there are any.
func exec(t testing.TB, path string, sums *pages.Sums, statements ...string) error {
	t.Helper()
	name := "file:" + path
	if sums != nil {
		parameters, release, err := sums.Guard(true)
		do(t, err)
		defer release()
		name += "?" + parameters
	}
	db, err := sql.Open("sqlite", name)
	do(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	return nil
}

// file makes an SQLite file with some pages of text.
func file(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file.db")
	do(t, exec(t, path, nil, "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)", `
		INSERT INTO t SELECT value, hex(randomblob(1000)) FROM (WITH RECURSIVE n(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 50) SELECT value FROM n)`))
	return path
}

// fitting encodes sums, and returns what Fitting says of them and the file at path, when
// change has changed either.
func fitting(t *testing.T, path string, sums *pages.Sums, change func(encoded []byte) []byte) (*pages.Sums, bool) {
	t.Helper()
	info, err := os.Stat(path)
	do(t, err)
	encoded := change(sums.Encode(info))
	f, err := os.Open(path)
	do(t, err)
	defer f.Close()
	return pages.Fitting(f, encoded)
}

// flip changes one bit of the file at path, which keeps its time.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	info, err := os.Stat(path)
	do(t, err)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	do(t, err)
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	do(t, err)
	b[0] ^= 4
	_, err = f.WriteAt(b, at)
	do(t, errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, info.ModTime())))
}

// TestGuarded: what was written through the guard, in every way in which SQLite writes a
// file, has the sums that the file has when it is read again, and a bit that changes
// afterwards is found.
func TestGuarded(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"without a log": {"UPDATE t SET text = upper(hex(text))"},
		"with a log":    {"PRAGMA journal_mode = WAL", "UPDATE t SET text = hex(text) WHERE id % 3 = 0", "PRAGMA journal_mode = DELETE"},
		"cut":           {"DELETE FROM t WHERE id > 5", "VACUUM"},
		"rolled back":   {"PRAGMA cache_size = 2", "BEGIN", "UPDATE t SET text = hex(text)", "ROLLBACK"},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			sums, err := pages.Of(path)
			do(t, err)
			do(t, exec(t, path, sums, statements...))
			again, err := pages.Of(path)
			do(t, err)
			info, err := os.Stat(path)
			do(t, err)
			if got, want := sums.Encode(info), again.Encode(info); string(got) != string(want) {
				t.Error("the sums are not those of the file")
			}
			do(t, exec(t, path, sums, "SELECT sum(length(text)) FROM t"))
			flip(t, path, info.Size()-100)
			err = exec(t, path, sums, "SELECT sum(length(text)) FROM t")
			if s, ok := errors.AsType[*sqlite.Error](err); !ok || s.Code() != sqlite3.SQLITE_CORRUPT {
				t.Errorf("a flipped bit: got %v; want SQLITE_CORRUPT", err)
			}
		})
	}
}

// TestWrittenByAnother: a file that others may write is believed when another process has
// written it since it was opened.
func TestWrittenByAnother(t *testing.T) {
	t.Parallel()
	path := file(t)
	sums, ok := fitting(t, path, sumsOf(t, path), func(encoded []byte) []byte { return encoded })
	if !ok {
		t.Fatal("the sums do not fit their file")
	}
	parameters, release, err := sums.Guard(false)
	do(t, err)
	defer release()
	db, err := sql.Open("sqlite", "file:"+path+"?"+parameters)
	do(t, err)
	defer db.Close()
	sum := func() (n int, err error) { return n, db.QueryRow("SELECT sum(length(text)) FROM t").Scan(&n) }
	before, err := sum()
	do(t, err)
	do(t, exec(t, path, nil, "UPDATE t SET text = text || 'xxx'"))
	after, err := sum()
	if err != nil || after <= before {
		t.Errorf("got %d after %d, and %v", after, before, err)
	}
}

func sumsOf(t *testing.T, path string) *pages.Sums {
	t.Helper()
	sums, err := pages.Of(path)
	do(t, err)
	return sums
}

// TestFitting: sums fit the file that they are of, and no other, and not when they are
// damaged themselves.
func TestFitting(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		change func(path string, encoded []byte) []byte
		fits   bool
	}{
		"nothing":      {func(_ string, encoded []byte) []byte { return encoded }, true},
		"a later page": {func(path string, encoded []byte) []byte { flip(t, path, 5000); return encoded }, true},
		"the first":    {func(path string, encoded []byte) []byte { flip(t, path, 50); return encoded }, false},
		"the sums":     {func(_ string, encoded []byte) []byte { encoded[60] ^= 1; return encoded }, false},
		"their end":    {func(_ string, encoded []byte) []byte { return encoded[:len(encoded)-4] }, false},
		"all of them":  {func(string, []byte) []byte { return nil }, false},
		"those of old": {func(string, []byte) []byte { return []byte("12288 00000000\n") }, false},
		"the time": {func(path string, encoded []byte) []byte {
			do(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
			return encoded
		}, false},
		"the size": {func(path string, encoded []byte) []byte { do(t, os.Truncate(path, 8192)); return encoded }, false},
		"a transaction": {func(path string, encoded []byte) []byte {
			do(t, exec(t, path, nil, "DELETE FROM t WHERE id = 7"))
			return encoded
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			if _, ok := fitting(t, path, sumsOf(t, path), func(encoded []byte) []byte { return change.change(path, encoded) }); ok != change.fits {
				t.Errorf("fits: %v, want %v", ok, change.fits)
			}
		})
	}
}

// TestNoFile: what is not an SQLite file has no sums.
func TestNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.db")
	do(t, os.WriteFile(path, []byte(strings.Repeat("\x00", 300)), 0o600))
	for _, p := range []string{path, path + "-none", filepath.Dir(path)} {
		if _, err := pages.Of(p); err == nil {
			t.Errorf("%s has sums", p)
		}
	}
}
