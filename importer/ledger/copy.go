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

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Save is Transfer into a new file, to (0600), which is checked as a whole and durable when Save
// returns; only then does it get its name. Save never replaces a file, and leaves nothing behind
// when it fails.
func Save(ctx context.Context, from *Ledger, to string, progress Progress) (done Transferred, err error) {
	if to, err = filepath.Abs(to); err != nil {
		return done, err
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(to + suffix); !errors.Is(err, fs.ErrNotExist) {
			return done, taken(to + suffix)
		}
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), ".ledger-copy-*") // 0700
	if err != nil {
		return done, uncopied(to, err)
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, "ledger.db")
	l, err := Open(made)
	if err != nil {
		return done, err
	}
	done, err = Transfer(ctx, from, l, progress)
	if err = errors.Join(err, l.Close()); err != nil {
		return done, err
	}
	err = os.Link(made, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(made, to) // a file system without hard links
	}
	if errors.Is(err, fs.ErrExist) {
		return done, taken(to)
	}
	if err == nil {
		err = safefile.SyncFolder(filepath.Dir(to))
	}
	if err != nil {
		return done, uncopied(to, err)
	}
	return done, nil
}

// taken reports that a file is in the place of a copy.
func taken(path string) error {
	return unusable(path, "Name a new file, or move this one away: a copy never replaces a file.", fs.ErrExist, "there is a file in the place of the copy already")
}

// uncopied reports that a copy cannot be written.
func uncopied(to string, cause error) error {
	return unusable(to, "Let this user write to the folder, and see that its disk has room.", cause, "the copy of the ledger cannot be written: %v", problem.Cause(cause))
}

// table is a table of the ledger, for Transfer.
type table struct{ name, columns string }

// tables are all tables with what a copy has; counter follows from the versions.
var tables = [...]table{
	{"environments", "id, name"},
	{"names", "id, name"},
	{"clients", "id, environment, client, space"},
	{"steps", "id, client, environment, mapping, step, kind, " + stateColumns},
	{"history", "step, " + stateColumns},
	{"addresses", "environment, address, client"},
	{"definitions", "environment, mapping, definition"},
	{"settings", "environment, name, value"},
	{"runs", runColumns},
	{"outputs", "path, run, digest"},
	{"tracked", "id, service, key, client, step, kind, status, completed, at, received, client_id, claim_id, activity_id, activity"},
}

// Transferred is how many rows Transfer has copied, and how many of them are steps.
type Transferred struct{ Rows, Steps int64 }

// Transfer copies everything from one ledger into another, which must be empty and open
// for writing. It copies what from has at one moment; another process may write
// it meanwhile, and what that writes later is not copied. It copies all or nothing:
// before the copy is committed its rows are counted.
func Transfer(ctx context.Context, from, to *Ledger, progress Progress) (done Transferred, err error) {
	err = from.snapshot(ctx, func(source querier) error {
		return to.submit(func(t *transaction) error {
			done = Transferred{}
			return t.takeAll(ctx, source, &done, progress)
		})
	})
	if err == nil {
		err = to.Check(ctx)
	}
	return done, err
}

// takeAll copies the rows of another ledger into this one.
func (t *transaction) takeAll(ctx context.Context, source querier, done *Transferred, progress Progress) error {
	for _, table := range tables {
		if n, err := table.count(ctx, t); err != nil || n > 0 {
			if err == nil {
				err = rejected{problem.At(problem.Where{File: t.path}, "ledger-file", "the ledger is not empty").
					Hinted("Name an empty database, another schema (search_path) or a new file: a copy never changes what is there.")}
			}
			return err
		}
	}
	t.wrote = true
	for _, table := range tables {
		progress.report("copying " + table.name)
		n, err := t.take(ctx, source, table)
		if err != nil {
			return err
		}
		there, err := table.count(ctx, t)
		if err == nil && there != n {
			err = fmt.Errorf("%d rows of %s were copied, and %d are there", n, table.name, there)
		}
		if err != nil {
			return err
		}
		if done.Rows += n; table.name == "steps" {
			done.Steps = n
		}
	}
	t.forget()
	if t.server != nil {
		return t.server.Numbered(ctx)
	}
	_, err := first(ctx, t, []any{&t.version}, `SELECT max(coalesce((SELECT max(version) FROM steps), 0), coalesce((SELECT max(version) FROM history), 0))`)
	return err
}

func (tb table) count(ctx context.Context, db querier) (n int64, err error) {
	_, err = first(ctx, db, []any{&n}, `SELECT count(*) FROM `+tb.name)
	return n, err
}

// take copies the rows of a table. Their values go from one to the other as they are stored.
func (t *transaction) take(ctx context.Context, source querier, tb table) (n int64, err error) {
	columns := strings.Count(tb.columns, ",") + 1
	insert, err := t.statement(`INSERT INTO ` + tb.name + ` (` + tb.columns + `) VALUES (` + params(columns) + `)`)
	if err != nil {
		return 0, err
	}
	values, targets := make([]any, columns), make([]any, columns)
	for i := range values {
		targets[i] = &values[i]
	}
	err = each(ctx, source, func(rows *sql.Rows) (bool, error) {
		if err := errors.Join(rows.Scan(targets...), ctx.Err()); err != nil {
			return false, err
		}
		n++
		_, err := insert.ExecContext(context.Background(), values...)
		return true, t.explained(err)
	}, `SELECT `+tb.columns+` FROM `+tb.name)
	return n, err
}
