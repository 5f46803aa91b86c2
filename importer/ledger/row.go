package ledger

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// row is a row of the table of steps: the step, whose SentVersion is 0 without an intent, and what
// others do not see of it. The zero row is a step that is not there yet.
type row struct {
	Step
	id, client int64 // its number, and that of its client
	sentAt     int64 // of the last intent, in microseconds since 1970; 0 without one
	sentRun    string
}

// after returns the row after an event with this number.
func (r row) after(e Event, version int64) row {
	r.Step = r.Step.After(e)
	r.Version = version
	if e.State == Sent {
		r.SentVersion, r.sentAt, r.sentRun = version, e.At.UnixMicro(), e.Run
	}
	return r
}

// keepsHistory reports whether the row must be kept when an event follows: it is more than the
// intent to which the event is the outcome.
func (r row) keepsHistory(e Event) bool {
	return r.Version != 0 && (r.State != Sent || r.Run != e.Run || r.Via != viaRun || len(e.Data) > 0 || e.Digest != "")
}

// step is the row as others see it. What became of an intent without an outcome is known only to the
// process that is sending it, if that is still at work.
func (r row) step() Step {
	r.SentVersion = cmp.Or(r.SentVersion, r.Version)
	if r.State == Sent {
		r.State, r.Reason = Uncertain, "the run that was sending it ended before it could record the answer, or is still at work"
	}
	return r.Step
}

// events are what led from one row of a step to the next, from the first on. An event is shown
// with the request, status, id and url that it brought and not with those that it left as they were.
func events(rows []row) (all []Event) {
	var was row
	for _, r := range rows {
		if r.Attempts > was.Attempts {
			intent := Event{StepID: r.StepID, State: Sent, At: micro(r.sentAt), Run: r.sentRun, Kind: r.Kind, Data: r.Data, Digest: r.Digest}
			if r.State == Sent {
				intent.Via = r.Via
			}
			all = append(all, intent)
			was = row{}
			was.Data, was.Digest = r.Data, r.Digest
		}
		if r.State != Sent {
			e := r.Event
			if r.Digest == was.Digest && bytes.Equal(r.Data, was.Data) {
				e.Data, e.Digest = nil, ""
			}
			if r.Status == was.Status {
				e.Status = 0
			}
			if r.ID == was.ID {
				e.ID = ""
			}
			if r.URL == was.URL {
				e.URL = ""
			}
			all = append(all, e)
		}
		was = r
	}
	return all
}

// micro is a stored time.
func micro(at int64) time.Time { return time.UnixMicro(at).UTC() }

// stateColumns are the columns of a row that an event may change, and that history has too.
const stateColumns = `state, version, attempts, sent, sent_at, sent_run, at, run, via, status, reason, request, digest, answer, remote_id, url, not_found`

// values are the values of stateColumns.
func (t *transaction) values(r row) (values []any, err error) {
	sentRun, err := t.number(r.sentRun)
	if err != nil {
		return nil, err
	}
	run, err := t.number(r.Run)
	values = append(make([]any, 0, 32), code(states, r.State), r.Version, int64(r.Attempts), r.SentVersion, r.sentAt, sentRun,
		r.At.UnixMicro(), run, code(vias, r.Via), int64(r.Status), r.Reason,
		blob(r.Data), digestBytes(r.Digest), blob(r.Answer), idBytes(r.ID), r.URL, bit(r.NotFound))
	return values, err
}

// stateOf are stateColumns of a table for scanState, with the names of the runs, which joinRuns joins.
func stateOf(table string) string {
	columns := table + "." + strings.ReplaceAll(stateColumns, ", ", ", "+table+".")
	return strings.NewReplacer(table+".sent_run", "coalesce(sr.name, '')", table+".run", "coalesce(r.name, '')").Replace(columns)
}

func joinRuns(table string) string {
	return ` LEFT JOIN names r ON r.id = ` + table + `.run LEFT JOIN names sr ON sr.id = ` + table + `.sent_run `
}

// A query for steps s with their clients c and environments e selects stepColumns from stepTables.
var (
	stepColumns = `e.name, c.client, c.space, coalesce(m.name, ''), s.step, s.id, s.client, s.kind, ` + stateOf("s")
	stepTables  = `steps s JOIN clients c ON c.id = s.client JOIN names e ON e.id = s.environment LEFT JOIN names m ON m.id = s.mapping` + joinRuns("s")
	selectSteps = `SELECT ` + stepColumns + ` FROM ` + stepTables
)

// numberOf is the number of the text that a parameter is, in a statement.
const numberOf = `(SELECT id FROM names WHERE name = ?)`

