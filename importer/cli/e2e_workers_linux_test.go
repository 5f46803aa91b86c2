package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// workers starts workers for a scene, whose requests have the header X-Worker with their
// number. They end with the test, or when stop is called, which returns what they said.
func (s *scene) workers(n int) (stop func() []string) {
	s.t.Helper()
	stops := make([]func() string, n)
	for i := range stops {
		stops[i] = s.worker(i, "", "", "--concurrency", "4")
	}
	return func() []string {
		said := make([]string, n)
		for i, stop := range stops {
			said[i] = stop()
		}
		return said
	}
}

// worker starts one worker, whose environments file has new in the place of old.
func (s *scene) worker(number int, old, new string, flags ...string) (stop func() string) {
	s.t.Helper()
	end, said := s.startWorker(number, old, new, flags...)
	return func() string {
		end()
		return said()
	}
}

// startWorker is worker; end tells it to end, and said waits for that.
func (s *scene) startWorker(number int, old, new string, flags ...string) (end func(), said func() string) {
	s.t.Helper()
	ctx, end := context.WithCancel(s.t.Context())
	args := append(s.workerArgs(number, old, new), flags...)
	all := make(chan string, 1)
	go func() {
		var out bytes.Buffer
		stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &out, Env: func(string) string { return "" }}
		if code := cli.MainAt(ctx, args, stdio, s.pace); code != 130 {
			s.t.Errorf("worker %d: exit code %d\n%s", number, code, out.String())
		}
		all <- out.String()
	}()
	said = sync.OnceValue(func() string { return <-all })
	s.t.Cleanup(func() {
		end()
		said()
	})
	return end, said
}

// workerArgs are the arguments of a worker, whose environments file it writes.
func (s *scene) workerArgs(number int, old, new string) []string {
	s.t.Helper()
	text, err := os.ReadFile(s.path("environments.yaml"))
	must(s.t, err)
	own := s.path(fmt.Sprintf("worker-%d.yaml", number))
	write(s.t, own, strings.Replace(strings.Replace(string(text), "    base_url:", fmt.Sprintf("    headers: {X-Worker: %d}\n    base_url:", number), 1), old, new, 1))
	return []string{"worker", "--environments", own, "--state", s.path(fmt.Sprint("worker-", number))}
}

// runTogether is run with --workers. Of a worker's calls only those for the templates are
// answered before n workers have begun plans, so that all take part. schema is where they meet.
func (s *scene) runTogether(n int, schema string, flags ...string) played {
	s.t.Helper()
	server, begun := pgtest.Shared(s.t), make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		f := apitest.Fault{Delay: 2 * time.Millisecond}
		if c.Header.Get("X-Worker") != "" && !strings.HasSuffix(c.Path, "/activity-templates") {
			f.Until = begun
		}
		return f
	})
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan played, 1)
	go func() {
		defer close(done) // also where the run's output is not as it should be
		done <- s.runContext(ctx, append(flags, "--workers", "--json")...)
	}()
	defer func() { // where it is waited for in vain
		cancel()
		<-done
	}()
	answer := sync.OnceFunc(func() { close(begun) })
	defer answer()
	there := false
	s.waitFor("plans that all workers have begun", func() bool {
		time.Sleep(200 * time.Millisecond) // each question is a process
		there = there || s.handedOver(server, schema)
		return len(done) > 0 || there &&
			server.Exec(s.t, fmt.Sprintf("SELECT count(DISTINCT attempted_by[array_upper(attempted_by, 1)]) >= %d FROM %s.river_job WHERE state = 'running'", n, schema)) == "t"
	})
	answer()
	return <-done
}

// posted is how many creating calls had each value of the header X-Worker.
func posted(calls []apitest.Call) map[string]int {
	by := map[string]int{}
	for _, c := range calls {
		if c.Method != "GET" {
			by[c.Header.Get("X-Worker")]++
		}
	}
	return by
}

// leftInDatabase counts the rows of the hand-over in a schema.
const leftInDatabase = "SELECT (SELECT count(*) FROM %[1]s.river_job) + (SELECT count(*) FROM %[1]s.dispatched_runs)"

