package stoprule_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/apiclient"
	"claimsheet/importer/stoprule"
	"claimsheet/mapping"
)

var lifted = stoprule.MaxFailures{Percent: 100}

// TestStopsAtVerdicts holds the rules about answers in a row.
func TestStopsAtVerdicts(t *testing.T) {
	verdict := func(effect apiclient.Effect, status int) stoprule.Observation {
		return stoprule.Observation{Of: stoprule.Verdict, Effect: effect, Status: status}
	}
	forbidden, unclear, created := verdict(apiclient.Refused, 403), verdict(apiclient.Uncertain, 0), verdict(apiclient.Created, 201)
	found := stoprule.Observation{Of: stoprule.Allowed}
	none := stoprule.MaxFailures{}
	for name, c := range map[string]struct {
		most   stoprule.MaxFailures
		seen   []stoprule.Observation
		stop   string // part of the reason at the last one
		pauses int
	}{
		"a stop":                     {lifted, []stoprule.Observation{{Of: stoprule.Verdict, Stop: "401; renew the token"}}, "401; renew the token", 0},
		"two 403":                    {none, []stoprule.Observation{forbidden, forbidden}, "", 0},
		"three 403":                  {none, []stoprule.Observation{forbidden, forbidden, forbidden}, "403 Forbidden", 0},
		"three 403, rules lifted":    {lifted, []stoprule.Observation{forbidden, forbidden, forbidden}, "", 0},
		"403 with one between":       {none, []stoprule.Observation{forbidden, forbidden, created, forbidden}, "", 0},
		"403 with a look-up between": {none, []stoprule.Observation{forbidden, forbidden, found, forbidden}, "", 0},
		"two uncertain":              {none, []stoprule.Observation{unclear, unclear}, "", 0},
		"three uncertain":            {lifted, []stoprule.Observation{unclear, unclear, unclear}, "", 1},
		"four uncertain":             {none, slices.Repeat([]stoprule.Observation{unclear}, 4), "", 1},
		"six uncertain":              {none, slices.Repeat([]stoprule.Observation{unclear}, 6), "", 2},
		"uncertain with one between": {none, []stoprule.Observation{unclear, unclear, created, unclear}, "", 0},
		"another process ends":       {lifted, []stoprule.Observation{{Of: stoprule.Ended, Stop: "a signal"}}, "a signal", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var r stoprule.Rules
			why := ""
			for _, o := range c.seen {
				why = r.Observe(o, c.most)
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
		most    stoprule.MaxFailures
		clients []int
		stop    string
	}{
		"one may not fail":                {stoprule.MaxFailures{}, []int{422}, "1 clients failed, more than --max-failures 0"},
		"two may fail":                    {stoprule.MaxFailures{Count: 2}, []int{422, 0, 409}, ""},
		"a third does":                    {stoprule.MaxFailures{Count: 2}, []int{422, 0, 409, 400}, "3 clients failed"},
		"the first three alike":           {stoprule.Default, times(3, 422), "each of the first 3 clients was refused with HTTP 422"},
		"the first three, otherwise":      {stoprule.Default, []int{422, 422, 400}, ""},
		"alike but for the first":         {stoprule.Default, append([]int{0}, times(3, 422)...), ""},
		"a share of few":                  {stoprule.Default, append([]int{0}, times(18, 422)...), ""},
		"a share of enough":               {stoprule.Default, append(times(15, 0), times(5, 422)...), "5 of 20 clients failed, more than --max-failures 20%"},
		"enough with one that is through": {stoprule.Default, append(append([]int{0}, times(5, 422)...), times(14, 0)...), "5 of 20 clients failed"},
		"just the share":                  {stoprule.Default, append(times(16, 0), times(4, 422)...), ""},
		"no rule":                         {lifted, times(40, 422), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var r stoprule.Rules
			why := ""
			for _, status := range c.clients {
				why = r.Observe(stoprule.Observation{Of: stoprule.Client, Bad: status != 0, Status: status}, c.most)
			}
			checkStop(t, why, c.stop)
		})
	}
}

// TestStopsAtDoubts stops at ten uncertain steps of a kind of which none was ever created,
// and at two answers in a row that hold what other steps have.
func TestStopsAtDoubts(t *testing.T) {
	var r stoprule.Rules
	see := func(of stoprule.Subject, kind mapping.StepKind, effect apiclient.Effect, bad bool) string {
		return r.Observe(stoprule.Observation{Of: of, Kind: kind, Effect: effect, Bad: bad}, stoprule.Default)
	}
	for n := 1; n <= 10; n++ {
		if why := see(stoprule.Step, mapping.LinkStep, apiclient.Uncertain, false); (why != "") != (n == 10) {
			t.Errorf("uncertain link %d: %q", n, why)
		}
		if why := see(stoprule.Step, mapping.ClaimStep, apiclient.Uncertain, false); n < 10 && why != "" {
			t.Errorf("uncertain claim %d: %q", n, why)
		}
	}
	see(stoprule.Found, mapping.LinkStep, apiclient.Created, false)
	if why := see(stoprule.Step, mapping.LinkStep, apiclient.Uncertain, false); why != "" {
		t.Errorf("a link was created: %q", why)
	}
	taken := func(kind mapping.StepKind, bad bool) string {
		return see(stoprule.Answer, kind, apiclient.Created, bad)
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
		var r stoprule.Rules
		older := 0
		most := rapid.SampledFrom([]stoprule.MaxFailures{{}, {Count: 2}, stoprule.Default, lifted}).Draw(t, "most")
		seen := rapid.SliceOf(rapid.Custom(observation))
		n := rapid.SampledFrom([]int{0, 19, 30}).Draw(t, "clients before them")
		clients := rapid.SliceOfN(rapid.Custom(client), n, n)
		for _, o := range append(clients.Draw(t, "clients"), seen.Draw(t, "observations")...) {
			pauses, waits := r.Pauses, !o.MayStop(r.Through) || !o.MayStop(older)
			r.Observe(o, most)
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

func client(t *rapid.T) stoprule.Observation {
	status := rapid.SampledFrom([]int{0, 0, 0, 400, 422}).Draw(t, "status")
	return stoprule.Observation{Of: stoprule.Client, Bad: status != 0, Status: status}
}

func observation(t *rapid.T) stoprule.Observation {
	o := stoprule.Observation{
		Of:     rapid.SampledFrom([]stoprule.Subject{stoprule.Verdict, stoprule.Allowed, stoprule.Step, stoprule.Answer, stoprule.Found, stoprule.Client, stoprule.Ended}).Draw(t, "of"),
		Kind:   rapid.SampledFrom([]mapping.StepKind{mapping.ClientStep, mapping.ClaimStep}).Draw(t, "kind"),
		Effect: rapid.SampledFrom([]apiclient.Effect{apiclient.Created, apiclient.Refused, apiclient.Uncertain, apiclient.NotSent}).Draw(t, "effect"),
		Status: rapid.SampledFrom([]int{0, 201, 400, 403}).Draw(t, "status"),
		Bad:    rapid.Bool().Draw(t, "bad"),
	}
	switch o.Of {
	case stoprule.Found:
		o.Effect = apiclient.Created
	case stoprule.Ended:
		o.Stop = "a reason"
	case stoprule.Client:
		o.Bad = o.Bad || o.Status/100 == 4
	}
	return o
}

// TestAddedOnce: a process may add the same observations again, because it does not know
// whether the rules have them, with newer ones behind them. Each counts once, also when the
// rules travel as JSON between the calls.
func TestAddedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.Custom(observation)).Draw(t, "observations")
		var want, got stoprule.Rules
		for _, o := range list {
			want.Observe(o, stoprule.Default)
		}
		for known, end := 0, 0; end < len(list); {
			end += rapid.IntRange(1, len(list)-end).Draw(t, "more")
			got.Add("a", known, list[known:end], stoprule.Default)
			if rapid.Bool().Draw(t, "the answer came") {
				known = end
			}
			data, err := json.Marshal(got)
			got = stoprule.Rules{}
			if err == nil {
				err = json.Unmarshal(data, &got)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got.Added = nil
		if d := cmp.Diff(asJSON(want), asJSON(got)); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}

func asJSON(r stoprule.Rules) string {
	data, _ := json.Marshal(r)
	return string(data)
}

// TestProcessesCountTogether: what several processes add comes to what one would see.
func TestProcessesCountTogether(t *testing.T) {
	var r stoprule.Rules
	failed := []stoprule.Observation{{Of: stoprule.Client, Bad: true, Status: 422}}
	r.Add("a", 0, failed, stoprule.MaxFailures{Count: 2})
	r.Add("b", 0, failed, stoprule.MaxFailures{Count: 2})
	r.Add("b", 0, failed, stoprule.MaxFailures{Count: 2}) // again
	if r.Failed != 2 || r.Stop != "" {
		t.Errorf("%d failed, stop %q", r.Failed, r.Stop)
	}
	r.Add("c", 7, failed, stoprule.MaxFailures{Count: 2}) // the rules were lost meanwhile
	if r.Failed != 3 || r.Stop == "" {
		t.Errorf("%d failed, stop %q; want 3 and a reason", r.Failed, r.Stop)
	}
}
