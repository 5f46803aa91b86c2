package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// existingMapping is a mapping with these lines under client and these
// activities.
func existingMapping(client, activities string) string {
	return "name: m\napi: v2\nclaims: [{id: loan, key: \"No\", name: \"Loan {No}\"}]\nworkflow: {name: W, template_identifier: X}\nclient:\n  key: E-mail\n  lookup: {email: E-mail}\n  fields: {email: E-mail}\n" +
		client + "activities:\n" + activities
}

// TestExistingActivities: a mapping that sends activities to clients who are found
// has to say so, and one that never takes a client over has nothing to say.
func TestExistingActivities(t *testing.T) {
	const open, filled, onClaim = "  - {template: Sign, status: Open}\n", "  - {template: Details, attributes: {Name: Name}}\n",
		"  - {template: Agreement, on: loan, attributes: {Number: \"No\"}}\n"
	for name, test := range map[string]struct {
		client, activities string
		skips              bool
		problem, caution   string // what the only one says; "" for none
	}{
		"nothing said, Open":         {"", onClaim + open, false, "", "“Sign” (Open)"},
		"nothing said, back-filled":  {"", filled + open, false, "", "“Details” (back-filled)"},
		"on claims only":             {"", onClaim, false, "", ""},
		"send":                       {"  existing_activities: send\n", open, false, "", ""},
		"skip":                       {"  existing_activities: skip\n", open, true, "", ""},
		"nobody is taken over":       {"  existing: fail\n", open, false, "", ""},
		"nobody to skip them for":    {"  existing: create\n  existing_activities: skip\n", open, true, "mapping.yaml:10:24: existing_activities is for clients that are found and reused, and with existing: create there are none", ""},
		"neither of the two choices": {"  existing_activities: reuse\n", open, false, "mapping.yaml:9:24: “existing_activities” cannot be “reuse”; expected send or skip", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, problems := mapping.Parse("mapping.yaml", []byte(existingMapping(test.client, test.activities)))
			if m.Client.SkipActivities != test.skips {
				t.Errorf("skips is %v", m.Client.SkipActivities)
			}
			expectOne(t, problems, test.problem)
			expectOne(t, m.Cautions, test.caution)
			for _, p := range m.Cautions {
				if p.Where.Line == 0 || !strings.Contains(p.Hint, "existing_activities: skip") {
					t.Errorf("%v does not say where it is, or what to write", p)
				}
			}
		})
	}
}

// expectOne expects one problem that contains a text; none for "".
func expectOne(t *testing.T, found problem.List, text string) {
	t.Helper()
	if text == "" && len(found) > 0 || text != "" && (len(found) != 1 || !strings.Contains(found[0].Error(), text)) {
		t.Errorf("found %v, want %q", found, text)
	}
}
