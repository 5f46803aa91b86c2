package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// overwrite makes this connection write zeroes over what it takes out. It is
// for those that take personal data out; everything else is only ever added.
func (t *transaction) overwrite() error { return t.exec("PRAGMA secure_delete = ON") }

// compact writes the ledger's file anew without the room that was freed, and
// empties the log, so that the bytes of what was taken out are in neither.
// Nothing may be writing.
func (l *Ledger) compact() error {
	ctx := context.Background()
	c, err := l.write.db.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "VACUUM")
	if err == nil {
		var busy, pages, moved int
		err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		if err == nil && busy != 0 {
			err = errors.New("another program is reading it")
		}
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("the ledger's file could not be written anew without what was taken out of it: %w", err)
	}
	return nil
}

// gatherRows is all that a query inside the transaction gives.
func gatherRows[T any](t *transaction, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := t.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
