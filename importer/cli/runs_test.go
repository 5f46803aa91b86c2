package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/testform"
)

// TestRateOverrides: --rate and --concurrency win over the environment's limits.
func TestRateOverrides(t *testing.T) {
	t.Parallel()
	s := newScene(t, "name: a\napi: v2\n"+clientPart, leads(8))
	s.environment("limits: {requests_per_second: 0.001, concurrency: 1}")
	s.service.Play(func(apitest.Call) apitest.Fault { return apitest.Fault{Delay: 30 * time.Millisecond} })
	began := time.Now()
	p := s.mustRun(0, "--rate", "50", "--concurrency", "8", "--accept", "new-ledger")
	together := false
	for i, c := range p.calls[1:] {
		together = together || c.Arrived < p.calls[i].Ended
	}
	if took := time.Since(began); took < time.Duration(len(p.calls)-2)*20*time.Millisecond || !together {
		t.Errorf("%d requests in %v: more than 50 a second, or one after the other", len(p.calls), took)
	}
}

// TestLedgerLostUnderARun takes the ledger away while a request is in flight: the run sends nothing more, its id goes
// to the journal, and the next run takes it up and does the rest. Nothing is created twice.
func TestLedgerLostUnderARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, creating, leads(2))
	path := s.path(".claimsheet/ledger.db")
	s.service.Play(apitest.Once(onStep("client c1@example.com"), apitest.Fault{Then: func() {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Error(err)
		}
	}}))
	p := s.mustRun(3, "--concurrency", "1")
	if posts := p.posts(); posts["client"] != 1 || len(posts) != 1 {
		t.Errorf("%v were sent, want one client", posts)
	}
	s.service.Play(nil)
	text, err := os.ReadFile(path + ".outcomes")
	must(t, err)
	if id := s.service.Created()["client c1@example.com"][0].ID; !strings.Contains(string(text), id) || strings.Contains(p.err, "c1@example.com") {
		t.Errorf("the journal is %q, want the id; stderr is %q, want no key", text, p.err)
	}
	must(t, os.Rename(path+".away", path))
	for range 2 { // a dry run changes nothing
		expect(t, s.mustRun(3, "--dry-run").err, "1 outcomes in the journal")
	}
	expect(t, s.mustRun(0).err, "had to keep in its journal: 1")
	s.mustRun(0, "--dry-run")
	s.mustRun(0)
	s.checkPromise()
	if made, left := s.service.Created(), s.glob(".claimsheet/*.outcomes"); len(made) != 4 || len(left) > 0 {
		t.Errorf("%v were created, and the journals %v are left", made, left)
	}
}

// halfDone is a scene with results in which a person has corrected the amount of the third client. It is not known
// whether the claim of the fourth was created.
func halfDone(t *testing.T) *scene {
	t.Helper()
	rows := leads(4)
	rows[2][7] = "ask"
	s := newScene(t, stepThree, rows)
	s.service.Play(apitest.Once(onStep("claim c4@example.com/Loan A-4"), apitest.CreateThenDrop()))
	s.mustRun(4)
	editWorkbook(t, s.path(s.book()), func(f *excelize.File) { set(t, f, "Amount", 4, 250.25) })
	return s
}

func (s *scene) glob(pattern string) []string {
	s.t.Helper()
	found, err := filepath.Glob(s.path(pattern))
	must(s.t, err)
	return found
}

func readText(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// TestTraceOfARun: every request of a run is a line that leads to the row and to the service's own log. TestP3_Canaries
// shows that no line has anything of the sheet, a secret or a redirect url.
func TestTraceOfARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(func(c apitest.Call) bool { return c.Kind == "claim" }, apitest.Busy(429, 0)))
	p := s.mustRun(0, "--trace", s.path("trace.jsonl"))
	lines := slices.Collect(strings.Lines(readText(t, s.path("trace.jsonl"))))
	ids := map[string]apitest.Call{}
	for _, c := range p.calls {
		ids[c.Header.Get("X-Request-Id")] = c
	}
	if len(lines) != len(p.calls) {
		t.Errorf("%d lines for %d requests", len(lines), len(p.calls))
	}
	for _, text := range lines {
		var line struct { // as docs/operations.md explains it
			Run, Kind, Method, Path, RequestID string
			Sheet, Row, Status                 int
			MS                                 map[string]float64
		}
		must(t, json.Unmarshal([]byte(text), &line))
		c, ok := ids[line.RequestID]
		if !ok || c.Method != line.Method || c.Kind != line.Kind || c.Status != line.Status || line.Run != p.summary.Run || !strings.Contains(c.Header.Get("User-Agent"), line.Run) || line.MS["whole"] <= 0 {
			t.Errorf("no request is as the line says: %+v", line)
		}
		if row := map[string]int{"c1@example.com": 2, "c2@example.com": 3}[c.Client]; row != 0 && (line.Row != row || line.Sheet != 1) {
			t.Errorf("the row of %s is %d: %+v", c.Client, row, line)
		}
	}
}

