package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
)

// studioPage is a browser at claimsheet studio.
type studioPage struct {
	t    *testing.T
	http *http.Client
	base string
}

// openStudio starts claimsheet studio and opens the link that it prints.
func openStudio(t *testing.T, args ...string) *studioPage {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	var diagnostics strings.Builder
	ended := make(chan int, 1)
	go func() {
		ended <- quickMain(ctx, append([]string{"studio"}, args...), cli.IO{In: strings.NewReader(""), Out: in, Err: &diagnostics, Env: func(string) string { return "" }})
		in.Close()
	}()
	link, _ := bufio.NewReader(out).ReadString('\n')
	go func() { _, _ = io.Copy(io.Discard, out) }()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 130 { // as after Ctrl-C
			t.Errorf("studio ends with %d: %s", code, diagnostics.String())
		}
	})
	link = strings.TrimSpace(link)
	base, _, found := strings.Cut(link, "/?token=")
	if !found {
		stop()
		t.Fatalf("studio prints no link but %q", link)
	}
	jar, err := cookiejar.New(nil)
	must(t, err)
	p := &studioPage{t, &http.Client{Jar: jar}, base}
	if body := p.ask("GET", strings.TrimPrefix(link, base), ""); !strings.Contains(body, "Claimsheet Studio") {
		t.Fatalf("the page is %s", body)
	}
	return p
}

func (p *studioPage) ask(method, path, body string) string {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	must(p.t, err)
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
		Exists   bool
		Problems []any
	}
	Judgement struct {
		Complete        bool
		Rows, Clients   int
		Usable, Trouble int
	}
	Commands map[string]string
	Job      *struct {
		State    string
		ExitCode int
		Summary  struct{ Clients struct{ Planned, Done int } }
		Workbook *string
		Pages    *string
		Problems []any
	}
}

// until waits for a state.
func (p *studioPage) until(what string, is func(studioState) bool) (st studioState) {
	p.t.Helper()
	for since, deadline := "", time.Now().Add(time.Minute); time.Now().Before(deadline); {
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
	p.t.Fatalf("never %s: %+v", what, st)
	return st
}

func (p *studioPage) job(kind string, version int) studioState {
	p.t.Helper()
	p.ask("POST", "/api/job", fmt.Sprintf(`{"version":%d,"kind":%q}`, version, kind))
	return p.until("the end of the "+kind, func(st studioState) bool {
		return st.Job.State != "running" && (kind != "sandbox" || st.Job.Pages != nil)
	})
}

// What the page shows of a client is what a run sends, byte for byte but for the ids of
// the service's answers; looking at it, and its jobs, send nothing to the service.
func TestStudio(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	args := []string{"-m", s.path("mapping.yaml"), "-e", "uat", s.path("leads.xlsx")}
	p := openStudio(t, args...)
	st := p.until("a judgement", func(st studioState) bool { return st.Judgement.Complete })
	if j := st.Judgement; j.Rows != 3 || j.Clients != 3 || j.Usable != 3 || len(st.Mapping.Problems) > 0 {
		t.Errorf("the judgement is %+v, with %v", j, st.Mapping.Problems)
	}
	if want := "claimsheet run -m " + s.path("mapping.yaml") + " -e uat --dry-run " + s.path("leads.xlsx"); st.Commands["dryRun"] != want {
		t.Errorf("the command is %q, want %q", st.Commands["dryRun"], want)
	}
	var shown struct {
		Steps []struct {
			Method, Path string
			Body         json.RawMessage
		}
	}
	must(t, json.Unmarshal([]byte(p.ask("GET", "/api/client?row=3", "")), &shown))

	text := strings.Replace(stepThree, "Batch", "Other batch", 1)
	change, err := json.Marshal(map[string]any{"version": 1, "text": text})
	must(t, err)
	p.ask("POST", "/api/text", string(change))
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
	for _, call := range s.service.Calls() {
		if call.Method != http.MethodGet {
			t.Errorf("studio sent %s %s to the service", call.Method, call.Path)
		}
	}
	if data, err := os.ReadFile(s.path("mapping.yaml")); err != nil || string(data) != stepThree {
		t.Errorf("the mapping file was changed: %v", err)
	}

	_, before := s.service.Since(0)
	if run := runMain(t, "", "run", "--yes", "--json", "-m", s.path("mapping.yaml"), "-e", "uat", "-o", s.path("r.xlsx"), s.path("leads.xlsx")); run.code != 0 {
		t.Fatalf("the run ends with %d: %s", run.code, run.err)
	}
	calls, _ := s.service.Since(before)
	var sent []apitest.Call
	ids := strings.NewReplacer()
	for _, call := range calls {
		if call.Method != http.MethodPost || call.Client != "c2@example.com" {
			continue
		}
		sent = append(sent, call)
		switch call.Kind {
		case "client":
			ids = strings.NewReplacer("«id of the client»", call.Created)
		case "claim":
			ids = strings.NewReplacer("«id of the client»", sent[0].Created, "«id of the claim Loan A-2»", call.Created)
		}
	}
	if len(sent) != len(shown.Steps) || len(sent) != 6 {
		t.Fatalf("%d requests are shown, and %d sent", len(shown.Steps), len(sent))
	}
	for i, step := range shown.Steps {
		path := sent[i].Path
		if sent[i].Query != "" {
			path += "?" + sent[i].Query
		}
		if got := ids.Replace(step.Path); step.Method != sent[i].Method || got != path {
			t.Errorf("shown is %s %s, sent %s %s", step.Method, got, sent[i].Method, path)
		}
		if got := ids.Replace(string(step.Body)); got != sent[i].Body {
			t.Errorf("shown is the body %s, sent %s", got, sent[i].Body)
		}
	}
}

// Without a mapping file a session begins with what init would propose, and writes
// nothing until it is saved.
func TestStudioBegins(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	p := openStudio(t, "-m", s.path("new.yaml"), "--environments", s.path("environments.yaml"), "-e", "uat", s.path("leads.xlsx"))
	st := p.until("a judgement", func(st studioState) bool { return st.Judgement.Complete })
	if len(st.Mapping.Problems) > 0 || st.Mapping.Exists || !strings.Contains(st.Mapping.Text, "Date of birth:") || strings.Contains(st.Mapping.Text, "# Columns") {
		t.Errorf("it begins with %v and\n%s", st.Mapping.Problems, st.Mapping.Text)
	}
	if _, err := os.Stat(s.path("new.yaml")); !os.IsNotExist(err) {
		t.Errorf("the mapping was written without a save: %v", err)
	}
	p.ask("POST", "/api/save", `{"version":1}`)
	check := runMain(t, "", "check", "--json", "-m", s.path("new.yaml"), "-e", "uat", s.path("leads.xlsx"))
	if check.code != 0 {
		t.Errorf("check of what was saved ends with %d: %s", check.code, check.out)
	}
}

// Studio listens for this computer only.
func TestStudioAddress(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	var out, diagnostics strings.Builder
	code := quickMain(context.Background(), []string{"studio", "-m", s.path("mapping.yaml"), "--addr", "0.0.0.0:0", s.path("leads.xlsx")},
		cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }})
	if code == 0 || out.String() != "" || !strings.Contains(diagnostics.String(), "[address]") {
		t.Errorf("it ends with %d: %s%s", code, out.String(), diagnostics.String())
	}
}
