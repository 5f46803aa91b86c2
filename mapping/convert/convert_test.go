package convert_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// A conversion case: what becomes of one cell. want is the value as JSON, ""
// when it is left out; code is the refusal's code.
type conversionCase struct {
	name string
	c    convert.Converter
	cell cell.Cell
	want string
	code string
}

func runConversions(t *testing.T, cases []conversionCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			value, refusal := tc.c.Convert(tc.cell)
			got, code := "", ""
			if refusal != nil {
				code = refusal.Code
				said := refusal.Message + refusal.Hint
				if refusal.Message == "" || refusal.Hint == "" || len(tc.cell.Raw) > 6 && strings.Contains(said, tc.cell.Raw) {
					t.Errorf("the refusal %+v lacks a message or a hint, or quotes the cell", *refusal)
				}
				if !value.IsZero() {
					t.Errorf("a refused cell has the value %v", value)
				}
			} else if !value.IsZero() {
				if got = string(value.JSON()); !json.Valid([]byte(got)) {
					t.Fatalf("the value %q is not JSON", got)
				}
			}
			if d := cmp.Diff([2]string{tc.want, tc.code}, [2]string{got, code}); d != "" {
				t.Errorf("value and refusal (-want +got):\n%s", d)
			}
		})
	}
}

func text(s string) cell.Cell { return cell.Cell{Kind: cell.Text, Raw: s, Shown: s} }

// number is a General number cell.
func number(raw string) cell.Cell {
	return cell.Cell{Kind: cell.Number, Raw: raw, Shown: raw}
}

func formatted(raw, shown, format string) cell.Cell {
	return cell.Cell{Kind: cell.Number, Raw: raw, Shown: shown, Format: format}
}

func date(serial, shown string) cell.Cell {
	return cell.Cell{Kind: cell.Date, Raw: serial, Shown: shown, Format: "dd/mm/yyyy"}
}

func boolean(b bool) cell.Cell {
	if b {
		return cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}
	}
	return cell.Cell{Kind: cell.Bool, Raw: "0", Shown: "FALSE"}
}

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func ptr(s string) *string { return &s }

func TestCellsWithoutAValue(t *testing.T) {
	for _, typ := range append(convert.AttributeTypes(), convert.Email, convert.Phone) {
		c := convert.Converter{Type: typ, Region: "GB"}
		runConversions(t, []conversionCase{
			{"empty " + string(typ), c, cell.Cell{}, "", ""},
			{"blank " + string(typ), c, text(" \u00a0\t"), "", ""},
			{"#N/A " + string(typ), c, cell.Cell{Kind: cell.Error, Raw: "#N/A", Shown: "#N/A"}, "", "cell-error"},
			{"uncomputed " + string(typ), c, cell.Cell{Kind: cell.Uncomputed}, "", "cell-uncomputed"},
		})
	}
}

