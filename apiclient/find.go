package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// By is what a client is looked up by.
type By string

// The two look-ups of the document.
const (
	ByEmail By = "e-mail"
	ByPhone By = "phone"
)

// Found is what a look-up that succeeded says.
type Found struct {
	ID     string // clientId or contactId; "" when Absent
	Absent bool   // the service knows nobody by that value
	Body   []byte // the whole answer, for Agrees
}

// Find asks the service for the client with that e-mail address or phone
// number. Exactly one match is an ID; nobody is Absent; everything else is an
// error (a *Failure), because an answer that cannot be understood says nothing
// about whether the client exists.
//
// An answer counts as nobody if Config.NotFound says so and, once LearnAbsent
// has been called for by, if it also looks like the answer learnt then. The
// document shows no answers of look-ups: an id is read at the look-up pointer,
// in an array of one element also within that element.
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
			return Found{}, &Failure{Reason: "the look-up by " + string(by) + " got an answer that not_found takes for nobody, and that holds an id",
				Hint: "check the environment's not_found and wire: such an answer is not taken for nobody"}
		}
		return Found{Absent: true, Body: a.Body}, nil
	}
	id, err := c.readMatch(a)
	if err != nil {
		return Found{}, &Failure{Again: !json.Valid(a.Body), Reason: "the look-up by " + string(by) + " got " + statusText(a.Status) + ", but the answer " + err.Error()}
	}
	return Found{ID: id, Body: a.Body}, nil
}

// lookUp asks, and lets through what may be a match or nobody.
func (c *Client) lookUp(ctx context.Context, by By, value string) (Answer, error) {
	req, what := c.Routes().FindByEmail(value), "the look-up by "+string(by)
	if by == ByPhone {
		req = c.Routes().FindByPhone(value)
	}
	a, err := c.Do(ctx, req)
	if err != nil {
		return Answer{}, asking(what, err)
	}
	if c.cfg.NotFound.describes(a) {
		return a, nil
	}
	if err := c.refusal(req, what, a); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// refusal is the failure of a GET that was answered with anything but a 2xx;
// nil for a 2xx that no rule calls a stop.
func (c *Client) refusal(r Request, what string, a Answer) error {
	rule, ok := c.ruleFor(a)
	stop := ok && rule.Means == "stop" || a.Status == http.StatusUnauthorized || !ok && meaningOf(a).stop
	if a.Status/100 == 2 && !stop {
		return nil
	}
	f := &Failure{Stop: stop, Status: a.Status, Busy: c.asksForTime(a), RetryAfter: a.RetryAfter, Reason: what + " got " + statusText(a.Status),
		Again: !stop && (ok && rule.Means == "retry" || !ok && passing(a.Status))}
	if !f.Again {
		c.noteUnknown(r, a, "failed")
	}
	if f.Hint = meaningOf(a).hint; ok && rule.Hint != "" {
		f.Hint = rule.Hint
	}
	return f
}

// passing tells of a status that it may be another one for the same GET, a
// moment later.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly:
		return true
	case http.StatusNotImplemented:
		return false
	}
	return status/100 == 5
}

// contradicts reports whether an answer that means nobody by what stands at one
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

// readMatch is the id of the one client in a look-up's answer.
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

// followMatch follows pointer into an answer or, where that is an array of one
// element that the pointer does not enter itself, into the element.
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

// Agrees compares a match with what the sheet says of the client, at the
// pointers of wire.lookup_agree: fields are client fields (dotted paths) and
// their values as text. Case and runs of white space do not count. A field
// that the sheet leaves empty agrees with anything; one that the answer does
// not carry agrees with nothing, since the match could not be confirmed. ok is
// false for the first field, in alphabetical order, that does not agree.
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
