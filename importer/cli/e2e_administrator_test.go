package cli_test

import (
	"net/http"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

// TestClaimsNeedAnAdministrator: a contact that is made as no administrator
// cannot administer claims, which the mapping shows before anything is sent.
func TestClaimsNeedAnAdministrator(t *testing.T) {
	t.Parallel()
	s := newScene(t, strings.Replace(stepThree, "key: E-mail\n", "key: E-mail\n  administrator: false\n", 1), leads(1))
	for name, args := range s.commands() {
		p := s.command(args...)
		if want := "mapping.yaml:8:18: the contact administers its claims"; p.code != 2 || !strings.Contains(p.err, want) || len(p.posts()) > 0 {
			t.Errorf("%s: exit code %d, sent %v, want %q\n%s", name, p.code, p.posts(), want, p.err)
		}
	}
	s.mapping("name: a\napi: v2" + strings.Replace(clientPart, "key: E-mail\n", "key: E-mail\n  administrator: false\n", 1))
	s.mustRun(0)
}

// TestClaimOfAReusedContact: where the service refuses the claim of a contact
// that was there before, the advice speaks of the administrator, also on a later
// night; for a contact of ours it does not.
func TestClaimOfAReusedContact(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.service.AddClient("c2@example.com", "c2@example.com", "")
	s.service.Play(func(call apitest.Call) apitest.Fault {
		if call.Kind != "claim" {
			return apitest.Fault{}
		}
		return apitest.Answer(apitest.Reply{Status: http.StatusBadRequest, Body: `{"error":"refused"}`})
	})
	for range 2 {
		s.mustRun(1, "--max-failures", "100%")
		rows := s.results()
		if got := rows[0]["What to do"]; strings.Contains(got, "administrator") || !strings.Contains(got, "Correct the row or the mapping") {
			t.Errorf("of a contact of ours it says %q", got)
		}
		if got := rows[1]["What to do"]; !strings.Contains(got, "ask its operator to make it one") {
			t.Errorf("of a reused contact it says %q", got)
		}
	}
}
