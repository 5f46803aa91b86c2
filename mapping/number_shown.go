package mapping

import (
	"claimsheet/mapping/cell"
	"strings"
)

// shownNumber is what a person reads in a number cell. In a General cell that
// is all its digits. It is refused where the spreadsheet has lost digits of a
// long number, or hides them behind an exponent: such a text is an account or
// a phone number gone wrong.
func shownNumber(c cell.Cell) (string, *Refusal) {
	general := isGeneral(c.Format)
	if formatHas(c.Format, "E+") || formatHas(c.Format, "E-") {
		return "", refuse("number-scientific", "is shown with an exponent, which hides digits",
			"format the column as text or as a plain number")
	}
	digits, r := plainDecimal(c.Raw)
	if r != nil {
		return "", r
	}
	if wholeDigits(digits) > significantDigits && (general || countDigits(c.Shown) > significantDigits) {
		return "", refuseLostDigits()
	}
	if general {
		return digits, nil
	}
	return c.Shown, nil
}

// isGeneral tells a format that shows a number as it was typed; @ (text) does
// so for a number that was there before the format.
func isGeneral(format string) bool {
	return format == "" || format == "@" || strings.EqualFold(format, "General")
}

func wholeDigits(plain string) int {
	whole, _, _ := strings.Cut(plain, ".")
	return countDigits(whole)
}

func countDigits(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// formatHas tells whether a number format uses a mark, quoted and escaped
// characters aside ("100% sure" in quotes is no percentage).
func formatHas(format, mark string) bool {
	for i := 0; i < len(format); i++ {
		switch format[i] {
		case '"':
			end := strings.IndexByte(format[i+1:], '"')
			if end < 0 {
				return false
			}
			i += end + 1
		case '\\', '_', '*':
			i++
		default:
			if strings.HasPrefix(format[i:], mark) {
				return true
			}
		}
	}
	return false
}
