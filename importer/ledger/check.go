package ledger

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"claimsheet/mapping/problem"
)

// checkVersion refuses a ledger that a newer Claimsheet has written: what the newer
// one added would be lost or misread. An older ledger is read as it is, and
// upgraded before anything is written.
func checkVersion(ctx context.Context, c *sql.Conn, path string) (version int, err error) {
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, damaged(path, "the ledger cannot be read: %v", err)
	}
	switch {
	case version > schemaVersion:
		p := problem.At(problem.Where{File: path}, "ledger-newer",
			"the ledger has version %d, written by a newer Claimsheet; this one knows version %d", version, schemaVersion)
		return 0, refusal{p.Hinted("Use the newer Claimsheet."), nil}
	case version < 1:
		return 0, damaged(path, "the ledger has version %d; 1 to %d is expected", version, schemaVersion)
	}
	return version, nil
}

// checkSound refuses a damaged ledger. It checks the structure of the whole file;
// owners, steps and events together with their indexes, because a step that is
// missing from an index would be created again; the schema; that the steps follow
// from their events; and the checksums of steps and events, which detect a byte
// that changed inside a text.
func checkSound(ctx context.Context, c *sql.Conn, path string, version int) error {
	for _, check := range []string{"quick_check(1)", "integrity_check(owners)", "integrity_check(steps)", "integrity_check(events)"} {
		var verdict string
		if err := c.QueryRowContext(ctx, "PRAGMA "+check).Scan(&verdict); err != nil {
			return damaged(path, "the ledger cannot be read: %v", err)
		}
		if verdict != "ok" {
			// The verdict may span lines and names tables and pages, no contents.
			return damaged(path, "the ledger is damaged: %q", verdict)
		}
	}
	if err := checkSchema(ctx, c, path, version); err != nil {
		return err
	}
	var strays int
	err := c.QueryRowContext(ctx, `
		SELECT count(*) FROM steps s LEFT JOIN events e ON e.id = s.last AND e.step = s.id
		WHERE e.state IS NOT s.state OR e.id <> (SELECT max(id) FROM events WHERE step = s.id)`).Scan(&strays)
	if err != nil {
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	if strays > 0 {
		return damaged(path, "the ledger contradicts itself: %s not follow from their events", count(strays, "step does", "steps do"))
	}
	return checkSums(ctx, c, path)
}

// count is a number with the singular or the plural.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// checkSchema refuses a ledger whose tables are not those of its version: a view
// in which a letter has changed would return something else.
func checkSchema(ctx context.Context, c *sql.Conn, path string, version int) error {
	want, err := soundSchema(version)
	if err != nil {
		return err
	}
	got, err := schemaOf(ctx, c)
	if err != nil {
		return damaged(path, "the ledger cannot be read: %v", err)
	}
	if got != want {
		return damaged(path, "the ledger's tables are not as Claimsheet made them")
	}
	return nil
}

// soundSchema is what schemaOf returns for a new ledger of a version.
func soundSchema(version int) (string, error) {
	ctx := context.Background()
	db, err := connect(":memory:")
	if err != nil {
		return "", err
	}
	c, err := db.Conn(ctx)
	if err != nil {
		return "", errors.Join(err, db.Close())
	}
	_, err = c.ExecContext(ctx, schemaOfVersion(version))
	text := ""
	if err == nil {
		text, err = schemaOf(ctx, c)
	}
	return text, errors.Join(err, c.Close(), db.Close())
}

// schemaOf is the text of all tables, indexes and views, without the statistics
// that other programs may add.
func schemaOf(ctx context.Context, c *sql.Conn) (text string, err error) {
	err = c.QueryRowContext(ctx, `
		SELECT group_concat(type || ' ' || name || ' on ' || tbl_name || ': ' || coalesce(sql, ''), char(10) ORDER BY type, name)
		FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_stat%' ESCAPE '\'`).Scan(&text)
	return text, err
}

// checkSums refuses a ledger in which a step or an event has changed since it was
// written. It reads all of them.
func checkSums(ctx context.Context, c *sql.Conn, path string) error {
	for _, table := range []struct {
		one, many, query string
		sums             func(*sql.Rows) (written int64, found sum, err error)
	}{
		{"step is", "steps are", `
			SELECT o.environment, o.space, o.client, s.mapping, s.step, s.kind, s.state, s.attempts, s.last,
				coalesce(s.asked, 0), coalesce(s.answered, 0), s.created, s.url, s.sum
			FROM steps s JOIN owners o ON o.id = s.owner`, sumsOfStep},
		{"event is", "events are", `
			SELECT id, step, state, at, boot, uptime, run, via, status, reason, data, digest, answer, created, url, sum
			FROM events`, sumsOfEvent},
	} {
		wrong := 0
		rows, err := c.QueryContext(ctx, table.query)
		if err != nil {
			return damaged(path, "the ledger cannot be read: %v", err)
		}
		for rows.Next() {
			written, found, err := table.sums(rows)
			if err != nil || sum(written) != found {
				wrong++
			}
		}
		if err := rows.Err(); err != nil {
			return damaged(path, "the ledger cannot be read: %v", err)
		}
		if wrong > 0 {
			return damaged(path, "the disk has changed what was written: %s not what their sums say", count(wrong, table.one, table.many))
		}
	}
	return nil
}

func sumsOfStep(rows *sql.Rows) (written int64, found sum, err error) {
	var id StepID
	var c current
	err = rows.Scan(&id.Environment, &id.Space, &id.Client, &id.Mapping, &id.Step, &c.kind, &c.state, &c.attempts, &c.last,
		&c.request, &c.answer, &c.remoteID, &c.url, &written)
	return written, sumOfStep(id, c), err
}

func sumsOfEvent(rows *sql.Rows) (written int64, found sum, err error) {
	var number, step, at, uptime int64
	var e Event
	var data, answer sql.RawBytes
	err = rows.Scan(&number, &step, &e.To, &at, &e.Boot, &uptime, &e.Run, &e.Via, &e.Status, &e.Reason,
		&data, &e.Digest, &answer, &e.ID, &e.URL, &written)
	e.At, e.Uptime, e.Data, e.Answer = time.UnixMicro(at), time.Duration(uptime)*time.Microsecond, data, answer
	return written, sumOfEvent(number, step, e), err
}

// sum is the CRC-32C of a row, field by field. Every field counts with its
// length, so that two different rows never give the same bytes. It detects errors
// of the disk, not forgery.
type sum uint32

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *sum) number(n int64) {
	*s = sum(crc32.Update(uint32(*s), castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(n))))
}

