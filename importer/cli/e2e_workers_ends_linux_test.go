package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// TestWorkersStop: the service refuses what workers send, after a first client has
// succeeded. The rules count what all of them see, and the run ends for all of them.
func TestWorkersStop(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 100
	for name, c := range map[string]struct {
		status, workers int
		concurrency     string
		flags           []string
		least, most     int // refused requests; most is less than workers with rules of their own would send
		why             string
	}{
		"clients that fail": {422, 2, "4", []string{"--max-failures", "30"}, 31, 31 + 2*8, "31 clients failed, more than --max-failures 30"},
		"403 in a row":      {403, 4, "1", nil, 3, 3 + 4 + 1, "3 answers in a row were HTTP 403 Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, strings.Replace(stepThree, "  key: E-mail\n", "  key: E-mail\n  existing: create\n", 1), leads(clients))
			s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 1}")
			var refused atomic.Int64
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Method == "GET" || strings.HasSuffix(call.Step, " c1@example.com") || call.Header.Get("X-Worker") == "" {
					return apitest.Fault{}
				}
				refused.Add(1)
				f := apitest.Answer(apitest.JSON(c.status, "{}"))
				f.Delay = 2 * time.Millisecond
				return f
			})
			for i := range c.workers {
				s.worker(i, "", "", "--concurrency", c.concurrency)
			}
			p := s.mustRun(3, append(c.flags, "--workers")...)
			expect(t, p.err+p.out, c.why)
			n, rows := int(refused.Load()), p.summary.Rows
			if n < c.least || n > c.most {
				t.Errorf("%d requests were refused, want %d to %d", n, c.least, c.most)
			}
			if rows.NotStarted < clients-c.most-10 || rows.Done+rows.Failed+rows.NotStarted != clients || rows.Failed < c.least {
				t.Errorf("rows %+v", rows)
			}
			for _, row := range s.results() {
				if row["Import status"] == "not started" && row["contactId"] != "" {
					t.Errorf("the row %s is not started and has an id", row["Source row"])
				}
			}
		})
	}
}

// TestWorkerEnds: a worker is told to end while it is in the middle of clients. It sends
// nothing more for them, and another worker goes on where it has stopped.
func TestWorkerEnds(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(30))
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 2}")
	begun := make(chan string, 1)
	goOn := make(chan struct{})
	var once sync.Once
	var ended atomic.Bool
	var late atomic.Int64
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method == "GET" || c.Header.Get("X-Worker") != "0" {
			return apitest.Fault{}
		}
		if ended.Load() {
			late.Add(1)
		}
		f := apitest.Fault{}
		if c.Kind == "claim" {
			once.Do(func() {
				begun <- c.Step
				f.Until = goOn
			})
		}
		return f
	})
	end, said := s.startWorker(0, "", "", "--concurrency", "1")
	done := make(chan played, 1)
	go func() { done <- s.run("--workers") }()
	claim := <-begun
	end()
	ended.Store(true)
	close(goOn)
	expect(t, said(), "stopped")
	s.worker(1, "", "", "--concurrency", "4")
	p := <-done
	if p.code != 0 || p.summary.Clients.Done != 30 {
		t.Fatalf("exit code %d\n%s%s", p.code, p.out, p.err)
	}
	if late.Load() > 0 {
		t.Errorf("the worker has sent %d requests after it was told to end", late.Load())
	}
	who, _, _ := strings.Cut(strings.TrimPrefix(claim, "claim "), "/")
	rest := slices.DeleteFunc(p.calls, func(c apitest.Call) bool { return c.Method == "GET" || !strings.Contains(c.Step, who) })
	var by []string
	for _, c := range rest {
		by = append(by, c.Header.Get("X-Worker"))
	}
	if len(by) < 2 || by[0] != "0" || by[len(by)-1] != "1" {
		t.Errorf("what belongs to %s was sent by the workers %q", who, by)
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
}

