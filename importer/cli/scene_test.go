package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
	"claimsheet/importer/result"
	"claimsheet/importer/testform"
)

var (
	must = testform.NoError
	same = testform.Same
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

// stepThree is version 2, use case 2: six calls and a look-up for each client with one claim.
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

// scene is a folder with a mapping, an environment and a sheet, and the service that the environment names.
type scene struct {
	t       *testing.T
	dir     string
	service *apitest.Server
	url     string
	input   string // the sheet's name
	entry   string // of the environments file, but for the address and the case
	pace    cli.Pace

	server *httptest.Server
	open   atomic.Int64 // connections to it
	seen   int          // calls of the service that a run's result has shown already
}

func newScene(t *testing.T, mapping string, rows [][]any) *scene {
	t.Helper()
	s := startScene(t, reference)
	t.Cleanup(func() {
		for _, complaint := range s.service.Complaints() {
			t.Errorf("a call is not as the service document says: %s", complaint)
		}
	})
	s.mapping(mapping)
	s.environment("")
	s.sheet(rows)
	return s
}

// startScene is a scene without files.
func startScene(t *testing.T, templates []apitest.Template) *scene {
	s := &scene{t: t, dir: t.TempDir(), service: apitest.New(templates...), input: "leads.xlsx", pace: cli.QuickPace()}
	s.server = httptest.NewUnstartedServer(s.service)
	s.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.open.Add(-1)
		}
	}
	s.server.Start()
	t.Cleanup(s.server.Close)
	s.url = s.server.URL
	return s
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

func (s *scene) mapping(text string) { write(s.t, s.path("mapping.yaml"), text) }

// environment writes the environments file; more are lines of the entry, without indentation.
func (s *scene) environment(more string) {
	s.entry = more
	entry := "base_url: " + s.url + "\ncase_id: " + caseID + "\n" + more
	write(s.t, s.path("environments.yaml"), "default: uat\nenvironments:\n  uat:\n    "+
		strings.ReplaceAll(strings.TrimSpace(entry), "\n", "\n    ")+"\n")
}

func (s *scene) sheet(rows [][]any) { writeSheet(s.t, s.path(s.input), header, rows) }

// must runs a command with the scene's mapping, expects an exit code, and returns what is printed.
func (s *scene) must(want int, words ...string) string {
	s.t.Helper()
	p := runAt(s.t.Context(), s.pace, "", slices.Insert(words, 1, "-m", s.path("mapping.yaml"))...)
	if p.code != want {
		s.t.Fatalf("%v: exit code %d, want %d\n%s%s", words, p.code, want, p.out, p.err)
	}
	return p.out + p.err
}

// played is what a command came to.
type played struct {
	code     int // -1: killed
	out, err string
	summary  result.Summary // that --json of a run prints
	calls    []apitest.Call // all that a scene's service got
}

// runAt runs a command line inside this process. in is what is typed.
func runAt(ctx context.Context, pace cli.Pace, in string, words ...string) played {
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(in), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	p := played{code: cli.MainAt(ctx, words, stdio, pace), out: out.String(), err: diagnostics.String()}
	if strings.HasSuffix(words[0], "run") && slices.Contains(words, "--json") && !slices.Contains(words, "--generate-bash-completion") && p.out != "" {
		decoder := json.NewDecoder(strings.NewReader(p.out))
		decoder.DisallowUnknownFields()
		printed := struct {
			*result.Summary
			ExitCode int              `json:"exitCode"`
			Errors   []map[string]any `json:"errors"`
		}{Summary: &p.summary}
		if err := decoder.Decode(&printed); err != nil || printed.ExitCode != p.code {
			panic(fmt.Sprintf("stdout is not the summary of a run with exit code %d: %v\n%s", p.code, err, p.out))
		}
	}
	return p
}

// claimsheet runs a command line at the pace of tests.
func claimsheet(t *testing.T, words ...string) played {
	t.Helper()
	return runAt(t.Context(), cli.QuickPace(), "", words...)
}

// sharedText is a writer that can be read while it is written to.
type sharedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sharedText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sharedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// background is a command that works inside this process until it is stopped.
type background struct {
	t        testing.TB
	out, err sharedText
	end      func() // tells it to end, as Ctrl-C does
	ended    chan struct{}
	code     int
}

// stop ends it and returns its exit code.
func (b *background) stop() int {
	b.end()
	<-b.ended
	return b.code
}

