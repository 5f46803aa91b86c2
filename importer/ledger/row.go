package ledger

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is a row of the table of steps: the state of a step, its last event, and the
// intent that led to it. The zero row is a step that is not there yet.
type row struct {
	id, client, environment int64 // its number, and those of its client and environment
	StepID
	kind     string
	state    State
	attempts int
	history  int    // how many events are in the table of history
	sent     moment // of the intent, when the last event is its outcome
	last     moment // of the last event
	via      string
	status   int
	reason   string

	// What the last event that had it has brought; inherited says what that was
	// neither the last event nor, for the request, the intent.
	request, answer       []byte
	digest, remoteID, url string
	inherited             part

	// Whether there is a request and an answer: a row may be kept without them.
	requested, answered bool
}

// moment is when and where an event happened. The zero moment is none.
type moment struct {
	event int64 // its number
	at    int64 // microseconds since 1970
	run   string
}

func momentOf(e Event, number int64) moment {
	return moment{number, e.At.UnixMicro(), e.Run}
}

// part is a set of the parts of a row that an event can bring.
type part int64

const (
	partRequest part = 1 << iota // with its digest
	partAnswer
	partID
	partURL
	// dropped is not a part: the last event could have inherited a url and did not,
	// because another client's step had it by then.
	dropped
)

// numbered is an event with its number.
type numbered struct {
	number int64
	Event
	dropped bool // its step became done without the url that it would have inherited
}

// after returns the row after an event with this number, and those of its events
// that are no longer in it and belong into history. It does not ask whether the
// event is allowed.
func (r row) after(e Event, number int64) (now row, past []numbered) {
	now = r
	hasRequest := len(e.Data) > 0 || e.Digest != ""
	switch {
	case r.last == (moment{}):
		now.StepID, now.kind = e.StepID, e.Kind
	case e.To == Intent || hasRequest:
		past, now.sent = r.events(), moment{}
	case r.sent == (moment{}) && r.isPlainIntent():
		now.sent = r.last
	default:
		past = r.events()
		past = past[len(past)-1:]
	}
	now.history += len(past)
	now.state, now.last = e.To, momentOf(e, number)
	now.via, now.status, now.reason = e.Via, e.Status, e.Reason
	if e.To == Intent { // a new attempt: the answer to an earlier one does not count
		now.attempts++
		now.answer, now.answered, now.remoteID, now.url = nil, false, "", ""
	}
	if e.To == Uncertain && e.Via == ViaByHand { // the decision is undone
		now.remoteID, now.url = "", ""
	}
	if hasRequest {
		now.request, now.digest, now.requested = e.Data, e.Digest, len(e.Data) > 0
	}
	if len(e.Answer) > 0 {
		now.answer, now.answered = e.Answer, true
	}
	if e.ID != "" {
		now.remoteID = e.ID
	}
	if e.URL != "" {
		now.url = e.URL
	}
	now.inherited = now.inheritedAfter(r, e, hasRequest)
	return now, past
}

// inheritedAfter returns what of r is inherited, after event e has led to it from
// was.
func (r row) inheritedAfter(was row, e Event, hasRequest bool) (inherited part) {
	if r.hasRequest() && !hasRequest && (r.sent == (moment{}) || was.inherited&partRequest != 0) {
		inherited |= partRequest
	}
	if r.answered && len(e.Answer) == 0 {
		inherited |= partAnswer
	}
	if r.remoteID != "" && e.ID == "" {
		inherited |= partID
	}
	if r.url != "" && e.URL == "" {
		inherited |= partURL
	}
	return inherited
}

// withoutURL returns the row after its last event has not inherited the url.
func (r row) withoutURL() row {
	r.url, r.inherited = "", r.inherited&^partURL|dropped
	return r
}

// hasRequest reports whether the row has a request or its digest. Like answered, it
// is also right for a row that was kept without its bodies.
func (r row) hasRequest() bool { return r.requested || r.digest != "" }

// isPlainIntent reports whether the last event is an intent without anything that
// sent cannot hold.
func (r row) isPlainIntent() bool {
	return r.state == Intent && r.via == own && r.status == 0 && r.reason == "" && !r.answered && r.remoteID == "" && r.url == ""
}

