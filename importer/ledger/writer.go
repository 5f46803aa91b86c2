package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"claimsheet/mapping/problem"
)

const (
	// queueLength is how many calls may wait for the writer. The next one blocks,
	// which bounds the memory that rows can take.
	queueLength = 256
	// batchLength is the most calls that share one commit.
	batchLength = 256
)

// job is one call's part of a transaction. do writes it, or returns a rejected
// error and writes nothing; any other error stops the ledger.
type job struct {
	do   func(*transaction) error
	done chan error // nil when nobody waits
}

// rejected is an error that concerns only the caller, not the ledger.
type rejected struct{ error }

func (r rejected) Unwrap() error { return r.error }

// writer owns the only connection that writes. Its goroutine commits a job,
// together with those that are queued by then, in one transaction, and answers when
// the commit has reached the disk. The next batch gathers while one is being
// synced.
type writer struct {
	db      *sql.DB // of a file
	server  *Server // nil for a file
	tx      *transaction
	files   []fileGuard // the ledger and its log; used by the goroutine only
	queue   chan job
	ended   chan struct{}
	commits atomic.Int64

	mu      sync.RWMutex // held for reading while a job is being queued
	closed  bool
	failure atomic.Pointer[error] // set once, by the goroutine
}

// startWriter starts the writer of a database that has been checked.
func startWriter(db *sql.DB, path string, progress Progress) (*writer, error) {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if err := useLog(ctx, conn, path, readersPatience, progress); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	tx, err := prepare(ctx, conn, path, nil)
	if err != nil {
		return nil, err
	}
	w := &writer{db: db, tx: tx, queue: make(chan job, queueLength), ended: make(chan struct{}),
		files: []fileGuard{{path: path}, {path: path + "-wal"}}}
	if err := w.files[0].check(); err != nil {
		return nil, errors.Join(err, tx.close())
	}
	go w.work()
	return w, nil
}

// How long a change of the journal mode waits for programs that read the ledger: a copy,
// a check or a backup of a large one takes minutes.
const (
	readersPatience = 10 * time.Minute
	closingPatience = 2 * time.Second
)

// useLog gives a ledger the log that it has while it is open.
func useLog(ctx context.Context, conn *sql.Conn, path string, patience time.Duration, progress Progress) error {
	err := setJournal(ctx, conn, "wal", patience, progress)
	switch {
	case isBusy(err):
		return unusable(path, "Wait until the other program has finished: it may be claimsheet copy-ledger, claimsheet doctor or a backup. Nothing was sent, so run again then.",
			err, "the ledger cannot be opened for writing: another program still has it open after %.0f minutes", patience.Minutes())
	case err != nil:
		return unusable(path, "Let this user write to the file and its folder, keep the folder on a local disk, and see that no other program has it open.",
			err, "the ledger cannot be opened for writing: %v", err)
	}
	return nil
}

// setJournal sets the journal mode of the ledger. That changes its file, so it waits
// until nobody else has the file open. Each try gives up at once, so that others can
// begin to read meanwhile.
func setJournal(ctx context.Context, conn *sql.Conn, mode string, patience time.Duration, progress Progress) error {
	var timeout int // of the connection, in milliseconds
	err := conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&timeout)
	if err == nil {
		_, err = conn.ExecContext(ctx, "PRAGMA busy_timeout = 0")
	}
	if err != nil {
		return err
	}
	err = patiently(patience, progress, func() error {
		var is string
		err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = "+mode).Scan(&is)
		if err == nil && is != mode {
			err = fmt.Errorf("the journal mode stays %q", is)
		}
		return err
	})
	_, err2 := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", timeout))
	return errors.Join(err, err2)
}

// patiently tries to do something until no other program keeps it from being done, for
// as long as patience. progress is told of a long wait.
func patiently(patience time.Duration, progress Progress, do func() error) error {
	const pause, worthALine = 100 * time.Millisecond, 2 * time.Second
	for began := time.Now(); ; time.Sleep(pause) {
		err := do()
		waited := time.Since(began)
		if !isBusy(err) || waited >= patience {
			return err
		}
		if waited >= worthALine {
			progress.report("waiting for another program to close", 0, Uncounted)
		}
	}
}

