package sheet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// codeToken is one piece of a number format code.
type codeToken struct {
	kind codeKind
	text string // what is shown of a text; else as it stands in the code, a bracket's without the brackets
}

type codeKind uint8

const (
	textCode     codeKind = iota // shown as it is: quoted, escaped, or of no other meaning
	placesCode                   // digit places: a run of 0, # and ?
	digitCode                    // 1 to 9
	pointCode                    // the decimal point
	commaCode                    // sets thousands apart, or divides by a thousand
	percentCode                  // %
	slashCode                    // of a fraction or a date
	exponentCode                 // E+
	dateCode                     // a run of one letter, or AM/PM
	elapsedCode                  // a unit of elapsed time: what stands in [h], [mm] or [ss]
	bracketCode                  // a condition, a currency, a colour …
	generalCode                  // General
	valueCode                    // @, the place of a text
	unknownCode                  // a bracket that is not closed
)

// maxSections is how many sections a format code can have; the last is for
// texts.
const maxSections = 4

// scanCode cuts a format code into tokens, section by section; nil is a code
// with more sections than there can be. What is quoted, escaped or in brackets
// parts nothing and means nothing but itself.
func scanCode(code string) [][]codeToken {
	sections := [][]codeToken{nil}
	for code != "" {
		if code[0] == ';' {
			sections, code = append(sections, nil), code[1:]
			continue
		}
		t, n := scanToken(code)
		last := len(sections) - 1
		sections[last] = append(sections[last], t)
		code = code[n:]
	}
	if len(sections) > maxSections {
		return nil
	}
	return sections
}

// scanToken is the token at the beginning of a code, and its length there.
func scanToken(code string) (t codeToken, n int) {
	switch code[0] {
	case '"':
		text, _, closed := strings.Cut(code[1:], `"`)
		n = 1 + len(text)
		if closed {
			n++
		}
		return codeToken{textCode, text}, n
	case '\\', '_', '*':
		return scanEscape(code)
	case '[':
		inside, _, closed := strings.Cut(code[1:], "]")
		if !closed {
			return codeToken{unknownCode, code}, len(code)
		}
		if isElapsed(inside) {
			return codeToken{elapsedCode, inside}, len(inside) + 2
		}
		return codeToken{bracketCode, inside}, len(inside) + 2
	case '0', '#', '?':
		n = len(code) - len(strings.TrimLeft(code, "0#?"))
		return codeToken{placesCode, code[:n]}, n
	}
	for _, w := range codeWords {
		if len(code) >= len(w.text) && strings.EqualFold(code[:len(w.text)], w.text) {
			return codeToken{w.kind, code[:len(w.text)]}, len(w.text)
		}
	}
	first, n := utf8.DecodeRuneInString(code)
	kind := textCode
	switch {
	case strings.ContainsRune("abdeghmrsy", unicode.ToLower(first)):
		kind = dateCode
		n = len(code) - len(strings.TrimLeft(code, strings.ToLower(code[:n])+strings.ToUpper(code[:n])))
	case '1' <= first && first <= '9':
		kind = digitCode
	}
	return codeToken{kind, code[:n]}, n
}

// codeWords are the tokens that are always written alike, but for their case.
var codeWords = []codeToken{
	{pointCode, "."}, {commaCode, ","}, {percentCode, "%"}, {slashCode, "/"}, {valueCode, "@"}, {exponentCode, "E+"},
	{generalCode, "General"}, {dateCode, "AM/PM"}, {dateCode, "A/P"}, {dateCode, "上午/下午"},
}

// scanEscape takes the character after it along: \x shows it, _x is a space as
// wide as it, *x fills the cell with it, of which nothing is shown.
func scanEscape(code string) (t codeToken, n int) {
	_, n = utf8.DecodeRuneInString(code[1:])
	n++
	switch code[0] {
	case '_':
		return codeToken{textCode, " "}, n
	case '*':
		return codeToken{textCode, ""}, n
	}
	return codeToken{textCode, code[1:n]}, n
}

// isElapsed tells whether what stands in brackets is h, m or s, or one of them
// several times.
func isElapsed(inside string) bool {
	lower := strings.ToLower(inside)
	return lower != "" && strings.Contains("hms", lower[:1]) && strings.Trim(lower, lower[:1]) == ""
}
