package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer/cli"
)

// intake is a small service of version 2 and 1 that notes what is posted and
// can be told to answer badly.
type intake struct {
	*httptest.Server

	mu     sync.Mutex
	posted []string                       // each POST as “contacts?isAdministrator=true”, in order
	made   map[string]int                 // by what the answer names
	answer func(call, body string) string // a status and a body instead of the usual; "" for the usual
}

const intakeTemplates = `[{"id":"70000000-0000-4000-8000-000000000001","name":"Agreement details","activityAttributeTemplates":
	[{"id":"70000000-0000-4000-8000-000000000002","name":"Agreement number"}]}]`

func newIntake(t *testing.T) *intake {
	s := &intake{made: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *intake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		fmt.Fprint(w, intakeTemplates)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, call, _ := strings.Cut(r.URL.RequestURI(), "/v2/")
	if at := strings.LastIndex(r.URL.RequestURI(), "/clients"); at >= 0 {
		call = r.URL.RequestURI()[at+1:]
	}
	s.posted = append(s.posted, call)
	if s.answer != nil {
		if status, text, _ := strings.Cut(s.answer(call, string(body)), " "); status != "" {
			var code int
			fmt.Sscan(status, &code)
			w.WriteHeader(code)
			fmt.Fprint(w, text)
			return
		}
	}
	id := func(what string) string {
		s.made[what]++
		return fmt.Sprintf("%s-%d", what, s.made[what])
	}
	answer := map[string]string{}
	switch {
	case strings.HasSuffix(call, "/magic-link"):
		answer["redirectUrl"] = "https://claims.example.com/go/" + id("link")
	case strings.HasPrefix(call, "contacts"):
		answer["contactId"] = id("contact")
	case strings.HasPrefix(call, "claims"):
		answer["claimId"] = id("claim")
	case strings.HasPrefix(call, "clients?"):
		answer["clientId"], answer["redirectUrl"] = id("client"), "https://claims.example.com/go/v1"
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// say sets how calls are answered from now on: by the first key that the call
// begins with, or that its body holds.
func (s *intake) say(answers map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(call, body string) string {
		for key, answer := range answers {
			if strings.HasPrefix(call, key) || strings.Contains(body, key) {
				return answer
			}
		}
		return ""
	}
}

// news is what was posted since it was last asked for.
func (s *intake) news() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	posted := s.posted
	s.posted = nil
	return posted
}

// workplace is a folder with a mapping, an environments file and a sheet for an
// intake.
type workplace struct {
	*intake
	t   *testing.T
	dir string
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

// newWorkplace has one row for each pair of e-mail address and agreement
// number.
func newWorkplace(t *testing.T, rows ...[2]string) workplace {
	w := workplace{newIntake(t), t, t.TempDir()}
	w.leads(rows...)
	write(t, w.path("mapping.yaml"), workMapping)
	w.environment("")
	return w
}

// leads writes the sheet.
func (w workplace) leads(rows ...[2]string) {
	w.t.Helper()
	var table [][]any
	for _, cells := range rows {
		table = append(table, []any{cells[0], cells[1]})
	}
	writeSheet(w.t, w.path("leads.xlsx"), []any{"E-mail", "No"}, table)
}

func (w workplace) path(name string) string { return filepath.Join(w.dir, name) }

// environment writes the environments file, with more keys of the one entry.
func (w workplace) environment(more string) {
	w.t.Helper()
	write(w.t, w.path("environments.yaml"), "default: uat\nenvironments:\n  uat:\n    base_url: "+w.URL+
		"\n    case_id: 7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11\n"+more)
}

// said is what a command printed and how it ended.
type said struct {
	code     int
	out, err string
}

// claimsheet runs a command; its flags come with -m mapping.yaml before them.
func (w workplace) claimsheet(command string, words ...string) said {
	w.t.Helper()
	return w.claimsheetBare(append([]string{command, "-m", w.path("mapping.yaml")}, words...)...)
}

// claimsheetBare runs a command line as it is.
func (w workplace) claimsheetBare(args ...string) said {
	w.t.Helper()
	return w.typed("", args...)
}

// typed is claimsheetBare with what a person types.
func (w workplace) typed(in string, args ...string) said {
	w.t.Helper()
	var out, diagnostics bytes.Buffer
	code := quickMain(context.Background(), args, cli.IO{In: strings.NewReader(in), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }})
	return said{code, out.String(), diagnostics.String()}
}

// run imports the sheet and expects an exit code and what is posted.
func (w workplace) run(code int, posts ...string) {
	w.t.Helper()
	got := w.claimsheet("run", "--concurrency", "1", w.path("leads.xlsx"))
	if got.code != code {
		w.t.Fatalf("the run ended with exit code %d, want %d\n%s%s", got.code, code, got.out, got.err)
	}
	w.expectPosts(posts...)
}

func (w workplace) expectPosts(posts ...string) {
	w.t.Helper()
	if diff := cmp.Diff(posts, w.news()); diff != "" {
		w.t.Fatalf("posted (-want +got):\n%s", diff)
	}
}

// must expects a command to end well and say nothing on stderr.
func (w workplace) must(command string, words ...string) string {
	w.t.Helper()
	got := w.claimsheet(command, words...)
	if got.code != 0 || got.err != "" {
		w.t.Fatalf("%s ended with exit code %d\n%s%s", command, got.code, got.out, got.err)
	}
	return got.out
}

// column is a column of the results workbook.
func (w workplace) column(header string) []string {
	w.t.Helper()
	return column(readSheet(w.t, w.path("leads.results.xlsx"), "Results"), header)
}
