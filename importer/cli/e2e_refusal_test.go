package cli_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestRefusals lets the service refuse one step of some clients, each with
// another status: it has failed, the service's words stand beside the row, and
// the next run sends it, and what waited for it, again.
func TestRefusals(t *testing.T) {
	t.Parallel()
	refused := map[int]int{2: 400, 3: 422, 4: 409, 5: 413} // client → status
	for _, step := range []string{"claim K/Loan A-N", "link K", "client K", "activity K/Loan A-N Agreement details"}[:longOr(4, 2)] {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(6))
			faults := map[string]apitest.Fault{}
			for n, status := range refused {
				name := strings.NewReplacer("K", rowKey(lead(n, "")), "N", fmt.Sprint(n)).Replace(step)
				if status == 409 && step == "client K" {
					status = 400 // a conflict over a client is settled by a look-up
				}
				faults[name] = apitest.Answer(apitest.JSON(status, `{"message":"the postcode is unknown"}`))
			}
			s.service.Play(apitest.OnceEach(faults))
			first := s.mustRun(1)
			if diff := cmp.Diff([]string{"done", "failed", "failed", "failed", "failed", "done"}, column(s.results(), "Import status")); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			if n := strings.Count(first.err, "): failed at the "); n != 4 || !strings.Contains(first.err, "Results!3 (source row 3): failed at the ") ||
				!strings.Contains(first.err, "HTTP 422 Unprocessable Entity\n") || strings.Contains(first.err, "the postcode is unknown") {
				t.Errorf("the terminal names %d failed rows:\n%s", n, first.err)
			}
			for _, r := range s.results()[1:5] {
				if !strings.Contains(r["Error"], "the postcode is unknown") {
					t.Errorf("the Error column says %q, not the service's words", r["Error"])
				}
			}
			s.checkPromise()

			second := s.mustRun(0)
			again := second.steps()
			for name := range faults {
				if !slices.Contains(again, name) {
					t.Errorf("%s was not sent again", name)
				}
			}
			if got, want := len(first.steps())+len(again), 6*6+len(faults); got != want {
				t.Errorf("%d calls in both runs, want %d: the refused ones twice, all others once", got, want)
			}
			s.checkPromise()
			if posts := s.mustRun(0).posts(); len(posts) > 0 {
				t.Errorf("the third run created %v", posts)
			}
		})
	}
}

// TestUnauthorised meets a 401: the run stops at once, and no client after it
// is begun.
func TestUnauthorised(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	cases := []struct {
		name  string
		about func(apitest.Call) bool
		posts map[string]int
	}{
		{"templates", func(c apitest.Call) bool { return c.Kind == "templates" }, map[string]int{}},
		{"look-up", func(c apitest.Call) bool { return c.Kind == "lookup" }, map[string]int{}},
		{"client", onStep("client c1@example.com"), map[string]int{"client": 1}},
		{"claim of the first client", onStep("claim c1@example.com/Loan A-1"), map[string]int{"client": 1, "activity": 1, "claim": 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(6))
			s.service.Play(apitest.Once(c.about, apitest.Answer(apitest.JSON(401, `{"message":"who are you?"}`))))
			p := s.mustRun(3)
			if diff := cmp.Diff(c.posts, p.posts()); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			if c.name != "templates" {
				if p.summary.Rows.NotStarted != 6 {
					t.Errorf("rows %+v, want 6 not started: the credentials are wrong, not a row", p.summary.Rows)
				}
				if row := s.results()[0]; !strings.Contains(row["Error"], "check the environment's auth") {
					t.Errorf("the first row says %q", row["Error"])
				}
			}
			s.mustRun(0)
			s.checkPromise()
		})
	}
}

// TestNobodyListens runs against a service that is not there: nothing was
// sent, and the next run does everything.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, mapping := range map[string]string{"templates are read": stepThree, "look-up first": "name: a\napi: v1\n" + clientPart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, mapping, leads(2))
			real := s.url
			closed := httptest.NewServer(s.service)
			s.url = closed.URL
			closed.Close()
			s.environment("")
			p := s.run()
			switch {
			case p.code == 3:
			case p.code == 1 && p.summary.Rows.Failed == 2:
				for _, r := range s.results() {
					if !strings.Contains(r["What to do"], "othing was sent") {
						t.Errorf("What to do: %q", r["What to do"])
					}
				}
			default:
				t.Errorf("exit code %d, rows %+v\n%s", p.code, p.summary.Rows, p.err)
			}
			s.url = real
			s.environment("")
			s.mustRun(0)
			if len(s.service.Created()["client c1@example.com"]) != 1 {
				t.Error("the client was not created once")
			}
		})
	}
}

// TestSignal ends a run by its context: what is in flight is finished and
// recorded, and the next run goes on from there.
func TestSignal(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(12))
	ctx, cancel := context.WithCancel(t.Context())
	s.service.Play(apitest.Once(onStep("claim c5@example.com/Loan A-5"), apitest.Fault{Then: cancel}))
	if p := s.runContext(ctx, "--concurrency", "4", "--json"); p.code != 130 || p.summary.Rows.Uncertain > 0 || p.summary.Rows.NotStarted == 0 {
		t.Errorf("exit code %d, rows %+v", p.code, p.summary.Rows)
	}
	s.checkPromise()
	if p := s.mustRun(0); p.summary.Rows.Done+p.summary.Rows.Unchanged != 12 {
		t.Errorf("rows %+v", p.summary.Rows)
	}
	s.checkPromise()
}

// TestNoTimezone says that the mapping lacks something, not the cell.
func TestNoTimezone(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(2)
	rows[1][7] = "many"
	s := newScene(t, strings.Replace(stepThree, "sheet: {timezone: Europe/London}\n", "", 1), rows)
	s.mustRun(1)
	want := []string{"Name the timezone of the sheet in the mapping (sheet: {timezone: …}) and run again.", "Correct the cell and run again."}
	if diff := cmp.Diff(want, column(s.results(), "What to do")); diff != "" {
		t.Errorf("what to do (-want +got):\n%s", diff)
	}
}
