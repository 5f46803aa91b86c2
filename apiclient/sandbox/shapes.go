package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Wire says how answers carry ids and redirect urls, which the document leaves
// open. A client is tried with each.
type Wire string

// The wires. Except for Flat, the value is the word that users write.
const (
	Flat     Wire = ""         // {"contactId": "…"}, {"redirectUrl": "https://…"}
	Nested   Wire = "nested"   // the same below data; a look-up answers {"items": [{…}]}
	Header   Wire = "header"   // no body: ids end the url in Location, or for look-ups in Content-Location; redirect urls are in X-Redirect-Url
	Text     Wire = "text"     // plain text: the redirect url, with an id as in Header; else the id
	Relative Wire = "relative" // as Flat, but redirect urls are without scheme and host
)

// Wires lists the wires that have a name.
func Wires() []string {
	return []string{string(Nested), string(Header), string(Text), string(Relative)}
}

// NotFound says what a look-up answers that finds nobody, which the document
// leaves open.
type NotFound string

// The answers. Except for Refused, the value is the word that users write.
const (
	Refused   NotFound = ""           // 404 with an error
	NoContent NotFound = "no-content" // 204 without a body
	Null      NotFound = "null"       // 200 null
	NullID    NotFound = "null-id"    // 200 {"contactId": null}
	NoItems   NotFound = "no-items"   // 200 {"items": []}
	False     NotFound = "false"      // 200 {"found": false}
)

// NotFounds lists the answers that have a name.
func NotFounds() []string {
	return []string{string(NoContent), string(Null), string(NullID), string(NoItems), string(False)}
}

// checkShapes refuses words that are not a wire or an answer for nobody.
func (o Options) checkShapes() error {
	if o.Wire != Flat && !slices.Contains(Wires(), string(o.Wire)) {
		return fmt.Errorf("there is no wire %q: expected %s", o.Wire, strings.Join(Wires(), ", "))
	}
	if o.NotFound != Refused && !slices.Contains(NotFounds(), string(o.NotFound)) {
		return fmt.Errorf("there is no answer %q for nobody: expected %s", o.NotFound, strings.Join(NotFounds(), ", "))
	}
	return nil
}

// content is what an answer says: the id of a thing, a redirect url, or both.
type content struct {
	status      int
	idName, id  string // "" for an answer without an id
	redirectURL string // "" for an answer without one
	state       string // the status of an activity
	lookup      bool
}

// shaped returns the answer that says it in the service's wire.
func (s *Service) shaped(c content) answer {
	fields := ids{}
	for name, value := range map[string]string{c.idName: c.id, "redirectUrl": s.shownURL(c.redirectURL), "status": c.state} {
		if value != "" {
			fields[name] = value
		}
	}
	a := answer{status: c.status, body: fields}
	switch {
	case s.wire == Nested && c.lookup:
		a.body = map[string]any{"items": []any{fields}}
	case s.wire == Nested:
		a.body = map[string]any{"data": fields}
	case s.wire == Header || s.wire == Text && c.redirectURL != "":
		a = answer{status: c.status, header: c.headers()}
	}
	if s.wire == Text {
		a.body, a.text = nil, c.id
		if c.redirectURL != "" {
			a.text = c.redirectURL
			a.header.Del("X-Redirect-Url")
		}
	}
	return a
}

// headers returns the headers that carry the content.
func (c content) headers() http.Header {
	h := http.Header{}
	switch {
	case c.id != "" && c.lookup:
		h.Set("Content-Location", c.location())
	case c.id != "":
		h.Set("Location", c.location())
	}
	if c.redirectURL != "" {
		h.Set("X-Redirect-Url", c.redirectURL)
	}
	return h
}

// collections names the things that an id can be of.
var collections = map[string]string{"clientId": "clients", "contactId": "contacts", "claimId": "claims", "activityId": "activities"}

// location names a thing by a url that ends with its id: /contacts/ID for a
// contactId.
func (c content) location() string { return "/" + collections[c.idName] + "/" + c.id }

// shownURL returns a redirect url as answers give it.
func (s *Service) shownURL(url string) string {
	if s.wire == Relative {
		return strings.TrimPrefix(url, s.baseURL)
	}
	return url
}

// nobody returns the answer of a look-up by a field that finds nobody.
func (s *Service) nobody(field, idName string) (answer, error) {
	switch s.notFound {
	case NoContent:
		return answer{status: http.StatusNoContent}, nil
	case Null:
		return answer{status: http.StatusOK, body: json.RawMessage("null")}, nil
	case NullID:
		return answer{status: http.StatusOK, body: map[string]any{idName: nil}}, nil
	case NoItems:
		return answer{status: http.StatusOK, body: map[string]any{"items": []any{}}}, nil
	case False:
		return answer{status: http.StatusOK, body: map[string]any{"found": false}}, nil
	}
	return answer{}, absent("not-found", field, "no client was created with this value in the field %q", field)
}

// withoutTypes returns reference data without the data types of its attributes.
func withoutTypes(raw json.RawMessage) (json.RawMessage, error) {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, template := range list {
		var attributes []map[string]json.RawMessage
		if nested, ok := template["activityAttributeTemplates"]; !ok {
			continue
		} else if err := json.Unmarshal(nested, &attributes); err != nil {
			return nil, err
		}
		for _, attribute := range attributes {
			delete(attribute, "dataType")
		}
		var err error
		if template["activityAttributeTemplates"], err = json.Marshal(attributes); err != nil {
			return nil, err
		}
	}
	return json.Marshal(list)
}