// Messages follow the column's header and say what was expected.
func TestRefusalWords(t *testing.T) {
	iso, day := convert.Converter{Type: convert.Date}, func(formats ...string) convert.Converter {
		return convert.Converter{Type: convert.Date, Format: formats[0], OtherFormats: formats[1:], Today: "2026-11-20"}
	}
	london := convert.Converter{Type: convert.DateTime, Zone: location(t, "Europe/London")}
	point, german := convert.Numbers{Decimal: ".", Group: ","}, convert.Numbers{Decimal: ",", Group: "."}
	box, plain := convert.Converter{Type: convert.Checkbox}, convert.Converter{Type: convert.Number, Numbers: point}
	percent, words := convert.Converter{Type: convert.Number, Percent: true, Numbers: point}, convert.Converter{Type: convert.Text}
	listed := convert.Converter{Type: convert.Text, Values: map[string]string{"LLOY": "Lloyds", "BARC": "Barclays"}}
	british := convert.Converter{Type: convert.Phone, Region: "GB"}
	for _, tc := range []struct {
		c    convert.Converter
		cell cell.Cell
		want string
	}{
		{words, cell.Cell{Kind: cell.Error, Raw: "sam@example.com"}, "holds an error, such as #N/A"},
		{words, cell.Cell{Kind: cell.Uncomputed}, "is a formula without a stored result"},
		{words, text("Zo\ufffd"), "holds a character that was lost in an earlier export"},
		{words, text("Zoe\x07"), "holds a control character, which cannot be seen"},
		{words, text("\u200b"), "holds nothing that can be seen"},
		{convert.Converter{Type: convert.Text, MaxLength: 3}, text("Zoë!"), "has 4 characters; expected at most 3"},
		{listed, text("HSBC"), "is not listed in values; expected BARC or LLOY"},
		{words, number("1234567890123456789"), "has more than 15 digits; a spreadsheet keeps 15 and invents the rest"},
		{words, formatted("7700900123", "7.70E+09", "0.00E+00"), "is shown with an exponent, which hides digits"},
		{words, formatted("0.5", "0.5", "# ?/?"), "is shown as a fraction"},
		{words, formatted("1234567", "1234567", "0,"), "is shown in thousands, without its last digits"},
		{box, formatted("1", "1", `[=1]"No";"Yes"`), "is shown by a number format with a condition, such as [>100]"},
		{british, formatted("2079460018", "2079460018", "[>100]0"), "is shown by a number format with a condition, such as [>100]"},
		{day("serial"), formatted("29342.5", "29342.5", "[h]:mm"), "is shown as elapsed time, such as 26:30"},
		{box, text("maybe"), "is not a word of the check box; expected yes, y, true, 1, x or no, n, false, 0"},
		{convert.Converter{Type: convert.Checkbox, Checked: []string{"Ja"}, Unchecked: []string{"Nein"}}, text("yes"),
			"is not a word of the check box; expected Ja or Nein"},
		{day("dd/mm/yyyy"), text("31/04/1980"), "is not a day of the calendar; expected dd/mm/yyyy"},
		{day("dd/mm/yyyy", "d-mmm-yyyy"), text("soon"), "is not a date; expected dd/mm/yyyy or d-mmm-yyyy"},
		{day("dd/mm/yyyy", "serial"), text("soon"), "is not a date; expected dd/mm/yyyy or serial"},
		{day("serial", "dd/mm/yyyy"), text("soon"), "is not a date; expected serial or dd/mm/yyyy"},
		{day("dd/mm/yyyy", "mm/dd/yyyy"), text("01/02/1980"), "is one date read as dd/mm/yyyy and another read as mm/dd/yyyy"},
		{day("d-mmm-yy"), text("12-Mar-29"), "has a year of two digits, and would be a day after that of the run"},
		{day("dd/mm/yyyy"), number("29342"), "is a bare number, not a date; expected a date cell, or a text written as dd/mm/yyyy"},
		{day("serial"), text("soon"), "does not hold a spreadsheet's day count"},
		{iso, text("1/4/1980"), "is not a date; expected ISO 8601 (yyyy-mm-dd)"},
		{iso, boolean(true), "is TRUE or FALSE, not a date"},
		{iso, date("60", ""), "is a day before March 1900, which spreadsheet programs count in different ways"},
		{iso, date("29342.5", ""), "has a time of day; expected a day alone"},
		{iso, date("9999999", ""), "is outside the years 1 to 9999"},
		{london, date("0.5", ""), "holds a time without a day"},
		{london, text("1980-05-01T25:00"), "has a time that no clock shows; expected ISO 8601 (yyyy-mm-ddThh:mm:ss)"},
		{london, text("2026-03-29T01:30"), "is a time that clocks in Europe/London showed twice or never, as they were changed"},
		{convert.Converter{Type: convert.Number, Numbers: german}, text("12.5"), "is not a number; expected one written like 1.234,5"},
		{plain, date("29342", ""), "is a date, not a number"},
		{plain, boolean(true), "is TRUE or FALSE, not a number"},
		{plain, text("5%"), "is a percentage written as text; expected a plain number"},
		{plain, number("1E+300"), "is a number with too many digits"},
		{percent, text("7.5"), "is not a percentage; expected one written like 5.5%"},
		{convert.Converter{Type: convert.Email}, text("änne@example.com"), "has a letter before the @ that is not one of a to z; such addresses are not supported"},
		{convert.Converter{Type: convert.Email}, text("zoe"), "is not an e-mail address; expected one bare address, name@domain"},
		{convert.Converter{Type: convert.Email}, text("zoe@quine"), "has a part after the @ that is not a domain; expected one such as example.com"},
		{british, text("zoe"), "is not a valid phone number; expected one of the region GB, or one with + and a country code"},
		{convert.Converter{Type: convert.Phone}, text("020 7946 0018"), "has no country code; expected a number that begins with +"},
	} {
		if _, refusal := tc.c.Convert(tc.cell); refusal == nil || refusal.Message != tc.want {
			t.Errorf("%v of type %s: %+v, want %q", tc.cell, tc.c.Type, refusal, tc.want)
		}
	}
	// The hint at a number cell names the zeros that it has lost.
	if _, refusal := british.Convert(number("12")); refusal == nil || !strings.Contains(refusal.Hint, "leading zeros") {
		t.Errorf("%+v", refusal)
	}
}