// TestWorkerIsKilled: what a killed worker was sending is uncertain, in the row and in the count,
// and what it has sent is counted.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(10))
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 2}")
	worker := exec.Command(programName, append(s.workerArgs(0, "", ""), "--concurrency", "1")...)
	worker.Env = append(os.Environ(), "CLAIMSHEET_ENV=")
	killed := make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind != "claim" || c.Header.Get("X-Worker") != "0" {
			return apitest.Fault{}
		}
		_ = worker.Process.Kill()
		close(killed)
		return apitest.DropBefore()
	})
	must(t, worker.Start())
	done := make(chan played, 1)
	go func() { done <- s.run("--workers") }()
	<-killed
	_ = worker.Wait()
	s.worker(1, "", "", "--concurrency", "4")
	p := <-done
	if p.code != 4 || p.summary.Rows.Uncertain != 1 || p.summary.UncertainSteps != 1 {
		t.Errorf("exit code %d, rows %+v, %d uncertain steps\n%s", p.code, p.summary.Rows, p.summary.UncertainSteps, p.err)
	}
	sent := map[string]int{}
	for _, c := range p.calls {
		sent[c.Kind]++
	}
	if r := p.summary.Requests; r.Client != sent["client"] || r.Claim != sent["claim"] || r.Activity != sent["activity"] || r.Link != sent["link"] {
		t.Errorf("the summary counts %+v, the service %v", r, sent)
	}
}

// TestNoWorkers: a run waits while there is no worker, and goes on when one is started.
func TestNoWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(20))
	server := pgtest.Shared(t)
	schema := s.inSchema(server, "limits: {concurrency: 1}")
	done := make(chan played, 1)
	go func() { done <- s.run("--workers") }()
	s.waitFor("plans that are handed over", func() bool { return s.handedOver(server, schema) })
	select {
	case p := <-done:
		t.Fatalf("the run has ended without a worker: exit code %d\n%s", p.code, p.err)
	case <-time.After(300 * time.Millisecond):
	}
	s.worker(0, "", "")
	p := <-done
	if by := posted(p.calls); p.code != 0 || p.summary.Clients.Done != 20 || by["0"] < 10 {
		t.Errorf("exit code %d, creating calls by worker %v\n%s", p.code, by, p.err)
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
}

// TestCoordinatorIsCut: a run that waits for workers ends when its connection to the ledger is
// cut: no worker begins its plans any more.
func TestCoordinatorIsCut(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(20))
	server := pgtest.Shared(t)
	url := server.URL()
	_, schema, _ := strings.Cut(url, "search_path=")
	s.environment("limits: {concurrency: 1}\n" + fmt.Sprintf("ledger: %q", url+"&application_name=of-"+schema))
	done := make(chan played, 1)
	go func() { done <- s.run("--workers") }()
	s.waitFor("plans that are handed over", func() bool { return s.handedOver(server, schema) })
	server.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'of-"+schema+"'")
	p := <-done
	if p.code != 3 || !strings.Contains(p.err, "the ledger's server") {
		t.Errorf("exit code %d\n%s", p.code, p.err)
	}
	stop := s.worker(0, "", "")
	if again := s.mustRun(0, "--workers"); again.summary.Clients.Done+again.summary.Clients.Unchanged != 20 {
		t.Errorf("the next run comes to %+v", again.summary.Clients)
	}
	stop()
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
}

// TestWorkersRefused: a run cannot have workers where they could not work for it, or have
// nothing to do. Nothing is created then.
func TestWorkersRefused(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	for said, flags := range map[string][]string{
		"the ledger of the environment “uat” is a file": {"--workers"},
		"a dry run sends nothing":                       {"--workers", "--dry-run"},
	} {
		p := s.mustRun(2, flags...)
		expect(t, p.err+p.out, said)
		if len(p.steps()) > 0 {
			t.Errorf("%v: the service got %s", flags, transcript(p.calls))
		}
	}
	code, out, diagnostics := s.claimsheet("worker", "--environments", s.path("environments.yaml"))
	if code != 2 {
		t.Errorf("a worker with a ledger in a file: exit code %d", code)
	}
	expect(t, out+diagnostics, "workers share one in a database")
}

