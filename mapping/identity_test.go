package mapping_test

import (
	"testing"

	"claimsheet/mapping"
)

func TestKeySpace(t *testing.T) {
	for client, want := range map[string]string{
		"key: Mail, lookup: {email: Mail}":                              "email",
		"key: Tel, lookup: {phone: {column: Tel, region: GB}}":          "phone",
		"key: No, lookup: {email: Mail}":                                "loans",
		"key: No, existing: create, key_space: customers":               "customers",
		"key: [No, Mail], lookup: {email: Mail}, key_space: households": "households",
	} {
		t.Run(client, func(t *testing.T) {
			sheet, records := leads("No | Mail | Tel", "1 | a@b.example | 020 7946 0018")
			b := mustBind(t, "name: loans\napi: v1\nclient: {fields: {no: No}, "+client+"}", sheet, nil)
			if got := b.KeySpace(); got != want || got != planAll(b, records)[0].Client.Space {
				t.Errorf("the key space is %q, want %q; a plan's client is of %q", got, want, planAll(b, records)[0].Client.Space)
			}
		})
	}
}

// A results workbook's sheet has a name of its own; {sheet} is the name of the
// sheet that was first imported.
func TestSheetNameOfAResultsWorkbook(t *testing.T) {
	sheet, records := leads("No", "1")
	sheet.Name, sheet.Origin = "Results", "Leads"
	b := mustBind(t, `name: n
api: v2
client: {key: No, existing: create, fields: {no: No}}
workflow: {name: "{sheet}"}
activities: [{template: A, status: Open}]
`, sheet, service(template("A")))
	for _, step := range planAll(b, records)[0].Steps {
		if step.Kind == mapping.ActivityStep && step.Activity.Workflow.Name != "Leads" {
			t.Errorf("the workflow's name is %q, want Leads", step.Activity.Workflow.Name)
		}
	}
}
