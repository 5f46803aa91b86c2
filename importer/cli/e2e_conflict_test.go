package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
)

// settle runs claimsheet settle over the scene's steps.
func (s *scene) settle(words ...string) {
	s.t.Helper()
	var out, diagnostics bytes.Buffer
	stdio := cli.IO{In: strings.NewReader(""), Out: &out, Err: &diagnostics, Env: func(string) string { return "" }}
	args := append([]string{"settle", "--environments", s.path("environments.yaml")}, words...)
	if code := quickMain(s.t.Context(), args, stdio); code != 0 {
		s.t.Fatalf("settle ended with exit code %d\n%s%s", code, out.String(), diagnostics.String())
	}
}

// conflict is what a service says that will not have a thing twice.
var conflict = apitest.Answer(apitest.JSON(409, `{"message":"it exists"}`))

// TestConflictAfterDoubt has the service create what it then answers with a
// 500, an operator who does not find it, and a service that answers the next
// attempt with a 409: the thing may well be the first attempt's, so the step is
// uncertain again, has not failed, and is not sent a third time. A 409 to a
// first attempt is a refusal (TestRefusals).
func TestConflictAfterDoubt(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const key = "c2@example.com"
	cases := []struct{ kind, step, name string }{
		{"claim", "claim " + key + "/Loan A-2", key + ":claim/loan/A-2"},
		{"activity of the client", "activity " + key + " Your details", key + ":activity/Your details@client"},
		{"activity of a claim", "activity " + key + "/Loan A-2 Agreement details", key + ":activity/Agreement details@loan/A-2"},
		{"Open activity", "activity " + key + " Sign your claim", key + ":activity/Sign your claim@client"},
		{"link", "link " + key, key + ":link"},
	}
	for _, c := range cases {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(3))
			s.service.Play(apitest.Once(onStep(c.step), apitest.CreateThen(apitest.JSON(500, `{}`))))
			s.mustRun(4)
			s.settle("--not-created", c.name)
			s.service.Play(apitest.Once(onStep(c.step), conflict))
			second := s.mustRun(4)
			if diff := cmp.Diff([]string{c.step}, second.steps()[:1]); diff != "" {
				t.Errorf("the second run's first call (-want +got):\n%s", diff)
			}
			s.checkPromise()
			if row := s.results()[1]; row["Import status"] != "uncertain" ||
				!strings.Contains(row["Error"], "an earlier attempt may have created it: it exists") {
				t.Errorf("the row is %q: %q", row["Import status"], row["Error"])
			}
			s.service.Play(nil)
			if third := s.mustRun(4); len(third.posts()) > 0 {
				t.Errorf("the third run created %v", third.posts())
			}
			s.checkPromise()
		})
	}
}

// TestConflictOverANewClient has a first attempt refused with a 409: the client
// is taken over if a look-up finds it, uncertain if none does, and has failed
// only where the environment's rules say so.
func TestConflictOverANewClient(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	const step = "client c2@example.com"
	for _, c := range []struct {
		name, rules string
		appears     bool
		code        int
		status      string
		later       int // the exit code of the next run, which sends nothing for the client
	}{
		{"found", "", true, 0, "done", 0},
		{"not found", "", false, 4, "uncertain", 4},
		{"a rule", "errors: [{status: 409, means: failed}]", false, 1, "failed", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(3))
			s.environment(c.rules)
			f := conflict
			if c.appears {
				f.Then = func() { s.service.AddClient("c2@example.com", "c2@example.com", "") }
			}
			s.service.Play(apitest.Once(onStep(step), f))
			s.mustRun(c.code)
			if row := s.results()[1]; row["Import status"] != c.status || !c.appears && !strings.Contains(row["Error"], "409") {
				t.Errorf("the row is %q: %q", row["Import status"], row["Error"])
			}
			s.service.Play(nil)
			again := s.mustRun(c.later)
			if n := again.posts()["client"]; c.later == 4 && n != 0 {
				t.Errorf("the next run asked for %d clients", n)
			}
			s.checkPromise()
		})
	}
}

// TestConflictOverAClient is the same for a client, who can be looked up: found,
// the client is taken over; not found, the step is parked.
func TestConflictOverAClient(t *testing.T) {
	t.Parallel()
	const step = "client c2@example.com"
	for _, appears := range []bool{true, false} {
		s := newScene(t, stepThree, leads(3))
		s.service.Play(apitest.Once(onStep(step), apitest.Answer(apitest.JSON(500, `{}`))))
		s.mustRun(4)
		s.settle("--not-created", "c2@example.com:client")
		f := conflict
		code, state := 4, "parked"
		if appears { // the service finishes late what it was asked for first
			f.Then = func() { s.service.AddClient("c2@example.com", "c2@example.com", "") }
			code, state = 0, "done"
		}
		s.service.Play(apitest.Once(onStep(step), f))
		second := s.mustRun(code)
		if n := second.posts()["client"]; n != 1 {
			t.Errorf("appears %v: %d clients were asked for, want 1", appears, n)
		}
		for _, r := range s.steps() {
			if r["Client key"] == "c2@example.com" && r["Step"] == "client" && r["State"] != state {
				t.Errorf("appears %v: the client step is %q, want %q", appears, r["State"], state)
			}
		}
		s.checkPromise()
		s.service.Play(nil)
		if n := s.mustRun(code).posts()["client"]; n != 0 {
			t.Errorf("appears %v: the third run asked for %d clients", appears, n)
		}
		if got := s.results()[1]["What to do"]; !appears && !strings.Contains(got, "looks the client up again and decides") {
			t.Errorf("what to do about a client who is parked still: %q", got)
		}
	}
}