// inBackground begins a command, which ends with the test at the latest.
func inBackground(t testing.TB, pace cli.Pace, words ...string) *background {
	b := &background{t: t, ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	b.end = cancel
	go func() {
		defer close(b.ended)
		b.code = cli.MainAt(ctx, words, cli.IO{In: strings.NewReader(""), Out: &b.out, Err: &b.err, Env: func(string) string { return "" }}, pace)
	}()
	t.Cleanup(func() { b.stop() })
	return b
}

// line waits for the rest of a line that the command prints behind a text on stdout or stderr.
func (b *background) line(of *sharedText, behind string) string {
	b.t.Helper()
	for {
		_, found, ok := strings.Cut(of.String(), behind)
		if line, _, whole := strings.Cut(found, "\n"); ok && whole {
			return line
		}
		select {
		case <-b.ended:
			b.t.Fatalf("it ended with exit code %d\n%s%s", b.stop(), b.out.String(), b.err.String())
		case <-time.After(time.Millisecond):
		}
	}
}

// program is a process of a program, whose stdout and stderr are in said.
type program struct {
	*exec.Cmd
	said    bytes.Buffer
	started chan struct{}
}

// child is a process of a program that is not started yet.
func child(name string, words []string, env ...string) *program {
	p := &program{Cmd: exec.Command(name, words...), started: make(chan struct{})}
	p.Stdout, p.Stderr = &p.said, &p.said
	p.Env = append(append(os.Environ(), "CLAIMSHEET_ENV=", "GORACE=atexit_sleep_ms=0"), env...)
	return p
}

func (p *program) start(t testing.TB) {
	t.Helper()
	must(t, p.Start())
	close(p.started)
}

// end waits for its end, and starts it before if nobody has. The exit code is -1 where it was killed.
func (p *program) end(t testing.TB) (code int, said string) {
	t.Helper()
	if p.Process == nil {
		p.start(t)
	}
	if err := p.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Error(err)
	}
	return p.ProcessState.ExitCode(), p.said.String()
}

// signal sends it a signal, once it is started.
func (p *program) signal(by os.Signal) {
	<-p.started
	_ = p.Process.Signal(by)
}

func (p *program) kill() { p.signal(os.Kill) }

// run runs the program over the scene's sheet, for its summary as JSON.
func (s *scene) run(flags ...string) played {
	s.t.Helper()
	return s.do(s.args(append(flags, "--json")...))
}

// do runs a command, and shows the calls that no command has shown yet.
func (s *scene) do(words []string) played {
	s.t.Helper()
	p := runAt(s.t.Context(), s.pace, "", words...)
	p.calls, s.seen = s.service.Since(s.seen)
	return p
}

func (s *scene) args(flags ...string) []string {
	args := append([]string{"run", "-m", s.path("mapping.yaml")}, flags...)
	return append(args, s.path(s.input))
}

// rerun runs workbooks of the scene again; other words are flags.
func (s *scene) rerun(books ...string) played {
	s.t.Helper()
	words := []string{"rerun", "--json", "--environments", s.path("environments.yaml"), "-m", s.path("mapping.yaml")}
	for _, word := range books {
		if strings.HasSuffix(word, ".xlsx") {
			word = s.path(word)
		}
		words = append(words, word)
	}
	return s.do(words)
}

// since returns the calls that no run has shown yet.
func (s *scene) since() (p played) {
	p.calls, s.seen = s.service.Since(s.seen)
	return p
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

// quiet runs and expects that nothing is sent.
func (s *scene) quiet() {
	s.t.Helper()
	if posts := s.mustRun(0).posts(); len(posts) > 0 {
		s.t.Errorf("the run sends %v", posts)
	}
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

// steps are the logical names of the creating calls, in the order of their arrival.
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

// onStep is about the creating calls of one step.
func onStep(step string) func(apitest.Call) bool {
	return func(c apitest.Call) bool { return c.Step == step }
}

// settleDown waits until the service has done all that it was asked for.
func (s *scene) settleDown() {
	for slices.ContainsFunc(s.service.Calls(), func(c apitest.Call) bool { return c.Ended == 0 }) {
		time.Sleep(time.Millisecond)
	}
}

// asked is how often the service was asked to create each step.
func (s *scene) asked() map[string]int {
	counts := map[string]int{}
	for _, c := range s.service.Calls() {
		if c.Step != "" {
			counts[c.Step]++
		}
	}
	return counts
}

// waitFor waits until something is so, for no longer than anybody would.
func (s *scene) waitFor(what string, so func() bool) {
	s.t.Helper()
	for began := time.Now(); !so(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// expect fails unless all texts are in what was said.
func expect(t *testing.T, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("“%s” is not in\n%s", text, said)
		}
	}
}

// long asks for what takes minutes: kills at every place, many histories, workers.
var long = testform.Long

// onlyLong leaves a test out without -long.
func onlyLong(t *testing.T) {
	t.Helper()
	testform.OnlyLong(t)
}

// suite is this package's tests.
type suite struct{ *testing.M }

// Run runs the tests. Most of them wait for a disk or a service: more than there are processors run side by side,
// unless -parallel is given.
func (s suite) Run() int {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		err := parallel.Value.Set(strconv.Itoa(4 * runtime.GOMAXPROCS(0)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := os.Setenv("UAT_TOKEN", "canary-token"); err != nil { // what environments files name as env:UAT_TOKEN
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return testform.Run(s.M)
}

// The programs that tests start as processes: this test's own binary under the name "claimsheet" is the program, and
// under the other the program with places at which it can be killed and bugs that can be injected. What that one does is
// chosen by environment variables (see InstallTrial).
const (
	programName = "claimsheet"
	trialName   = "claimsheet-trial"
)
