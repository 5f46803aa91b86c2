package convert_test

import (
	"encoding/json"
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
				if refusal.Message == "" || refusal.Hint == "" {
					t.Errorf("the refusal %+v lacks a message or a hint", *refusal)
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

// Messages follow the column's header, say what was expected and never hold
// what the cell holds.
func TestRefusalWords(t *testing.T) {
	cases := []struct {
		c    convert.Converter
		cell cell.Cell
		want string
	}{
		{convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy"}, text("31/04/1980"), "is not a day of the calendar; expected dd/mm/yyyy"},
		{convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy", OtherFormats: []string{"d-mmm-yyyy"}}, text("soon"), "is not a date; expected dd/mm/yyyy or d-mmm-yyyy"},
		{convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy", OtherFormats: []string{"serial"}}, text("soon"), "is not a date; expected dd/mm/yyyy or serial"},
		{convert.Converter{Type: convert.Date, Format: "serial", OtherFormats: []string{"dd/mm/yyyy"}}, text("soon"), "is not a date; expected serial or dd/mm/yyyy"},
		{convert.Converter{Type: convert.Date, Format: "dd/mm/yyyy", OtherFormats: []string{"mm/dd/yyyy"}}, text("01/02/1980"), "is one date read as dd/mm/yyyy and another read as mm/dd/yyyy"},
		{convert.Converter{Type: convert.Date}, text("1/4/1980"), "is not a date; expected ISO 8601 (yyyy-mm-dd)"},
		{convert.Converter{Type: convert.Text}, cell.Cell{Kind: cell.Error, Raw: "#DIV/0!"}, "holds the error #DIV/0!"},
		{convert.Converter{Type: convert.Text}, cell.Cell{Kind: cell.Error, Raw: "sam@example.com"}, "holds an error"},
		{convert.Converter{Type: convert.Text}, cell.Cell{Kind: cell.Uncomputed}, "is a formula without a stored result"},
		{convert.Converter{Type: convert.Number, Numbers: convert.Numbers{Decimal: ",", Group: "."}}, text("12.5"), "is not a number; expected one written like 1.234,5"},
		{convert.Converter{Type: convert.Text, MaxLength: 3}, text("Zoë!"), "has 4 characters; expected at most 3"},
		{convert.Converter{Type: convert.Checkbox}, text("maybe"), "is not a word of the check box; expected yes, y, true, 1, x or no, n, false, 0"},
	}
	for _, tc := range cases {
		_, refusal := tc.c.Convert(tc.cell)
		if refusal == nil {
			t.Errorf("%v of type %s is not refused", tc.cell, tc.c.Type)
			continue
		}
		if d := cmp.Diff(tc.want, refusal.Message); d != "" {
			t.Errorf("message (-want +got):\n%s", d)
		}
	}
}
