package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// By is what a client is looked up by.
type By string

// The two look-ups of the document.
const (
	ByEmail By = "e-mail"
	ByPhone By = "phone"
)

// Found is the result of a look-up that succeeded.
type Found struct {
	ID     string // clientId or contactId; "" when Absent
	Absent bool   // the service knows nobody by that value
	Body   []byte // the whole answer, for Agrees
}

// Find asks the service for the client with that e-mail address or phone number.
// Exactly one match gives an ID; nobody gives Absent. Everything else is an error
// (a *Failure), because an answer that cannot be understood does not say whether
// the client exists.
//
// An answer means nobody if Config.NotFound says so. Once LearnAbsent has
// succeeded for by, it must also look like the answer learnt then. The document
// shows no answers of look-ups: the id is read at the place of look-ups, in an
// array of one element also inside that element.
func (c *Client) Find(ctx context.Context, by By, value string) (Found, error) {
	r, a, absent, err := c.lookUp(ctx, by, value)
	if err == nil && absent {
		err = c.asLearnt(by, a)
	}
	if err != nil || absent {
		return Found{Absent: err == nil, Body: a.Body}, err
	}
	id, err := idAt(FindClient, a, c.lookupPlace(), c.urlOf(r))
	if err != nil {
		return Found{}, &Failure{Retry: unlessJSON(a), Reason: "the look-up by " + string(by) + " got " + statusText(a.Status) +
			", but the answer " + err.Error()}
	}
	return Found{ID: id, Body: a.Body}, nil
}

// unlessJSON says whether an answer of the wrong shape is worth another GET: not
// when it is JSON, because then the service itself has answered.
func unlessJSON(a Answer) Retry {
	if json.Valid(a.Body) {
		return Never
	}
	return Now
}

// lookUp sends a look-up. The answer is a 2xx, or means nobody by Config.NotFound: then
// absent is set. It is an error that it means so beside an id.
func (c *Client) lookUp(ctx context.Context, by By, value string) (r Request, a Answer, absent bool, err error) {
	what := "the look-up by " + string(by)
	r = c.Routes().Find(by, value)
	if a, err = c.Do(ctx, r); err != nil {
		return r, Answer{}, false, during(what, err)
	}
	if absent = c.cfg.NotFound.Describes(a); !absent {
		return r, a, false, c.refusal(what, a)
	}
	place := c.lookupPlace()
	hasNone := func(n NotFoundRule) bool {
		if n.Place == nil { // the body of an answer that means nobody by its status may have an id of the error
			return slices.Contains(n.Status, a.Status) && !strings.HasPrefix(place, placeHeader)
		}
		return *n.Place == place && n.describes(a) // what stands there means nobody
	}
	if place != placeText && !slices.ContainsFunc(c.cfg.NotFound.Rules, hasNone) && c.hasID(r, a) {
		err = &Failure{Reason: what + " got an answer that not_found describes as an unknown client, but that holds an id",
			Hint: "check the environment's not_found and wire"}
	}
	return r, a, true, err
}

// refusal returns the failure of a GET that was answered with anything but a 2xx;
// nil for a 2xx, unless a rule reads it as a stop.
func (c *Client) refusal(what string, a Answer) error {
	m, rule, _ := c.meaningOf(a, false)
	if a.Status/100 == 2 && !m.stop {
		return nil
	}
	stop := m.stop || a.Status == http.StatusUnauthorized
	f := &Failure{Stop: stop, Status: a.Status, RetryAfter: a.RetryAfter, Reason: what + " got " + statusText(a.Status),
		Hint: cmp.Or(rule.Hint, statusMeaning(a.Status).hint)}
	switch {
	case c.asksToWait(a):
		f.Retry = AfterPause
	case m.passes && !stop:
		f.Retry = Now
	}
	return f
}

// hasID reports whether an answer holds an id or several.
func (c *Client) hasID(r Request, a Answer) bool {
	f, err := locate(a, c.lookupPlace(), followMatch, c.urlOf(r))
	_, noID := readID(f.value)
	return err == nil && (f.crowded || f.repeated || noID == nil)
}

