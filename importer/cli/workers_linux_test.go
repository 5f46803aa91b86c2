package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// worker starts a worker for a scene, whose requests have the header X-Worker with its number. Its environments file
// has new in the place of old.
func (s *scene) worker(number int, old, new string, flags ...string) *background {
	s.t.Helper()
	own := s.path(fmt.Sprintf("worker-%d.yaml", number))
	text := strings.Replace(readText(s.t, s.path("environments.yaml")), "    base_url:", fmt.Sprintf("    headers: {X-Worker: %d}\n    base_url:", number), 1)
	write(s.t, own, strings.Replace(text, old, new, 1))
	w := inBackground(s.t, s.pace, append([]string{"worker", "--environments", own, "--state", s.path(fmt.Sprint("worker-", number))}, flags...)...)
	s.t.Cleanup(func() {
		if code := w.stop(); code != 130 {
			s.t.Errorf("worker %d: exit code %d\n%s", number, code, w.err.String())
		}
	})
	return w
}

// runBeside begins a run with workers.
func (s *scene) runBeside(flags ...string) <-chan played {
	done := make(chan played, 1)
	go func() { done <- s.run(append(flags, "--workers")...) }()
	return done
}

// runTogether is a run with workers. Of a worker's calls only those for the templates are answered before n workers
// have begun plans, so that all take part; how many requests came in which time is counted from then on. schema is where
// they meet.
func (s *scene) runTogether(n int, schema string, flags ...string) (p played, requests int, took time.Duration) {
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
		there = there || server.Exec(s.t, fmt.Sprintf("SELECT to_regclass('%s.river_job') IS NOT NULL", schema)) == "t" &&
			server.Exec(s.t, fmt.Sprintf("SELECT count(*) > 10 FROM %s.river_job", schema)) == "t"
		return len(done) > 0 || there &&
			server.Exec(s.t, fmt.Sprintf("SELECT count(DISTINCT attempted_by[array_upper(attempted_by, 1)]) >= %d FROM %s.river_job WHERE state = 'running'", n, schema)) == "t"
	})
	before, began := len(s.service.Calls()), time.Now()
	answer()
	p = <-done
	return p, len(s.service.Calls()) - before, time.Since(began)
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

// allDone expects that a run with workers has come to a number of clients.
func (s *scene) allDone(p played, clients int) {
	s.t.Helper()
	if p.code != 0 || p.summary.Clients.Done+p.summary.Clients.Unchanged != clients {
		s.t.Errorf("exit code %d, clients %+v\n%s", p.code, p.summary.Clients, p.err)
	}
	s.checkPromise()
}

// TestWorkersCarryOut: workers create what a run asks for, each once; the first client goes ahead from the run itself.
// All processes together keep to the run's --rate and have at most six connections each. The run's workbook has all ids,
// nothing of the hand-over is left in the database, and a second run has nothing to hand over. Beside workers that wait
// for a run, what reads the ledger goes on, and what must have it alone does not.
func TestWorkersCarryOut(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients, workers, each, ceiling = 20, 2, 6, 40
	s := newScene(t, stepThree, append(leads(clients), lead(3, "second"), lead(7, "second")))
	server := pgtest.Shared(t)
	url := server.URL()
	_, schema, _ := strings.Cut(url, "search_path=")
	s.environment("limits: {concurrency: 4}\n" + fmt.Sprintf("ledger: %q", url+"&application_name=of-"+schema))
	var all []*background
	for i := range workers {
		all = append(all, s.worker(i, "", "", "--concurrency", "4"))
	}
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
	p, requests, took := s.runTogether(workers, schema, "--rate", fmt.Sprint(ceiling))
	close(ended)
	if n := <-most; n < 3*(1+workers) || n > each*(1+workers) {
		t.Errorf("%d connections, want at most %d", n, each*(1+workers))
	}
	s.allDone(p, clients)
	by, r := posted(p.calls), p.summary.Requests
	if by["0"] == 0 || by["1"] == 0 || by[""] == 0 || by[""] > 10 || r.Client+r.Claim+r.Activity+r.Link != by[""]+by["0"]+by["1"] {
		t.Errorf("creating calls by worker: %v; want most of them from both workers; the summary counts %+v", by, r)
	}
	if most := ceiling + int(took.Seconds()*ceiling); requests > most {
		t.Errorf("%d requests came in %v, and the rate is %d in a second", requests, took, ceiling)
	}
	for _, row := range s.results() {
		if row["contactId"] == "" || row["Import status"] != "done" {
			t.Errorf("row %s: %s %s", row["Source row"], row["Import status"], row["Error"])
		}
	}
	if n := server.Exec(t, fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]s.river_job) + (SELECT count(*) FROM %[1]s.dispatched_runs)", schema)); n != "0" {
		t.Errorf("%s rows of the hand-over are left in the database", n)
	}
	if again := s.mustRun(0, "--workers"); len(again.steps()) > 0 || again.summary.Clients.Unchanged != clients {
		t.Errorf("a second run sends %v; %+v", again.steps(), again.summary.Clients)
	}
	s.must(0, "settle")
	s.report()
	s.waitFor("the refusal because of workers, which open the ledger again when a run has ended", func() bool {
		return claimsheet(t, "history", "-m", s.path("mapping.yaml"), "--purge", "--older-than", "1d", "--yes").code == 5
	})
	for _, w := range all {
		w.stop()
		expect(t, w.err.String(), "works for run")
	}
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
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

