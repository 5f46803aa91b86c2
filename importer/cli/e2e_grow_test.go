package cli_test

import (
	"strings"
	"testing"
)

// TestNextKeepsTheGuards: the command that a dry run names is the one that does
// what it foretold.
func TestNextKeepsTheGuards(t *testing.T) {
	t.Parallel()
	s := newScene(t, campaign(signActivity), leads(1))
	p := s.runContext(t.Context(), "--dry-run", "--accept", "new-identity", "--accept", "new-ledger")
	_, next, _ := strings.Cut(p.out, "Next:")
	if !strings.Contains(next, "--accept new-identity") || !strings.Contains(next, "--accept new-ledger") {
		t.Errorf("%s", p.out)
	}
}
