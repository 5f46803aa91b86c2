package convert_test

import (
	"encoding/json"
	"testing"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// FuzzConvert feeds converters cells of every kind. Whatever comes, they
// must not panic, and what they accept must be one JSON value of the right
// sort, which is read again as itself.
func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		"", " ", "1980-05-01", "1980-05-01T14:30:05.25+01:00", "01/05/1980", "1 May 80", "29342.5", "60", "1E+20", "1.1000000000000001",
		"1,234.50", "-£5", "1 234,5", "(12)", "50%", "yes", "TRUE", "sam@Bücher.example", "020 7946 0018", "+44 (0)20 7946 0018", "a\r\nb\x00\xff",
	} {
		f.Add(seed, "General", uint8(cell.Text))
		f.Add(seed, "0.00", uint8(cell.Number))
		f.Add(seed, "dd/mm/yyyy", uint8(cell.Date))
	}
	point := convert.Numbers{Decimal: ".", Group: ","}
	conversions := []convert.Converter{
		{Type: convert.Text, MaxLength: 20}, {Type: convert.TextArea}, {Type: convert.Checkbox},
		{Type: convert.Date}, {Type: convert.Date, Format: "dd/mm/yyyy"}, {Type: convert.Date, Format: "d mmm yy", Date1904: true},
		{Type: convert.Date, Format: "dd/mm/yyyy", OtherFormats: []string{"mm/dd/yyyy", "d mmm yy", "yyyymmdd"}},
		{Type: convert.Date, Format: "serial"}, {Type: convert.DateTime, Zone: time.UTC}, {Type: convert.DateTime, Zone: location(f, "Europe/London")},
		{Type: convert.Number, Numbers: point}, {Type: convert.Number, Percent: true, Numbers: point}, {Type: convert.Currency, Numbers: convert.Numbers{Decimal: ",", Group: "."}},
		{Type: convert.Email}, {Type: convert.Phone}, {Type: convert.Phone, Region: "GB"}, {Type: convert.Phone, Region: "IT"},
	}
	f.Fuzz(func(t *testing.T, s, format string, kind uint8) {
		in := cell.Cell{Kind: cell.Kind(kind % 7), Raw: s, Shown: s, Format: format}
		for _, c := range conversions {
			value, refusal := c.Convert(in)
			if refusal != nil || value.IsZero() {
				continue
			}
			if !json.Valid(value.JSON()) || value.Field != c.Type.Field() {
				t.Fatalf("%q becomes %q of %s", s, value.Literal, value.Field)
			}
			again := text(value.Literal)
			if c.Format, c.OtherFormats = "", nil; value.Field == cell.DoubleValue {
				again = number(value.Literal)
			}
			if twice, refusal := c.Convert(again); refusal != nil || twice != value {
				t.Fatalf("%s %q does not come back: %q, %v", c.Type, value.Literal, twice.Literal, refusal)
			}
		}
	})
}
