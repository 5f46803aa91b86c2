package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"claimsheet/mapping/problem"
)

const (
	// queueLength is how many calls may wait for the writer. The next one blocks,
	// which bounds the memory that rows can take.
	queueLength = 256
	// batchLength is the most calls that share one commit.
	batchLength = 256
)

// job is one call's part of a transaction. do writes it, or returns a rejection; any other
// error stops the ledger. It may be called again after what it has written was rolled back.
type job struct {
	do   func(*transaction) error
	bare bool // it needs no transaction
	done chan error
}

// rejection is the error of a job that is refused for a reason which concerns only its caller, not the ledger.
type rejection struct{ error }

// reject refuses the present job: its caller gets err, and the ledger goes on.
func reject(err error) error { return rejection{err} }

// errAlone asks for a batch to be rolled back, and for each of its jobs to get a transaction of
// its own: one of them is refused after it has written something.
var errAlone = errors.New("a call of several is refused")

// writer owns the only connection that writes. Its goroutine commits a job,
// together with those that are queued by then, in one transaction, and answers when
// the commit has reached the disk. The next batch gathers while one is being
// synced.
type writer struct {
	db      *sql.DB     // of a file
	file    fs.FileInfo // which it was when it was opened; nil on a server
	tx      *transaction
	queue   chan job
	ended   chan struct{}
	commits atomic.Int64

	mu      sync.RWMutex // held for reading while a job is being queued
	closed  bool
	failure atomic.Pointer[error] // set once, by the goroutine
}

// submit returns when a job is durable, or the reason why it is not; a ledger that is open for
// reading only returns ErrReadOnly.
func (l *Ledger) submit(do func(*transaction) error) error { return l.write.submit(job{do: do}) }

// bare is submit for what needs no transaction.
func (l *Ledger) bare(do func(*transaction) error) error {
	return l.write.submit(job{do: do, bare: true})
}

func (w *writer) submit(j job) error {
	if w == nil {
		return ErrReadOnly
	}
	if err := w.stopped(); err != nil {
		return err
	}
	j.done = make(chan error, 1)
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return fmt.Errorf("%w: it is closed", ErrStopped)
	}
	w.queue <- j // the goroutine takes jobs until the queue is closed, so this ends
	w.mu.RUnlock()
	return <-j.done
}

// work commits jobs until the queue is closed.
func (w *writer) work() {
	defer close(w.ended)
	for first := range w.queue {
		batch := w.batch(first)
		errs := w.commit(batch)
		for i, j := range batch {
			j.done <- errs[i]
		}
	}
}

