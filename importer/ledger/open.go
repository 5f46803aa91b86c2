package ledger

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Ledger is an open ledger. All methods may be called from any goroutine.
type Ledger struct {
	read  *sql.DB
	steps *sql.Stmt // stepsOfOwner on any connection of read
	write *writer   // nil when the ledger is open for reading only

	path    string // "" for one that is in no file
	counted int64  // as readCount, when it was opened

	closing sync.Once
	closed  error
}

// durable are the PRAGMAs of the writing connection. FULL syncs the log at
// every commit, and fullfsync makes that reach the disk itself on macOS.
var durable = []string{"busy_timeout(10000)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "foreign_keys(1)"}

// Open opens the ledger at path for reading and writing, and makes it (0600,
// in a folder of 0700) when it is missing. The caller holds Lock. A file that
// is not a sound ledger is refused with ErrDamaged, one of a newer Claimsheet
// and what is not a plain file with a problem.Problem; nothing is repaired but
// what a killed process left half committed.
func Open(path string) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	exists, err := inspect(path)
	switch {
	case err != nil:
	case exists:
		err = inspectLog(path)
	default:
		err = create(path)
	}
	if err != nil {
		return nil, err
	}
	counted := readCount(path)
	l, err := open(path, durable)
	if err != nil && !errors.As(err, new(refusal)) {
		return nil, unwritable(path, err, "the ledger cannot be opened for writing: %v", bare(err))
	}
	if err == nil {
		l.counted, l.write.count.last = counted, counted
	}
	return l, err
}

// OpenReadOnly opens the ledger at path for reading, while another process
// may be writing it, and changes nothing on disk. A missing file gives an empty
// ledger. Every method that writes fails with ErrReadOnly.
func OpenReadOnly(path string) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	exists, err := inspect(path)
	if err != nil {
		return nil, err
	}
	counted := readCount(path) // first: another process may be writing both
	if !exists {
		l, err := openEmpty()
		if err == nil {
			l.counted = counted
		}
		return l, err
	}
	name := dsn(path, "ro", "busy_timeout(10000)")
	if _, err := os.Stat(path + "-shm"); err == nil {
		// A ledger that is open, or was when its process was killed. SQLite
		// would otherwise write the index of its log anew in the second case.
		name += "&readonly_shm=1"
	}
	db, err := openReaders(name)
	if err != nil {
		return nil, err
	}
	if err := check(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	l, err := reading(db, path)
	if err == nil {
		l.counted = counted
	}
	return l, err
}

// reading is a ledger that reads from db, which it closes when it cannot.
func reading(db *sql.DB, path string) (*Ledger, error) {
	steps, err := db.Prepare(stepsOfOwner)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Ledger{read: db, steps: steps, path: path}, nil
}

// empties numbers the empty ledgers of this process, whose names it shares.
var empties atomic.Int64

// openEmpty is a ledger in memory that knows nothing.
func openEmpty() (*Ledger, error) {
	db, err := connect(fmt.Sprintf("file:/claimsheet-empty-%d?vfs=memdb", empties.Add(1)))
	if err != nil {
		return nil, err
	}
	// The memory lives as long as one connection does.
	db.SetMaxIdleConns(8)
	if _, err := db.ExecContext(context.Background(), schemaOfVersion(schemaVersion)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return reading(db, "")
}

// open opens a file that inspect has passed.
func open(path string, pragmas []string) (*Ledger, error) {
	db, err := connect(dsn(path, "rw", pragmas...))
	if err != nil {
		return nil, err
	}
	if err := check(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := upgrade(context.Background(), db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	w, err := startWriter(db, path)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	readers, err := openReaders(dsn(path, "ro", "busy_timeout(10000)"))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	l, err := reading(readers, path)
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	l.write = w
	return l, nil
}

// openReaders is a pool of reading connections. It has no upper limit: a
// caller that reads while it ranges over Rows must not wait for itself.
func openReaders(name string) (*sql.DB, error) {
	db, err := connect(name)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(8)
	return db, nil
}

// check refuses a file of another version and one that is not sound.
func check(db *sql.DB, path string) error {
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err != nil {
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	defer c.Close()
	version, err := checkVersion(ctx, c, path)
	if err != nil {
		return err
	}
	return checkSound(ctx, c, path, version)
}

// connect is a pool of connections to a data source.
func connect(name string) (*sql.DB, error) {
	keepLocks()
	return sql.Open("sqlite", name)
}

// keepLocks asks for locks that belong to an open file. The older kind, which
// is the default, is dropped as soon as anything in the process closes any
// descriptor of the file, as inspect does. Where the system has only the older
// kind, nothing changes.
var keepLocks = sync.OnceFunc(func() { _, _ = sqlite.OFDLocking(true) })

// Path is the ledger's file, absolute; "" when it is in no file.
func (l *Ledger) Path() string { return l.path }

// Close writes what is queued, folds the log into the file and closes it. It
// returns the error that stopped the ledger, if one did. Iterators must have
// ended.
func (l *Ledger) Close() error {
	l.closing.Do(func() {
		err := errors.Join(l.steps.Close(), l.read.Close()) // first: a reader would keep the log open
		if l.write != nil {
			err = errors.Join(l.write.close(), err)
		}
		l.closed = err
	})
	return l.closed
}

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

// refusal is an error about the ledger's file that an operator can act on: a
// problem with a hint, and the error of this package that it is a case of.
type refusal struct {
	problem.Problem
	kind error // ErrDamaged, ErrLocked or another cause; may be nil
}

func (r refusal) Unwrap() []error {
	if r.kind == nil {
		return []error{r.Problem}
	}
	return []error{r.kind, r.Problem}
}

// damaged says that the file at path is not a sound ledger.
func damaged(path, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-damaged", format, args...)
	return refusal{p.Hinted("Restore the ledger from a backup, with the files beside it that end in -wal and -shm if there are any. " +
		"Do not delete it: it is what keeps things from being created twice."), ErrDamaged}
}

// unusable says that the path cannot hold a ledger, whatever is in it.
func unusable(path, hint string, cause error, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-file", format, args...)
	return refusal{p.Hinted("%s", hint), cause}
}

// unwritable says that the ledger at path, or what belongs to it, cannot be
// written as things are: it is a case of ErrStopped.
func unwritable(path string, cause error, format string, args ...any) error {
	const hint = "Let this user write to the folder, and see that its disk has room; nothing was sent, so run again then."
	return unusable(path, hint, errors.Join(ErrStopped, cause), format, args...)
}
