package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// Copy makes a copy of the ledger at path in a new file, to (0600), and returns how
// many events the copy has. The ledger may be open in another process, which may write
// meanwhile: the copy is as the ledger was at one moment, when Copy began. It is
// written by SQLite's VACUUM INTO, checked as a whole, and durable when Copy returns;
// only then does it get its name. Copy never
// replaces a file, and leaves nothing behind when it fails. When it is killed, it leaves a
// folder with half a copy; a later Copy into the same folder removes that, after an hour.
func Copy(ctx context.Context, path, to string) (events int64, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return 0, err
	}
	return intoNewFile(to, func(made string) error { return vacuumInto(ctx, path, made) })
}

// Save is Transfer into a new file, as Copy makes it.
func Save(ctx context.Context, from *Ledger, to string, progress Progress) (done Transferred, err error) {
	_, err = intoNewFile(to, func(made string) error {
		l, err := Open(made)
		if err != nil {
			return err
		}
		done, err = Transfer(ctx, from, l, progress)
		return errors.Join(err, l.Close())
	})
	return done, err
}

// intoNewFile makes a ledger in a folder of its own, checks it, and gives it its name.
func intoNewFile(to string, fill func(made string) error) (events int64, err error) {
	if to, err = filepath.Abs(to); err != nil {
		return 0, err
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(to + suffix); !errors.Is(err, fs.ErrNotExist) {
			return 0, taken(to + suffix)
		}
	}
	removeLeft(filepath.Dir(to))
	temp, err := os.MkdirTemp(filepath.Dir(to), copyFolder+"*") // 0700
	if err != nil {
		return 0, uncopied(to, err)
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, "ledger.db")
	if err := fill(made); err != nil {
		return 0, err
	}
	if events, err = finishCopy(made); err != nil {
		return 0, err
	}
	if err := placeCopy(made, to, os.Link); err != nil {
		return 0, err
	}
	return events, nil
}

// placeCopy gives a finished copy its name, with link, which is os.Link. It replaces no
// file.
func placeCopy(made, to string, link func(from, to string) error) error {
	err := link(made, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = moveToNew(made, to) // a file system without hard links
	}
	if errors.Is(err, fs.ErrExist) {
		return taken(to)
	}
	if err == nil {
		err = safefile.SyncFolder(filepath.Dir(to))
	}
	if err != nil {
		return uncopied(to, err)
	}
	return nil
}

// moveToNew moves a file to a name that no other file has. An empty file takes the name
// first, because a rename replaces what is there.
func moveToNew(from, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = f.Close(); err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(to))
	}
	return err
}

// copyFolder begins the name of the folder in which a copy is made.
const copyFolder = ".ledger-copy-"

// removeLeft removes what killed copies have left in a folder, because it is personal
// data: folders of this user in which nothing was written for an hour. A copy that
// works writes all the time, except that it reads its result once, within minutes.
// Only files that a copy makes are removed. What cannot be removed stays: that does
// not keep the next copy from being made.
func removeLeft(folder string) {
	found, _ := os.ReadDir(folder)
	for _, entry := range found {
		left := filepath.Join(folder, entry.Name())
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), copyFolder) || !untouched(left, time.Hour) {
			continue
		}
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			_ = os.Remove(filepath.Join(left, "ledger.db"+suffix))
		}
		_ = os.Remove(left) // stays when something else is in it
	}
}

// untouched reports whether a folder is this user's, and neither it nor a file in it
// has changed for so long.
func untouched(folder string, long time.Duration) bool {
	info, err := os.Lstat(folder)
	if err != nil || !safefile.Ours(info) || time.Since(info.ModTime()) < long {
		return false
	}
	files, err := os.ReadDir(folder)
	return err == nil && !slices.ContainsFunc(files, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return err != nil || time.Since(info.ModTime()) < long
	})
}

// vacuumInto writes a copy of the ledger at path to a new file.
func vacuumInto(ctx context.Context, path, to string) error {
	found, err := inspectToRead(path)
	if err != nil {
		return err
	}
	if !found.exists {
		return unusable(path, "Name the state folder of earlier runs with --state.", fs.ErrNotExist, "there is no ledger here")
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // SQLite writes into an empty file, too
	if err != nil {
		return uncopied(to, err)
	}
	defer file.Close()
	db, err := connect(readingDSN(path))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if isDamage(err) {
		err = damaged(path, "the ledger cannot be read: %v", err)
	} else if err != nil {
		err = uncopied(to, err)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return file.Sync()
}

// finishCopy checks a copy.
func finishCopy(path string) (events int64, err error) {
	l, err := OpenReadOnly(path)
	if err != nil {
		return 0, err
	}
	if err = l.Check(context.Background()); err == nil {
		events, err = l.LastEvent(context.Background())
	}
	return events, errors.Join(err, l.Close())
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
	{"history", "event", "event, step, state, at, run, via, status, reason, request, digest, response, remote_id, url"},
	{"addresses", "environment, address", "environment, address, client"},
	{"claim_mappings", "environment, mapping", "environment, mapping"},
	{"definitions", "environment, mapping", "environment, mapping, definition"},
	{"settings", "environment, name", "environment, name, value"},
	{"runs", "id", runColumns},
	{"outputs", "path", "path, run, digest"},
	{"tracked", "id", "id, service, key, client, step, kind, status, completed, at, received, client_id, claim_id, activity_id, activity"},
}

// Transferred is what Transfer has copied.
type Transferred struct {
	Events int64            // the number of the newest event
	Tables map[string]int64 // how many rows each table has
	Digest string           // of all rows, made of the SHA-256 of each, in hex
}

// Transfer copies everything from one ledger into another, which must be empty and open
// for writing: events, runs, erasures, definitions and tracked events, all
// with their numbers. It copies what from has at one moment; another process may write
// it meanwhile, and what that writes later is not copied. It copies all or nothing:
// before the copy is committed it is read back, and its rows are counted and compared
// with the original by their digest.
func Transfer(ctx context.Context, from, to *Ledger, progress Progress) (done Transferred, err error) {
	err = snapshot(ctx, from.read, func(source querier) error {
		if err := source.QueryRowContext(ctx, `SELECT event FROM counter`).Scan(&done.Events); err != nil {
			return err
		}
		return to.submit(true, func(t *transaction) error {
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
	return nil
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
