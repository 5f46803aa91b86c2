package importer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

// TestGuardStopsAtVerdicts holds the rules about answers in a row.
func TestGuardStopsAtVerdicts(t *testing.T) {
	forbidden := apiclient.Verdict{Effect: apiclient.Refused, Status: 403}
	unclear := apiclient.Verdict{Effect: apiclient.Uncertain}
	created := apiclient.Verdict{Effect: apiclient.Created, Status: 201}
	lifted := MaxFailures{Percent: 100}
	for name, c := range map[string]struct {
		most     MaxFailures
		verdicts []apiclient.Verdict
		stop     string // part of the last verdict's error
		pause    bool   // at the last verdict
	}{
		"a stop":                     {lifted, []apiclient.Verdict{{Stop: true, Reason: "401", Hint: "renew the token"}}, "401; renew the token", false},
		"two 403":                    {MaxFailures{}, []apiclient.Verdict{forbidden, forbidden}, "", false},
		"three 403":                  {MaxFailures{}, []apiclient.Verdict{forbidden, forbidden, forbidden}, "403 Forbidden", false},
		"three 403, rules lifted":    {lifted, []apiclient.Verdict{forbidden, forbidden, forbidden}, "", false},
		"403 with one between":       {MaxFailures{}, []apiclient.Verdict{forbidden, forbidden, created, forbidden}, "", false},
		"two uncertain":              {MaxFailures{}, []apiclient.Verdict{unclear, unclear}, "", false},
		"three uncertain":            {lifted, []apiclient.Verdict{unclear, unclear, unclear}, "", true},
		"four uncertain":             {MaxFailures{}, []apiclient.Verdict{unclear, unclear, unclear, unclear}, "", false},
		"uncertain with one between": {MaxFailures{}, []apiclient.Verdict{unclear, unclear, created, unclear}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := guard{most: c.most}
			var stop error
			var pause bool
			for _, v := range c.verdicts {
				stop, pause = g.saw(v)
			}
			checkStop(t, stop, c.stop)
			if pause != c.pause {
				t.Errorf("pause %v, want %v", pause, c.pause)
			}
		})
	}
}

func checkStop(t *testing.T, stop error, want string) {
	t.Helper()
	switch {
	case want == "" && stop != nil:
		t.Errorf("it stops: %v", stop)
	case want != "" && (stop == nil || !strings.Contains(stop.Error(), want)):
		t.Errorf("it stops with %v, want %q", stop, want)
	}
}

// TestGuardStopsAtFailedClients holds --max-failures and the rule about the
// first clients: client by client, 0 is one who succeeded, else the 4xx.
func TestGuardStopsAtFailedClients(t *testing.T) {
	times := func(n, status int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = status
		}
		return list
	}
	for name, c := range map[string]struct {
		most    MaxFailures
		clients []int
		stop    string
	}{
		"one may not fail":           {MaxFailures{}, []int{422}, "1 clients failed, more than --max-failures 0"},
		"two may fail":               {MaxFailures{Count: 2}, []int{422, 0, 409}, ""},
		"a third does":               {MaxFailures{Count: 2}, []int{422, 0, 409, 400}, "3 clients failed"},
		"the first three alike":      {DefaultMaxFailures, times(3, 422), "each of the first 3 clients was refused with HTTP 422"},
		"the first three, otherwise": {DefaultMaxFailures, []int{422, 422, 400}, ""},
		"alike but for the first":    {DefaultMaxFailures, append([]int{0}, times(3, 422)...), ""},
		"a share of few":             {DefaultMaxFailures, append([]int{0}, times(18, 422)...), ""},
		"a share of enough":          {DefaultMaxFailures, append(times(15, 0), times(5, 422)...), "5 of 20 clients failed, more than --max-failures 20%"},
		"just the share":             {DefaultMaxFailures, append(times(16, 0), times(4, 422)...), ""},
		"no rule":                    {MaxFailures{Percent: 100}, times(40, 422), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := guard{most: c.most}
			var stop error
			for _, status := range c.clients {
				stop = g.finished(status != 0, status)
			}
			checkStop(t, stop, c.stop)
		})
	}
}

// TestGuardStopsAtDoubts stops at ten uncertain steps of a kind of which none was
// ever created, and at two answers in a row that hold what other steps have.
func TestGuardStopsAtDoubts(t *testing.T) {
	var g guard
	for n := 1; n <= 10; n++ {
		stop := g.ended(mapping.LinkStep, apiclient.Uncertain)
		if (stop != nil) != (n == 10) {
			t.Errorf("uncertain link %d: %v", n, stop)
		}
		if stop := g.ended(mapping.ClaimStep, apiclient.Uncertain); n < 10 && stop != nil {
			t.Errorf("uncertain claim %d: %v", n, stop)
		}
	}
	g.made(mapping.LinkStep)
	if stop := g.ended(mapping.LinkStep, apiclient.Uncertain); stop != nil {
		t.Errorf("a link was created: %v", stop)
	}
	if g.gave(mapping.ClaimStep, true) != nil || g.gave(mapping.ClaimStep, false) != nil || g.gave(mapping.ClaimStep, true) != nil {
		t.Error("one taken id stops the run")
	}
	if g.gave(mapping.ActivityStep, true) != nil || g.gave(mapping.ClaimStep, true) == nil {
		t.Error("two taken ids of a kind in a row do not stop the run")
	}
}

// TestCanary lets one client go first, the next one where nothing of the first
// reached the service, and all once it has answered for one.
func TestCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c canary
		first, second, third := &clientRun{}, &clientRun{}, &clientRun{}
		ctx := context.Background()
		c.enter(ctx, first)
		c.enter(ctx, first) // again, for its next step
		passed := make(chan *clientRun, 2)
		for _, e := range []*clientRun{second, third} {
			go func() {
				c.enter(ctx, e)
				passed <- e
			}()
		}
		synctest.Wait()
		if len(passed) != 0 {
			t.Fatal("another client is sent beside the first")
		}
		c.leave(first)
		synctest.Wait()
		if len(passed) != 1 {
			t.Fatalf("%d clients go on after one who was not reached, want 1", len(passed))
		}
		leader := <-passed
		leader.answered = true
		if !c.leads(leader) || c.leads(first) {
			t.Error("it is not known who leads")
		}
		c.leave(leader)
		synctest.Wait()
		if len(passed) != 1 {
			t.Error("the others wait though the service has answered")
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		(&canary{leader: first, ended: make(chan struct{})}).enter(ended, second)
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
		if g.open() || g.waiting() == "" {
			t.Error("the gate is open")
		}
		g.wait(t.Context())
		if asked != 4 || !g.open() || time.Since(start) == 0 {
			t.Errorf("asked %d times, open %v after %v", asked, g.open(), time.Since(start))
		}
	})
}
