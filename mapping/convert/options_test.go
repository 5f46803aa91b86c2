package convert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping/convert"
)

func TestCheckRefusesDateFormats(t *testing.T) {
	cases := map[string]string{ // format to what the error says
		"mm/yyyy":               "no day",
		"dd/yyyy":               "no month",
		"dd/mm":                 "no year",
		"dd-mm-yyyy hh:mm mm":   "the month twice",
		"dddd dd mm yyyy":       `unknown token "dddd"`,
		"dd/mm/yyy":             `unknown token "yyy"`,
		"dd/mmmmm/yyyy":         `unknown token "mmmmm"`,
		"%d/%m/%Y":              `unknown token "Y"`,
		"2006-01-02":            "no digits of its own",
		"dd/mm/yyyy hh:m":       `unknown token "m"`,
		"dd/mm/yyyy hh:mm:s":    `unknown token "s"`,
		"dd/mm/yyyyThh:mm":      `unknown token "T"`,
		"dd/mm/yyyy hhh":        `unknown token "hhh"`,
		"dd/mm/yyyy dd":         "the day twice",
		"dd/mm/yy yyyy":         "the year twice",
		"mmm mm dd yyyy":        "the month twice",
		"dd/mm/yyyy hh:ss":      "seconds without minutes",
		"dd/mm/yyyy AM/PM":      "AM/PM without an hour",
		"dmyyyy":                "side by side",
		`dd/mm/yyyy "o'clock`:   "has no end",
		strings.Repeat("/", 65): "at most 64",
	}
	for format, want := range cases {
		c := convert.Converter{Type: convert.Date, Format: format}
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the format %q: %v; want something with %q", format, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	cases := []struct {
		name string
		c    convert.Converter
		want []string // option and code
	}{
		{"nothing given", convert.Converter{}, nil},
		{"text with a table", convert.Converter{Type: convert.DropDown, Values: map[string]string{"a": "b"}, Else: ptr("c"), MaxLength: 9}, nil},
		{"date", convert.Converter{Type: convert.Date, Format: "d mmm yy", Output: convert.AsDate}, nil},
		{"serial", convert.Converter{Type: convert.DateTime, Format: "serial"}, nil},
		{"phone", convert.Converter{Type: convert.Phone, Format: "national", Region: "GB"}, nil},
		{"raw phone", convert.Converter{Type: convert.Phone, Format: "raw", MaxLength: 20}, nil},
		{"checkbox", convert.Converter{Type: convert.Checkbox, Checked: []string{"Yes"}, Unchecked: []string{}}, nil},
		{"bad date format", convert.Converter{Type: convert.Date, Format: "dd.mm"}, []string{"format date-format"}},
		{"several date formats", convert.Converter{Type: convert.DateTime, Format: "dd/mm/yyyy", OtherFormats: []string{"serial", "d-mmm-yyyy hh:mm"}}, nil},
		{"bad date formats among several", convert.Converter{Type: convert.Date, Format: "dd.mm", OtherFormats: []string{"dd/mm/yyyy", "d-m"}}, []string{"format date-format", "format date-format"}},
		{"a date format twice", convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy", OtherFormats: []string{"dd/mm/yyyy"}}, []string{"format date-format"}},
		{"several phone formats", convert.Converter{Type: convert.Phone, Format: "e164", OtherFormats: []string{"raw"}}, []string{"format format-list"}},
		{"format of a text", convert.Converter{Format: "dd.mm.yyyy"}, []string{"format option-type"}},
		{"bad phone format", convert.Converter{Type: convert.Phone, Format: "E164"}, []string{"format phone-format"}},
		{"bad output", convert.Converter{Type: convert.Date, Output: "day"}, []string{"output output"}},
		{"output of a DateTime", convert.Converter{Type: convert.DateTime, Output: convert.AsDate}, []string{"output option-type"}},
		{"percent", convert.Converter{Type: convert.Number, Percent: true}, nil},
		{"percent of a Currency", convert.Converter{Type: convert.Currency, Percent: true}, []string{"percent option-type"}},
		{"percent of a text", convert.Converter{Percent: true}, []string{"percent option-type"}},
		{"percent of a date", convert.Converter{Type: convert.Date, Percent: true}, []string{"percent option-type"}},
		{"one list of words", convert.Converter{Type: convert.Checkbox, Checked: []string{"Yes"}}, []string{"unchecked checkbox-words"}},
		{"word on both lists", convert.Converter{Type: convert.Checkbox, Checked: []string{"Yes"}, Unchecked: []string{"No", "YES"}}, []string{"unchecked checkbox-words"}},
		{"empty word", convert.Converter{Type: convert.Checkbox, Checked: []string{"Yes"}, Unchecked: []string{""}}, []string{"unchecked checkbox-words"}},
		{"words of a number", convert.Converter{Type: convert.Number, Checked: []string{"a"}, Unchecked: []string{"b"}}, []string{"checked option-type", "unchecked option-type"}},
		{"else alone", convert.Converter{Else: ptr("x")}, []string{"else else-alone"}},
		{"table of a date", convert.Converter{Type: convert.Date, Values: map[string]string{"a": "b"}}, []string{"values option-type"}},
		{"key that cannot match", convert.Converter{Values: map[string]string{" a": "b", "c": "d"}}, []string{"values values-key"}},
		{"value that is too long", convert.Converter{Values: map[string]string{"a": "long"}, MaxLength: 3}, []string{"values too-long"}},
		{"negative length", convert.Converter{MaxLength: -1}, []string{"max_length max-length"}},
		{"length of a number", convert.Converter{Type: convert.Currency, MaxLength: 3}, []string{"max_length option-type"}},
		{"region of an e-mail", convert.Converter{Type: convert.Email, Region: "GB"}, []string{"region option-type"}},
		{"no region", convert.Converter{Type: convert.Phone, Region: "UK"}, []string{"region phone-region"}},
		{"region in lower case", convert.Converter{Type: convert.Phone, Region: "gb"}, []string{"region phone-region"}},
		{"all at once", convert.Converter{Type: convert.Phone, Format: "x", Region: "x", Else: ptr("")}, []string{"else option-type", "format phone-format", "else else-alone", "region phone-region"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, optionsAndCodes(t, tc.c.Check())); d != "" {
				t.Errorf("wrong (-want +got):\n%s", d)
			}
		})
	}
}

