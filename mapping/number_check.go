package mapping

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check tells why a notation of numbers cannot be read without doubt; nil when
// it can. The options are decimal and group.
func (n Numbers) Check() Misuses {
	n = n.orDefault()
	var found Misuses
	if !isSeparator(n.Decimal) || strings.TrimSpace(n.Decimal) == "" {
		found = append(found, Misuse{"decimal", "number-separator", "the decimal separator is one character that is no digit, sign, symbol or space",
			`write "." or ","`})
	}
	if n.Group != "" && !isSeparator(n.Group) {
		found = append(found, Misuse{"group", "number-separator", "the group separator is one character that is no digit, sign or symbol",
			`write ",", ".", " " or "'", or "" for none`})
	}
	if n.Decimal == n.Group {
		found = append(found, Misuse{"group", "number-separator", "decimal and group are both “" + n.Group + "”, and a number could be read in two ways",
			`declare both, e.g. numbers: {decimal: ",", group: "."}; group: "" if numbers have no groups`})
	}
	return found
}

func isSeparator(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && r != utf8.RuneError &&
		!unicode.IsDigit(r) && !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) && !strings.ContainsRune("-−+%()", r)
}