// isBusy reports whether another process has a lock that keeps a statement from
// working.
func isBusy(err error) bool {
	s, ok := errors.AsType[*sqlite.Error](err)
	return ok && s.Code()&0xff == sqlite3.SQLITE_BUSY
}

// submit queues a job; a ledger that is open for reading only returns ErrReadOnly.
// With wait it returns when the job is durable, or the reason why it is not.
// Without, the next job that waits returns the error.
func (l *Ledger) submit(wait bool, do func(*transaction) error) error {
	if l.write == nil {
		return ErrReadOnly
	}
	return l.write.submit(wait, do)
}

// submit is Ledger.submit.
func (w *writer) submit(wait bool, do func(*transaction) error) error {
	if err := w.stopped(); err != nil {
		return err
	}
	j := job{do: do}
	if wait {
		j.done = make(chan error, 1)
	}
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return fmt.Errorf("%w: it is closed", ErrStopped)
	}
	w.queue <- j // the goroutine takes jobs until the queue is closed, so this ends
	w.mu.RUnlock()
	if !wait {
		return nil
	}
	return <-j.done
}

// work commits jobs until the queue is closed.
func (w *writer) work() {
	defer close(w.ended)
	for first := range w.queue {
		batch := w.batch(first)
		errs := w.commit(batch)
		for i, j := range batch {
			if j.done != nil {
				j.done <- errs[i]
			}
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
		if err = w.run(batch, errs); err != nil {
			err = fmt.Errorf("%w: %w", ErrStopped, asDamage(err))
			if w.server != nil {
				err = ServerFailed(err)
			}
			w.failure.Store(&err)
		}
	}
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// run writes a batch. A panic is an error like any other: the writer's goroutine must
// answer those who wait, so that they can save their outcomes elsewhere.
func (w *writer) run(batch []job, errs []error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			w.tx.rollback()
			err = fmt.Errorf("a fault of Claimsheet's own: panic with a %T", v) // without the value, which may be personal data
		}
	}()
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := w.tx.begin(); err != nil {
		return err
	}
	for i, j := range batch {
		err := j.do(w.tx)
		if own, ok := errors.AsType[rejected](err); ok {
			errs[i] = own.error
		} else if err != nil {
			w.tx.rollback()
			return err
		}
	}
	if err := w.tx.commit(); err != nil {
		w.tx.rollback()
		return err
	}
	// Again: what was written to a file that has been removed since is lost.
	if err := w.inPlace(); err != nil {
		return err
	}
	w.commits.Add(1)
	return nil
}

