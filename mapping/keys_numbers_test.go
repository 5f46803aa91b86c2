package mapping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// TestNumbers reads notations of which only a part is declared. A decimal
// separator that is the default group separator leaves no groups, and what
// would be read as one is refused with an example that fits.
func TestNumbers(t *testing.T) {
	type reading struct{ cell, want string } // the literal, or the example of a refusal
	cases := []struct {
		numbers string
		want    convert.Numbers
		reading []reading
	}{
		{`{}`, convert.Numbers{Decimal: ".", Group: ","}, []reading{{"1,234.5", "1234.5"}, {"1.234,5", "like 1,234.5"}}},
		{`{decimal: ","}`, convert.Numbers{Decimal: ","}, []reading{{"1234,5", "1234.5"}, {"1.234", "like 1234,5"}, {"1.234,5", "like 1234,5"}}},
		{`{decimal: ",", group: "."}`, convert.Numbers{Decimal: ",", Group: "."}, []reading{{"1.234", "1234"}, {"1.234,5", "1234.5"}}},
		{`{group: " "}`, convert.Numbers{Decimal: ".", Group: " "}, []reading{{"1 234.5", "1234.5"}, {"1,234", "like 1 234.5"}}},
		{`{group: ""}`, convert.Numbers{Decimal: "."}, []reading{{"1.234", "1.234"}, {"1,234", "like 1234.5"}}},
	}
	for _, c := range cases {
		t.Run(c.numbers, func(t *testing.T) {
			m, problems := mapping.Parse("m.yaml", []byte("name: a\napi: v1\nsheet: {numbers: "+c.numbers+"}\n"+
				"client: {key: No, existing: create, fields: {no: No}}\n"))
			if len(problems) > 0 {
				t.Fatal(report(problems))
			}
			if diff := cmp.Diff(c.want, m.Sheet.Numbers); diff != "" {
				t.Errorf("numbers (-want +got):\n%s", diff)
			}
			conv := convert.Converter{Type: convert.Number, Numbers: m.Sheet.Numbers}
			for _, r := range c.reading {
				v, refusal := conv.Convert(cell.Cell{Kind: cell.Text, Raw: r.cell, Shown: r.cell})
				got := v.Literal
				if refusal != nil {
					got = refusal.Message
				}
				if got != r.want && !strings.HasSuffix(got, r.want) {
					t.Errorf("%q is read as %q, want %q", r.cell, got, r.want)
				}
			}
		})
	}
}
