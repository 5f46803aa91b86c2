package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"strings"

	"claimsheet/mapping/problem"
)

// table is a table of the ledger, for Transfer.
type table struct {
	name    string
	key     string // the order of its rows
	columns string
}

// tables are all tables with what a copy has; counter follows from the events.
var tables = [...]table{
	{"environments", "id", "id, name"},
	{"names", "id", "id, name"},
	{"clients", "id", "id, environment, client, space"},
	{"steps", "id", "id, client, mapping, step, environment, kind, " + factColumns + ", request, digest"},
	{"history", "event", "event, step, state, at, boot, uptime, run, via, status, reason, request, digest, response, remote_id, url, sum"},
	{"claim_mappings", "environment, mapping", "environment, mapping"},
	{"definitions", "environment, mapping", "environment, mapping, definition"},
	{"settings", "environment, name", "environment, name, value"},
	{"runs", "id", runColumns},
	{"outputs", "path", "path, run, digest"},
	{"run_rows", "run, source_row", "run, source_row, status, client, number, client_id, claim_ids, url, failed_step, error, advice"},
	{"run_steps", "run, number", "run, number, client, mapping, step, kind, title"},
	{"run_unchanged", "id", "id, run, list, sum"},
	{"pruned_runs", "run", "run, at"},
	{"tracked", "id", "id, service, key, client, step, kind, status, completed, at, received, client_id, claim_id, activity_id, activity, sum"},
}

// Transferred is what Transfer has copied.
type Transferred struct {
	Events int64            // the number of the newest event
	Tables map[string]int64 // how many rows each table has
	Digest string           // of all rows, made of the SHA-256 of each, in hex
}

// Transfer copies everything from one ledger into another, which must be empty and open
// for writing: events, runs, rows, lists, erasures, definitions and tracked events, all
// with their numbers. It copies what from has at one moment; another process may write
// it meanwhile, and what that writes later is not copied. It copies all or nothing:
// before the copy is committed it is read back, and its rows are counted and compared
// with the original by their digest. A ledger of an earlier version is refused, because
// opening it for writing brings it to the present one.
func Transfer(ctx context.Context, from, to *Ledger, progress Progress) (done Transferred, err error) {
	if has, err := from.hasTracked(ctx); err != nil || !has {
		if err == nil {
			err = problem.At(problem.Where{File: from.path}, "ledger-file", "the ledger is of an earlier version of Claimsheet").Hinted("Run claimsheet settle once, which brings it to the present version.")
		}
		return done, err
	}
	err = snapshot(ctx, from.read, func(source querier) error {
		if err := source.QueryRowContext(ctx, `SELECT event FROM counter`).Scan(&done.Events); err != nil {
			return err
		}
		return to.submit(true, func(t *transaction) error {
			return t.takeAll(ctx, source, &done, progress)
		})
	})
	if err == nil {
		err = to.Check(ctx, nil)
	}
	return done, err
}

// takeAll copies the rows of another ledger into this one.
func (t *transaction) takeAll(ctx context.Context, source querier, done *Transferred, progress Progress) error {
	empty, err := t.isEmpty(ctx)
	if err == nil && !empty {
		err = rejected{problem.At(problem.Where{File: t.path}, "ledger-file", "the ledger is not empty").
			Hinted("Name an empty database, another schema (search_path) or a new file: a copy never changes what is there.")}
	}
	if err != nil {
		return err
	}
	var written, read rowsSum
	done.Tables = map[string]int64{}
	for i, table := range tables {
		progress.report("copying "+table.name, int64(i), Uncounted)
		insert := `INSERT INTO ` + table.name + ` (` + table.columns + `) VALUES (` + params(strings.Count(table.columns, ",")+1) + `)`
		done.Tables[table.name], err = table.each(ctx, source, &written, func(values []any) error { return t.exec(insert, values...) })
		if err != nil {
			return err
		}
	}
	if t.server != nil {
		if err := t.server.Numbered(t.exec); err != nil {
			return err
		}
	}
	for _, table := range tables {
		progress.report("comparing "+table.name, 0, Uncounted)
		n, err := table.each(ctx, t.conn, &read, nil)
		if err != nil {
			return err
		}
		if n != done.Tables[table.name] {
			return fmt.Errorf("%d rows of %s were copied, and %d are there", done.Tables[table.name], table.name, n)
		}
	}
	if read != written {
		return errors.New("what was copied is not what was read")
	}
	done.Digest = fmt.Sprintf("%x", read)
	t.forgetNumbers()
	t.event, t.unnoted = done.Events, true
	return t.conn.QueryRowContext(ctx, someShared).Scan(&t.sharing)
}

