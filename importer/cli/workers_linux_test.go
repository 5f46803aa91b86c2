package cli_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/importer/ledger/postgres/pgtest"
	"claimsheet/importer/result"
)

// worker starts a worker for a scene, whose requests have the header X-Worker with its number. Its environments file
// has new in the place of old.
func (s *scene) worker(number int, old, new string, flags ...string) *background {
	s.t.Helper()
	w := inBackground(s.t, s.pace, append(s.workerArgs(number, old, new), flags...)...)
	s.t.Cleanup(func() {
		if code := w.stop(); code != 130 {
			s.t.Errorf("worker %d: exit code %d\n%s", number, code, w.err.String())
		}
	})
	return w
}

// workers starts so many workers. stop ends them, and returns what they said.
func (s *scene) workers(n int) (stop func() (said []string)) {
	s.t.Helper()
	var all []*background
	for i := range n {
		all = append(all, s.worker(i, "", "", "--concurrency", "4"))
	}
	return func() (said []string) {
		for _, w := range all {
			w.stop()
			said = append(said, w.err.String())
		}
		return said
	}
}

// workerArgs are the arguments of a worker, whose environments file it writes.
func (s *scene) workerArgs(number int, old, new string) []string {
	s.t.Helper()
	own := s.path(fmt.Sprintf("worker-%d.yaml", number))
	text := strings.Replace(readText(s.t, s.path("environments.yaml")), "    base_url:", fmt.Sprintf("    headers: {X-Worker: %d}\n    base_url:", number), 1)
	write(s.t, own, strings.Replace(text, old, new, 1))
	return []string{"worker", "--environments", own, "--state", s.path(fmt.Sprint("worker-", number))}
}

// runBeside begins a run with workers.
func (s *scene) runBeside(flags ...string) <-chan played {
	done := make(chan played, 1)
	go func() { done <- s.run(append(flags, "--workers")...) }()
	return done
}

// handedOver reports whether plans of a run wait in a schema.
func (s *scene) handedOver(schema string) bool {
	s.t.Helper()
	server := pgtest.Shared(s.t)
	return server.Exec(s.t, fmt.Sprintf("SELECT to_regclass('%s.river_job') IS NOT NULL", schema)) == "t" &&
		server.Exec(s.t, fmt.Sprintf("SELECT count(*) > 10 FROM %s.river_job", schema)) == "t"
}

// runTogether is a run with workers. Of a worker's calls only those for the templates are answered before n workers
// have begun plans, so that all take part. schema is where they meet.
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
	answer := sync.OnceFunc(func() { close(begun) })
	defer answer()
	done, there := s.runBeside(flags...), false
	s.waitFor("plans that all workers have begun", func() bool {
		time.Sleep(200 * time.Millisecond) // each question is a process
		there = there || s.handedOver(schema)
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

// nothingLeft expects that a schema has no rows of the hand-over.
func (s *scene) nothingLeft(schema string) {
	s.t.Helper()
	if n := pgtest.Shared(s.t).Exec(s.t, fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]s.river_job) + (SELECT count(*) FROM %[1]s.dispatched_runs)", schema)); n != "0" {
		s.t.Errorf("%s rows of the hand-over are left in the database", n)
	}
}

// allDone expects that a run with workers has come to a number of clients.
func (s *scene) allDone(p played, clients int) {
	s.t.Helper()
	if p.code != 0 || p.summary.Clients.Done+p.summary.Clients.Unchanged != clients {
		s.t.Errorf("exit code %d, clients %+v\n%s", p.code, p.summary.Clients, p.err)
	}
	s.checkPromise()
}

