package mapping_test

import (
	"testing"

	"claimsheet/mapping/convert"
)

// Of a notation only a part need be declared: a decimal separator that is the default group
// separator leaves no groups.
func TestNumbers(t *testing.T) {
	for numbers, want := range map[string]convert.Numbers{
		`{}`:                         {Decimal: ".", Group: ","},
		`{decimal: ","}`:             {Decimal: ","},
		`{decimal: ",", group: "."}`: {Decimal: ",", Group: "."},
		`{group: " "}`:               {Decimal: ".", Group: " "},
		`{group: ""}`:                {Decimal: "."},
	} {
		m := mustParse(t, "name: a\napi: v1\nsheet: {numbers: "+numbers+"}\nclient: {key: No, existing: create, fields: {no: No}}\n")
		if m.Sheet.Numbers != want {
			t.Errorf("%s is %+v, want %+v", numbers, m.Sheet.Numbers, want)
		}
	}
}
