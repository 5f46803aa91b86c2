package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
)

// A planCase is a mapping, a sheet and the outline of the plans they make.
type planCase struct {
	name    string
	mapping string
	sheet   []string // the header, then a line for each row
	service *mapping.Service
	want    []string
}

func runPlans(t *testing.T, cases []planCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sheet, records := leads(tc.sheet...)
			b := mustBind(t, tc.mapping, sheet, tc.service)
			if d := cmp.Diff(tc.want, outlines(planAll(b, records))); d != "" {
				t.Errorf("plans (-want +got):\n%s", d)
			}
		})
	}
}

const (
	version1 = "name: n\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\n"
	version2 = "name: n\napi: v2\nclient: {key: No, existing: create, fields: {no: No}}\nworkflow: {name: w, template_identifier: t}\n"
)

func TestPlanOrder(t *testing.T) {
	runPlans(t, []planCase{
		{
			name: "entries with ids: on one, on all, on none",
			mapping: version2 + `claims:
  - {id: loan, key: L, name: 'Loan {L}', when: has("L")}
  - {id: card, key: K, name: 'Card {K}', when: has("K")}
  - {id: rest, key: R, name: 'Rest {R}', when: has("R")}
activities:
  - {template: A, on: card, attributes: {k: K}}
  - {template: B, on: loan, attributes: {l: L}}
  - {template: C, on: card, id: C2, attributes: {k: K}}
`,
			sheet: []string{"No | L | K | R", "1 | l1 | k1 | r1", "2 | l2 | |", "3 | | |"},
			want: []string{
				`1 n "1" [2]`,
				`client [2] no="1"`,
				`claim/rest/r1 [2] Rest r1`,
				`claim/loan/l1 [2] Loan l1`, `activity/B@loan/l1 [2] Submitted l="l1"`,
				`claim/card/k1 [2] Card k1`, `activity/A@card/k1 [2] Submitted k="k1"`, `activity/C2@card/k1 [2] Submitted k="k1"`,
				`link [2]`,
				`2 n "2" [3]`,
				`client [3] no="2"`,
				`claim/loan/l2 [3] Loan l2`, `activity/B@loan/l2 [3] Submitted l="l2"`,
				`link [3]`,
				`3 n "3" [4]`, `client [4] no="3"`, `link [4]`,
			},
		},
		{
			name: "claims that are created first: all of an entry, and none of the others",
			mapping: version2 + `claims:
  - {id: loan, key: L, name: 'Loan {L}', when: has("L")}
  - {id: card, key: K, name: 'Card {K}', when: has("K"), create: first}
  - {id: late, key: R, name: 'Late {R}', when: has("R"), create: when_needed}
activities:
  - {template: M, attributes: {y: {value: m}}}
  - {template: A, on: claim, attributes: {x: {value: v}}}
`,
			sheet: []string{"No | L | K | R", "1 | l1 | k1 |", "1 | | k2 | r1"},
			want: []string{
				`1 n "1" [2 3]`,
				`client [2 3] no="1"`,
				`claim/card/k1 [2] Card k1`, `claim/card/k2 [3] Card k2`,
				`activity/M@client [2 3] Submitted y="m"`,
				`claim/loan/l1 [2] Loan l1`, `activity/A@loan/l1 [2] Submitted x="v"`,
				`activity/A@card/k1 [2] Submitted x="v"`, `activity/A@card/k2 [3] Submitted x="v"`,
				`claim/late/r1 [3] Late r1`, `activity/A@late/r1 [3] Submitted x="v"`,
				`link [2 3]`,
			},
		},
		{
			name: "version 1: assigned ones and what follows the Open one stay in the order listed",
			mapping: version1 + `activities:
  - {template: R, assigned: true, status: Open}
  - {template: A, attributes: {x: X}}
  - {template: O, status: Open}
  - {template: B, attributes: {x: X}}
`,
			sheet: []string{"No | X", "1 | x"},
			want: []string{
				`1 n "1" [2]`, `client [2] no="1"`, `activity/O@client [2] Open`,
				`activity/R@client [2] Open`, `activity/A@client [2] Submitted x="x"`, `activity/B@client [2] Submitted x="x"`,
			},
		},
	})
}

