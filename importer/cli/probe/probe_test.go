package probe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/apiclient/environment"
	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
	"claimsheet/importer/cli/probe"
	"claimsheet/importer/testform"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var must = testform.NoError

const testClient = "Probe.Test@example.com"

// service is a service that counts the POSTs that it accepts.
type service struct {
	url     string
	created atomic.Int64
}

func serve(t *testing.T, handler http.Handler) *service {
	t.Helper()
	s := new(service)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if r.Method == http.MethodPost && answer.Code/100 == 2 {
			s.created.Add(1)
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// place is a folder with an environments file, and perhaps a mapping and a sheet.
type place struct {
	t    *testing.T
	dir  string
	file string // the environments file
}

func newPlace(t *testing.T, environments string) place {
	dir := t.TempDir()
	p := place{t, dir, filepath.Join(dir, "environments.yaml")}
	must(t, os.WriteFile(p.file, []byte(environments), 0o600))
	return p
}

func (p place) claimsheet(args ...string) (code int, out, said string) {
	return p.claimsheetIn(p.t.Context(), args...)
}

func (p place) claimsheetIn(ctx context.Context, args ...string) (code int, out, said string) {
	var o, e bytes.Buffer
	code = cli.Main(ctx, args, cli.IO{In: strings.NewReader(""), Out: &o, Err: &e, Env: os.Getenv})
	return code, o.String(), e.String()
}

// probe probes, adds the lines to the environments file as they are printed, and returns the exit code, the report and what was printed.
func (p place) probe(flags ...string) (code int, report probe.Report, said string) {
	p.t.Helper()
	code, out, said := p.claimsheet(append([]string{"doctor", "--environments", p.file, "-e", "uat", "--probe", "--json"}, flags...)...)
	must(p.t, json.Unmarshal([]byte(out), &report))
	_, add, _ := strings.Cut(report.Text(), "\nenvironments:\n  uat:\n")
	file, err := os.ReadFile(p.file)
	must(p.t, err)
	must(p.t, os.WriteFile(p.file, append(file, add...), 0o600))
	return code, report, said
}

var sending = []string{"--send", "--yes", "--client", testClient}

// lines are the lines of a report.
func lines(report probe.Report) (text string) {
	for _, l := range report.Lines {
		text += l.Key + ": " + string(l.Value) + "\n"
	}
	return text
}

func entry(url, version string) string {
	text := "environments:\n  uat: # the operator's\n    base_url: " + url + "\n    workflow_template_identifier: WF-1 # by mail\n"
	if version == "v1" {
		text += "    case_id: 0b7c2c55-6a4e-4f0e-9a53-2f3f1f6f5c10\n"
	}
	return text
}

// importSample imports the test client, whom a look-up must find, and a new one with the
// environments file of a place. Without look-ups, what is undecided is not waited for.
func (p place) importSample(version string, lookUp bool) (int, string) {
	mapping := `name: sample
api: ` + version + `
client: {key: E-mail, lookup: {email: E-mail}, fields: {email: {column: E-mail, type: Email}}}
activities:
  - {template: Your details, attributes: {Postcode: {column: Post code, type: Text}}}
  - {template: Sign your claim, status: Open}
`
	if version == "v2" {
		mapping = strings.Replace(mapping, "activities:", "claims: [{key: E-mail, name: Loan}]\nworkflow: {name: Batch}\nactivities:", 1)
	}
	if !lookUp {
		mapping = strings.Replace(mapping, "lookup: {email: E-mail}", "existing: create", 1)
	}
	file, err := os.ReadFile(p.file)
	must(p.t, err)
	other := newPlace(p.t, string(file)) // with a ledger of its own
	must(p.t, os.WriteFile(filepath.Join(other.dir, "mapping.yaml"), []byte(mapping), 0o600))
	sheet := filepath.Join(other.dir, "leads.csv")
	must(p.t, os.WriteFile(sheet, []byte("E-mail,Post code\n"+testClient+",AB1 2CD\nnew@example.com,EF3 4GH\n"), 0o600))
	code, out, said := p.claimsheet("run", "-e", "uat", "-m", filepath.Join(other.dir, "mapping.yaml"), sheet)
	return code, out + said
}

// check probes a service, and imports with the lines and without them. fresh makes the service.
func check(t *testing.T, version, want string, fresh func() http.Handler) {
	t.Helper()
	s := serve(t, fresh())
	p := newPlace(t, entry(s.url, version))
	creates := map[string]int64{"v1": 3, "v2": 6}[version]
	code, report, said := p.probe(sending...)
	if got := lines(report); got != want || code != 0 || s.created.Load() != creates {
		t.Fatalf("exit code %d, %d were created; proposed\n%swant\n%s%s\n%s", code, s.created.Load(), got, want, said, report.Text())
	}
	checkPrivate(t, report)
	file, err := os.ReadFile(p.file)
	if err != nil || !strings.HasPrefix(string(file), entry(s.url, version)) {
		t.Errorf("the environments file was changed otherwise: %v\n%s", err, file)
	}
	if code, again, _ := p.probe(sending...); code != 0 || len(again.Lines) > 0 || s.created.Load() != creates || strings.Contains(again.Text(), "created now") {
		t.Errorf("a second probe: exit code %d, %d were created; proposed\n%s\n%s", code, s.created.Load(), lines(again), again.Text())
	}
	// The new client, and for both what follows: two activities, and under version 2 a claim and a link.
	if code, said := p.importSample(version, true); code != 0 || s.created.Load()-creates != map[string]int64{"v1": 1 + 2*2, "v2": 1 + 2*4}[version] {
		t.Errorf("the import with the lines: exit code %d, %d were created\n%s\n%s", code, s.created.Load()-creates, file, said)
	}
	if strings.TrimPrefix(want, "wire.activity_id: \"/activityId\"\n") == "" {
		return // it needs none of them
	}
	other := serve(t, fresh())
	if code, said := newPlace(t, entry(other.url, version)).importSample(version, strings.Contains(want, "not_found")); code == 0 {
		t.Errorf("the import succeeds without the lines\n%s", said)
	}
}

// TestSandbox probes the sandbox, whose answers only lack a line for the ids of activities.
func TestSandbox(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		check(t, version, `wire.activity_id: "/activityId"`+"\n", func() http.Handler {
			s, err := sandbox.New(sandbox.Options{})
			must(t, err)
			return s
		})
	}
}

// TestShapes probes the service of the tests, which shares no code with the sandbox, in each of the shapes in which it can answer.
func TestShapes(t *testing.T) {
	t.Parallel()
	templates := []apitest.Template{
		{ID: "5e571eaa-66c1-44e7-8859-90d2e844c762", Name: "Your details", Attributes: []apitest.Attribute{{ID: "8c3f846c-c6a9-42d3-83f8-4c485e5c4176", Name: "Postcode", DataType: "Text"}}},
		{ID: "bce1cb34-00e2-47d7-9eda-7e46a386c4a7", Name: "Sign your claim"},
	}
	const (
		segment  = `"header:Location"` + "\n"
		redirect = `wire.redirect_url: "header:X-Redirect-Url"` + "\n"
		empty    = `not_found: {"pointer":"/items","empty":true}` + "\n"
	)
	same := func(*apitest.Wire) {}
	nested := func(w *apitest.Wire) {
		w.ClientID, w.ContactID, w.ClaimID, w.ActivityID = "/data/clientId", "/data/contactId", "/data/claimId", "/data/activityId"
		w.RedirectURL, w.LookupID = "/data/redirectUrl", "/items/0/id"
	}
	const nestedV2 = `wire.activity_id: "/data/activityId"` + "\n" + `wire.claim_id: "/data/claimId"` + "\n" + `wire.contact_id: "/data/contactId"` + "\n" +
		`wire.lookup_contact_id: "/items/0/id"` + "\n" + `wire.redirect_url: "/data/redirectUrl"` + "\n"
	headers := func(w *apitest.Wire) {
		w.ClientID, w.ContactID, w.ClaimID, w.ActivityID = "header:Location", "header:Location", "header:Location", "header:Location"
		w.RedirectURL, w.LookupID = "header:X-Redirect-Url", "header:Content-Location"
	}
	text := func(w *apitest.Wire) {
		w.ClientID, w.ContactID, w.ClaimID, w.ActivityID, w.RedirectURL, w.LookupID = "header:Location", "text", "text", "text", "text", "text"
	}
	for name, c := range map[string]struct {
		long   bool
		wire   func(*apitest.Wire)
		nobody apitest.Reply
		want   map[string]string // by version
	}{
		"headers": {true, headers, apitest.JSON(404, "{}"), map[string]string{
			"v1": "wire.activity_id: " + segment + "wire.client_id: " + segment + `wire.lookup_client_id: "header:Content-Location"` + "\n" + redirect,
			"v2": "wire.activity_id: " + segment + "wire.claim_id: " + segment + "wire.contact_id: " + segment + `wire.lookup_contact_id: "header:Content-Location"` + "\n" + redirect}},
		"text": {false, text, apitest.JSON(404, "{}"), map[string]string{
			"v1": `wire.activity_id: "text"` + "\nwire.client_id: " + segment + `wire.lookup_client_id: "text"` + "\n" + `wire.redirect_url: "text"` + "\n",
			"v2": `wire.activity_id: "text"` + "\n" + `wire.claim_id: "text"` + "\n" + `wire.contact_id: "text"` + "\n" + `wire.redirect_url: "text"` + "\n"}},
		"null":    {true, same, apitest.JSON(200, "null"), map[string]string{"v2": ""}},
		"null id": {false, same, apitest.JSON(200, `{"clientId":null}`), map[string]string{"v1": `not_found: {"pointer":"/clientId","equals":null}` + "\n"}},
		"false":   {true, same, apitest.JSON(200, `{"found":false}`), map[string]string{"v2": `not_found: {"pointer":"/found","equals":false}` + "\n"}},
		"several": {false, func(w *apitest.Wire) { nested(w); w.DataType = "" }, apitest.JSON(200, `{"items":[]}`), map[string]string{"v2": nestedV2 + empty}},
		"JSON strings": {false, func(w *apitest.Wire) { w.ContactID, w.ClaimID, w.RedirectURL = "string", "string", "string" }, apitest.JSON(404, "{}"),
			map[string]string{"v2": "wire.claim_id: \"\"\nwire.contact_id: \"\"\nwire.redirect_url: \"\"\n"}},
		"lists of one and numbers": {false, func(w *apitest.Wire) {
			w.ContactID, w.ClaimID, w.LookupID, w.Numeric = "/data/0/id", "/data/0/id", "/result/id", true
		}, apitest.JSON(200, `{"result":{}}`), map[string]string{
			"v2": `wire.claim_id: "/data/0/id"` + "\n" + `wire.contact_id: "/data/0/id"` + "\n" + `wire.lookup_contact_id: "/result/id"` + "\n" + `not_found: {"pointer":"/result","empty":true}` + "\n"}},
		"headers and links": {false, func(w *apitest.Wire) {
			w.ContactID, w.ClaimID, w.LookupID, w.RedirectURL, w.ActivityID, w.DataType = "header:X-Contact-Id", "header:Location", "/contact/uuid", "/_links/redirect/href", "/activity/id", "/type"
		}, apitest.JSON(422, `{"error":{"code":"unknown_contact"}}`), map[string]string{
			"v2": `wire.activity_id: "/activity/id"` + "\n" + "wire.claim_id: " + segment + `wire.contact_id: "header:X-Contact-Id"` + "\n" + `wire.data_type: "/type"` + "\n" +
				`wire.lookup_contact_id: "/contact/uuid"` + "\n" + `wire.redirect_url: "/_links/redirect/href"` + "\n" + `not_found: {"status":[422],"pointer":"/error/code","equals":"unknown_contact"}` + "\n"}},
		"names": {false, func(w *apitest.Wire) { w.ContactID, w.Named = "/id", true }, apitest.JSON(200, `{"count":0,"result":"NOT_FOUND"}`),
			map[string]string{"v2": `wire.contact_id: "/id"` + "\n" + `not_found: {"pointer":"/count","equals":0}` + "\n"}},
	} {
		for version, want := range c.want {
			if c.long && !*testform.Long {
				continue
			}
			t.Run(name+"/"+version, func(t *testing.T) {
				t.Parallel()
				check(t, version, want, func() http.Handler {
					s := apitest.New(templates...)
					c.wire(&s.Wire)
					s.Nobody = c.nobody
					return s
				})
			})
		}
	}
}

// reply is an answer of odd.
type reply struct {
	status       int    // 0 cuts the connection
	header, body string // a header such as “Location: /contacts/17”; "" for none
}

// odd is a service with scripted answers, by method and the last segments of the path. What is not
// scripted is answered in the document's way.
type odd map[string]reply

var documented = odd{
	"GET activity-templates": {200, "", `[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"Sign","activityAttributeTemplates":[]}]`},
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
		body, _ := io.ReadAll(r.Body)
		switch by := segments[len(segments)-2]; {
		case by == "by-email" && known && !strings.HasPrefix(segments[len(segments)-1], "nobody."):
			key = "GET by-email"
		case strings.HasPrefix(by, "by-"):
			key = "GET nobody " + by
		case key == "POST activities" && !strings.Contains(string(body), "62f746b4"):
			key = "unknown template"
		case key == "POST magic-link" && len(body) > 0 && o["POST magic-link with a body"].status != 0:
			key += " with a body"
		}
		answer, ok := o[key]
		if !ok {
			answer, ok = documented[key]
		}
		if !ok {
			answer = reply{404, "", "{}"}
		}
		if answer.status == http.StatusTooManyRequests { // once
			o[key] = documented[key]
		}
		known = known || key == "POST contacts" && answer.status/100 == 2
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

// TestOdd probes services that no sandbox is like. said is a part of the report that must be there;
// code is 1 where something stays unknown.
func TestOdd(t *testing.T) {
	t.Parallel()
	const failed = `","means":"failed","hint":"the service refuses it"}]` + "\n"
	for name, c := range map[string]struct {
		service odd
		code    int
		want    string
		said    string
	}{
		"as documented":                  {odd{}, 0, "", "Nothing is to be written"},
		"activities without a body":      {odd{"POST activities": {204, "", ""}, "unknown template": {422, "", ""}}, 0, "", "a refusal, as Claimsheet reads it"},
		"asked to wait":                  {odd{"GET nobody by-email": {429, "Retry-After: 1", ""}}, 0, "", "the service asks to wait"},
		"relative redirect urls":         {odd{"POST magic-link": {201, "", `{"redirectUrl":"/start/secret"}`}}, 0, "", "Nothing is to be written"},
		"templates in a field":           {odd{"GET activity-templates": {200, "", `{"items":[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"S","activityAttributeTemplates":[]}]}`}}, 0, "wire.templates: \"/items\"\n", ""},
		"a refusal by a 500 with a code": {odd{"unknown template": {500, "", `{"code":"bad.template"}`}}, 0, `errors: [{"status":500,"pointer":"/code","matches":"^bad\\.template$` + failed, "by its code"},
		"a refusal by a 500":             {odd{"unknown template": {500, "", `{}`}}, 1, "", "such a step is uncertain"},
		"a refusal by a 200":             {odd{"unknown template": {200, "", `{"success":false}`}}, 0, `errors: [{"status":200,"pointer":"/success","matches":"^false$` + failed, ""},
		"a refusal that says it is well": {odd{"unknown template": {201, "", `{"success":false}`}, "POST activities": {201, "", `{"success":false}`}}, 1, "", "nothing in it says that it was refused"},
		"a link without a body":          {odd{"POST magic-link with a body": {415, "", ""}}, 0, "wire.link_body: \"none\"\n", "415"},
		"no link at all":                 {odd{"POST magic-link": {415, "", ""}}, 1, "", "it refuses it: HTTP 415"},
		"several links":                  {odd{"POST magic-link": {201, "", `{"links":[{"rel":"self","href":"/links/1"},{"rel":"redirect","href":"https://claims.example.com/secret"}]}`}}, 0, "wire.redirect_url: \"/links/1/href\"\n", ""},
		"a link and a url":               {odd{"POST magic-link": {201, "", `{"url":"https://claims.example.com","link":"https://claims.example.com/secret"}`}}, 0, "wire.redirect_url: \"/link\"\n", ""},
		"two links of one name":          {odd{"POST magic-link": {201, "", `{"a":{"url":"https://a.example.com"},"b":{"url":"https://b.example.com"}}`}}, 1, "", "it may have been created"},
		"two ids, and the look-up's":     {odd{"POST contacts": {201, "", `{"id":"e-9","data":{"id":"c-1"}}`}}, 0, "wire.contact_id: \"/data/id\"\nwire.lookup_contact_id: \"/contactId\"\n", ""},
		"two ids and no look-up's":       {odd{"POST contacts": {201, "", `{"id":"e-9","data":{"id":"c-1"}}`}, "GET by-email": {200, "", `{"name":"x"}`}}, 1, "", "it may have been created"},
		"an id of the request":           {odd{"POST claims": {201, "X-Request-Id: r-1", `{"administratorId":"c-1","createdAt":"2026-01-01"}`}}, 1, "", "it may have been created"},
		"an id of the administrator":     {odd{"POST claims": {201, "", `{"claimNumber":"C-1","administrator":{"id":"c-1"}}`}}, 1, "", "it may have been created"},
		"an id in the request":           {odd{"POST claims": {201, "", `{"claimNumber":"C-1","request":{"id":"r-9"}}`}}, 1, "", "it may have been created"},
		"an id of the template":          {odd{"POST activities": {201, "", `{"status":"Open","template":{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454"}}`}}, 0, "", "Nothing is to be written"},
		"an id of the owner":             {odd{"POST contacts": {201, "", "{}"}, "GET by-email": {200, "", `{"person":{"name":"x"},"owner":{"id":"handler-7"}}`}}, 1, "", "no value of the answer is the id for certain"},
		"the id, and another's":          {odd{"POST claims": {201, "", `{"id":"b-1","administrator":{"id":"c-1"}}`}}, 0, "wire.claim_id: \"/id\"\n", ""},
		"a look-up of several":           {odd{"GET by-email": {200, "", `[{"contactId":"c-1"},{"contactId":"c-2"}]`}}, 1, "", "no value of the answer is the id for certain"},
		"nobody by two answers":          {odd{"GET nobody by-phone": {204, "", ""}}, 0, `not_found: [{"status":[404]},{"status":[204]}]` + "\n", ""},
		"nobody by a 400":                {odd{"GET nobody by-email": {400, "", "{}"}}, 1, "", "nothing is created"},
		"nobody by a word":               {odd{"GET nobody by-email": {200, "", `{"result":"NOT_FOUND"}`}}, 0, `not_found: [{"pointer":"/result","equals":"NOT_FOUND"},{"status":[404]}]` + "\n", ""},
		"somebody for every address":     {odd{"GET nobody by-email": {200, "", `{"contactId":"c-7"}`}}, 1, "", "nothing in the answer tells an unknown client"},
		"other data types":               {odd{"GET activity-templates": {200, "", `[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"S","activityAttributeTemplates":[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"A","kindOfType":"String"}]}]`}}, 1, "", "at /kindOfType what the document does not name: String"},
		"templates in pages":             {odd{"GET activity-templates": {200, `Link: </x?page=2>; rel="next"`, `[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"S"}]`}}, 1, "", `one page of several (Link: rel="next")`},
		"one of 30 templates":            {odd{"GET activity-templates": {200, "", `{"total":30,"items":[{"id":"62f746b4-84e6-4ceb-95bd-447e7184d454","name":"S"}]}`}}, 1, "wire.templates: \"/items\"\n", "1 of 30 came"},
		"templates as a page":            {odd{"GET activity-templates": {200, "", "<html>"}}, 1, "", "HTTP 200 OK, a web page"},
		"no answer to a creation":        {odd{"POST claims": {}}, 1, "", "it may have been created"},
		"a client that is refused":       {odd{"POST contacts": {422, "", `{"code":"secret@example.com"}`}}, 1, "", "the fields of the mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.service.handler())
			p := newPlace(t, entry(s.url, "v2"))
			code, report, said := p.probe(sending...)
			text := report.Text()
			if got := lines(report); got != c.want || code != c.code || !strings.Contains(text, c.said) {
				t.Errorf("exit code %d; proposed\n%swant %d,\n%s\nwith %q in\n%s\n%s", code, got, c.code, c.want, c.said, text, said)
			}
			checkPrivate(t, report)
			if _, err := environment.Load(p.file); err != nil {
				t.Errorf("the environments file does not take the lines: %v", err)
			}
			created := s.created.Load()
			if _, again, _ := p.probe(sending...); s.created.Load() > created && !strings.HasPrefix(name, "a refusal") {
				t.Errorf("a second probe created %d more\n%s", s.created.Load()-created, again.Text())
			}
		})
	}
}

// TestGETsOnly: without --send nothing but GETs is sent, with credentials.
func TestGETsOnly(t *testing.T) {
	t.Parallel()
	s, posts := apitest.New(), 0
	s.Nobody = apitest.Reply{Status: 204}
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			posts++
		}
		if r.Header.Get("Authorization") != "Bearer secret-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.ServeHTTP(w, r)
	}))
	p := newPlace(t, entry(server.url, "v2")+"    auth: {type: bearer, token: file:token}\n")
	must(t, os.WriteFile(filepath.Join(p.dir, "token"), []byte("secret-token"), 0o600))
	code, report, said := p.probe("--client", testClient)
	if got, want := lines(report), "not_found: {\"status\":[204]}\n"; got != want || code != 1 || posts != 0 {
		t.Errorf("exit code %d, %d POSTs; proposed\n%swant\n%s\n%s", code, posts, got, want, said)
	}
	checkPrivate(t, report)
	if _, err := os.Stat(filepath.Join(p.dir, ".claimsheet")); err == nil {
		t.Error("there is a state folder")
	}
	must(t, os.WriteFile(filepath.Join(p.dir, "token"), []byte("another-token"), 0o600))
	if code, report, said := p.probe(sending...); code != 3 || posts != 0 || !strings.Contains(said, "401") {
		t.Errorf("with a wrong token: exit code %d, %d POSTs\n%s\n%s", code, posts, said, report.Text())
	}
}

