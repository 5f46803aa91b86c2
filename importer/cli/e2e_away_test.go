package cli_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// TestOneLookUpHoldsUpNoOther: while it takes long to find out how the service
// says that it knows no such phone number, clients who are looked up by e-mail
// go on.
func TestOneLookUpHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rows := leads(3)
	rows[1][0] = nil
	s := newScene(t, `
name: a
api: v2
client:
  key: First name
  lookup: {email: E-mail, phone: {column: Mobile, type: Phone, region: GB, format: e164}}
  fields: {email: E-mail, firstName: First name, phone: {column: Mobile, type: Phone, region: GB}}
`, rows)
	s.service.KeyField = "firstName"
	through, phone := make(chan struct{}), make(chan struct{})
	var asked, closed sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		switch {
		case strings.Contains(c.Path, "/by-phone/"):
			asked.Do(func() {
				close(phone)
				time.AfterFunc(5*time.Second, func() { closed.Do(func() { close(through) }) })
			})
			return apitest.Fault{Until: through}
		case strings.Contains(c.Path, "/by-email/c3"):
			return apitest.Fault{Until: phone}
		case c.Step == "link Ann3":
			closed.Do(func() { close(through) })
		}
		return apitest.Fault{}
	})
	start := time.Now()
	s.mustRun(0, "--concurrency", "4", "--accept", "new-ledger")
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("the clients with an e-mail address waited for the look-up by phone: %v", took)
	}
}
