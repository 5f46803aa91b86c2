package mapping_test

import (
	"slices"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// A rule with a problem is left out alone, and the paths of the others stay those of the
// whole mapping.
func TestBindPart(t *testing.T) {
	t.Parallel()
	sheet := []cell.Sheet{{Name: "Leads", HeaderRow: 1, Header: []string{"No", "Name", "Lender"}}}
	for name, c := range map[string]struct {
		wrong             map[int][]string // by line of a problem: the path that is left out
		text              string
		partial, keyless  bool
		targets, problems int
		steps             []string // nil for any
	}{
		"nothing is wrong":           {nil, "name: x\napi: v1\nclient: {key: No, existing: create, fields: {a: Name, b: Lender}}\n", false, false, 2, 0, nil},
		"one field":                  {map[int][]string{6: {"client", "fields", "a"}}, "name: x\napi: v1\nclient:\n  key: No\n  existing: create\n  fields: {a: Nobody, b: Lender}\n", true, false, 1, 1, nil},
		"the key":                    {map[int][]string{4: {"client", "key"}}, "name: x\napi: v1\nclient:\n  key: Nobody\n  existing: create\n  fields: {a: Name, b: Lender}\n", true, true, 2, 1, nil},
		"the only field":             {map[int][]string{6: {"client", "fields", "a"}}, "name: x\napi: v1\nclient:\n  key: No\n  existing: create\n  fields: {a: Nobody}\n", true, false, -1, 1, nil},
		"one of two claims":          {map[int][]string{9: {"claims", "0", "key"}}, "name: x\napi: v2\nclient:\n  key: No\n  existing: create\n  fields: {a: Name}\nclaims:\n  - id: one\n    key: Nobody\n    name: X\n  - id: two\n    key: Lender\n    name: Y\n", true, false, 2, 1, nil},
		"one of two activities":      {map[int][]string{9: {"activities", "0", "when"}}, "name: x\napi: v1\nclient:\n  key: No\n  existing: create\n  fields: {a: Name}\nactivities:\n  - template: T\n    when: has(\"Nobody\")\n  - template: U\n    attributes: {c: Lender}\n", true, false, 2, 1, nil},
		"a contact and its activity": {map[int][]string{9: {"contacts", "0", "key"}}, "name: x\napi: v2\nclient:\n  key: No\n  existing: create\n  fields: {a: Name}\ncontacts:\n  - id: p\n    key: Nobody\n    lookup: {email: Name}\n    fields: {e: Name}\nworkflow: {name: W, template_identifier: W}\nactivities: [{template: T, on: p, attributes: {c: Lender}}]\n", true, false, 1, 1, nil},
		"an activity at which clients resume": {map[int][]string{10: {"activities", "0", "when"}}, "name: x\napi: v1\nclient:\n  key: No\n  existing: create\n  fields: {a: Name}\nresume_at: T\nactivities:\n  - template: T\n    when: has(\"Nobody\")\n  - template: U\n    attributes: {c: Lender}\n", true, false, 2, 1,
			[]string{`client [2] a="Ann"`, `activity/U@client [2] Submitted c="LLOY"`}},
		"one that cells may name": {map[int][]string{10: {"activities", "0", "when"}}, "name: x\napi: v1\nclient:\n  key: No\n  existing: create\n  fields: {a: Name}\nresume_at: {column: Lender}\nactivities:\n  - template: LLOY\n    when: has(\"Nobody\")\n  - template: U\n    attributes: {c: Lender}\n", true, false, 2, 1,
			[]string{`client [2] a="Ann"`, `activity/U@client [2] Submitted c="LLOY"`}},
		"a contact and the claims, which may need it": {map[int][]string{9: {"contacts", "0", "key"}}, "name: x\napi: v2\nclient:\n  key: No\n  existing: create\n  fields: {a: Name}\ncontacts:\n  - id: p\n    key: Nobody\n    lookup: {email: Name}\n    fields: {e: Name}\nclaims:\n  - {id: one, key: Lender, name: X, administrator: p}\n  - {id: two, key: Lender, name: Y, claimants: [p]}\n  - {id: three, key: Lender, name: Z, claimants: [p, client]}\n  - {id: four, key: Lender, name: V, administrator: {id: env:A}}\n", true, false, 1, 1,
			[]string{`client [2] a="Ann"`, `link [2]`}},
	} {
		m, found := mapping.Parse("m.yaml", []byte(c.text))
		at := func(p problem.Where) []string { return c.wrong[p.Line] }
		part, problems := mapping.BindPart(m, found, at, sheet, nil, "2026-01-31")
		if len(problems) != c.problems {
			t.Errorf("%s: %v", name, problems)
		}
		if (part == nil) != (c.targets < 0) {
			t.Errorf("%s: the part is %v", name, part)
		}
		if part == nil {
			continue
		}
		if part.Partial != c.partial || part.Keyless != c.keyless || len(part.Targets) != c.targets {
			t.Errorf("%s: %t, %t, %v", name, part.Partial, part.Keyless, part.Targets)
		}
		if name == "one of two activities" && part.Targets[1].Path[1] != "1" {
			t.Errorf("%s: %v", name, part.Targets)
		}
		for _, plan := range planAll(part, []cell.Record{{Row: 2, Cells: []cell.Cell{text("1"), text("Ann"), text("LLOY")}}}) {
			if len(plan.Steps) < 1 || c.steps != nil && !slices.Equal(outline(plan)[1:], c.steps) {
				t.Errorf("%s: %v: %q", name, plan.Problems, outline(plan))
			}
		}
		if name == "one of two claims" && !slices.Equal(part.Targets[1].Path, []string{"claims", "1", "name"}) {
			t.Errorf("%s: %v", name, part.Targets)
		}
	}
}
