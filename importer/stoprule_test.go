package importer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claimsheet/apiclient"
	"claimsheet/mapping"
)

var lifted = MaxFailures{Percent: 100}

// TestStopsAtVerdicts holds the rules about answers in a row.
func TestStopsAtVerdicts(t *testing.T) {
	verdict := func(effect apiclient.Effect, status int) observation {
		return observation{of: ofVerdict, effect: effect, status: status}
	}
	forbidden, unclear, created := verdict(apiclient.Refused, 403), verdict(apiclient.Uncertain, 0), verdict(apiclient.Created, 201)
	found := observation{of: ofAllowed}
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
		"four uncertain":             {none, slices.Repeat([]observation{unclear}, 4), "", 1},
		"six uncertain":              {none, slices.Repeat([]observation{unclear}, 6), "", 2},
		"uncertain with one between": {none, []observation{unclear, unclear, created, unclear}, "", 0},
		"another process ends":       {lifted, []observation{{of: ofEnd, stop: "a signal"}}, "a signal", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var r StopRules
			why := ""
			for _, o := range c.seen {
				why = r.observe(o, c.most)
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
				why = r.observe(observation{of: ofClient, bad: status != 0, status: status}, c.most)
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
		return r.observe(observation{of: of, kind: kind, effect: effect, bad: bad}, DefaultMaxFailures)
	}
	for n := 1; n <= 19; n++ {
		if n == 10 {
			see(ofFound, mapping.LinkStep, apiclient.Created, false)
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

// TestWhatMayStopIsSaidAtOnce: an observation that other processes hear of later never stops
// or pauses a run that goes on, also where the process has read the rules some time ago.
func TestWhatMayStopIsSaidAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r StopRules
		older := 0
		most := rapid.SampledFrom([]MaxFailures{{}, {Count: 2}, DefaultMaxFailures, lifted}).Draw(t, "most")
		seen := rapid.SliceOf(rapid.Custom(anObservation))
		n := rapid.SampledFrom([]int{0, 19, 30}).Draw(t, "clients before them")
		clients := rapid.SliceOfN(rapid.Custom(aClient), n, n)
		for _, o := range append(clients.Draw(t, "clients"), seen.Draw(t, "observations")...) {
			pauses, waits := r.Pauses, !o.mayStop(r.Through) || !o.mayStop(older)
			r.observe(o, most)
			if (r.Stop != "" || r.Pauses > pauses) && waits {
				t.Fatalf("%+v stops or pauses (%q)", o, r.Stop)
			}
			if r.Stop != "" {
				return
			}
			if rapid.Bool().Draw(t, "the rules are read") {
				older = r.Through
			}
		}
	})
}

func aClient(t *rapid.T) observation {
	status := rapid.SampledFrom([]int{0, 0, 0, 400, 422}).Draw(t, "status")
	return observation{of: ofClient, bad: status != 0, status: status}
}

func anObservation(t *rapid.T) observation {
	o := observation{
		of:     rapid.SampledFrom([]subject{ofVerdict, ofAllowed, ofStep, ofAnswer, ofFound, ofClient, ofEnd}).Draw(t, "of"),
		kind:   rapid.SampledFrom([]mapping.StepKind{mapping.ClientStep, mapping.ClaimStep}).Draw(t, "kind"),
		effect: rapid.SampledFrom([]apiclient.Effect{apiclient.Created, apiclient.Refused, apiclient.Uncertain, apiclient.NotSent}).Draw(t, "effect"),
		status: rapid.SampledFrom([]int{0, 201, 400, 403}).Draw(t, "status"),
		bad:    rapid.Bool().Draw(t, "bad"),
	}
	switch o.of {
	case ofFound:
		o.effect = apiclient.Created
	case ofEnd:
		o.stop = "a reason"
	case ofClient:
		o.bad = o.bad || o.status/100 == 4
	}
	return o
}
