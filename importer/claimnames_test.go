package importer

import (
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
)

// TestTakenNames holds the claims to be created against the names of the client's
// earlier claims, as far as the ledger knows them.
func TestTakenNames(t *testing.T) {
	b := bound(t, tableMapping)
	earlier := func(to ledger.State) map[string]ledger.Step {
		step := claimStep("claim/loan/1", "Loan 1")
		return map[string]ledger.Step{step.Key: recorded(planOf("a@b.example", step), step, to)}
	}
	purged := earlier(ledger.Done)
	bare := purged["claim/loan/1"]
	bare.Data = nil
	purged["claim/loan/1"] = bare
	takenOver := earlier(ledger.Done)
	bare = takenOver["claim/loan/1"]
	bare.Via = ledger.ViaSheet
	takenOver["claim/loan/1"] = bare
	known := claimStep("claim/loan/2", "Loan 1")
	known.KnownID = "k-2"
	for name, c := range map[string]struct {
		step  mapping.Step
		known map[string]ledger.Step
		want  bool
	}{
		"another name":               {claimStep("claim/loan/2", "Loan 2"), earlier(ledger.Done), false},
		"the name of a done claim":   {claimStep("claim/loan/2", "Loan 1"), earlier(ledger.Done), true},
		"of one in doubt":            {claimStep("claim/loan/2", "Loan 1"), earlier(ledger.Uncertain), true},
		"of one that failed":         {claimStep("claim/loan/2", "Loan 1"), earlier(ledger.Refused), false},
		"of one that was given up":   {claimStep("claim/loan/2", "Loan 1"), earlier(ledger.Closed), false},
		"of one that was purged":     {claimStep("claim/loan/2", "Loan 1"), purged, false},
		"of one that was taken over": {claimStep("claim/loan/2", "Loan 1"), takenOver, false},
		"to be taken over":           {known, earlier(ledger.Done), false},
		"its own":                    {claimStep("claim/loan/1", "Loan 1"), earlier(ledger.Done), false},
		"its own, sent before":       {claimStep("claim/loan/1", "Loan 1"), earlier(ledger.Refused), false},
		"of a client without claims": {claimStep("claim/loan/2", "Loan 1"), nil, false},
		"an activity":                {activityStep("activity/a@client", "", mapping.Submitted), earlier(ledger.Done), false},
	} {
		t.Run(name, func(t *testing.T) {
			found := takenNames(planOf("a@b.example", c.step), c.known, b)
			if len(found) > 0 != c.want || len(found) > 1 {
				t.Fatalf("found %v, want one: %t", found, c.want)
			}
			if c.want && (found[0].Where.String() != "Leads!C2" || found[0].Code != "claim-name" || found[0].Hint == "") {
				t.Errorf("found %+v", found[0])
			}
		})
	}
	plan := planOf("a@b.example", claimStep("claim/loan/2", "Loan 1"))
	plan.Problems = takenNames(plan, earlier(ledger.Done), b)
	if o := invalidOutcome(b, plan, ids{}, ""); o.Status != result.Invalid || o.Rows[0].Status != result.Invalid {
		t.Errorf("the row is %+v, want invalid", o.Rows[0])
	}
}

// TestNamesOfSeveralClaims compares the claims that a plan creates with each other and
// with those that it has already, and never two of the latter.
func TestNamesOfSeveralClaims(t *testing.T) {
	b := bound(t, tableMapping)
	one, two, three := claimStep("claim/loan/1", "Loan"), claimStep("claim/loan/2", "Loan"), claimStep("claim/loan/3", "Other")
	plan := planOf("a@b.example", one, two, three)
	known := func(data bool, states ...ledger.State) map[string]ledger.Step {
		steps := map[string]ledger.Step{}
		for i, to := range states {
			step := recorded(plan, plan.Steps[i], to)
			if !data {
				step.Data = nil
			}
			steps[plan.Steps[i].Key] = step
		}
		return steps
	}
	for name, c := range map[string]struct {
		known map[string]ledger.Step
		want  []string
	}{
		"both are to be created":                {nil, []string{"as that of", "as that of"}},
		"both are done":                         {known(true, ledger.Done, ledger.Done), nil},
		"one is done":                           {known(true, ledger.Done), []string{"as an earlier claim"}},
		"one is done, and its data were purged": {known(false, ledger.Done), []string{"as an earlier claim"}},
		"one was given up":                      {known(true, ledger.Closed), nil},
		"both failed":                           {known(true, ledger.Refused, ledger.Refused), []string{"as that of", "as that of"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := takenNames(plan, c.known, b)
			if len(found) != len(c.want) {
				t.Fatalf("found %v, want %d", found, len(c.want))
			}
			for i, p := range found {
				if !strings.Contains(p.Message, c.want[i]) || p.Code != "claim-name" || p.Seen == "" {
					t.Errorf("found %+v, want %q", p, c.want[i])
				}
			}
		})
	}
}
