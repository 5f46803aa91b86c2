package conformance_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/apiclient/apitest/conformance"
	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
	"claimsheet/importer/testform"
)

const (
	caseID     = "0b7c2c55-6a4e-4f0e-9a53-2f3f1f6f5c10"
	testClient = "Conformance.Test@example.com"
	testPhone  = "+44 7700 900001"
)

// shape is a way in which the sandbox answers.
type shape struct {
	name string
	apitest.Shape
	versions []string
	want     map[string]string // by version, the lines that must be proposed
}

// shapes are those of the sandbox's flags, and some of them together.
func shapes() []shape {
	v1, v2, both := []string{"v1"}, []string{"v2"}, []string{"v1", "v2"}
	return []shape{
		{"flat", apitest.Shape{}, v2, map[string]string{
			"v2": "wire: {activity_id: /activityId}\n",
		}},
		{"nested", apitest.Shape{Carrier: apitest.Nested}, both, map[string]string{
			"v1": "wire: {activity_id: /data/activityId, client_id: /data/clientId, lookup_client_id: /items/0/clientId, redirect_url: /data/redirectUrl}\n",
			"v2": "wire: {activity_id: /data/activityId, claim_id: /data/claimId, contact_id: /data/contactId, lookup_contact_id: /items/0/contactId, redirect_url: /data/redirectUrl}\n",
		}},
		{"header", apitest.Shape{Carrier: apitest.Header}, both, map[string]string{
			"v1": `wire: {activity_id: "last-segment:header:Location", client_id: "last-segment:header:Location", lookup_client_id: "last-segment:header:Content-Location", redirect_url: "header:X-Redirect-Url"}` + "\n",
			"v2": `wire: {activity_id: "last-segment:header:Location", claim_id: "last-segment:header:Location", contact_id: "last-segment:header:Location", lookup_contact_id: "last-segment:header:Content-Location", redirect_url: "header:X-Redirect-Url"}` + "\n",
		}},
		{"text", apitest.Shape{Carrier: apitest.Text}, both, map[string]string{
			"v1": `wire: {activity_id: text, client_id: "last-segment:header:Location", lookup_client_id: text, redirect_url: text}` + "\n",
			"v2": "wire: {activity_id: text, claim_id: text, contact_id: text, redirect_url: text}\n",
		}},
		{"relative", apitest.Shape{Carrier: apitest.Relative}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\n"}},
		{"no-content", apitest.Shape{NotFound: apitest.Reply{Status: 204}}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\nnot_found: {status: [204]}\n"}},
		{"null", apitest.Shape{NotFound: apitest.JSON(200, "null")}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\n"}},
		{"null-id", apitest.Shape{NotFound: apitest.JSON(200, `{"clientId":null}`)}, v1, map[string]string{"v1": "wire: {activity_id: /activityId}\nnot_found: {pointer: /clientId, equals: null}\n"}},
		{"no-items", apitest.Shape{NotFound: apitest.JSON(200, `{"items":[]}`)}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\nnot_found: {pointer: /items, empty: true}\n"}},
		{"false", apitest.Shape{NotFound: apitest.JSON(200, `{"found":false}`)}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\nnot_found: {pointer: /found, equals: false}\n"}},
		{"several", apitest.Shape{Carrier: apitest.Nested, NotFound: apitest.JSON(200, `{"items":[]}`), Untyped: true}, v2, map[string]string{
			"v2": "wire: {activity_id: /data/activityId, claim_id: /data/claimId, contact_id: /data/contactId, lookup_contact_id: /items/0/contactId, redirect_url: /data/redirectUrl}\nnot_found: {pointer: /items, empty: true}\n",
		}},
		{"header and null-id", apitest.Shape{Carrier: apitest.Header, NotFound: apitest.JSON(200, `{"clientId":null}`)}, v1, map[string]string{
			"v1": `wire: {activity_id: "last-segment:header:Location", client_id: "last-segment:header:Location", lookup_client_id: "last-segment:header:Content-Location", redirect_url: "header:X-Redirect-Url"}` + "\nnot_found: {pointer: /clientId, equals: null}\n",
		}},
	}
}

// counted is a service that counts the POSTs.
type counted struct {
	http.Handler
	posts atomic.Int64
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		c.posts.Add(1)
	}
	c.Handler.ServeHTTP(w, r)
}

func (c *counted) count() int { return int(c.posts.Load()) }

// serve serves a service until the test ends.
func serve(t *testing.T, service http.Handler) (*counted, conformance.Target) {
	t.Helper()
	c := &counted{Handler: service}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, conformance.Target{Name: "uat", BaseURL: server.URL, CaseID: caseID, Version: "v2", WorkflowTemplateIdentifier: "WF-1"}
}

// TestShapes runs the suite against the sandbox in each of its shapes, writes the
// proposed lines into an environments file, and imports two clients with it: the test
// client, whom a look-up must find, and a new one, whom it must not find.
func TestShapes(t *testing.T) {
	t.Parallel()
	for i, shape := range shapes() {
		if !*testform.Long && i%4 != 0 {
			continue
		}
		for _, version := range shape.versions {
			t.Run(shape.name+"/"+version, func(t *testing.T) {
				t.Parallel()
				s, err := sandbox.New(sandbox.Options{})
				must(t, err)
				service, target := serve(t, shape.Around(s))
				target.Version = version
				report := tryAndImport(t, service, target)
				if got := report.Lines(); got != shape.want[version] {
					t.Errorf("proposed\n%swant\n%s\n%s", got, shape.want[version], report.Text())
				}
				checkPrivate(t, report)
			})
		}
	}
}

// mappings are what importSample imports with, by version.
var mappings = func() map[string]string {
	const v1 = `name: sample
api: v1
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}}
activities:
  - {template: Your details, attributes: {Postcode: {column: Post code, type: Text}}}
  - {template: Sign your claim, status: Open}
`
	const claims = "claims: [{key: E-mail, name: Loan}]\nworkflow: {name: Batch, template_identifier: WF-1}\nactivities:"
	return map[string]string{"v1": v1, "v2": strings.NewReplacer("api: v1", "api: v2", "activities:", claims).Replace(v1)}
}()

// importSample runs the program over two clients, with an environment that has the lines,
// and returns the exit code and what was printed.
func importSample(t *testing.T, target conformance.Target, lines string) (int, string) {
	t.Helper()
	dir := t.TempDir()
	var sheet bytes.Buffer
	must(t, csv.NewWriter(&sheet).WriteAll([][]string{{"E-mail", "Post code"}, {testClient, "AB1 2CD"}, {"new@example.com", "EF3 4GH"}}))
	environments := "environments:\n  uat:\n    base_url: " + target.BaseURL + "\n    case_id: " + target.CaseID + "\n    " +
		strings.ReplaceAll(lines, "\n", "\n    ") + "\n"
	for name, text := range map[string]string{"mapping.yaml": mappings[target.Version], "environments.yaml": environments, "leads.csv": sheet.String()} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var out bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &out, Env: func(string) string { return "" }}
	code := cli.Main(t.Context(), []string{"run", "-e", "uat", "-m", filepath.Join(dir, "mapping.yaml"), filepath.Join(dir, "leads.csv")}, stdio)
	return code, out.String()
}

// tryAndImport runs the suite, imports with the lines that it proposes, and checks that
// the import created the new client once and the test client not again.
func tryAndImport(t *testing.T, service *counted, target conformance.Target) conformance.Report {
	t.Helper()
	report := conformance.Run(t.Context(), target, conformance.Options{Email: testClient, Phone: testPhone, Send: true})
	before := service.count()
	if code, said := importSample(t, target, report.Lines()); code != 0 {
		t.Errorf("the import with these lines ended with exit code %d\n%s\n%s\n%s", code, report.Lines(), said, report.Text())
	}
	// The new client, and for both what follows: two activities, and under version 2 a claim and a link.
	if got, want := service.count()-before, map[string]int{"v1": 1 + 2*2, "v2": 1 + 2*4}[target.Version]; got != want {
		t.Errorf("the import sent %d POSTs, want %d", got, want)
	}
	return report
}

// TestIndependentService is TestShapes with the service of the tests, which shares no
// code with the sandbox.
func TestIndependentService(t *testing.T) {
	t.Parallel()
	templates := []apitest.Template{
		{ID: "5e571eaa-66c1-44e7-8859-90d2e844c762", Name: "Your details", Attributes: []apitest.Attribute{{ID: "8c3f846c-c6a9-42d3-83f8-4c485e5c4176", Name: "Postcode", DataType: "Text"}}},
		{ID: "bce1cb34-00e2-47d7-9eda-7e46a386c4a7", Name: "Sign your claim"},
	}
	for name, c := range map[string]struct {
		wire   func(*apitest.Wire)
		nobody apitest.Reply
		want   string
	}{
		"JSON strings": {
			func(w *apitest.Wire) { w.ContactID, w.ClaimID, w.RedirectURL = "string", "string", "string" }, apitest.JSON(404, "{}"),
			`wire: {claim_id: "", contact_id: "", redirect_url: ""}` + "\n",
		},
		"lists of one and numbers": {
			func(w *apitest.Wire) {
				w.ContactID, w.ClaimID, w.LookupID, w.Numeric = "/data/0/id", "/data/0/id", "/result/id", true
			},
			apitest.JSON(200, `{"result":{}}`),
			"wire: {claim_id: /data/0/id, contact_id: /data/0/id, lookup_contact_id: /result/id}\nnot_found: {pointer: /result, empty: true}\n",
		},
		"headers and links": {
			func(w *apitest.Wire) {
				w.ContactID, w.ClaimID, w.LookupID, w.RedirectURL, w.ActivityID, w.DataType = "header:X-Contact-Id", "header:Location", "/contact/uuid", "/_links/redirect/href", "/activity/id", "/type"
			}, apitest.JSON(422, `{"error":{"code":"unknown_contact"}}`),
			`wire: {activity_id: /activity/id, claim_id: "last-segment:header:Location", contact_id: "header:X-Contact-Id", data_type: /type, lookup_contact_id: /contact/uuid, redirect_url: /_links/redirect/href}` +
				"\nnot_found: {status: [422], pointer: /error/code, equals: unknown_contact}\n",
		},
		"names": {
			func(w *apitest.Wire) { w.ContactID, w.Named = "/id", true }, apitest.JSON(200, `{"count":0,"result":"NOT_FOUND"}`),
			"wire: {contact_id: /id}\nnot_found: {pointer: /count, equals: 0}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(templates...)
			c.wire(&s.Wire)
			s.Nobody = c.nobody
			service, target := serve(t, s)
			report := tryAndImport(t, service, target)
			if got := report.Lines(); got != c.want {
				t.Errorf("proposed\n%swant\n%s\n%s", got, c.want, report.Text())
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// private matches what a report must never hold: ids, addresses, numbers and redirect urls.
var private = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-|@|\+44|7700|https?://|/start/|secret`)

func checkPrivate(t *testing.T, report conformance.Report) {
	t.Helper()
	text := fmt.Sprintf("%+v\n%s", report, report.Text())
	if at := private.FindStringIndex(text); at != nil {
		t.Errorf("the report holds %q\n%s", text[at[0]:at[1]], text)
	}
}

// TestWithoutLines shows that the imports of TestShapes need their lines.
func TestWithoutLines(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{})
	must(t, err)
	_, target := serve(t, apitest.Shape{NotFound: apitest.JSON(200, `{"found":false}`)}.Around(s))
	if code, said := importSample(t, target, ""); code == 0 {
		t.Errorf("the import succeeds without the lines\n%s", said)
	}
}