// TestWorkerThatDoesNotFit: a worker whose environments file says otherwise where answers have an id, what they mean,
// or where the service is, says so and sends nothing for a run. One that has the run's environment carries the run out,
// and what the other one had begun.
func TestWorkerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const clients = 20
	for name, c := range map[string]struct{ old, new, says string }{
		"wire":     {"/claimId", "/claim/id", "the environment “uat” of this worker is not that of the run"},
		"base_url": {"base_url: http://127.0.0.1", "base_url: http://127.0.0.2", "its environment “uat” is at http://127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(clients))
			s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 1}\nwire: {claim_id: /claimId}\nerrors: [{status: 418, means: stop}]")
			unfit := s.worker(0, c.old, c.new, "--concurrency", "1")
			done := s.runBeside()
			unfit.line(&unfit.err, "this worker cannot work for it")
			s.worker(1, "", "")
			p := <-done
			s.allDone(p, clients)
			for _, call := range p.calls {
				if call.Header.Get("X-Worker") == "0" {
					t.Errorf("the worker that does not fit sends %s %s", call.Method, call.Path)
				}
			}
			unfit.stop()
			expect(t, unfit.err.String(), c.says)
			if strings.Contains(unfit.err.String(), "works for run ") || posted(p.calls)["1"] < 60 {
				t.Errorf("creating calls by worker: %v\n%s", posted(p.calls), unfit.err.String())
			}
		})
	}
}

// TestContactOfTheGroupInDatabase: a contact who is a client of the sheet too, or has a client's address, belongs to the
// client's group, whose locks the process has already.
func TestContactOfTheGroupInDatabase(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"E-mail": "done changed", "First name": "done failed"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			first, second := lead(1, "A-1"), lead(2, "A-2")
			first[4], second[4] = "c2@example.com", nil // column Address
			s := newScene(t, "name: partners\napi: v2"+strings.Replace(clientPart, "key: E-mail", "key: "+key, 1)+`
contacts: [{id: partner, when: has("Address"), key: Address, lookup: {email: Address}, fields: {email: {column: Address, type: Email}}}]
claims: [{key: Agreement no, name: "Loan {Agreement no}", claimants: [client, partner]}]
`, [][]any{first, second})
			s.inDatabase(pgtest.Shared(t), "")
			s.run("--max-failures", "100%")
			var got []string
			for _, row := range s.results() {
				got = append(got, row["Import status"])
				if strings.Contains(row["Error"], "another process") {
					t.Errorf("row %s: %s", row["Source row"], row["Error"])
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("the rows are %v, want %s", got, want)
			}
		})
	}
}

// inDatabase gives the scene's environment a ledger in a schema of a database. more are further lines of its entry.
func (s *scene) inDatabase(server *pgtest.Server, more string) (schema string) {
	s.t.Helper()
	file, url := filepath.Join(s.t.TempDir(), "url"), server.URL()
	write(s.t, file, url+"&password=canary-password")
	s.environment(more + "\nledger: file:" + file)
	_, schema, _ = strings.Cut(url, "search_path=")
	return schema
}

