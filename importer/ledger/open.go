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
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Ledger is an open ledger. All methods may be called from any goroutine.
type Ledger struct {
	pool  *sql.DB   // connections that read
	read  *database // on pool
	write *writer   // nil when the ledger is open for reading only

	path     string        // "" for a ledger without a file
	server   *Server       // nil for a file
	speaking chan struct{} // closed when a shared ledger is
	spoke    atomic.Pointer[time.Time]

	closing sync.Once
	closed  error
}

// durable are the PRAGMAs of the writing connection. FULL syncs the log at every
// commit, and fullfsync makes macOS write it to the disk itself.
var durable = []string{"busy_timeout(60000)", "synchronous(FULL)", "fullfsync(1)", "checkpoint_fullfsync(1)", "foreign_keys(1)"}

// Open opens the ledger at path for reading and writing, and creates it (0600, in a
// folder of 0700) when it is missing. The caller holds Lock. Open refuses a damaged
// ledger with a problem ledger-damaged, and a ledger of another Claimsheet or something that is not
// a plain file with a problem.Problem. It repairs nothing, except that SQLite rolls
// back what a killed process left half committed.
//
// A ledger that was not closed is checked first, unless it is large: its process was
// killed, or the power was lost.
func Open(path string) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	found, err := inspect(path)
	if err == nil && found == nil {
		err = create(path)
	}
	if err != nil {
		return nil, err
	}
	l, err := open(path, found != nil && found.Size() < maxChecked && (hasLog(path) || hasJournal(path)))
	if isDamage(err) {
		return nil, damaged(path, "the ledger cannot be read: %v", err)
	}
	if err != nil && !errors.As(err, new(problem.Problem)) {
		return nil, unwritable(path, err, "the ledger cannot be opened for writing: %v", problem.Cause(err))
	}
	return l, err
}

// maxChecked is the size from which a ledger that was not closed is opened without a
// check, which would take many seconds: doctor checks it.
const maxChecked = 200 << 20

// OpenReadOnly opens the ledger at path for reading; another process may write it at
// the same time. It changes nothing on disk, except that SQLite undoes what a killed
// process has left half written in the file itself, and makes the index of its log again. A missing file gives an empty
// ledger. Every method that writes fails with ErrReadOnly.
func OpenReadOnly(path string) (l *Ledger, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	for range 5 { // another process may open or close the ledger between two looks at its files
		if l, err = openReadOnly(path); err == nil || isBusy(err) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return l, err
}

func openReadOnly(path string) (*Ledger, error) {
	found, err := inspect(path)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return Empty()
	}
	db, err := openPool(readingDSN(path))
	if err != nil {
		return nil, err
	}
	return reading(db, path, nil)
}

// readingDSN is the data source name with which a file is read. Only a connection that may write
// can roll back what a killed process has left half written in the file.
func readingDSN(path string) string {
	if hasJournal(path) {
		return dsn(path, "rw", durable...)
	}
	return dsn(path, "ro", "busy_timeout(10000)") // one that writes would fold the log into the file when it closes
}

// reading is a ledger that reads from pool, which it closes when that fails. server is nil for a
// file.
func reading(pool *sql.DB, path string, server *Server) (*Ledger, error) {
	read := newDatabase(pool, server)
	read.reads = true
	l := &Ledger{pool: pool, read: read, path: path, server: server}
	if _, err := l.StepsOfClients(context.Background(), "", "", []ClientKey{{Client: "none"}}); err != nil {
		if server == nil && !errors.As(err, new(problem.Problem)) {
			err = unreadable(path, err)
		}
		return nil, errors.Join(err, pool.Close())
	}
	return l, nil
}

// memories numbers the databases in memory of this process, because they share one
// namespace.
var memories atomic.Int64

