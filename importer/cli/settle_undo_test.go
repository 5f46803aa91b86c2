package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// doubted is a scene of two leads of which the claim of the second is uncertain:
// it was created, as the claim with the id that comes back.
func doubted(t *testing.T) (s *scene, created string) {
	t.Helper()
	s = newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(onStep("claim c2@example.com/Loan A-2"), apitest.CreateThenDrop()))
	s.mustRun(4)
	return s, s.service.Created()["claim c2@example.com/Loan A-2"][0].ID
}

const uncertainClaim = "claim/loan/A-2"

// decide is the command on the claim of doubted.
func (s *scene) decide(code int, args ...string) string {
	s.t.Helper()
	p := runPlain(s.t, append([]string{"settle", "-m", s.path("mapping.yaml")}, args...)...)
	if p.code != code {
		s.t.Errorf("settle %q: exit code %d, want %d\n%s%s", args, p.code, code, p.out, p.err)
	}
	return p.out + p.err
}

func runPlain(t *testing.T, args ...string) outcome {
	t.Helper()
	out, diagnostics, code := printed(t, args...)
	return outcome{code: code, out: out, err: diagnostics}
}

// TestSettleUndo takes each decision back: the step is uncertain again, and can
// be decided otherwise.
func TestSettleUndo(t *testing.T) {
	t.Parallel()
	s, created := doubted(t)
	number := regexp.MustCompile(`(?m)^(\d+)  ` + uncertainClaim).FindStringSubmatch(s.decide(4))
	for _, name := range []string{number[1], uncertainClaim, "c2@example.com:" + uncertainClaim} {
		said := s.decide(2, "--undo", name)
		if !strings.Contains(said, "is uncertain, and there is no decision to undo [not-decided]") || !strings.Contains(said, " lists it with the command lines that decide it") {
			t.Errorf("before any decision: %s", said)
		}
	}
	for _, decision := range [][]string{{"--give-up"}, {"--not-created"}, {"--created", "b0000000-0000-4000-8000-00000000dead"}} {
		said := s.decide(0, append(decision, uncertainClaim)...)
		if !strings.Contains(said, "settle -m "+s.path("mapping.yaml")+" --undo c2@example.com:"+uncertainClaim) {
			t.Errorf("%q does not say how it is taken back: %s", decision, said)
		}
		s.decide(2, "--undo", "claim/loan/A-1") // nobody decided it
		s.decide(0, "--undo", uncertainClaim)
		if said := s.decide(4); !strings.Contains(said, uncertainClaim) {
			t.Errorf("after %q was taken back: %s", decision, said)
		}
		if p := s.mustRun(4); p.posts()["claim"] != 0 {
			t.Errorf("after %q was taken back, %v were sent", decision, p.steps())
		}
	}
	if told := runPlain(t, "history", "-m", s.path("mapping.yaml"), "c2@example.com").out; strings.Count(told, "  you undid the decision") != 3 {
		t.Errorf("the history does not say so:\n%s", told)
	}
	s.decide(0, "--created", created, uncertainClaim)
	s.mustRun(0)
	if said := s.decide(2, "--undo", uncertainClaim); !strings.Contains(said, "[built-on]") {
		t.Errorf("after its activities were made: %s", said)
	}
}
