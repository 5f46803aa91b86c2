package importer

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
)

// fakeRules are shared rules in memory. They travel as JSON, as the real ones do.
type fakeRules struct {
	mu      sync.Mutex
	data    []byte
	changes int   // calls of Change
	err     error // of Change
}

func (f *fakeRules) Change(change func(*StopRules)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes++
	if f.err != nil {
		return f.err
	}
	var rules StopRules
	if len(f.data) > 0 {
		if err := json.Unmarshal(f.data, &rules); err != nil {
			return err
		}
	}
	change(&rules)
	var err error
	f.data, err = json.Marshal(rules)
	return err
}

// TestGuardsShareRules: failures that two processes see count together, each once, and the
// one that does not see the last learns that the run stops.
func TestGuardsShareRules(t *testing.T) {
	rules := &fakeRules{}
	a, b := guard{most: MaxFailures{Count: 3}}, guard{most: MaxFailures{Count: 3}}
	a.share(rules)
	b.share(rules)
	finished := func(g *guard, failed bool) error {
		stop, _ := g.observe(observation{of: ofClient, bad: failed})
		return stop
	}
	for n := range 20 { // until a share of the clients counts, each is said at once
		if stop := finished(&b, false); stop != nil || rules.changes != n+1 {
			t.Fatalf("%d changes after client %d (%v)", rules.changes, n+1, stop)
		}
	}
	rules.changes = 0
	for range 5 { // none of these is said at once
		_, _ = a.observe(observation{of: ofAllowed})
		if stop := finished(&b, false); stop != nil {
			t.Fatalf("a client who succeeds stops the run: %v", stop)
		}
	}
	if rules.changes != 0 {
		t.Errorf("%d changes for what can wait", rules.changes)
	}
	for _, g := range []*guard{&a, &b, &a} {
		if stop := finished(g, true); stop != nil {
			t.Fatalf("it stops too early: %v", stop)
		}
	}
	if stop := finished(&b, true); stop == nil || !strings.Contains(stop.Error(), "4 clients failed") {
		t.Errorf("the fourth failure stops with %v", stop)
	}
	if stop, _ := a.refresh(); stop == nil {
		t.Error("the other process does not learn that the run stops")
	}
	if a.rules.Through != 29 {
		t.Errorf("%d clients are through, want 29", a.rules.Through)
	}
}

// TestGuardsPauseTogether: three uncertain answers in a row, wherever they came, pause every
// process once.
func TestGuardsPauseTogether(t *testing.T) {
	rules := &fakeRules{}
	var a, b guard
	a.share(rules)
	b.share(rules)
	unclear := observation{of: ofVerdict, effect: apiclient.Uncertain}
	for i, g := range []*guard{&a, &b, &a} {
		if _, pause := g.observe(unclear); pause != (i == 2) {
			t.Errorf("answer %d: pause %v", i+1, pause)
		}
	}
	for i, g := range []*guard{&a, &b, &b} {
		if _, pause := g.refresh(); pause != (i == 1) {
			t.Errorf("refresh %d: pause %v", i+1, pause)
		}
	}
}

// TestRowsSayTheSameOfASignal: the rows of a run that was stopped by a signal say the same,
// whether the coordinator or a worker had their clients.
func TestRowsSayTheSameOfASignal(t *testing.T) {
	rules := &fakeRules{}
	var coordinator guard
	coordinator.share(rules)
	coordinator.announce(errSignal)
	var worker Job
	ctx, cancel := context.WithCancelCause(t.Context())
	worker.ctx, worker.cancel = ctx, cancel
	worker.guard.share(rules)
	stop, _ := worker.guard.refresh()
	worker.stop(stop)
	stopped, signal := context.WithCancel(t.Context())
	signal()
	if got, want := worker.whyStopped(ctx), new(Job).whyStopped(stopped); got != want {
		t.Errorf("a worker's row says %q, the coordinator's %q", got, want)
	}
	if back, _ := worker.givesBack(); back {
		t.Error("the worker gives plans of a stopped run back, and does not record that they are not started")
	}
}

// TestGuardIsCutOff: a process that cannot reach the shared rules stops, says so to nobody,
// and does not wait for them again.
func TestGuardIsCutOff(t *testing.T) {
	rules := &fakeRules{err: errors.New("the server is away")}
	var g guard
	g.share(rules)
	for range 3 {
		if stop, _ := g.observe(observation{of: ofClient, bad: true, status: 422}); !errors.Is(stop, ErrCutOff) || !errors.Is(stop, rules.err) {
			t.Errorf("it stops with %v", stop)
		}
	}
	g.announce(g.cutOff)
	if rules.changes != 1 {
		t.Errorf("%d calls, want 1", rules.changes)
	}
}

// TestCanary lets one client go first, the next one where nothing of the first
// reached the service, and all once it has answered for one.
func TestCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCanary()
		var first, second, third bool // whether they go first
		ctx := context.Background()
		c.enter(ctx, &first)
		c.enter(ctx, &first) // again, for its next step
		passed := make(chan *bool, 2)
		for _, leads := range []*bool{&second, &third} {
			go func() {
				c.enter(ctx, leads)
				passed <- leads
			}()
		}
		synctest.Wait()
		if len(passed) != 0 {
			t.Fatal("another client is sent beside the first")
		}
		c.leave(&first, false)
		synctest.Wait()
		if len(passed) != 1 || c.passed() {
			t.Fatalf("%d clients go on after one who was not reached, want 1", len(passed))
		}
		leader := <-passed
		if !*leader || first {
			t.Error("it is not known who leads")
		}
		c.leave(leader, true)
		synctest.Wait()
		if len(passed) != 1 || !c.passed() || second || third {
			t.Error("the others wait though the service has answered")
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		other := newCanary()
		other.enter(ctx, &first)
		other.enter(ended, &second)
	})
}

// TestGate holds all workers back until the service answers; one of them asks.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		start, asked := time.Now(), 0
		for range 3 {
			go g.probe(t.Context(), func(context.Context) bool {
				asked++
				return asked == 4
			})
		}
		synctest.Wait()
		if g.open() {
			t.Error("the gate is open")
		}
		g.wait(t.Context())
		if asked != 4 || !g.open() || time.Since(start) == 0 {
			t.Errorf("asked %d times, open %v after %v", asked, g.open(), time.Since(start))
		}
	})
}
