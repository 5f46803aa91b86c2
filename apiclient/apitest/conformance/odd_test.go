package conformance_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest/conformance"
	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/sandbox"
)

// reply is an answer of odd.
type reply struct {
	status       int
	header, body string // a header such as “Location: /contacts/17”; "" for none
}

// odd is a service with scripted answers, by method and the last segments of the path; a
// request without credentials is “anonymous”, and one of a template that does not exist
// “unknown template”. What is not scripted is answered in the document's way.
type odd map[string]reply

// documented are the answers of odd that are not scripted.
var documented = odd{
	"GET activity-templates": {200, "", `[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"Sign","activityAttributeTemplates":[]}]`},
	"anonymous":              {401, "", `{}`},
	"unknown template":       {400, "", `{}`},
	"POST contacts":          {201, "", `{"contactId":"c-1"}`},
	"POST claims":            {201, "", `{"claimId":"b-1"}`},
	"POST activities":        {201, "", `{"status":"Open"}`},
	"POST magic-link":        {201, "", `{"redirectUrl":"https://claims.example.com/start/secret"}`},
	"GET nobody by-email":    {404, "", `{}`},
	"GET nobody by-phone":    {404, "", `{}`},
	"GET by-email":           {200, "", `{"contactId":"c-1"}`},
}

// handler answers as scripted. The test client is known once it was created.
func (o odd) handler() http.Handler {
	known := false
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		segments := strings.Split(r.URL.Path, "/")
		key := r.Method + " " + segments[len(segments)-1]
		body := new(strings.Builder)
		if r.Body != nil {
			_, _ = io.Copy(body, r.Body)
		}
		switch by := segments[len(segments)-2]; {
		case r.Header.Get("Authorization") == "":
			key = "anonymous"
		case strings.HasPrefix(by, "by-") && known && !strings.HasPrefix(segments[len(segments)-1], "nobody.") && by == "by-email":
			key = "GET by-email"
		case strings.HasPrefix(by, "by-"):
			key = "GET nobody " + by
		case key == "POST activities" && !strings.Contains(body.String(), "62f746b4"):
			key = "unknown template"
		case key == "POST magic-link" && body.Len() > 0 && o["POST magic-link with a body"].status != 0:
			key += " with a body"
		}
		known = known || key == "POST contacts"
		answer, ok := o[key]
		if !ok {
			answer, ok = documented[key]
		}
		if !ok {
			answer = reply{404, "", "{}"}
		}
		if answer.status == 0 {
			panic(http.ErrAbortHandler)
		}
		if name, value, ok := strings.Cut(answer.header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(answer.status)
		_, _ = w.Write([]byte(answer.body))
	})
}

func withToken(_ context.Context, r *http.Request, _ []byte) error {
	r.Header.Set("Authorization", "Bearer secret-token")
	return nil
}

