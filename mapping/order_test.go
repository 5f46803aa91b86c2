package mapping_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
)

const (
	oneClaim  = "claims: [{id: loan, key: C, name: \"{C}\"}]\n"
	twoClaims = "claims: [{id: loan, key: C, name: \"{C}\"}, {id: card, key: D, name: \"{D}\"}]\n"
)

// The order of the activities is held against the rules of the service document.
// want has the code and the line of each problem, and of each warning after a ~.
func TestOrder(t *testing.T) {
	const (
		done     = "attributes: {x: X}}"
		open     = "status: Open}"
		assigned = "assigned: true, status: Open}"
	)
	for name, tc := range map[string]struct {
		head       string // what comes before the activities
		activities []string
		want       []string // lines count from the first activity, 1
	}{
		"use case 2": {version2 + oneClaim, []string{"{template: A, " + done, "{template: B, on: claim, status: Accepted, " + done, "{template: C, " + open}, nil},
		"flow B":     {version1, []string{"{template: A, " + done, "{template: B, " + done, "{template: C, " + open}, nil},
		"flow A":     {version1, nil, nil},
		"use case 1": {version2 + oneClaim, []string{"{template: A, on: claim, " + done}, nil},

		"never Open in version 2":            {version2, []string{"{template: A, " + done, "{template: B, " + done}, []string{"~never-open 1"}},
		"Open first":                         {version2, []string{"{template: A, " + open, "{template: B, " + done, "{template: C, " + done}, []string{"~open-before 2", "~open-before 3"}},
		"Open on the client, then on claims": {version2 + oneClaim, []string{"{template: A, " + open, "{template: B, on: claim, " + done}, []string{"~open-before 2"}},
		"entries in two orders": {version2 + twoClaims, []string{"{template: A, on: loan, " + done, "{template: B, on: loan, " + open,
			"{template: C, on: card, " + done, "{template: D, on: card, " + open}, nil},
		"two Open":                  {version2, []string{"{template: A, " + open, "{template: B, " + open}, []string{"two-open 2"}},
		"two Open with a condition": {version2, []string{"{template: A, when: has(\"X\"), " + open, "{template: B, " + open}, []string{"~two-open 2"}},
		"resume_at decides":         {version2 + "resume_at: A\n", []string{"{template: A}", "{template: B, " + done}, nil},

		"Open on two entries": {version2 + twoClaims, []string{"{template: B, on: loan, " + open, "{template: C, on: card, " + open}, nil},

		"version 1: Open by resume_at":     {version1 + "resume_at: B\n", []string{"{template: A, " + done, "{template: B}"}, nil},
		"version 1: only an assigned Open": {version1, []string{"{template: A, " + done, "{template: R, " + assigned}, []string{"~never-open 1"}},

		"Accepted on the client":                   {version2 + oneClaim, []string{"{template: A, status: Accepted, " + done, "{template: B, on: claim, " + open}, []string{"~accepted-on-client 1"}},
		"Accepted on the client without any claim": {version2, []string{"{template: A, status: Accepted, " + done, "{template: B, " + open}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			source, first := tc.head, strings.Count(tc.head, "\n")
			if len(tc.activities) > 0 {
				source += "activities:\n  - " + strings.Join(tc.activities, "\n  - ") + "\n"
				first++
			}
			m, problems := mapping.Parse("m.yaml", []byte(source))
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprint(p.Code, " ", p.Where.Line-first))
			}
			for _, p := range m.Warnings {
				got = append(got, fmt.Sprint("~", p.Code, " ", p.Where.Line-first))
			}
			for _, p := range append(problems, m.Warnings...) {
				if p.Hint == "" || p.Where.Column == 0 {
					t.Errorf("%s: no cure, or no place", p.Error())
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s\n(-want +got):\n%s", source, d)
			}
		})
	}
}

// The warnings in words.
func TestOrderWarnings(t *testing.T) {
	m := mustParse(t, version2+oneClaim+`activities:
  - {template: Handler review, assigned: true, status: Open}
  - {template: Your details, status: Accepted, attributes: {x: X}}
  - {template: Sign the agreement, on: claim, when: has("C"), status: Open}
  - {template: Your bank, attributes: {x: X}}
  - {template: Sign your claim, status: Open}
`)
	golden(t, "testdata/lang/order-warnings.out", report(m.Warnings))
	v1 := mustParse(t, version1+"activities: [{template: Your details, attributes: {x: X}}, {template: Call, assigned: true, status: Open}]")
	golden(t, "testdata/lang/order-warnings-v1.out", report(v1.Warnings))
}
