package apiclient_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
)

// said is an answer to a look-up.
type said struct {
	name   string
	status int
	kind   string
	body   string
}

// nobodies are ways to say that nobody is known. An environment has one of
// them; every other one is a lie there.
var nobodies = []said{
	{"404 with a reason", 404, asJSON, apitest.NobodyBody},
	{"404 with a problem", 404, "application/problem+json", `{"type":"about:blank","title":"x","status":404}`},
	{"404 without a body", 404, "", ""},
	{"404 of null", 404, asJSON, `null`},
	{"200 of null", 200, asJSON, `null`},
	{"200 of an empty object", 200, asJSON, `{}`},
	{"200 of an empty list", 200, asJSON, `[]`},
}

// lies say neither who it is nor that it is nobody.
var lies = []said{
	{"server error", 500, asJSON, apitest.NobodyBody},
	{"gateway time-out", 504, "text/html", "<html>"},
	{"overload", 503, asJSON, `{}`},
	{"too many", 429, asJSON, `{}`},
	{"forbidden", 403, asJSON, apitest.NobodyBody},
	{"bad request", 400, asJSON, apitest.NobodyBody},
	{"gone", 410, asJSON, apitest.NobodyBody},
	{"conflict", 409, asJSON, `{"contactId":"a"}`},
	{"web page", 200, "text/html", `<!doctype html><p>{"contactId":"a"}`},
	{"web page called JSON", 200, asJSON, `<html>`},
	{"JSON called a web page, with an error", 404, "text/html", apitest.NobodyBody},
	{"404 of a web server", 404, "text/html", `<html><h1>Not Found`},
	{"404 of a router", 404, "text/plain", "404 page not found\n"},
	{"404 of another api", 404, asJSON, `{"fault":{"code":"no route"}}`},
	{"404 of a newer api", 404, asJSON, `{"error":"nobody","path":"/funnel"}`},
	{"404 that knows somebody", 404, asJSON, `{"contactId":"a"}`},
	{"404 in a list", 404, asJSON, `["nobody"]`},
	{"404 as a text", 404, asJSON, `"nobody"`},
	{"no content", 204, "", ""},
	{"accepted", 202, asJSON, `{"status":"searching"}`},
	{"empty 200", 200, asJSON, ``},
	{"blank 200", 200, asJSON, " \n"},
	{"error in a 200", 200, asJSON, apitest.NobodyBody},
	{"id and error in one", 200, asJSON, `{"error":"nobody","contactId":null}`},
	{"wrapped list of none", 200, asJSON, `{"items":[]}`},
	{"list of null", 200, asJSON, `[null]`},
	{"list of an empty object", 200, asJSON, `[{}]`},
	{"list of an empty list", 200, asJSON, `[[]]`},
	{"list in a list", 200, asJSON, `[[{"contactId":"a"}]]`},
	{"two matches", 200, asJSON, `[{"contactId":"a"},{"contactId":"b"}]`},
	{"the same match twice", 200, asJSON, `[{"contactId":"a"},{"contactId":"a"}]`},
	{"a match and an empty one", 200, asJSON, `[{"contactId":"a"},{}]`},
	{"an empty one and a match", 200, asJSON, `[null,{"contactId":"a"}]`},
	{"two ids", 200, asJSON, `{"contactId":"a","contactId":"b"}`},
	{"a list of ids", 200, asJSON, `{"contactId":["a"]}`},
	{"id within an object", 200, asJSON, `{"contact":{"contactId":"a"}}`},
	{"id of another name", 200, asJSON, `{"contactid":"a","id":"a"}`},
	{"id of null", 200, asJSON, `{"contactId":null}`},
	{"empty id", 200, asJSON, `{"contactId":""}`},
	{"id false", 200, asJSON, `{"contactId":false}`},
	{"id rounded", 200, asJSON, `{"contactId":9.007199254740993e15}`},
	{"id as a path", 200, asJSON, `{"contactId":".."}`},
	{"two documents", 200, asJSON, `{"contactId":"a"}{"contactId":"b"}`},
	{"zero", 200, asJSON, `0`},
	{"false", 200, asJSON, `false`},
	{"empty text", 200, asJSON, `""`},
	{"redirect", 302, asJSON, apitest.NobodyBody},
	{"not modified", 304, "", ""},
}

// In an environment that has learnt one way of saying "nobody", exactly that
// one is absent, a plain match is an id, and everything else is an error.
func TestLookUpsAreNotLiedTo(t *testing.T) {
	synctest.Test(t, lookUpsAreNotLiedTo) // after "too many", the client waits
}

func lookUpsAreNotLiedTo(t *testing.T) {
	matches := []said{
		{"match", 200, asJSON, `{"contactId":"a"}`},
		{"match in a list", 200, asJSON, `[{"contactId":"a"}]`},
	}
	asked := 0
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
				asked++
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
	t.Logf("%d look-ups", asked)
}

// What was learnt of one look-up says nothing about the other.
func TestEachLookUpLearnsForItself(t *testing.T) {
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/by-phone/") {
			answers(200, asJSON, `[]`)(w, r)
			return
		}
		answers(404, asJSON, apitest.NobodyBody)(w, r)
	})
	for _, by := range []apiclient.By{apiclient.ByEmail, apiclient.ByPhone} {
		if err := c.LearnAbsent(t.Context(), by); err != nil {
			t.Fatal(err)
		}
		if found, err := c.Find(t.Context(), by, "x"); err != nil || !found.Absent {
			t.Errorf("by %s: %+v, %v", by, found, err)
		}
	}
}

// The service's index may be late: nobody now, somebody later, somebody else
// after that. Every look-up asks again and says what it got.
func TestALateIndexIsAskedAgain(t *testing.T) {
	now := nobodies[0]
	c := against(t, func(w http.ResponseWriter, r *http.Request) { answers(now.status, now.kind, now.body)(w, r) })
	if err := c.LearnAbsent(t.Context(), apiclient.ByEmail); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		body string
		id   string
	}{{"", ""}, {`{"contactId":"a"}`, "a"}, {"", ""}, {`{"contactId":"b"}`, "b"}} {
		if now = nobodies[0]; step.id != "" {
			now = said{"match", 200, asJSON, step.body}
		}
		found, err := c.Find(t.Context(), apiclient.ByEmail, "jane@example.com")
		if err != nil || found.ID != step.id || found.Absent != (step.id == "") {
			t.Errorf("%+v, %v; want id %q", found, err, step.id)
		}
	}
}
