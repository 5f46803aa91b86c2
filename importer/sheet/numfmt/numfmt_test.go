package numfmt_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"claimsheet/importer/sheet/numfmt"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

func TestShown(t *testing.T) {
	const n, d = false, true // a number, a date
	tests := []struct {
		code, value string
		isDate      bool
		want        string
	}{
		{"General", "7700000000", n, "7700000000"},
		{"General", "-0", n, "0"},
		{"General", "0.30000000000000004", n, "0.3"},
		{"General", "1E+20", n, "100000000000000000000"},
		{"General", "999999999999999.9", n, "1000000000000000"},
		{"@", "00123", n, "123"},
		{"00000", "123", n, "00123"},
		{"00000", "-123", n, "-00123"},
		{"0.00", "1.005", n, "1.01"},
		{"0.00", "9.999", n, "10.00"},
		{"0.0#", "1.5", n, "1.5"},
		{"#.##", "0.5", n, ".5"},
		{"#,##0.00", "1234567.891", n, "1,234,567.89"},
		{"#,##0.00", "12", n, "12.00"},
		{"0.0%", "0.125", n, "12.5%"},
		{`"£"#,##0.00`, "1234.5", n, "£1,234.50"},
		{`[$£-809]#,##0.00`, "1234.5", n, "£1,234.50"},
		{"+44 0000 000000", "7700900123", n, "+44 7700 900123"},
		{`0.00;[Red]\-0.00`, "-1.5", n, "-1.50"},
		{`_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)`, "1234.5", n, "1,234.50"},
		{`_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)`, "0", n, "-"},
		{`"Yes";"Yes";"No"`, "1", n, "Yes"},
		{`General" units"`, "12.5", n, "12.5 units"},
		{";;;", "12", n, "12"},

		// What is quoted or escaped is text, whatever it means elsewhere.
		{`\;0;\;\;0`, "-41", n, ";;41"},
		{`0_;;(0_;)`, "-41", n, "(41 )"},
		{`0*;;(0)`, "-41", n, "(41)"},
		{`[$;-409]0;(0)`, "-41", n, "(41)"},
		{`00\/00`, "1234", n, "12/34"},
		{`'0`, "5", n, "'5"},
		{"0;0;0;@;0", "41.5", n, "41.5"},
		{"0[", "5", n, "5"},
		{strings.Repeat("0", 1_001), "5", n, "5"},
		{`0"`, "5", n, "5"},
		{`"Ref; no "dd/mm/yyyy`, "29342", d, "1980-05-01"},
		{`"day "0;"dd"`, "3", n, "day 3"},

		// Rare kinds are shown as in General.
		{"#,##0,", "1234567", n, "1234567"},
		{"# ?/?", "0.5", n, "0.5"},
		{"0/8", "5.5", n, "5.5"},
		{"[h]:mm", "1.25", n, "1.25"},
		{`[<=9999999]###\-####;\(###\) ###\-####`, "5551234", n, "5551234"},
		{"[>40000]dd/mm/yyyy;0", "29342", n, "29342"},
		{"0.00E+00", "123456", n, "123456"},
		{"0,.0", "1234", n, "1234"},
		{"0. d", "1234", n, "1234"},

		// A section that shows nothing of a number: all of it, with its sign.
		{"0.00;;", "-1234.5", n, "-1234.5"},
		{"0;# ?/?", "-1.5", n, "-1.5"},

		// What is rounded to zero has no sign.
		{"0.000", "-0.0001", n, "0.000"},
		{"0", "-0.4", n, "0"},
		{"0.00;(0.00)", "-0.001", n, "(0.00)"},

		// The section that a number selects decides whether it is a date.
		{"dd/mm/yyyy;;", "29342", d, "1980-05-01"},
		{"dd/mm/yyyy;;", "0", n, "0"},
		{"dd/mm/yyyy;(0)", "-5", n, "(5)"},
		{"0;0;dd/mm/yyyy", "29342", n, "29342"},

		{"dd/mm/yyyy", "29342", d, "1980-05-01"},
		{`[$-F800]dddd\,\ mmmm\ dd\,\ yyyy`, "29342", d, "1980-05-01"},
		{`[$-409]d\-mmm\-yy h:mm AM/PM`, "29342.604166666668", d, "1980-05-01T14:30:00"},
		{"dd/mm/yyyy", "29342.604166666668", d, "1980-05-01"},
		{"yyyy-mm-dd hh:mm:ss", "29342.604166666668", d, "1980-05-01T14:30:00"},
		{"yyyy-mm-dd hh:mm:ss", "29342.99999999", d, "1980-05-02T00:00:00"},
		{"h:mm", "0.6041666666666666", d, "14:30:00"},

		// A day alone is the day that the number lies in; a time is rounded.
		{"dd/mm/yyyy hh:mm:ss", "44000.9999999653", d, "2020-06-19T00:00:00"},
		{"hh:mm:ss", "44000.9999999653", d, "00:00:00"},
		{"dd/mm/yyyy", "44000.9999999942", d, "2020-06-18"},
		{"dd/mm/yyyy", "44000.9999999943", d, "2020-06-19"},
		{"yyyy-mm-dd", "60.9999999653", d, "1900-02-29"},
		{"yyyy-mm-dd", "0.9999999653", d, "1900-01-00"},
		{"mm:ss.0", "0.000694444444", d, "00:01:00"},
		{`yyyy"年"m"月"d"日"`, "29342", d, "1980-05-01"},
		{"yyyy-mm-dd", "0", d, "1900-01-00"},
		{"yyyy-mm-dd", "1", d, "1900-01-01"},
		{"yyyy-mm-dd", "60", d, "1900-02-29"},
		{"yyyy-mm-dd", "61", d, "1900-03-01"},
		{"yyyy-mm-dd", "2958465.9999999", d, "9999-12-31"},
		{"yyyy-mm-dd", "2958466", d, "2958466"},
		{"yyyy-mm-dd", "-1", d, "-1"},
	}
	for _, tt := range tests {
		shown, isDate, ok := numfmt.Parse(tt.code).Append(nil, []byte(tt.value), false)
		if string(shown) != tt.want || isDate != tt.isDate || !ok {
			t.Errorf("%s in %q: got %q, date %t, %t, want %q, date %t", tt.value, tt.code, shown, isDate, ok, tt.want, tt.isDate)
		}
	}
}