// inPlace fails when the ledger or its log was removed or replaced.
func (w *writer) inPlace() error {
	for i := range w.files {
		if err := w.files[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// Stopped returns why the ledger cannot be written any more, an error that wraps ErrStopped or
// ErrServer; nil while it can. A failed server, or a lost connection to it, is noticed within a
// sixth of the time that leases last, also while nothing is written.
func (l *Ledger) Stopped() error {
	if l.write == nil {
		return nil
	}
	return l.write.stopped()
}

// stopped is Ledger.Stopped.
func (w *writer) stopped() error {
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
	if w.tx.shared {
		close(w.tx.leases.stop)
	}
	if w.server != nil {
		if w.stopped() == nil {
			w.tx.leave()
		}
		return errors.Join(w.stopped(), w.tx.close())
	}
	if w.stopped() == nil {
		w.tx.rest()
	}
	return errors.Join(w.stopped(), w.tx.close(), w.db.Close())
}

// fileGuard detects that a file of the ledger was removed or replaced while it is
// open: writes to an unlinked file succeed, and are lost at exit.
type fileGuard struct {
	path string
	was  fs.FileInfo // nil until the file is first seen
}

func (g *fileGuard) check() error {
	is, err := os.Lstat(g.path)
	if g.was == nil && errors.Is(err, fs.ErrNotExist) {
		return nil // SQLite creates the log when it first needs it
	}
	if err != nil {
		return fmt.Errorf("%s is gone: %w", filepath.Base(g.path), problem.Cause(err))
	}
	if g.was == nil {
		g.was = is
	}
	if !os.SameFile(g.was, is) {
		return fmt.Errorf("%s was replaced while it was open", filepath.Base(g.path))
	}
	return nil
}

// transaction is the writing connection with its statements. Only the writer's
// goroutine uses it, without a caller's context: the record of a request that was
// sent must not be cancelled.
type transaction struct {
	conn     *sql.Conn
	server   *Server // nil for a file
	path     string
	rows     rowReader // on this connection
	interned interned
	event    int64 // the number of the last event
	counted  int64 // the number that the table counter has

	open    map[StepID]row // the steps in Intent, as noteIntent keeps them
	unnoted bool           // open does not have all of them
	marked  bool           // the table counter says that steps may be intents
	shared  bool           // other processes may write the ledger too
	leases  *leases        // nil for a file

	takeovers int64           // by processes that share the ledger, as counter had it last
	outcomes  []driver.Result // of the steps whose outcome this transaction stores, in a shared ledger

	getCounter, setCounter *statement
	getClient, addClient   *statement
	getStep                *statement
	addRow, addIntent      *statement
	setStep, setOutcome    *statement
	addHistory, addAddress *statement
	someURL                *statement
	beginTx, commitTx      *statement
	savepoint, release     *statement   // of appendAll
	statements             []*statement // all of them
}

// prepare prepares the statements of a connection. server is nil for a file.
func prepare(ctx context.Context, conn *sql.Conn, path string, server *Server) (*transaction, error) {
	begin, counter, nextID, number := `BEGIN IMMEDIATE`, `SELECT event, 0 FROM counter`, `?`, ``
	if server != nil {
		begin, counter, nextID, number = `BEGIN ISOLATION LEVEL READ COMMITTED`, `SELECT event, takeovers FROM counter FOR UPDATE`, `coalesce(CAST(? AS BIGINT), `+server.NextStep+`)`, ` RETURNING id` // see insert
	}
	t := &transaction{conn: conn, server: server, path: path, open: map[StepID]row{}}
	t.forgetNumbers()
	for _, s := range []struct {
		to   **statement
		text string
	}{
		{&t.beginTx, begin},
		{&t.commitTx, `COMMIT`},
		{&t.savepoint, `SAVEPOINT call`},
		{&t.release, `RELEASE call`},
		{&t.getCounter, counter},
		{&t.setCounter, `UPDATE counter SET event = ?`},
		{&t.getClient, `SELECT c.id, c.environment FROM clients c WHERE ` + ofClient},
		{&t.addClient, `INSERT INTO clients (environment, client, space) VALUES (?, ?, ?)` + number},
		{&t.getStep, stepsOf + `WHERE s.client = ? AND s.mapping = ? AND s.step = ?`},
		{&t.addRow, `INSERT INTO steps (client, mapping, step, environment, kind, ` + factColumns + `, request, digest, id)
			VALUES (` + params(23) + `, ` + nextID + `) ON CONFLICT (client, mapping, step) DO NOTHING` + number},
		{&t.addIntent, `INSERT INTO steps (client, mapping, step, environment, kind, event, at, run, request, digest,
				state, attempts, history, inherited, sent_event, sent_at, sent_run, via, status, reason, remote_id, url)
			VALUES (` + params(10) + `, 1, 1, 0, 0, 0, 0, 0, 0, 0, '', '', '') ON CONFLICT (client, mapping, step) DO NOTHING` + number},
		{&t.setOutcome, `UPDATE steps SET sent_event = event, sent_at = at, sent_run = run,
			(state, inherited, event, at, run, via, status, reason, response, remote_id, url) = (` + params(11) + `) WHERE id = ? AND event = ?`},
		{&t.setStep, `UPDATE steps SET (` + factColumns + `, request, digest) = (` + params(18) + `) WHERE id = ?`},
		{&t.addAddress, addAddress},
		{&t.addHistory, `INSERT INTO history VALUES (` + params(13) + `)`},
		{&t.someURL, `SELECT 1 FROM steps s INDEXED BY steps_urls WHERE s.url = ? AND ` + hasURL + ` LIMIT 1`},
	} {
		var err error
		if *s.to, err = prepareOn(conn, s.text); err != nil {
			return nil, errors.Join(err, t.close())
		}
		t.statements = append(t.statements, *s.to)
	}
	err := conn.QueryRowContext(ctx, `SELECT event, intents FROM counter`).Scan(&t.counted, &t.unnoted)
	t.event = t.counted
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// params are n parameters of a statement.
func params(n int) string { return strings.Repeat("?, ", n-1) + "?" }

// begin takes SQLite's write lock at once, or locks the row of counter on a server, so
// that not even another process can change what the transaction reads.
func (t *transaction) begin() error {
	if _, err := t.beginTx.exec(); err != nil {
		return err
	}
	counter, _, err := t.getCounter.first()
	var takeovers int64
	if t.event, takeovers = counter.number(), counter.number(); err == nil {
		err = counter.err
	}
	if err != nil {
		return err
	}
	if t.event != t.counted && t.server != nil && !t.shared {
		return problem.At(problem.Where{File: t.path}, "ledger-server", "another process has written the ledger, though this one holds its lock").
			Hinted("Connect to the server itself, or to a pooler in session mode: the lock belongs to the session.")
	}
	if t.event != t.counted && t.shared {
		t.counted = t.event // what is kept in memory stays right: it is of leased clients, and numbers never change
	}
	if t.event != t.counted { // another process has written, without the lock
		t.forgetNumbers()
		clear(t.open)
		t.counted, t.unnoted = t.event, true
	}
	if t.shared && t.leases.age() >= t.leases.TTL()/3 {
		if err := t.leases.keep(t); err != nil {
			return err
		}
	}
	if t.shared && takeovers != t.takeovers {
		t.takeovers = takeovers
		if err := t.leases.check(t); err != nil {
			return err
		}
	}
	return t.mark()
}

// mark records in the first transaction that steps may be intents until rest says
// otherwise: a copy of the ledger that SQLite makes meanwhile looks like a closed one.
func (t *transaction) mark() error {
	if t.marked {
		return nil
	}
	t.marked = true
	return t.exec(`UPDATE counter SET intents = 1 WHERE intents <> 1`)
}

// forgetNumbers drops the numbers of texts and clients that are kept in memory.
func (t *transaction) forgetNumbers() {
	t.interned.forget()
	t.rows = rowReader{newNames(t.conn), t.path}
}

// commit returns when the transaction is on the disk.
func (t *transaction) commit() error {
	if err := t.checkOutcomes(); err != nil {
		return err
	}
	if t.event != t.counted {
		if _, err := t.setCounter.exec(t.event); err != nil {
			return err
		}
		t.counted = t.event
	}
	_, err := t.commitTx.exec()
	if err == nil {
		t.leases.committed()
	}
	return err
}

// rollback releases the write lock after an error. SQLite may have rolled back
// already; nothing is written afterwards in any case.
func (t *transaction) rollback() { _ = t.exec("ROLLBACK") }

// rest records whether steps are still in Intent, and makes the file a plain one
// again: that marks the ledger as closed.
func (t *transaction) rest() {
	if t.noteRest() == nil {
		_ = setJournal(context.Background(), t.conn, "delete", closingPatience, nil)
	}
}

// leave ends the part of this process in a ledger on a server. While a step of its is
// an intent, its leases stay until they end by themselves: its request may be on its way.
func (t *transaction) leave() {
	if !t.shared {
		_ = t.noteRest()
	}
	if t.leases != nil && len(t.open) == 0 {
		_ = t.leases.End()
	}
}

// noteRest records whether steps are still in Intent.
func (t *transaction) noteRest() error {
	return t.exec(`UPDATE counter SET intents = ?1 WHERE intents <> ?1`, t.unnoted || len(t.open) > 0)
}

// exec runs a statement that is too rare to prepare.
func (t *transaction) exec(text string, args ...any) error {
	_, err := t.conn.ExecContext(context.Background(), text, args...)
	return err
}

// changes runs a statement and returns how many rows it changed.
func (t *transaction) changes(text string, args ...any) (int64, error) {
	r, err := t.conn.ExecContext(context.Background(), text, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t *transaction) close() error {
	var errs []error
	for _, s := range t.statements {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, t.conn.Close())...)
}
