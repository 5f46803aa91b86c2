package mapping

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// trimVisible takes away what a reader cannot see at both ends of a text.
func trimVisible(s string) string {
	if s == "" || isPlainEdge(s[0]) && isPlainEdge(s[len(s)-1]) {
		return s
	}
	return strings.TrimFunc(s, isBlank)
}

func isPlainEdge(b byte) bool { return b > ' ' && b < utf8.RuneSelf }

// isBlank tells white space, no-break spaces included, and what is not even
// that: zero-width space, word joiner and byte order mark.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || r == '\u200b' || r == '\u2060' || r == '\ufeff'
}

// trimToken is trimVisible for what is no prose (dates, numbers, addresses):
// marks of the writing direction go too. Address books put them around phone
// numbers when these are copied.
func trimToken(s string) string {
	if s == "" || isPlainEdge(s[0]) && isPlainEdge(s[len(s)-1]) {
		return s
	}
	return strings.TrimFunc(s, func(r rune) bool { return isBlank(r) || isDirectionMark(r) })
}

func isDirectionMark(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }
