package cli_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// TestDoneStepsTakeNoTurn runs over a sheet that is all done, at a rate by which
// a second request would wait for a quarter of an hour: to see that something
// is done costs none.
func TestDoneStepsTakeNoTurn(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(30))
	s.mustRun(0)
	p := s.mustRun(0, "--rate", "0.001")
	if p.summary.Rows.Unchanged != 30 || len(p.calls) != 1 || p.calls[0].Kind != "templates" {
		t.Errorf("rows %+v, calls:\n%s", p.summary.Rows, transcript(p.calls))
	}
}

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

// TestBusyLookUps: a look-up that the service has no time for is asked again,
// and nobody's row fails for it; being asked to wait is no attempt.
func TestBusyLookUps(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	var mu sync.Mutex
	refused := map[string]int{}
	s.service.Play(func(c apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		name := c.Kind + " " + c.Step
		if c.Kind == "lookup" || c.Kind == "templates" || c.Kind == "claim" {
			if refused[name]++; refused[name] == 1 {
				return apitest.Busy(429, 0)
			}
		}
		return apitest.Fault{}
	})
	if p := s.mustRun(0); p.summary.Rows.Done != 1 {
		t.Errorf("rows %+v", p.summary.Rows)
	}
	s.checkPromise()
}

// TestBusyForTooLong: a service that asks for more than a quarter of an hour is
// left alone until the next run. What it refused for that has not failed; what
// may have been created all the same is uncertain.
func TestBusyForTooLong(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, c := range []struct {
		kind      string
		status    int
		uncertain int
	}{
		{"templates", 429, 0}, {"lookup", 429, 0}, {"claim", 429, 0},
		{"templates", 503, 0}, {"lookup", 503, 0}, {"claim", 503, 1},
	} {
		t.Run(fmt.Sprint(c.kind, " ", c.status), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(4))
			s.service.Play(func(call apitest.Call) apitest.Fault {
				if call.Kind == c.kind {
					return apitest.Busy(c.status, 3600)
				}
				return apitest.Fault{}
			})
			p := s.mustRun(3, "--concurrency", "1")
			if !strings.Contains(p.out+p.err, "asks to wait for 1h0m0s; run again then") {
				t.Errorf("it does not say so:\n%s%s", p.out, p.err)
			}
			if rows := p.summary.Rows; c.kind != "templates" && (rows.NotStarted != 4-c.uncertain || rows.Uncertain != c.uncertain) {
				t.Errorf("rows %+v", rows)
			}
			s.service.Play(nil)
			s.mustRun(4 * c.uncertain)
			s.checkPromise()
		})
	}
}

// TestProbeThatIsAskedToWait: after three answers that leave things open all
// wait until the service answers, but not for hours.
func TestProbeThatIsAskedToWait(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(6))
	var clients atomic.Int64
	s.service.Play(func(c apitest.Call) apitest.Fault {
		switch {
		case c.Kind == "client":
			clients.Add(1)
			return apitest.Answer(apitest.JSON(500, `{}`))
		case c.Kind == "templates" && clients.Load() > 0:
			return apitest.Busy(503, 3600)
		}
		return apitest.Fault{}
	})
	p := s.mustRun(3, "--concurrency", "1")
	if rows := p.summary.Rows; rows.Uncertain != 3 || rows.NotStarted != 3 || !strings.Contains(p.err, "asks to wait for 1h0m0s") {
		t.Errorf("rows %+v\n%s", rows, p.err)
	}
}

// TestErrorRules: what the service's operators told is written in the
// environment; its hint stands beside the row, and what no rule explains is
// listed in the end, in the summary and in the workbook.
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
	const line = "2 × HTTP 409 Conflict with a JSON object (application/json), fields code, message, code LOCKED to POST /funnel/v2/claims, taken as failed"
	const rule = "{status: 409, pointer: /code, matches: '^LOCKED$', means: failed, hint: what to do}"
	if p.code != 1 || !strings.Contains(p.out, line) || !strings.Contains(p.out, "- "+rule) || strings.Contains(p.out, "HTTP 422") {
		t.Errorf("exit code %d\n%s%s", p.code, p.out, p.err)
	}
	if got := column(s.results(), "What to do")[1]; got != "Ask the client for the postcode." {
		t.Errorf("What to do: %q", got)
	}
	if text := string(contents(t, s.path("leads.results.xlsx"))); !strings.Contains(text, "code LOCKED to POST") {
		t.Error("the workbook does not list the answer")
	}
	// The line as it is printed can be put into the file.
	s.environment(rules + "  - " + rule + "\n")
	if p := s.runContext(t.Context()); p.code != 1 || strings.Contains(p.out, "explains") || strings.Contains(p.out, "LOCKED") {
		t.Errorf("with the rule: exit code %d\n%s%s", p.code, p.out, p.err)
	}
	if got := column(s.results(), "What to do")[2]; got != "what to do" {
		t.Errorf("What to do: %q", got)
	}
}
