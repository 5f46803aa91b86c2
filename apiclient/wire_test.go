package apiclient_test

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

// An id is read at the place that the environment names, or not at all, also when the answer is read
// again from what the ledger keeps. A part of an id is never taken for an id, and a page never for text.
func TestPlaces(t *testing.T) {
	cut := errors.New("the connection ended")
	const location = "/api/funnel/v2/contacts/c%2F1"
	at := func(name, value string) http.Header { return http.Header{http.CanonicalHeaderKey(name): {value}} }
	for _, tt := range []struct {
		name, place string
		header      http.Header
		kind, body  string
		id          string // "" = there is none
		why         string
		cut         error // how reading the body ended
	}{
		{"bare string", "", nil, asJSON, `"abc"`, "abc", "", nil},
		{"bare number", "", nil, asJSON, "17\n", "17", "", nil},
		{"an object where a string was expected", "", nil, asJSON, `{"contactId":"abc"}`, "", "an object instead of an id at its top level", nil},
		{"text", "text", nil, "text/plain; charset=utf-8", "\ufeff abc\r\n", "abc", "", nil},
		{"text of several words", "text", nil, "text/plain", "contact created", "", "is not one word of plain text", nil},
		{"text that is JSON", "text", nil, asJSON, `{"contactId":"abc"}`, "", "is JSON, not plain text", nil},
		{"text that is a JSON string", "text", nil, asJSON, `"abc"`, "", "is JSON, not plain text", nil},
		{"text that is a page", "text", nil, "text/html", `<html>abc</html>`, "", "is a web page", nil},
		{"no text", "text", nil, "text/plain", "", "", "is empty", nil},
		{"header", "header:X-Contact-Id", at("X-Contact-Id", "abc"), "", "", "abc", "", nil},
		{"header, any case", "header:x-contact-id", at("X-Contact-Id", "abc"), asJSON, "{}", "abc", "", nil},
		{"no such header", "header:X-Contact-Id", nil, asJSON, `{"contactId":"abc"}`, "", "has no value at header:X-Contact-Id", nil},
		{"header twice", "header:X-Contact-Id", http.Header{"X-Contact-Id": {"abc", "abd"}}, "", "", "", "several values at header:X-Contact-Id", nil},
		{"last segment", "header:Location", at("Location", location), "", "", "c/1", "", nil},
		{"last segment of a whole url", "header:Location", at("Location", "https://x.example/a/abc?x=/y#/z"), "", "", "abc", "", nil},
		{"last segment, trailing slash", "header:Location", at("Location", "/contacts/"), "", "", "", "does not end with a segment at header:Location", nil},
		{"last segment, an id and a trailing slash", "header:Location", at("Location", "/contacts/7D0C0F3E-2f0e-4c53-9d25-0d4b9a0f7a11/"), "", "", "7D0C0F3E-2f0e-4c53-9d25-0d4b9a0f7a11", "", nil},
		{"last segment, two trailing slashes", "header:Location", at("Location", "/contacts/7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11//"), "", "", "", "does not end with a segment", nil},
		{"last segment, no path", "header:Location", at("Location", "https://x.example"), "", "", "", "does not end with a segment", nil},
		{"last segment, no url", "header:Location", at("Location", "abc"), "", "", "", "does not end with a segment", nil},
		{"last segment of dots", "header:Location", at("Location", "/contacts/.."), "", "", "", "is a dot segment", nil},
		{"text, cut", "text", nil, "text/plain", "17", "", "the connection ended", cut},
		{"number, cut", "", nil, asJSON, "17", "", "the connection ended", cut},
		{"half an object", "/contactId", nil, asJSON, `{"contactId":"17`, "", "the connection ended", cut},
		{"a page of one word", "text", nil, "text/html; charset=utf-8", "OK", "", "is a web page", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := readingID(t, tt.place)
			a := apiclient.Answer{Status: 201, Header: http.Header{"Content-Type": {tt.kind}}, Body: []byte(tt.body)}
			maps.Copy(a.Header, tt.header)
			v := c.Judge(createContact(c), a, tt.cut)
			if v.ID != tt.id || (v.Effect == apiclient.Created) != (tt.id != "") || !strings.Contains(v.Reason, tt.why) {
				t.Errorf("%s, id %q, %s", v.Effect, v.ID, v.Reason)
			}
			// What is kept says the same to a later run, and to one whose place is right.
			if again := c.Judge(createContact(c), apiclient.StoredAnswer(201, v.Answer), nil); again.ID != v.ID || again.Effect != v.Effect {
				t.Errorf("read again from %q: %s, id %q", v.Answer, again.Effect, again.ID)
			}
			kept := readingID(t, "/nowhere").Judge(createContact(c), a, tt.cut).Answer
			if later := c.Judge(createContact(c), apiclient.StoredAnswer(201, kept), nil); later.ID != tt.id {
				t.Errorf("after the place is corrected, %q says %q", kept, later.ID)
			}
		})
	}
}

