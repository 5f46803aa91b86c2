package mapping_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
)

// TestPlans holds the plans that rows make, in the files of testdata/plans, which -update writes again. A file may begin with what its mappings
// have in common. Then each case has its name behind =====, the rest of its mapping, its sheet, the environment's templates with attributes and
// types, and contacts with their ids, and the plans: a line for each step or problem. A line behind ~ is about the whole sheet.
func TestPlans(t *testing.T) {
	for _, file := range files(t, "testdata/plans/*.txt") {
		cases := strings.Split(string(mustRead(t, file)), "===== ")
		for i, c := range cases[1:] {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+strings.SplitN(c, "\n", 2)[0], func(t *testing.T) {
				given, _, _ := strings.Cut(c, "--- plans\n")
				source, rows, _ := strings.Cut(given, "--- sheet\n")
				rows, environment, known := strings.Cut(strings.NewReplacer(`\u00a0`, "\u00a0", `\u200b`, "\u200b").Replace(rows), "--- service\n")
				var to *mapping.Service
				if known {
					to = serviceOf(environment)
				}
				_, source, _ = strings.Cut(strings.ReplaceAll(source, `\u00a0`, "\u00a0"), "\n")
				sheet, records := leads(strings.Split(strings.TrimSuffix(rows, "\n"), "\n")...)
				lines := plansOf(t, mustBind(t, cases[0]+source, sheet, to), sheet, records)
				cases[i+1] = given + "--- plans\n" + strings.Join(lines, "\n") + "\n\n"
			})
		}
		golden(t, file, strings.TrimSuffix(strings.Join(cases, "===== "), "\n"))
	}
}

// serviceOf reads lines "template: attribute, attribute:type" and "contact = id".
func serviceOf(lines string) *mapping.Service {
	to := service()
	for line := range strings.Lines(lines) {
		if contact, id, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			to.ContactIDs = map[string]string{contact: id}
			continue
		}
		name, attributes, _ := strings.Cut(strings.TrimSpace(line), ": ")
		to.Templates = append(to.Templates, template(name, strings.FieldsFunc(attributes, func(r rune) bool { return r == ',' || r == ' ' })...))
	}
	return to
}

// plansOf are the outlines of the plans, and what is said of the sheet. Each problem says what to do.
func plansOf(t *testing.T, b *mapping.Binding, sheet cell.Sheet, records []cell.Record) []string {
	t.Helper()
	var notes mapping.CellNotes
	fill := mapping.FillDown(b.Mapping().FillDown(), sheet)
	for i := range records {
		records[i] = fill(records[i])
		notes.Add(b.Convert(records[i]).Notes)
	}
	plans := planAll(b, records)
	lines := outlines(plans)
	wrong, warnings := b.CheckCells(notes)
	for _, p := range append(wrong, warnings...) {
		lines = append(lines, "~ "+p.Error()+" "+p.Hint)
	}
	for _, plan := range plans {
		for _, p := range plan.Problems {
			if p.Hint == "" {
				t.Errorf("%v does not say what to do", p)
			}
		}
	}
	return lines
}

const (
	version1 = "name: n\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}\n"
	version2 = "name: n\napi: v2\nclient: {key: No, existing: create, fields: {no: No}}\nworkflow: {name: w, template_identifier: t}\n"
)

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