// batch is first and whatever is queued after it, without waiting for more.
func (w *writer) batch(first job) []job {
	// Let the callers that were just answered queue their next job before this
	// commit, as long as some do. With nothing else to run it returns at once.
	for queued := -1; len(w.queue) > queued; {
		queued = len(w.queue)
		runtime.Gosched()
	}
	batch := []job{first}
	for len(batch) < batchLength {
		select {
		case j, ok := <-w.queue:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// commit writes a batch in one transaction and returns each job's error. An error
// that is not a caller's own stops the ledger, and every job of the batch gets it:
// it is unknown whether any of them reached the disk. It is not retried, because
// after a failed sync the system may have dropped the data and report success the
// next time.
func (w *writer) commit(batch []job) []error {
	errs := make([]error, len(batch))
	err := w.stopped()
	if err == nil {
		if err = w.write(batch, errs); err == nil {
			return errs
		}
		err = fmt.Errorf("%w: %w", ErrStopped, asDamage(err))
		if w.tx.server != nil {
			err = ServerFailed(err)
		}
		w.failure.Store(&err)
	}
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// write writes a batch. A panic is an error like any other: the writer's goroutine must
// answer those who wait, so that they can save their outcomes elsewhere.
func (w *writer) write(batch []job, errs []error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			w.tx.rollback()
			err = fmt.Errorf("a fault of Claimsheet's own: panic with a %T", v) // without the value, which may be personal data
		}
	}()
	if err := w.inPlace(); err != nil {
		return err
	}
	if err = w.together(batch, errs, false); errors.Is(err, errAlone) {
		err = nil
		for i := 0; i < len(batch) && err == nil; i++ {
			err = w.together(batch[i:i+1], errs[i:i+1], true)
		}
	}
	return err
}

// inPlace fails when the file was removed or replaced while it is open: what is written to it then
// succeeds, and is lost at exit.
func (w *writer) inPlace() error {
	if w.file == nil {
		return nil
	}
	is, err := os.Lstat(w.tx.path)
	if err == nil && !os.SameFile(w.file, is) {
		err = errors.New("it was replaced")
	}
	if err != nil {
		return fmt.Errorf("the ledger's file is gone: %w", problem.Cause(err))
	}
	return nil
}

// together writes jobs in one transaction; alone says that there is one job. A job that is
// refused after it has written something is rolled back if it is alone, and asks for that
// otherwise.
func (w *writer) together(batch []job, errs []error, alone bool) (err error) {
	t := w.tx
	t.alone = alone
	clear(errs) // of a batch that was rolled back
	begun := false
	for i, j := range batch {
		if !j.bare && !begun {
			if err := t.begin(); err != nil {
				return err
			}
			begun = true
		}
		t.wrote = false
		if err = j.do(t); err == nil {
			continue
		}
		refused, ok := errors.AsType[rejection](err)
		if !ok {
			break
		}
		errs[i] = refused.error
		if err = nil; t.wrote {
			t.rollback()
			if alone {
				return nil
			}
			return errAlone
		}
	}
	if err == nil && begun {
		if err = t.commit(); err == nil {
			w.commits.Add(1)
		}
	}
	if err != nil {
		t.rollback()
		if !alone && t.isDeadlock(err) {
			return errAlone
		}
	}
	return err
}

// Stopped returns why the ledger cannot be written any more, an error that wraps ErrStopped or
// ErrServer; nil while it can. A failed server, or a lost connection to it, is noticed within
// seconds, also while nothing is written.
func (l *Ledger) Stopped() error { return l.write.stopped() }

func (w *writer) stopped() error {
	if w == nil {
		return nil
	}
	if err := w.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// close writes what is queued and folds the log into the file, so that a closed
// ledger is one plain file. A reader in another process can prevent that: then the
// log stays beside it, and nothing is lost.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.ended
	closing := w.tx.database.close()
	if w.tx.server == nil && w.stopped() == nil {
		_ = setJournal(w.tx.conn, "delete")
	}
	err := errors.Join(w.stopped(), closing, w.tx.conn.Close())
	if w.db != nil {
		err = errors.Join(err, w.db.Close())
	}
	return err
}

// transaction is the writing connection. Only the writer's goroutine uses it, without a caller's
// context: the record of a request that was sent must not be cancelled.
type transaction struct {
	*database
	conn    *sql.Conn
	path    string
	numbers map[string]int64    // of texts that were used
	clients map[ClientKey]int64 // the numbers of those that were used
	open    map[StepID]row      // intents that were recorded, so that they need not be read for their outcome
	version int64               // the number of the last event
	counted int64               // the last of the numbers that are reserved
	held    map[int64]bool      // what Lock has locked
	wrote   bool                // the present job has written something that its refusal would have to undo
	alone   bool                // the transaction is the present job's own
}

// maxKept bounds the clients and the intents that are kept in memory.
const maxKept = 10_000

// newWriter returns the writer of a ledger; the caller starts its goroutine, work.
func newWriter(db *sql.DB, conn *sql.Conn, path string, server *Server) *writer {
	t := &transaction{database: newDatabase(conn, server), conn: conn, path: path, held: map[int64]bool{}}
	t.forget()
	return &writer{db: db, tx: t, queue: make(chan job, queueLength), ended: make(chan struct{})}
}

// forget drops what is kept in memory.
func (t *transaction) forget() {
	t.numbers, t.clients, t.open = map[string]int64{}, map[ClientKey]int64{}, map[StepID]row{}
	t.counted = t.version
}

// begin takes SQLite's write lock at once.
func (t *transaction) begin() error {
	if t.server == nil {
		_, err := t.exec(`BEGIN IMMEDIATE`)
		return err
	}
	if !t.server.Shared { // reserving numbers again also checks that the session still has the lock; where it is shared, tryLock does both
		t.counted = t.version
	}
	_, err := t.exec(`BEGIN`)
	return err
}

// next is the number of the next event. Every event has one of its own, which grows. No other
// caller gets the numbers that are reserved; those that are not used by the end of the process are skipped.
func (t *transaction) next() (number int64, err error) {
	if t.version == t.counted {
		if err := t.reserve(); err != nil {
			return 0, err
		}
	}
	t.version++
	return t.version, nil
}

// reserve reserves numbersAtOnce numbers.
func (t *transaction) reserve() error {
	if t.server == nil {
		_, err := first(context.Background(), t.database, []any{&t.counted}, `UPDATE counter SET version = version + ? RETURNING version`, numbersAtOnce)
		t.version = t.counted - numbersAtOnce
		return err
	}
	var lowest, backend int64
	if _, err := first(context.Background(), t.database, []any{&lowest, &backend}, `SELECT nextval('versions'), pg_backend_pid()`); err != nil {
		return err
	}
	return t.reserved(lowest, backend)
}

// reserved stores which numbers a server has reserved, numbersAtOnce from the lowest on. It fails if backend, the server's process that has
// reserved them, is not the one that has the locks of this process.
func (t *transaction) reserved(lowest, backend int64) error {
	if backend != t.server.backend {
		return problem.At(problem.Where{File: t.path}, "ledger-server",
			"the session with the ledger's server is another one than before, and has not its lock").
			Hinted("Connect to the server itself, or to a pooler in session mode: the lock belongs to the session.")
	}
	t.version, t.counted = lowest-1, lowest-1+numbersAtOnce
	return nil
}

// numbersAtOnce is how many numbers of events are reserved at once.
const numbersAtOnce = 1000

// commit returns when the transaction is on the disk.
func (t *transaction) commit() error {
	_, err := t.exec(`COMMIT`)
	return err
}

// isDeadlock reports whether a server has ended a transaction because another one waits for it.
func (t *transaction) isDeadlock(err error) bool { return t.server != nil && t.server.IsDeadlock(err) }

// rollback ends the transaction after an error. The database may have rolled back
// already.
func (t *transaction) rollback() {
	_ = t.plainly("ROLLBACK")
	t.forget()
}