// TestLedgerInDatabase: every command works with a ledger in a database, a second night is quiet, and no file, line or
// workbook has the url.
func TestLedgerInDatabase(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	said := s.must(0, "doctor")
	expect(t, said, "PostgreSQL", "there is no ledger yet")
	first := s.mustRun(0)
	if len(first.posts()) == 0 {
		t.Fatal("nothing was sent")
	}
	s.quiet()
	s.checkPromise()
	if _, err := os.Stat(s.path(".claimsheet/ledger.db")); err == nil {
		t.Error("there is a ledger in the state folder too")
	}
	expect(t, s.must(0, "history", "c1@example.com"), "done")
	s.must(0, "settle")
	s.report()
	said += s.must(0, "doctor") + first.out + first.err
	expect(t, said, "schema version 7")

	// To a file, into another database, and on from there.
	s.must(0, "copy-ledger", "--to", s.path("copy.db"))
	expect(t, s.must(2, "copy-ledger", "--to", s.path("copy.db")), "there is a file")
	url := filepath.Join(t.TempDir(), "url")
	write(t, url, pgtest.Shared(t).URL())
	expect(t, s.must(0, "copy-ledger", "--to", "file:"+url), "steps; its rows were counted and checked")
	expect(t, s.must(2, "copy-ledger", "--to", "file:"+url), "not empty")
	s.environment("ledger: file:" + url)
	s.quiet()
	s.checkPromise()
	other, old := s.path(".claimsheet/inputs/other.xlsx"), time.Now().AddDate(0, 0, -3)
	write(t, other, "of a run that another ledger knows")
	must(t, os.Chtimes(other, old, old))
	expect(t, s.must(0, "history", "--yes", "--forget", "c2@example.com"), "kept copies of sheets")
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
	if left := s.glob(".claimsheet/inputs/*"); !slices.Equal(left, []string{other}) {
		t.Errorf("the copies that are left are %q", left)
	}
	for _, text := range []string{"canary-password", "search_path", "postgres@"} {
		s.eachFile("", func(path string, data []byte) {
			if strings.Contains(said+string(data), text) {
				t.Errorf("%q is printed, or in %s", text, path)
			}
		})
	}
}

// TestLedgerElsewhere: a run that finds no ledger where it looks, in a state folder that belongs to a ledger in another
// place, or whose database was made new, creates nothing, and neither does its dry run promise to.
func TestLedgerElsewhere(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	server := pgtest.Shared(t)
	database := func() string { return fmt.Sprintf("ledger: %q", server.URL()) }
	for name, moved := range map[string][2]string{
		"from a file to a database":    {"", database()},
		"from a database to a file":    {database(), ""},
		"from one database to another": {database(), database()},
		"the database is gone":         {database(), "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, stepThree, leads(2))
			s.environment(moved[0])
			s.mustRun(0)
			_, schema, _ := strings.Cut(strings.Trim(moved[0], `"`), "search_path=")
			says := []string{"belongs to a ledger in another place", "--accept ledger-missing"}
			if moved[1] == "gone" {
				server.Exec(t, "DROP SCHEMA "+schema+" CASCADE")
				says = []string{"the ledger is gone"}
			} else {
				s.environment(moved[1])
			}
			for _, flags := range [][]string{{"--dry-run"}, nil} {
				refused := s.mustRun(3, flags...)
				expect(t, refused.err, says...)
				if len(refused.posts()) > 0 {
					t.Errorf("%v: sent %v", flags, refused.posts())
				}
			}
			if moved[1] == "gone" && server.Exec(t, "SELECT count(*) FROM pg_namespace WHERE nspname = '"+schema+"'") != "0" {
				t.Error("the refused run has made a new ledger")
			}
		})
	}
}

// TestOneStateFolder: two runs that would share a state folder do not work at the same time, and the message says what
// to do.
func TestOneStateFolder(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	s.service.Play(apitest.Once(onStep("client c1@example.com"), apitest.Fault{Then: func() {
		p := claimsheet(t, s.args("-o", s.path("other.xlsx"))...)
		if expect(t, p.err, "another run holds the ledger", "--state"); p.code != 5 {
			t.Errorf("exit code %d", p.code)
		}
	}}))
	s.mustRun(0)
}

