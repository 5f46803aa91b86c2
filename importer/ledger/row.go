package ledger

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"
)

// row is a row of the table of steps: the state of a step, the intent that led to it, and what
// the last event that had it has brought. The zero row is a step that is not there yet.
type row struct {
	StepID
	id, client, environment int64 // its number, and those of its client and environment
	kind                    string
	state                   State
	version                 int64 // the number of the last event
	attempts                int
	sent                    int64 // the number of the last intent, 0 without one
	sentAt                  int64 // microseconds since 1970
	sentRun                 string
	at                      int64
	run, via                string
	status                  int
	reason                  string
	request, answer         []byte
	digest, remoteID, url   string
	notFound                bool
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
	sentRun, err := t.names.number(r.sentRun)
	if err != nil {
		return nil, err
	}
	run, err := t.names.number(r.run)
	values = append(make([]any, 0, 32), code(states, r.state), r.version, int64(r.attempts), r.sent, r.sentAt, sentRun, r.at, run, code(vias, r.via), int64(r.status), r.reason,
		blob(r.request), digestBytes(r.digest), blob(r.answer), idBytes(r.remoteID), r.url, bit(r.notFound))
	return values, err
}

// stepColumns are the columns of steps s and clients c for a rowReader.
var stepColumns = `c.client, c.space, s.id, s.client, s.environment, s.mapping, s.step, s.kind, s.` + strings.ReplaceAll(stateColumns, ", ", ", s.")

// stepsOf begins a query for steps with their clients.
var stepsOf = `SELECT ` + stepColumns + ` FROM steps s JOIN clients c ON c.id = s.client `

// historyOf is the query for what a step was before, with the number of the step.
var historyOf = `SELECT h.` + strings.ReplaceAll(stateColumns, ", ", ", h.") + ` FROM history h WHERE h.step = ? ORDER BY h.version`

// rowReader reads rows of steps and of history.
type rowReader struct {
	names *names
	path  string // of the ledger, for errors
}

// scan reads a row with stepColumns.
func (rr rowReader) scan(rows *sql.Rows) (row, error) { return rr.scanBehind(rows) }

// scanBehind reads a row with other columns and then stepColumns.
func (rr rowReader) scanBehind(rows *sql.Rows, before ...any) (r row, err error) {
	var mapping, kind int64
	err = rr.read(rows, &r, append(before, &r.Client, &r.Space, &r.id, &r.client, &r.environment, &mapping, &r.Step, &kind)...)
	if err != nil {
		return r, err
	}
	r.kind = word(kinds, kind)
	if r.Environment, err = rr.names.environment(r.environment); err == nil {
		r.Mapping, err = rr.names.text(mapping)
	}
	return r, err
}

// briefStepsOf is stepsOf for scanBrief.
const briefStepsOf = `SELECT c.client, c.space, s.step, s.kind, s.state, s.version, s.attempts, s.sent, s.at, s.run, s.via, s.status, s.reason, s.digest, s.remote_id, s.url, s.not_found
	FROM steps s JOIN clients c ON c.id = s.client `

// scanBrief reads what most clients of a quiet night need, of a step of one mapping.
func (rr rowReader) scanBrief(rows *sql.Rows, environment, mapping string) (r row, err error) {
	var kind, state, run, via int64
	var digest, id sql.RawBytes
	err = rows.Scan(&r.Client, &r.Space, &r.Step, &kind, &state, &r.version, &r.attempts, &r.sent, &r.at, &run, &via, &r.status, &r.reason, &digest, &id, &r.url, &r.notFound)
	if err != nil {
		return r, err
	}
	if r.Environment = environment; r.Step != KindClient {
		r.Mapping = mapping
	}
	r.kind, r.state, r.via, r.digest, r.remoteID = word(kinds, kind), word(states, state), word(vias, via), digestText(digest), idText(id)
	r.run, err = rr.names.text(run)
	return r, err
}

func (rr rowReader) step(rows *sql.Rows) (Step, error) {
	r, err := rr.scan(rows)
	return r.step(), err
}

