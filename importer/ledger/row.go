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

// row is a row of the table of steps: the state of a step, the intent that led to it, and what
// the last event that had it has brought. The zero row is a step that is not there yet.
type row struct {
	StepID
	id, client            int64 // its number, and that of its client
	kind                  string
	state                 State
	version               int64 // the number of the last event
	attempts              int
	sent                  int64 // the number of the last intent, 0 without one
	sentAt                int64 // microseconds since 1970
	sentRun               string
	at                    int64
	run, via              string
	status                int
	reason                string
	request, answer       []byte
	digest, remoteID, url string
	notFound              bool
}

// after returns the row after an event with this number. It does not ask whether the event is
// allowed.
func (r row) after(e Event, version int64) row {
	if r.version == 0 {
		r.StepID, r.kind = e.StepID, e.Kind
	}
	r.state, r.version, r.at, r.run = e.To, version, e.At.UnixMicro(), e.Run
	r.via, r.reason, r.notFound = e.Via, e.Reason, e.NotFound
	if e.Status != 0 || e.To == Sent || e.To == Refused { // else it stays that of the answer
		r.status = e.Status
	}
	if e.To == Sent { // a new attempt: the answer to an earlier one does not count
		r.attempts++
		r.sent, r.sentAt, r.sentRun = version, r.at, e.Run
		r.answer, r.remoteID, r.url = nil, "", ""
	}
	if e.To == Uncertain && e.Via == ViaByHand { // the decision is undone
		r.remoteID, r.url = "", ""
	}
	if len(e.Data) > 0 || e.Digest != "" {
		r.request, r.digest = e.Data, e.Digest
	}
	if len(e.Answer) > 0 {
		r.answer = e.Answer
	}
	r.remoteID, r.url = cmp.Or(e.ID, r.remoteID), cmp.Or(e.URL, r.url)
	return r
}

// keepsHistory reports whether the row must be kept when an event follows: it is more than the
// intent to which the event is the outcome.
func (r row) keepsHistory(e Event) bool {
	return r.version != 0 && (r.state != Sent || r.via != own || len(e.Data) > 0 || e.Digest != "")
}

// step is the row as others see it.
func (r row) step() Step {
	return Step{Attempts: r.attempts, Ref: Ref{Sent: cmp.Or(r.sent, r.version), Last: r.version}, Event: Event{StepID: r.StepID, To: r.state, At: micro(r.at), Run: r.run, Kind: r.kind,
		Via: r.via, Status: r.status, Reason: r.reason, Data: r.request, Digest: r.digest, Answer: r.answer, ID: r.remoteID, URL: r.url, NotFound: r.notFound}}
}

