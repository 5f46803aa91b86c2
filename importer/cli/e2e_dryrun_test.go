package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDryRunOfLookupModes: the calls that a dry run predicts are those that the run makes,
// whichever look-ups the mapping wants.
func TestDryRunOfLookupModes(t *testing.T) {
	t.Parallel()
	phoneOnly := leads(4)
	phoneOnly[0][0], phoneOnly[2][0] = "", ""
	for _, c := range []struct {
		name, mode    string
		rows          [][]any
		email, number string // of a client whom the service knows
	}{
		{"first, some without an e-mail", "", phoneOnly, "c2@example.com", "+447911123002"},
		{"both", ", mode: both", leads(3), "c2@example.com", "+447911123002"},
		{"either", ", mode: either", leads(3), "c2@example.com", "+447911123002"},
		{"either, known by phone", ", mode: either", leads(3), "x@example.com", "+447911123002"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, byAgreement("reuse", c.mode), c.rows)
			s.service.KeyField = "ref"
			s.service.AddClient("x", c.email, c.number)
			dry := s.run("--dry-run")
			if posts := dry.posts(); len(posts) > 0 {
				t.Errorf("the dry run sent %v", posts)
			}
			real := s.run()
			if diff := cmp.Diff(dry.summary.Requests, real.summary.Requests); diff != "" {
				t.Errorf("calls foretold and made (-dry run +run):\n%s", diff)
			}
		})
	}
}

// TestDryRunLeavesNothing: a dry run writes a plan and no other file, and refuses to
// write it over results.
func TestDryRunLeavesNothing(t *testing.T) {
	s := newScene(t, stepThree, leads(2))
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	s.mustRun(0, "--dry-run")
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("the dry run leaves %v in the temporary folder (error %v)", left, err)
	}
	var names []string
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"environments.yaml", "leads.plan.xlsx", "leads.xlsx", "mapping.yaml"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	order := "client, “Your details”, claim loan/A-%d, “Agreement details” on claim loan/A-%[1]d, “Sign your claim”, magic link"
	want := []record{
		{"Client key": "c1@example.com", "First row": "2", "Rows": "1", "Clients": "1", "Claims": "1", "Activities": "3", "Links": "1",
			"Calls": "6", "In this order": fmt.Sprintf(order, 1)},
		{"Client key": "c2@example.com", "First row": "3", "Rows": "1", "Clients": "1", "Claims": "1", "Activities": "3", "Links": "1",
			"Calls": "6", "In this order": fmt.Sprintf(order, 2)},
		{},
		{"Client key": "total", "First row": "", "Rows": "", "Clients": "2", "Claims": "2", "Activities": "6", "Links": "2", "Calls": "12"},
	}
	if diff := cmp.Diff(want, s.workbook("leads.plan.xlsx", "Plan")); diff != "" {
		t.Errorf("the calls of the plan (-want +got):\n%s", diff)
	}
	s.mustRun(0)
	s.mustRun(2, "--dry-run", "-o", s.path("leads.results.xlsx"))
}

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