// TestOdd runs the suite against services that no sandbox is like. The environments file
// must take every proposal. said is a part of the report that must be there.
func TestOdd(t *testing.T) {
	t.Parallel()
	const stop = `, means: stop, hint: "the service does not accept the credentials: check auth"}` + "\n"
	const failed = ", means: failed, hint: the service refuses it}\n"
	for name, c := range map[string]struct {
		service    odd
		want, said string
	}{
		"as documented":                  {odd{}, "", "Nothing is to be written"},
		"credentials by a 403":           {odd{"anonymous": {403, "", ""}}, "errors:\n  - {status: 403" + stop, "a request without credentials is answered HTTP 403"},
		"credentials by a code":          {odd{"anonymous": {400, "", `{"error":{"code":"no_token"}}`}}, "errors:\n  - {status: 400, pointer: /error/code, matches: '^no_token$'" + stop, ""},
		"credentials by a 400":           {odd{"anonymous": {400, "", ""}}, "", "nothing in it says that credentials are missing"},
		"credentials by a login page":    {odd{"anonymous": {200, "Content-Type: text/html", "<!doctype html><html></html>"}}, "errors:\n  - {status: 200, matches: '(?i)<html'" + stop, ""},
		"credentials by a redirect":      {odd{"anonymous": {302, "Location: https://login.example.com/secret", ""}}, "", "a redirect ends a run"},
		"credentials like nobody":        {odd{"anonymous": {404, "", `{}`}}, "", "nothing in it says that credentials are missing"},
		"no credentials are asked for":   {odd{"anonymous": documented["GET activity-templates"]}, "", "gives the templates to everybody"},
		"a refusal by a 500 with a code": {odd{"unknown template": {500, "", `{"code":"bad.template"}`}}, `errors:` + "\n" + `  - {status: 500, pointer: /code, matches: '^bad\.template$'` + failed, "let the service's operator confirm"},
		"a refusal by a 500":             {odd{"unknown template": {500, "", `{}`}}, "", "such steps are uncertain"},
		"a refusal by a 200":             {odd{"unknown template": {200, "", `{"success":false}`}}, "errors:\n  - {status: 200, pointer: /success, matches: '^false$'" + failed, ""},
		"a refusal that says it is well": {odd{"unknown template": {201, "", `{"success":false}`}, "POST activities": {201, "", `{"success":false}`}}, "", "the service seems to accept it"},
		"a link without a body":          {odd{"POST magic-link with a body": {415, "", ""}}, "wire: {link_body: none}\n", "with the body {} the link is refused"},
		"several links":                  {odd{"POST magic-link": {201, "", `{"links":[{"rel":"self","href":"/links/1"},{"rel":"redirect","href":"https://claims.example.com/secret"}]}`}}, "wire: {redirect_url: /links/1/href}\n", ""},
		"two links of one name":          {odd{"POST magic-link": {201, "", `{"a":{"url":"https://a.example.com"},"b":{"url":"https://b.example.com"}}`}}, "", "which value is the redirect url cannot be told"},
		"two ids, and the look-up's":     {odd{"POST contacts": {201, "", `{"id":"e-9","data":{"id":"c-1"}}`}}, "wire: {contact_id: /data/id, lookup_contact_id: /contactId}\n", ""},
		"two ids and no look-up's":       {odd{"POST contacts": {201, "", `{"id":"e-9","data":{"id":"c-1"}}`}, "GET by-email": {200, "", `{"name":"x"}`}}, "", "which value is the contact's id cannot be told"},
		"an id of the request":           {odd{"POST claims": {201, "X-Request-Id: r-1", `{"administratorId":"c-1","createdAt":"2026-01-01"}`}}, "", "which value is the claim's id cannot be told"},
		"a look-up of several":           {odd{"GET by-email": {200, "", `[{"contactId":"c-1"},{"contactId":"c-2"}]`}}, "", "perhaps the address belongs to several"},
		"a link to the thing":            {odd{"POST claims": {201, "", `{"self":"https://api.example.com/claims/b-1"}`}}, "wire: {claim_id: \"last-segment:/self\"}\n", ""},
		"nobody by two answers":          {odd{"GET nobody by-phone": {204, "", ""}}, "not_found: [{status: [204]}, {status: [404]}]\n", ""},
		"nobody by a 400":                {odd{"GET nobody by-email": {400, "", "{}"}}, "", "nothing is created"},
		"nobody by a word":               {odd{"GET nobody by-email": {200, "", `{"result":"NOT_FOUND"}`}}, "not_found: [{pointer: /result, equals: NOT_FOUND}, {status: [404]}]\n", ""},
		"nobody like somebody":           {odd{"GET nobody by-email": {200, "", `{"found":false}`}, "GET by-email": {200, "", `{"found":false,"contactId":"c-1"}`}}, "", "is answered in the same way"},
		"somebody for every address":     {odd{"GET nobody by-email": {200, "", `{"contactId":"c-7"}`}}, "", "look-ups of this service do not tell who exists"},
		"other data types":               {odd{"GET activity-templates": {200, "", `[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"S","activityAttributeTemplates":[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"A","kindOfType":"String"}]}]`}}, "", "wire.data_type to /kindOfType"},
		"templates below a field":        {odd{"GET activity-templates": {200, "", `{"items":[]}`}}, "", "Claimsheet reads an array only"},
		"templates as a page":            {odd{"GET activity-templates": {200, "", "<html>"}}, "", "check base_url"},
		"no answer to a creation":        {odd{"POST claims": {}}, "", "it may have been created all the same"},
		"a client that is refused":       {odd{"POST contacts": {422, "", `{"code":"secret@example.com"}`}}, "", "the names of the fields are not shown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, target := serve(t, c.service.handler())
			target.Authorize = withToken
			report := conformance.Run(t.Context(), target, conformance.Options{Email: testClient, Send: true})
			text := report.Text()
			if got := report.Lines(); got != c.want || !strings.Contains(text, c.said) {
				t.Errorf("proposed\n%swant\n%s\nwith %q in\n%s", got, c.want, c.said, text)
			}
			checkPrivate(t, report)
			path := filepath.Join(t.TempDir(), "environments.yaml")
			must(t, os.WriteFile(path, []byte("environments:\n  uat:\n    base_url: "+target.BaseURL+"\n    "+strings.ReplaceAll(report.Lines(), "\n", "\n    ")), 0o600))
			if _, err := environment.Load(path); err != nil {
				t.Errorf("the environments file does not take the lines: %v\n%s", err, report.Lines())
			}
		})
	}
}

// TestSecondRun: the test client is created once, and only after the templates were read.
func TestSecondRun(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{})
	must(t, err)
	_, target := serve(t, s)
	for run, want := range []string{"1 contact, 1 claim, 2 activities, 1 link", "1 claim, 2 activities, 1 link"} {
		report := conformance.Run(t.Context(), target, conformance.Options{Email: testClient, Send: true})
		if got := strings.Join(report.Created, ", "); got != want {
			t.Errorf("run %d created %s, want %s", run+1, got, want)
		}
	}
}
