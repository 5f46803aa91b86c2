package cli_test

import (
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// TestRateOverrides: --rate and --concurrency win over the environment's
// limits.
func TestRateOverrides(t *testing.T) {
	t.Parallel()
	s := newScene(t, "name: a\napi: v2\n"+clientPart, leads(12))
	s.environment("limits: {requests_per_second: 0.001, concurrency: 1}")
	var mu sync.Mutex
	var at []time.Time
	together, most := 0, 0
	s.service.Play(func(c apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		together++
		most = max(most, together)
		return apitest.Fault{Delay: 100 * time.Millisecond, Then: func() {
			mu.Lock()
			defer mu.Unlock()
			together--
		}}
	})
	s.mustRun(0, "--rate", "50", "--concurrency", "8", "--accept", "new-ledger")
	if most < 2 {
		t.Errorf("%d requests at a time", most)
	}
	if took := at[len(at)-1].Sub(at[0]); took < time.Duration(len(at)-2)*20*time.Millisecond {
		t.Errorf("%d requests in %v: more than 50 a second", len(at), took)
	}
}

// TestErrorRules: what the service's operators told is written in the
// environment; its hint stands beside the row.
func TestErrorRules(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(6))
	const rules = "errors:\n  - {status: 422, pointer: /code, matches: ^POSTCODE$, means: failed, hint: Ask the client for the postcode.}\n"
	s.environment(rules)
	answers := map[string]apitest.Reply{
		"claim c2@example.com/Loan A-2": apitest.JSON(422, `{"code":"POSTCODE","message":"no postcode"}`),
		"claim c3@example.com/Loan A-3": apitest.JSON(409, `{"code":"LOCKED","message":"c3@example.com is locked"}`),
		"claim c5@example.com/Loan A-5": apitest.JSON(409, `{"code":"LOCKED","message":"c5@example.com is locked"}`),
	}
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if reply, ok := answers[c.Step]; ok {
			return apitest.Answer(reply)
		}
		return apitest.Fault{}
	})
	p := s.runContext(t.Context())
	if p.code != 1 {
		t.Errorf("exit code %d\n%s%s", p.code, p.out, p.err)
	}
	if got := column(s.results(), "What to do")[1]; got != "Ask the client for the postcode." {
		t.Errorf("What to do: %q", got)
	}
	s.environment(rules + "  - {status: 409, pointer: /code, matches: '^LOCKED$', means: failed, hint: what to do}\n")
	if p := s.runContext(t.Context()); p.code != 1 {
		t.Errorf("with the rule: exit code %d\n%s%s", p.code, p.out, p.err)
	}
	if got := column(s.results(), "What to do")[2]; got != "what to do" {
		t.Errorf("What to do: %q", got)
	}
}
