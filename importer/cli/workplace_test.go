package cli_test

import (
	"bytes"
	"context"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
)

// workplace is a folder with a mapping, an environments file and a sheet of e-mail
// addresses and agreement numbers, and the service that the environment names. Its
// ids are contact-1, claim-2 and so on.
type workplace struct {
	t       *testing.T
	dir     string
	service *apitest.Server
	url     string
	seen    int // calls of the service that news has shown already
}

const workMapping = `
name: loans
api: v2
client:
  key: E-mail
  existing: create
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}}
claims: [{id: loan, key: No, name: "Loan {No}"}]
workflow: {name: Loans, template_identifier: WF-1}
activities:
  - {template: Agreement details, on: loan, attributes: {Agreement number: No}}
`

const workMappingV1 = `
name: leads
api: v1
client:
  key: E-mail
  existing: create
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}}
`

// newWorkplace makes a workplace with one row for each pair of e-mail address and agreement
// number.
func newWorkplace(t *testing.T, rows ...[2]string) *workplace {
	w := &workplace{t: t, dir: t.TempDir(), service: apitest.New(reference...)}
	w.service.Wire.Named = true
	server := httptest.NewServer(w.service)
	t.Cleanup(server.Close)
	t.Cleanup(func() { expectNoComplaints(t, w.service) })
	w.url = server.URL
	w.leads(rows...)
	write(t, w.path("mapping.yaml"), workMapping)
	w.environment("")
	return w
}

// say sets how creating calls are answered from now on, with nothing created: with
// the status and the body behind the first key that the call, as news names it, begins
// with or its body holds.
func (w *workplace) say(answers map[string]string) {
	w.service.Play(func(c apitest.Call) apitest.Fault {
		for _, key := range slices.Sorted(maps.Keys(answers)) {
			if c.Method == "POST" && (strings.HasPrefix(postName(c), key) || strings.Contains(c.Body, key)) {
				status, body, _ := strings.Cut(answers[key], " ")
				code, _ := strconv.Atoi(status)
				return apitest.Answer(apitest.JSON(code, body))
			}
		}
		return apitest.Fault{}
	})
}

// news returns the creating calls since the last news, in the order of arrival.
func (w *workplace) news() []string {
	calls, seen := w.service.Since(w.seen)
	w.seen = seen
	var posted []string
	for _, c := range calls {
		if c.Method == "POST" {
			posted = append(posted, postName(c))
		}
	}
	return posted
}

// postName is a creating call without what all calls of a version share:
// contacts?isAdministrator=true.
func postName(c apitest.Call) string {
	name := strings.TrimPrefix(strings.TrimPrefix(c.Path, "/funnel/v2/"), "/funnel/v1/cases/"+caseID+"/")
	if c.Query != "" {
		name += "?" + c.Query
	}
	return name
}

// leads writes the sheet.
func (w *workplace) leads(rows ...[2]string) {
	w.t.Helper()
	var table [][]any
	for _, cells := range rows {
		table = append(table, []any{cells[0], cells[1]})
	}
	writeSheet(w.t, w.path("leads.xlsx"), []any{"E-mail", "No"}, table)
}

func (w *workplace) path(name string) string { return filepath.Join(w.dir, name) }

// environment writes the environments file, with more keys of the one entry.
func (w *workplace) environment(more string) {
	w.t.Helper()
	write(w.t, w.path("environments.yaml"), "default: uat\nenvironments:\n  uat:\n    base_url: "+w.url+
		"\n    case_id: "+caseID+"\n"+more)
}

// said is what a command printed and how it ended.
type said struct {
	code     int
	out, err string
}

// claimsheet runs a command; its flags come with -m mapping.yaml before them.
func (w *workplace) claimsheet(command string, words ...string) said {
	w.t.Helper()
	return w.claimsheetBare(append([]string{command, "-m", w.path("mapping.yaml")}, words...)...)
}

// claimsheetBare runs a command line as it is.
func (w *workplace) claimsheetBare(args ...string) said {
	w.t.Helper()
	return runSaid(w.t, "", args...)
}

// runSaid runs a command line with what the user types.
func runSaid(t *testing.T, in string, args ...string) said {
	t.Helper()
	var out, diagnostics bytes.Buffer
	code := quickMain(context.Background(), args, cli.IO{In: strings.NewReader(in), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }})
	return said{code, out.String(), diagnostics.String()}
}

// run imports the sheet and expects an exit code and what is posted.
func (w *workplace) run(code int, posts ...string) {
	w.t.Helper()
	got := w.claimsheet("run", "--concurrency", "1", w.path("leads.xlsx"))
	if got.code != code {
		w.t.Fatalf("the run ended with exit code %d, want %d\n%s%s", got.code, code, got.out, got.err)
	}
	w.expectPosts(posts...)
}

func (w *workplace) expectPosts(posts ...string) {
	w.t.Helper()
	if diff := cmp.Diff(posts, w.news()); diff != "" {
		w.t.Fatalf("posted (-want +got):\n%s", diff)
	}
}

// must expects a command to end well and say nothing on stderr.
func (w *workplace) must(command string, words ...string) string {
	w.t.Helper()
	got := w.claimsheet(command, words...)
	if got.code != 0 || got.err != "" {
		w.t.Fatalf("%s ended with exit code %d\n%s%s", command, got.code, got.out, got.err)
	}
	return got.out
}

// column is a column of the results workbook.
func (w *workplace) column(header string) []string {
	w.t.Helper()
	return column(readSheet(w.t, w.path("leads.results.xlsx"), "Results"), header)
}
