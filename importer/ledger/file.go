package ledger

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"claimsheet/importer/safefile"
)

//go:embed schema.sql
var firstSchema string

//go:embed schema_2.sql
var secondSchema string

// schemas are what leads from each version to the next, the first from nothing.
// A version that was released is never changed.
var schemas = []string{firstSchema, secondSchema}

// schemaVersion is the version that this Claimsheet writes.
var schemaVersion = len(schemas)

// schemaOfVersion makes a ledger of a version.
func schemaOfVersion(version int) string { return strings.Join(schemas[:version], "\n") }

// The marks that schema.sql sets, and where SQLite keeps the first of them.
const (
	applicationID   = 0x434C414D
	applicationIDAt = 68
	magic           = "SQLite format 3\x00"
	headerSize      = 100
)

// inspect looks at the file before SQLite does, because SQLite would take an
// empty file for a new database, and replay a log that lies beside it. exists
// is false when there is no file; every other error is a refusal.
func inspect(path string) (exists bool, err error) {
	log, err := os.Lstat(path + "-wal")
	hasLog := err == nil && log.Size() > 0
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && hasLog:
		return false, damaged(path, "the ledger is missing, but its write-ahead log %s is there", filepath.Base(path)+"-wal")
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, unusable(path, "Make the file readable for this user.", err, "the ledger cannot be looked at: %v", bare(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return false, unusable(path, "Name the folder that really holds the ledger with --state.", nil,
			"the ledger is a symbolic link; a plain file is expected, because a link can be turned to another ledger between two runs")
	case !info.Mode().IsRegular():
		return false, unusable(path, "Move it away, or name another folder with --state.", nil,
			"a plain file is expected for the ledger, but this is %s", safefile.Kind(info))
	case info.Size() == 0:
		return false, damaged(path, "the ledger is empty (0 bytes); even a new one is not")
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := safefile.Owner(path + suffix); err != nil {
			return false, err
		}
	}
	return true, inspectHeader(path)
}

// inspectHeader refuses what is not a ledger of ours.
func inspectHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return unusable(path, "Make the file readable for this user.", err, "the ledger cannot be opened: %v", bare(err))
	}
	defer f.Close()
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(f, header); err != nil || string(header[:len(magic)]) != magic {
		return damaged(path, "this is not a ledger: it does not begin as an SQLite database does")
	}
	if id := binary.BigEndian.Uint32(header[applicationIDAt:]); id != applicationID {
		return damaged(path, "this is an SQLite database, but not a ledger of Claimsheet (application id %#x, expected %#x)", id, applicationID)
	}
	return nil
}

// create makes an empty ledger. It is finished beside path and then put in
// place, so that path never holds half a ledger, and never replaces one that
// another process has made meanwhile.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusable(path, "Name a folder that this user may write to with --state.", err, "the ledger's folder cannot be made: %v", bare(err))
	}
	temp, err := os.CreateTemp(dir, ".new-ledger-*") // 0600
	if err != nil {
		return unusable(path, "Let this user write to the folder, or name another one with --state.", err, "a ledger cannot be made here: %v", bare(err))
	}
	defer os.Remove(temp.Name())
	if err := errors.Join(temp.Close(), initialise(temp.Name())); err != nil {
		return unusable(path, "See that the disk has room and may be written to.", err, "a ledger cannot be made here: %v", bare(err))
	}
	err = os.Link(temp.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(temp.Name(), path) // a file system without hard links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return unusable(path, "Let this user write to the folder, or name another one with --state.", err, "a ledger cannot be made here: %v", bare(err))
	}
	// The names of the file and of its folder must survive a power loss too.
	return errors.Join(syncFolder(dir), syncFolder(filepath.Dir(dir)))
}

// initialise writes the schema into an empty file, durably.
func initialise(path string) error {
	db, err := connect(dsn(path, "rw", "synchronous(FULL)", "fullfsync(1)"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), "BEGIN; "+schemaOfVersion(schemaVersion)+" COMMIT;")
	return errors.Join(err, db.Close())
}

// upgrade brings a ledger of an earlier version, which check has passed, to the
// present one: durably, and all or nothing.
func upgrade(ctx context.Context, db *sql.DB, path string) error {
	var version int
	err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version < schemaVersion {
		_, err = db.ExecContext(ctx, "BEGIN IMMEDIATE; "+strings.Join(schemas[version:], "\n")+" COMMIT;")
	}
	if err != nil {
		return unwritable(path, err, "the ledger cannot be brought to the version of this Claimsheet: %v", bare(err))
	}
	return nil
}

// syncFolder makes the names in a folder durable. Windows has no such call: it
// writes names through its own journal.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil // a parent that we may pass through but not read
		}
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// dsn is the data source name for a file: its path as a URI, so that ?, # and
// % in it are not misread, and PRAGMAs that every connection is to begin with.
func dsn(path, mode string, pragmas ...string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/…
	}
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: p, RawQuery: query.Encode()}).String()
}

// bare is err without the path, which the problem names already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
