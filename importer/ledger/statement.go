package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// statement is a prepared statement of one connection, used without database/sql:
// its locks and conversions cost as much as a small statement does. Only one
// goroutine at a time may use it, while nothing else uses the connection.
type statement struct {
	prepared preparedStatement
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
			s = &statement{prepared: prepared.(preparedStatement)}
		}
		return err
	})
	return s, err
}

func (s *statement) close() error { return s.prepared.Close() }

// exec executes the statement. The values are int64, string, []byte, bool or nil.
func (s *statement) exec(values ...any) (driver.Result, error) {
	s.bind(values)
	return s.prepared.ExecContext(context.Background(), s.args)
}

func (s *statement) bind(values []any) {
	s.args = s.args[:0]
	for i, v := range values {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
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
	s.bind(values)
	rows, err := s.prepared.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
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

// packed reads what packDigest or packID has stored.
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
