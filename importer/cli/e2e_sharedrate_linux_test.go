package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// arrivals are the times at which requests come to a service, which asks one of them to wait
// for two seconds.
type arrivals struct {
	mu      sync.Mutex
	at      []time.Time
	refused time.Time     // when it asked one to wait
	told    time.Time     // when the pause was in the database
	held    time.Duration // how long the machine was too busy for a goroutine of this process, at most
	looked  chan struct{} // closed when the first look-up has come
}

// watch has a scene's service ask the request with a number to wait. schema is that of the
// ledger.
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
		if c.Method == "GET" && !strings.Contains(c.Path, "templates") {
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

// check holds that no second has seen more requests than the ceiling, and that none of sent
// lies in the pause. What a busy machine holds up arrives later, beside what comes then.
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

// TestRateOfSeveralProcesses: a run and a dry run that use one ledger in a database
// together never send more than the ceiling in a second, and a pause that one of them is
// asked for holds for both.
func TestRateOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const ceiling = 25
	s := newScene(t, stepThree, leads(5)) // as many as show that the ledger is not one that was lost
	schema := s.inSchema(pgtest.Shared(t), fmt.Sprintf("limits: {requests_per_second: %d}", ceiling))
	s.mustRun(0)
	s.sheet(leads(18))
	a := s.watch(2*ceiling, schema)
	var both sync.WaitGroup
	for _, trace := range []string{"dry-run", "run"} {
		words := []string{"run", "-m", s.path("mapping.yaml"), "--trace", s.path(trace + ".jsonl"), s.path(s.input)}
		if trace == "dry-run" {
			words = slices.Insert(words, 1, "--dry-run")
		} else {
			<-a.looked // the dry run has read the ledger: it would show a step that the run is sending as uncertain
		}
		both.Go(func() {
			if code, out, diagnostics := s.claimsheet(words...); code != 0 {
				t.Errorf("%s: exit code %d\n%s%s", trace, code, out, diagnostics)
			}
		})
	}
	both.Wait()

	departed := append(departures(t, s.path("run.jsonl")), departures(t, s.path("dry-run.jsonl"))...)
	slices.SortFunc(departed, time.Time.Compare)
	if n := len(departures(t, s.path("dry-run.jsonl"))); n < 10 {
		t.Errorf("the dry run sent %d requests only", n)
	}
	if most := mostInASecond(departed); most > ceiling {
		t.Errorf("%d requests left in one second", most)
	}
	a.check(t, ceiling, departed)
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
}

// TestRateOfWorkers: a run and its four workers together keep to the run's --rate in every
// second, though their environment names none, and none of them sends while the service has
// asked one for time.
func TestRateOfWorkers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const ceiling = 30
	s := newScene(t, stepThree, leads(1))
	schema := s.inSchema(pgtest.Shared(t), "limits: {concurrency: 4}")
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
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
}

// departures are the times at which requests left, as a trace has them.
func departures(t *testing.T, path string) (at []time.Time) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	for line := range bytes.Lines(text) {
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
