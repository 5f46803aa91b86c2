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

// TestSettleComparesIDs: an id that looks like none of its kind needs --yes, and
// one that the ledger holds for something else is refused.
func TestSettleComparesIDs(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s, created := doubted(t)
	held := idOf(t, s, "c1@example.com", "claimIds")
	client := idOf(t, s, "c2@example.com", "contactId")
	if said := s.decide(2, "--created", "A-2", uncertainClaim); !strings.Contains(said, "[unlike-id]") || !strings.Contains(said, "if it is right: claimsheet settle -m ") || !strings.Contains(said, " --yes --created ID STEP\n") {
		t.Errorf("an id of another shape: %s", said)
	}
	for what, id := range map[string]string{"another claim's": held, "the client's": client} {
		if said := s.decide(2, "--created", id, "--yes", uncertainClaim); !strings.Contains(said, "late-flag") {
			t.Errorf("flags come first: %s", said)
		}
		if said := s.decide(2, "--yes", "--created", id, uncertainClaim); !strings.Contains(said, "[id-taken]") {
			t.Errorf("%s id: %s", what, said)
		}
	}
	s.decide(0, "--created", created, uncertainClaim)
	s.mustRun(0)
}

// TestSettleCorrectsAnID: a wrong id may be replaced while nothing was built on
// it, and the next run goes on with the right one.
func TestSettleCorrectsAnID(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s, created := doubted(t)
	s.decide(0, "--created", "b0000000-0000-4000-8000-00000000dead", uncertainClaim)
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if strings.Contains(c.Query, "dead") {
			return apitest.Answer(apitest.JSON(404, `{"message":"no such claim"}`))
		}
		return apitest.Fault{}
	})
	s.mustRun(1)
	s.decide(0, "--created", created, "c2@example.com:"+uncertainClaim)
	p := s.mustRun(0)
	if p.posts()["claim"] != 0 {
		t.Errorf("the claim was created again: %v", p.steps())
	}
	if got := idOf(t, s, "c2@example.com", "claimIds"); got != created {
		t.Errorf("the claim has the id %q, want %q", got, created)
	}
	if said := s.decide(2, "--created", "b0000000-0000-4000-8000-00000000beef", uncertainClaim); !strings.Contains(said, "[built-on]") {
		t.Errorf("after its activities were made: %s", said)
	}
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

// idOf is a cell of a client's row in the results.
func idOf(t *testing.T, s *scene, client, column string) string {
	t.Helper()
	return shown(t, s.path("leads.results.xlsx"))[client][column]
}