// TestWorkersCarryOut: workers create what a run asks for, each once; the first client goes
// ahead from the run itself. The run's workbook has all ids, nothing of the hand-over is left in
// the database, and a second run has nothing to hand over.
func TestWorkersCarryOut(t *testing.T) {
	t.Parallel()
	const clients = 20
	s := newScene(t, stepThree, append(leads(clients), lead(3, "second"), lead(7, "second")))
	schema := s.inSchema(pgtest.Shared(t), "limits: {concurrency: 4}")
	stop := s.workers(2)
	p := s.runTogether(2, schema)
	by := posted(p.calls)
	if p.code != 0 {
		t.Fatalf("exit code %d\n%s%s", p.code, p.out, p.err)
	}
	if by["0"] == 0 || by["1"] == 0 || by[""] == 0 || by[""] > 10 {
		t.Errorf("creating calls by worker: %v; want most of them from both workers", by)
	}
	if p.summary.Clients.Done != clients || p.summary.Rows.Done != clients+2 {
		t.Errorf("summary %+v", p.summary)
	}
	r := p.summary.Requests
	if sent := r.Client + r.Claim + r.Activity + r.Link; sent != by[""]+by["0"]+by["1"] {
		t.Errorf("the summary counts %d creating requests, and the service got %v", sent, by)
	}
	for _, row := range s.workbook("leads.results.xlsx", "Results") {
		if row["contactId"] == "" || row["Import status"] != "done" {
			t.Errorf("row %s: %s %s", row["Source row"], row["Import status"], row["Error"])
		}
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
	if n := pgtest.Shared(t).Exec(t, fmt.Sprintf(leftInDatabase, schema)); n != "0" {
		t.Errorf("%s rows of the hand-over are left in the database", n)
	}
	if again := s.mustRun(0, "--workers"); len(again.steps()) > 0 || again.summary.Clients.Unchanged != clients {
		t.Errorf("a second run sends %v; %+v", again.steps(), again.summary.Clients)
	}
	for _, said := range stop() {
		if !strings.Contains(said, "works for run") {
			t.Errorf("a worker says\n%s", said)
		}
	}
}

// TestBesideWorkers: a run and its workers have at most six connections to the server each. Beside
// workers that wait for a run, what reads the ledger and what adds to it goes on, and what must
// have it alone does not.
func TestBesideWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients, workers, each = 20, 2, 6
	s := newScene(t, stepThree, leads(clients))
	server := pgtest.Shared(t)
	url := server.URL()
	_, schema, _ := strings.Cut(url, "search_path=")
	s.environment("limits: {concurrency: 4}\n" + fmt.Sprintf("ledger: %q", url+"&application_name=of-"+schema))
	stop := s.workers(workers)
	ended, most := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			now, _ := strconv.Atoi(server.Exec(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'of-"+schema+"'"))
			n = max(n, now)
			select {
			case <-ended:
				most <- n
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	p := s.runTogether(workers, schema)
	close(ended)
	if n := <-most; n < 3*(1+workers) || n > each*(1+workers) {
		t.Errorf("%d connections, want at most %d", n, each*(1+workers))
	}
	if p.code != 0 {
		t.Fatalf("exit code %d\n%s%s", p.code, p.out, p.err)
	}
	s.must(0, "settle")
	s.must(0, "report", "-o", s.path("again.xlsx"))
	s.must(5, "history", "--purge", "--older-than", "1d", "--yes")

	a, err := postgres.Parse(url)
	must(t, err)
	other, err := postgres.OpenShared(t.Context(), a, postgres.Sharing{})
	must(t, err)
	environments, err := other.Environments(t.Context())
	must(t, err)
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: environments[0], Space: "email", Client: "late@example.com"}, Step: "client"}
	intent := ledger.Event{StepID: id, To: ledger.Sent, At: time.Now(), Kind: ledger.KindClient}
	doubt := intent
	doubt.To = ledger.Uncertain
	must(t, other.Append(intent, doubt))
	unlock, err := other.Lock(t.Context(), id.LockName())
	must(t, err)
	if said := s.must(5, "settle", "--give-up", "late@example.com:client"); !strings.Contains(said, "at work on a client") {
		t.Errorf("settle said %s", said)
	}
	unlock()
	s.must(0, "settle", "--give-up", "late@example.com:client")
	must(t, other.Close())
	stop()
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
}