func (s *sum) bytes(b []byte) {
	s.number(int64(len(b)))
	*s = sum(crc32.Update(uint32(*s), castagnoli, b))
}

func (s *sum) text(t string) { s.bytes([]byte(t)) }

// sumOfEvent is the sum of an event with its number and its step's.
func sumOfEvent(number, step int64, e Event) sum {
	var s sum
	s.number(number)
	s.number(step)
	s.text(string(e.To))
	s.number(e.At.UnixMicro())
	s.text(e.Boot)
	s.number(e.Uptime.Microseconds())
	s.text(e.Run)
	s.text(e.Via)
	s.number(int64(e.Status))
	s.text(e.Reason)
	s.bytes(e.Data)
	s.text(e.Digest)
	s.bytes(e.Answer)
	s.text(e.ID)
	s.text(e.URL)
	return s
}

// sumOfStep is the sum of a step's names and its current state.
func sumOfStep(id StepID, c current) sum {
	var s sum
	for _, name := range []string{id.Environment, id.Space, id.Client, id.Mapping, id.Step} {
		s.text(name)
	}
	s.text(c.kind)
	s.text(string(c.state))
	s.number(int64(c.attempts))
	s.number(c.last)
	s.number(c.request)
	s.number(c.answer)
	s.text(c.remoteID)
	s.text(c.url)
	return s
}