// private matches what a report must never hold.
var private = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-|@|\+44|7700|https?://|/start/|secret`)

func checkPrivate(t *testing.T, report probe.Report) {
	t.Helper()
	report.Service = ""
	data, err := json.Marshal(report)
	must(t, err)
	if at := private.FindIndex(data); at != nil {
		t.Errorf("the report holds %q\n%s", data[at[0]:at[1]], data)
	}
}

// TestFieldsOfTheMapping: a client whose fields have other names is refused, and probed again with the
// fields of a mapping.
func TestFieldsOfTheMapping(t *testing.T) {
	t.Parallel()
	service := apitest.New(apitest.Template{ID: "bce1cb34-00e2-47d7-9eda-7e46a386c4a7", Name: "Sign your claim"})
	service.KeyField, service.EmailField = "person.mail", "person.mail"
	s := serve(t, service)
	p := newPlace(t, entry(s.url, "v2"))
	if code, report, said := p.probe(sending...); code != 1 || s.created.Load() != 0 || !strings.Contains(report.Text(), "with -m, the client has the fields of the mapping") {
		t.Errorf("exit code %d, %d were created\n%s\n%s", code, s.created.Load(), said, report.Text())
	}
	mapping := filepath.Join(p.dir, "mapping.yaml")
	must(t, os.WriteFile(mapping, []byte("name: m\napi: v2\nclient: {key: E-mail, lookup: {email: E-mail}, fields: {person.mail: {column: E-mail, type: Email}, born: {column: DOB, type: Date}}}\n"), 0o600))
	if code, report, said := p.probe(append(sending, "-m", mapping)...); code != 0 || s.created.Load() != 6 {
		t.Errorf("with the mapping: exit code %d, %d were created\n%s\n%s", code, s.created.Load(), said, report.Text())
	}
}

// TestStopped: a probe that a signal stops says what it has created.
func TestStopped(t *testing.T) {
	t.Parallel()
	service, err := sandbox.New(sandbox.Options{})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			stop()
		}
		service.ServeHTTP(w, r)
	}))
	p := newPlace(t, entry(s.url, "v2"))
	code, out, said := p.claimsheetIn(ctx, append([]string{"doctor", "--environments", p.file, "-e", "uat", "--probe"}, sending...)...)
	if created := strings.Count(out, "created now"); code != 130 || int64(created) != s.created.Load() || created != 1 || strings.Contains(said, "nothing was sent") {
		t.Errorf("exit code %d, %d were created\n%s\n%s", code, s.created.Load(), out, said)
	}
}
