package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
)

// studioPage is a browser at claimsheet studio.
type studioPage struct {
	t      testing.TB
	http   *http.Client
	base   string
	stop   func()
	stderr *sharedText
}

// openStudio starts claimsheet studio and opens the link that it prints. Its end is that of Ctrl-C.
func openStudio(t *testing.T, args ...string) *studioPage {
	t.Helper()
	b := inBackground(t, cli.QuickPace(), append([]string{"studio"}, args...)...)
	end := sync.OnceFunc(func() {
		if code := b.stop(); code != 130 {
			t.Errorf("studio ends with %d: %s", code, b.err.String())
		}
	})
	t.Cleanup(end)
	return visitStudio(t, b.line(&b.out, ""), end, &b.err)
}

// visitStudio opens the link that studio prints.
func visitStudio(t testing.TB, link string, stop func(), diagnostics *sharedText) *studioPage {
	t.Helper()
	base, _, _ := strings.Cut(link, "/?token=")
	jar, err := cookiejar.New(nil)
	must(t, err)
	p := &studioPage{t, &http.Client{Jar: jar}, base, stop, diagnostics}
	if page := p.ask("GET", strings.TrimPrefix(link, base), ""); !strings.Contains(page, "Claimsheet Studio") {
		t.Errorf("the page is\n%s", page)
	}
	return p
}

func (p *studioPage) ask(method, path, body string) string {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	must(p.t, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := p.http.Do(r)
	must(p.t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	must(p.t, err)
	if response.StatusCode/100 != 2 {
		p.t.Fatalf("%s answers %d: %s", path, response.StatusCode, data)
	}
	return string(data)
}

// studioState is what the tests look at of the page's state.
type studioState struct {
	Version, Progress int
	Mapping           struct {
		Text     string
		Problems []any
	}
	Judgement struct {
		Complete              bool
		Error                 string
		Rows, Clients, Usable int
	}
	Command string
	Job     *struct {
		State    string
		ExitCode int
		Summary  struct {
			Clients struct{ Planned, Done int }
		}
		Workbook *string
		Pages    *string
		Problems []any
	}
}

// until waits for a state.
func (p *studioPage) until(is func(studioState) bool) (st studioState) {
	p.t.Helper()
	for since := ""; ; {
		body := p.ask("GET", "/api/state"+since, "")
		if body == "" {
			continue
		}
		st = studioState{}
		must(p.t, json.Unmarshal([]byte(body), &st))
		if is(st) {
			return st
		}
		since = fmt.Sprintf("?since=%d.%d", st.Version, st.Progress)
	}
}

// change gives the page, which has its first version, the text of another mapping.
func (p *studioPage) change(text string) {
	p.t.Helper()
	change, err := json.Marshal(map[string]any{"version": 1, "text": text})
	must(p.t, err)
	p.ask("POST", "/api/text", string(change))
}

func (p *studioPage) job(kind string, version int) studioState {
	p.t.Helper()
	p.ask("POST", "/api/job", fmt.Sprintf(`{"version":%d,"kind":%q}`, version, kind))
	return p.until(func(st studioState) bool {
		return st.Job.State == "failed" || st.Job.State == "done" && (kind != "sandbox" || *st.Job.Pages != "")
	})
}

// What the page shows of a client is what a run sends, byte for byte but for the ids of the service's answers; looking
// at it, and its jobs, send nothing to the service.
func TestStudio(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	args := []string{"-m", s.path("mapping.yaml"), "-e", "uat", s.path("leads.xlsx")}
	p := openStudio(t, args...)
	st := p.until(func(st studioState) bool { return st.Judgement.Complete })
	if j := st.Judgement; j.Rows != 3 || j.Clients != 3 || j.Usable != 3 || len(st.Mapping.Problems) > 0 {
		t.Errorf("the judgement is %+v, with %v", j, st.Mapping.Problems)
	}
	if want := "claimsheet run -m " + s.path("mapping.yaml") + " -e uat " + s.path("leads.xlsx"); st.Command != want {
		t.Errorf("the command is %q, want %q", st.Command, want)
	}
	var shown struct {
		Steps []struct {
			Method, Path string
			Body         json.RawMessage
		}
	}
	must(t, json.Unmarshal([]byte(p.ask("GET", "/api/client?row=3", "")), &shown))

	p.change(strings.Replace(stepThree, "Batch", "Other batch", 1))
	if drafts := s.glob(".claimsheet/studio/*"); len(drafts) != 1 {
		t.Errorf("what is not saved is in %v", drafts)
	}
	st = p.job("dry-run", 2)
	if st.Job.State != "done" || st.Job.ExitCode != 0 || st.Job.Summary.Clients.Planned != 3 {
		t.Errorf("the dry run is %+v", st.Job)
	}
	if book := p.ask("GET", *st.Job.Workbook, ""); !strings.HasPrefix(book, "PK") {
		t.Errorf("the plan begins with %.20q", book)
	}
	st = p.job("sandbox", 2)
	if st.Job.State != "done" || st.Job.Summary.Clients.Done != 3 {
		t.Fatalf("the run into the sandbox is %+v", st.Job)
	}
	pages, err := http.Get(*st.Job.Pages)
	must(t, err)
	if pages.Body.Close(); pages.StatusCode != 200 {
		t.Errorf("the sandbox's pages answer %d", pages.StatusCode)
	}
	s.onlyGETs()
	for _, secret := range []string{"token=", "example.com", s.url, "secret"} { // what the scene's sheet and environment hold
		if strings.Contains(p.stderr.String(), secret) {
			t.Errorf("stderr has %q: %s", secret, p.stderr)
		}
	}
	if p.stop(); p.stderr.String() == "" {
		t.Error("stderr is empty")
	}
	if _, err := http.Get(*st.Job.Pages); err == nil {
		t.Error("the sandbox's pages are there after the end")
	}
	if data, err := os.ReadFile(s.path("mapping.yaml")); err != nil || string(data) != stepThree {
		t.Errorf("the mapping file was changed: %v", err)
	}

	_, before := s.service.Since(0)
	if run := claimsheet(t, "run", "--yes", "--json", "-m", s.path("mapping.yaml"), "-e", "uat", "-o", s.path("r.xlsx"), s.path("leads.xlsx")); run.code != 0 {
		t.Fatalf("the run ends with %d: %s", run.code, run.err)
	}
	calls, _ := s.service.Since(before)
	var sent []apitest.Call
	ids := []string{}
	for _, call := range calls {
		if call.Method == http.MethodPost && call.Client == "c2@example.com" {
			sent = append(sent, call)
			name := map[string]string{"client": "«id of the client»", "claim": "«id of the claim Loan A-2»"}[call.Kind]
			if name != "" {
				ids = append(ids, name, call.Created)
			}
		}
	}
	var text strings.Builder
	for _, step := range shown.Steps {
		fmt.Fprintf(&text, "%s %s %s\n", step.Method, step.Path, step.Body)
	}
	if diff := cmp.Diff(transcript(sent), shortIDs(strings.NewReplacer(ids...).Replace(text.String()))); diff != "" || len(sent) != 6 {
		t.Errorf("%d requests (-sent +shown):\n%s", len(sent), diff)
	}
}

// onlyGETs expects that nothing but questions reached the service.
func (s *scene) onlyGETs() {
	s.t.Helper()
	for _, call := range s.service.Calls() {
		if call.Method != http.MethodGet {
			s.t.Errorf("%s %s was sent to the service", call.Method, call.Path)
		}
	}
}
