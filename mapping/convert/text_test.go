package convert_test

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

func TestConvertText(t *testing.T) {
	plain := convert.Converter{Type: convert.Text}
	area := convert.Converter{Type: convert.TextArea}
	banks := convert.Converter{Type: convert.DropDown, Values: map[string]string{"LLOY": "Lloyds", "BARC": "Barclays", "none": "", "1": "One", "TRUE": "Yes"}}
	withElse := banks
	withElse.Else = ptr("Other")
	short := convert.Converter{Type: convert.Text, MaxLength: 4}
	runConversions(t, []conversionCase{
		{"trimmed", plain, text(" \u00a0\ufeffSam\u200b\t\n"), `"Sam"`, ""},
		{"inner white space stays", plain, text("Sam \u00a0 Leaf"), "\"Sam \u00a0 Leaf\"", ""},
		{"invisible only", plain, text("\u200b"), "", "text-invisible"},
		{"line breaks in TextArea", area, text("1 High St\r\nLeeds\rUK"), `"1 High St\nLeeds\nUK"`, ""},
		{"escape", plain, text("a\x1b[0m"), "", "text-control"},
		{"DEL", plain, text("a\x7fb"), "", "text-control"},
		{"replacement character", plain, text("Zo\ufffd"), "", "text-broken"},
		{"what is shown, not what is stored", plain, cell.Cell{Kind: cell.Text, Raw: "x", Shown: "Mr x", Format: `"Mr "@`}, `"Mr x"`, ""},

		{"number", plain, number("123"), `"123"`, ""},
		{"number with zeros by its format", plain, formatted("123", "00123", "00000"), `"00123"`, ""},
		{"percentage is what is read", plain, formatted("0.5", "50%", "0%"), `"50%"`, ""},
		{"General is all digits", plain, cell.Cell{Kind: cell.Number, Raw: "7.7009001230000E+10", Shown: "7.7E+10"}, `"77009001230"`, ""},
		{"binary noise of a third", plain, number("33.333333333333336"), `"33.3333333333333"`, ""},
		{"negative zero", plain, number("-0"), `"0"`, ""},
		{"15 digits", plain, number("123456789012345"), `"123456789012345"`, ""},
		{"16 digits under the format 0", plain, formatted("1234567890123450", "1234567890123450", "0"), "", "number-digits"},
		{"16 digits under the format text", plain, formatted("1234567890123450", "1.23E+15", "@"), "", "number-digits"},
		{"1E+300", plain, number("1E+300"), "", "number-range"},
		{"1E-300", plain, number("1E-300"), "", "number-range"},
		{"exponent of a billion", plain, number("1E+1000000000"), "", "not-number"},
		{"quoted and escaped marks", plain, formatted("5", "5/,[>1] [h]", `0\/","[Red]"[>1] [h]"`), `"5/,[>1] [h]"`, ""},
		{"slashes and commas of a date", plain, cell.Cell{Kind: cell.Date, Raw: "29342", Shown: "1980-05-01", Format: "dddd, d/m/yyyy"}, `"1980-05-01"`, ""},
		{"date", plain, date("29342", "1980-05-01"), `"1980-05-01"`, ""},
		{"TRUE", plain, boolean(true), `"TRUE"`, ""},

		{"listed", banks, text(" LLOY "), `"Lloyds"`, ""},
		{"listed number", banks, number("1"), `"One"`, ""},
		{"listed as nothing", banks, text("none"), "", ""},
		{"unlisted", banks, text("HSBC"), "", "value-unlisted"},
		{"else", withElse, text("HSBC"), `"Other"`, ""},

		{"as long as allowed", short, text("Zoë!"), `"Zoë!"`, ""},
		{"too long", short, text("Zoës!"), "", "too-long"},
	})
}

func TestKeyText(t *testing.T) {
	cases := []struct {
		name string
		cell cell.Cell
		want string
		code string
	}{
		{"plain", text("Lead 17"), "Lead 17", ""},
		{"white space", text("\u00a0 Lead \n\t\u202f 17 "), "Lead 17", ""},
		{"invisible characters", text("Lead\u200b 1\u200e7\ufeff"), "Lead 17", ""},
		{"number", number("17"), "17", ""},
		{"zeros by format", formatted("17", "0017", "0000"), "0017", ""},
		{"comma style", formatted("1234", "1,234.00", "#,##0.00"), "1234", ""},
		{"amount", formatted("-1234.5", "-£1,234.50", "£#,##0.00"), "-1234.5", ""},
		{"fraction", formatted("0.5", "0.50", "0.00"), "0.5", ""},
		{"rounded by format", formatted("1234.5678", "1,235", "#,##0"), "1,235", ""},
		{"thousands by format", formatted("12000", "12000", "0,"), "", "number-format"},
		{"number that a CSV export has shortened", text("1.2E+11"), "", "number-scientific"},
		{"the same, German", text("1,23457E+15 "), "", "number-scientific"},
		{"code with E+", text("12E+5"), "12E+5", ""},
		{"date", date("29342", "1980-05-01"), "1980-05-01", ""},
		{"empty", cell.Cell{}, "", ""},
		{"blank", text("  "), "", ""},
		{"lost digits", number("1234567890123456"), "", "number-digits"},
		{"uncomputed", cell.Cell{Kind: cell.Uncomputed}, "", "cell-uncomputed"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, refusal := convert.Key(tc.cell)
			code := ""
			if refusal != nil {
				code = refusal.Code
			}
			if got != tc.want || code != tc.code {
				t.Errorf("KeyText = %q, %q; want %q, %q", got, code, tc.want, tc.code)
			}
		})
	}
}

