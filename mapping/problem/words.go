package problem

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/xrash/smetrics"
)

// Nearest finds the candidate that the user most likely meant by word: the
// one with the fewest edits, ignoring case, if that is few for its length.
// Fewer characters of both must differ than the shorter one has, so that a
// letter is never taken for another. ok is false when nothing is near.
func Nearest(word string, candidates []string) (nearest string, ok bool) {
	w := strings.ToLower(strings.TrimSpace(word))
	best := 1 + max(2, len(w)/3)
	for _, candidate := range candidates {
		c := strings.ToLower(strings.TrimSpace(candidate))
		d := smetrics.WagnerFischer(w, c, 1, 1, 1)
		if d < best && (d == 0 || d < min(utf8.RuneCountInString(w), utf8.RuneCountInString(c))) {
			best, nearest, ok = d, candidate, true
		}
	}
	return nearest, ok
}

// Suggestion is the hint for a word that is not among the candidates: the
// nearest one, else the candidates themselves, of many the first twelve. It is
// empty when there are no candidates.
func Suggestion(word string, candidates []string) string {
	const most = 12
	nearest, ok := Nearest(Shorten(word), candidates)
	switch {
	case ok:
		return "did you mean “" + nearest + "”?"
	case len(candidates) == 0:
		return ""
	case len(candidates) == 1:
		return "expected " + candidates[0]
	}
	return "expected one of " + Some(candidates, most)
}

// Some lists words, the first of many: "A, B and 3 more".
func Some(words []string, most int) string {
	if rest := len(words) - most; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), rest)
	}
	return strings.Join(words, ", ")
}

// OrList is "a", "a or b", or "a, b or c"; of many words it lists the first.
func OrList(words []string) string {
	const most = 10
	if more := len(words) - most; more > 0 {
		return fmt.Sprintf("%s or one of %d more", strings.Join(words[:most], ", "), more)
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Shorten cuts a word of the user's to 60 characters and puts it on one line, so that a message can quote it.
func Shorten(word string) string {
	const most = 60
	runes := []rune(strings.Join(strings.Fields(word), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

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
	escaped := make([]byte, 0, len(quoted))
	for _, r := range string(quoted) {
		if r >= 0x7f && IsControl(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = utf8.AppendRune(escaped, r)
		}
	}
	return escaped
}

// The typographic quotes that word processors, mail programs and web pages use instead
// of straight ones. A single quote alone may be an apostrophe.
const (
	DoubleQuotes = "“”„‟«»"
	SingleQuotes = "‘’‚‛‹›"
)
