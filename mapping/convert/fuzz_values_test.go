package convert_test

import (
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// FuzzDayNeverShifts: a day that a person sees, written in any of the ways
// that a cell can hold it and in whatever time zone the sheet was, is sent as
// midnight UTC of that calendar day.
func FuzzDayNeverShifts(f *testing.F) {
	for _, day := range []int32{0, 1, 58, 59, 60, 61, 365, 29342, 44197, 2_958_465} {
		f.Add(day, uint8(0), uint8(0))
		f.Add(day, uint8(1), uint8(1))
	}
	zones := []*time.Location{nil, time.UTC, location(f, "Europe/London"), location(f, "Pacific/Kiritimati"), location(f, "America/Sao_Paulo")}
	formats := map[string]string{"": "2006-01-02", "dd/mm/yyyy": "02/01/2006", "m/d/yyyy": "1/2/2006", "d mmm yyyy": "2 Jan 2006", "mmmm d, yyyy": "January 2, 2006", "yyyymmdd": "20060102"}
	f.Fuzz(func(t *testing.T, days int32, zone, half uint8) {
		at := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days)%2_958_464)
		if at.Year() < 1900 {
			t.Skip("no spreadsheet program has such a day")
		}
		want := at.Format("2006-01-02") + "T00:00:00Z"
		sees := func(c convert.Converter, in cell.Cell) {
			t.Helper()
			c.Type, c.Zone = convert.Date, zones[int(zone)%len(zones)]
			if v, refusal := c.Convert(in); refusal != nil || v.Literal != want {
				t.Fatalf("%s as %q becomes %q, %v", want, in.Raw, v.Literal, refusal)
			}
		}
		for format, layout := range formats {
			sees(convert.Converter{Format: format}, text(at.Format(layout)))
		}
		sees(convert.Converter{Format: "yyyymmdd"}, number(at.Format("20060102")))
		since := func(year int) int {
			return int((at.Unix() - time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix()) / 86400)
		}
		serial := since(1900) + 1
		if serial >= 60 {
			serial++ // the 29 February 1900 that never was
		}
		// A program's arithmetic leaves fractions of a second.
		noise := []string{"", ".000000001", ".0000"}[half%3]
		sees(convert.Converter{}, date(strconv.Itoa(serial)+noise, at.Format("2006-01-02")))
		sees(convert.Converter{Format: "serial"}, number(strconv.Itoa(serial)))
		if since(1904) > 0 {
			sees(convert.Converter{Date1904: true}, date(strconv.Itoa(since(1904))+noise, at.Format("2006-01-02")))
		}
	})
}

// FuzzNumbersAreEqual: what is sent is the number that the cell says, exactly
// in a text and to 15 significant digits in a number cell.
func FuzzNumbersAreEqual(f *testing.F) {
	for _, seed := range []string{"0", "-0.00", "1.1", "1,234.50", "£1,234", "-£5", "1E5", "1.1000000000000001", "0.1234567890123456", "123456789012345", "1234567890123456"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, refusal := (&convert.Converter{Type: convert.Currency}).Convert(text(s)); refusal == nil && !v.IsZero() {
			digits := strings.Map(func(r rune) rune {
				switch {
				case r >= '0' && r <= '9', r == '.':
					return r
				case r == '-', r == '−':
					return '-'
				}
				return -1
			}, s)
			compareNumbers(t, s, digits, v.Literal)
		}
		if _, err := strconv.ParseFloat(s, 64); err != nil || strings.ContainsAny(s, "xXpPiInN_") || len(s) > 60 {
			return // no file holds it as a number
		}
		if v, refusal := (&convert.Converter{Type: convert.Number}).Convert(number(s)); refusal == nil {
			compareNumbers(t, s, s, v.Literal)
		}
	})
}

// compareNumbers wants two literals to be one number, but for what is beyond
// the 15th significant digit.
func compareNumbers(t *testing.T, c, said, sent string) {
	t.Helper()
	want, ok := new(big.Rat).SetString(said)
	got, sentOK := new(big.Rat).SetString(sent)
	if !ok || !sentOK {
		t.Fatalf("%q is sent as %q", c, sent)
	}
	off := new(big.Rat).Sub(want, got)
	off.Abs(off).Mul(off, new(big.Rat).SetInt64(1e14))
	if off.Cmp(want.Abs(want)) > 0 {
		t.Fatalf("%q is sent as %q", c, sent)
	}
}

// FuzzConvertValues: a table of values gives what it lists for what the cell
// says, or else, or a refusal: never anything of the cell's own.
func FuzzConvertValues(f *testing.F) {
	for _, seed := range []string{"LLOY", " LLOY\u00a0", "lloy", "", "n/a", "=LLOY", "LLOY\x00"} {
		f.Add(seed, uint8(cell.Text), true)
		f.Add(seed, uint8(cell.Number), false)
	}
	values := map[string]string{"LLOY": "Lloyds", "n/a": "", "1": "One"}
	f.Fuzz(func(t *testing.T, s string, kind uint8, open bool) {
		c := convert.Converter{Type: convert.DropDown, Values: values}
		if open {
			other := "Other"
			c.Else = &other
		}
		v, refusal := c.Convert(cell.Cell{Kind: cell.Kind(kind % 7), Raw: s, Shown: s})
		listed := false
		for _, to := range values {
			listed = listed || v.Literal == to
		}
		if refusal == nil && !listed && !(open && v.Literal == "Other") {
			t.Fatalf("%q becomes %q", s, v.Literal)
		}
	})
}
