package ledger

import (
	"context"
	"fmt"
)

// OpenNamed opens a ledger for reading that does not wait for locks.
func OpenNamed(path string) (*Ledger, error) {
	db, err := openPool(dsn(path, "ro"))
	if err != nil {
		return nil, err
	}
	return reading(db, path, nil)
}

// Panic lets the writer meet a fault of the program.
func (l *Ledger) Panic(value any) error {
	return l.submit(func(*transaction) error { panic(value) })
}

// Commits is how many transactions have reached the disk.
func (l *Ledger) Commits() int64 { return l.write.commits.Load() }

// Pragma is the value of a PRAGMA of the connection that writes.
func (l *Ledger) Pragma(name string) (value string, err error) {
	err = l.bare(func(t *transaction) error {
		return t.conn.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(&value)
	})
	return value, err
}

// LimitPages fills the disk as SQLite sees it: the ledger may grow by so many
// pages.
func (l *Ledger) LimitPages(more int) error {
	return l.submit(func(t *transaction) error {
		var pages int
		if err := t.conn.QueryRowContext(context.Background(), "PRAGMA page_count").Scan(&pages); err != nil {
			return err
		}
		return t.plainly(fmt.Sprintf("PRAGMA max_page_count = %d", pages+more))
	})
}
