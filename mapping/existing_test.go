package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// TestExistingActivities: a mapping that never takes a client over has nothing to say of the
// activities of such clients.
func TestExistingActivities(t *testing.T) {
	for client, test := range map[string]struct {
		skips   bool
		problem string // what the only one says; "" for none
	}{
		"":                            {false, ""},
		"existing_activities: send, ": {false, ""},
		"existing_activities: skip, ": {true, ""},
		"existing: create, existing_activities: skip, ": {true, "mapping.yaml:3:49: existing_activities is for clients that are found and reused, and with existing: create there are none"},
		"existing_activities: reuse, ":                  {false, "mapping.yaml:3:31: “existing_activities” cannot be “reuse”; expected send or skip"},
	} {
		m, problems := mapping.Parse("mapping.yaml", []byte("name: m\napi: v1\nclient: {"+client+"key: E-mail, lookup: {email: E-mail}, fields: {email: E-mail}}\n"))
		if (m.Client.ExistingActivities == "skip") != test.skips {
			t.Errorf("%s: skips is %v", client, m.Client.ExistingActivities)
		}
		expectOne(t, problems, test.problem)
	}
}

// expectOne expects one problem that contains a text; none for "".
func expectOne(t *testing.T, found problem.List, text string) {
	t.Helper()
	if text == "" && len(found) > 0 || text != "" && (len(found) != 1 || !strings.Contains(found[0].Error(), text)) {
		t.Errorf("found %v, want %q", found, text)
	}
}
