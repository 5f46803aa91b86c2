package convert

import (
	"claimsheet/mapping/cell"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Numbers is how the sheet writes numbers in text cells.
type Numbers struct {
	Decimal string
	Group   string // "" for none
}

// IsClear reports whether no number in this notation could be read in two ways.
func (n Numbers) IsClear() bool {
	return isSeparator(n.Decimal) && strings.TrimSpace(n.Decimal) != "" && (n.Group == "" || isSeparator(n.Group)) && n.Decimal != n.Group
}

func isSeparator(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && r != utf8.RuneError &&
		!unicode.IsDigit(r) && !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) && !strings.ContainsRune("-−+%()", r)
}

const (
	// significantDigits is how many digits of a number spreadsheet programs
	// keep. Further digits in a file are the noise of binary fractions.
	significantDigits = 15
	// maxNumberDigits limits the digits before and after the point. A longer number is a mistake: nobody means 1E+300.
	maxNumberDigits = 30
	// maxNumberLiteral limits what is read at all, in bytes.
	maxNumberLiteral = 80
)

// convertNumber reads Number and Currency (service document, "doubleValue"):
// the digits of a number cell, or a text in the declared notation.
//
// A number cell shown as a percentage is the number that formulas see: 0.05
// for 5%. The text 5% is 0.05 with Percent. Without, it is refused, because it
// may mean 5 or 0.05; with Percent, 5 is refused for the same reason.
func (c *Converter) convertNumber(in cell.Cell) (string, *CellError) {
	switch in.Kind {
	case cell.Text:
		return numberFromText(trimToken(in.Raw), c.Numbers, c.Percent)
	case cell.Number:
		if refuseFormat(in) == refuseElapsed {
			return "", refuseElapsed
		}
		return plainDecimal(in.Raw)
	case cell.Date:
		return "", refuse("not-number", "is a date, not a number", "format the column as a number, or map it as Date")
	}
	return "", refuse("not-number", "is TRUE or FALSE, not a number", "write a number, or map the column as Checkbox")
}

// plainDecimal returns a number literal as JSON writes it: without exponent
// and needless zeros, rounded to 15 significant digits. Rounding only shortens
// fractions; a whole number that would change is refused.
func plainDecimal(literal string) (string, *CellError) {
	if len(literal) > maxNumberLiteral {
		return "", refuseNumberRange
	}
	f, err := strconv.ParseFloat(literal, 64)
	if size := math.Abs(f); err == nil && 0 < size && size < 1e15 && len(literal) <= significantDigits && strconv.FormatFloat(f, 'f', -1,
		64) == literal {
		return literal, nil // as most are; a decimal takes four times as long
	}
	d, err := decimal.NewFromString(literal)
	if err != nil {
		return "", refuse("not-number", "holds a number that cannot be read", "type the number again")
	}
	if d.IsZero() {
		return "0", nil
	}
	whole := d.NumDigits() + int(d.Exponent()) // digits before the point; negative for 0.00…
	if whole > maxNumberDigits || -whole > maxNumberDigits {
		return "", refuseNumberRange
	}
	rounded := d.Round(int32(significantDigits - whole))
	if whole > significantDigits && !rounded.Equal(d) {
		return "", refuseLostDigits
	}
	return rounded.String(), nil
}

var (
	refuseNumberRange = refuse("number-range", "is a number with too many digits", "correct the number")
	refuseLostDigits  = refuse("number-digits", "has more than 15 digits; a spreadsheet keeps 15 and invents the rest",
		"format the column as text and fill it again from the source")
)

// numberFromText reads a trimmed text in the declared notation:
//
//	1234.5  1,234.50  -12  −12  .5  £1,234  -£5  £-5  12 €
//
// All groups have three digits, and the first does not begin with 0, because
// 0,123 is a decimal comma. One currency symbol may stand before or after.
// Everything else is refused, also a plus sign, a minus after the number and
// the accountant's (12): a wrong amount costs more than a question.
//
// A percentage is one such as 5%, -2.5% or 12 %.
func numberFromText(s string, n Numbers, percent bool) (string, *CellError) {
	body, isPercentage := strings.CutSuffix(s, "%")
	negative := false
	switch {
	case percent:
		body, negative = cutMinus(strings.TrimRightFunc(body, unicode.IsSpace))
	case isPercentage:
		return "", refuse("number-percent", "is a percentage written as text; expected a plain number",
			"write plain numbers, so that it is clear which is meant: 5 or 0.05; or write percent: true in the mapping, which divides them by 100")
	default:
		body, negative = stripSignAndSymbol(s)
	}
	plain, ok := plainNotation(body, negative, n)
	hint := "correct the number, or declare how the sheet writes numbers under sheet.numbers"
	switch {
	case percent && (!ok || !isPercentage):
		return "", refuse("not-percent", "is not a percentage; expected one written like 5"+n.Decimal+"5%",
			"add the percent sign to the text; or leave percent out of the mapping if the column holds plain numbers")
	case percent:
		plain += "e-2"
	case !ok && strings.HasPrefix(s, "("):
		hint = "write negative amounts with a minus sign in front"
	}
	if !ok {
		return "", refuse("not-number", "is not a number; expected one written like 1"+n.Group+"234"+n.Decimal+"5", hint)
	}
	return plainDecimal(plain)
}

// stripSignAndSymbol removes a minus in front and one currency symbol, with the white space around them.
func stripSignAndSymbol(s string) (body string, negative bool) {
	s, negative = cutMinus(s)
	first, size := utf8.DecodeRuneInString(s)
	if unicode.Is(unicode.Sc, first) {
		s = strings.TrimLeftFunc(s[size:], unicode.IsSpace)
		if !negative {
			s, negative = cutMinus(s)
		}
		return s, negative
	}
	if last, size := utf8.DecodeLastRuneInString(s); unicode.Is(unicode.Sc, last) {
		s = strings.TrimRightFunc(s[:len(s)-size], unicode.IsSpace)
	}
	return s, negative
}

func cutMinus(s string) (string, bool) {
	for _, minus := range []string{"-", "−"} {
		if rest, ok := strings.CutPrefix(s, minus); ok {
			return strings.TrimLeftFunc(rest, unicode.IsSpace), true
		}
	}
	return s, false
}

// plainNotation writes body, a number in the notation n without a sign, as JSON does. It is not ok when body is not in the notation, or has
// too many digits.
func plainNotation(body string, negative bool, n Numbers) (plain string, ok bool) {
	whole, fraction, hasPoint := strings.Cut(body, n.Decimal)
	if hasPoint && !allDigits(fraction) || whole == "" && !hasPoint {
		return "", false
	}
	switch n.Group {
	case " ":
		whole = otherSpaces.Replace(whole)
	case "'":
		whole = otherApostrophes.Replace(whole)
	}
	groups := []string{whole}
	if n.Group != "" {
		groups = strings.Split(whole, n.Group)
	}
	for i, digits := range groups {
		isGroup := i > 0 && len(digits) == 3 || i == 0 && len(digits) <= 3 && !strings.HasPrefix(digits, "0")
		if !allDigits(digits) && whole != "" || len(groups) > 1 && !isGroup {
			return "", false
		}
	}
	if whole = strings.Join(groups, ""); len(whole) > maxNumberDigits || len(fraction) > maxNumberDigits {
		return "", false
	}
	if whole == "" {
		whole = "0"
	}
	if negative {
		whole = "-" + whole
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	return whole, true
}

// What programs write in place of a declared space or apostrophe.
var (
	otherSpaces      = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ")
	otherApostrophes = strings.NewReplacer("’", "'")
)

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
