package apiclient_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

const asJSON = "application/json"

// A probe that is refused is named as one; a Stated NotFound needs none, and the first
// answer that means Absent shows what the others look like.
func TestNotFoundStated(t *testing.T) {
	if err := against(t, answers(400, asJSON, `{}`)).LearnAbsent(t.Context(), apiclient.ByPhone); err == nil || !strings.Contains(err.Error(), "invented the value (+447700900") {
		t.Errorf("%v", err)
	}
	replies := []http.HandlerFunc{answers(404, "text/html", "<html>"), answers(404, asJSON, `{"code":1}`), answers(404, asJSON, `{"code":2}`), answers(404, asJSON, `{}`)}
	asked := 0
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		replies[asked](w, r)
		asked++
	}, func(cfg *apiclient.Config) { cfg.NotFound.Stated = true })
	if !c.KnowsAbsent(apiclient.ByPhone) {
		t.Fatal("there is something to learn")
	}
	for i, want := range []bool{false, true, true, false} {
		if found, err := c.Find(t.Context(), apiclient.ByPhone, "+447911123456"); found.Absent != want || (err == nil) != want {
			t.Errorf("answer %d: %+v, %v", i, found, err)
		}
	}
}

// Test environments may know some of the invented numbers.
func TestLearnAbsentTriesAnotherNumber(t *testing.T) {
	asked := map[string]bool{}
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path] = true
		if len(asked) == 1 {
			_, _ = io.WriteString(w, `{"contactId":"a"}`)
			return
		}
		w.WriteHeader(404)
	})
	if err := c.LearnAbsent(t.Context(), apiclient.ByEmail); err != nil || len(asked) != 2 {
		t.Errorf("%v after %d addresses", err, len(asked))
	}
}

func TestAgrees(t *testing.T) {
	c := with(t, func(cfg *apiclient.Config) {
		cfg.Wire.LookupAgree = map[string]string{"lastName": "/person/last", "phone": "/phone"}
	})
	tests := []struct {
		body   string
		fields map[string]string
		field  string
	}{
		{`{"person":{"last":" de  la CRUZ"},"phone":1}`, map[string]string{"lastName": "De la Cruz", "phone": "1"}, ""},
		{`[{"person":{"last":"Doe"},"phone":"1"}]`, map[string]string{"lastName": "Doe", "phone": "1"}, ""},
		{`{"person":{"last":"Doe"}}`, map[string]string{"lastName": "Doe", "phone": " "}, ""},
		{`{"person":{"last":"Doe"}}`, map[string]string{"lastName": "Doe", "other": "x"}, ""},
		{`{"person":{"last":"Smith"},"phone":"1"}`, map[string]string{"lastName": "Doe", "phone": "2"}, "lastName"},
		{`{"person":{"last":"Doe"}}`, map[string]string{"lastName": "Doe", "phone": "2"}, "phone"},
		{`{"person":{"last":null}}`, map[string]string{"lastName": "Doe"}, "lastName"},
		{`{"person":{"last":"Doe","last":"Smith"}}`, map[string]string{"lastName": "Doe"}, "lastName"},
		{`not JSON`, map[string]string{"lastName": "Doe"}, "lastName"},
	}
	for _, tt := range tests {
		field, ok := c.Agrees(apiclient.Found{Body: []byte(tt.body)}, tt.fields)
		if field != tt.field || ok != (tt.field == "") {
			t.Errorf("%s with %v: %q, %v; want %q", tt.body, tt.fields, field, ok, tt.field)
		}
	}
}

// said is an answer to a look-up.
type said struct {
	name   string
	status int
	kind   string
	body   string
}

// nobodies are ways to say "nobody". An environment uses one of them; every other
// one is a lie there.
var nobodies = []said{
	{"404 with a reason", 404, asJSON, apitest.NobodyBody},
	{"404 with a problem", 404, "application/problem+json", `{"type":"about:blank","title":"x","status":404}`},
	{"404 without a body", 404, "", ""},
	{"404 of null", 404, asJSON, `null`},
	{"200 of null", 200, asJSON, `null`},
	{"200 of an empty object", 200, asJSON, `{}`},
	{"200 of an empty list", 200, asJSON, `[]`},
}