// scanRow reads a row with stepColumns.
func scanRow(rows *sql.Rows) (row, error) { return scanBehind(rows) }

// scanBehind reads other columns and then stepColumns.
func scanBehind(rows *sql.Rows, before ...any) (r row, err error) {
	var kind int64
	err = scanState(rows, &r, append(before, &r.Environment, &r.Client, &r.Space, &r.Mapping, &r.StepID.Step, &r.id, &r.client, &kind)...)
	r.Kind = word(kinds, kind)
	return r, err
}

// scanState reads columns and then those of stateOf.
func scanState(rows *sql.Rows, r *row, columns ...any) error {
	var state, via int64
	var digest, id sql.RawBytes
	err := rows.Scan(append(columns, &state, &r.Version, &r.Attempts, &r.SentVersion, &r.sentAt, &r.sentRun, (*instant)(&r.At), &r.Run, &via,
		&r.Status, &r.Reason,
		&r.Data, &digest, &r.Answer, &id, &r.URL, &r.NotFound)...)
	r.State, r.Via, r.Digest, r.ID = word(states, state), word(vias, via), hex.EncodeToString(digest), idText(id)
	return err
}

func scanStep(rows *sql.Rows) (Step, error) {
	r, err := scanRow(rows)
	return r.step(), err
}

// selectBriefSteps is selectSteps for scanBrief. It packs small numbers into one, because a driver takes its time for each column.
const selectBriefSteps = `SELECT s.client, s.step, s.kind + 16 * (s.state + 16 * (s.via + 16 * (s.not_found + 2 * (s.status + 1024 * s.attempts)))),
	s.version, s.sent, s.at, coalesce(r.name, ''), s.reason, s.digest, s.remote_id, s.url FROM steps s LEFT JOIN names r ON r.id = s.run `

// scanBrief reads what most clients of a quiet night need, of a step of one mapping, without the client's key.
func scanBrief(rows *sql.Rows, mapping string) (r row, err error) {
	var packed int64
	var digest, id sql.RawBytes
	err = rows.Scan(&r.client, &r.StepID.Step, &packed, &r.Version, &r.SentVersion, (*instant)(&r.At), &r.Run, &r.Reason, &digest, &id, &r.URL)
	if r.StepID.Step != KindClient {
		r.Mapping = mapping
	}
	r.Kind, r.State, r.Via = word(kinds, packed%16), word(states, packed/16%16), word(vias, packed/256%16)
	r.NotFound, r.Status, r.Attempts = packed/4096%2 == 1, int(packed/8192%1024), int(packed/(8192*1024))
	r.Digest, r.ID = hex.EncodeToString(digest), idText(id)
	return r, err
}

// bit is a bool as it is stored.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// blob is bytes as they are stored, NULL for none.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// digestBytes is a digest as it is stored, NULL for none.
func digestBytes(text string) any {
	b, _ := hex.DecodeString(text)
	return blob(b)
}

// idBytes is an id as it is stored, NULL for none: the 16 bytes of a UUID in its usual spelling,
// else the text, each behind a letter.
func idBytes(id string) any {
	if id == "" {
		return nil
	}
	if b, err := hex.DecodeString(strings.ReplaceAll(id, "-", "")); err == nil && len(b) == 16 && uuidText(b) == id {
		return append([]byte{'u'}, b...)
	}
	return append([]byte{'t'}, id...)
}

// isUUID reports whether an id is a UUID in lower case.
func isUUID(id string) bool {
	stored, _ := idBytes(id).([]byte)
	return len(stored) > 0 && stored[0] == 'u'
}

func idText(stored []byte) string {
	switch {
	case len(stored) == 0:
		return ""
	case stored[0] == 'u' && len(stored) == 17:
		return uuidText(stored[1:])
	}
	return string(stored[1:])
}

func uuidText(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func scanID(rows *sql.Rows) (string, error) {
	var id []byte
	err := rows.Scan(&id)
	return idText(id), err
}

// stamp is a time as it is stored: microseconds since 1970, NULL for none.
func stamp(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// number is the number of a text in the table names, to which it is added where the ledger does not have
// it; 0 for "".
func (t *transaction) number(text string) (id int64, err error) {
	id, ok := t.numbers[text]
	if ok || text == "" {
		return id, nil
	}
	for range 2 {
		if ok, err = first(context.Background(), t.database, []any{&id}, `SELECT id FROM names WHERE name = ?`, text); ok || err != nil {
			break
		}
		if _, err = t.exec(`INSERT INTO names (name) VALUES (?) ON CONFLICT DO NOTHING`, text); err != nil {
			break
		}
	}
	if ok {
		t.numbers[text] = id
	}
	return id, err
}
