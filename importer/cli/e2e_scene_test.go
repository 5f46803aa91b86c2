package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
	"claimsheet/importer/result"
)

// caseID is the case of the version 1 scenes.
const caseID = "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11"

// reference is the reference data of all scenes.
var reference = []apitest.Template{
	{ID: "10000000-0000-4000-8000-000000000001", Name: "Your details", Attributes: []apitest.Attribute{
		{ID: "11000000-0000-4000-8000-000000000001", Name: "Date of birth", DataType: "Date"},
		{ID: "11000000-0000-4000-8000-000000000002", Name: "Home address", DataType: "TextArea"},
		{ID: "11000000-0000-4000-8000-000000000003", Name: "Consent to contact", DataType: "Checkbox"},
	}},
	{ID: "10000000-0000-4000-8000-000000000002", Name: "Agreement details", Attributes: []apitest.Attribute{
		{ID: "12000000-0000-4000-8000-000000000001", Name: "Agreement number", DataType: "Text"},
		{ID: "12000000-0000-4000-8000-000000000002", Name: "Amount", DataType: "Currency"},
		{ID: "12000000-0000-4000-8000-000000000003", Name: "Signed at", DataType: "DateTime"},
	}},
	{ID: "10000000-0000-4000-8000-000000000003", Name: "Sign your claim"},
	{ID: "10000000-0000-4000-8000-000000000004", Name: "Handler review"},
}

// header is the header of all scenes' sheets.
var header = []any{"E-mail", "First name", "Mobile", "DOB", "Address", "Opt in", "Agreement no", "Amount", "Signed"}

// lead is a row: client n with agreement no.
func lead(n int, no string) []any {
	return []any{
		fmt.Sprintf("c%d@example.com", n), fmt.Sprintf("Ann%d", n), fmt.Sprintf("07911 %06d", 123000+n),
		"1980-05-01", fmt.Sprintf("%d High Street", n), "Yes", no, 1250.5, "2026-03-31 09:30",
	}
}

// leads are clients 1 to n with one agreement each.
func leads(n int) [][]any {
	var rows [][]any
	for i := range n {
		rows = append(rows, lead(i+1, fmt.Sprintf("A-%d", i+1)))
	}
	return rows
}

// clientPart is the client section of the scenes' mappings.
const clientPart = `
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, firstName: First name, phone: {column: Mobile, type: Phone, region: GB}}
`

// detailsActivity and agreementActivity are back-filled activities.
const detailsActivity = `
  - template: Your details
    attributes: {Date of birth: DOB, Home address: Address, Consent to contact: Opt in}
`

const agreementActivity = `
  - template: Agreement details
    on: loan
    status: Accepted
    attributes: {Agreement number: Agreement no, Amount: Amount, Signed at: Signed}
`

// stepThree is version 2, use case 2: six calls and a look-up for each client
// with one claim.
const stepThree = `
name: step-three
api: v2
sheet: {timezone: Europe/London}
` + clientPart + `
claims: [{id: loan, key: Agreement no, name: "Loan {Agreement no}"}]
workflow: {name: Batch, template_identifier: WF-1}
activities:` + detailsActivity + agreementActivity + `
  - {template: Sign your claim, status: Open}
`

// scene is a folder with a mapping, an environment and a sheet, and the
// service that the environment names.
type scene struct {
	t       *testing.T
	dir     string
	service *apitest.Server
	url     string
	input   string // the sheet's name
	entry   string // of the environments file, but for the address and the case
	pace    cli.Pace

	connections connections
	seen        int // calls of the service that a run's result has shown already
}

func newScene(t *testing.T, mapping string, rows [][]any) *scene {
	t.Helper()
	return newSceneBehind(t, mapping, rows, func(service http.Handler) http.Handler { return service })
}

