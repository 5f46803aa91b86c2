package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
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
