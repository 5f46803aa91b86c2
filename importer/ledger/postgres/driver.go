package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connector opens connections for database/sql. Its driver takes the ledger's
// statements, see translate.
type connector struct {
	config *pgx.ConnConfig
	refuse func(error) error // says of an error that the ledger cannot be read; nil leaves that to the caller
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	pg, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return nil, c.explained(withoutValues(err))
	}
	return &conn{pg: pg, connector: c}, nil
}

// explained is an error with what it means for the ledger.
func (c connector) explained(err error) error {
	if c.refuse == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return c.refuse(err)
}

func (connector) Driver() driver.Driver { return nil }

// patience is how long a connection waits for the server. One that does not answer stops
// the ledger: what was sent until then is kept elsewhere.
const patience = time.Minute

// impatient is a connection on which no read and no write waits longer than its patience. A
// statement whose context has ended sets a deadline of its own.
type impatient struct {
	net.Conn
	patience time.Duration

	mu    sync.Mutex
	ended bool // a deadline was set from outside
}

func (c *impatient) Read(b []byte) (int, error) {
	c.limit(c.Conn.SetReadDeadline)
	return c.Conn.Read(b)
}

func (c *impatient) Write(b []byte) (int, error) {
	c.limit(c.Conn.SetWriteDeadline)
	return c.Conn.Write(b)
}

func (c *impatient) limit(set func(time.Time) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		_ = set(time.Now().Add(c.patience)) // fails on a closed connection, as what follows does
	}
}

func (c *impatient) SetDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = !at.IsZero()
	return c.Conn.SetDeadline(at)
}

// mostQueued is how many writes of a transaction are sent at once.
const mostQueued = 500

// conn is a connection.
//
// It does not send the writes of a transaction one by one: they wait for the next
// question or the end of the transaction, and then all go in one pipeline, which costs
// one round trip. An error of theirs is found there; it stops the ledger in any case.
//
// What a transaction asks is read to its end at once. Outside of one, a question that
// comes while another's rows are being read makes it read the rest of those first.
type conn struct {
	connector
	pg     *pgx.Conn
	within bool     // a transaction that may write
	reads  bool     // a transaction that only reads
	queue  []*write // of that transaction, not yet sent
	open   *rows    // whose rows are not all read
}

// write is a write that is queued. It is its own result.
type write struct {
	conn *conn
	text string
	args []any
	sent bool
	n    int64 // rows that it has changed
}

func (w *write) LastInsertId() (int64, error) {
	return 0, errors.New("a statement returns its number with RETURNING")
}

func (w *write) RowsAffected() (int64, error) {
	if !w.sent {
		if _, err := w.conn.send(context.Background(), nil); err != nil {
			return 0, err
		}
	}
	return w.n, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, named []driver.NamedValue) (driver.Result, error) {
	args, err := arguments(named)
	if err != nil {
		return nil, err
	}
	w := &write{conn: c, text: translate(query), args: args}
	switch {
	case query == "ROLLBACK":
		c.queue, c.within = nil, false
		return driver.ResultNoRows, c.run(ctx, w)
	case strings.HasPrefix(query, "BEGIN"):
		c.within = true
	case !c.within:
		return w, c.run(ctx, w)
	}
	c.queue = append(c.queue, w)
	if query == "COMMIT" {
		c.within = false
		_, err = c.send(ctx, nil)
	} else if len(c.queue) >= mostQueued {
		_, err = c.send(ctx, nil)
	}
	return w, err
}

// run executes a statement at once.
func (c *conn) run(ctx context.Context, w *write) error {
	c.readRest()
	tag, err := c.pg.Exec(ctx, w.text, w.args...)
	w.sent, w.n = true, tag.RowsAffected()
	return withoutValues(err)
}

// question is what send asks after the writes.
type question struct {
	text string
	args []any
}

// send sends the queued writes, and a question if there is one, whose rows it reads to
// their end.
func (c *conn) send(ctx context.Context, q *question) (answer *rows, err error) {
	queue := c.queue
	c.queue = nil
	batch := &pgx.Batch{}
	for _, w := range queue {
		batch.Queue(w.text, w.args...)
	}
	if q != nil {
		batch.Queue(q.text, q.args...)
	}
	results := c.pg.SendBatch(ctx, batch)
	defer func() { err = withoutValues(errors.Join(err, results.Close())) }()
	for _, w := range queue {
		tag, err := results.Exec()
		if err != nil {
			return nil, err
		}
		if w.text == "COMMIT" && tag.String() != "COMMIT" {
			return nil, fmt.Errorf("the server has answered the COMMIT with %s", tag)
		}
		w.sent, w.n = true, tag.RowsAffected()
	}
	if q == nil {
		return nil, nil
	}
	found, err := results.Query()
	if err != nil {
		return nil, err
	}
	answer = &rows{conn: c, pg: found}
	return answer, answer.readRest()
}

func (c *conn) QueryContext(ctx context.Context, query string, named []driver.NamedValue) (driver.Rows, error) {
	args, err := arguments(named)
	if err != nil {
		return nil, err
	}
	if c.within {
		return c.send(ctx, &question{translate(query), args})
	}
	c.readRest()
	found, err := c.pg.Query(ctx, translate(query), args...)
	if err != nil {
		return nil, c.failed(err)
	}
	c.open = &rows{conn: c, pg: found}
	return c.open, nil
}

// failed is the error of a question outside of a transaction that writes. Where nothing
// was sent, because the connection was lost before, database/sql tries another one.
func (c *conn) failed(err error) error {
	switch lost := pgconn.SafeToRetry(err) && c.pg.IsClosed(); {
	case lost && !c.reads:
		return driver.ErrBadConn
	case lost:
		err = errLost
	}
	return c.explained(withoutValues(err))
}

