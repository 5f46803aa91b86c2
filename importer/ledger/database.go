package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// database runs the ledger's statements, which are the same for SQLite and PostgreSQL, on a
// pool of connections, on one or in a transaction of one, and keeps them prepared.
type database struct {
	on       preparer
	server   *Server  // nil for a file
	reads    bool     // it is for reading only
	prepared sync.Map // statements by their texts
}

// preparer is a pool of connections, one connection, or a transaction.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func newDatabase(on preparer, server *Server) *database {
	return &database{on: on, server: server}
}

// statement returns the prepared statement of a text.
func (d *database) statement(text string) (*sql.Stmt, error) {
	if s, known := d.prepared.Load(text); known {
		return s.(*sql.Stmt), nil
	}
	s, err := d.on.PrepareContext(context.Background(), d.words(text))
	if err != nil {
		return nil, d.explained(err)
	}
	if other, known := d.prepared.LoadOrStore(text, s); known { // another goroutine was faster
		return other.(*sql.Stmt), s.Close()
	}
	return s, nil
}

// close closes the statements.
func (d *database) close() (err error) {
	for _, s := range d.prepared.Range {
		err = errors.Join(err, s.(*sql.Stmt).Close())
	}
	return err
}

// words are a statement with its parameters as the database numbers them. No text in a
// statement has a question mark.
func (d *database) words(text string) string {
	if d.server == nil {
		return text
	}
	var b strings.Builder
	for i, part := range strings.Split(text, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// storable are arguments with texts that PostgreSQL stores: without NUL, and valid UTF-8. Ids are
// stored as bytes and never changed.
func storable(args []any) []any {
	for i, a := range args {
		if text, ok := a.(string); ok && (strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)) {
			args[i] = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
	return args
}

// explained is an error with what it means for the ledger.
func (d *database) explained(err error) error {
	switch {
	case err == nil:
		return nil
	case d.server == nil:
		return asDamage(err)
	case d.reads && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrServer):
		return ServerFailed(fmt.Errorf("the ledger cannot be read: %w", d.server.Explain(err)))
	}
	return d.server.Explain(err)
}

// query runs a query. Neither the driver nor the server gets the end of ctx, because the
// driver would watch it at every row.
func (d *database) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	s, err := d.statement(text)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(context.WithoutCancel(ctx), storable(args)...)
	return rows, d.explained(err)
}

// exec executes a statement, and returns how many rows it changed.
func (d *database) exec(text string, args ...any) (n int64, err error) {
	s, err := d.statement(text)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(context.Background(), storable(args)...)
	if err == nil {
		n, err = result.RowsAffected()
	}
	return n, d.explained(err)
}

// add executes an INSERT of one row and reads the number of the row; isNew is false where there
// is one already. SQLite has the number at hand, and would keep a table for RETURNING.
func (d *database) add(id *int64, text string, args ...any) (isNew bool, err error) {
	if d.server != nil {
		return first(context.Background(), d, []any{id}, text+" RETURNING id", args...)
	}
	s, err := d.statement(text)
	if err != nil {
		return false, err
	}
	result, err := s.ExecContext(context.Background(), storable(args)...)
	if err != nil {
		return false, d.explained(err)
	}
	n, err := result.RowsAffected()
	if n == 0 || err != nil {
		return false, err
	}
	*id, err = result.LastInsertId()
	return true, err
}

// plainly executes statements without parameters that are too rare to prepare.
func (d *database) plainly(text string) error {
	_, err := d.on.ExecContext(context.Background(), text)
	return d.explained(err)
}

// snapshot calls do with the ledger as it is at one moment.
func (l *Ledger) snapshot(ctx context.Context, do func(*database) error) error {
	options := sql.TxOptions{ReadOnly: true}
	if l.server != nil {
		options.Isolation = sql.LevelRepeatableRead // SQLite has no other
	}
	tx, err := l.pool.BeginTx(context.WithoutCancel(ctx), &options)
	if err != nil {
		return l.read.explained(err)
	}
	defer tx.Rollback() // it has written nothing; the statements end with it
	moment := newDatabase(tx, l.server)
	moment.reads = true
	return do(moment)
}

// collect returns the rows of a query.
func collect[T any](ctx context.Context, db *database, scan func(*sql.Rows) (T, error), text string, args ...any) (all []T, err error) {
	err = each(ctx, db, func(rows *sql.Rows) error {
		v, err := scan(rows)
		all = append(all, v)
		return errors.Join(err, ctx.Err())
	}, text, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// each calls do with the rows of a query, until it returns an error.
func each(ctx context.Context, db *database, do func(*sql.Rows) error, text string, args ...any) error {
	rows, err := db.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return asDamage(err)
		}
	}
	return db.explained(rows.Err())
}

// first reads the row of a query; ok is false if the query has no row.
func first(ctx context.Context, db *database, to []any, text string, args ...any) (ok bool, err error) {
	err = each(ctx, db, func(rows *sql.Rows) error {
		ok = true
		return rows.Scan(to...)
	}, text, args...)
	return ok && err == nil, err
}

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}

// params are n parameters of a statement.
func params(n int) string { return strings.Repeat("?, ", n-1) + "?" }
