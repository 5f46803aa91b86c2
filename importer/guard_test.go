package importer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

var lifted = MaxFailures{Percent: 100}

// see is StopRules.observe. An observation that other processes hear of later never stops or pauses a run that goes on.
func (r *StopRules) see(t *testing.T, o observation, most MaxFailures) (why string) {
	t.Helper()
	pauses, isSaid := r.Pauses, r.Stop != "" || o.mayStop(r.Through)
	why = r.observe(o, most)
	if (r.Stop != "" || r.Pauses > pauses) && !isSaid {
		t.Errorf("%+v stops or pauses (%q), and other processes hear of it later", o, r.Stop)
	}
	return why
}

// TestStopsAtVerdicts holds the rules about answers in a row.
func TestStopsAtVerdicts(t *testing.T) {
	verdict := func(effect apiclient.Effect, status int) observation {
		return observation{of: ofVerdict, effect: effect, status: status}
	}
	forbidden, unclear, created := verdict(apiclient.Refused, 403), verdict(apiclient.Uncertain, 0), verdict(apiclient.Created, 201)
	found := observation{of: ofLookUp}
	none := MaxFailures{}
	for name, c := range map[string]struct {
		most   MaxFailures
		seen   []observation
		stop   string // part of the reason at the last one
		pauses int
	}{
		"a stop":                     {lifted, []observation{{of: ofVerdict, stop: "401; renew the token"}}, "401; renew the token", 0},
		"two 403":                    {none, []observation{forbidden, forbidden}, "", 0},
		"three 403":                  {none, []observation{forbidden, forbidden, forbidden}, "403 Forbidden", 0},
		"three 403, rules lifted":    {lifted, []observation{forbidden, forbidden, forbidden}, "", 0},
		"403 with one between":       {none, []observation{forbidden, forbidden, created, forbidden}, "", 0},
		"403 with a look-up between": {none, []observation{forbidden, forbidden, found, forbidden}, "", 0},
		"two uncertain":              {none, []observation{unclear, unclear}, "", 0},
		"three uncertain":            {lifted, []observation{unclear, unclear, unclear}, "", 1},
		"six uncertain":              {none, slices.Repeat([]observation{unclear}, 6), "", 2},
		"uncertain with one between": {none, []observation{unclear, unclear, created, unclear}, "", 0},
		"another process ends":       {lifted, []observation{{of: ofEnd, stop: "a signal"}}, "a signal", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var r StopRules
			why := ""
			for _, o := range c.seen {
				why = r.see(t, o, c.most)
			}
			checkStop(t, why, c.stop)
			if r.Pauses != c.pauses || r.Stop != why {
				t.Errorf("pauses %d, want %d; Stop %q, want %q", r.Pauses, c.pauses, r.Stop, why)
			}
		})
	}
}

func checkStop(t *testing.T, why, want string) {
	t.Helper()
	if (want == "") != (why == "") || !strings.Contains(why, want) {
		t.Errorf("it stops with %q, want %q", why, want)
	}
}

// TestStopsAtFailedClients holds --max-failures and the rule about the first clients: client
// by client, 0 is one who succeeded, else the 4xx.
func TestStopsAtFailedClients(t *testing.T) {
	times := func(n, status int) []int { return slices.Repeat([]int{status}, n) }
	for name, c := range map[string]struct {
		most    MaxFailures
		clients []int
		stop    string
	}{
		"one may not fail":                {MaxFailures{}, []int{422}, "1 clients failed, more than --max-failures 0"},
		"two may fail":                    {MaxFailures{Count: 2}, []int{422, 0, 409}, ""},
		"a third does":                    {MaxFailures{Count: 2}, []int{422, 0, 409, 400}, "3 clients failed"},
		"the first three alike":           {DefaultMaxFailures, times(3, 422), "each of the first 3 clients was refused with HTTP 422"},
		"the first three, otherwise":      {DefaultMaxFailures, []int{422, 422, 400}, ""},
		"alike but for the first":         {DefaultMaxFailures, append([]int{0}, times(3, 422)...), ""},
		"a share of few":                  {DefaultMaxFailures, append([]int{0}, times(18, 422)...), ""},
		"a share of enough":               {DefaultMaxFailures, append(times(15, 0), times(5, 422)...), "5 of 20 clients failed, more than --max-failures 20%"},
		"enough with one that is through": {DefaultMaxFailures, append(append([]int{0}, times(5, 422)...), times(14, 0)...), "5 of 20 clients failed"},
		"just the share":                  {DefaultMaxFailures, append(times(16, 0), times(4, 422)...), ""},
		"no rule":                         {lifted, times(40, 422), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var r StopRules
			why := ""
			for _, status := range c.clients {
				why = r.see(t, observation{of: ofClient, bad: status != 0, status: status}, c.most)
			}
			checkStop(t, why, c.stop)
		})
	}
}

