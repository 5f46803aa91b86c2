package mapping_test

import (
	"strings"
	"testing"

	"claimsheet/mapping/cell"
)

// refusalCases are cells that are refused, each in another way than those of which the package convert
// tests the words. The rule is a client field's.
var refusalCases = []struct {
	code, rule string
	cell       cell.Cell
	expects    string // what the message says was expected, or found
}{
	{"text-broken", "{column: Value}", text("Zo\ufffd Quine"), "a character that was lost"},
	{"text-control", "{column: Value}", text("Zoe\x07Quine"), "a control character"},
	{"text-invisible", "{column: Value}", text("\u200b"), "nothing that can be seen"},
	{"value-unlisted", "{column: Value, values: {LLOY: Lloyds, BARC: Barclays}}", text("Quine"), "expected BARC or LLOY"},
	{"value-unlisted", "{column: Value, type: DropDown, values: {LLOY: Lloyds}}", text("lloy"), "expected LLOY"},
	{"number-digits", "{column: Value}", number("1234567890123456789"), "more than 15 digits"},
	{"number-scientific", "{column: Value}", formatted("7700900123", "7.70E+09", "0.00E+00"), "an exponent, which hides digits"},
	{"number-format", "{column: Value}", formatted("0.5", "0.5", "# ?/?"), "is shown as a fraction"},
	{"number-format", "{column: Value}", formatted("1234567", "1234567", "0,"), "is shown in thousands"},
	{"number-format", "{column: Value, type: Checkbox}", formatted("1", "1", `[=1]"No";"Yes"`), "a number format with a condition"},
	{"number-format", "{column: Value, type: Phone, region: GB}", formatted("2079460018", "2079460018", "[>100]0"), "a number format with a condition"},
	{"number-format", "{column: Value, type: Number}", formatted("1.25", "1.25", "[h]:mm"), "is shown as elapsed time"},
	{"number-format", "{column: Value, type: DateTime, format: serial}", formatted("29342.5", "29342.5", "[h]:mm"), "is shown as elapsed time"},
	{"not-checkbox", "{column: Value, type: Checkbox, checked: [Ja], unchecked: [Nein]}", text("yes"), "expected Ja or Nein"},
	{"not-date", "{column: Value, type: Date, format: dd/mm/yyyy}", text("1980.05.01"), "expected dd/mm/yyyy"},
	{"not-date", "{column: Value, type: Date}", cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}, "not a date"},
	{"date-future", "{column: Value, type: Date, format: d-mmm-yy}", text("12-Mar-29"), "would be a day after that of the run"},
	{"date-number", "{column: Value, type: Date, format: dd/mm/yyyy}", number("29342"), "expected a date cell, or a text written as dd/mm/yyyy"},
	{"date-serial", "{column: Value, type: Date, format: serial}", text("soon"), "a spreadsheet's day count"},
	{"date-impossible", "{column: Value, type: Date}", date("60", "1900-02-29"), "is not a day of the calendar"},
	{"date-with-time", "{column: Value, type: Date}", date("29342.5", "1980-05-01T12:00:00"), "expected a day alone"},
	{"date-without-day", "{column: Value, type: DateTime}", date("0.5", "12:00:00"), "a time without a day"},
	{"date-range", "{column: Value, type: Date}", date("9999999", "9999999"), "the years 1 to 9999"},
	{"time-impossible", "{column: Value, type: DateTime}", text("1980-05-01T25:00"), "expected ISO 8601"},
	{"time-of-change", "{column: Value, type: DateTime}", text("2026-03-29T01:30"), "clocks in Europe/London showed twice or never"},
	{"not-number", "{column: Value, type: Number}", text("twelve"), "expected one written like 1,234.5"},
	{"not-number", "{column: Value, type: Number}", date("29342", "1980-05-01"), "is a date, not a number"},
	{"not-number", "{column: Value, type: Currency}", cell.Cell{Kind: cell.Bool, Raw: "1", Shown: "TRUE"}, "not a number"},
	{"number-percent", "{column: Value, type: Number}", text("5%"), "expected a plain number"},
	{"not-percent", "{column: Value, type: Number, percent: true}", text("7.5"), "expected one written like 5.5%"},
	{"not-percent", "{column: Value, type: Number, percent: true}", text("£5%"), "is not a percentage"},
	{"number-range", "{column: Value, type: Number}", number("1E+300"), "with too many digits"},
	{"not-email", "{column: Value, type: Email}", text("quine"), "expected one bare address, name@domain"},
	{"email-domain", "{column: Value, type: Email}", text("zoe@quine"), "expected one such as example.com"},
	{"not-phone", "{column: Value, type: Phone, region: GB}", text("quine"), "expected one of the region GB"},
	{"phone-region", "{column: Value, type: Phone}", text("020 7946 0018"), "expected a number that begins with +"},
}

// TestRefusalsSayAll: whatever is refused, the user learns which cell it
// is, under which header, what was wrong or expected, and how to fix it; what
// the cell holds is kept apart, for the workbook alone.
func TestRefusalsSayAll(t *testing.T) {
	sheet := cell.Sheet{Name: "Leads", HeaderRow: 1, Header: []string{"No", "Value"}}
	for _, tc := range refusalCases {
		t.Run(tc.code+" "+tc.cell.Shown, func(t *testing.T) {
			b := mustBind(t, "sheet: {timezone: Europe/London}\n"+fields("value: "+tc.rule), sheet, nil)
			plan := planAll(b, []cell.Record{{Row: 7, Cells: []cell.Cell{text("1"), tc.cell}}})[0]
			if len(plan.Problems) != 1 || len(plan.Steps) != 0 {
				t.Fatalf("problems %v, steps %d", plan.Problems, len(plan.Steps))
			}
			p := plan.Problems[0]
			if p.Where.String() != "Leads!B7" || p.Code != tc.code {
				t.Errorf("%s at %s", p.Code, p.Where)
			}
			if !strings.HasPrefix(p.Message, "Value ") || !strings.Contains(p.Message, tc.expects) {
				t.Errorf("message %q", p.Message)
			}
			if p.Hint == "" {
				t.Error("nothing says how to fix it")
			}
			if p.Seen != tc.cell.Shown {
				t.Errorf("seen is %q", p.Seen)
			}
			if said := p.Error() + p.Hint; tc.cell.Kind == cell.Text && strings.Contains(strings.Replace(said, "Value ", "", 1), tc.cell.Shown) {
				t.Errorf("%q quotes the cell", said)
			}
		})
	}
}
