package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

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
	quiet := func() {
		t.Helper()
		if posts := s.mustRun(0).posts(); len(posts) > 0 {
			t.Errorf("the run sends %v", posts)
		}
		s.checkPromise()
	}
	said := s.must(0, "doctor")
	expect(t, said, "PostgreSQL", "there is no ledger yet")
	first := s.mustRun(0)
	if len(first.posts()) == 0 {
		t.Fatal("nothing was sent")
	}
	quiet()
	if _, err := os.Stat(s.path(".claimsheet/ledger.db")); err == nil {
		t.Error("there is a ledger in the state folder too")
	}
	expect(t, s.must(0, "history", "c1@example.com"), "done")
	s.must(0, "settle")
	s.report()
	said += s.must(0, "doctor") + first.out + first.err
	expect(t, said, "schema version 4")

	// To a file, into another database, and on from there.
	s.must(0, "copy-ledger", "--to", s.path("copy.db"))
	expect(t, s.must(2, "copy-ledger", "--to", s.path("copy.db")), "there is a file")
	url := filepath.Join(t.TempDir(), "url")
	write(t, url, pgtest.Shared(t).URL())
	expect(t, s.must(0, "copy-ledger", "--to", "file:"+url), "rows were counted and checked")
	expect(t, s.must(2, "copy-ledger", "--to", "file:"+url), "not empty")
	s.environment("ledger: file:" + url)
	quiet()
	kept := len(s.glob(".claimsheet/inputs/*"))
	expect(t, s.must(0, "history", "--yes", "--forget", "c2@example.com"), "another ledger has its copies there too")
	s.must(0, "history", "--purge", "--older-than", "1d", "--yes")
	if after := len(s.glob(".claimsheet/inputs/*")); after != kept {
		t.Errorf("of %d copies of sheets, which may be the other database's, %d are left", kept, after)
	}
	for _, text := range []string{"canary-password", "search_path", "postgres@"} {
		s.searchFor(said, text)
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

// besides are the flags of a run that works beside others: each has a state folder and a workbook of its own.
func (s *scene) besides(n int) []string {
	return []string{"--state", s.path(fmt.Sprint("state-", n)), "-o", s.path(fmt.Sprintf("out-%d.results.xlsx", n))}
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
	first := child(trialName, s.args(append(s.besides(1), "--concurrency", "1")...), "TRIAL_LEASE=2s", "TRIAL_PAUSE=before-write c2@example.com:client")
	first.start(t)
	t.Cleanup(first.kill)
	s.waitFor("the pause", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", first.Process.Pid))
		return strings.Contains(string(stat), ") T ")
	})
	s.mustRunTrial(trialName, 4, "TRIAL_LEASE=2s")
	if n := s.asked()[step]; n != 0 {
		t.Errorf("the second process has sent the client %d times, though the first may have", n)
	}
	s.mustRunTrial(trialName, 0, "TRIAL_LEASE=2s", "TRIAL_BELIEVE=1ms")
	first.signal(syscall.SIGCONT)
	code, said := first.end(t)
	things, word := s.service.Created()[step], s.said()[step]
	if code != 3 || len(things) != 2 || word.State != apitest.Done {
		t.Errorf("exit code %d, the client was created %d times, and the workbook says %+v\n%s", code, len(things), word, said)
	}
	for _, path := range s.glob("state-1/*.outcomes*") { // an answer whose step could not be looked up is there alone
		said += readText(t, path)
	}
	if n := unsaid(things, word, said); n > 0 {
		t.Errorf("%d of %v was not said; the workbook has %s\n%s", n, things, word.ID, said)
	}
}

// arrivals are the times at which requests come to a service, which asks one of them to wait for two seconds.
type arrivals struct {
	mu      sync.Mutex
	at      []time.Time
	refused time.Time     // when it asked one to wait
	told    time.Time     // when the pause was in the database
	held    time.Duration // how long the machine was too busy for a goroutine of this process, at most
	looked  chan struct{} // closed when the first look-up has come
}

