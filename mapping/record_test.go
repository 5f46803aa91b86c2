package mapping_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestRecordsStay holds what a ledger keeps of a mapping and its rows: the
// definition, and the key and payload of every step. A ledger that was written
// by an older version has the same; if they differ, done work would show as
// changed or be sent again. A new key of the mapping language must not change
// this file; it adds nothing to a mapping that does not use it.
func TestRecordsStay(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"v1", "v2"} {
		sheet, records := leads(
			"E-mail | Lead no | First name | DOB | Mobile | Post code | Opt in | Lender | Agreement no | Amount | Signed | Next step",
			"Ann@a.example | L 1 | Ann | 01/05/1980 | 020 7946 0018 | ab1 | Yes | LLOY | A 1 | £1,234.50 | 2026-01-05 10:00 | Sign your claim",
			"ann@a.example | l 1 | | | | ab1 | | BARC | A 2 | 7 | | Sign your claim",
			"bob@b.example | L 2 | Bob | | | ZZ9 | No | LLOY | A 3 | 8 | | Agreement details",
		)
		to := service(
			template("Your details", "Date of birth:Date", "Postcode", "Consent", "Source", "Who", "Contact", "Score:Number", "Mobile"),
			template("Agreement details", "Lender", "Amount:Currency", "Signed:DateTime"),
			template("Sign your claim"), template("Handler review"))
		bound := mustBind(t, string(mustRead(t, "testdata/record/"+name+".yaml")), sheet, to)
		fmt.Fprintln(&b, bound.Definition(""))
		for _, plan := range planAll(bound, records) {
			for _, line := range outline(plan) {
				fmt.Fprintln(&b, line)
			}
			for i := range plan.Steps {
				step := &plan.Steps[i]
				for _, v := range step.Fields {
					fmt.Fprintf(&b, "%s: %s %s %q %v %q %q %v\n", step.Key, v.Name, v.Value.Field, v.Value.Literal,
						v.Source.Row, v.Source.Names, v.Source.Texts, v.Source.FoldCase)
				}
				if a := step.Activity; a != nil {
					fmt.Fprintf(&b, "%s: %s %+v %q %q\n", step.Key, a.Status, a.Workflow, a.StatusSource.Names, a.StatusSource.Texts)
				}
			}
			fmt.Fprintf(&b, "%+v %+v\n", plan.Lookup, plan.Addresses)
		}
	}
	golden(t, "testdata/record/steps.out", b.String())
}
