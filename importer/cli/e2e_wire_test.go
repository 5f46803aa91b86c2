package cli_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestHeaders looks at what every request carries.
func TestHeaders(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(3))
	s.environment("auth: {type: bearer, token: 'env:UAT_TOKEN'}\nheaders: {X-Tenant: acme}")
	p := s.mustRun(0)
	seen := map[string]bool{}
	for _, c := range p.calls {
		if got := c.Header.Get("Authorization"); got != "Bearer canary-token" {
			t.Errorf("%s: Authorization %q", c.Kind, got)
		}
		if got := c.Header.Get("X-Tenant"); got != "acme" {
			t.Errorf("%s: X-Tenant %q", c.Kind, got)
		}
		if agent := c.Header.Get("User-Agent"); !strings.Contains(agent, p.summary.Run) || p.summary.Run == "" {
			t.Errorf("%s: User-Agent %q does not name the run %q", c.Kind, agent, p.summary.Run)
		}
		id := c.Header.Get("X-Request-Id")
		if id == "" || seen[id] {
			t.Errorf("%s: X-Request-Id %q is empty or was used before", c.Kind, id)
		}
		seen[id] = true
		for name := range c.Header {
			if strings.Contains(strings.ToLower(name), "idempotency") {
				t.Errorf("%s: the header %s makes the network library send a request twice", c.Kind, name)
			}
		}
		if got := c.Header.Get("Content-Type"); c.Method != http.MethodGet && got != "application/json" {
			t.Errorf("%s: Content-Type %q", c.Kind, got)
		}
	}
	s.environment("headers: {Idempotency-Key: x}")
	s.mustRun(2)
}