// newSceneBehind is a scene whose service is reached through something.
func newSceneBehind(t *testing.T, mapping string, rows [][]any, front func(service http.Handler) http.Handler) *scene {
	t.Helper()
	s := &scene{t: t, dir: t.TempDir(), service: apitest.New(reference...), input: "leads.xlsx", pace: cli.QuickPace()}
	server := httptest.NewUnstartedServer(front(s.service))
	server.Config.ConnState = s.connections.note
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { expectNoComplaints(t, s.service) })
	s.url = server.URL
	s.mapping(mapping)
	s.environment("")
	s.sheet(rows)
	return s
}

// expectNoComplaints fails for calls that are not as the service's document says.
func expectNoComplaints(t *testing.T, service *apitest.Server) {
	for _, complaint := range service.Complaints() {
		t.Errorf("a call is not as the service document says: %s", complaint)
	}
}

// quickMain is the program at the pace of tests.
func quickMain(ctx context.Context, args []string, stdio cli.IO) int {
	return cli.MainAt(ctx, args, stdio, cli.QuickPace())
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

func (s *scene) mapping(text string) { write(s.t, s.path("mapping.yaml"), text) }

// environment writes the environments file; more are lines of the entry,
// without indentation.
func (s *scene) environment(more string) {
	s.entry = more
	entry := "base_url: " + s.url + "\ncase_id: " + caseID + "\n" + more
	write(s.t, s.path("environments.yaml"), "default: uat\nenvironments:\n  uat:\n    "+
		strings.ReplaceAll(strings.TrimSpace(entry), "\n", "\n    ")+"\n")
}

func (s *scene) sheet(rows [][]any) { writeSheet(s.t, s.path(s.input), header, rows) }

// claimsheet runs any command beside the scene's environments file.
func (s *scene) claimsheet(words ...string) (code int, out, diagnostics string) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: func(string) string { return "" }}
	code = cli.MainAt(s.t.Context(), words, stdio, s.pace)
	return code, stdout.String(), stderr.String()
}

// moved starts a second service and writes its address into the scene's
// environments file.
func (s *scene) moved() *apitest.Server {
	other := apitest.New(reference...)
	server := httptest.NewServer(other)
	s.t.Cleanup(server.Close)
	s.url = server.URL
	s.environment("")
	return other
}

func postsTo(calls []apitest.Call) (n int) {
	for _, c := range calls {
		if c.Method != "GET" {
			n++
		}
	}
	return n
}

// settle runs claimsheet settle over the scene's steps.
func (s *scene) settle(words ...string) {
	s.t.Helper()
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	args := append([]string{"settle", "--environments", s.path("environments.yaml")}, words...)
	if code := quickMain(s.t.Context(), args, stdio); code != 0 {
		s.t.Fatalf("settle ended with exit code %d\n%s%s", code, out.String(), diagnostics.String())
	}
}

// played is what a run came to.
type played struct {
	code     int
	out, err string
	summary  result.Summary
	calls    []apitest.Call // all that the service got
}

// run runs the program over the scene's sheet, for its summary as JSON.
func (s *scene) run(flags ...string) played {
	s.t.Helper()
	return s.runContext(s.t.Context(), append(flags, "--json")...)
}

// runContext is run with a context of the caller's, and without --json.
func (s *scene) runContext(ctx context.Context, flags ...string) played {
	s.t.Helper()
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	p := played{code: cli.MainAt(ctx, s.args(flags...), stdio, s.pace), out: out.String(), err: diagnostics.String()}
	if slices.Contains(flags, "--json") && p.out != "" {
		decoder := json.NewDecoder(strings.NewReader(p.out))
		decoder.DisallowUnknownFields()
		printed := struct {
			*result.Summary
			ExitCode int              `json:"exitCode"`
			Errors   []map[string]any `json:"errors"`
		}{Summary: &p.summary}
		if err := decoder.Decode(&printed); err != nil || printed.ExitCode != p.code {
			s.t.Fatalf("stdout is not the summary of a run with exit code %d: %v\n%s", p.code, err, p.out)
		}
	}
	p.calls, s.seen = s.service.Since(s.seen)
	return p
}

