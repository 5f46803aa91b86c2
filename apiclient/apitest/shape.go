package apitest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
)

// Shape is how a service answers where the document leaves it open. The zero Shape
// is that of the embedded sandbox.
type Shape struct {
	Carrier Carrier
	// NotFound is the answer of a look-up that finds nobody, in place of a 404; the
	// zero Reply leaves that.
	NotFound Reply
	// Untyped leaves the data types out of the templates.
	Untyped bool
	// Listed is the field that has the array of templates; "" for templates that are the answer.
	Listed string
	// Header is added to every answer.
	Header http.Header
}

// Carrier says what of an answer carries ids and redirect urls.
type Carrier string

// The carriers.
const (
	Flat     Carrier = ""         // {"contactId": "…"}, {"redirectUrl": "https://…"}
	Nested   Carrier = "nested"   // the same below data; a look-up answers {"items": [{…}]}
	Header   Carrier = "header"   // no body: ids end the url in Location, or for look-ups in Content-Location; redirect urls are in X-Redirect-Url
	Text     Carrier = "text"     // plain text: the redirect url, with an id as in Header; else the id
	Relative Carrier = "relative" // as Flat, but redirect urls are without scheme and host
)

// collections names the things that an id can be of.
var collections = map[string]string{"clientId": "clients", "contactId": "contacts", "claimId": "claims", "activityId": "activities"}

// Around returns a service that gives the answers of another one in the shape.
func (s Shape) Around(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		service.ServeHTTP(rec, r)
		header, body := rec.Header(), rec.Body.Bytes()
		lookup := strings.Contains(r.URL.Path, "/by-")
		var fields map[string]string
		switch {
		case lookup && rec.Code == http.StatusNotFound && s.NotFound.Status != 0:
			s.NotFound.write(w, false)
			return
		case strings.HasSuffix(r.URL.Path, "/activity-templates"):
			if s.Untyped {
				body = dataType.ReplaceAll(body, nil)
			}
			if s.Listed != "" {
				body = marshal(map[string]json.RawMessage{s.Listed: body})
			}
		case rec.Code/100 == 2 && (lookup || r.Method == http.MethodPost) && json.Unmarshal(body, &fields) == nil:
			body = s.carry(header, fields, lookup)
		}
		for _, from := range []http.Header{header, s.Header} {
			for name, values := range from {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(body) // the client may be gone
	})
}

// carry returns the body of an answer that says fields, and sets its headers.
func (s Shape) carry(header http.Header, fields map[string]string, lookup bool) []byte {
	link := fields["redirectUrl"]
	var id, location string
	for name, collection := range collections {
		if fields[name] != "" {
			id, location = fields[name], "/"+collection+"/"+fields[name]
		}
	}
	switch s.Carrier {
	case Nested:
		if lookup {
			return marshal(map[string]any{"items": []any{fields}})
		}
		return marshal(map[string]any{"data": fields})
	case Text:
		header.Set("Content-Type", "text/plain; charset=utf-8")
		if link == "" {
			return []byte(id + "\n")
		}
		if id != "" {
			header.Set("Location", location)
		}
		return []byte(link + "\n")
	case Header:
		header.Del("Content-Type")
		switch {
		case lookup:
			header.Set("Content-Location", location)
		case id != "":
			header.Set("Location", location)
		}
		if link != "" {
			header.Set("X-Redirect-Url", link)
		}
		return nil
	case Relative:
		if u, err := url.Parse(link); err == nil && link != "" {
			fields["redirectUrl"] = u.RequestURI()
		}
	}
	return marshal(fields)
}

// dataType matches the data type of an attribute, with the comma before it.
var dataType = regexp.MustCompile(`,"dataType":"[A-Za-z]*"`)

func marshal(v any) []byte { return []byte(answer(http.StatusOK, v).Body) }