// TestWorkersCarryOut: workers create what a run asks for, each once; the first client goes ahead from the run itself.
// The run's workbook has all ids, nothing of the hand-over is left in the database, and a second run has nothing to
// hand over.
func TestWorkersCarryOut(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 20
	s := newScene(t, stepThree, append(leads(clients), lead(3, "second"), lead(7, "second")))
	schema := s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 4}")
	stop := s.workers(2)
	p := s.runTogether(2, schema)
	s.allDone(p, clients)
	by, r := posted(p.calls), p.summary.Requests
	if by["0"] == 0 || by["1"] == 0 || by[""] == 0 || by[""] > 10 || r.Client+r.Claim+r.Activity+r.Link != by[""]+by["0"]+by["1"] {
		t.Errorf("creating calls by worker: %v; want most of them from both workers; the summary counts %+v", by, r)
	}
	for _, row := range s.results() {
		if row["contactId"] == "" || row["Import status"] != "done" {
			t.Errorf("row %s: %s %s", row["Source row"], row["Import status"], row["Error"])
		}
	}
	s.nothingLeft(schema)
	if again := s.mustRun(0, "--workers"); len(again.steps()) > 0 || again.summary.Clients.Unchanged != clients {
		t.Errorf("a second run sends %v; %+v", again.steps(), again.summary.Clients)
	}
	for _, said := range stop() {
		expect(t, said, "works for run")
	}
}

// TestBesideWorkers: a run and its workers have at most six connections to the server each. Beside workers that wait
// for a run, what reads the ledger and what adds to it goes on, and what must have it alone does not.
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
	s.allDone(p, clients)
	s.must(0, "settle")
	s.report()
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
	expect(t, s.must(5, "settle", "--give-up", "late@example.com:client"), "at work on a client")
	unlock()
	s.must(0, "settle", "--give-up", "late@example.com:client")
	must(t, other.Close())
	stop()
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
}

// TestWorkersStop: the service refuses what workers send, after a first client has succeeded. The rules count what all
// of them see, and the run ends for all of them.
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
			s := newScene(t, with(stepThree, "  key: E-mail\n", "  key: E-mail\n  existing: create\n"), leads(clients))
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
			if n < c.least || n > c.most || rows.NotStarted < clients-c.most-10 || rows.Done+rows.Failed+rows.NotStarted != clients || rows.Failed < c.least {
				t.Errorf("%d requests were refused, want %d to %d; rows %+v", n, c.least, c.most, rows)
			}
			for _, row := range s.results() {
				if row["Import status"] == "not started" && row["contactId"] != "" {
					t.Errorf("the row %s is not started and has an id", row["Source row"])
				}
			}
		})
	}
}

// TestWorkerEnds: a worker is told to end while it is in the middle of clients. It sends nothing more for them, and
// another worker goes on where it has stopped.
func TestWorkerEnds(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(30))
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 2}")
	begun, goOn := make(chan string, 1), make(chan struct{})
	var once sync.Once
	var ended atomic.Bool
	s.service.Play(func(c apitest.Call) (f apitest.Fault) {
		if c.Method == "GET" || c.Header.Get("X-Worker") != "0" {
			return f
		}
		if ended.Load() {
			t.Errorf("the worker has sent %s after it was told to end", c.Step)
		}
		if c.Kind == "claim" {
			once.Do(func() {
				begun <- c.Client
				f.Until = goOn
			})
		}
		return f
	})
	first := s.worker(0, "", "", "--concurrency", "1")
	done := s.runBeside()
	who := <-begun
	first.end()
	ended.Store(true)
	close(goOn)
	first.stop()
	expect(t, first.err.String(), "stopped")
	s.worker(1, "", "", "--concurrency", "4")
	p := <-done
	s.allDone(p, 30)
	var by []string
	for _, c := range p.calls {
		if c.Method != "GET" && c.Client == who {
			by = append(by, c.Header.Get("X-Worker"))
		}
	}
	if len(by) < 2 || by[0] != "0" || by[len(by)-1] != "1" {
		t.Errorf("what belongs to %s was sent by the workers %q", who, by)
	}
}

// TestWorkerIsKilled: what a killed worker was sending is uncertain, in the row and in the count, and what it has sent
// is counted.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(10))
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 2}")
	worker := child(programName, append(s.workerArgs(0, "", ""), "--concurrency", "1"))
	dead := make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind != "claim" || c.Header.Get("X-Worker") != "0" {
			return apitest.Fault{}
		}
		worker.kill()
		close(dead)
		return apitest.DropBefore()
	})
	worker.start(t)
	done := s.runBeside()
	<-dead
	worker.end(t)
	s.worker(1, "", "", "--concurrency", "4")
	p := <-done
	if p.code != 4 || p.summary.Rows.Uncertain != 1 || p.summary.UncertainSteps != 1 {
		t.Errorf("exit code %d, rows %+v, %d uncertain steps\n%s", p.code, p.summary.Rows, p.summary.UncertainSteps, p.err)
	}
	if counted, sent := creations(p), creations(played{summary: result.Summary{Requests: arrived(p)}}); counted != sent {
		t.Errorf("the summary counts %+v, the service %+v", counted, sent)
	}
}