const trackingEntry = `tracking:
  webhook: {path: /hook, header: X-Token, token: "file:token", id: /id, kind: /type, client_id: /contact, claim_id: /claim, activity: /activity, time: /at}
  export: {client_id: /Contact, activity: /Step, status: /State, time: /When}
  completed: {kinds: [completed]}
`

// TestTracking: what the service posts and what its operator exports stands in the history,
// whatever arrives twice or out of order, and no step is changed by it.
func TestTracking(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.environment(trackingEntry)
	write(t, s.path("token"), "sesame")
	s.mustRun(0)
	steps, ids := s.steps(), column(s.results(), "contactId")
	ann, bob := ids[0], ids[1]

	b := inBackground(t, s.pace, "listen", "-m", s.path("mapping.yaml"), "--addr", "127.0.0.1:0")
	hook := b.line(&b.out, "")
	for _, e := range [][3]string{{"1", ann, "10"}, {"1", ann, "10"}, {"0", ann, "09"}, {"2", "unknown", "10"}} { // twice, out of order, of an unknown client
		body := fmt.Sprintf(`{"id":%q,"type":"completed","contact":%q,"activity":"Sign your claim","at":"2026-04-01T%s:00:00Z","name":"Ann"}`, e[0], e[1], e[2])
		r, err := http.NewRequest(http.MethodPost, hook, strings.NewReader(body))
		must(t, err)
		r.Header.Set("X-Token", "sesame")
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		if answer.Body.Close(); answer.StatusCode != 204 {
			t.Errorf("%s: HTTP %d", body, answer.StatusCode)
		}
	}

	p := s.mustRun(0)
	if p.summary.Requests.Client+p.summary.Requests.Activity+p.summary.Requests.Link > 0 {
		t.Errorf("events made the run send %+v", p.summary.Requests)
	}
	expect(t, p.err, "new events: 2; 1 already recorded; 1 with ids that the ledger does not know are kept")

	// An export says what the webhook missed, and more than once.
	write(t, s.path("export.csv"), "Contact,Step,State,When\n"+bob+",Sign your claim,Open,2026-04-02T08:00:00Z\n")
	for _, want := range []string{"new events: 1", "new events: 0; 1 already recorded"} {
		want += "; 1 with ids that the ledger does not know are kept\n" // of the webhook
		if said := s.must(0, "track", "--import", s.path("export.csv")); said != want {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	expect(t, s.must(0, "history", "c1@example.com"), "completed  by the service, Sign your claim, completed")
	expect(t, s.must(0, "history", "c2@example.com"), "by the service, Sign your claim, Open")
	if diff := cmp.Diff(steps, s.steps()); diff != "" {
		t.Errorf("events changed steps (-before +after):\n%s", diff)
	}
	// What people's data the service sends is nowhere.
	s.eachFile(".claimsheet", func(path string, _ []byte) {
		if strings.Contains(path, "tracking") {
			t.Errorf("%s is left", path)
		}
	})
}

// TestTerminated sends SIGTERM, or SIGHUP as a terminal that is closed does, in the middle of runs: what is in flight is finished and recorded, the workbook is
// written, nothing is uncertain, and the next run goes on from there.
func TestTerminated(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	rng := seeded(t, 1)
	for i := range testform.LongOr(20, 1) {
		by := syscall.SIGTERM
		if i%2 == 1 && !signal.Ignored(syscall.SIGHUP) { // under nohup the program ignores it as these tests do
			by = syscall.SIGHUP
		}
		s := newScene(t, stepThree, leads(12))
		p := child(programName, s.args("--concurrency", "4"))
		later := time.Duration(rng.IntN(3000)) * time.Microsecond
		s.service.Play(atPost(1+rng.Int64N(70), 2*time.Millisecond, func() { time.AfterFunc(later, func() { p.signal(by) }) }))
		if code, said := p.end(t); code != 143 && code != 0 {
			t.Errorf("exit code %d, want 143 or, at the very end, 0\n%s", code, said)
		}
		for _, step := range s.steps() {
			if state := step["State"]; state == "uncertain" || state == "sent" {
				t.Errorf("after SIGTERM the step %s of %s is %q", step["Step"], step["Client key"], state)
			}
		}
		s.service.Play(nil)
		s.mustRun(0)
		s.checkPromise()
	}
}

// TestInterruptedTwice interrupts a run whose requests are not answered, and then once more: it ends at once. What was
// answered is recorded, what was in flight is uncertain, nothing is sent again.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows sends no SIGINT to a process")
	}
	s := newScene(t, stepThree, leads(12))
	const answered, workers = 15, 4 // POSTs; all later ones are held back until they are released
	var posts atomic.Int64
	held := make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" && posts.Add(1) > answered {
			return apitest.Fault{Until: held, Delay: 20 * time.Millisecond} // when they are released, a signal comes before the end
		}
		return apitest.Fault{}
	})
	p := child(programName, s.args("--concurrency", "4"))
	p.start(t)
	t.Cleanup(p.kill)
	s.waitFor("the requests in flight", func() bool { return posts.Load() == answered+workers })
	ended := make(chan struct{})
	go func() { p.end(t); close(ended) }()
	signals := 0
	for over := false; !over; { // a signal that comes before the first one was dealt with is the same one
		p.signal(os.Interrupt)
		signals++
		select {
		case <-ended:
			over = true
		case <-time.After(300 * time.Millisecond):
		}
	}
	if signals == 1 {
		t.Errorf("the first signal ended the run with requests in flight\n%s", p.said.String())
	}
	if status, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("the process ended with %s, want by the signal, which shells show as 130", p.ProcessState)
	}
	close(held)
	s.settleDown()
	s.service.Play(nil)
	s.mustRun(4)
	for step, n := range s.asked() {
		if n > 1 {
			t.Errorf("%s was sent %d times", step, n)
		}
	}
	if n := len(s.uncertain()); n == 0 || n > workers {
		t.Errorf("%d steps are uncertain, want some and no more than the %d in flight", n, workers)
	}
	s.checkPromise()
}