func TestCheckNumbers(t *testing.T) {
	cases := []struct {
		n    convert.Numbers
		want []string
	}{
		{convert.Numbers{}, nil},
		{convert.Numbers{Decimal: "."}, nil},
		{convert.Numbers{Decimal: ",", Group: " "}, nil},
		{convert.Numbers{Decimal: ",", Group: "."}, nil},
		{convert.Numbers{Decimal: ",", Group: ","}, []string{"group number-separator"}},
		{convert.Numbers{Group: "."}, []string{"group number-separator"}},
		{convert.Numbers{Decimal: "::", Group: "5"}, []string{"decimal number-separator", "group number-separator"}},
		{convert.Numbers{Decimal: " ", Group: ","}, []string{"decimal number-separator"}},
		{convert.Numbers{Decimal: "-", Group: ","}, []string{"decimal number-separator"}},
	}
	for _, tc := range cases {
		if d := cmp.Diff(tc.want, optionsAndCodes(t, tc.n.Check())); d != "" {
			t.Errorf("wrong of %+v (-want +got):\n%s", tc.n, d)
		}
	}
}

func optionsAndCodes(t *testing.T, wrong convert.OptionErrors) []string {
	t.Helper()
	var got []string
	for _, m := range wrong {
		if m.Message == "" || m.Hint == "" {
			t.Errorf("%+v lacks a message or a hint", m)
		}
		got = append(got, m.Option+" "+m.Code)
	}
	return got
}
