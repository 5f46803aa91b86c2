package convert_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// fuzzConversion feeds a converter cells of every kind. Whatever comes, it
// must not panic, and what it accepts must be one JSON value of the right
// sort; check looks closer.
func fuzzConversion(f *testing.F, conversions []convert.Converter, check func(*testing.T, convert.Converter, cell.Value)) {
	for _, seed := range []string{
		"", " ", "1980-05-01", "1980-05-01T14:30:05.25+01:00", "01/05/1980", "1 May 80", "29342.5", "60", "1E+20", "1.1000000000000001",
		"1,234.50", "-£5", "1 234,5", "(12)", "50%", "yes", "TRUE", "sam@Bücher.example", "020 7946 0018", "+44 (0)20 7946 0018", "a\r\nb\x00\xff",
	} {
		f.Add(seed, "General", uint8(cell.Text))
		f.Add(seed, "0.00", uint8(cell.Number))
		f.Add(seed, "dd/mm/yyyy", uint8(cell.Date))
	}
	f.Fuzz(func(t *testing.T, s, format string, kind uint8) {
		in := cell.Cell{Kind: cell.Kind(kind % 7), Raw: s, Shown: s, Format: format}
		for _, c := range conversions {
			value, refusal := c.Convert(in)
			if refusal != nil || value.IsZero() {
				continue
			}
			if !json.Valid(value.JSON()) {
				t.Fatalf("%q becomes %q, which is not JSON", s, value.Literal)
			}
			if value.Field != c.Type.Field() {
				t.Fatalf("a %s has the field %s", c.Type, value.Field)
			}
			check(t, c, value)
		}
	})
}

// again converts the literal of an accepted value once more.
func again(t *testing.T, c convert.Converter, v cell.Value) {
	t.Helper()
	if twice, refusal := c.Convert(text(v.Literal)); refusal != nil || twice != v {
		t.Fatalf("%s %q does not come back: %q, %v", c.Type, v.Literal, twice.Literal, refusal)
	}
}

func FuzzConvertText(f *testing.F) {
	fuzzConversion(f, []convert.Converter{{Type: convert.Text, MaxLength: 20}, {Type: convert.TextArea}},
		func(t *testing.T, c convert.Converter, v cell.Value) {
			if !utf8.ValidString(v.Literal) || strings.ContainsAny(v.Literal, "\r\x00\x1b") {
				t.Fatalf("%q is not clean", v.Literal)
			}
			again(t, c, v)
		})
}

func FuzzConvertCheckbox(f *testing.F) {
	fuzzConversion(f, []convert.Converter{{Type: convert.Checkbox}}, again)
}

func FuzzConvertDate(f *testing.F) {
	fuzzConversion(f, []convert.Converter{
		{Type: convert.Date}, {Type: convert.Date, Format: "dd/mm/yyyy"}, {Type: convert.Date, Format: "d mmm yy", Date1904: true},
		{Type: convert.Date, Format: "dd/mm/yyyy", OtherFormats: []string{"mm/dd/yyyy", "d mmm yy", "yyyymmdd"}},
		{Type: convert.Date, Format: "serial"}, {Type: convert.DateTime, Zone: time.UTC}, {Type: convert.DateTime, Zone: location(f, "Europe/London")},
	}, func(t *testing.T, c convert.Converter, v cell.Value) {
		if at, err := time.Parse("2006-01-02T15:04:05Z", v.Literal); err != nil || at.Year() < 1 {
			t.Fatalf("%q is no date-time of the service: %v", v.Literal, err)
		}
		c.Format, c.OtherFormats = "", nil
		again(t, c, v)
	})
}

func FuzzConvertNumber(f *testing.F) {
	fuzzConversion(f, []convert.Converter{
		{Type: convert.Number}, {Type: convert.Number, Percent: true}, {Type: convert.Currency, Numbers: convert.Numbers{Decimal: ",", Group: "."}},
	}, func(t *testing.T, c convert.Converter, v cell.Value) {
		if strings.ContainsAny(v.Literal, "eE+") || len(v.Literal) > 80 {
			t.Fatalf("%q is not a plain number", v.Literal)
		}
		if strings.Trim(strings.Replace(v.Literal, ".", "", 1), "-0") != "" && len(strings.Trim(strings.Replace(v.Literal, ".", "", 1), "-0")) > 15 {
			t.Fatalf("%q has more than 15 significant digits", v.Literal)
		}
		if twice, refusal := c.Convert(number(v.Literal)); refusal != nil || twice != v {
			t.Fatalf("%q does not come back: %q, %v", v.Literal, twice.Literal, refusal)
		}
	})
}

func FuzzConvertEmail(f *testing.F) {
	fuzzConversion(f, []convert.Converter{{Type: convert.Email}}, func(t *testing.T, c convert.Converter, v cell.Value) {
		if len(v.Literal) > 254 || strings.Count(v.Literal, "@") != 1 {
			t.Fatalf("%q is no address", v.Literal)
		}
		again(t, c, v)
	})
}

func FuzzConvertPhone(f *testing.F) {
	fuzzConversion(f, []convert.Converter{
		{Type: convert.Phone}, {Type: convert.Phone, Region: "GB"}, {Type: convert.Phone, Region: "IT"},
	}, func(t *testing.T, c convert.Converter, v cell.Value) {
		if v.Literal[0] != '+' || strings.Trim(v.Literal[1:], "0123456789") != "" {
			t.Fatalf("%q is not E.164", v.Literal)
		}
		again(t, c, v)
	})
}

// A format that compiles reads what it is given without a panic; one that
// does not is refused in words.
func FuzzDateFormat(f *testing.F) {
	for format := range dateFormats {
		f.Add(format, "01/05/1980")
	}
	f.Add(`yyyy"年"m\月d"日"`, "1980年5月1日")
	f.Add("mmmm d, yyyy h:mm AM/PM", "May 1, 1980 2:30 PM")
	f.Fuzz(func(t *testing.T, format, s string) {
		c := convert.Converter{Type: convert.Date, Format: format}
		value, refusal := c.Convert(text(s))
		if c.Check() != nil && refusal == nil && !value.IsZero() {
			t.Fatalf("the unusable format %q read %q", format, s)
		}
		if c.Check() != nil || refusal != nil || format == "dd/mm/yyyy" {
			return
		}
		// A second format never changes what the first one reads; at most it adds doubt.
		for _, list := range [][2]string{{format, "dd/mm/yyyy"}, {"dd/mm/yyyy", format}} {
			c.Format, c.OtherFormats = list[0], list[1:]
			if both, refusal := c.Convert(text(s)); refusal == nil && both != value || refusal != nil && refusal.Code != "date-ambiguous" {
				t.Fatalf("%q is %q by %q alone; with dd/mm/yyyy beside it %q, %v", s, value.Literal, format, both.Literal, refusal)
			}
		}
	})
}

func FuzzKeyText(f *testing.F) {
	for _, seed := range []string{"Lead 17", "\u00a0Zoe\u0308 \u200b", "1E5", "می\u200cخواهم"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, refusal := convert.Key(text(s))
		if refusal != nil {
			return
		}
		if twice, refusal := convert.Key(text(once)); refusal != nil || twice != once {
			t.Fatalf("%q becomes %q, then %q (%v)", s, once, twice, refusal)
		}
	})
}