func TestPlanWideSheets(t *testing.T) {
	const wide = version2 + `claims:
  - {id: loan, key: no, name: "{lender} {no}", when: has("no"), columns: {no: Agr 1, lender: Lender 1}}
  - {id: loan, key: no, name: "{lender} {no}", when: has("no"), columns: {no: Agr 2, lender: Lender 2}}
activities:
  - {template: A, on: loan, when: has("lender"), attributes: {Lender: lender, Twice: {text: "{lender}{{}}"}, Shout: {expr: 'upper(col("lender"))'}}}
  - {template: B, on: claim, status: Open}
`
	header := "No | Agr 1 | Lender 1 | Agr 2 | Lender 2"
	runPlans(t, []planCase{
		{
			name: "the same agreement in both places and in another row is one claim", mapping: wide,
			sheet: []string{header, "1 | a1 | LLOY | a1 | LLOY", "1 | | | a1 | LLOY"},
			want: []string{
				`1 n "1" [2 3]`, `client [2 3] no="1"`,
				`claim/loan/a1 [2 3] LLOY a1`, `activity/A@loan/a1 [2 3] Submitted Lender="LLOY" Twice="LLOY{}" Shout="LLOY"`, `activity/B@loan/a1 [2 3] Open`,
				`link [2 3]`,
			},
		},
	})
}

func TestPlanClaimNames(t *testing.T) {
	const claims = version2 + `claims: [{key: C, name: {text: "{L} {C}", values: {LLOY: Lloyds, C2: two, gone: ""}}}]` + "\n"
	header := "No | C | L"
	runPlans(t, []planCase{
		{
			name: "values for the cells of the columns named", mapping: claims,
			sheet: []string{header, "1 | C1 | LLOY", "1 | C2 | \u00a0LLOY", "1 | C3 | lloy", "1 | C4 | gone", "1 | LLOY | x"},
			want: []string{
				`1 n "1" [2 3 4 5 6]`, `client [2 3 4 5 6] no="1"`, `claim/claim/C1 [2] Lloyds C1`, `claim/claim/C2 [3] Lloyds two`,
				`claim/claim/C3 [4] lloy C3`, `claim/claim/C4 [5] C4`, `claim/claim/LLOY [6] x Lloyds`, `link [2 3 4 5 6]`,
			},
		},
		{
			name: "rows of one claim fill the name together", mapping: claims,
			sheet: []string{header, "1 | C1 |", "1 | C1 | LLOY"},
			want:  []string{`1 n "1" [2 3]`, `client [2 3] no="1"`, `claim/claim/C1 [2 3] Lloyds C1`, `link [2 3]`},
		},
	})
}

func TestPlanResume(t *testing.T) {
	const activities = `activities:
  - {template: A, status: Accepted, attributes: {x: X}}
  - {template: R, assigned: true, status: Open}
  - {template: B, attributes: {y: {column: Y, required: true}}}
  - {template: C, attributes: {z: X}}
`
	const byColumn = version2 + "resume_at: {column: Next}\n" + activities
	header := "No | X | Y | Next"
	runPlans(t, []planCase{
		{
			name:    "by name: completed before it, Open, left out after it; assigned ones as they are",
			mapping: version2 + "resume_at: B\n" + activities, sheet: []string{header, "1 | x | | C"},
			want: []string{
				`1 n "1" [2]`, `client [2] no="1"`, `activity/A@client [2] Accepted x="x"`, `activity/R@client [2] Open`, `activity/B@client [2] Open`, `link [2]`,
			},
		},
		{
			name: "by column, each client where its own step is", mapping: byColumn, sheet: []string{header, "1 | x | y | C", "2 | | | A", "3 | x | | \u00a0B "},
			want: []string{
				`1 n "1" [2]`, `client [2] no="1"`, `activity/A@client [2] Accepted x="x"`, `activity/R@client [2] Open`, `activity/B@client [2] Submitted y="y"`, `activity/C@client [2] Open`, `link [2]`,
				`2 n "2" [3]`, `client [3] no="2"`, `activity/A@client [3] Open`, `activity/R@client [3] Open`, `link [3]`,
				`3 n "3" [4]`, `client [4] no="3"`, `activity/A@client [4] Accepted x="x"`, `activity/R@client [4] Open`, `activity/B@client [4] Open`, `link [4]`,
			},
		},
		{
			name: "by column, empty, unknown or an assigned one", mapping: byColumn, sheet: []string{header, "1 | x | y |", "2 | x | y | D", "3 | x | y | R"},
			want: []string{
				`1 n "1" [2]`, `Leads!D2: Next is empty; the client's next step was expected [unknown-activity]`,
				`2 n "2" [3]`, `Leads!D3: Next names no activity of the workflow; the client's next step was expected [unknown-activity]`,
				`3 n "3" [4]`, `Leads!D4: Next names no activity of the workflow; the client's next step was expected [unknown-activity]`,
			},
		},
		{
			name: "by column, a row that does not tell", mapping: byColumn, sheet: []string{header, "1 | x | y | C", "1 | x | y |"},
			want: []string{`1 n "1" [2 3]`, `Leads!D3: Next is empty; the client's next step was expected [unknown-activity]`},
		},
		{
			name: "by column, rows that disagree", mapping: byColumn, sheet: []string{header, "1 | x | y | C", "1 | x | y | B"},
			want: []string{
				`1 n "1" [2 3]`,
				`Leads!D2: Next differs from Leads!D3, and the rows of one client must agree on where it resumes [conflict]`,
				`Leads!D3: Next differs from Leads!D2, and the rows of one client must agree on where it resumes [conflict]`,
			},
		},
	})
}