// inSchema is inDatabase in a schema whose name is returned.
func (s *scene) inSchema(server *pgtest.Server, more string) (schema string) {
	s.t.Helper()
	url := server.URL()
	s.environment(more + "\n" + fmt.Sprintf("ledger: %q", url))
	_, schema, _ = strings.Cut(url, "search_path=")
	return schema
}

// handedOver reports whether plans of a run wait in a schema.
func (s *scene) handedOver(server *pgtest.Server, schema string) bool {
	s.t.Helper()
	return server.Exec(s.t, fmt.Sprintf("SELECT to_regclass('%s.river_job') IS NOT NULL", schema)) == "t" &&
		server.Exec(s.t, fmt.Sprintf("SELECT count(*) > 10 FROM %s.river_job", schema)) == "t"
}

// TestKnownIDsWithWorkers: an id that two rows give is refused to both, and another one is taken over.
func TestKnownIDsWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, strings.Replace(stepThree, "  key: E-mail\n", "  key: E-mail\n  known_id: Contact ID\n", 1), nil)
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 1}")
	twice := s.service.AddClient("x@example.com", "x@example.com", "")
	once := s.service.AddClient("c15@example.com", "elsewhere@example.com", "")
	var rows [][]any
	for i, row := range leads(30) {
		rows = append(rows, append(row, map[int]any{15: once, 20: twice, 25: twice}[i+1]))
	}
	writeSheet(t, s.path(s.input), append(slices.Clone(header), "Contact ID"), rows)
	s.workers(2)
	p := s.mustRun(1, "--workers", "--max-failures", "10")
	for i, row := range s.results() {
		switch n := i + 1; {
		case n == 20 || n == 25:
			if row["Import status"] != "invalid" || !strings.Contains(row["Error"], "one id to several clients, in the rows") {
				t.Errorf("row %d: %s %s", n, row["Import status"], row["Error"])
			}
		case row["Import status"] != "done" || n == 15 && row["contactId"] != once:
			t.Errorf("row %d: %s %s %s", n, row["Import status"], row["contactId"], row["Error"])
		}
	}
	if by := posted(p.calls); by["0"]+by["1"] < 50 || len(s.service.Created()["client c15@example.com"]) > 0 {
		t.Errorf("creating calls by worker: %v", by)
	}
}

// TestSignalWithWorkers: a run gets a signal while its workers have its plans. What they have
// begun comes back as it is, all other clients are not started, nothing of the hand-over is left in
// the database, and the next run does the rest.
func TestSignalWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 30
	s := newScene(t, stepThree, leads(clients))
	server := pgtest.Shared(t)
	schema := s.inSchema(server, "limits: {concurrency: 1}")
	begun, signalled := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.service.Play(func(c apitest.Call) (f apitest.Fault) {
		if c.Kind == "claim" && c.Header.Get("X-Worker") != "" {
			once.Do(func() { close(begun) })
			f.Until = signalled
		}
		return f
	})
	s.worker(0, "", "", "--concurrency", "1")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan played, 1)
	go func() { done <- s.runContext(ctx, "--workers", "--json") }()
	<-begun
	cancel()
	close(signalled)
	p := <-done
	if r := p.summary.Rows; p.code != 130 || r.Total != clients || r.NotStarted < clients/2 || r.Uncertain+r.Failed > 0 {
		t.Errorf("exit code %d, rows %+v\n%s", p.code, r, p.err)
	}
	if n := server.Exec(t, fmt.Sprintf(leftInDatabase, schema)); n != "0" {
		t.Errorf("%s rows of the hand-over are left in the database", n)
	}
	if next := s.mustRun(0, "--workers"); next.summary.Clients.Done+next.summary.Clients.Unchanged != clients {
		t.Errorf("the next run comes to %+v", next.summary.Clients)
	}
	s.checkPromise()
}
