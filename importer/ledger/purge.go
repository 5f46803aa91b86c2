package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Purge says what is to be taken out of the ledger.
type Purge struct {
	Environments []string
	Before       time.Time // what is older goes
	// Summary is what stays of the summary of a run that is older.
	Summary func(summary []byte) []byte
}

// Purged is what Purge has done.
type Purged struct {
	Runs   int // whose input and problems are no longer known
	Bodies int // requests' data and answers
	URLs   int // redirect urls of steps
	// Unsettled are steps that kept what is older, because they are uncertain or
	// parked: their answers may hold the only trace of an id.
	Unsettled int
}

// Purge takes the personal data that is older out of the ledger: the data of
// requests, whole answers, redirect urls, what was wrong with rows, and the
// names of kept inputs, whose files are the caller's to remove. Client keys, step
// names, states, ids and digests stay, so that nothing is created again. It is
// done whole or not at all, and when it returns nothing of it is left in the
// ledger's files.
func (l *Ledger) Purge(p Purge) (done Purged, err error) {
	if l.write == nil {
		return Purged{}, ErrReadOnly
	}
	err = l.write.submit(true, func(t *transaction) error {
		done = Purged{}
		return t.purge(p, &done)
	})
	if err == nil {
		err = l.compact()
	}
	return done, err
}

// settled leaves out the steps that an operator or a look-up must still decide.
const settled = `s.state NOT IN ('intent', 'uncertain', 'parked')`

func (t *transaction) purge(p Purge, done *Purged) error {
	if err := t.overwrite(); err != nil {
		return err
	}
	in, before := list(p.Environments), p.Before.UnixMicro()
	const old = `o.environment IN (SELECT value FROM json_each(?)) AND e.at < ? AND (e.data IS NOT NULL OR e.answer IS NOT NULL OR e.url <> '')`
	err := t.conn.QueryRowContext(context.Background(), `
		SELECT count(DISTINCT s.id) FROM events e JOIN steps s ON s.id = e.step JOIN owners o ON o.id = s.owner
		WHERE NOT `+settled+` AND `+old, in, before).Scan(&done.Unsettled)
	if err != nil {
		return err
	}
	bare := func(e *Event) { e.Data, e.Answer, e.URL = nil, nil, "" }
	if done.Bodies, err = t.changeEvents(bare, settled+` AND `+old, in, before); err != nil {
		return err
	}
	// A step shows the last url that an event brought.
	lost := func(id StepID, c current) (StepID, current) { c.url = ""; return id, c }
	if done.URLs, err = t.changeSteps(lost, settled+` AND s.url <> '' AND o.environment IN (SELECT value FROM json_each(?))
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.step = s.id AND e.url = s.url)`, in); err != nil {
		return err
	}
	done.Runs, err = t.stripRuns(p.Summary, `environment IN (SELECT value FROM json_each(?)) AND started < ?`, in, before)
	return err
}

// stripRuns takes what is personal out of the runs that a condition names: of
// their rows, their summaries and what leads to their inputs.
func (t *transaction) stripRuns(summary func([]byte) []byte, where string, args ...any) (int, error) {
	runs, err := gatherRows(t, scanRun, `SELECT `+runColumns+` FROM runs WHERE `+where, args...)
	if err != nil {
		return 0, err
	}
	stripped := 0
	for _, r := range runs {
		rows, err := t.changes(`UPDATE run_rows SET url = '', error = '' WHERE run = ? AND (url <> '' OR error <> '')`, r.ID)
		if err != nil {
			return 0, err
		}
		left := summary(r.Summary)
		if rows == 0 && r.KeptInput == "" && len(left) == len(r.Summary) {
			continue // by an earlier purge
		}
		stripped++
		if err := t.exec(`UPDATE runs SET kept_input = '', summary = ? WHERE id = ?`, blob(left), r.ID); err != nil {
			return 0, err
		}
	}
	return stripped, nil
}

// atOnce bounds what is held in memory of what is changed. The queries go
// through their table by number, which CROSS JOIN makes SQLite do: sorting for
// each batch would take a time that grows with the square of the ledger.
const atOnce = 1000

// numbered is an event with its number and its step's.
type numbered struct {
	number, step int64
	Event
}

// changeEvents changes the events that a condition names and takes their sums
// anew. It tells how many there were.
func (t *transaction) changeEvents(change func(*Event), where string, args ...any) (n int, err error) {
	for last := int64(0); ; {
		events, err := gatherRows(t, scanNumbered, `
			SELECT e.id, e.step, e.state, e.at, e.boot, e.uptime, e.run, e.via, e.status, e.reason, e.data, e.digest, e.answer, e.created, e.url
			FROM events e CROSS JOIN steps s ON s.id = e.step JOIN owners o ON o.id = s.owner
			WHERE e.id > `+fmt.Sprint(last)+` AND `+where+` ORDER BY e.id LIMIT `+fmt.Sprint(atOnce), args...)
		if err != nil || len(events) == 0 {
			return n, err
		}
		for _, e := range events {
			last = e.number
			change(&e.Event)
			if err := t.exec(`UPDATE events SET data = ?, digest = ?, answer = ?, url = ?, sum = ? WHERE id = ?`,
				blob(e.Data), e.Digest, blob(e.Answer), e.URL, int64(sumOfEvent(e.number, e.step, e.Event)), e.number); err != nil {
				return n, err
			}
			n++
		}
	}
}

func scanNumbered(rows *sql.Rows) (e numbered, err error) {
	err = rows.Scan(&e.number, &e.step, &e.To, (*moment)(&e.At), &e.Boot, (*span)(&e.Uptime), &e.Run, &e.Via, &e.Status, &e.Reason,
		&e.Data, &e.Digest, &e.Answer, &e.ID, &e.URL)
	return e, err
}

// named is a step of the table of steps with its names.
type named struct {
	StepID
	current
}

// changeSteps changes the steps that a condition names and takes their sums
// anew; only the step's name and its url are stored, the owner's name being stored
// once. It tells how many there were.
func (t *transaction) changeSteps(change func(StepID, current) (StepID, current), where string, args ...any) (n int, err error) {
	for last := int64(0); ; {
		steps, err := gatherRows(t, scanNamed, `
			SELECT o.environment, o.space, o.client, s.mapping, s.step, s.id, s.kind, s.state, s.attempts, s.last,
				coalesce(s.asked, 0), coalesce(s.answered, 0), s.created, s.url
			FROM steps s CROSS JOIN owners o ON o.id = s.owner
			WHERE s.id > `+fmt.Sprint(last)+` AND `+where+` ORDER BY s.id LIMIT `+fmt.Sprint(atOnce), args...)
		if err != nil || len(steps) == 0 {
			return n, err
		}
		for _, s := range steps {
			last = s.id
			id, c := change(s.StepID, s.current)
			if err := t.exec(`UPDATE steps SET step = ?, url = ?, sum = ? WHERE id = ?`,
				id.Step, c.url, int64(sumOfStep(id, c)), c.id); err != nil {
				return n, err
			}
			n++
		}
	}
}

func scanNamed(rows *sql.Rows) (s named, err error) {
	err = rows.Scan(&s.Environment, &s.Space, &s.Client, &s.Mapping, &s.Step, &s.id, &s.kind, &s.state, &s.attempts, &s.last,
		&s.asked, &s.answered, &s.created, &s.current.url)
	return s, err
}
