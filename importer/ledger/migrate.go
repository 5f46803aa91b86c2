package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/safefile"
	"claimsheet/mapping/problem"
)

// beforeTracked is the version that lacks nothing but the table tracked.
const beforeTracked = 4

// upgrade adds that table to a ledger, which stays where it is: it happens as a whole
// or not at all.
func upgrade(path string, progress Progress) error {
	_, table, _ := strings.Cut(schema, "CREATE TABLE tracked")
	err := patiently(readersPatience, progress, func() error {
		db, err := connect(dsn(path, "rw", durable...))
		if err == nil {
			_, err = db.ExecContext(context.Background(), fmt.Sprintf("BEGIN IMMEDIATE; CREATE TABLE tracked%s; PRAGMA user_version = %d; COMMIT", table, schemaVersion))
			err = errors.Join(err, db.Close())
		}
		return err
	})
	if err != nil {
		return unwritable(path, err, "the ledger cannot be brought to the version of this Claimsheet: %v", problem.Cause(err))
	}
	return nil
}

// Until version 3 a ledger had a row for every event in a table events, and the
// state of a step in a table steps, which named its events. Version 2 added indexes,
// version 3 the tables run_unchanged and pruned_runs.

// upgradeFile is where migrateFile makes the new ledger.
func upgradeFile(path string) string {
	return filepath.Join(filepath.Dir(path), ".upgraded-"+filepath.Base(path))
}