func (c *Client) lookupPlace() string {
	w := c.cfg.Wire
	id, lookup := w.ContactID, w.LookupContactID
	if c.cfg.Version == V1 {
		id, lookup = w.ClientID, w.LookupClientID
	}
	if lookup != nil {
		return *lookup
	}
	return id
}

// followMatch follows pointer into an answer. If the answer is an array of one
// element that the pointer does not enter, it follows it into the element.
func followMatch(doc []byte, pointer string) found {
	f := follow(doc, pointer)
	if form(doc) != "array" {
		return f
	}
	items := inside(doc, "array")
	if len(items) == 1 && (f.value == nil || pointer == "") {
		return follow(items[0].value, pointer)
	}
	f.crowded = f.crowded || len(items) > 1
	return f
}

// Agrees compares a match with what the sheet says about the client, at the
// pointers of wire.lookup_agree. fields are client fields (dotted paths) and their
// values as text. Case and runs of white space do not count. A field that is empty
// in the sheet agrees with anything. One that the answer does not hold agrees with
// nothing, because the match could not be confirmed. ok is false for the first
// field, in alphabetical order, that does not agree.
func (c *Client) Agrees(match Found, fields map[string]string) (field string, ok bool) {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	doc, isJSON := document(match.Body)
	for _, field := range slices.Sorted(maps.Keys(c.cfg.Wire.LookupAgree)) {
		want, f := squeeze(fields[field]), found{}
		if isJSON {
			f = followMatch(doc, c.cfg.Wire.LookupAgree[field])
		}
		text, ok := scalar(f.value)
		if want != "" && (!ok || f.repeated || !strings.EqualFold(squeeze(text), want)) {
			return field, false
		}
	}
	return "", true
}

// Describes reports whether an answer means that nothing was found.
func (n NotFound) Describes(a Answer) bool {
	return slices.ContainsFunc(n.Rules, func(rule NotFoundRule) bool { return rule.describes(a) })
}

// isEmpty reports whether a JSON value is null, {} or [].
func isEmpty(value []byte) bool {
	kind := form(value)
	return kind == "null" || (kind == "object" || kind == "array") && len(inside(value, kind)) == 0
}

// describes reports whether an answer means nobody; never by the value of one of several people.
func (n NotFoundRule) describes(a Answer) bool {
	if n.Place == nil {
		doc, isJSON := document(a.Body)
		return slices.Contains(n.Status, a.Status) || n.Empty && a.Status/100 == 2 && isJSON && isEmpty(doc)
	}
	if n.Status == nil && a.Status/100 != 2 || n.Status != nil && !slices.Contains(n.Status, a.Status) {
		return false
	}
	if n.Empty && *n.Place == placeText {
		return !a.Cut && len(bytes.TrimSpace(a.Body)) == 0
	}
	f, err := valueAt(a, *n.Place, follow)
	return err == nil && f.value != nil && !f.repeated && !f.crowded && n.fits(f.value)
}

func (n NotFoundRule) fits(value json.RawMessage) bool {
	got, _ := scalar(value)
	want, _ := scalar(n.Equals)
	switch kind := form(value); {
	case n.Empty:
		return isEmpty(value) || kind == "string" && got == ""
	case kind != form(n.Equals):
		return false
	case kind == "number":
		a, errA := strconv.ParseFloat(got, 64)
		b, errB := strconv.ParseFloat(want, 64)
		return errA == nil && errB == nil && a == b
	}
	return got == want
}

// maxProbes is how many invented values are looked up before "every client
// exists" is believed: a test environment may really know one of the numbers.
const maxProbes = 3

// KnowsAbsent reports whether there is nothing for LearnAbsent to learn: it has succeeded, or Config.NotFound
// is Stated. Then the first answer of Find that means Absent shows what the others must look like.
func (c *Client) KnowsAbsent(by By) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, learnt := c.absent[by]
	return learnt || c.cfg.NotFound.Stated
}

