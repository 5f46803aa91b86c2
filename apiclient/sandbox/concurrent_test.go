package sandbox_test

import (
	"fmt"
	"sync"
	"testing"
)

// Eight clients at once: each finds its own things complete and in order, also after
// a restart.
func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const workers, rounds = 8, 10
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for round := range rounds {
				email := fmt.Sprintf("%d.%d@example.com", worker, round)
				contact := decode(send(s, "POST", v2+"/contacts?isAdministrator=true", "application/json", `{"email":"`+email+`"}`))["contactId"]
				claim := decode(send(s, "POST", v2+"/claims", "application/json",
					`{"administratorId":"`+contact+`","claimants":["`+contact+`"],"claimName":"`+email+`"}`))["claimId"]
				send(s, "POST", v2+"/activities?claimId="+claim, "application/json", completed(details, surname, "Submitted"))
				send(s, "POST", v2+"/activities?contactId="+contact, "application/json", opened(signature))
				send(s, "POST", v2+"/contacts/"+contact+"/magic-link", "application/json", `{}`)
				s.Snapshot()
				if got := decode(send(s, "GET", v2+"/contacts/by-email/"+email, "", ""))["contactId"]; got != contact || got == "" {
					t.Errorf("look-up of %s: %q, want %q", email, got, contact)
				}
			}
		})
	}
	group.Wait()
	snap := s.Snapshot()
	if len(snap.Clients) != workers*rounds {
		t.Errorf("%d clients, want %d", len(snap.Clients), workers*rounds)
	}
	for _, c := range snap.Clients {
		if len(c.Claims) != 1 || len(c.Claims[0].Activities) != 1 || len(c.Activities) != 1 || len(c.Links) != 1 ||
			c.Claims[0].Activities[0].Order >= c.Activities[0].Order || string(c.Data) != `{"email":"`+c.Claims[0].Name+`"}` {
			t.Errorf("%s: %+v", c.Data, c)
		}
	}
	s.Close()
	same(t, "after a restart", snap, open(t, dir).Snapshot())
}