func TestPlanConditions(t *testing.T) {
	runPlans(t, []planCase{
		{
			name:    "sheet.when: a row left out is nobody's row",
			mapping: "name: n\napi: v1\nsheet: {when: 'col(\"Opt out\") != \"Yes\"'}\nclient: {key: No, existing: create, fields: {no: No}}\n",
			sheet:   []string{"No | Opt out", "1 | No", "1 | Yes", "| Yes"},
			want:    []string{`1 n "1" [2]`, `client [2] no="1"`, `skipped [3]`, `skipped [4]`},
		},
		{
			name:    "a condition that fails makes the row invalid, and names the column without its cell",
			mapping: version1 + "sheet: {when: 'num(\"X\") > 5 or int(col(\"Y\")) > 0'}",
			sheet:   []string{"No | X | Y", "1 | many | 1", "2 | | 1", "3 | 1 | secret", "4 | 1 | 1"},
			want: []string{
				`1 n "1" [2]`, `Leads!B2: X is used in the expression in line 4 of the mapping, which fails: “X” is not a number; expected one written like 1,234.5 [expression]`,
				`2 n "2" [3]`, `Leads!B3: X is used in the expression in line 4 of the mapping, which fails: “X” is empty [expression]`,
				`3 n "3" [4]`, `Leads!B4: X is used in the expression in line 4 of the mapping, which fails: its cells do not fit what it does with them [expression]`,
				`4 n "4" [5]`, `client [5] no="4"`,
			},
		},
		{
			name:    "a back-filled activity whose cells are all empty is invalid unless when leaves it out",
			mapping: version1 + "activities: [{template: A, attributes: {x: X, y: Y}}, {template: B, when: has(\"X\"), attributes: {x: X}}]",
			sheet:   []string{"No | X | Y", "1 | | y", "2 | |"},
			want: []string{
				`1 n "1" [2]`, `client [2] no="1"`, `activity/A@client [2] Submitted y="y"`,
				`2 n "2" [3]`, `Leads!3: “A” would be sent without attributes: all its cells are empty [no-attributes]`,
			},
		},
		{
			name:    "a row without a key is not held to what its client's other rows may have",
			mapping: version1 + "activities: [{template: A, attributes: {x: X, y: Y}}]",
			sheet:   []string{"No | X | Y | Z", "1 | x | y |", " | | | z"},
			want: []string{
				`1 n "1" [2]`, `client [2] no="1"`, `activity/A@client [2] Submitted x="x" y="y"`,
				`0  "" [3]`, "Leads!A3: No is empty; it is part of the client key [empty-key]",
			},
		},
		{
			name:    "a template without attributes can be back-filled",
			mapping: version2 + "activities: [{template: A, status: Accepted}, {template: B, attributes: {}}, {template: C, when: has(\"X\"), status: Open}]",
			service: service(template("A"), template("B"), template("C", "x")),
			sheet:   []string{"No | X", "1 | x", "2 |"},
			want: []string{
				`1 n "1" [2]`, `client [2] no="1"`, `activity/A@client [2] Accepted`, `activity/B@client [2] Submitted`, `activity/C@client [2] Open`, `link [2]`,
				`2 n "2" [3]`, `client [3] no="2"`, `activity/A@client [3] Accepted`, `activity/B@client [3] Submitted`, `link [3]`,
			},
		},
		{
			name:    "a template without attributes before the step to resume at",
			mapping: version1 + "resume_at: {column: X}\nactivities: [{template: A}, {template: B}, {template: C}]",
			service: service(template("A"), template("B", "b"), template("C", "c")),
			sheet:   []string{"No | X", "1 | B", "2 | C"},
			want: []string{
				`1 n "1" [2]`, `client [2] no="1"`, `activity/B@client [2] Open`, `activity/A@client [2] Submitted`,
				`2 n "2" [3]`, `Leads!3: “B” would be sent without attributes: all its cells are empty [no-attributes]`,
			},
		},
		{
			name:    "cells that cannot be read are not called empty",
			mapping: version1 + "activities: [{template: A, attributes: {x: {column: X, type: Date}}}]",
			sheet:   []string{"No | X", "1 | soon"},
			want:    []string{`1 n "1" [2]`, `Leads!B2: X is not a date; expected ISO 8601 (yyyy-mm-dd) [not-date]`},
		},
	})
}