// TestWaitingForWorkers: a run waits while there is no worker, and goes on when one is started. It ends when its
// connection to the ledger is cut: no worker begins its plans any more.
func TestWaitingForWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, cut := range []bool{false, true} {
		t.Run(fmt.Sprint("cut ", cut), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(20))
			server := pgtest.Shared(t)
			url := server.URL()
			_, schema, _ := strings.Cut(url, "search_path=")
			s.environment("limits: {concurrency: 1}\n" + fmt.Sprintf("ledger: %q", url+"&application_name=of-"+schema))
			done := s.runBeside()
			s.waitFor("plans that are handed over", func() bool { return s.handedOver(schema) })
			if cut {
				server.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'of-"+schema+"'")
				p := <-done
				if expect(t, p.err, "the ledger's server"); p.code != 3 {
					t.Errorf("exit code %d", p.code)
				}
				done = s.runBeside()
			}
			select {
			case p := <-done:
				t.Fatalf("the run has ended without a worker: exit code %d\n%s", p.code, p.err)
			case <-time.After(300 * time.Millisecond):
			}
			s.worker(0, "", "")
			p := <-done
			if s.allDone(p, 20); posted(p.calls)["0"] < 10 {
				t.Errorf("creating calls by worker %v", posted(p.calls))
			}
		})
	}
}

// TestWorkersRefused: a run cannot have workers where they could not work for it, or have nothing to do. Nothing is
// created then.
func TestWorkersRefused(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	for said, flags := range map[string][]string{
		"the ledger of the environment “uat” is a file": {"--workers"},
		"a dry run sends nothing":                       {"--workers", "--dry-run"},
	} {
		p := s.mustRun(2, flags...)
		if expect(t, p.err+p.out, said); len(p.posts()) > 0 {
			t.Errorf("%v: the service got %s", flags, transcript(p.calls))
		}
	}
	p := claimsheet(t, "worker", "--environments", s.path("environments.yaml"))
	if expect(t, p.out+p.err, "workers share one in a database"); p.code != 2 {
		t.Errorf("a worker with a ledger in a file: exit code %d", p.code)
	}
}

// TestKnownIDsWithWorkers: an id that two rows give is refused to both, and another one is taken over.
func TestKnownIDsWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, contactIDs, nil)
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

// TestSignalWithWorkers: a run gets a signal while its workers have its plans. What they have begun comes back as it
// is, all other clients are not started, nothing of the hand-over is left in the database, and the next run does the
// rest.
func TestSignalWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 30
	s := newScene(t, stepThree, leads(clients))
	schema := s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 1}")
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
	s.nothingLeft(schema)
	s.allDone(s.run("--workers"), clients)
}

