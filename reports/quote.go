package reports

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// quote lets the styles of quoted texts say so, for which excelize has no
// setting.
func quote(stylesheet []byte) []byte {
	const known = ` applyProtection="true"`
	return bytes.ReplaceAll(stylesheet, []byte(known), []byte(known+` quotePrefix="1"`))
}

// needsQuote tells whether a program would make something else of a text when
// its cell is edited: a formula, a number or a date.
func needsQuote(s string) bool {
	if s == "" {
		return false
	}
	switch c := s[0]; {
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
	case '0' <= c && c <= '9', c == '.', c == '#':
		return true
	}
	return opensFormula(s)
}

// opensFormula tells whether a text begins with a character that makes a
// program take it for a formula, in its full width too.
func opensFormula(s string) bool {
	if s == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}
