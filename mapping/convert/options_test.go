package convert_test

import (
	"slices"
	"strings"
	"testing"

	"claimsheet/mapping/convert"
)

func TestCheckRefusesDateFormats(t *testing.T) {
	cases := map[string]string{ // format to what the error says
		"mm/yyyy":             "no day",
		"dd/yyyy":             "no month",
		"dd/mm":               "no year",
		"dd-mm-yyyy hh:mm mm": "the month twice",
		"dddd dd mm yyyy":     `unknown token "dddd"`,
		"dd/mm/yyy":           `unknown token "yyy"`,
		"dd/mmmmm/yyyy":       `unknown token "mmmmm"`,
		"%d/%m/%Y":            `unknown token "Y"`,
		"2006-01-02":          "no digits of its own",
		"dd/mm/yyyy hh:m":     `unknown token "m"`,
		"dd/mm/yyyy hh:mm:s":  `unknown token "s"`,
		"dd/mm/yyyyThh:mm":    `unknown token "T"`,
		"dd/mm/yyyy hhh":      `unknown token "hhh"`,
		"dd/mm/yyyy dd":       "the day twice",
		"dd/mm/yy yyyy":       "the year twice",
		"mmm mm dd yyyy":      "the month twice",
		"dd/mm/yyyy hh:ss":    "seconds without minutes",
		"dmyyyy":              "side by side",
	}
	for format, want := range cases {
		c := convert.Converter{Type: convert.Date, Format: format}
		if wrong := c.Check(); len(wrong) != 1 || !strings.Contains(wrong[0], want) {
			t.Errorf("the format %q: %v; want something with %q", format, wrong, want)
		}
	}
}

func TestCheck(t *testing.T) {
	cases := []struct {
		name string
		c    convert.Converter
		want []string // parts of the messages
	}{
		{"nothing given", convert.Converter{}, nil},
		{"text with a table", convert.Converter{Type: convert.DropDown, Values: map[string]string{"a": "b"}, Else: ptr("c"), MaxLength: 9}, nil},
		{"phone", convert.Converter{Type: convert.Phone, Format: "national", Region: "GB"}, nil},
		{"raw phone", convert.Converter{Type: convert.Phone, Format: "raw", MaxLength: 20}, nil},
		{"several date formats", convert.Converter{Type: convert.DateTime, Format: "dd/mm/yyyy", OtherFormats: []string{"serial", "d-mmm-yyyy hh:mm"}}, nil},
		{"bad date formats among several", convert.Converter{Type: convert.Date, Format: "dd.mm", OtherFormats: []string{"dd/mm/yyyy", "d-m"}}, []string{"date format", "date format"}},
		{"several phone formats", convert.Converter{Type: convert.Phone, Format: "e164", OtherFormats: []string{"raw"}}, []string{"list of formats"}},
		{"format of a text", convert.Converter{Format: "dd.mm.yyyy"}, []string{"format does not go with"}},
		{"bad phone format", convert.Converter{Type: convert.Phone, Format: "E164"}, []string{"format of phone numbers"}},
		{"output of a DateTime", convert.Converter{Type: convert.DateTime, IsBareDate: true}, []string{"output does not go with"}},
		{"percent of a text", convert.Converter{Percent: true}, []string{"percent does not go with"}},
		{"one list of words", convert.Converter{Type: convert.Checkbox, Checked: []string{"Yes"}}, []string{"must both be given"}},
		{"word on both lists", convert.Converter{Type: convert.Checkbox, Checked: []string{"Yes"}, Unchecked: []string{"No", "YES"}}, []string{"under both"}},
		{"words of a number", convert.Converter{Type: convert.Number, Checked: []string{"a"}, Unchecked: []string{"b"}}, []string{"checked does not go with", "unchecked does not go with"}},
		{"else alone", convert.Converter{Type: convert.Text, Else: ptr("x")}, []string{"else is given without values"}},
		{"table of a date", convert.Converter{Type: convert.Date, Values: map[string]string{"a": "b"}}, []string{"values does not go with"}},
		{"length of a number", convert.Converter{Type: convert.Currency, MaxLength: 3}, []string{"max_length does not go with"}},
		{"region of an e-mail", convert.Converter{Type: convert.Email, Region: "GB"}, []string{"region does not go with"}},
		{"no region", convert.Converter{Type: convert.Phone, Region: "UK"}, []string{"is not a region"}},
		{"all at once", convert.Converter{Type: convert.Phone, Format: "x", Region: "x", Else: ptr("")}, []string{"else does not go with", "format of phone numbers", "else is given without values", "is not a region"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			wrong := tc.c.Check()
			if !slices.EqualFunc(wrong, tc.want, strings.Contains) {
				t.Errorf("%q, want %q", wrong, tc.want)
			}
		})
	}
}

func TestCheckNumbers(t *testing.T) {
	for n, want := range map[convert.Numbers]bool{
		{Decimal: "."}: true, {Decimal: ",", Group: " "}: true, {Decimal: ".", Group: "."}: false, {Group: "."}: false, {Decimal: "::"}: false, {Decimal: ".", Group: "5"}: false, {Decimal: " ", Group: ","}: false,
	} {
		if got := n.IsClear(); got != want {
			t.Errorf("%+v is clear: %t", n, got)
		}
	}
}