// TestWorkerThatDoesNotFit: a worker whose environments file says otherwise where answers have an id, what they mean,
// or where the service is, says so and sends nothing for a run. One that has the run's environment carries the run out,
// and what the other one had begun.
func TestWorkerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 20
	for name, c := range map[string]struct{ old, new, says string }{
		"wire":     {"/claimId", "/claim/id", "the environment “uat” of this worker is not that of the run"},
		"rules":    {"means: stop", "means: failed", "the environment “uat” of this worker is not that of the run"},
		"base_url": {"base_url: http://127.0.0.1", "base_url: http://127.0.0.2", "its environment “uat” is at http://127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(clients))
			server := pgtest.Shared(t)
			schema := s.inDatabase(server, "limits: {concurrency: 1}\nwire: {claim_id: /claimId}\nerrors: [{status: 418, means: stop}]")
			jobs, by := schema+".river_job WHERE state = 'running'", "attempted_by[array_upper(attempted_by, 1)]"
			unfit := s.worker(0, c.old, c.new, "--concurrency", "1")
			done := s.runBeside()
			s.waitFor("plans that are handed over", func() bool { return s.handedOver(schema) })
			if name == "base_url" {
				time.Sleep(3 * time.Second) // a worker looks every two
				s.worker(1, "", "")
			} else {
				s.waitFor("plans that the worker begins", func() bool { return server.Exec(t, "SELECT count(*) > 0 FROM "+jobs) == "t" })
				begun := server.Exec(t, "SELECT DISTINCT "+by+" FROM "+jobs)
				s.worker(1, "", "")
				s.waitFor("all other plans", func() bool {
					return server.Exec(t, "SELECT NOT EXISTS (SELECT 1 FROM "+schema+".river_job WHERE state <> 'running' OR "+by+" <> '"+begun+"')") == "t"
				})
				unfit.stop()
			}
			p := <-done
			s.allDone(p, clients)
			for _, call := range p.calls {
				if call.Header.Get("X-Worker") == "0" {
					t.Errorf("the worker that does not fit sends %s %s", call.Method, call.Path)
				}
			}
			unfit.stop()
			expect(t, unfit.err.String(), "this worker cannot work for it", c.says)
			if strings.Contains(unfit.err.String(), "works for run ") || posted(p.calls)["1"] < 60 {
				t.Errorf("creating calls by worker: %v\n%s", posted(p.calls), unfit.err.String())
			}
		})
	}
}

// TestRiverTablesLost: in the middle of a run the tables by which it meets its workers are lost, or what is in them.
// The run ends and says so. The next one makes the tables, and the same workers do the rest; everything is created
// once.
func TestRiverTablesLost(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, statement := range map[string]string{
		"jobs": `TRUNCATE %[1]s.river_job`, "run": `TRUNCATE %[1]s.river_job, %[1]s.dispatched_runs`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const clients, calls, before = 40, 6, 60
			s := newScene(t, stepThree, leads(clients))
			server := pgtest.Shared(t)
			schema := s.inDatabase(server, "limits: {concurrency: 1}")
			var sent atomic.Int64
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Header.Get("X-Worker") != "" && c.Method != "GET" && sent.Add(1) == before {
					server.Exec(t, fmt.Sprintf(statement, schema))
				}
				return apitest.Fault{Delay: 2 * time.Millisecond}
			})
			stop := s.workers(2)
			lost := s.mustRun(3, "--workers")
			expect(t, lost.err+lost.out, "has disappeared from the database")
			s.mustRun(0, "--workers")
			said := strings.Join(stop(), "\n")
			if n := len(s.service.Created()); n != clients*calls || sent.Load() < clients*calls/2 {
				t.Errorf("%d things were created, %d by workers\n%s", n, sent.Load(), said)
			}
			s.checkPromise()
		})
	}
}

// likeOneProcess holds that a run with workers comes to the same as one process. Both must count the same rows, clients
// and creating requests, and the second workbook must say what its service has. code is the exit code of both runs.
func likeOneProcess(t *testing.T, code int, set func() *scene, start func(*scene), flags ...string) (s *scene, p played) {
	t.Helper()
	alone := set().mustRun(code, flags...)
	s = set()
	schema := s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 1}")
	start(s)
	if p = s.runTogether(2, schema, flags...); p.code != code {
		t.Fatalf("exit code %d, want %d\n%s%s", p.code, code, p.out, p.err)
	}
	if by := posted(p.calls); by["0"] == 0 || by["1"] == 0 {
		t.Errorf("creating calls by worker: %v; want some of both", by)
	}
	if p.summary.Rows != alone.summary.Rows || p.summary.Clients != alone.summary.Clients || creations(p) != creations(alone) {
		t.Errorf("with workers: %+v; by itself: %+v", p.summary, alone.summary)
	}
	s.checkPromise()
	return s, p
}

// creations are the creating requests of a summary. How often processes look somebody up is their own affair.
func creations(p played) result.Requests {
	r := p.summary.Requests
	r.Lookup, r.Templates = 0, 0
	return r
}

