package mapping_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
)

// Typographic quotes around a value are named with their place and what to type.
func TestTypographicQuotes(t *testing.T) {
	m, problems := mapping.Parse("m.yaml", []byte(`name: “Leads”
api: v2
client:
  key: E-mail
  existing: create
  fields: {firstName: “First name”, no: ‘No’, last: Clients’, other: "“kept”", 'x': '«kept»'}
claims:
  - key: No
    name: “{Lender} {No}”
workflow: {name: Leads „October}
activities:
  - template: «Your details»
    attributes:
      “Home address”: Address
      Lender: {column: Lender, values: {LLOY: Lloyds”}}
`))
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", report(problems))
	}
	const is = " is a typographic quote, which YAML takes for part of the text [typographic-quotes]"
	var got []string
	for _, w := range m.Warnings {
		got = append(got, w.Error(), w.Hint)
	}
	want := []string{
		"m.yaml:1:7: “" + is, `type straight quotes: "Leads"`,
		"m.yaml:6:23: “" + is, `type straight quotes: "First name"`,
		"m.yaml:6:41: ‘" + is, `type straight quotes: "No"`,
		"m.yaml:9:11: “" + is, `type straight quotes: "{Lender} {No}"`,
		"m.yaml:12:15: «" + is, `type straight quotes: "Your details"`,
		"m.yaml:14:7: “" + is, `type straight quotes: "Home address"`,
		"m.yaml:15:47: ”" + is, `type straight quotes: "Lloyds"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
	if len(mustParse(t, "name: a\napi: v1\nclient: {key: No, existing: create, fields: {no: No}}").Warnings) > 0 {
		t.Error("a mapping without quotes is warned of")
	}
}
