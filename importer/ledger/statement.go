package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
)

// statement is a prepared statement of one connection, used without database/sql:
// its locks and conversions cost as much as a small statement does. Only one
// goroutine at a time may use it, while nothing else uses the connection.
type statement struct {
	prepared preparedStatement
	converts bool                // the driver converts arguments itself
	args     []driver.NamedValue // of the last use
}

type preparedStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// prepareOn prepares a statement on a connection that the caller keeps until it has
// closed the statement.
func prepareOn(conn *sql.Conn, text string) (s *statement, err error) {
	err = conn.Raw(func(c any) error {
		prepared, err := c.(driver.ConnPrepareContext).PrepareContext(context.Background(), text)
		if err == nil {
			_, converts := c.(driver.NamedValueChecker)
			s = &statement{prepared: prepared.(preparedStatement), converts: converts}
		}
		return err
	})
	return s, err
}

func (s *statement) close() error { return s.prepared.Close() }

// exec executes the statement. The values are int64, string, []byte, bool, asID,
// asDigest or nil.
func (s *statement) exec(values ...any) (driver.Result, error) {
	if err := s.bind(values); err != nil {
		return nil, err
	}
	return s.prepared.ExecContext(context.Background(), s.args)
}

func (s *statement) bind(values []any) (err error) {
	s.args = s.args[:0]
	for i, v := range values {
		if valuer, ok := v.(driver.Valuer); ok && !s.converts {
			if v, err = valuer.Value(); err != nil {
				return err
			}
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return nil
}

// first returns the first row of a query; ok is false when there is none.
func (s *statement) first(values ...any) (r record, ok bool, err error) {
	err = s.each(func(first record) error {
		r, ok = first, true
		return io.EOF
	}, values...)
	return r, ok, err
}

// each calls do with every row of a query, until do returns an error; io.EOF ends the
// query without one. The record belongs to the caller of each until the next row.
func (s *statement) each(do func(record) error, values ...any) (err error) {
	if err := s.bind(values); err != nil {
		return err
	}
	rows, err := s.prepared.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	defer func() {
		if closing := rows.Close(); err == nil { // else it says the same again
			err = closing
		}
	}()
	r := record{values: make([]driver.Value, len(rows.Columns()))}
	for {
		if err = rows.Next(r.values); err == nil {
			err = do(r)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// record is a row of a query. Its methods read one column after the other; a value of
// another type than the one asked for makes err an error.
type record struct {
	values []driver.Value
	next   int
	err    error
}

func (r *record) value() driver.Value {
	if r.next >= len(r.values) {
		r.err = errors.New("a query has too few columns")
		return nil
	}
	r.next++
	return r.values[r.next-1]
}

func (r *record) number() int64 { return column[int64](r) }
func (r *record) text() string  { return column[string](r) }

// bytes reads a blob; nil for NULL.
func (r *record) bytes() []byte {
	v := r.value()
	b, ok := v.([]byte)
	if !ok && v != nil {
		r.wrong(v)
	}
	return b
}

// packed reads what was stored as asDigest or asID.
func (r *record) packed() (p packed) {
	if err := p.Scan(r.value()); err != nil {
		r.err = err
	}
	return p
}

func (r *record) wrong(v driver.Value) { r.err = fmt.Errorf("column %d is stored as %T", r.next, v) }

func column[T any](r *record) T {
	v := r.value()
	t, ok := v.(T)
	if !ok {
		r.wrong(v)
	}
	return t
}

// mostReaders is how many callers may use readers at a time. They are for short
// queries: more connections would cost more than waiting does.
const mostReaders = 4

// readers are connections with the statements that a run executes for each client or
// answer. A connection is opened when all open ones are in use, a statement is
// prepared when it is first needed, and both are kept until the ledger is closed,
// because most of the cost of such a query would be parsing it.
type readers struct {
	db       *sql.DB
	free     chan *reader
	unopened chan struct{} // one for each reader that may still be opened
}

// reader is a connection that reads. Only one goroutine at a time may use it.
type reader struct {
	conn       *sql.Conn
	statements map[string]*statement // those prepared so far, by their text
}

// openReaders returns readers of a database, one of them open, which shows whether
// the ledger can be read.
func openReaders(db *sql.DB) (*readers, error) {
	r := &readers{db, make(chan *reader, mostReaders), make(chan struct{}, mostReaders)}
	first, err := r.open()
	if err != nil {
		return nil, err
	}
	r.free <- first
	for range mostReaders - 1 {
		r.unopened <- struct{}{}
	}
	return r, nil
}

func (r *readers) open() (*reader, error) {
	conn, err := r.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	one := &reader{conn, map[string]*statement{}}
	if _, err := one.statement(someWithID); err != nil {
		return nil, errors.Join(err, one.close())
	}
	return one, nil
}

// use calls do with a reader that nobody else uses meanwhile. do must not call use.
func (r *readers) use(do func(*reader) error) error {
	one, err := r.take()
	if err != nil {
		return err
	}
	defer func() { r.free <- one }()
	return asDamage(do(one))
}

// take returns an open reader that is free, else a new one, else the first to become
// free.
func (r *readers) take() (*reader, error) {
	var one *reader
	ok := false
	select {
	case one, ok = <-r.free:
	default:
		select {
		case one, ok = <-r.free:
		case _, ok = <-r.unopened:
		}
	}
	if !ok {
		return nil, errors.New("the ledger is closed")
	}
	if one != nil {
		return one, nil
	}
	one, err := r.open()
	if err != nil {
		r.unopened <- struct{}{}
	}
	return one, asDamage(err)
}

// close waits until nobody uses a reader, and closes them all.
func (r *readers) close() error {
	var errs []error
	for range mostReaders {
		select {
		case one := <-r.free:
			errs = append(errs, one.close())
		case <-r.unopened:
		}
	}
	close(r.free)
	close(r.unopened)
	return errors.Join(errs...)
}

// statement returns the prepared statement of a text.
func (r *reader) statement(text string) (*statement, error) {
	if s := r.statements[text]; s != nil {
		return s, nil
	}
	s, err := prepareOn(r.conn, text)
	if err == nil {
		r.statements[text] = s
	}
	return s, err
}

// each calls do with every row of a query, as statement.each does.
func (r *reader) each(text string, do func(record) error, values ...any) error {
	s, err := r.statement(text)
	if err != nil {
		return err
	}
	return s.each(do, values...)
}

func (r *reader) close() error {
	var errs []error
	for _, s := range r.statements {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, r.conn.Close())...)
}

// stepsOfClient is the query of Steps.
const stepsOfClient = stepsOf + `WHERE ` + ofClient + ` AND ` + underMapping

// underMapping is the condition of the steps that a mapping sees, with its name.
const underMapping = `s.mapping IN (0, coalesce((SELECT id FROM names WHERE name = ?), 0))`

// clientsAtOnce is for how many clients stepsOfClients reads the steps.
const clientsAtOnce = 64

// stepsOfClients is the query of StepsOfClients: the number of a client among those
// asked for, from 0, and stepColumns. A client without a key stands for nobody.
var stepsOfClients = `SELECT a.column1, ` + stepColumns + ` FROM (VALUES (CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT)), ` + strings.Repeat(`(?, ?, ?), `, clientsAtOnce-2) + `(?, ?, ?)) a
	CROSS JOIN clients c ON c.environment = (SELECT id FROM environments WHERE name = ?) AND c.client = a.column2 AND c.space = a.column3
	CROSS JOIN steps s ON s.client = c.id AND ` + underMapping

// someWithID is whether any step at all is done with an id or url: a run asks it after
// every answer, and there is hardly ever one.
const someWithID = `
	SELECT EXISTS (SELECT 1 FROM steps s INDEXED BY steps_ids
			WHERE s.environment = (SELECT id FROM environments WHERE name = ?1) AND s.kind = ?2 AND s.remote_id = ?3 AND ` + hasID + `)
		OR EXISTS (SELECT 1 FROM steps s INDEXED BY steps_urls WHERE s.url = ?4 AND ` + hasURL + `)`
