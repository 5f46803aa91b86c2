package cli_test

import (
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// TestSimilarKey: a claim key that is written in another way than before is most likely
// the same claim, and is refused until the user says that it is another one.
func TestSimilarKey(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for before, now := range map[string]string{"A-1": "a 1", "0077": "77", "78": "78.0", "AB7": "AB‑7"} {
		s := newScene(t, stepThree, [][]any{lead(1, before)})
		s.mustRun(0)
		s.sheet([][]any{lead(1, now)})
		p := s.foretold(1)
		if len(p.posts()) > 0 || !strings.Contains(p.err, "[similar-key]") {
			t.Errorf("%s after %s: created %v\n%s", now, before, p.posts(), p.err)
		}
		if r := s.results()[0]; r["Import status"] != "invalid" || !strings.Contains(r["Error"], "“"+before+"”") {
			t.Errorf("the row says %v", r)
		}
		if p := s.foretold(0, "--accept", "similar-key"); p.posts()["claim"] != 1 {
			t.Errorf("%s after %s, accepted: created %v", now, before, p.posts())
		}
	}
}

// TestClaimInDoubtHoldsNewOnes: after a claim whose creation is in doubt, a corrected key
// asks for no second one until somebody has decided. A later sheet without the row says
// how many steps are uncertain.
func TestClaimInDoubtHoldsNewOnes(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.OnceEach(map[string]apitest.Fault{"claim c1@example.com/Loan A-1": apitest.CreateThenDrop()}))
	s.mustRun(4)
	s.service.Play(nil)
	s.sheet([][]any{lead(1, "B-9"), lead(2, "A-2")})
	if p := s.foretold(4); p.posts()["claim"] != 0 {
		t.Errorf("created %v", p.posts())
	}
	if r := s.results()[0]; r["Import status"] != "uncertain" || !strings.Contains(r["Error"], "“A-1” is in doubt") {
		t.Errorf("the row says %v", r)
	}
	s.sheet([][]any{lead(2, "A-2")})
	if p := s.mustRun(0); p.summary.UncertainSteps != 1 {
		t.Errorf("the summary has %d uncertain steps", p.summary.UncertainSteps)
	}
	if code, out, said := s.claimsheet("settle", "-m", s.path("mapping.yaml"), "--not-created", "claim/loan/A-1"); code != 0 {
		t.Fatal(code, out, said)
	}
	s.sheet([][]any{lead(1, "B-9"), lead(2, "A-2")})
	if p := s.foretold(0); p.posts()["claim"] != 1 {
		t.Errorf("after the decision created %v", p.posts())
	}
}

// TestColumnSortedAlone: after a column was sorted alone, every row has the address of
// another client of the ledger. Nothing is sent, and both clients are named.
func TestColumnSortedAlone(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, byLead, [][]any{lead(1, "A-1"), lead(2, "A-2"), lead(3, "A-3")})
	s.service.KeyField = "ref"
	s.mustRun(0)
	one, two, three := lead(1, "B-1"), lead(2, "B-2"), lead(3, "A-3")
	one[0], two[0] = two[0], one[0]
	s.sheet([][]any{one, two, three})
	p := s.foretold(1)
	if len(p.posts()) > 0 || !strings.Contains(p.err, "[address-taken]") || p.summary.Rows.Invalid != 2 || p.summary.Rows.Unchanged != 1 {
		t.Errorf("created %v, rows %+v\n%s", p.posts(), p.summary.Rows, p.err)
	}
	if r := s.results()[0]; !strings.Contains(r["Error"], "“Ann1”") || !strings.Contains(r["Error"], "“Ann2”") {
		t.Errorf("the row says %v", r)
	}
}

// TestGivenUpKeepsTheAddress: a client who may exist and was given up keeps the address:
// another key creates nobody with it.
func TestGivenUpKeepsTheAddress(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, byLead, [][]any{lead(1, "A-1")})
	s.service.KeyField = "ref"
	s.inDoubt("client Ann1", apitest.CreateThenDrop())
	s.mustRun(4)
	if code, out, said := s.claimsheet("settle", "-m", s.path("mapping.yaml"), "--give-up", "Ann1:client"); code != 0 {
		t.Fatal(code, out, said)
	}
	other := lead(1, "A-1")
	other[1] = "Lead 9"
	s.sheet([][]any{other})
	if p := s.mustRun(1); len(p.posts()) > 0 || !strings.Contains(p.err, "[address-taken]") {
		t.Errorf("created %v\n%s", p.posts(), p.err)
	}
}

// TestClaimsMoved: after the agreements were sorted alone, most new claims are done under
// other clients: nothing is sent until the user says that they have other clients now. Keys
// that every client has say nothing.
func TestClaimsMoved(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(12))
	s.mustRun(0)
	moved := leads(12)
	for i := range moved {
		moved[i][6] = leads(12)[(i+5)%12][6]
	}
	s.sheet(moved)
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		if p := s.mustRun(2, flags...); len(p.posts()) > 0 || !strings.Contains(p.err, "12 of the first 12 new claims") || !strings.Contains(p.err, "[claims-moved]") {
			t.Errorf("%v: created %v\n%s", flags, p.posts(), p.err)
		}
	}
	if p := s.foretold(0, "--accept", "claims-moved"); p.posts()["claim"] != 12 {
		t.Errorf("accepted: created %v", p.posts())
	}

	s = newScene(t, stepThree, [][]any{lead(1, "1")})
	s.mustRun(0)
	var rows [][]any
	for i := range 12 {
		rows = append(rows, lead(i+1, "1"))
	}
	s.sheet(rows)
	if p := s.foretold(0); p.posts()["claim"] != 11 {
		t.Errorf("keys that all have: created %v", p.posts())
	}
}