// LearnAbsent looks up a client who cannot exist and remembers what the answer
// looks like, because a wrong path, a login page and a proxy answer 404 too.
// Afterwards only an answer that looks the same means Absent. The error (a
// *Failure) says what came when Config.NotFound does not read it as nobody.
func (c *Client) LearnAbsent(ctx context.Context, by By) error {
	var a Answer
	for range maxProbes {
		value := c.Invent(by)
		r, answer, nobody, err := c.lookUp(ctx, by, value)
		switch a = answer; {
		case err != nil:
			return ofInvented(value, err)
		case nobody && isPage(a):
			return gotPage("the look-up of an invented "+string(by), a)
		case nobody:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.absent[by] = shapeOf(a)
			return nil
		}
		if _, err := idAt(FindClient, a, c.lookupPlace(), c.urlOf(r)); err != nil {
			break
		}
	}
	f := &Failure{Reason: fmt.Sprintf("the look-up of an invented %s got %s, which not_found does not describe", by, shapeOf(a).text),
		Hint: "set the environment's not_found to what the service answers for an unknown client; claimsheet doctor --probe proposes it"}
	if a.Status/100 == 2 {
		f.Retry = unlessJSON(a)
	}
	return f
}

// ofInvented adds to the refusal of a look-up that Claimsheet invented its value.
func ofInvented(value string, err error) error {
	f, ok := errors.AsType[*Failure](err)
	if !ok || f.Status/100 != 4 || f.Stop || f.Retry != Never {
		return err
	}
	said := *f
	said.Reason += fmt.Sprintf("; Claimsheet invented the value (%s) to learn what “not found” looks like", value)
	said.Hint = cmp.Or(f.Hint, "set not_found in the environment to what the service answers for an unknown client: then no invented value is looked up")
	return &said
}

func gotPage(what string, a Answer) error {
	return &Failure{Reason: what + " got " + statusText(a.Status) + " with a web page, which says nothing about the client",
		Hint: "check the environment's base_url and auth"}
}

// asLearnt refuses an answer that means nobody by Config.NotFound but does not look like the learnt one.
func (c *Client) asLearnt(by By, a Answer) error {
	got := shapeOf(a)
	c.mu.Lock()
	defer c.mu.Unlock()
	learnt, ok := c.absent[by]
	switch {
	case !ok && isPage(a):
		return gotPage("the look-up by "+string(by), a)
	case !ok && c.cfg.NotFound.Stated:
		c.absent[by] = got
		return nil
	case !ok || got == learnt:
		return nil
	}
	return &Failure{Reason: fmt.Sprintf("the look-up by %s got %s, but for an unknown client the service answers %s, always with the same fields: "+
		"this answer does not show that the client is unknown", by, got.text, learnt.text)}
}

// Invent returns an address or number that looks real and belongs to nobody:
// example.com is reserved (RFC 2606), and so are the British mobile numbers 07700
// 900000 to 900999 (Ofcom, numbers for drama).
func (c *Client) Invent(by By) string {
	switch {
	case by == ByEmail:
		return fmt.Sprintf("nobody.%016x@example.com", rand.Uint64())
	case c.cfg.InventPhone != nil:
		return c.cfg.InventPhone()
	}
	return fmt.Sprintf("+447700900%03d", rand.IntN(1000))
}

// shape is what an answer looks like, without its values.
type shape struct {
	text string // status, form and media type, in words
	kind string // the media type, also of an empty body
	keys string // of an object, sorted
}

func shapeOf(a Answer) (s shape) {
	doc, isJSON := document(a.Body)
	kind := mediaType(a)
	s.kind = kind
	switch {
	case len(a.Body) == 0:
		s.text, kind = "an empty body", ""
	case !isJSON:
		s.text = "a body that is not JSON"
	case form(doc) == "null":
		s.text = "null"
	default:
		s.text = "a JSON " + form(doc)
	}
	if s.text = statusText(a.Status) + " with " + s.text; kind != "" {
		s.text += " (" + kind + ")"
	}
	var keys []string
	if isJSON {
		for _, m := range inside(doc, "object") {
			keys = append(keys, m.key)
		}
	}
	slices.Sort(keys)
	s.keys = strings.Join(keys, ", ")
	return s
}
