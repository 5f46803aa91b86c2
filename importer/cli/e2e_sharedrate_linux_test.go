package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// TestRateOfSeveralProcesses: a run and a dry run that use one ledger in a database
// together never send more than the ceiling in a second, and a pause that one of them is
// asked for holds for both.
func TestRateOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	const ceiling = 25
	s := newScene(t, stepThree, leads(1))
	s.inDatabase(pgtest.Shared(t), fmt.Sprintf("limits: {requests_per_second: %d}", ceiling))
	s.mustRun(0)
	s.sheet(leads(14))
	var mu sync.Mutex
	var arrived []time.Time
	var refused time.Time
	s.service.Play(func(apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		arrived = append(arrived, time.Now())
		if len(arrived) != 2*ceiling {
			return apitest.Fault{}
		}
		refused = time.Now()
		return apitest.Busy(429, 2)
	})
	var both sync.WaitGroup
	for _, trace := range []string{"run", "dry-run"} {
		words := []string{"run", "-m", s.path("mapping.yaml"), "--trace", s.path(trace + ".jsonl"), s.path(s.input)}
		if trace == "dry-run" {
			words = slices.Insert(words, 1, "--dry-run")
		}
		both.Go(func() {
			code, out, diagnostics := s.claimsheet(words...)
			if code != 0 && !(code == 4 && trace == "dry-run") { // it may see a step that the run is sending
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
	if most := mostInASecond(arrived); most > ceiling+2 { // what a busy machine holds up arrives later
		t.Errorf("%d requests arrived in one second", most)
	}
	for _, at := range departed {
		if since := at.Sub(refused); since > 500*time.Millisecond && since < 1900*time.Millisecond {
			t.Errorf("a request left %v after the service asked for 2s", since)
		}
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
}

// TestRateOfWorkers: a run and its four workers together keep to the run's --rate in every
// second, though their environment names none, and none of them sends while the service has
// asked one for time.
func TestRateOfWorkers(t *testing.T) {
	t.Parallel()
	const ceiling = 30
	s := newScene(t, stepThree, leads(1))
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 4}")
	s.mustRun(0)
	s.sheet(leads(30))
	var mu sync.Mutex
	var arrived []time.Time
	var refused time.Time
	s.service.Play(func(apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		arrived = append(arrived, time.Now())
		if len(arrived) != 2*ceiling {
			return apitest.Fault{}
		}
		refused = time.Now()
		return apitest.Busy(429, 2)
	})
	stop := s.workers(4)
	p := s.mustRun(0, "--workers", "--rate", fmt.Sprint(ceiling))
	stop()
	if by := posted(p.calls); len(by) < 4 {
		t.Errorf("creating calls by worker: %v; want them from several", by)
	}
	if most := mostInASecond(arrived); most > ceiling+2 { // what a busy machine holds up arrives later
		t.Errorf("%d requests arrived in one second", most)
	}
	for _, at := range arrived {
		if since := at.Sub(refused); since > 500*time.Millisecond && since < 1900*time.Millisecond {
			t.Errorf("a request came %v after the service asked for 2s", since)
		}
	}
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
