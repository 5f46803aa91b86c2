package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping"
)

// One slip of the pen is one problem: what it seems to leave out is not reported
// besides.
func TestOneSlipIsOneProblem(t *testing.T) {
	const whole = `name: a
api: v2
client:
  key: No
  lookup: {email: Mail}
  existing: create
  fields: {no: No, x: {column: A}, born: {column: Born, type: Date, format: [dd/mm/yyyy, d mmm yyyy]}}
contacts:
  - id: partner
    key: P
    lookup: {email: P}
    fields: {email: P}
claims: [{key: No, name: "{No}", claimants: [client, partner]}]
workflow: {name: w, template_identifier: W}
activities:
  - {template: T, on: claim, attributes: {A: No}}
  - {template: U, status: Open}
`
	mustParse(t, whole)
	for slip, right := range map[string]string{
		"clinet:": "client:", "nam:": "name:", "ky: No\n": "key: No\n", "lookups: {email": "lookup: {email", "feilds:": "fields:", "colum: A": "column: A",
		"claim: [": "claims: [", "nmae: \"{No}": "name: \"{No}", "tempalte: T": "template: T", "atributes:": "attributes:", "status: Opened": "status: Open",
		"staus: Open": "status: Open", "status: Finished": "status: Open", "existing: creat\n": "existing: create\n", "template_id: W": "template_identifier: W",
		"api: v3": "api: v2", "emial: Mail": "email: Mail", "workflows: {": "workflow: {",
		"fields: {}\ncontacts": "fields: {no: No, x: {column: A}, born: {column: Born, type: Date, format: [dd/mm/yyyy, d mmm yyyy]}}\ncontacts",
		"lookup: P":            "lookup: {email: P}", "lookup: {emial: P}": "lookup: {email: P}",
		"claimants: [client, partnr]": "claimants: [client, partner]", "claimants: ": "claimants: [client, partner]", "claimants: []": "claimants: [client, partner]",
		"claimants: {a: b}": "claimants: [client, partner]", "claimants: [{id: env:X}]": "claimants: [client, partner]",
		"- id:\n": "- id: partner\n", "- id: [partner]\n": "- id: partner\n", "- ident: partner\n": "- id: partner\n",
		"administrator: {ident: env:X}, claimants": "claimants", "administrator: [partner], name": "name",
		"fields: {}\nclaims": "fields: {email: P}\nclaims",
		"[dd/mm/yyyy, [a]]":  "[dd/mm/yyyy, d mmm yyyy]", `[dd/mm/yyyy, ""]`: "[dd/mm/yyyy, d mmm yyyy]", "[dd/mm/yyyy, foo]": "[dd/mm/yyyy, d mmm yyyy]",
	} {
		source := strings.Replace(whole, right, slip, 1)
		if source == whole {
			t.Fatalf("%q is not in the mapping", right)
		}
		m, problems := mapping.Parse("m.yaml", []byte(source))
		if _, more := mapping.Bind(m, nil, nil, runDate); len(problems)+len(more) != 1 {
			t.Errorf("%s: %d problems:\n%s%s", strings.TrimSpace(slip), len(problems)+len(more), report(problems), report(more))
		}
	}
}
