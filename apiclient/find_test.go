package apiclient_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/apiclient"
)

// directory answers look-ups: known for the one address, nobody for others.
func directory(known, nobody http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/jane@example.com") {
			known(w, r)
			return
		}
		nobody(w, r)
	}
}

const asJSON = "application/json"

func TestFind(t *testing.T) {
	tests := []struct {
		name    string
		pointer string // lookup_contact_id
		status  int
		kind    string
		body    string
		want    apiclient.Found
		err     string
	}{
		{name: "one", status: 200, kind: asJSON, body: `{"contactId":"a"}`, want: apiclient.Found{ID: "a"}},
		{name: "array of one", status: 200, kind: asJSON, body: `[{"contactId":"a"}]`, want: apiclient.Found{ID: "a"}},
		{name: "pointer into the array", pointer: "/0/contactId", status: 200, kind: asJSON, body: `[{"contactId":"a"}]`, want: apiclient.Found{ID: "a"}},
		{name: "own pointer", pointer: "/items/0/id", status: 200, kind: asJSON, body: `{"items":[{"id":7}]}`, want: apiclient.Found{ID: "7"}},
		{name: "nobody", status: 404, kind: asJSON, body: `{"error":"none"}`, want: apiclient.Found{Absent: true}},
		{name: "array of two", status: 200, kind: asJSON, body: `[{"contactId":"a"},{"contactId":"b"}]`, err: "more than one match"},
		{name: "pointer into an array of two", pointer: "/0/contactId", status: 200, kind: asJSON, body: `[{"contactId":"a"},{"contactId":"b"}]`, err: "more than one match"},
		{name: "nested array of two", pointer: "/items/0/id", status: 200, kind: asJSON, body: `{"items":[{"id":7},{"id":8}]}`, err: "more than one match"},
		{name: "two ids", status: 200, kind: asJSON, body: `{"contactId":"a","contactId":"b"}`, err: "two different ids"},
		{name: "no id", status: 200, kind: asJSON, body: `{"id":"a"}`, err: "no value at /contactId"},
		{name: "web page", status: 200, kind: "text/html", body: `<html>`, err: "a web page"},
		{name: "no body", status: 204, err: "is empty"},
		{name: "404 of a proxy", status: 404, kind: "text/html", body: `<html>`, err: "does not count as nobody"},
		{name: "404 of another api", status: 404, kind: asJSON, body: `{"fault":"no route"}`, err: "with other fields"},
		{name: "empty though nobody is a 404", status: 200, kind: asJSON, body: `[]`, err: "does not count as nobody"},
		{name: "error", status: 500, kind: asJSON, body: `{}`, err: "HTTP 500"},
		{name: "forbidden", status: 403, kind: asJSON, body: `{}`, err: "HTTP 403"},
		{name: "redirect", status: 302, err: "HTTP 302"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := config(apiclient.V2)
			if tt.pointer != "" {
				cfg.Wire.LookupContactID = &tt.pointer
			}
			cfg.Transport = apiclient.InProcess(directory(
				answers(tt.status, tt.kind, tt.body), answers(404, asJSON, `{"error":"nobody there"}`)))
			c := client(t, cfg)
			if err := c.LearnAbsent(t.Context(), apiclient.ByEmail); err != nil {
				t.Fatal(err)
			}
			got, err := c.Find(t.Context(), apiclient.ByEmail, "jane@example.com")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%+v, %v; want an error with %q", got, err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(apiclient.Found{}, "Body")); err != nil || diff != "" {
				t.Errorf("%v; -want +got:\n%s", err, diff)
			}
		})
	}
}

func TestALookUpRefusedFor401StopsTheRun(t *testing.T) {
	c := against(t, answers(401, asJSON, `{}`))
	_, err := c.Find(t.Context(), apiclient.ByPhone, "+447700900001")
	f, ok := err.(*apiclient.Failure)
	if !ok || !f.Stop {
		t.Errorf("%v, want a failure that stops", err)
	}
}

func TestLearnAbsent(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		err    string
	}{
		{"404", answers(404, asJSON, `{"error":"x"}`), ""},
		{"404 without body", answers(404, "", ""), ""},
		{"null", answers(200, asJSON, `null`), ""},
		{"empty object", answers(200, asJSON, `{}`), ""},
		{"empty array", answers(200, asJSON, `[]`), ""},
		{"everybody exists", answers(200, asJSON, `{"contactId":"a"}`), "not_found"},
		{"an error in a 200", answers(200, asJSON, `{"found":false}`), "HTTP 200 OK with a JSON object (application/json), which not_found does not describe"},
		{"login page", answers(200, "text/html", `<html>`), "not JSON (text/html)"},
		{"forbidden", answers(403, asJSON, `{}`), "HTTP 403"},
	}
	for _, tt := range tests {
		for _, by := range []apiclient.By{apiclient.ByEmail, apiclient.ByPhone} {
			err := against(t, tt.answer).LearnAbsent(t.Context(), by)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%s by %s: %v; want %q", tt.name, by, err, tt.err)
			}
		}
	}
}

// Test environments know some of the numbers that stand for nobody.
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
	cfg := config(apiclient.V2)
	cfg.Wire.LookupAgree = map[string]string{"lastName": "/person/last", "phone": "/phone"}
	c := client(t, cfg)
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
