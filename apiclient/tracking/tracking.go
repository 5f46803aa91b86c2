// Package tracking receives what the service says about activities that clients
// complete: webhooks as they arrive, and the exports of the service's operator. It
// turns both into Events, and keeps the events of webhooks in an Inbox until the
// ledger takes them.
//
// The service document names webhooks as a way to track completion and shows neither
// event kinds nor payloads (section "Events"), so a Format says everything about them.
// What an event says is never taken as proof that something was created or not: events
// are kept beside the steps of the ledger, and change none.
package tracking

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"claimsheet/apiclient"
)

// Event is one thing that the service says about a client, a claim or an activity. It
// holds ids, and no data of the person.
type Event struct {
	// Key is the same for an event that arrives again: the service's id of the event, or
	// a hash of the other fields where the format names none.
	Key      string
	Kind     string
	Status   string
	Client   string // clientId or contactId; "" for none, as in the next two
	Claim    string
	Activity string
	Template string    // the activity's name
	At       time.Time // UTC; when it happened, or Received where the service does not say
	Received time.Time // UTC
}

// Format says where events are in a JSON document, by JSON Pointers.
type Format struct {
	// Events leads to an array of events; "" means that the document is one event, or
	// an array of events. The others are seen from an event; "" means that it has none.
	Events   string
	ID       string // the event's own id
	Kind     string
	Status   string
	Client   string
	Claim    string
	Activity string
	Template string
	At       string // written as RFC 3339, or as seconds or milliseconds since 1970
}

// Completed says which events mean that a client has completed an activity: those of
// one of the kinds, if any are listed, with one of the statuses, if any are listed.
type Completed struct{ Kinds, Statuses []string }

// Means reports whether events of a kind with a status are among them.
func (c Completed) Means(kind, status string) bool {
	return (len(c.Kinds) > 0 || len(c.Statuses) > 0) &&
		(len(c.Kinds) == 0 || slices.Contains(c.Kinds, kind)) && (len(c.Statuses) == 0 || slices.Contains(c.Statuses, status))
}

// The limits of a document.
const (
	MaxDocument = 256 << 10 // bytes
	maxText     = 200       // characters of a field
	maxEvents   = 10_000
)

// errNoIDs is wrapped by the error of a document with one event that names neither a
// client, nor a claim, nor an activity.
var errNoIDs = errors.New("it has neither the id of a client, nor of a claim, nor of an activity")

// Read returns the events of a JSON document. Of several events, those without any id
// are left out: services also send what is about nobody. Any other error says what is
// wrong and where, and quotes nothing of the document; then there are no events.
func (f Format) Read(document []byte, received time.Time) ([]Event, error) {
	if len(document) > MaxDocument {
		return nil, fmt.Errorf("it has more than %d bytes", MaxDocument)
	}
	list, err := f.list(document)
	if err != nil {
		return nil, err
	}
	events := make([]Event, 0, len(list))
	for i, one := range list {
		e, err := f.read(one, received)
		switch {
		case err == nil:
			events = append(events, e)
		case len(list) == 1:
			return nil, err
		case !errors.Is(err, errNoIDs):
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return events, nil
}

// list returns the events of a document, as JSON.
func (f Format) list(document []byte) ([]json.RawMessage, error) {
	at, ok := apiclient.At(document, f.Events)
	var list []json.RawMessage
	isList := json.Unmarshal(at, &list) == nil && list != nil // null makes no list
	switch {
	case !json.Valid(document):
		return nil, errors.New("it is not JSON")
	case !ok:
		return nil, fmt.Errorf("there is nothing at “events” (%s)", f.Events)
	case !isList && f.Events != "":
		return nil, fmt.Errorf("there is no array at “events” (%s)", f.Events)
	case !isList:
		return []json.RawMessage{at}, nil
	case len(list) > maxEvents:
		return nil, fmt.Errorf("it has more than %d events", maxEvents)
	}
	return list, nil
}

// read reads one event.
func (f Format) read(document []byte, received time.Time) (Event, error) {
	if text := bytes.TrimSpace(document); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return Event{}, errors.New("an event is neither an object nor an array")
	}
	e := Event{Received: received.UTC().Truncate(time.Microsecond)}
	var at string
	for _, field := range []struct {
		name, pointer string
		into          *string
	}{
		{"id", f.ID, &e.Key}, {"kind", f.Kind, &e.Kind}, {"status", f.Status, &e.Status}, {"client_id", f.Client, &e.Client},
		{"claim_id", f.Claim, &e.Claim}, {"activity_id", f.Activity, &e.Activity}, {"activity", f.Template, &e.Template}, {"time", f.At, &at},
	} {
		if field.pointer == "" {
			continue
		}
		if err := textAt(document, field.pointer, field.into); err != nil {
			return Event{}, fmt.Errorf("“%s” (%s) %w", field.name, field.pointer, err)
		}
	}
	if e.Client == "" && e.Claim == "" && e.Activity == "" {
		return Event{}, errNoIDs
	}
	if f.ID != "" && e.Key == "" {
		return Event{}, fmt.Errorf("there is no id of the event at “id” (%s)", f.ID)
	}
	var err error
	if e.At, err = f.instant(at, e.Received); err != nil {
		return Event{}, err
	}
	if e.Key == "" {
		e.Key = hashOf(e, at)
	}
	return e, nil
}

// textAt reads a text or a number; nothing and null leave into empty.
func textAt(document []byte, pointer string, into *string) error {
	value, ok := apiclient.At(document, pointer)
	if !ok || string(value) == "null" {
		return nil
	}
	text, ok := apiclient.ScalarText(value)
	switch {
	case !ok || text == "true" && value[0] == 't' || text == "false" && value[0] == 'f':
		return errors.New("is neither a text nor a number")
	case len([]rune(text)) > maxText:
		return fmt.Errorf("has more than %d characters", maxText)
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("has a control character inside")
	}
	*into = strings.TrimSpace(text)
	return nil
}

// instant reads a time; "" is when the event was received. A number of seconds is not one of milliseconds for another
// time: only the years 2000 to 2200 are possible.
func (f Format) instant(text string, received time.Time) (time.Time, error) {
	if text == "" {
		return received, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if n, notNumber := strconv.ParseInt(text, 10, 64); notNumber == nil {
		if at, err = time.Unix(n, 0), nil; !isPossible(at) {
			at = time.UnixMilli(n)
		}
	}
	if err != nil || !isPossible(at) {
		return time.Time{}, fmt.Errorf("“time” (%s) is neither a time such as 2026-03-01T09:30:00Z nor a number of seconds or milliseconds since 1970", f.At)
	}
	return at.UTC().Truncate(time.Microsecond), nil
}

func isPossible(at time.Time) bool { return at.UTC().Year() >= 2000 && at.UTC().Year() <= 2200 }

// hashOf is the key of an event that has no id of its own: what it says.
func hashOf(e Event, at string) string {
	h := sha256.New()
	for _, text := range []string{e.Kind, e.Status, e.Client, e.Claim, e.Activity, e.Template, at} {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
