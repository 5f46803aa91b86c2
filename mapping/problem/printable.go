package problem

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// IsControl reports whether a terminal or an editor obeys a character instead of
// showing it: the control characters with tab and line feed, line and paragraph
// separators, and the characters that change the direction of a text.
func IsControl(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// OneLine replaces each control character by a space, so that a text from
// elsewhere can neither begin a new line nor move the cursor.
func OneLine(s string) string {
	if !strings.ContainsFunc(s, IsControl) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// EscapeControls escapes the control characters beyond ASCII as \u and four
// digits, in JSON or in double-quoted YAML: a program reads the same text.
func EscapeControls(quoted []byte) []byte {
	text := string(quoted)
	if !strings.ContainsFunc(text, isWideControl) {
		return quoted
	}
	var b strings.Builder
	for _, r := range text {
		if isWideControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return []byte(b.String())
}

func isWideControl(r rune) bool { return r >= 0x7f && r != utf8.RuneError && IsControl(r) }

// The typographic quotes that word processors, mail programs and web pages use instead
// of straight ones. A single quote alone may be an apostrophe.
const (
	DoubleQuotes = "“”„‟«»"
	SingleQuotes = "‘’‚‛‹›"
)