// events are what led from one row of a step to the next, from the first on. An event is shown
// with what it brought and not with what it left as it was.
func events(rows []row) (all []Event) {
	var was row
	for _, r := range rows {
		if r.attempts > was.attempts {
			intent := Event{StepID: r.StepID, To: Sent, At: micro(r.sentAt), Run: r.sentRun, Kind: r.kind, Data: r.request, Digest: r.digest}
			if r.state == Sent {
				intent.Via = r.via
			}
			all = append(all, intent)
			was = row{request: r.request, digest: r.digest}
		}
		if r.state != Sent {
			e := r.step().Event
			if r.digest == was.digest && bytes.Equal(r.request, was.request) {
				e.Data, e.Digest = nil, ""
			}
			if bytes.Equal(r.answer, was.answer) {
				e.Answer = nil
			}
			if r.status == was.status {
				e.Status = 0
			}
			if r.remoteID == was.remoteID {
				e.ID = ""
			}
			if r.url == was.url {
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
	sentRun, err := t.number(tableNames, r.sentRun)
	if err != nil {
		return nil, err
	}
	run, err := t.number(tableNames, r.run)
	values = append(make([]any, 0, 32), code(states, r.state), r.version, int64(r.attempts), r.sent, r.sentAt, sentRun, r.at, run, code(vias, r.via), int64(r.status), r.reason,
		blob(r.request), digestBytes(r.digest), blob(r.answer), idBytes(r.remoteID), r.url, bit(r.notFound))
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
	stepTables  = `steps s JOIN clients c ON c.id = s.client JOIN environments e ON e.id = s.environment LEFT JOIN names m ON m.id = s.mapping` + joinRuns("s")
	stepsOf     = `SELECT ` + stepColumns + ` FROM ` + stepTables
)

// numberOf is the number of the environment that a parameter names, in a statement.
const numberOf = `(SELECT id FROM environments WHERE name = ?)`

// scanRow reads a row with stepColumns.
func scanRow(rows *sql.Rows) (row, error) { return scanBehind(rows) }

// scanBehind reads other columns and then stepColumns.
func scanBehind(rows *sql.Rows, before ...any) (r row, err error) {
	var kind int64
	err = scanState(rows, &r, append(before, &r.Environment, &r.Client, &r.Space, &r.Mapping, &r.Step, &r.id, &r.client, &kind)...)
	r.kind = word(kinds, kind)
	return r, err
}

// scanState reads columns and then those of stateOf.
func scanState(rows *sql.Rows, r *row, columns ...any) error {
	var state, via int64
	var digest, id sql.RawBytes
	err := rows.Scan(append(columns, &state, &r.version, &r.attempts, &r.sent, &r.sentAt, &r.sentRun, &r.at, &r.run, &via, &r.status, &r.reason,
		&r.request, &digest, &r.answer, &id, &r.url, &r.notFound)...)
	r.state, r.via, r.digest, r.remoteID = word(states, state), word(vias, via), digestText(digest), idText(id)
	return err
}

func scanStep(rows *sql.Rows) (Step, error) {
	r, err := scanRow(rows)
	return r.step(), err
}

// briefStepsOf is stepsOf for scanBrief.
const briefStepsOf = `SELECT c.client, c.space, s.step, s.kind, s.state, s.version, s.attempts, s.sent, s.at, coalesce(r.name, ''), s.via, s.status, s.reason, s.digest, s.remote_id, s.url, s.not_found
	FROM steps s JOIN clients c ON c.id = s.client LEFT JOIN names r ON r.id = s.run `

// scanBrief reads what most clients of a quiet night need, of a step of one mapping.
func scanBrief(rows *sql.Rows, environment, mapping string) (r row, err error) {
	var kind, state, via int64
	var digest, id sql.RawBytes
	err = rows.Scan(&r.Client, &r.Space, &r.Step, &kind, &state, &r.version, &r.attempts, &r.sent, &r.at, &r.run, &via, &r.status, &r.reason, &digest, &id, &r.url, &r.notFound)
	if r.Environment = environment; r.Step != KindClient {
		r.Mapping = mapping
	}
	r.kind, r.state, r.via, r.digest, r.remoteID = word(kinds, kind), word(states, state), word(vias, via), digestText(digest), idText(id)
	return r, err
}

// historyOf is the query for what a step was before, with the number of the step.
var historyOf = `SELECT ` + stateOf("h") + ` FROM history h` + joinRuns("h") + `WHERE h.step = ? ORDER BY h.version`

// past are the rows that a step was before, and the one that it is now.
func past(ctx context.Context, db querier, now row) ([]row, error) {
	before, err := gather(stream(ctx, db, func(rows *sql.Rows) (row, error) {
		r := row{StepID: now.StepID, id: now.id, kind: now.kind}
		return r, scanState(rows, &r)
	}, historyOf, now.id))
	return append(before, now), err
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

// digestBytes is a digest as it is stored: the 32 bytes of a SHA-256 in hex, else the text.
func digestBytes(text string) any {
	if b, err := hex.DecodeString(text); err == nil && len(b) == 32 && hex.EncodeToString(b) == text {
		return b
	}
	return blob([]byte(text))
}

func digestText(b []byte) string {
	if len(b) == 32 {
		return hex.EncodeToString(b)
	}
	return string(b)
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

// The tables of texts that many rows repeat: environments, and the names of runs and mappings.
const (
	tableEnvironments = "environments"
	tableNames        = "names"
)

// numbered is a text in one of these tables.
type numbered struct{ table, text string }

// number is the number of a text, which is added where the ledger does not have it; 0 for no name.
func (t *transaction) number(table, text string) (id int64, err error) {
	id, ok := t.numbers[numbered{table, text}]
	if ok || text == "" && table == tableNames {
		return id, nil
	}
	for range 2 {
		if ok, err = first(context.Background(), t, []any{&id}, `SELECT id FROM `+table+` WHERE name = ?`, text); ok || err != nil {
			break
		}
		if _, err = t.exec(`INSERT INTO `+table+` (name) VALUES (?) ON CONFLICT DO NOTHING`, text); err != nil {
			break
		}
	}
	if ok {
		t.numbers[numbered{table, text}] = id
	}
	return id, err
}
