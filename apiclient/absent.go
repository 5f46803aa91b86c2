package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// describes tells whether an answer looks like "nobody".
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

// describes reports whether the answer has at the place what means nobody. Where
// a repeated key gives it several values, all of them must.
func (n NotFoundContent) describes(a Answer) bool {
	if n.Status == nil && a.Status/100 != 2 || n.Status != nil && !slices.Contains(n.Status, a.Status) {
		return false
	}
	if n.Empty && n.Place == placeText {
		return len(bytes.TrimSpace(a.Body)) == 0
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

// shape is what an answer looks like, apart from what it says.
type shape struct {
	status    int
	mediaType string
	form      string // of the JSON: object, array …; "none" for an empty body, "text" for what is not JSON
	keys      string // an object's, sorted
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

// tries is how many invented values are asked for before "everybody exists"
// is believed: a test environment may know a number that stands for nobody.
const tries = 3

// LearnAbsent asks for somebody who cannot exist and remembers what the answer
// looks like, because a wrong path, a login page and a proxy say 404 too.
// Afterwards only an answer of that look means Absent. The error (a *Failure)
// says what came when it is not "nobody" by Config.NotFound.
func (c *Client) LearnAbsent(ctx context.Context, by By) error {
	_, err := c.learnAbsent(ctx, by)
	return err
}

// learnAbsent is LearnAbsent, with the answer that it learnt from.
func (c *Client) learnAbsent(ctx context.Context, by By) (a Answer, err error) {
	for range tries {
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
	return a, &Failure{Reason: fmt.Sprintf("the look-up of an invented %s got %s, which not_found does not describe", by, shapeOf(a)),
		Again: a.Status/100 == 2 && !json.Valid(a.Body),
		Hint:  "set the environment's not_found to what the service answers for nobody"}
}

// asLearnt refuses an answer that means nobody by its status but does not look
// like the one that was learnt.
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
	return &Failure{Reason: fmt.Sprintf("the look-up by %s got %s%s, but for nobody the service answers %s: it is not taken for nobody",
		by, got, other, learnt)}
}

// String describes a shape without repeating anything of the answer but its
// media type.
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

// invented is an address or number that reads like a real one and is nobody's:
// example.com is reserved (RFC 2606), and so are the British mobile numbers
// 07700 900000 to 900999 (Ofcom, numbers for drama).
func invented(by By) string {
	if by == ByPhone {
		return fmt.Sprintf("+447700900%03d", rand.IntN(1000))
	}
	return fmt.Sprintf("nobody.%016x@example.com", rand.Uint64())
}

// isPage tells that an answer is made for people: a login page, a proxy's or
// a web server's own error page.
func isPage(a Answer) bool {
	switch mediaType(a) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}
