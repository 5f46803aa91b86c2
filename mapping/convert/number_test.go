package convert_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

func TestConvertNumber(t *testing.T) {
	plain := convert.Converter{Type: convert.Number}
	money := convert.Converter{Type: convert.Currency, Numbers: convert.Numbers{Decimal: ".", Group: ","}}
	german := convert.Converter{Type: convert.Currency, Numbers: convert.Numbers{Decimal: ",", Group: "."}}
	french := convert.Converter{Type: convert.Currency, Numbers: convert.Numbers{Decimal: ",", Group: " "}}
	swiss := convert.Converter{Type: convert.Currency, Numbers: convert.Numbers{Decimal: ".", Group: "'"}}
	bare := convert.Converter{Type: convert.Number, Numbers: convert.Numbers{Decimal: "."}}
	percent := convert.Converter{Type: convert.Number, Percent: true}
	germanPercent := convert.Converter{Type: convert.Number, Percent: true, Numbers: convert.Numbers{Decimal: ",", Group: "."}}
	const bad, noPercent = "not-number", "not-percent"
	runConversions(t, []conversionCase{
		{"cell", plain, number("12.5"), "12.5", ""},
		{"cell with noise", plain, number("1.1000000000000001"), "1.1", ""},
		{"cell with noise above", plain, number("0.30000000000000004"), "0.3", ""},
		{"cell of money", money, formatted("1234.5", "£1,234.50", `"£"#,##0.00`), "1234.5", ""},
		{"cell with an exponent", plain, number("1E+20"), "100000000000000000000", ""},
		{"cell with a small exponent", plain, number("1.5E-7"), "0.00000015", ""},
		{"cell beyond reason", plain, number("1E+300"), "", "number-range"},
		{"cell beneath reason", plain, number("-1E-300"), "", "number-range"},
		{"cell of 16 digits", plain, number("1234567890123456"), "", "number-digits"},
		{"cell of negative zero", plain, number("-0"), "0", ""},
		{"cell of 0.0", plain, number("0.0"), "0", ""},
		{"cell of an odd literal", plain, number("007.10"), "7.1", ""},
		{"cell of no number", plain, number("NaN"), "", bad},
		{"cell of infinity", plain, number("1e99999999999"), "", bad},
		{"cell of an endless literal", plain, number(strings.Repeat("9", 5000)), "", "number-range"},
		{"percentage cell: what it holds", plain, formatted("0.5", "50.00%", "0.00%"), "0.5", ""},
		{"quoted percent sign in a format", plain, formatted("50", "50%", `0"%"`), "50", ""},
		{"date cell", plain, date("29342", "1980-05-01"), "", bad},
		{"TRUE", plain, boolean(true), "", bad},

		{"text", plain, text("1234.50"), "1234.5", ""},
		{"text with groups", plain, text("1,234,567.89"), "1234567.89", ""},
		{"group of one", plain, text("1,2"), "", bad},
		{"group of two", plain, text("1,23,456"), "", bad},
		{"late first group", plain, text("1234,567"), "", bad},
		{"group at the end", plain, text("1,234,"), "", bad},
		{"group in front", plain, text(",234"), "", bad},
		{"two groups in a row", plain, text("1,,234"), "", bad},
		{"shown as a fraction", plain, formatted("0.5", "0.5", "# ?/?"), "0.5", ""},
		{"shown in thousands", plain, formatted("1234567", "1234567", "#,##0,"), "1234567", ""},
		{"shown by a condition", plain, formatted("-5", "-5", "[Red][<0]-0;0"), "-5", ""},
		{"shown as elapsed time", plain, formatted("1.25", "1.25", "[h]:mm"), "", "number-format"},
		{"group in the fraction", plain, text("1.234,567"), "", bad},
		{"somebody's decimal comma", plain, text("0,123"), "", bad},
		{"leading zeros", plain, text("007"), "7", ""},
		{"no digit before the point", plain, text(".5"), "0.5", ""},
		{"no digit after the point", plain, text("5."), "", bad},
		{"a point alone", plain, text("."), "", bad},
		{"two points", plain, text("1.2.3"), "", bad},
		{"minus", plain, text("-12"), "-12", ""},
		{"minus sign", plain, text("−12"), "-12", ""},
		{"minus zero", plain, text("-0.00"), "0", ""},
		{"minus behind", plain, text("12-"), "", bad},
		{"two minuses", plain, text("--12"), "", bad},
		{"minus alone", plain, text("-"), "", bad},
		{"plus", plain, text("+12"), "", bad},
		{"bookkeeper's minus", money, text("(12.00)"), "", bad},
		{"percent", plain, text("50%"), "", "number-percent"},
		{"exponent", plain, text("1E5"), "", bad},
		{"full-width digits", plain, text("１２"), "", bad},
		{"words", plain, text("about 12"), "", bad},
		{"white space around", plain, text("\u00a012 "), "12", ""},
		{"white space inside", plain, text("1 2"), "", bad},
		{"16 digits in a text", plain, text("1234567890123456"), "", "number-digits"},
		{"too many zeros in a text", plain, text("1" + strings.Repeat("0", 40)), "", bad},
		{"zeros after the point", plain, text("12.000000000000000000"), "12", ""},

		{"percentage", percent, text("5%"), "0.05", ""},
		{"percentage with white space", percent, text("\u00a012.5\u00a0% "), "0.125", ""},
		{"percentage of more than all", percent, text("1,250%"), "12.5", ""},
		{"percentage with a minus", percent, text("-2.5%"), "-0.025", ""},
		{"percentage with a minus sign", percent, text("−.5%"), "-0.005", ""},
		{"percentage of nothing", percent, text("0%"), "0", ""},
		{"the whole", percent, text("100%"), "1", ""},
		{"German percentage", germanPercent, text("1.234,5 %"), "12.345", ""},
		{"German percentage in English", germanPercent, text("2.5%"), "", noPercent},
		{"percentage without a sign", percent, text("5"), "", noPercent},
		{"percentage as a fraction", percent, text("0.05"), "", noPercent},
		{"sign alone", percent, text("%"), "", noPercent},
		{"sign twice", percent, text("5%%"), "", noPercent},
		{"sign in front", percent, text("%5"), "", noPercent},
		{"permille", percent, text("5‰"), "", noPercent},
		{"percentage of money", percent, text("£5%"), "", noPercent},
		{"percentage in brackets", percent, text("(5%)"), "", noPercent},
		{"percentage of 17 digits", percent, text("12345678901234567%"), "123456789012346", ""},
		{"percentage of too many digits", percent, text("123456789012345678%"), "", "number-digits"},
		{"percentage cell is what it holds", percent, formatted("0.05", "5%", "0%"), "0.05", ""},
		{"number cell is what it holds", percent, number("5"), "5", ""},
		{"percentage of a date", percent, date("29342", "1980-05-01"), "", bad},

		{"pounds", money, text("£1,234.50"), "1234.5", ""},
		{"euros behind", german, text("1.234,50 €"), "1234.5", ""},
		{"minus before the symbol", money, text("-£5"), "-5", ""},
		{"minus after the symbol", money, text("£ -5"), "-5", ""},
		{"symbol on both sides", money, text("£5€"), "", bad},
		{"symbol alone", money, text("£"), "", bad},
		{"code", money, text("GBP 5"), "", bad},
		{"symbol with a Number", plain, text("$5"), "5", ""},
		{"German with an English number", german, text("1,234.50"), "", bad},
		{"no-break group", french, text("1\u202f234\u00a0567,5"), "1234567.5", ""},
		{"typographic apostrophe", swiss, text("1’234'567.05"), "1234567.05", ""},
		{"no groups declared", bare, text("1,234"), "", bad},
		{"no groups needed", bare, text("1234"), "1234", ""},
	})
}