// read reads columns and then stateColumns.
func (rr rowReader) read(rows *sql.Rows, r *row, columns ...any) error {
	var state, sentRun, run, via int64
	var digest, id []byte
	err := rows.Scan(append(columns, &state, &r.version, &r.attempts, &r.sent, &r.sentAt, &sentRun, &r.at, &run, &via, &r.status, &r.reason, &r.request, &digest, &r.answer, &id, &r.url, &r.notFound)...)
	if err != nil {
		return err
	}
	r.state, r.via, r.digest, r.remoteID = word(states, state), word(vias, via), digestText(digest), idText(id)
	if r.sentRun, err = rr.names.text(sentRun); err == nil {
		r.run, err = rr.names.text(run)
	}
	return err
}

// past are the rows that a step was before, and the one that it is now.
func (rr rowReader) past(ctx context.Context, db querier, now row) ([]row, error) {
	past, err := gather(stream(ctx, db, func(rows *sql.Rows) (row, error) {
		r := row{StepID: now.StepID, id: now.id, kind: now.kind}
		return r, rr.read(rows, &r)
	}, historyOf, now.id))
	return append(past, now), err
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

// names are the texts behind numbers in the ledger: environments and, in the table names, runs
// and mappings, of which there are few. A number keeps its text for ever.
type names struct {
	db      *database
	mu      sync.RWMutex
	texts   [2]map[int64]string
	numbers [2]map[string]int64
	path    string
}

// The tables of names.
const (
	tableEnvironments = iota
	tableNames
)

var nameTables = [2]string{"environments", "names"}

func newNames(db *database, path string) *names {
	n := &names{db: db, path: path}
	n.forget()
	return n
}

// forget drops everything: a transaction that may have added some of it was rolled back.
func (n *names) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = [2]map[int64]string{{}, {0: ""}}
	n.numbers = [2]map[string]int64{{}, {"": 0}}
}

// environment is the name of an environment.
func (n *names) environment(id int64) (string, error) { return n.find(tableEnvironments, id) }

// text is one of the names; "" for 0.
func (n *names) text(id int64) (string, error) { return n.find(tableNames, id) }

func (n *names) find(table int, id int64) (string, error) {
	n.mu.RLock()
	text, ok := n.texts[table][id]
	n.mu.RUnlock()
	switch {
	case ok:
		return text, nil
	case n.db.isServer():
		return "", unknownName{n, table, id}
	}
	if err := n.read(table, id); err != nil {
		return "", err
	}
	return n.find(table, id)
}

// unknownName is the error of a row of a server with a name that was not read yet.
type unknownName struct {
	names *names
	table int
	id    int64
}

func (unknownName) Error() string { return "a name is not known yet" }

// read reads a name.
func (n *names) read(table int, id int64) error {
	var text string
	ok, err := first(context.Background(), n.db, []any{&text}, `SELECT name FROM `+nameTables[table]+` WHERE id = ?`, id)
	if err == nil && !ok {
		err = damaged(n.path, "the ledger contradicts itself: a row points to another that is not there")
	}
	if err == nil {
		n.keep(table, id, text)
	}
	return err
}

func (n *names) keep(table int, id int64, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts[table][id], n.numbers[table][text] = text, id
}

// known is the number of a name; -1, which no name has, where the ledger does not have it.
func (n *names) known(table int, text string) (id int64, err error) {
	n.mu.RLock()
	id, ok := n.numbers[table][text]
	n.mu.RUnlock()
	if ok {
		return id, nil
	}
	ok, err = first(context.Background(), n.db, []any{&id}, `SELECT id FROM `+nameTables[table]+` WHERE name = ?`, text)
	if !ok || err != nil {
		return -1, err
	}
	n.keep(table, id, text)
	return id, nil
}

// number is the number of a run or mapping, which is added where the ledger does not have it.
func (n *names) number(text string) (int64, error) { return n.add(tableNames, text) }

func (n *names) add(table int, text string) (id int64, err error) {
	if id, err = n.known(table, text); err != nil || id >= 0 {
		return id, err
	}
	if _, err = n.db.exec(`INSERT INTO `+nameTables[table]+` (name) VALUES (?) ON CONFLICT DO NOTHING`, text); err != nil {
		return 0, err
	}
	return n.known(table, text)
}