// events are the events that the row holds: the intent, if it is not the last event,
// and the last event.
func (r row) events() []numbered {
	event := func(m moment, to State) numbered {
		return numbered{number: m.event, Event: Event{StepID: r.StepID, Kind: r.kind, To: to, Run: m.run,
			At: time.UnixMicro(m.at).UTC()}}
	}
	last := event(r.last, r.state)
	last.Via, last.Status, last.Reason, last.dropped = r.via, r.status, r.reason, r.inherited&dropped != 0
	if r.inherited&partAnswer == 0 {
		last.Answer = r.answer
	}
	if r.inherited&partID == 0 {
		last.ID = r.remoteID
	}
	if r.inherited&partURL == 0 {
		last.URL = r.url
	}
	events := []numbered{last}
	if r.sent != (moment{}) {
		events = []numbered{event(r.sent, Intent), last}
	}
	if r.inherited&partRequest == 0 {
		events[0].Data, events[0].Digest = r.request, r.digest
	}
	return events
}

// step is the row as others see it.
func (r row) step() Step {
	events := r.events()
	s := Step{Event: events[len(events)-1].Event, Attempts: r.attempts, Ref: Ref{r.client, r.id, events[0].number, r.last.event}}
	s.Data, s.Digest, s.Answer, s.ID, s.URL = r.request, r.digest, r.answer, r.remoteID, r.url
	return s
}

// replay is the row of a step after all its events, and those that belong into
// history. The row keeps the number of was, and whether it shares its id.
func replay(was row, events []numbered) (now row, history []numbered) {
	now = row{}
	for _, e := range events {
		var past []numbered
		now, past = now.after(e.Event, e.number)
		history = append(history, past...)
		if e.dropped {
			now = now.withoutURL()
		}
	}
	now.id, now.client, now.environment = was.id, was.client, was.environment
	return now, history
}

// stamp is a time as it is stored: microseconds since 1970, NULL for none.
func stamp(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UnixMicro()
}

// blob is bytes as they are stored, NULL for none.
func blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// number is a row's number as it is stored, NULL for one that SQLite chooses.
func number(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// instant reads a stored time; NULL is the zero time.
type instant time.Time

// Scan implements sql.Scanner.
func (m *instant) Scan(stored any) error {
	switch v := stored.(type) {
	case nil:
		*m = instant{}
	case int64:
		*m = instant(time.UnixMicro(v).UTC())
	default:
		return fmt.Errorf("a time is stored as %T", stored)
	}
	return nil
}

// asDigest is a digest as an argument of a statement. A file stores the 32 bytes of a
// SHA-256 in lower-case hex, and any other text as it is; a server stores the text.
type asDigest string

// Value implements driver.Valuer, for a file.
func (d asDigest) Value() (driver.Value, error) {
	if b, ok := unhex(string(d), 32); ok {
		return b, nil
	}
	return string(d), nil
}

// Text is the value for a server.
func (d asDigest) Text() string { return string(d) }

// asID is an id as an argument of a statement. A file stores the 16 bytes of a UUID in
// its usual spelling, and any other text as it is; a server stores the text.
type asID string

// Value implements driver.Valuer, for a file.
func (id asID) Value() (driver.Value, error) {
	if b, ok := id.uuid(); ok {
		return b, nil
	}
	return string(id), nil
}

// Text is the value for a server.
func (id asID) Text() string { return string(id) }

// uuid returns the bytes of a UUID in its usual spelling.
func (id asID) uuid() ([]byte, bool) {
	text := string(id)
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return nil, false
	}
	return unhex(text[:8]+text[9:13]+text[14:18]+text[19:23]+text[24:], 16)
}

// list is texts as an argument of a statement, which reads them with json_each.
type list []string

// Value implements driver.Valuer, for a file.
func (l list) Value() (driver.Value, error) {
	data, err := json.Marshal(append([]string{}, l...)) // [] rather than null
	return string(data), err
}

// Texts is the value for a server.
func (l list) Texts() []string { return l }

// numbers is a list of numbers, each once. They are sorted.
func numbers(ids []int64) list {
	var l list
	for _, id := range slices.Compact(ids) {
		l = append(l, strconv.FormatInt(id, 10))
	}
	return l
}

// unhex decodes size bytes of lower-case hex.
func unhex(text string, size int) ([]byte, bool) {
	if len(text) != 2*size || strings.ContainsAny(text, "ABCDEF") {
		return nil, false
	}
	b, err := hex.DecodeString(text)
	return b, err == nil
}

// packed reads what was stored as asDigest or asID.
type packed string

// Scan implements sql.Scanner.
func (p *packed) Scan(stored any) error {
	switch v := stored.(type) {
	case string:
		*p = packed(v)
	case []byte:
		text := hex.EncodeToString(v)
		if len(v) == 16 {
			text = text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
		}
		*p = packed(text)
	default:
		return fmt.Errorf("an id or a digest is stored as %T", stored)
	}
	return nil
}

// found turns the error of a query for one row into whether there is one.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, asDamage(err)
}
