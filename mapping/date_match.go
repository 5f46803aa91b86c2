package mapping

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// dateParts is a date as written, before anybody has asked whether there is
// such a day.
type dateParts struct {
	year, month, day     int
	hour, minute, second int
	roundUp              bool // half a second or more was written on top
	almostNext           bool // it lacks less than half a millisecond of a second

	hasOffset bool
	offset    int // seconds east of UTC
}

// match reads a whole text in the format. It does not ask whether the day
// exists.
func (f *DateFormat) match(s string) (p dateParts, ok bool) {
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
			p.year = fullYear(p.year)
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

// fullYear is a year of two digits as spreadsheet programs read it: 1930–2029.
func fullYear(year int) int {
	if year < 30 {
		return 2000 + year
	}
	return 1900 + year
}

// applyHalf turns twelve hours into twenty-four.
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

// cutNumber cuts at least least and at most most ASCII digits off s.
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