func TestPlanWorkflowNames(t *testing.T) {
	sheet, records := leads("No | Brand", "1 | Acme", "2 |")
	sheet.Name, sheet.Origin = "Results", "Leads" // of a results workbook: {sheet} is what was imported first
	b := mustBind(t, `name: n
api: v2
client: {key: No, existing: create, fields: {no: No}}
workflow: {name: "{{x}} {sheet} {run.date} {Brand}"}
activities:
  - {template: A, status: Open}
  - {template: B, assigned: true, status: Open, workflow: {name: "Only {run.date}"}}
  - {template: C, assigned: true, status: Open, workflow: {name: "{ brand }", template_identifier: "OWN-{Brand}"}}
`, sheet, service(template("A"), template("B"), template("C")))
	plans := planAll(b, records)
	var got []mapping.Workflow
	for _, s := range plans[0].Steps {
		if s.Activity != nil {
			got = append(got, s.Activity.Workflow)
		}
	}
	want := []mapping.Workflow{{Name: "{x} Leads 2026-11-20 Acme", TemplateIdentifier: "WF"}, {Name: "Only 2026-11-20", TemplateIdentifier: "WF"}, {Name: "Acme", TemplateIdentifier: "OWN-Acme"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("workflows (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{`2 n "2" [3]`, `Results!B3: Brand is empty, and “workflow name” is required [required]`,
		`Results!B3: Brand is empty, and “workflow template identifier” is required [required]`}, outline(plans[1])); d != "" {
		t.Errorf("an empty column in the name (-want +got):\n%s", d)
	}
}

// The look-up's values are the converted ones, of the first row that has one.
// Its addresses are the same however they are sent.
func TestPlanLookup(t *testing.T) {
	email := func(s string) mapping.Identity { return mapping.Identity{Space: "email", Key: s} }
	phone := func(s string) mapping.Identity { return mapping.Identity{Space: "phone", Key: s} }
	for name, tc := range map[string]struct {
		client string
		rows   []string
		want   mapping.Lookup
	}{
		"both": {"lookup: {email: Mail, phone: {column: Tel, type: Phone, region: GB}}", []string{"1 | | 020 7946 0018", "1 | a@b.example |"},
			mapping.Lookup{Email: "a@b.example", Phone: "+442079460018", EmailAddress: email("a@b.example"), PhoneNumber: phone("+442079460018")}},
		"phone in another format": {"lookup: {phone: {column: Tel, type: Phone, region: GB, format: national}}", []string{"1 | | +44 20 7946 0018"},
			mapping.Lookup{Phone: "020 7946 0018", PhoneNumber: phone("+442079460018")}},
		"phone as written": {"lookup: {phone: {column: Tel, format: raw}}", []string{"1 | | 020 7946"}, mapping.Lookup{Phone: "020 7946", PhoneNumber: phone("020 7946")}},
		"both are asked": {"lookup: {email: Mail, phone: Tel, mode: both}", []string{"1 | a@b.example | +44 20 7946 0018"},
			mapping.Lookup{Email: "a@b.example", Phone: "+442079460018", Mode: mapping.LookupBoth, EmailAddress: email("a@b.example"), PhoneNumber: phone("+442079460018")}},
	} {
		t.Run(name, func(t *testing.T) {
			sheet, records := leads(append([]string{"No | Mail | Tel"}, tc.rows...)...)
			b := mustBind(t, "name: n\napi: v1\nclient: {key: No, fields: {no: No}, "+tc.client+"}", sheet, nil)
			if d := cmp.Diff(tc.want, planAll(b, records)[0].Lookup); d != "" {
				t.Errorf("look-up (-want +got):\n%s", d)
			}
		})
	}
}

// Braces in the environment's identifier are a mistake, because nothing replaces them.
func TestWorkflowTemplateIdentifierOfTheEnvironment(t *testing.T) {
	sheet, _ := leads("No")
	to := service(template("T"))
	to.WorkflowTemplateIdentifier = "WF-{Lender}"
	const want = "mapping.yaml:5:25: the environment “uat” has the workflow template identifier “WF-{Lender}”, and nothing replaces its braces [braces]\n" +
		"    hint: write it as workflow.template_identifier in the mapping: there {Column} is replaced by the cell's text\n"
	source := strings.Replace(version2, ", template_identifier: t", "", 1) + "activities: [{template: T, status: Open}]\n"
	if _, problems := mapping.Bind(mustParse(t, source), &sheet, to, runDate); report(problems) != want {
		t.Errorf("problems:\n%s", report(problems))
	}
}