// watch has a scene's service ask the request with a number to wait. schema is that of the ledger.
func (s *scene) watch(busy int, schema string) *arrivals {
	a := &arrivals{looked: make(chan struct{})}
	looked := sync.OnceFunc(func() { close(a.looked) })
	server := pgtest.Shared(s.t)
	go func() {
		for s.t.Context().Err() == nil {
			const pause = 5 * time.Millisecond
			slept := time.Now()
			time.Sleep(pause)
			a.mu.Lock()
			a.held = max(a.held, time.Since(slept)-pause)
			ask := !a.refused.IsZero() && a.told.IsZero()
			a.mu.Unlock()
			if ask && server.Exec(s.t, "SELECT max(state::json->>'PausedUntil') > '0001-01-02' FROM "+schema+".pace") == "t" {
				a.mu.Lock()
				a.told = time.Now()
				a.mu.Unlock()
			}
		}
	}()
	s.service.Play(func(c apitest.Call) apitest.Fault {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.at = append(a.at, time.Now())
		if c.Kind == "lookup" {
			looked()
		}
		if len(a.at) != busy {
			return apitest.Fault{}
		}
		a.refused = time.Now()
		return apitest.Busy(429, 2)
	})
	return a
}

// check holds that no second has seen more requests than the ceiling, and that none of sent lies in the pause. What a
// busy machine holds up arrives later, beside what comes then.
func (a *arrivals) check(t *testing.T, ceiling int, sent []time.Time) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	late := 2 + int(2*a.held.Seconds()*float64(ceiling))
	if most := mostInASecond(a.at); most > ceiling+late {
		t.Errorf("%d requests arrived in one second, with %d held up at most", most, late)
	}
	for _, at := range sent {
		if at.Sub(a.told) > 500*time.Millisecond+a.held && at.Sub(a.refused) < 1900*time.Millisecond {
			t.Errorf("a request was sent %v after the service asked for 2s", at.Sub(a.refused))
		}
	}
}

// TestRateOfSeveralProcesses: a run and a dry run that use one ledger in a database together never send more than the
// ceiling in a second, and a pause that one of them is asked for holds for both.
func TestRateOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const ceiling = 25
	s := newScene(t, stepThree, leads(5)) // as many as show that the ledger is not one that was lost
	schema := s.inDatabase(pgtest.Shared(t), fmt.Sprintf("limits: {requests_per_second: %d}", ceiling))
	s.mustRun(0)
	s.sheet(leads(18))
	a := s.watch(2*ceiling, schema)
	var both sync.WaitGroup
	for _, flags := range [][]string{{"--trace", s.path("dry-run.jsonl"), "--dry-run"}, {"--trace", s.path("run.jsonl")}} {
		if len(flags) == 2 {
			<-a.looked // the dry run has read the ledger: it would show a step that the run is sending as uncertain
		}
		both.Go(func() {
			if p := claimsheet(t, s.args(flags...)...); p.code != 0 {
				t.Errorf("%q: exit code %d\n%s", flags, p.code, p.err)
			}
		})
	}
	both.Wait()
	dry := departures(t, s.path("dry-run.jsonl"))
	departed := append(departures(t, s.path("run.jsonl")), dry...)
	slices.SortFunc(departed, time.Time.Compare)
	if most := mostInASecond(departed); most > ceiling || len(dry) < 10 {
		t.Errorf("%d requests left in one second; the dry run sent %d", most, len(dry))
	}
	a.check(t, ceiling, departed)
	s.checkPromise()
}

// TestRateOfWorkers: a run and its four workers together keep to the run's --rate in every second, though their
// environment names none, and none of them sends while the service has asked one for time.
func TestRateOfWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const ceiling = 30
	s := newScene(t, stepThree, leads(1))
	schema := s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 4}")
	s.mustRun(0)
	s.sheet(leads(30))
	a := s.watch(2*ceiling, schema)
	stop := s.workers(4)
	p := s.mustRun(0, "--workers", "--rate", fmt.Sprint(ceiling))
	stop()
	if by := posted(p.calls); len(by) < 4 {
		t.Errorf("creating calls by worker: %v; want them from several", by)
	}
	a.check(t, ceiling, a.at)
	s.checkPromise()
}

// departures are the times at which requests left, as a trace has them.
func departures(t *testing.T, path string) (at []time.Time) {
	t.Helper()
	for line := range bytes.Lines([]byte(readText(t, path))) {
		var e apiclient.Exchange
		must(t, json.Unmarshal(line, &e))
		at = append(at, e.Time)
	}
	return at
}

// mostInASecond is the largest number of times in any window of one second; they are in order.
func mostInASecond(at []time.Time) (most int) {
	for i, first := range at {
		n := slices.IndexFunc(at[i:], func(t time.Time) bool { return t.Sub(first) >= time.Second })
		if n < 0 {
			n = len(at) - i
		}
		most = max(most, n)
	}
	return most
}