func (s *scene) args(flags ...string) []string {
	args := append([]string{"run", "-m", s.path("mapping.yaml")}, flags...)
	return append(args, s.path(s.input))
}

// mustRun runs and expects an exit code.
func (s *scene) mustRun(code int, flags ...string) played {
	s.t.Helper()
	p := s.run(flags...)
	if p.code != code {
		s.t.Fatalf("exit code %d, want %d\n%s%s\n%s", p.code, code, p.out, p.err, transcript(p.calls))
	}
	return p
}

// foretold runs dry and then for real, and compares what the dry run predicted with
// what happened: the requests by kind and the statuses of rows.
func (s *scene) foretold(code int, flags ...string) played {
	s.t.Helper()
	dry := s.run(append(flags, "--dry-run")...)
	real := s.mustRun(code, flags...)
	s.compare(dry, real)
	return real
}

// compare compares what a dry run predicted with what the run did.
func (s *scene) compare(dry, real played) {
	s.t.Helper()
	if diff := cmp.Diff(dry.summary.Requests, real.summary.Requests); diff != "" {
		s.t.Errorf("calls foretold and made (-dry run +run):\n%s", diff)
	}
	foretold, came := dry.summary.Rows, real.summary.Rows
	foretold.Done, foretold.Planned = foretold.Planned+foretold.Done, 0
	if diff := cmp.Diff(foretold, came); diff != "" {
		s.t.Errorf("rows foretold and done (-dry run +run):\n%s", diff)
	}
	if posts := dry.posts(); len(posts) > 0 {
		s.t.Errorf("the dry run sent %v", posts)
	}
	if real.code == 2 || real.code == 3 { // refused, without an object
		return
	}
	if diff := cmp.Diff(arrived(real), real.summary.Requests); diff != "" {
		s.t.Errorf("calls that arrived and those that the run counted (-arrived +counted):\n%s", diff)
	}
	if dry.summary.WithoutLink != real.summary.WithoutLink || !dry.summary.DryRun {
		s.t.Errorf("%d clients without a link foretold, %d came; a dry run: %v", dry.summary.WithoutLink, real.summary.WithoutLink, dry.summary.DryRun)
	}
}

// arrived counts a run's calls as the service saw them.
func arrived(p played) (r result.Requests) {
	count := map[string]*int{"client": &r.Client, "claim": &r.Claim, "activity": &r.Activity, "link": &r.Link, "lookup": &r.Lookup, "templates": &r.Templates}
	for _, c := range p.calls {
		*count[c.Kind]++
	}
	return r
}

// posts are the creating calls, by kind.
func (p played) posts() map[string]int {
	counts := map[string]int{}
	for _, c := range p.calls {
		if c.Method != "GET" {
			counts[c.Kind]++
		}
	}
	return counts
}

// steps are the logical names of the creating calls, in the order of their
// arrival.
func (p played) steps() []string {
	var list []string
	for _, c := range p.calls {
		if c.Method != "GET" {
			list = append(list, c.Step)
		}
	}
	return list
}

var (
	anyID    = regexp.MustCompile(`([abc])0000000-0000-4000-8000-0*(\d+)`)
	probe    = regexp.MustCompile(`nobody\.[0-9a-f]+`)
	idPrefix = map[string]string{"a": "ACTIVITY", "b": "CLAIM", "c": "CLIENT"}
)

// transcript is calls as text, a line each; ids are shortened.
func transcript(calls []apitest.Call) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Method + " " + c.Path)
		if c.Query != "" {
			b.WriteString("?" + c.Query)
		}
		if c.Body != "" {
			b.WriteString(" " + c.Body)
		}
		b.WriteByte('\n')
	}
	return shortIDs(probe.ReplaceAllString(b.String(), "nobody.RANDOM"))
}

// shortIDs writes the ids in a text as "CLIENT1".
func shortIDs(text string) string {
	return anyID.ReplaceAllStringFunc(text, func(id string) string {
		m := anyID.FindStringSubmatch(id)
		return idPrefix[m[1]] + m[2]
	})
}