// readRest reads the rows that were not read yet. What goes wrong is the error of their
// reader.
func (c *conn) readRest() {
	if c.open != nil {
		_ = c.open.readRest()
	}
}

func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return &stmt{c, query}, nil // pgx prepares what is used
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// BeginTx begins a transaction that reads one state of the ledger.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if !o.ReadOnly {
		return nil, errors.New("the ledger begins its own transactions")
	}
	c.readRest()
	_, err := c.pg.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	if err != nil {
		return nil, c.failed(err)
	}
	c.reads = true
	return readTx{c}, nil
}

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{ReadOnly: true})
}

type readTx struct{ conn *conn }

func (t readTx) Commit() error { return t.Rollback() }

func (t readTx) Rollback() error {
	t.conn.reads = false
	return t.conn.run(context.Background(), &write{text: "ROLLBACK"})
}

// CheckNamedValue implements driver.NamedValueChecker: arguments converts what it gets.
func (c *conn) CheckNamedValue(*driver.NamedValue) error { return nil }

func (c *conn) IsValid() bool { return !c.pg.IsClosed() }

func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return c.pg.Close(ctx)
}

// stmt is a statement of a connection. The connection keeps it prepared.
type stmt struct {
	conn *conn
	text string
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return -1 }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.text, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	found, err := s.conn.QueryContext(ctx, s.text, args)
	if errors.Is(err, driver.ErrBadConn) { // who prepares a statement keeps the connection, and database/sql gets no other
		err = s.conn.explained(errLost)
	}
	return found, err
}

var errLost = errors.New("the connection to the server was lost")

func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, driver.ErrSkip }

// rows are the rows of a question.
type rows struct {
	conn *conn
	pg   pgx.Rows
	read [][]driver.Value // rows that were read before they were asked for
	done bool             // pg has no more
	err  error            // of the end
}

func (r *rows) Columns() []string {
	fields := r.pg.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

func (r *rows) Next(to []driver.Value) error {
	if len(r.read) > 0 {
		copy(to, r.read[0])
		r.read = r.read[1:]
		return nil
	}
	row, err := r.next()
	copy(to, row)
	return err
}

// next reads a row; io.EOF is the end.
func (r *rows) next() ([]driver.Value, error) {
	if r.done {
		return nil, r.err
	}
	if r.pg.Next() {
		found, err := r.pg.Values()
		if err == nil {
			return values(found)
		}
		r.end(err)
		return nil, r.err
	}
	r.end(nil)
	return nil, r.err
}

// end closes what is read from the server.
func (r *rows) end(err error) {
	r.pg.Close()
	if err == nil {
		err = r.pg.Err()
	}
	r.done, r.err = true, io.EOF
	if err != nil { // too late for database/sql to try another connection
		r.err = r.conn.explained(withoutValues(err))
	}
	if r.conn.open == r {
		r.conn.open = nil
	}
}

// readRest reads what is left, and returns the error that ended it.
func (r *rows) readRest() error {
	for !r.done {
		row, err := r.next()
		if err == nil {
			r.read = append(r.read, row)
		} else if !r.done {
			r.end(err)
		}
	}
	if r.err != io.EOF {
		return r.err
	}
	return nil
}

func (r *rows) Close() error {
	if !r.done {
		r.end(nil)
	}
	r.read = nil
	if r.err != io.EOF {
		return r.err
	}
	return nil
}

// withoutValues is an error of the server without what it may quote of the ledger: it
// keeps the code, and the server's words where they name only tables and settings.
func withoutValues(err error) error {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if failed, ok := errors.AsType[*pgconn.ConnectError](err); ok {
			return fmt.Errorf("no connection to the server: %w", reason(failed))
		}
		return err
	}
	switch class := said.Code[:min(2, len(said.Code))]; class {
	case "22", "23": // a value, or a constraint
		return serverError{said.Code, "the server refuses a value"}
	}
	return inWords(said)
}

// inWords is what the server says; not where that names the user.
func inWords(said *pgconn.PgError) error {
	if strings.HasPrefix(said.Code, "28") {
		return serverError{said.Code, "the server does not let this user in"}
	}
	return serverError{said.Code, said.Message}
}

// reason is the innermost error that says why there is no connection: those around it
// name the user.
func reason(err error) error {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return inWords(said)
	}
	for {
		switch e := err.(type) {
		case interface{ Unwrap() []error }:
			all := e.Unwrap()
			if len(all) == 0 {
				return err
			}
			err = all[len(all)-1]
		case interface{ Unwrap() error }:
			inner := e.Unwrap()
			if inner == nil {
				return err
			}
			err = inner
		default:
			return err
		}
	}
}

// serverError is what the server says.
type serverError struct{ state, message string }

func (e serverError) Error() string { return fmt.Sprintf("%s (SQLSTATE %s)", e.message, e.state) }

// answers reports whether the server has answered with an SQLSTATE.
func answers(err error, state string) bool {
	said, ok := errors.AsType[serverError](err)
	return ok && said.state == state
}

var (
	_ driver.NamedValueChecker = (*conn)(nil)
	_ driver.ConnBeginTx       = (*conn)(nil)
	_ driver.Validator         = (*conn)(nil)
	_ interface {
		driver.ExecerContext
		driver.QueryerContext
		driver.ConnPrepareContext
	} = (*conn)(nil)
	_ interface {
		driver.StmtExecContext
		driver.StmtQueryContext
	} = (*stmt)(nil)
)
