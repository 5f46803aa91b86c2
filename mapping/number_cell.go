package mapping

import (
	"claimsheet/mapping/cell"
	"strings"

	"github.com/shopspring/decimal"
)

const (
	// significantDigits is what spreadsheet programs keep of a number. What a
	// file holds beyond it is the noise of binary fractions.
	significantDigits = 15
	// maxNumberDigits bounds the digits before and after the point. A number
	// beyond is a slip, and writing out 1E+300 serves nobody.
	maxNumberDigits = 30
	// maxNumberLiteral bounds what is read at all, in bytes.
	maxNumberLiteral = 80
)

// convertNumber reads Number and Currency (service document, "doubleValue"):
// a number cell's digits, or a text in the declared notation.
//
// A number cell that is shown as a percentage is the number that the cell
// holds, as it is to every formula: 0.05 where 5% is shown. A text of 5% is no
// number: it may mean 5 or 0.05.
func (c *Conversion) convertNumber(in cell.Cell) (string, *Refusal) {
	switch in.Kind {
	case cell.Text:
		return numberFromText(trimToken(in.Raw), c.Numbers.orDefault())
	case cell.Number:
		return plainDecimal(in.Raw)
	case cell.Date:
		return "", refuse("not-number", "is a date, not a number", "format the column as a number, or map it as Date")
	}
	return "", refuse("not-number", "is TRUE or FALSE, not a number", "write a number, or map the column as Checkbox")
}

func refusePercent() *Refusal {
	return refuse("number-percent", "is a percentage written as text; expected a plain number",
		"write plain numbers, so that the sheet tells which is meant: 5 or 0.05")
}

// plainDecimal is a number literal as JSON and people write it: no exponent,
// no superfluous zeros, rounded to 15 significant digits. Rounding takes away
// fractions only; where it would change a whole number, that is refused.
func plainDecimal(literal string) (string, *Refusal) {
	if isPlainDecimal(literal) {
		return literal, nil
	}
	if len(literal) > maxNumberLiteral {
		return "", refuseNumberRange()
	}
	d, err := decimal.NewFromString(literal)
	if err != nil {
		return "", refuse("not-number", "holds a number that cannot be read", "write the number anew")
	}
	if d.IsZero() {
		return "0", nil
	}
	whole := d.NumDigits() + int(d.Exponent()) // digits before the point; negative for 0.00…
	if whole > maxNumberDigits || -whole > maxNumberDigits {
		return "", refuseNumberRange()
	}
	rounded := d.Round(int32(significantDigits - whole))
	if whole > significantDigits && !rounded.Equal(d) {
		return "", refuseLostDigits()
	}
	return rounded.String(), nil
}

func refuseNumberRange() *Refusal {
	return refuse("number-range", "is a number of more digits than can be meant", "correct the number")
}

func refuseLostDigits() *Refusal {
	return refuse("number-digits", "has more than 15 digits; a spreadsheet keeps no more than that and makes the rest up",
		"format the column as text and fill it anew from its origin")
}

// isPlainDecimal tells a literal that is canonical already, as most are:
// digits, at most 15, perhaps a point, no zeros that say nothing.
func isPlainDecimal(s string) bool {
	if s == "0" {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	point := -1
	for i := range len(s) {
		switch {
		case s[i] == '.' && point < 0:
			point = i
		case s[i] < '0' || s[i] > '9':
			return false
		}
	}
	whole := s
	if point >= 0 {
		whole = s[:point]
		if point == len(s)-1 || s[len(s)-1] == '0' {
			return false
		}
	}
	leadingZero := len(whole) > 0 && whole[0] == '0'
	return len(whole) > 0 && len(s) <= significantDigits && (!leadingZero || len(whole) == 1 && point > 0)
}