// TestCreatedTwiceIsSaid: a process is paused when it is about to send a client, until another one has found nobody,
// waited for as long as it must, and created the client. When it goes on, its request cannot be held back any more, and
// it says what it has created, or keeps the answer in its journal.
func TestCreatedTwiceIsSaid(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const step = "client c2@example.com"
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	first := child(trialName, s.args("--state", s.path("state-1"), "-o", s.path("out-1.results.xlsx"), "--concurrency", "1"), "TRIAL_LEASE=2s", "TRIAL_PAUSE=c2@example.com")
	first.start(t)
	t.Cleanup(first.kill)
	s.waitFor("the pause", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", first.Process.Pid))
		return strings.Contains(string(stat), ") T ")
	})
	if code, said := s.runTrial(trialName, "TRIAL_LEASE=2s"); code != 4 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	if n := s.asked()[step]; n != 0 {
		t.Errorf("the second process has sent the client %d times, though the first may have", n)
	}
	if code, said := s.runTrial(trialName, "TRIAL_LEASE=2s", "TRIAL_BELIEVE=1ms"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	first.signal(syscall.SIGCONT)
	code, said := first.end(t)
	things, word := s.service.Created()[step], s.said()[step]
	if code != 3 || len(things) != 2 || word.state != "done" {
		t.Errorf("exit code %d, the client was created %d times, and the workbook says %+v\n%s", code, len(things), word, said)
	}
	for _, path := range s.glob("state-1/*.outcomes*") { // an answer whose step could not be looked up is there alone
		said += readText(t, path)
	}
	if n := unsaid(things, word, said); n > 0 {
		t.Errorf("%d of %v was not said; the workbook has %s\n%s", n, things, word.id, said)
	}
}

var benchEach = flag.Int("in-flight-each", 8, "calls of each process of BenchmarkWorkers in flight at the service")

// benchWay is a way to have a sheet carried out.
type benchWay struct {
	name     string
	database bool // the ledger is in a database, not in a file
	workers  int  // 0: the run sends everything itself
}

var benchWays = []benchWay{{name: "file"}, {"database", true, 0}, {"workers=1", true, 1}, {"workers=2", true, 2}, {"workers=4", true, 4}}

// BenchmarkWorkers measures how fast one, two and four workers carry a run out, against a run that sends everything
// itself with a ledger in a file, and beside it one with a ledger in a database. Runs and workers are processes of the
// built program, and so is the service of BenchmarkRun, which waits 20 or 5 ms. Each process that sends has as many
// calls in flight, so that four workers have four times as many as one. The files are on the disk of the database,
// which waits for it as the file does.
//
// A round measures all ways one after the other, every second one backwards. Metrics are the medians of the rounds:
// ratio is the time of the run with a file over that of the way, in the same round; cpu-us/call is the processor time
// of the run and its workers for each call, and database-cpu-us/call the database's; database-bytes/step is by how much
// the database grows, and connections/process how many each has at most. A run is measured from its start to its
// workbook; its workers have been started before and wait for it, and have made the tables.
//
//	go test ./importer/cli -run '^$' -bench '^BenchmarkWorkers$' -benchtime 1x -timeout 1h -clients 2000 -rounds 3
func BenchmarkWorkers(b *testing.B) {
	server := pgtest.Own(b)
	program := programName
	sheet := filepath.Join(b.TempDir(), "leads.xlsx")
	writeBenchSheet(b, sheet, 0, *benchClients)
	for _, delay := range []string{"20ms", "5ms"} {
		b.Run(delay, func(b *testing.B) {
			rounds := make([]map[string]benchWork, *benchRounds)
			for i := range rounds {
				ways := slices.Clone(benchWays)
				if i%2 == 1 {
					slices.Reverse(ways)
				}
				rounds[i] = map[string]benchWork{}
				for _, way := range ways {
					rounds[i][way.name] = way.measure(b, server, program, sheet, delay)
				}
			}
			for _, way := range benchWays {
				b.Run(way.name, func(b *testing.B) { way.report(b, rounds) })
			}
		})
	}
}

// benchWork is what a way took.
type benchWork struct {
	benchTime                 // the processor time is that of all client processes
	database    time.Duration // processor time
	bytes       float64       // by how much the database has grown
	connections float64       // of all processes, the most at any time
}

// report reports the medians of a way's rounds.
func (w benchWay) report(b *testing.B, rounds []map[string]benchWork) {
	for i, round := range rounds {
		b.Logf("round %d: %s, %s of processor, %s of the database's", i+1, round[w.name].wall, round[w.name].processor, round[w.name].database)
	}
	calls := float64(benchCalls * *benchClients)
	metric := func(name string, of func(file, way benchWork) float64) {
		values := make([]float64, len(rounds))
		for i, round := range rounds {
			values[i] = of(round[benchWays[0].name], round[w.name])
		}
		slices.Sort(values)
		b.ReportMetric((values[(len(values)-1)/2]+values[len(values)/2])/2, name)
	}
	metric("ns/op", func(_, way benchWork) float64 { return float64(way.wall.Nanoseconds()) })
	metric("calls/s", func(_, way benchWork) float64 { return calls / way.wall.Seconds() })
	metric("ratio", func(file, way benchWork) float64 { return file.wall.Seconds() / way.wall.Seconds() })
	metric("cpu-us/call", func(_, way benchWork) float64 { return float64(way.processor.Microseconds()) / calls })
	metric("database-bytes/step", func(_, way benchWork) float64 { return way.bytes / calls })
	metric("connections/process", func(_, way benchWork) float64 { return way.connections / float64(1+w.workers) })
	metric("database-cpu-us/call", func(_, way benchWork) float64 { return float64(way.database.Microseconds()) / calls })
}

