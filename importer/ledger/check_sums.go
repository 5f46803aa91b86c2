package ledger

import (
	"context"
	"database/sql"
	"time"
)

// checkSums refuses a ledger in which a step or an event is not what was
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
		&c.asked, &c.answered, &c.created, &c.url, &written)
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
