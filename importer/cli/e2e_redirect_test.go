package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestRedirectsEndTheRun: when a request of the second client is redirected, the
// run ends with exit code 3, sends nothing more, and the rest is not started. A
// service that has done the work may answer 302 or 303 too: the step is then
// uncertain and is never sent again. Any other status means that nothing was done,
// and the next run sends it.
func TestRedirectsEndTheRun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for kind, c := range map[string]struct {
		step     string
		statuses []int
	}{
		"client": {"client c2@example.com", []int{301, 302}}, "claim": {"claim c2@example.com/Loan A-2", []int{307, 303}},
		"activity": {"activity c2@example.com Your details", []int{308, 302}}, "link": {"link c2@example.com", []int{301, 303}},
	} {
		for _, status := range c.statuses {
			t.Run(fmt.Sprint(status, " ", kind), func(t *testing.T) {
				t.Parallel()
				step := c.step
				s := newScene(t, stepThree, leads(4))
				moved := apitest.Reply{Status: status, Header: map[string]string{"Location": "/elsewhere"}}
				done := status == 302 || status == 303
				fault := apitest.Answer(moved)
				if done {
					fault = apitest.CreateThen(moved)
				}
				s.service.Play(apitest.Once(onStep(step), fault))
				p := s.mustRun(3, "--concurrency", "1")
				if last := p.steps()[len(p.steps())-1]; last != step {
					t.Errorf("%s was sent after the redirect", last)
				}
				if last := p.calls[len(p.calls)-1]; last.Step != step {
					t.Errorf("%s %s was sent after the redirect", last.Method, last.Path)
				}
				own := map[bool]string{true: "uncertain", false: "not started"}[done]
				if diff := cmp.Diff([]string{"done", own, "not started", "not started"}, column(s.results(), "Import status")); diff != "" {
					t.Errorf("statuses (-want +got):\n%s", diff)
				}
				if !strings.Contains(p.err, fmt.Sprintf("HTTP %d", status)) || !strings.Contains(p.err, "check base_url") {
					t.Errorf("it does not say why:\n%s", p.err)
				}
				s.checkPromise()
				second := s.run()
				if sent := strings.Contains(strings.Join(second.steps(), "\n"), step); sent == done {
					t.Errorf("exit code %d; sent again: %v", second.code, sent)
				}
				s.checkPromise()
			})
		}
	}
}

// TestRedirectedQuestionsEndTheRun: a look-up, or the templates, that are
// redirected end the run before anything is created.
func TestRedirectedQuestionsEndTheRun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for kind, statuses := range map[string][]int{"templates": {301, 303, 308}, "lookup": {302, 307}} {
		for _, status := range statuses {
			t.Run(fmt.Sprint(status, " ", kind), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, stepThree, leads(3))
				s.service.Play(func(c apitest.Call) apitest.Fault {
					if c.Kind == kind && (kind == "templates" || strings.Contains(c.Path, "c1%40")) {
						return apitest.Answer(apitest.Reply{Status: status})
					}
					return apitest.Fault{}
				})
				p := s.mustRun(3)
				if len(p.posts()) > 0 || kind == "lookup" && p.summary.Rows.NotStarted != 3 {
					t.Errorf("created %v, rows %+v", p.posts(), p.summary.Rows)
				}
				if !strings.Contains(p.err, fmt.Sprintf("HTTP %d", status)) || !strings.Contains(p.err, "check base_url") {
					t.Errorf("it does not say why:\n%s", p.err)
				}
			})
		}
	}
}

// TestRedirectsByARule: what the environment's errors rules say of a redirect
// comes first.
func TestRedirectsByARule(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	s.environment("errors: [{status: 303, means: failed, hint: Call the desk.}]")
	s.service.Play(apitest.Once(onStep("claim c2@example.com/Loan A-2"), apitest.Answer(apitest.Reply{Status: 303})))
	s.mustRun(1)
	if diff := cmp.Diff([]string{"done", "failed", "done"}, column(s.results(), "Import status")); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}