var killSeed = flag.Uint64("kill-seed", 0, "seed of the tests that kill; 0 takes a new one")

// inDoubt is how many steps a kill leaves in doubt at most where so many requests may be in flight, as
// docs/reliability.md says.
func inDoubt(inFlight int) int {
	if inFlight <= 1 {
		return 1
	}
	return inFlight + max(1, inFlight/8)
}

// TestKilledLeavesFewInDoubt kills the program with eight requests in flight: each kill leaves no more steps uncertain than is
// promised, whatever number of clients waits for a place. X-7 of docs/security.md: personal data is where it belongs, and nothing in the
// system's folder for temporary files.
func TestKilledLeavesFewInDoubt(t *testing.T) {
	t.Parallel()
	const inFlight = 8
	rows, temp := leads(60), t.TempDir()
	rows[0][1] = "CanaryName"
	s := newScene(t, stepThree, rows)
	rng, before := seeded(t, 0), 0
	for kill := range testform.LongOr(4, 1) {
		p := child(programName, s.args("--concurrency", fmt.Sprint(inFlight)), "TMPDIR="+temp, "TMP="+temp)
		s.service.Play(atPost(20+rng.Int64N(20), time.Millisecond, p.kill))
		if code, said := p.end(t); code != -1 {
			t.Fatalf("exit code %d: it was not killed\n%s", code, said)
		}
		if s.searchAll(""); len(names(t, temp)) > 0 {
			t.Errorf("left in the folder for temporary files: %v", names(t, temp))
		}
		s.settleDown()
		s.service.Play(nil)
		now := len(listed.FindAllString(claimsheet(t, "settle", "-m", s.path("mapping.yaml")).out, -1))
		if now-before > inDoubt(inFlight) {
			t.Errorf("kill %d left %d steps in doubt, want at most %d", kill+1, now-before, inDoubt(inFlight))
		}
		before = now
	}
	if p := s.run(); p.code != 0 && p.code != 4 { // look-ups find the clients
		t.Errorf("exit code %d\n%s", p.code, p.err)
	}
	s.checkPromise()
}

// atPost is a script of a service that answers after a delay, and does something when a creating call comes in, by its number.
func atPost(number int64, delay time.Duration, do func()) func(apitest.Call) apitest.Fault {
	var posts atomic.Int64
	return func(c apitest.Call) apitest.Fault {
		if c.Method != http.MethodGet && posts.Add(1) == number {
			do()
		}
		return apitest.Fault{Delay: delay}
	}
}

// seeded is the chance that a test which kills goes by; it says how to have the same again.
func seeded(t *testing.T, stream uint64) *rand.Rand {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, stream))
}

// uncertain are the client keys of the steps that are left for a person.
func (s *scene) uncertain() (clients []string) {
	s.t.Helper()
	for _, step := range s.steps() {
		if step["State"] == "uncertain" {
			clients = append(clients, step["Client key"])
		}
	}
	return clients
}

// runTrial runs a program over the scene, one client after the other.
func (s *scene) runTrial(name string, env ...string) (code int, said string) {
	s.t.Helper()
	return child(name, s.args("--concurrency", "1"), env...).end(s.t)
}
