package conformance_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest/conformance"
	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
)

const (
	caseID     = "0b7c2c55-6a4e-4f0e-9a53-2f3f1f6f5c10"
	testClient = "Conformance.Test@example.com"
	testPhone  = "+44 7700 900001"
)

// shape is a way in which the sandbox answers.
type shape struct {
	name     string
	options  sandbox.Options
	versions []string
	want     map[string]string // by version, the lines that must be proposed
}

// shapes are those of the sandbox's flags, and some of them together.
func shapes() []shape {
	v1, v2, both := []string{"v1"}, []string{"v2"}, []string{"v1", "v2"}
	return []shape{
		{"flat", sandbox.Options{}, both, map[string]string{
			"v1": "wire: {activity_id: /activityId}\n",
			"v2": "wire: {activity_id: /activityId}\n",
		}},
		{"nested", sandbox.Options{Wire: sandbox.Nested}, both, map[string]string{
			"v1": "wire: {activity_id: /data/activityId, client_id: /data/clientId, lookup_client_id: /items/0/clientId, redirect_url: /data/redirectUrl}\n",
			"v2": "wire: {activity_id: /data/activityId, claim_id: /data/claimId, contact_id: /data/contactId, lookup_contact_id: /items/0/contactId, redirect_url: /data/redirectUrl}\n",
		}},
		{"header", sandbox.Options{Wire: sandbox.Header}, both, map[string]string{
			"v1": `wire: {activity_id: "last-segment:header:Location", client_id: "last-segment:header:Location", lookup_client_id: "last-segment:header:Content-Location", redirect_url: "header:X-Redirect-Url"}` + "\n",
			"v2": `wire: {activity_id: "last-segment:header:Location", claim_id: "last-segment:header:Location", contact_id: "last-segment:header:Location", lookup_contact_id: "last-segment:header:Content-Location", redirect_url: "header:X-Redirect-Url"}` + "\n",
		}},
		{"text", sandbox.Options{Wire: sandbox.Text}, both, map[string]string{
			"v1": `wire: {activity_id: text, client_id: "last-segment:header:Location", lookup_client_id: text, redirect_url: text}` + "\n",
			"v2": "wire: {activity_id: text, claim_id: text, contact_id: text, redirect_url: text}\n",
		}},
		{"relative", sandbox.Options{Wire: sandbox.Relative}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\n"}},
		{"no-content", sandbox.Options{NotFound: sandbox.NoContent}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\nnot_found: {status: [204]}\n"}},
		{"null", sandbox.Options{NotFound: sandbox.Null}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\n"}},
		{"null-id", sandbox.Options{NotFound: sandbox.NullID}, v1, map[string]string{"v1": "wire: {activity_id: /activityId}\nnot_found: {pointer: /clientId, equals: null}\n"}},
		{"no-items", sandbox.Options{NotFound: sandbox.NoItems}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\nnot_found: {pointer: /items, empty: true}\n"}},
		{"false", sandbox.Options{NotFound: sandbox.False}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\nnot_found: {pointer: /found, equals: false}\n"}},
		{"untyped", sandbox.Options{Untyped: true}, v2, map[string]string{"v2": "wire: {activity_id: /activityId}\n"}},
		{"several", sandbox.Options{Wire: sandbox.Nested, NotFound: sandbox.NoItems, Untyped: true}, v2, map[string]string{
			"v2": "wire: {activity_id: /data/activityId, claim_id: /data/claimId, contact_id: /data/contactId, lookup_contact_id: /items/0/contactId, redirect_url: /data/redirectUrl}\nnot_found: {pointer: /items, empty: true}\n",
		}},
		{"header and null-id", sandbox.Options{Wire: sandbox.Header, NotFound: sandbox.NullID}, v1, map[string]string{
			"v1": `wire: {activity_id: "last-segment:header:Location", client_id: "last-segment:header:Location", lookup_client_id: "last-segment:header:Content-Location", redirect_url: "header:X-Redirect-Url"}` + "\nnot_found: {pointer: /clientId, equals: null}\n",
		}},
	}
}

// counted is a service that counts the POSTs.
type counted struct {
	http.Handler
	posts int
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		c.posts++
	}
	c.Handler.ServeHTTP(w, r)
}

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
	for _, shape := range shapes() {
		for _, version := range shape.versions {
			t.Run(shape.name+"/"+version, func(t *testing.T) {
				t.Parallel()
				s, err := sandbox.New(shape.options)
				if err != nil {
					t.Fatal(err)
				}
				service, target := serve(t, s)
				target.Version = version
				report := conformance.Run(t.Context(), target, conformance.Options{Email: testClient, Phone: testPhone, Send: true})
				if got := report.Lines(); got != shape.want[version] {
					t.Errorf("proposed\n%swant\n%s\n%s", got, shape.want[version], report.Text())
				}
				before := service.posts
				importSample(t, target, report.Lines())
				// The new client, and for both what follows: a claim, two activities and a link, or two activities.
				if got, want := service.posts-before, map[string]int{"v1": 1 + 2*2, "v2": 1 + 2*4}[version]; got != want {
					t.Errorf("the import sent %d POSTs, want %d", got, want)
				}
			})
		}
	}
}

var sample = map[string]string{
	"v1": `name: sample
api: v1
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}}
activities:
  - {template: Your details, attributes: {Postcode: {column: Post code, type: Text}}}
  - {template: Sign your claim, status: Open}
`,
}

func init() {}

// importSample runs the program over two clients, with an environment that has the lines.
func importSample(t *testing.T, target conformance.Target, lines string) {
	t.Helper()
	dir := t.TempDir()
	mapping := sample["v1"]
	if target.Version == "v2" {
		mapping = strings.NewReplacer("api: v1", "api: v2", "activities:", "claims: [{key: E-mail, name: Loan}]\nworkflow: {name: Batch, template_identifier: WF-1}\nactivities:").Replace(mapping)
	}
	var sheet bytes.Buffer
	must(t, csv.NewWriter(&sheet).WriteAll([][]string{{"E-mail", "Post code"}, {testClient, "AB1 2CD"}, {"new@example.com", "EF3 4GH"}}))
	environments := "environments:\n  uat:\n    base_url: " + target.BaseURL + "\n    case_id: " + target.CaseID + "\n    " +
		strings.ReplaceAll(lines, "\n", "\n    ") + "\n"
	for name, text := range map[string]string{"mapping.yaml": mapping, "environments.yaml": environments, "leads.csv": sheet.String()} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	if code := cli.Main(t.Context(), []string{"run", "-e", "uat", "-m", filepath.Join(dir, "mapping.yaml"), filepath.Join(dir, "leads.csv")}, stdio); code != 0 {
		t.Errorf("the import with these lines ended with exit code %d\n%s\n%s%s", code, lines, out.String(), diagnostics.String())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPrint(t *testing.T) {
	s, err := sandbox.New(sandbox.Options{Wire: sandbox.Nested, NotFound: sandbox.NoItems})
	must(t, err)
	_, target := serve(t, s)
	fmt.Println(conformance.Run(t.Context(), target, conformance.Options{Email: testClient, Send: true}).Text())
}
