package cli_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// TestRateOverrides: --rate and --concurrency win over the environment's limits.
func TestRateOverrides(t *testing.T) {
	t.Parallel()
	s := newScene(t, "name: a\napi: v2\n"+clientPart, leads(8))
	s.environment("limits: {requests_per_second: 0.001, concurrency: 1}")
	var mu sync.Mutex
	var at []time.Time
	s.service.Play(func(apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		return apitest.Fault{Delay: 100 * time.Millisecond}
	})
	s.mustRun(0, "--rate", "50", "--concurrency", "8", "--accept", "new-ledger")
	took := at[len(at)-1].Sub(at[0])
	if least, alone := time.Duration(len(at)-2)*20*time.Millisecond, time.Duration(len(at)-1)*100*time.Millisecond; took < least || took >= alone {
		t.Errorf("%d requests in %v: more than 50 a second, or one after the other", len(at), took)
	}
}

// TestDryRunLeavesNothing: a dry run writes a plan and no other file, and refuses to write it over results.
func TestDryRunLeavesNothing(t *testing.T) {
	s := newScene(t, stepThree, leads(2))
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	s.mustRun(0, "--dry-run")
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("the dry run leaves %v in the temporary folder (error %v)", left, err)
	}
	if diff := cmp.Diff([]string{"environments.yaml", "leads.plan.xlsx", "leads.xlsx", "mapping.yaml"}, names(t, s.dir)); diff != "" {
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

// TestContactOfTheEnvironment says what is wrong with the place of a contact's id, before anything is sent.
func TestContactOfTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newScene(t, joint, nil)
	writeSheet(t, s.path(s.input), []any{"E-mail", "First name", "Agreement no", "Partner", "Partner name"}, [][]any{{"a@example.com", "Ann", "A-1"}})
	for text, want := range map[string]string{"": "is empty", "two words": "not one word", strings.Repeat("x", 300): "too long for an id",
		"contact-7": "is not an id of the service", "00000000-0000-0000-0000-000000000000": "stands for no id"} {
		write(t, s.path("broker"), text)
		p := s.run()
		if p.code != 2 || len(p.posts()) > 0 || !strings.Contains(p.err, want) || !strings.Contains(p.err, "mapping.yaml:16:") || text != "" && strings.Contains(p.err, text) {
			t.Errorf("%q: exit code %d, want %q\n%s", text, p.code, want, p.err)
		}
	}
	must(t, os.Remove(s.path("broker")))
	if p := s.run(); p.code != 2 || !strings.Contains(p.err, "[contact-id]") {
		t.Errorf("without the file: exit code %d\n%s", p.code, p.err)
	}
}