// removeUpgrade removes what a migration that was killed has left: it holds personal
// data. The caller holds Lock.
func removeUpgrade(path string) error {
	err := os.Remove(upgradeFile(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// migrateFile brings a ledger of an earlier version to the present one. It makes a
// new file beside the old one, reads it as a whole, and only then puts it in the
// place of the old one. When it fails, it removes the new file. When it is killed, the
// old file is still there, and the next Open begins again.
func migrateFile(path string, patience time.Duration, progress Progress) error {
	err := removeUpgrade(path)
	if err == nil {
		err = migrateBeside(path, patience, progress)
	}
	if err == nil {
		err = os.Rename(upgradeFile(path), path)
	}
	if err == nil {
		err = safefile.SyncFolder(filepath.Dir(path))
	} else {
		err = errors.Join(err, removeUpgrade(path))
	}
	if err == nil || errors.As(err, new(refusal)) {
		return err
	}
	return unwritable(path, err, "the ledger cannot be brought to the version of this Claimsheet: %v", problem.Cause(err))
}

// migrateBeside makes the new file.
func migrateBeside(path string, patience time.Duration, progress Progress) error {
	ctx := context.Background()
	old, err := connect(dsn(path, "rw", durable...))
	if err != nil {
		return err
	}
	version, err := checkVersion(ctx, old, path)
	if err == nil {
		err = foldOld(ctx, old, path, patience, progress)
	}
	if err == nil {
		err = migrateTo(ctx, upgradeFile(path), old, path, version, progress)
	}
	return errors.Join(err, old.Close())
}

// foldOld folds the log into the file of an old ledger: it would not belong to the new
// one.
func foldOld(ctx context.Context, old *sql.DB, path string, patience time.Duration, progress Progress) error {
	conn, err := old.Conn(ctx)
	if err != nil {
		return err
	}
	err = setJournal(ctx, conn, "delete", patience, progress)
	if isBusy(err) {
		err = stillRead(path, errors.Join(ErrStopped, err), "the ledger cannot be brought to the version of this Claimsheet", patience)
	}
	return errors.Join(err, conn.Close())
}

// migrateTo writes the new file, durably, and checks it.
func migrateTo(ctx context.Context, temp string, old *sql.DB, path string, version int, progress Progress) error {
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	db, err := connect(dsn(temp, "rw", "journal_mode(OFF)", "synchronous(OFF)"))
	if err != nil {
		return err
	}
	err = migrate(ctx, old, db, path, version, progress)
	if err == nil {
		err = check(ctx, db, path, progress)
	}
	return errors.Join(err, db.Close(), f.Sync())
}

// migrateInMemory is a ledger in memory with what a ledger of an earlier version has.
func migrateInMemory(old *sql.DB, path string, version int) (*Ledger, error) {
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	if err := migrate(context.Background(), old, db, path, version, nil); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return reading(db, path)
}

// migration copies a ledger of an earlier version into an empty database.
type migration struct {
	*transaction
	ctx      context.Context
	old      *sql.DB
	path     string // of the old ledger, for errors
	version  int    // of the old ledger
	progress Progress

	ids     map[string]bool // the ids that steps are done with
	intents bool            // some step is in Intent
	newest  int64           // the number of the last event
}

func migrate(ctx context.Context, old, db *sql.DB, path string, version int, progress Progress) error {
	var verdict string
	if err := old.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return unreadable(path, err)
	}
	if verdict != "ok" {
		return damaged(path, "the ledger is damaged: %q", verdict)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, schema); err != nil {
		return err
	}
	t, err := prepare(ctx, conn, path, nil)
	if err != nil {
		return err
	}
	defer t.close()
	m := &migration{t, ctx, old, path, version, progress, map[string]bool{}, false, 0}
	if err := t.begin(); err != nil {
		return err
	}
	for _, part := range []func() error{m.clients, m.steps, m.runs, m.settings} {
		if err := part(); err != nil {
			return err
		}
	}
	if err := t.exec(`UPDATE counter SET event = ?, intents = ?`, m.newest, m.intents); err != nil {
		return err
	}
	t.counted = t.event
	return t.commit()
}

// copy inserts the rows of a query, each as change leaves it.
func (m *migration) copy(insert string, change func(values []any) error, query string) error {
	rows, err := m.old.QueryContext(m.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	statement, err := m.conn.PrepareContext(m.ctx, insert+` VALUES (`+params(len(columns))+`)`)
	if err != nil {
		return err
	}
	defer statement.Close()
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if change != nil {
			if err := change(values); err != nil {
				return err
			}
		}
		if _, err := statement.ExecContext(m.ctx, values...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// named replaces a name among the values by its number.
func (m *migration) named(values []any, at int) (err error) {
	values[at], err = m.name(fmt.Sprint(values[at]))
	return err
}

// clients copies the clients, which keep their numbers.
func (m *migration) clients() error {
	return m.copy(`INSERT INTO clients (id, environment, client, space)`, func(values []any) (err error) {
		values[1], err = m.environment(fmt.Sprint(values[1]))
		return err
	}, `SELECT id, environment, client, space FROM owners ORDER BY id`)
}

// runs copies what runs have recorded.
func (m *migration) runs() error {
	for _, table := range []struct {
		since         int // the version that added it
		insert, query string
		change        func(values []any) error
	}{
		{1, `INSERT INTO runs (` + runColumns + `)`, `SELECT ` + runColumns + ` FROM runs`, nil},
		{1, `INSERT INTO outputs (path, run, digest)`, `SELECT path, run, digest FROM outputs`, nil},
		{1, `INSERT INTO run_rows`, `SELECT run, source_row, status, owner, number, client_id, claim_ids, url, failed_step, error, advice FROM run_rows`,
			func(values []any) error { return m.named(values, 0) }},
		{1, `INSERT INTO run_steps`, `SELECT run, number, owner, mapping, step, kind, title FROM run_steps`, func(values []any) error {
			values[5] = code(kinds, fmt.Sprint(values[5]))
			return errors.Join(m.named(values, 0), m.named(values, 3))
		}},
		{3, `INSERT INTO run_unchanged (id, run, list, sum)`, `SELECT id, run, list, sum FROM run_unchanged`, nil},
		{3, `INSERT INTO pruned_runs (run, at)`, `SELECT run, at FROM pruned_runs`, nil},
	} {
		if m.version < table.since {
			continue
		}
		if err := m.copy(table.insert, table.change, table.query); err != nil {
			return err
		}
	}
	return nil
}

// settings copies definitions and settings, which were one table.
func (m *migration) settings() error {
	settings := `SELECT environment, CASE mapping WHEN '' THEN '` + settingTrusted + `' ELSE '` + settingMoved + `' END, definition FROM definitions
		WHERE mapping = '' AND definition = 'trusted' OR mapping = char(0) || 'moved'`
	return errors.Join(
		m.copy(`INSERT INTO settings (environment, name, value)`, nil, settings),
		m.copy(`INSERT INTO definitions (environment, mapping, definition)`, nil, `SELECT environment, mapping, definition FROM definitions
			WHERE mapping <> '' AND mapping <> char(0) || 'moved'`))
}

// oldStep is a row of the table of steps as it was.
type oldStep struct {
	id, owner int64
	StepID
	kind            string
	state           State
	attempts        int
	last            int64
	asked, answered int64 // events; 0 for none
	created, url    string
	sum             int64
}

func scanOldStep(rows *sql.Rows) (s oldStep, err error) {
	err = rows.Scan(&s.id, &s.owner, &s.Environment, &s.Space, &s.Client, &s.Mapping, &s.Step, &s.kind, &s.state, &s.attempts, &s.last,
		&s.asked, &s.answered, &s.created, &s.url, &s.sum)
	return s, err
}

// oldEvent is a row of the table of events as it was.
type oldEvent struct {
	numbered
	step, sum int64
}

func scanOldEvent(rows *sql.Rows) (e oldEvent, err error) {
	var uptime int64
	err = rows.Scan(&e.number, &e.step, &e.To, (*instant)(&e.At), &e.Boot, &uptime, &e.Run, &e.Via, &e.Status, &e.Reason,
		&e.Data, &e.Digest, &e.Answer, &e.ID, &e.URL, &e.sum)
	e.Uptime = time.Duration(uptime) * time.Microsecond
	return e, err
}

// steps makes the row of every step, which keeps its number, and its history.
func (m *migration) steps() error {
	var total, done int64
	if err := m.old.QueryRowContext(m.ctx, `SELECT count(*), (SELECT coalesce(max(id), 0) FROM events) FROM steps`).Scan(&total, &m.newest); err != nil {
		return err
	}
	m.progress.report("upgrading", 0, total)
	next, stop := iter.Pull2(stream(m.ctx, m.old, scanOldEvent, `
		SELECT id, step, state, at, boot, uptime, run, via, status, reason, data, digest, answer, created, url, sum FROM events ORDER BY step, id`))
	defer stop()
	e, err, more := next()
	for s, err2 := range stream(m.ctx, m.old, scanOldStep, `
		SELECT s.id, s.owner, o.environment, o.space, o.client, s.mapping, s.step, s.kind, s.state, s.attempts, s.last,
			coalesce(s.asked, 0), coalesce(s.answered, 0), s.created, s.url, s.sum
		FROM steps s CROSS JOIN owners o ON o.id = s.owner ORDER BY s.id`) {
		var events []oldEvent
		for err == nil && more && e.step == s.id {
			events = append(events, e)
			e, err, more = next()
		}
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if err := m.step(s, events); err != nil {
			return err
		}
		if done++; done%reportEvery == 0 {
			m.progress.report("upgrading", done, total)
		}
	}
	if err == nil && (more || done != total) {
		err = m.contradiction("a step or an event belongs to nothing")
	}
	return err
}

func (m *migration) contradiction(what string) error {
	return damaged(m.path, "the ledger contradicts itself: %s", what)
}

// step makes the row of one step.
func (m *migration) step(s oldStep, events []oldEvent) error {
	if s.sum != s.checksum() {
		return damaged(m.path, "the disk has changed what was written: a step is not what its sum says")
	}
	all := make([]numbered, len(events))
	for i, e := range events {
		if e.sum != e.checksum() {
			return damaged(m.path, "the disk has changed what was written: an event is not what its sum says")
		}
		all[i] = e.numbered
		all[i].StepID, all[i].Kind = s.StepID, s.kind
		if e.Via == "operator" {
			all[i].Via, all[i].Reason = ViaByHand, cmp.Or(oldReasons[e.Reason], e.Reason)
		}
	}
	now, past := replay(row{last: moment{event: s.last}, url: s.url}, all)
	if now.state != s.state || now.last.event != s.last || now.attempts != s.attempts || now.remoteID != s.created || now.url != s.url {
		return m.contradiction("a step does not follow from its events")
	}
	if n := len(all); n > 0 {
		all[n-1].dropped = now.inherited&dropped != 0 // earlier versions did not note it
	}
	again := slices.SortedFunc(slices.Values(slices.Concat(past, now.events())), func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	if !reflect.DeepEqual(again, all) {
		return m.contradiction("the events of a step cannot be kept as they are")
	}
	if now.state == Done && now.remoteID != "" {
		id := s.Environment + "\x00" + s.kind + "\x00" + now.remoteID
		now.shared, m.ids[id] = m.ids[id], true
	}
	m.intents = m.intents || now.state == Intent
	now.id = s.id
	added, err := m.addStep(&now)
	if err == nil && (!added || now.client != s.owner) {
		err = m.contradiction("a step is there twice")
	}
	for _, e := range past {
		if err == nil {
			err = m.addPast(s.id, e)
		}
	}
	return err
}

// oldSum is the CRC-32C of a row as it was kept until version 3.
type oldSum uint32

func (s *oldSum) number(n int64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	*s = oldSum(crc32.Update(uint32(*s), castagnoli, b[:]))
}

func (s *oldSum) text(t string) {
	s.number(int64(len(t)))
	*s = oldSum(crc32.Update(uint32(*s), castagnoli, []byte(t)))
}

func (e oldEvent) checksum() int64 {
	var s oldSum
	s.number(e.number)
	s.number(e.step)
	s.text(string(e.To))
	s.number(e.At.UnixMicro())
	s.text(e.Boot)
	s.number(e.Uptime.Microseconds())
	s.text(e.Run)
	s.text(e.Via)
	s.number(int64(e.Status))
	for _, text := range []string{e.Reason, string(e.Data), e.Digest, string(e.Answer), e.ID, e.URL} {
		s.text(text)
	}
	return int64(s)
}

func (s oldStep) checksum() int64 {
	var c oldSum
	for _, text := range []string{s.Environment, s.Space, s.Client, s.Mapping, s.Step, s.kind, string(s.state)} {
		c.text(text)
	}
	for _, n := range []int64{int64(s.attempts), s.last, s.asked, s.answered} {
		c.number(n)
	}
	c.text(s.created)
	c.text(s.url)
	return int64(c)
}

// oldReasons are the reasons of decisions as they were worded until version 3.
var oldReasons = map[string]string{
	"an operator found it in the service":       "you decided that it was created",
	"an operator found that it was not created": "you decided that it was not created",
	"an operator gave it up":                    "you gave it up",
	"an operator took the decision back":        "you undid the decision",
	"a fresh link is asked for":                 "you asked for a fresh link",
}