// A key read again is the same key, and white space never makes another one.
func TestKeyTextIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "key")
		once, refusal := convert.Key(text(s))
		if refusal != nil || once == "" {
			t.Skip("not a key")
		}
		space := rapid.SampledFrom([]string{" ", "\u00a0", "\t ", "\n"}).Draw(t, "space")
		for _, again := range []string{once, space + once + space, "\u200b" + once} {
			if twice, refusal := convert.Key(text(again)); refusal != nil || twice != once {
				t.Fatalf("%q becomes %q, then %q (%v)", s, once, twice, refusal)
			}
		}
	})
}

func TestConvertCheckbox(t *testing.T) {
	usual := convert.Converter{Type: convert.Checkbox}
	own := convert.Converter{Type: convert.Checkbox, Checked: []string{"Oui", "2"}, Unchecked: []string{"Non", "3.5"}}
	turned := convert.Converter{Type: convert.Checkbox, Checked: []string{"false"}, Unchecked: []string{"True"}}
	half := convert.Converter{Type: convert.Checkbox, Checked: []string{"TRUE"}, Unchecked: []string{}}
	runConversions(t, []conversionCase{
		{"yes", usual, text("yes"), "true", ""},
		{"YES and white space", usual, text("\u00a0YES "), "true", ""},
		{"TRUE cell", usual, boolean(true), "true", ""},
		{"date", usual, date("1", "1900-01-01"), "", "not-checkbox"},
		{"the usual words are replaced", own, text("yes"), "", "not-checkbox"},
		{"TRUE cell beside own words", own, boolean(true), "true", ""},
		{"TRUE cell turned round", turned, boolean(true), "false", ""},
		{"FALSE cell where only TRUE is listed", half, boolean(false), "", "not-checkbox"},
	})
}

// unseen are characters that a reader of a sheet does not see.
var unseen = []string{
	"\u00ad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u180b", "\u180e", "\u200b", "\u200c", "\u200d", "\u200e", "\u202a", "\u2060",
	"\u2064", "\u2066", "\u206f", "\ufe00", "\ufe0f", "\ufeff", "\U0001d173", "\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100",
}

// One key never becomes two by what cannot be seen in it.
func TestKeysIgnoreWhatCannotBeSeen(t *testing.T) {
	for _, s := range unseen {
		for _, cell := range []string{"A" + s + "1", s + "A1", "A1" + s, "A" + s + s + "1"} {
			if key, refusal := convert.Key(text(cell)); refusal != nil || key != "A1" {
				t.Errorf("the key %+q is %+q (%v)", cell, key, refusal)
			}
		}
		if _, refusal := convert.Key(text(s)); refusal == nil {
			t.Errorf("%+q alone is a key", s)
		}
	}
	for _, gap := range []string{"\u00a0", "\u3000"} {
		if key, refusal := convert.Key(text("A" + gap + "1" + gap)); refusal != nil || key != "A 1" {
			t.Errorf("the key with the gap %+q is %+q (%v)", gap, key, refusal)
		}
	}
	// Accents compose across what is dropped.
	if key, _ := convert.Key(text("Zoe\u034f\u0308")); key != "Zoë" {
		t.Errorf("the key is %+q", key)
	}
}

// What can be seen stays: letters of all scripts, and every key that keeps to
// them is what it was.
func TestKeysKeepWhatCanBeSeen(t *testing.T) {
	for r := rune(0x21); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(unicode.Mn, r) || r == '\u2800' || 0x13430 <= r && r <= 0x13455 || // controls of hieroglyphs
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			continue
		}
		want := norm.NFC.String("a" + string(r) + "b")
		if key, refusal := convert.Key(text("a" + string(r) + "b")); refusal == nil && key != want {
			t.Errorf("%U: the key is %+q", r, key)
		}
	}
}