// TestStopsAtDoubts stops at ten uncertain steps of a kind between which none was created,
// and at two answers in a row that hold what other steps have.
func TestStopsAtDoubts(t *testing.T) {
	var r StopRules
	see := func(of subject, kind mapping.StepKind, effect apiclient.Effect, bad bool) string {
		return r.see(t, observation{of: of, kind: kind, effect: effect, bad: bad}, DefaultMaxFailures)
	}
	for n := 1; n <= 19; n++ {
		if n == 10 {
			see(ofStep, mapping.LinkStep, apiclient.Created, false)
		}
		if why := see(ofStep, mapping.LinkStep, apiclient.Uncertain, false); (why != "") != (n == 19) {
			t.Errorf("uncertain link %d: %q", n, why)
		}
		if why := see(ofStep, mapping.ClaimStep, apiclient.Uncertain, false); n < 10 && why != "" {
			t.Errorf("uncertain claim %d: %q", n, why)
		}
	}
	taken := func(kind mapping.StepKind, bad bool) string {
		return see(ofAnswer, kind, apiclient.Created, bad)
	}
	if taken(mapping.ClaimStep, true) != "" || taken(mapping.ClaimStep, false) != "" || taken(mapping.ClaimStep, true) != "" {
		t.Error("one taken id stops the run")
	}
	if taken(mapping.ActivityStep, true) != "" || taken(mapping.ClaimStep, true) == "" {
		t.Error("two taken ids of a kind in a row do not stop the run")
	}
}

// fakeRules are shared rules in memory, which several guards of one goroutine use.
type fakeRules struct {
	rules   StopRules
	changes int   // calls of Change
	err     error // of Change
}

func (f *fakeRules) Change(change func(*StopRules)) error {
	if f.changes++; f.err == nil {
		change(&f.rules)
	}
	return f.err
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
		_, _ = a.observe(observation{of: ofLookUp})
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

// TestStoppedWorker: a worker whose run was stopped gives no plans back.
func TestStoppedWorker(t *testing.T) {
	rules := &fakeRules{}
	var coordinator guard
	coordinator.share(rules)
	coordinator.announce(errors.New("it got a signal"))
	var worker Job
	ctx, cancel := context.WithCancelCause(t.Context())
	worker.ctx, worker.cancel = ctx, cancel
	worker.guard.share(rules)
	stop, _ := worker.guard.refresh()
	worker.stop(stop)
	if ctx.Err() == nil {
		t.Error("the worker goes on")
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

// TestCanary lets one client go first, the next one where nothing of the first
// reached the service, and all once it has answered for one.
func TestCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := canary{first: make(chan struct{}, 1)}
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
		if len(passed) != 1 || c.passed.Load() {
			t.Fatalf("%d clients go on after one who was not reached, want 1", len(passed))
		}
		leader := <-passed
		if !*leader || first {
			t.Error("it is not known who leads")
		}
		c.leave(leader, true)
		synctest.Wait()
		if len(passed) != 1 || !c.passed.Load() || second || third {
			t.Error("the others wait though the service has answered")
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		other := canary{first: make(chan struct{}, 1)}
		other.enter(ctx, &first)
		other.enter(ended, &second)
	})
}