// Empty is an empty ledger in memory that is only read, for a place that has none yet.
func Empty() (*Ledger, error) {
	db, err := connect(fmt.Sprintf("file:/claimsheet-%d?vfs=memdb", memories.Add(1)))
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(8) // the memory is freed when its last connection closes
	if _, err := db.ExecContext(context.Background(), schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return reading(db, "", nil)
}

// open opens a file that inspect has accepted. check says that a kill or a power loss may have damaged its
// structure, which is then read before anything is written.
func open(path string, check bool) (*Ledger, error) {
	db, err := connect(dsn(path, "rw", durable...))
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(0) // a second connection would keep the writer from making the file a plain one
	conn, err := db.Conn(context.Background())
	if err == nil {
		if check {
			err = checkStructure(context.Background(), newDatabase(conn, nil), path, "PRAGMA quick_check(1)")
		}
		if err == nil {
			err = useLog(conn, path)
		}
		if err != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	w := newWriter(db, conn, path, nil)
	w.file, _ = os.Lstat(path) // SQLite has just opened it
	go w.work()
	pool, err := openPool(dsn(path, "ro", "busy_timeout(10000)"))
	var l *Ledger
	if err == nil {
		l, err = reading(pool, path, nil)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	l.write = w
	return l, nil
}

// useLog gives a ledger the log that it has while it is open. It waits for up to a minute (durable) for
// programs that have the file open.
func useLog(conn *sql.Conn, path string) error {
	err := setJournal(conn, "wal")
	switch {
	case isBusy(err):
		return unusable(path,
			"Wait until the other program has finished: it may be claimsheet copy-ledger, claimsheet doctor or a backup. Nothing was sent, so run again then.",
			err, "the ledger cannot be opened for writing: another program has it open")
	case err != nil:
		return unusable(path, "Let this user write to the file and its folder, keep the folder on a local disk, and see that no other program has it open.",
			err, "the ledger cannot be opened for writing: %v", err)
	}
	return nil
}

// setJournal sets the journal mode of the ledger, which changes its file.
func setJournal(conn *sql.Conn, mode string) error {
	var is string
	err := conn.QueryRowContext(context.Background(), "PRAGMA journal_mode = "+mode).Scan(&is)
	if err == nil && is != mode {
		err = fmt.Errorf("the journal mode stays %q", is)
	}
	return err
}

// sqliteCode is SQLite's code of an error, 0 for another error.
func sqliteCode(err error) int {
	if s, ok := errors.AsType[*sqlite.Error](err); ok {
		return s.Code()
	}
	return 0
}

// isBusy reports whether another process has a lock that keeps a statement from working.
func isBusy(err error) bool { return sqliteCode(err)&0xff == sqlite3.SQLITE_BUSY }

// isDamage reports whether SQLite has found that a file is not a sound database.
func isDamage(err error) bool {
	return sqliteCode(err)&0xff == sqlite3.SQLITE_CORRUPT || sqliteCode(err) == sqlite3.SQLITE_NOTADB
}

// isUnique reports whether a statement has failed because of a unique index of a file.
func isUnique(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE }

// openPool is a pool of reading connections without an upper limit.
func openPool(name string) (*sql.DB, error) {
	db, err := connect(name)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(64) // as many as read at once: a new one compiles all statements again
	return db, nil
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

// Path is the absolute path of the ledger's file, or Server.Name; "" when it has neither.
func (l *Ledger) Path() string { return l.path }

// Close writes what is queued, folds the log into the file and closes it, or ends the
// connections to its server. It returns
// the error that stopped the ledger, if any.
func (l *Ledger) Close() error {
	l.closing.Do(func() {
		err := errors.Join(l.read.close(), l.pool.Close()) // before the writer: a reader would keep the log open
		if l.speaking != nil {
			close(l.speaking)
		}
		if l.write != nil {
			err = errors.Join(l.write.close(), err)
		}
		if l.server != nil {
			err = errors.Join(err, l.server.Close())
		}
		l.closed = err
	})
	return l.closed
}

// schema creates the tables of an empty ledger.
//
//go:embed schema.sql
var schema string

// SchemaVersion is the version of a ledger's tables, in a file and on a server. A ledger
// of any other version is refused.
const SchemaVersion = 7

// How the header of a ledger's file looks: SQLite's magic, and the application id
// "CLAM", which tells a ledger from any other database.
const (
	applicationID   = 0x434C414D
	applicationIDAt = 68
	magic           = "SQLite format 3\x00"
	headerSize      = 100
	journalAt       = 18 // 2 in a file with a write-ahead log, which only an open ledger has
	journalLog      = 2
	versionAt       = 60
)

// hasJournal reports whether a rollback journal lies beside the ledger.
func hasJournal(path string) bool {
	_, err := os.Lstat(path + "-journal")
	return err == nil
}

// hasLog reports whether a log with something in it lies beside the ledger.
func hasLog(path string) bool {
	log, err := os.Lstat(path + "-wal")
	return err == nil && log.Size() > 0
}

// inspect checks the file before SQLite opens it, because SQLite treats an empty file
// as a new database, and replays a log that lies beside it. It returns nil for no file. Every error is a refusal.
//
// A clean close deletes the log before it marks the file as closed, so a log beside a
// closed file belongs to another copy of the ledger, and would spoil this one.
func inspect(path string) (found fs.FileInfo, err error) {
	found, isOpen, err := inspectFile(path)
	if err == nil && found != nil && !isOpen && hasLog(path) {
		return nil, foreignLog(path)
	}
	return found, err
}

// foreignLog reports that a ledger has the log of another copy beside it.
func foreignLog(path string) error {
	name := filepath.Base(path)
	p := problem.At(problem.Where{File: path}, "ledger-damaged",
		"the ledger was closed, but a write-ahead log that does not belong to it lies beside it (%s-wal)", name)
	return p.Of(problem.Stopped).
		Hinted("If %[1]s was restored from a backup, move %[1]s-wal and %[1]s-shm to another folder, keep what you move, and run again. "+
			"Otherwise bring back the %[1]s that was there when the run was killed: all three files together, as the killed run left them.", name)
}

// inspectFile is inspect without the comparison of the file with its log. isOpen reports whether the file
// is open, or was not closed.
func inspectFile(path string) (info fs.FileInfo, isOpen bool, err error) {
	info, err = os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && hasLog(path):
		return nil, false, damaged(path, "the ledger is missing, but its write-ahead log %s is there", filepath.Base(path)+"-wal")
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, unusable(path, "Make the file readable for this user.", err, "the ledger cannot be accessed: %v", problem.Cause(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, false, unusable(path, "Name the folder that really holds the ledger with --state.", nil,
			"the ledger is a symbolic link; a plain file is expected, because a link can be changed to another ledger between two runs")
	case !info.Mode().IsRegular():
		return nil, false, unusable(path, "Move it away, or name another folder with --state.", nil,
			"a plain file is expected for the ledger, but this is %s", safefile.Kind(info))
	case info.Size() == 0:
		return nil, false, damaged(path, "the ledger is empty (0 bytes); even a new one is not")
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := safefile.Owner(path + suffix); err != nil {
			return nil, false, err
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, unusable(path, "Make the file readable for this user.", err, "the ledger cannot be opened: %v", problem.Cause(err))
	}
	defer f.Close()
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(f, header); err != nil || string(header[:len(magic)]) != magic {
		return nil, false, damaged(path, "this is not a ledger: it does not begin as an SQLite database does")
	}
	if id := binary.BigEndian.Uint32(header[applicationIDAt:]); id != applicationID {
		return nil, false, damaged(path, "this is an SQLite database, but not a ledger of Claimsheet (application id %#x, expected %#x)", id, applicationID)
	}
	if version := binary.BigEndian.Uint32(header[versionAt:]); version != SchemaVersion {
		return nil, false, OfAnotherVersion(path, int64(version), "move "+filepath.Base(path)+" and the files beside it to another folder")
	}
	return info, header[journalAt] == journalLog, nil
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
	if err == nil {
		defer os.Remove(temp.Name())
		err = errors.Join(temp.Close(), initialise(temp.Name()))
	}
	if err == nil {
		err = link(temp.Name(), path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return unusable(path, "See that this user may write to the folder and that its disk has room, or name another one with --state.",
			err, "a ledger cannot be made here: %v", problem.Cause(err))
	}
	return safefile.SyncFolder(filepath.Dir(dir)) // the name of the folder must survive a power loss, too
}

// link gives a new file its name, durably. It never replaces a file: fs.ErrExist.
func link(temp, path string) error {
	err := os.Link(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(temp, path) // a file system without hard links
	}
	return errors.Join(err, safefile.SyncFolder(filepath.Dir(path)))
}

// initialise writes the schema into an empty file, durably.
func initialise(path string) error {
	db, err := connect(dsn(path, "rw", "synchronous(FULL)", "fullfsync(1)"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), fmt.Sprintf("BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; %s COMMIT;",
		applicationID, SchemaVersion, schema))
	return errors.Join(err, db.Close())
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

// OfAnotherVersion refuses a ledger whose tables have another version. away is what the
// user does so that a new ledger can take its place.
func OfAnotherVersion(where string, version int64, away string) error {
	p := problem.At(problem.Where{File: where}, "ledger-version",
		"the ledger was made by another version of Claimsheet: its tables have version %d, and version %d is expected", version, SchemaVersion)
	return p.Hinted("Use that version; or %s, and rerun your last results workbook with a new ledger, which takes over its ids: claimsheet rerun --yes RESULTS.xlsx", away)
}

// damaged reports that the file at path is not a sound ledger.
func damaged(path, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-damaged", format, args...)
	return p.Of(problem.Stopped).
		Hinted("Restore the ledger from a backup; or move it away, and rerun your last results workbook with a new ledger, which takes over its ids: " +
			"claimsheet rerun --yes --accept ledger-missing RESULTS.xlsx")
}

// unreadable reports that the ledger at path cannot be read: because it is not a sound
// ledger, because another program keeps it locked, or because of the disk. An error of
// the caller's context stays as it is.
func unreadable(path string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err // the caller gave up
	case isBusy(err):
		return unusable(path,
			"Wait until the other program has finished, then run again. If none should be using the ledger, find out which one has the file open.",
			err, "the ledger cannot be read: another program keeps it locked")
	case isDamage(err):
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	return unusable(path, "Check the disk, and let this user read the file and the files beside it.", err, "the ledger cannot be read: %v",
		problem.Cause(err))
}

// unusable reports that there can be no ledger at path.
func unusable(path, hint string, cause error, format string, args ...any) error {
	p := problem.At(problem.Where{File: path}, "ledger-file", format, args...)
	return p.By(cause).Hinted("%s", hint)
}

// unwritable reports that the ledger at path or a file that belongs to it cannot be
// written. It wraps ErrStopped.
func unwritable(path string, cause error, format string, args ...any) error {
	const hint = "Let this user write to the folder, and see that its disk has room; nothing was sent, so run again then."
	return unusable(path, hint, errors.Join(ErrStopped, cause), format, args...)
}

// asDamage makes a problem ledger-damaged of an error by which SQLite says that.
func asDamage(err error) error {
	if isDamage(err) {
		return damaged("", "the ledger cannot be read: %v", err)
	}
	return err
}