// A number of up to 15 digits comes out with the value that went in, in every
// notation and from both kinds of cell.
func TestNumbersKeepTheirValue(t *testing.T) {
	notations := []convert.Numbers{{}, {Decimal: ",", Group: "."}, {Decimal: ",", Group: " "}, {Decimal: ".", Group: "'"}, {Decimal: "."}}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom(notations).Draw(t, "notation")
		coefficient := rapid.Int64Range(-999_999_999_999_999, 999_999_999_999_999).Draw(t, "coefficient")
		decimals := rapid.IntRange(0, 10).Draw(t, "decimals")
		want := new(big.Rat).SetFrac(big.NewInt(coefficient), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))

		c := convert.Converter{Type: convert.Currency, Numbers: n}
		literal := want.FloatString(decimals)
		for _, in := range []cell.Cell{number(literal), text(written(literal, n))} {
			value, refusal := c.Convert(in)
			if refusal != nil {
				t.Fatalf("%q is refused: %+v", in.Raw, *refusal)
			}
			got, ok := new(big.Rat).SetString(value.Literal)
			if !ok || got.Cmp(want) != 0 || strings.ContainsAny(value.Literal, "eE+") {
				t.Fatalf("%q becomes %q", in.Raw, value.Literal)
			}
		}
	})
}

// written spells a plain decimal in the notation n.
func written(literal string, n convert.Numbers) string {
	if n == (convert.Numbers{}) {
		n = convert.Numbers{Decimal: ".", Group: ","}
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(literal, "-"), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + n.Group + whole[at:]
	}
	if strings.HasPrefix(literal, "-") {
		whole = "-" + whole
	}
	if fraction != "" {
		whole += n.Decimal + fraction
	}
	return whole
}