// lies are answers that hold neither an id nor "nobody".
var lies = []said{
	{"server error", 500, asJSON, apitest.NobodyBody},
	{"too many", 429, asJSON, `{}`},
	{"forbidden", 403, asJSON, apitest.NobodyBody},
	{"web page", 200, "text/html", `<!doctype html><p>{"contactId":"a"}`},
	{"web page called JSON", 200, asJSON, `<html>`},
	{"JSON called a web page, with an error", 404, "text/html", apitest.NobodyBody},
	{"404 without a body, of a web server", 404, "text/html", ""},
	{"404 of another api", 404, asJSON, `{"fault":{"code":"no route"}}`},
	{"404 of a newer api", 404, asJSON, `{"error":"nobody","path":"/funnel"}`},
	{"404 that knows somebody", 404, asJSON, `{"contactId":"a"}`},
	{"404 in a list", 404, asJSON, `["nobody"]`},
	{"no content", 204, "", ""},
	{"accepted", 202, asJSON, `{"status":"searching"}`},
	{"empty 200", 200, asJSON, ``},
	{"blank 200", 200, asJSON, " \n"},
	{"error in a 200", 200, asJSON, apitest.NobodyBody},
	{"id and error in one", 200, asJSON, `{"error":"nobody","contactId":null}`},
	{"wrapped list of none", 200, asJSON, `{"items":[]}`},
	{"list of null", 200, asJSON, `[null]`},
	{"list in a list", 200, asJSON, `[[{"contactId":"a"}]]`},
	{"two matches", 200, asJSON, `[{"contactId":"a"},{"contactId":"b"}]`},
	{"a match and an empty one", 200, asJSON, `[{"contactId":"a"},{}]`},
	{"empty text", 200, asJSON, `""`},
	{"redirect", 302, asJSON, apitest.NobodyBody},
}

// After one way to say "nobody" was learnt, only that one means absent, a plain match
// is an id, and everything else is an error.
func TestLookUpsAreNotLiedTo(t *testing.T) {
	synctest.Test(t, lookUpsAreNotLiedTo) // after "too many", the client waits
}

func lookUpsAreNotLiedTo(t *testing.T) {
	matches := []said{
		{"match", 200, asJSON, `{"contactId":"a"}`},
		{"match in a list", 200, asJSON, `[{"contactId":"a"}]`},
	}
	for _, learnt := range nobodies {
		for _, by := range []apiclient.By{apiclient.ByEmail, apiclient.ByPhone} {
			var now said
			c := against(t, func(w http.ResponseWriter, r *http.Request) { answers(now.status, now.kind, now.body)(w, r) })
			now = learnt
			if err := c.LearnAbsent(t.Context(), by); err != nil {
				t.Fatalf("%s: %v", learnt.name, err)
			}
			look := func(s said) (apiclient.Found, error) {
				now = s
				return c.Find(t.Context(), by, "jane@example.com")
			}
			for _, s := range append(lies, nobodies...) {
				found, err := look(s)
				if s.name == learnt.name {
					if err != nil || !found.Absent || found.ID != "" {
						t.Errorf("%s: %+v, %v; want absent", s.name, found, err)
					}
				} else if err == nil {
					t.Errorf("%s, where nobody is a %s: absent %v, id %q; want an error", s.name, learnt.name, found.Absent, found.ID)
				}
			}
			for _, s := range matches {
				if found, err := look(s); err != nil || found.Absent || found.ID != "a" {
					t.Errorf("%s: %+v, %v; want the id", s.name, found, err)
				}
			}
		}
	}
}

// content finds nobody where the value at a place equals a document; where it is empty, if that is "".
func content(place, equals string) apiclient.NotFound {
	n := apiclient.NotFoundRule{Place: &place, Equals: []byte(equals)}
	if equals == "" {
		n.Equals, n.Empty = nil, true
	}
	return apiclient.NotFound{Rules: []apiclient.NotFoundRule{n}}
}