// isEmpty reports whether no table has a row.
func (t *transaction) isEmpty(ctx context.Context) (empty bool, err error) {
	var any []string
	for _, table := range tables {
		any = append(any, `EXISTS (SELECT 1 FROM `+table.name+`)`)
	}
	err = t.conn.QueryRowContext(ctx, `SELECT NOT (`+strings.Join(any, " OR ")+`) AND event = 0 FROM counter`).Scan(&empty)
	return empty, err
}

// rowsAtOnce is how many rows of a table are read by one query.
const rowsAtOnce = 1000

// rowsSum is the sum of rows in any order, because two databases may order texts
// differently: the SHA-256 of each, combined by exclusive or. No two rows are the same.
type rowsSum [sha256.Size]byte

func (s *rowsSum) add(row hash.Hash) {
	for i, b := range row.Sum(nil) {
		s[i] ^= b
	}
}

// each calls do, unless it is nil, with every row in the order of the key, and adds
// them to sum. It returns how many there are.
func (tb table) each(ctx context.Context, db querier, sum *rowsSum, do func(values []any) error) (n int64, err error) {
	keys := strings.Split(tb.key, ", ")
	columns := strings.Fields(strings.ReplaceAll(tb.columns, ",", " "))
	after, last := "", []any(nil)
	for {
		rows, err := gather(stream(ctx, db, func(rows *sql.Rows) ([]any, error) { return scanAny(rows, len(columns)) },
			`SELECT `+tb.columns+` FROM `+tb.name+after+` ORDER BY `+tb.key+` LIMIT `+fmt.Sprint(rowsAtOnce), last...))
		if err != nil {
			return n, err
		}
		for _, values := range rows {
			row := sha256.New()
			fmt.Fprint(row, tb.name)
			for i, v := range values {
				if values[i], err = tb.canonical(columns[i], v); err != nil {
					return n, err
				}
				note(row, values[i])
			}
			sum.add(row)
			if do != nil {
				if err := do(values); err != nil {
					return n, err
				}
			}
			n++
		}
		if len(rows) < rowsAtOnce {
			return n, nil
		}
		last = nil
		for i, column := range columns {
			if i < len(keys) && column == keys[i] { // the keys are the first columns
				last = append(last, rows[len(rows)-1][i])
			}
		}
		after = ` WHERE (` + tb.key + `) > (` + params(len(keys)) + `)`
	}
}

// canonical is a value as every ledger takes it: ids and digests of steps are stored
// differently.
func (tb table) canonical(column string, value any) (any, error) {
	if tb.name != "steps" && tb.name != "history" || column != "digest" && column != "remote_id" {
		return value, nil
	}
	var p packed
	err := p.Scan(value)
	if column == "digest" {
		return asDigest(p), err
	}
	return asID(p), err
}

// note writes a value with its length to a sum.
func note(sum hash.Hash, value any) {
	var text []byte
	switch v := value.(type) {
	case nil:
		_, _ = sum.Write([]byte{0})
		return
	case int64:
		text = binary.BigEndian.AppendUint64(nil, uint64(v))
	case []byte:
		text = v
	default:
		text = fmt.Append(nil, v)
	}
	_, _ = sum.Write(binary.BigEndian.AppendUint64([]byte{1}, uint64(len(text))))
	_, _ = sum.Write(text)
}

// scanAny reads a row with n columns.
func scanAny(rows *sql.Rows, n int) ([]any, error) {
	values, targets := make([]any, n), make([]any, n)
	for i := range values {
		targets[i] = &values[i]
	}
	return values, rows.Scan(targets...)
}
