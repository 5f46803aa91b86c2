package cli_test

import (
	"strings"
	"testing"
)

// TestAgreementOnNothing refuses an environment that compares a field that the
// mapping does not fill: whoever has a client's address would be taken for the
// client. Where no client is taken over nothing is compared.
func TestAgreementOnNothing(t *testing.T) {
	t.Parallel()
	const agree = "wire: {lookup_agree: {firstNam: /first}}"
	s := newScene(t, stepThree, leads(1))
	s.environment(agree)
	const refused = "environments.yaml:6:27: wire.lookup_agree compares the client field “firstNam” before an existing client is reused"
	const hint = "did you mean “firstName”?"
	p := s.runContext(t.Context())
	if p.code != 2 || !strings.Contains(p.err, refused) || !strings.Contains(p.err, hint) || len(p.posts()) > 0 {
		t.Errorf("run: exit code %d\n%s", p.code, p.err)
	}
	for _, args := range [][]string{{"check", "-m", s.path("mapping.yaml"), "-e", "uat"}, {"doctor", "-m", s.path("mapping.yaml")}} {
		p := runSaid(t, "", args...)
		if p.code != 2 || !strings.Contains(p.out+p.err, refused) || !strings.Contains(p.out+p.err, hint) {
			t.Errorf("%s: exit code %d\n%s%s", args[0], p.code, p.out, p.err)
		}
	}
	for _, existing := range []string{"skip", "fail", "create"} {
		s.mapping(strings.Replace(stepThree, "key: E-mail", "key: E-mail\n  existing: "+existing, 1))
		if p := runSaid(t, "", "check", "-m", s.path("mapping.yaml"), "-e", "uat"); p.code != 0 {
			t.Errorf("existing: %s: exit code %d\n%s", existing, p.code, p.err)
		}
	}
	s.mapping(stepThree)
	s.environment("wire: {lookup_agree: {firstName: /first}}")
	s.mustRun(0)
}