// An answer with several people is neither nobody nor somebody, wherever a rule or the
// place of ids looks; nor is an answer that means nobody and has an id elsewhere.
func TestAnAnswerThatMeansTwoThings(t *testing.T) {
	statuses := func(status ...int) apiclient.NotFound {
		return apiclient.NotFound{Rules: []apiclient.NotFoundRule{{Status: status}}}
	}
	const crowded, contradiction = "more than one match", "holds an id"
	for name, tt := range map[string]struct {
		notFound apiclient.NotFound
		place    string // of ids
		status   int
		body     string
		header   string // X-Contact-Id
		location string // Content-Location
		err      string // "" means nobody
	}{
		"nobody, then somebody":           {content("/items/0/id", "null"), "/items/0/id", 200, `{"items":[{"id":null},{"id":"a"}]}`, "", "", crowded},
		"nobody twice":                    {content("/0/contactId", ""), "/contactId", 200, `[{"contactId":""},{"contactId":null}]`, "", "", crowded},
		"somebody, then nobody":           {content("/0/contactId", "null"), "/0/contactId", 200, `[{"contactId":"a"},{"contactId":null}]`, "", "", crowded},
		"a flag of the first":             {content("/0/found", "false"), "header:X-Contact-Id", 200, `[{"found":false},{"found":true}]`, "", "", "no value at header:X-Contact-Id"},
		"a flag beside two ids":           {content("/found", "false"), "/items/0/id", 200, `{"found":false,"items":[{"id":"a"},{"id":"b"}]}`, "", "", contradiction},
		"a flag beside two spellings":     {content("/found", "false"), "/id", 200, `{"found":false,"id":"a","id":"b"}`, "", "", contradiction},
		"one with nobody":                 {content("/items/0/id", "null"), "/items/0/id", 200, `{"items":[{"id":null}]}`, "", "", ""},
		"an empty object, id in a header": {apiclient.DefaultNotFound(), "header:X-Contact-Id", 200, `{}`, "a", "", contradiction},
		"an empty list, id in a header":   {apiclient.DefaultNotFound(), "header:X-Contact-Id", 200, `[]`, "a", "", contradiction},
		"null, id in a header":            {apiclient.DefaultNotFound(), "header:X-Contact-Id", 200, `null`, "a", "", contradiction},
		"null, id in a url":               {apiclient.DefaultNotFound(), "header:Content-Location", 200, `null`, "", "/contacts/7", contradiction},
		"no content, id in a header":      {statuses(204), "header:X-Contact-Id", 204, ``, "a", "", contradiction},
		"404, id in a header":             {statuses(404), "header:X-Contact-Id", 404, `{"error":"nobody"}`, "a", "", contradiction},
		"an empty object, no header":      {apiclient.DefaultNotFound(), "header:X-Contact-Id", 200, `{}`, "", "", ""},
		"404, the id is of the error":     {statuses(404), "/id", 404, `{"id":"error-17"}`, "", "", ""},
		"404, the url is the request's":   {statuses(404), "header:Content-Location", 404, ``, "", "/api/funnel/v2/contacts/by-email/jane@example.com", ""},
		"a header says that nobody is":    {content("header:X-Contact-Id", `"none"`), "header:X-Contact-Id", 200, `{}`, "none", "", ""},
		"null as a text":                  {apiclient.DefaultNotFound(), "text", 200, `null`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := against(t, func(w http.ResponseWriter, r *http.Request) {
				for name, value := range map[string]string{"X-Contact-Id": tt.header, "Content-Location": tt.location} {
					if value != "" {
						w.Header().Set(name, value)
					}
				}
				answers(tt.status, asJSON, tt.body)(w, r)
			}, func(cfg *apiclient.Config) { cfg.NotFound, cfg.Wire.LookupContactID = tt.notFound, &tt.place })
			got, err := c.Find(t.Context(), apiclient.ByEmail, "jane@example.com")
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || tt.err == "" && (err != nil || !got.Absent) {
				t.Errorf("%+v, %v; want an error with %q", got, err, tt.err)
			}
			if err := c.LearnAbsent(t.Context(), apiclient.ByEmail); tt.location == "" && (err == nil) != (tt.err == "") {
				t.Errorf("learnt: %v", err)
			}
		})
	}
}

// What was learnt for one look-up does not count for the other.
func TestEachLookUpLearnsForItself(t *testing.T) {
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/by-phone/") {
			answers(200, asJSON, `[]`)(w, r)
			return
		}
		answers(404, asJSON, apitest.NobodyBody)(w, r)
	})
	for _, by := range []apiclient.By{apiclient.ByEmail, apiclient.ByPhone} {
		noError(t, c.LearnAbsent(t.Context(), by))
		if found, err := c.Find(t.Context(), by, "x"); err != nil || !found.Absent {
			t.Errorf("by %s: %+v, %v", by, found, err)
		}
	}
}
