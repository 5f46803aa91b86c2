package mapping

import (
	"fmt"
	"strings"
)

// SerialFormat is the date format of bare numbers: a spreadsheet's day count.
const SerialFormat = "serial"

// dateTokens names every token there is, for messages.
const dateTokens = "d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM"

// dateTokenKind is what a token of a date format stands for.
type dateTokenKind uint8

const (
	dateLiteral dateTokenKind = iota
	dateDay                   // d: one digit or two
	dateDay2                  // dd: two digits
	dateMonth
	dateMonth2
	dateMonthShort // mmm: Jan
	dateMonthLong  // mmmm: January
	dateYear2
	dateYear4
	dateHour
	dateHour2
	dateMinute2
	dateSecond2
	dateHalf // AM/PM
)

// The most that a format holds. Formats are short; fixed sizes keep a
// compiled one a plain value that needs no allocation and no cache.
const (
	maxDateTokens = 20
	maxDateFormat = 64
)

type dateToken struct {
	kind     dateTokenKind
	from, to uint8 // a literal's place in the format
}

// DateFormat is a compiled date format: how dates are written in text cells.
// It is a plain value; compiling one is cheap and allocates nothing.
type DateFormat struct {
	source string
	tokens [maxDateTokens]dateToken
	n      int
}

// ParseDateFormat compiles a format of the spreadsheet's own tokens, in upper
// or lower case:
//
//	d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM
//
// mm is minutes where h or hh is the token before it, otherwise a month. One
// letter takes one digit or two, two letters take exactly two. Month names are
// English, in any case. yy is a year of 1930–2029, as spreadsheet programs read
// two digits. A space takes any run of white space; "text" in double quotes and
// \x stand for themselves, as does every character that is neither a letter
// nor a digit. A format needs day, month and year; it may have a time.
//
// The error says what is wrong and which tokens there are. "serial" is not
// compiled: it is no format of texts.
func ParseDateFormat(format string) (DateFormat, error) {
	f := DateFormat{source: format}
	last := dateLiteral // the last token that is not a literal
	if len(format) > maxDateFormat {
		return f, fmt.Errorf("a date format has at most %d characters", maxDateFormat)
	}
	for i := 0; i < len(format); {
		token, next, err := nextDateToken(format, i, last)
		if err != nil {
			return f, err
		}
		if f.n == maxDateTokens {
			return f, fmt.Errorf("a date format has at most %d parts", maxDateTokens)
		}
		f.tokens[f.n] = token
		f.n++
		i = next
		if token.kind != dateLiteral {
			last = token.kind
		}
	}
	return f, f.check()
}

// nextDateToken reads the token at i; next is where the one after it begins.
func nextDateToken(format string, i int, last dateTokenKind) (_ dateToken, next int, _ error) {
	b := format[i]
	switch {
	case b == '"':
		end := strings.IndexByte(format[i+1:], '"')
		if end < 0 {
			return dateToken{}, 0, fmt.Errorf("a quoted text in the date format has no end")
		}
		return dateToken{dateLiteral, uint8(i + 1), uint8(i + 1 + end)}, i + end + 2, nil
	case b == '\\' && i+1 < len(format):
		return dateToken{dateLiteral, uint8(i + 1), uint8(i + 2)}, i + 2, nil
	case lower(b) == 'a' && len(format)-i >= 5 && strings.EqualFold(format[i:i+5], "AM/PM"):
		return dateToken{kind: dateHalf}, i + 5, nil
	case b >= '0' && b <= '9':
		return dateToken{}, 0, fmt.Errorf("a date format has no digits of its own; expected the tokens %s", dateTokens)
	case !isLetter(b):
		return dateToken{dateLiteral, uint8(i), uint8(i + 1)}, i + 1, nil
	}
	next = i
	for next < len(format) && lower(format[next]) == lower(b) {
		next++
	}
	kind, ok := dateTokenOf(lower(b), next-i, last)
	if !ok {
		return dateToken{}, 0, fmt.Errorf("the date format has the unknown token %q; expected the tokens %s", format[i:next], dateTokens)
	}
	return dateToken{kind: kind}, next, nil
}

func dateTokenOf(letter byte, count int, last dateTokenKind) (dateTokenKind, bool) {
	afterHour := last == dateHour || last == dateHour2
	switch {
	case letter == 'd' && count <= 2:
		return dateDay + dateTokenKind(count-1), true
	case letter == 'm' && afterHour:
		return dateMinute2, count == 2
	case letter == 'm' && count <= 4:
		return dateMonth + dateTokenKind(count-1), true
	case letter == 'y' && count == 2:
		return dateYear2, true
	case letter == 'y' && count == 4:
		return dateYear4, true
	case letter == 'h' && count <= 2:
		return dateHour + dateTokenKind(count-1), true
	case letter == 's' && count == 2:
		return dateSecond2, true
	}
	return 0, false
}

func isLetter(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' }

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}