// A body that ends with its connection may have been cut: a word of text in it is no
// id, and no body at all is not nobody. JSON says itself where it ends.
func TestBodiesThatEndWithTheConnection(t *testing.T) {
	for _, tt := range []struct{ name, place, head, body, id string }{
		{"text with a length", "text", "Content-Length: 4\r\n", "1734", "1734"},
		{"text", "text", "", "1734", ""},
		{"number", "", "", "1734", ""},
		{"object", "/contactId", "", `{"contactId":"1734"}`, "1734"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := apitest.Bytes("HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\n" + tt.head + "\r\n" + tt.body)
			c := at(t, apitest.StartRaw(t, nil, reply).URL, func(cfg *apiclient.Config) { cfg.Wire.ContactID = tt.place })
			if v := c.Create(t.Context(), createContact(c)); v.ID != tt.id {
				t.Errorf("%s, id %q (%s)", v.Effect, v.ID, v.Reason)
			}
		})
	}
}

// A relative redirect url is resolved against the url of its request. Any other is kept byte for byte, or refused.
func TestRelativeURLs(t *testing.T) {
	for said, want := range map[string]string{
		"/start?t=1": "http://localhost/start?t=1", "./start": "http://localhost/api/funnel/v2/contacts/c-1/start",
		"../start": "http://localhost/api/funnel/v2/contacts/start", "?t=1": "http://localhost/api/funnel/v2/contacts/c-1/magic-link?t=1",
		"https://x.example/a": "https://x.example/a",
		"start":               "", "//x.example/a": "", "javascript:alert(1)": "", "": "", "mailto:/a": "",
	} {
		for place, answer := range map[string]apiclient.Answer{
			"header:Location": {Status: 201, Header: http.Header{"Location": {said}}},
			"/redirectUrl":    {Status: 201, Body: []byte(`{"redirectUrl":"` + said + `"}`)},
			"text":            {Status: 201, Body: []byte(said + "\n")},
			"":                {Status: 201, Body: []byte(`"` + said + `"`)},
		} {
			c := with(t, func(cfg *apiclient.Config) { cfg.Wire.RedirectURL = place })
			if v := c.Judge(c.Routes().CreateLink("c-1", nil), answer, nil); v.URL != want {
				t.Errorf("%q at %q: %q, want %q (%s)", said, place, v.URL, want, v.Reason)
			}
		}
	}
	for said, want := range map[string]string{
		`https://a.example/r?t=1\u0026u=2`: "https://a.example/r?t=1&u=2", `https://a.example/\u00e9`: "https://a.example/é",
		`https://a.example/\ud83d`: "", "https://a.example/\ufffd": "", `https://a.example/\u0000`: "", "/r/\ufffd": "",
	} {
		c := with(t)
		v := c.Judge(c.Routes().CreateLink("c", nil), apiclient.Answer{Status: 201, Body: []byte(`{"redirectUrl":"` + said + `"}`)}, nil)
		if v.URL != want || (v.Effect == apiclient.Created) != (want != "") {
			t.Errorf("%s: %s with the url %q", said, v.Effect, v.URL)
		}
	}
}

// An answer means nobody only with the value that the environment names, at the place
// that it names, and without an id.
func TestNobodyByContent(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rule    apiclient.NotFound
		lookup  string // lookup_contact_id
		nobody  string
		somehow []string // like nobody, and not
		match   string   // of the id a
	}{
		{"null", content("/contactId", "null"), "/contactId", `{"contactId":null}`, []string{`{"contactId":""}`, `{}`, `null`}, `{"contactId":"a"}`},
		{"no items", content("/items", ""), "/items/0/contactId", `{"items":[]}`,
			[]string{`{"items":[{}]}`, `{"item":[]}`, `{"items":[{"contactId":"a"},{"contactId":"b"}]}`}, `{"items":[{"contactId":"a"}]}`},
		{"not found", content("/found", "false"), "/contactId", `{"found":false,"contactId":null}`,
			[]string{`{"found":"false","contactId":null}`, `{"found":true,"contactId":null}`, `{"found":false,"contactId":"a"}`, `{"found":false,"found":true,"contactId":null}`},
			`{"found":true,"contactId":"a"}`},
		{"a number", content("/count", "0"), "/id", `{"count":0.0,"id":null}`, []string{`{"count":1,"id":null}`, `{"count":"0","id":null}`}, `{"count":1,"id":"a"}`},
		{"a word", content("", `"none"`), "", `"none"`, []string{`""`, `null`, `[]`, `{}`}, `"a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := tt.nobody
			c := against(t, func(w http.ResponseWriter, r *http.Request) { answers(200, asJSON, now)(w, r) },
				func(cfg *apiclient.Config) { cfg.NotFound, cfg.Wire.LookupContactID = tt.rule, &tt.lookup })
			noError(t, c.LearnAbsent(t.Context(), apiclient.ByEmail))
			find := func(body string) (apiclient.Found, error) {
				now = body
				return c.Find(t.Context(), apiclient.ByEmail, "jane@example.com")
			}
			if found, err := find(tt.nobody); err != nil || !found.Absent {
				t.Errorf("%s: %+v, %v; want absent", tt.nobody, found, err)
			}
			for _, other := range tt.somehow {
				if found, err := find(other); err == nil {
					t.Errorf("%s: %+v; want an error", other, found)
				}
			}
			if found, err := find(tt.match); err != nil || found.ID != "a" {
				t.Errorf("%s: %+v, %v; want the id", tt.match, found, err)
			}
		})
	}
}