// show is a number in a format.
func show(code, number string) string {
	shown, _, _ := numfmt.Parse(code).Append(nil, []byte(number), false)
	return string(shown)
}

// Quoted text is shown unchanged before the number and separates nothing: one number
// is never shown as another.
func TestQuotedInFormats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quoted := rapid.StringOfN(rapid.RuneFrom([]rune(`;[]0#?.,%@\\_*/E+-dmyhsG '<>=é年`)), 0, 12, -1).Draw(t, "quoted")
		n := rapid.IntRange(-99_999, 99_999).Draw(t, "number")
		want := fmt.Sprintf("%s%05d", quoted, n)
		if n < 0 {
			want = fmt.Sprintf("-%s%05d", quoted, -n)
		}
		got := show(`"`+quoted+`"00000`, strconv.Itoa(n))
		if diff := cmp.Diff(strings.TrimSpace(want), got); diff != "" {
			t.Error(diff)
		}
		var escaped strings.Builder
		for _, c := range quoted {
			escaped.WriteString(`\` + string(c))
		}
		if again := show(escaped.String()+"00000", strconv.Itoa(n)); again != got {
			t.Errorf("escaped: got %q, quoted %q", again, got)
		}
	})
}

// A person who reads a day gets that day or, where the cell has a time of day, a
// refusal: never the day beside it.
func TestDayShownIsDaySent(t *testing.T) {
	conversion := convert.Converter{Type: convert.Date, IsBareDate: true}
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.IntRange(62, 90_000).Draw(t, "day")
		micros := rapid.OneOf(rapid.Int64Range(-480, 480), rapid.Int64Range(-1e6, -520), rapid.Int64Range(-86_400e6/2, 86_400e6/2)).Draw(t, "microseconds from midnight")
		if -520 < micros && micros < -480 {
			t.Skip("a day count of 15 digits is not that exact")
		}
		serial := strconv.FormatFloat(float64(day)+float64(micros)/86_400e6, 'f', -1, 64)
		code := rapid.SampledFrom([]string{"dd/mm/yyyy", "d-mmm-yy", "[$-F800]dddd, mmmm dd, yyyy"}).Draw(t, "format")
		shown := show(code, serial)
		want := time.Date(1899, 12, 30+day, 0, 0, 0, 0, time.UTC).Add(time.Duration(micros+480) * time.Microsecond).Format(time.DateOnly)
		if shown != want {
			t.Fatalf("%s is shown as %s, want %s", serial, shown, want)
		}
		value, refusal := conversion.Convert(cell.Cell{Kind: cell.Date, Raw: serial, Shown: shown, Format: code})
		if refusal == nil && value.Literal != shown {
			t.Fatalf("%s is shown as %s and sent as %s", serial, shown, value.Literal)
		}
	})
}

// FuzzFormat shows numbers in any format.
func FuzzFormat(f *testing.F) {
	f.Add("#,##0.00;[Red]-0", "1234.5")
	f.Add("dd/mm/yyyy hh:mm", "45000.5")
	f.Add("0.0E+0", "-0.00012")
	f.Fuzz(func(t *testing.T, code, value string) {
		got := show(code, value)
		if value == "1" && got == "" {
			t.Errorf("nothing is shown in %q", code)
		}
	})
}