// TestContactsWithWorkers: a further contact whom clients of several workers name is created once, and the claims of
// all of them have the contact.
func TestContactsWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients, contacts = 24, 4
	var rows []string
	for i := range clients {
		rows = append(rows, fmt.Sprintf("a%d@ | Ann | A-%d | p%d@ | Poe", i, i, i%contacts))
	}
	mapping := with(joint, `, administrator: {id: "file:broker"}`, "", "{key: Agreement no", "{id: loan, key: Agreement no", "on: claim", "on: loan")
	_, p := likeOneProcess(t, 0, func() *scene {
		s := newJoint(t, rows...)
		s.mapping(mapping)
		return s
	}, func(s *scene) { s.workers(2) })
	if p.summary.Clients.Done != clients || p.posts()["client"] != clients+contacts || p.posts()["claim"] != clients {
		t.Errorf("clients %+v, creating calls %v", p.summary.Clients, p.posts())
	}
}

// TestSharedAddressWithWorkers: of two keys with one e-mail address one is created, whoever carries them out, and the
// row of the other one says why it is not.
func TestSharedAddressWithWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	pairs, first, _ := sharedAddressRows(24)
	rows := append([][]any{lead(30, "A-30")}, pairs...) // the run carries out the first one itself
	s, p := likeOneProcess(t, 1, func() *scene {
		s := newScene(t, with(stepThree, "key: E-mail", "key: First name"), rows)
		s.service.KeyField = "firstName"
		return s
	}, func(s *scene) {
		for i := range 2 {
			w := child(trialName, append(s.workerArgs(i, "", ""), "--concurrency", "4"), "TRIAL_SETTLE=6s") // longer than a look-up is used
			w.start(t)
			t.Cleanup(func() {
				w.signal(syscall.SIGTERM)
				if code, said := w.end(t); code != 143 {
					t.Errorf("worker %d: exit code %d\n%s", i, code, said)
				}
			})
		}
	}, "--max-failures", "100%")
	created := map[string]int{}
	for _, row := range s.results() {
		switch status := row["Import status"]; {
		case status == "done":
			created[row["E-mail"]]++
		case !saysSharedAddress.MatchString(row["Error"]):
			t.Errorf("row %s is %q: %s", row["Source row"], status, row["Error"])
		}
	}
	if want := 1 + len(first); len(created) != want || p.posts()["client"] != want {
		t.Errorf("of %d addresses, these have keys that are created: %v; creating calls %v", want, created, p.posts())
	}
}

// TestRightsOfWorkers: a user who may write the ledger, and no more, cannot make the tables by which runs and workers
// meet, and is told so. Once they are there, the rights of docs/scale.md are enough for a run and a worker.
func TestRightsOfWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	s := newScene(t, stepThree, leads(2))
	owner, url := server.URL(), s.path("url")
	_, schema, _ := strings.Cut(owner, "search_path=")
	user := "worker_of_" + schema
	other := strings.Replace(owner, "postgres@", user+"@", 1)
	write(t, url, owner)
	s.environment("ledger: file:" + url)
	s.mustRun(0) // makes the ledger
	server.Exec(t, "CREATE ROLE "+user+" LOGIN")
	grant := func() {
		for _, rights := range []string{"USAGE ON SCHEMA " + schema, "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " + schema, "USAGE ON ALL SEQUENCES IN SCHEMA " + schema} {
			server.Exec(t, "GRANT "+rights+" TO "+user)
		}
		write(t, url, other)
	}
	grant()
	if p := claimsheet(t, "worker", "--environments", s.path("environments.yaml"), "--state", s.path("worker")); p.code == 0 || !strings.Contains(p.err, "[dispatch-rights]") {
		t.Fatalf("a worker without rights: exit code %d\n%s", p.code, p.err)
	}
	write(t, url, owner)
	s.mustRun(0, "--workers") // makes the tables; nothing is left to be sent
	grant()
	s.sheet(leads(4))
	s.workers(1)
	if p := s.mustRun(0, "--workers"); p.summary.Clients.Done != 2 {
		t.Errorf("summary %+v", p.summary.Clients)
	}
}
