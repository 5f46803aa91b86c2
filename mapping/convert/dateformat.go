package convert

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// serialFormat is the format of dates that are a spreadsheet's day count.
const serialFormat = "serial"

// dateTokens lists the tokens of a date format, for messages.
const dateTokens = "d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM"

// dateTokenKind is the meaning of a token of a date format.
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

// The limits of a format. With fixed sizes a compiled format is a plain value
// that needs no allocation.
const (
	maxDateTokens = 20
	maxDateFormat = 64
)

type dateToken struct {
	kind     dateTokenKind
	from, to uint8 // the bytes of a literal in the format
}

// dateFormat is a compiled date format: how text cells write dates. Compiling
// one is cheap and allocates nothing.
type dateFormat struct {
	source string
	tokens [maxDateTokens]dateToken
	n      int
}

// parseDateFormat compiles a format of the tokens of spreadsheet programs, in
// upper or lower case:
//
//	d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM
//
// mm is minutes directly after h or hh, otherwise a month. One letter matches
// one or two digits, two letters exactly two. Month names are English, in any
// case. yy is a year of 1930–2029, as in spreadsheet programs. A space matches
// any run of white space. "text" in double quotes and \x stand for themselves,
// as does every character that is neither a letter nor a digit. A format needs
// day, month and year, and may have a time.
//
// The error says what is wrong and which tokens there are. "serial" is not
// compiled, because it is not a format of texts.
func parseDateFormat(format string) (dateFormat, error) {
	f := dateFormat{source: format}
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

// nextDateToken reads the token at i. next is where the following token
// begins.
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

// dateUnit is a part of a date, which several tokens can stand for.
type dateUnit uint8

const (
	unitNone dateUnit = iota
	unitDay
	unitMonth
	unitYear
	unitHour
	unitMinute
	unitSecond
	unitHalf
)

var dateUnitNames = [...]string{"", "day", "month", "year", "hour", "minute", "second", "AM/PM"}

var dateUnits = [...]dateUnit{
	dateLiteral: unitNone,
	dateDay:     unitDay, dateDay2: unitDay,
	dateMonth: unitMonth, dateMonth2: unitMonth, dateMonthShort: unitMonth, dateMonthLong: unitMonth,
	dateYear2: unitYear, dateYear4: unitYear,
	dateHour: unitHour, dateHour2: unitHour,
	dateMinute2: unitMinute,
	dateSecond2: unitSecond,
	dateHalf:    unitHalf,
}

// check refuses formats that do not give one certain moment.
func (f *dateFormat) check() error {
	var has [unitHalf + 1]bool
	for i, t := range f.tokens[:f.n] {
		unit := dateUnits[t.kind]
		if unit != unitNone && has[unit] {
			return fmt.Errorf("the date format has the %s twice", dateUnitNames[unit])
		}
		has[unit] = true
		if i+1 < f.n && t.takesOneOrTwo() && f.tokens[i+1].isDigits() {
			return fmt.Errorf("the date format has two numbers side by side, the first of them of one digit or two; write dd, mm or hh, or something between them")
		}
	}
	for _, unit := range []dateUnit{unitDay, unitMonth, unitYear} {
		if !has[unit] {
			return fmt.Errorf("the date format has no %s; expected day, month and year in the tokens %s", dateUnitNames[unit], dateTokens)
		}
	}
	switch {
	case has[unitSecond] && !has[unitMinute]:
		return fmt.Errorf("the date format has seconds without minutes; write mm after h or hh")
	case has[unitHalf] && !has[unitHour]:
		return fmt.Errorf("the date format has AM/PM without an hour; write h or hh")
	}
	return nil
}

// hasShortYear reports whether the year has two digits.
func (f *dateFormat) hasShortYear() bool {
	return slices.ContainsFunc(f.tokens[:f.n], func(t dateToken) bool { return t.kind == dateYear2 })
}

func (t dateToken) takesOneOrTwo() bool {
	return t.kind == dateDay || t.kind == dateMonth || t.kind == dateHour
}

func (t dateToken) isDigits() bool {
	switch t.kind {
	case dateLiteral, dateMonthShort, dateMonthLong, dateHalf:
		return false
	}
	return true
}

// dateParts is a date as written, before it is checked whether the day exists.
type dateParts struct {
	year, month, day     int
	hour, minute, second int
	shortYear            bool // the year has two digits
	roundUp              bool // the fraction of the second is a half or more
	almostNext           bool // the fraction is .9995 or more

	hasOffset bool
	offset    int // seconds east of UTC
}

// match reads a whole text in the format. It does not check whether the day
// exists.
func (f *dateFormat) match(s string) (p dateParts, ok bool) {
	half := ' ' // or a, p
	for _, t := range f.tokens[:f.n] {
		switch t.kind {
		case dateLiteral:
			s, ok = cutDateLiteral(s, f.source[t.from:t.to])
		case dateDay:
			s, ok = cutNumber(s, 1, 2, &p.day)
		case dateDay2:
			s, ok = cutNumber(s, 2, 2, &p.day)
		case dateMonth:
			s, ok = cutNumber(s, 1, 2, &p.month)
		case dateMonth2:
			s, ok = cutNumber(s, 2, 2, &p.month)
		case dateMonthShort, dateMonthLong:
			s, ok = cutMonth(s, t.kind == dateMonthLong, &p.month)
		case dateYear2:
			s, ok = cutNumber(s, 2, 2, &p.year)
			p.year, p.shortYear = fullYear(p.year), true
		case dateYear4:
			s, ok = cutNumber(s, 4, 4, &p.year)
		case dateHour:
			s, ok = cutNumber(s, 1, 2, &p.hour)
		case dateHour2:
			s, ok = cutNumber(s, 2, 2, &p.hour)
		case dateMinute2:
			s, ok = cutNumber(s, 2, 2, &p.minute)
		case dateSecond2:
			s, ok = cutNumber(s, 2, 2, &p.second)
		case dateHalf:
			s, ok = cutHalf(s, &half)
		}
		if !ok {
			return p, false
		}
	}
	return p, s == "" && p.applyHalf(half)
}

// fullYear returns the year of two digits as spreadsheet programs read it:
// 1930–2029.
func fullYear(year int) int {
	if year < 30 {
		return 2000 + year
	}
	return 1900 + year
}

// applyHalf changes an hour from twelve to twenty-four hours.
func (p *dateParts) applyHalf(half rune) bool {
	if half == ' ' {
		return true
	}
	if p.hour < 1 || p.hour > 12 {
		return false
	}
	p.hour %= 12
	if half == 'p' {
		p.hour += 12
	}
	return true
}

// cutNumber cuts a number of at least least and at most most ASCII digits off
// s.
func cutNumber(s string, least, most int, into *int) (rest string, ok bool) {
	n, v := 0, 0
	for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int(s[n]-'0')
		n++
	}
	*into = v
	return s[n:], n >= least
}

var monthNames = [...]string{
	"January", "February", "March", "April", "May", "June",
	"July", "August", "September", "October", "November", "December",
}

func cutMonth(s string, long bool, into *int) (rest string, ok bool) {
	for i, name := range monthNames {
		if !long {
			name = name[:3]
		}
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			*into = i + 1
			return s[len(name):], true
		}
	}
	return s, false
}

func cutHalf(s string, into *rune) (rest string, ok bool) {
	if len(s) < 2 || lower(s[1]) != 'm' || lower(s[0]) != 'a' && lower(s[0]) != 'p' {
		return s, false
	}
	*into = rune(lower(s[0]))
	return s[2:], true
}

func cutDateLiteral(s, literal string) (rest string, ok bool) {
	if literal != " " {
		return strings.CutPrefix(s, literal)
	}
	rest = s
	for rest != "" {
		r, size := utf8.DecodeRuneInString(rest)
		if !unicode.IsSpace(r) {
			break
		}
		rest = rest[size:]
	}
	return rest, len(rest) < len(s)
}
