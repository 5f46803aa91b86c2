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
  fields: {no: No, x: {column: A}}
claims: [{key: No, name: "{No}"}]
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