// measure has the sheet carried out with a service, a folder and a ledger of its own.
func (w benchWay) measure(b *testing.B, server *pgtest.Server, program, sheet, delay string) (work benchWork) {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "claimsheet-bench-") // where the server has its files; b.TempDir may be in memory
	must(b, err)
	defer os.RemoveAll(dir)
	service, end := startBenchService(b, delay)
	defer end()
	entry := fmt.Sprintf("base_url: %q", service)
	if w.database {
		entry += fmt.Sprintf(", ledger: %q", server.URL())
	}
	environments := filepath.Join(dir, "environments.yaml")
	write(b, filepath.Join(dir, "mapping.yaml"), benchMapping)
	write(b, environments, "default: here\nenvironments: {here: {"+entry+"}}\n")
	run := []string{"run", "-m", filepath.Join(dir, "mapping.yaml"), "--json", "--concurrency", strconv.Itoa(*benchEach), "-o", filepath.Join(dir, "results.xlsx")}

	server.Exec(b, "CHECKPOINT") // none of what was before is written meanwhile
	stops := make([]func() time.Duration, w.workers)
	for i := range stops {
		stops[i] = startBenchWorker(b, program, environments, filepath.Join(dir, fmt.Sprint("worker-", i)))
	}
	if w.workers > 0 {
		run = append(run, "--workers")
	}
	before, size := databaseTime(b, server), numberOf(b, server, databaseSize)
	ended, counted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(counted)
		for {
			work.connections = max(work.connections, numberOf(b, server, "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"))
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	work.benchTime = timed(b, program, append(run, sheet)...)
	close(ended)
	<-counted
	for _, stop := range stops {
		work.processor += stop()
	}
	work.database, work.bytes = databaseTime(b, server)-before, numberOf(b, server, databaseSize)-size
	return work
}

const databaseSize = "SELECT pg_database_size(current_database())"

// numberOf is the number that a query returns.
func numberOf(b *testing.B, server *pgtest.Server, query string) float64 {
	b.Helper()
	n, err := strconv.ParseFloat(server.Exec(b, query), 64)
	if err != nil {
		b.Error(err)
	}
	return n
}

// startBenchWorker starts a worker and waits until it works. stop ends it, at the latest
// with the benchmark, and returns its processor time since then.
func startBenchWorker(b *testing.B, program, environments, state string) (stop func() time.Duration) {
	b.Helper()
	cmd := exec.Command(program, "worker", "--environments", environments, "--state", state, "--concurrency", strconv.Itoa(*benchEach))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // it ends with the benchmark, however that ends
	must(b, cmd.Start())
	var started time.Duration
	stop = sync.OnceValue(func() time.Duration {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
			b.Errorf("a worker: %s\n%s", cmd.ProcessState, &said)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() - started
	})
	b.Cleanup(func() { stop() })
	for range 3000 {
		if _, err := os.Stat(filepath.Join(state, "worker.alive")); err == nil {
			started, _ = timeOf(b, strconv.Itoa(cmd.Process.Pid))
			return stop
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("a worker does not start")
	return nil
}

// databaseTime is the processor time that the processes of a server have used, those that have ended included.
func databaseTime(b *testing.B, server *pgtest.Server) (used time.Duration) {
	b.Helper()
	for pid := range strings.FieldsSeq(server.Exec(b, `SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1) UNION SELECT pid::text FROM pg_stat_activity`)) {
		own, children := timeOf(b, pid)
		used += own + children
	}
	return used
}

// timeOf is the processor time that a process has used, and that of those that it has
// started and that have ended; 0 for one that has ended itself.
func timeOf(b *testing.B, pid string) (own, children time.Duration) {
	b.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0
	}
	const user, system, childUser, childSystem = 11, 12, 13, 14 // behind the name
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	used := func(field int) time.Duration {
		n, err := strconv.Atoi(fields[field])
		must(b, err)
		return time.Duration(n) * 10 * time.Millisecond
	}
	return used(user) + used(system), used(childUser) + used(childSystem)
}
