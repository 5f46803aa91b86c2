package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claimsheet/mapping/problem"
)

// Save is Transfer into a new file, to (0600), which is checked as a whole and durable when Save
// returns; only then does it get its name. Save never replaces a file, and leaves nothing behind
// when it fails.
func Save(ctx context.Context, from *Ledger, to string) (steps int, err error) {
	if to, err = filepath.Abs(to); err != nil {
		return 0, err
	}
	temp, err := "", fs.ErrExist
	if _, is := os.Lstat(to); errors.Is(is, fs.ErrNotExist) {
		temp, err = os.MkdirTemp(filepath.Dir(to), ".ledger-copy-*") // 0700
	}
	if err == nil {
		defer os.RemoveAll(temp)
		made := filepath.Join(temp, "ledger.db")
		var l *Ledger
		if l, err = Open(made); err != nil {
			return 0, err
		}
		steps, err = Transfer(ctx, from, l)
		if err = errors.Join(err, l.Close()); err != nil {
			return 0, err
		}
		err = link(made, to)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		err = unusable(to, "Name a new file, or move this one away: a copy never replaces a file.", err, "there is a file in the place of the copy already")
	case err != nil:
		err = unusable(to, "Let this user write to the folder, and see that its disk has room.", err,
			"the copy of the ledger cannot be written: %v", problem.Cause(err))
	}
	return steps, err
}

// tables are all tables of which a copy has everything; counter follows from the versions.
var tables = []string{"names", "clients", "steps", "history", "addresses", "definitions", "settings", "runs", "outputs", "tracked"}

// Transfer copies everything from one ledger into another, which must be empty and open
// for writing, and returns how many steps it has copied. It copies what from has at one moment; another
// process may write it meanwhile, and what that writes later is not copied. It copies all or nothing, counts
// the rows of each table, and checks the copy as a whole.
func Transfer(ctx context.Context, from, to *Ledger) (steps int, err error) {
	err = from.snapshot(ctx, func(source *database) error {
		return to.submit(func(t *transaction) (err error) {
			steps, err = t.takeAll(ctx, source)
			return err
		})
	})
	if err == nil {
		err = to.Check(ctx)
	}
	return steps, err
}

// takeAll copies the rows of another ledger into this one.
func (t *transaction) takeAll(ctx context.Context, source *database) (steps int, err error) {
	for _, table := range tables {
		var before, after int
		if _, err := first(ctx, t.database, []any{&before}, `SELECT count(*) FROM `+table); err != nil {
			return 0, err
		}
		if before > 0 {
			return 0, reject(problem.At(problem.Where{File: t.path}, "ledger-file", "the ledger is not empty").
				Hinted("Name an empty database, another schema (search_path) or a new file: a copy never changes what is there."))
		}
		t.wrote = true
		n, err := t.take(ctx, source, table)
		if err == nil {
			_, err = first(ctx, t.database, []any{&after}, `SELECT count(*) FROM `+table)
		}
		if err == nil && after != n {
			err = fmt.Errorf("%d rows of %s were copied, and %d are there", n, table, after)
		}
		if err != nil {
			return 0, err
		}
		if table == "steps" {
			steps = n
		}
	}
	t.forget()
	if t.server != nil {
		return steps, t.numbered()
	}
	_, err = t.exec(`UPDATE counter SET version = max(coalesce((SELECT max(version) FROM steps), 0), coalesce((SELECT max(version) FROM history), 0))`)
	return steps, err
}

// numbered makes the numbers that a server gives to new rows and events higher than those in the tables.
func (t *transaction) numbered() error {
	for _, table := range []string{"names", "clients", "steps", "tracked"} {
		if err := t.plainly(`SELECT setval('` + table + `_id_seq', coalesce(max(id), 0) + 1, false) FROM ` + table); err != nil {
			return err
		}
	}
	return t.plainly(`SELECT setval('versions',
		greatest((SELECT max(version) FROM steps), (SELECT max(version) FROM history), 0) + 1, false)`)
}

// take copies the rows of a table. Their values go from one to the other as they are stored; databases have the columns in
// orders of their own.
func (t *transaction) take(ctx context.Context, source *database, table string) (n int, err error) {
	var insert string
	var values, targets []any
	err = each(ctx, source, func(rows *sql.Rows) error {
		if n++; n == 1 {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			insert = `INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES (` + params(len(columns)) + `)`
			values, targets = make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
		}
		if err := errors.Join(rows.Scan(targets...), ctx.Err()); err != nil {
			return err
		}
		_, err := t.exec(insert, values...)
		return err
	}, `SELECT * FROM `+table)
	return n, err
}
