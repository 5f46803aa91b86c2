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

	path    string // "" for a ledger without a file
	version int    // of its schema: an older one is only read
	lists   unchangedLists
	counted int64 // the result of readCount when it was opened

	closing sync.Once
	closed  error
}

// durable are the PRAGMAs of the writing connection. FULL syncs the log at every
// commit, and fullfsync makes macOS write it to the disk itself.
var durable = []string{"busy_timeout(10000)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "foreign_keys(1)"}

// Open opens the ledger at path for reading and writing, and creates it (0600, in a
// folder of 0700) when it is missing. The caller holds Lock. Open refuses a damaged
// ledger with ErrDamaged, and a ledger of a newer Claimsheet or something that is not
// a plain file with a problem.Problem. It repairs nothing, except that SQLite rolls
// back what a killed process left half committed.
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
		return nil, unwritable(path, err, "the ledger cannot be opened for writing: %v", problem.Cause(err))
	}
	if err == nil {
		l.counted, l.write.count.last = counted, counted
	}
	return l, err
}

// OpenReadOnly opens the ledger at path for reading; another process may write it at
// the same time. It changes nothing on disk. A missing file gives an empty ledger.
// Every method that writes fails with ErrReadOnly.
func OpenReadOnly(path string) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	exists, err := inspect(path)
	if err != nil {
		return nil, err
	}
	counted := readCount(path) // before the ledger: another process may write both
	if !exists {
		l, err := openEmpty()
		if err == nil {
			l.counted = counted
		}
		return l, err
	}
	name := dsn(path, "ro", "busy_timeout(10000)")
	if _, err := os.Stat(path + "-shm"); err == nil {
		// The ledger is open, or was open when its process was killed; then SQLite
		// would otherwise rewrite the index of its log.
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

// reading is a ledger that reads from db. It closes db when that fails.
func reading(db *sql.DB, path string) (*Ledger, error) {
	steps, err := db.Prepare(stepsOfOwner)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	l := &Ledger{read: db, steps: steps, path: path}
	if err := db.QueryRow("PRAGMA user_version").Scan(&l.version); err != nil {
		return nil, errors.Join(err, steps.Close(), db.Close())
	}
	return l, nil
}

// empties numbers the empty ledgers of this process, because they share one
// namespace.
var empties atomic.Int64

// openEmpty is an empty ledger in memory.
func openEmpty() (*Ledger, error) {
	db, err := connect(fmt.Sprintf("file:/claimsheet-empty-%d?vfs=memdb", empties.Add(1)))
	if err != nil {
		return nil, err
	}
	// The memory is freed when its last connection closes.
	db.SetMaxIdleConns(8)
	if _, err := db.ExecContext(context.Background(), schemaOfVersion(schemaVersion)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return reading(db, "")
}

// open opens a file that inspect has accepted.
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

// openReaders is a pool of reading connections without an upper limit: a caller that
// reads while it ranges over Rows must not wait for itself.
func openReaders(name string) (*sql.DB, error) {
	db, err := connect(name)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(8)
	return db, nil
}

// check refuses a file of an unknown version and a damaged one.
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

// keepLocks makes SQLite use locks that belong to an open file description. The
// default kind is lost as soon as the process closes any descriptor of the file, as
// inspect does. Where the system has only that kind, nothing changes.
var keepLocks = sync.OnceFunc(func() { _, _ = sqlite.OFDLocking(true) })

// Path is the absolute path of the ledger's file; "" when it has none.
func (l *Ledger) Path() string { return l.path }

// Close writes what is queued, folds the log into the file and closes it. It returns
// the error that stopped the ledger, if any. Iterators must have ended.
func (l *Ledger) Close() error {
	l.closing.Do(func() {
		err := errors.Join(l.steps.Close(), l.read.Close()) // before the writer: a reader would keep the log open
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

//go:embed schema_3.sql
var thirdSchema string

// schemas are the steps from each version to the next, the first from nothing. A
// released version is never changed.
var schemas = []string{firstSchema, secondSchema, thirdSchema}

// schemaVersion is the version that this Claimsheet writes.
var schemaVersion = len(schemas)

// schemaOfVersion is the SQL that creates a ledger of a version.
func schemaOfVersion(version int) string { return strings.Join(schemas[:version], "\n") }

// How the header of a ledger's file looks: SQLite's magic, and the application id
// that schema.sql sets.
const (
	applicationID   = 0x434C414D
	applicationIDAt = 68
	magic           = "SQLite format 3\x00"
	headerSize      = 100
)

// inspect checks the file before SQLite opens it, because SQLite treats an empty file
// as a new database, and replays a log that lies beside it. exists is false when
// there is no file; every error is a refusal.
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
		return false, unusable(path, "Make the file readable for this user.", err, "the ledger cannot be accessed: %v", problem.Cause(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return false, unusable(path, "Name the folder that really holds the ledger with --state.", nil,
			"the ledger is a symbolic link; a plain file is expected, because a link can be changed to another ledger between two runs")
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

// inspectHeader refuses a file that is not a ledger of Claimsheet.
func inspectHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return unusable(path, "Make the file readable for this user.", err, "the ledger cannot be opened: %v", problem.Cause(err))
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

// create creates an empty ledger. It finishes it in a temporary file and then links
// it to path, so that path never holds half a ledger, and a ledger that another
// process has created at the same time is never replaced.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unusable(path, "Name a folder that this user may write to with --state.", err, "the ledger's folder cannot be made: %v", problem.Cause(err))
	}
	temp, err := os.CreateTemp(dir, ".new-ledger-*") // 0600
	if err != nil {
		return unusable(path, "Let this user write to the folder, or name another one with --state.", err, "a ledger cannot be made here: %v", problem.Cause(err))
	}
	defer os.Remove(temp.Name())
	if err := errors.Join(temp.Close(), initialise(temp.Name())); err != nil {
		return unusable(path, "See that the disk has room and may be written to.", err, "a ledger cannot be made here: %v", problem.Cause(err))
	}
	err = os.Link(temp.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(temp.Name(), path) // a file system without hard links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return unusable(path, "Let this user write to the folder, or name another one with --state.", err, "a ledger cannot be made here: %v", problem.Cause(err))
	}
	// The names of the file and of its folder must survive a power loss, too.
	return errors.Join(safefile.SyncFolder(dir), safefile.SyncFolder(filepath.Dir(dir)))
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

// upgrade brings a checked ledger of an earlier version to the present one, durably,
// all or nothing.
func upgrade(ctx context.Context, db *sql.DB, path string) error {
	var version int
	err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version < schemaVersion {
		_, err = db.ExecContext(ctx, "BEGIN IMMEDIATE; "+strings.Join(schemas[version:], "\n")+" COMMIT;")
	}
	if err != nil {
		return unwritable(path, err, "the ledger cannot be brought to the version of this Claimsheet: %v", problem.Cause(err))
	}
	return nil
}

// dsn is the data source name of a file: its path as a URI, so that ?, # and % in it
// are not misread, and the PRAGMAs with which every connection begins.
func dsn(path, mode string, pragmas ...string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/…
	}
	query := url.Values{"mode": {mode}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Path: p, RawQuery: query.Encode()}).String()
}

// refusal is an error about the ledger's file that the user can act on: a problem
// with a hint, and the error of this package that it belongs to.
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

// damaged reports that the file at path is not a sound ledger.
func damaged(path, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-damaged", format, args...)
	return refusal{p.Hinted("Restore the ledger from a backup, with the files beside it that end in -wal and -shm if there are any. " +
		"Do not delete it: it is what keeps things from being created twice."), ErrDamaged}
}

// unusable reports that there can be no ledger at path.
func unusable(path, hint string, cause error, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-file", format, args...)
	return refusal{p.Hinted("%s", hint), cause}
}

// unwritable reports that the ledger at path or a file that belongs to it cannot be
// written. It wraps ErrStopped.
func unwritable(path string, cause error, format string, args ...any) error {
	const hint = "Let this user write to the folder, and see that its disk has room; nothing was sent, so run again then."
	return unusable(path, hint, errors.Join(ErrStopped, cause), format, args...)
}
