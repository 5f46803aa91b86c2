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
	point := convert.Numbers{Decimal: ".", Group: ","}
	plain := convert.Converter{Type: convert.Number, Numbers: point}
	money := convert.Converter{Type: convert.Currency, Numbers: point}
	german := convert.Converter{Type: convert.Currency, Numbers: convert.Numbers{Decimal: ",", Group: "."}}
	french := convert.Converter{Type: convert.Currency, Numbers: convert.Numbers{Decimal: ",", Group: " "}}
	swiss := convert.Converter{Type: convert.Currency, Numbers: convert.Numbers{Decimal: ".", Group: "'"}}
	bare := convert.Converter{Type: convert.Number, Numbers: convert.Numbers{Decimal: "."}}
	percent := convert.Converter{Type: convert.Number, Percent: true, Numbers: point}
	germanPercent := convert.Converter{Type: convert.Number, Percent: true, Numbers: convert.Numbers{Decimal: ",", Group: "."}}
	const bad, noPercent = "not-number", "not-percent"
	runConversions(t, []conversionCase{
		{"cell", plain, number("12.5"), "12.5", ""},
		{"cell with noise", plain, number("1.1000000000000001"), "1.1", ""},
		{"cell of money", money, formatted("1234.5", "£1,234.50", `"£"#,##0.00`), "1234.5", ""},
		{"cell with an exponent", plain, number("1E+20"), "100000000000000000000", ""},
		{"cell with a small exponent", plain, number("1.5E-7"), "0.00000015", ""},
		{"cell beyond reason", plain, number("1E+300"), "", "number-range"},
		{"cell of negative zero", plain, number("-0"), "0", ""},
		{"percentage cell: what it holds", plain, formatted("0.5", "50.00%", "0.00%"), "0.5", ""},

		{"text with groups", plain, text("1,234,567.89"), "1234567.89", ""},
		{"group of one", plain, text("1,2"), "", bad},
		{"late first group", plain, text("1234,567"), "", bad},
		{"shown as a fraction", plain, formatted("0.5", "0.5", "# ?/?"), "0.5", ""},
		{"shown as elapsed time", plain, formatted("1.25", "1.25", "[h]:mm"), "", "number-format"},
		{"somebody's decimal comma", plain, text("0,123"), "", bad},
		{"no digit before the point", plain, text(".5"), "0.5", ""},
		{"no digit after the point", plain, text("5."), "", bad},
		{"minus sign", plain, text("−12"), "-12", ""},
		{"bookkeeper's minus", money, text("(12.00)"), "", bad},
		{"percent", plain, text("50%"), "", "number-percent"},
		{"white space around", plain, text("\u00a012 "), "12", ""},
		{"16 digits in a text", plain, text("1234567890123456"), "", "number-digits"},
		{"too many zeros in a text", plain, text("1" + strings.Repeat("0", 40)), "", bad},

		{"percentage", percent, text("5%"), "0.05", ""},
		{"percentage with white space", percent, text("\u00a012.5\u00a0% "), "0.125", ""},
		{"percentage with a minus sign", percent, text("−.5%"), "-0.005", ""},
		{"German percentage", germanPercent, text("1.234,5 %"), "12.345", ""},
		{"percentage without a sign", percent, text("5"), "", noPercent},
		{"sign twice", percent, text("5%%"), "", noPercent},
		{"percentage of 17 digits", percent, text("12345678901234567%"), "123456789012346", ""},
		{"percentage of too many digits", percent, text("123456789012345678%"), "", "number-digits"},

		{"pounds", money, text("£1,234.50"), "1234.5", ""},
		{"euros behind", german, text("1.234,50 €"), "1234.5", ""},
		{"minus before the symbol", money, text("-£5"), "-5", ""},
		{"minus after the symbol", money, text("£ -5"), "-5", ""},
		{"symbol alone", money, text("£"), "", bad},
		{"code", money, text("GBP 5"), "", bad},
		{"symbol with a Number", plain, text("$5"), "5", ""},
		{"no-break group", french, text("1\u202f234\u00a0567,5"), "1234567.5", ""},
		{"typographic apostrophe", swiss, text("1’234'567.05"), "1234567.05", ""},
		{"no groups declared", bare, text("1,234"), "", bad},
		{"no groups needed", bare, text("1234"), "1234", ""},
	})
}

// A number of up to 15 digits comes out with the value that went in, in every
// notation and from both kinds of cell.
func TestNumbersKeepTheirValue(t *testing.T) {
	notations := []convert.Numbers{{Decimal: ".", Group: ","}, {Decimal: ",", Group: "."}, {Decimal: ",", Group: " "}, {Decimal: ".", Group: "'"}, {Decimal: "."}}
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
