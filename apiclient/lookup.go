package apiclient

import (
	"bytes"
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
	a, err := c.lookUp(ctx, by, value)
	if err != nil {
		return Found{}, err
	}
	if c.cfg.NotFound.describes(a) {
		if err := c.asLearnt(by, a); err != nil {
			return Found{}, err
		}
		if c.contradicts(a) {
			return Found{}, &Failure{Reason: "the look-up by " + string(by) + " got an answer that not_found describes as an unknown client, but that holds an id",
				Hint: "check the environment's not_found and wire"}
		}
		return Found{Absent: true, Body: a.Body}, nil
	}
	id, err := c.readMatch(a)
	if err != nil {
		return Found{}, &Failure{Retry: unlessJSON(a), Reason: "the look-up by " + string(by) + " got " + statusText(a.Status) + ", but the answer " + err.Error()}
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

// lookUp sends a look-up. The answer is a 2xx, or means nobody by Config.NotFound.
func (c *Client) lookUp(ctx context.Context, by By, value string) (Answer, error) {
	req, what := c.Routes().FindByEmail(value), "the look-up by "+string(by)
	if by == ByPhone {
		req = c.Routes().FindByPhone(value)
	}
	a, err := c.Do(ctx, req)
	if err != nil {
		return Answer{}, during(what, err)
	}
	if c.cfg.NotFound.describes(a) {
		return a, nil
	}
	if err := c.refusal(req, what, a); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// refusal returns the failure of a GET that was answered with anything but a 2xx;
// nil for a 2xx, unless a rule reads it as a stop.
func (c *Client) refusal(r Request, what string, a Answer) error {
	rule, ruled := c.ruleFor(a)
	stop := ruled && rule.Means == "stop" || a.Status == http.StatusUnauthorized || !ruled && meaningOf(a).stop
	if a.Status/100 == 2 && !stop {
		return nil
	}
	f := &Failure{Stop: stop, Status: a.Status, RetryAfter: a.RetryAfter, Reason: what + " got " + statusText(a.Status)}
	switch {
	case c.asksToWait(a):
		f.Retry = AfterPause
	case stop:
	case ruled && rule.Means == "retry" || !ruled && isTransient(a.Status):
		f.Retry = Now
	}
	if f.Retry == Never {
		c.noteUnknown(r, a, "failed")
	}
	if f.Hint = c.usualHint(a); ruled && rule.Hint != "" {
		f.Hint = rule.Hint
	}
	return f
}

// isTransient reports whether a GET with this status is worth sending again.
func isTransient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly:
		return true
	case http.StatusNotImplemented:
		return false
	}
	return status/100 == 5
}

// readMatch returns the id of the one client in a look-up's answer.
func (c *Client) readMatch(a Answer) (string, error) {
	place := c.lookupPlace()
	f, err := locate(a, place, followMatch)
	if err != nil {
		return "", err
	}
	if f.crowded {
		return "", errors.New("has more than one match")
	}
	return identifier(f, place)
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
	items := elements(doc)
	if len(items) == 1 && (len(f.values) == 0 || pointer == "") {
		return follow(items[0], pointer)
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
	doc, isJSON := document(match.Body)
	for _, field := range slices.Sorted(maps.Keys(c.cfg.Wire.LookupAgree)) {
		want := squeeze(fields[field])
		if want == "" {
			continue
		}
		if !isJSON {
			return field, false
		}
		values := followMatch(doc, c.cfg.Wire.LookupAgree[field]).values
		same := func(v json.RawMessage) bool {
			text, ok := scalar(v)
			return ok && strings.EqualFold(squeeze(text), want)
		}
		if len(values) == 0 || slices.ContainsFunc(values, func(v json.RawMessage) bool { return !same(v) }) {
			return field, false
		}
	}
	return "", true
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// describes reports whether an answer means nobody.
func (n NotFound) describes(a Answer) bool {
	if slices.Contains(n.Status, a.Status) {
		return true
	}
	if doc, ok := document(a.Body); n.Empty && a.Status/100 == 2 && ok && isEmpty(doc) {
		return true
	}
	return slices.ContainsFunc(n.Content, func(content NotFoundContent) bool { return content.describes(a) })
}

// isEmpty reports whether a JSON value is null, {} or [].
func isEmpty(value []byte) bool {
	switch form(value) {
	case "null":
		return true
	case "object":
		return len(members(value)) == 0
	case "array":
		return len(elements(value)) == 0
	}
	return false
}

// describes reports whether the value at the place means nobody. If a repeated key
// gives several values, all of them must.
func (n NotFoundContent) describes(a Answer) bool {
	if n.Status == nil && a.Status/100 != 2 || n.Status != nil && !slices.Contains(n.Status, a.Status) {
		return false
	}
	if n.Empty && n.Place == placeText {
		return !a.Cut && len(bytes.TrimSpace(a.Body)) == 0
	}
	f, err := locate(a, n.Place, follow)
	return err == nil && len(f.values) > 0 && !slices.ContainsFunc(f.values, func(v json.RawMessage) bool { return !n.fits(v) })
}

func (n NotFoundContent) fits(value json.RawMessage) bool {
	if n.Empty {
		text, ok := scalar(value)
		return isEmpty(value) || ok && form(value) == "string" && text == ""
	}
	if form(value) != form(n.Equals) {
		return false
	}
	got, _ := scalar(value)
	want, _ := scalar(n.Equals)
	if form(value) == "number" {
		a, errA := strconv.ParseFloat(got, 64)
		b, errB := strconv.ParseFloat(want, 64)
		return errA == nil && errB == nil && a == b
	}
	return got == want
}

// contradicts reports whether an answer that means nobody by the value at one
// place has an id at another.
func (c *Client) contradicts(a Answer) bool {
	place := c.lookupPlace()
	if n := c.cfg.NotFound; slices.Contains(n.Status, a.Status) ||
		!slices.ContainsFunc(n.Content, func(content NotFoundContent) bool { return content.Place != place && content.describes(a) }) {
		return false
	}
	_, err := c.readMatch(a)
	return err == nil
}

// maxProbes is how many invented values are looked up before "every client
// exists" is believed: a test environment may really know one of the numbers.
const maxProbes = 3

// LearnAbsent looks up a client who cannot exist and remembers what the answer
// looks like, because a wrong path, a login page and a proxy answer 404 too.
// Afterwards only an answer that looks the same means Absent. The error (a
// *Failure) says what came when Config.NotFound does not read it as nobody.
func (c *Client) LearnAbsent(ctx context.Context, by By) error {
	_, err := c.learnAbsent(ctx, by)
	return err
}

// learnAbsent is LearnAbsent and also returns the last answer.
func (c *Client) learnAbsent(ctx context.Context, by By) (a Answer, err error) {
	for range maxProbes {
		if a, err = c.lookUp(ctx, by, invented(by)); err != nil {
			return a, err
		}
		if c.cfg.NotFound.describes(a) && isPage(a) {
			return a, &Failure{Reason: fmt.Sprintf("the look-up of an invented %s got %s with a web page, which says nothing about the client",
				by, statusText(a.Status)), Hint: "check the environment's base_url and auth"}
		}
		if c.cfg.NotFound.describes(a) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.absent[by] = shapeOf(a)
			return a, nil
		}
		if _, err := c.readMatch(a); err != nil {
			break
		}
	}
	f := &Failure{Reason: fmt.Sprintf("the look-up of an invented %s got %s, which not_found does not describe", by, shapeOf(a)),
		Hint: "set the environment's not_found to what the service answers for an unknown client"}
	if a.Status/100 == 2 {
		f.Retry = unlessJSON(a)
	}
	return a, f
}

// asLearnt refuses an answer that means nobody by Config.NotFound but does not
// look like the learnt one.
func (c *Client) asLearnt(by By, a Answer) error {
	c.mu.Lock()
	learnt, ok := c.absent[by]
	c.mu.Unlock()
	got := shapeOf(a)
	if !ok || got == learnt {
		return nil
	}
	other := ""
	if got.keys != learnt.keys {
		other = " with other fields"
	}
	return &Failure{Reason: fmt.Sprintf("the look-up by %s got %s%s, but for an unknown client the service answers %s: this answer does not show that the client is unknown",
		by, got, other, learnt)}
}

// invented returns an address or number that looks real and belongs to nobody:
// example.com is reserved (RFC 2606), and so are the British mobile numbers 07700
// 900000 to 900999 (Ofcom, numbers for drama).
func invented(by By) string {
	if by == ByPhone {
		return fmt.Sprintf("+447700900%03d", rand.IntN(1000))
	}
	return fmt.Sprintf("nobody.%016x@example.com", rand.Uint64())
}

// shape is what an answer looks like, without its values.
type shape struct {
	status    int
	mediaType string
	form      string // of the JSON: object, array …; "none" for an empty body, "text" for what is not JSON
	keys      string // of an object, sorted
}

func shapeOf(a Answer) shape {
	s := shape{status: a.Status, mediaType: mediaType(a), form: "text"}
	doc, ok := document(a.Body)
	switch {
	case len(a.Body) == 0:
		s.form = "none"
	case ok:
		s.form = form(doc)
	}
	if s.form == "object" {
		var keys []string
		for _, m := range members(doc) {
			keys = append(keys, m.key)
		}
		slices.Sort(keys)
		s.keys = strings.Join(keys, ", ")
	}
	return s
}

// String describes a shape. It repeats nothing of the answer but its media type.
func (s shape) String() string {
	what := map[string]string{"none": "an empty body", "text": "a body that is not JSON", "null": "null"}[s.form]
	if what == "" {
		what = "a JSON " + s.form
	}
	if s.mediaType != "" && s.form != "none" {
		what += " (" + s.mediaType + ")"
	}
	return statusText(s.status) + " with " + what
}
