package mapping

import "strings"

// matchISO reads ISO 8601 in its extended form:
//
//	1980-05-01
//	1980-05-01T14:30   1980-05-01T14:30:05   1980-05-01T14:30:05.25
//
// with a space in place of the T, as databases write it, and after a time Z,
// +01:00, +0100 or +01. Fractions of a second are rounded.
func matchISO(s string) (p dateParts, ok bool) {
	if s, ok = cutNumber(s, 4, 4, &p.year); !ok || !cutByte(&s, '-') {
		return p, false
	}
	if s, ok = cutNumber(s, 2, 2, &p.month); !ok || !cutByte(&s, '-') {
		return p, false
	}
	if s, ok = cutNumber(s, 2, 2, &p.day); !ok || s == "" {
		return p, ok
	}
	if !cutByte(&s, 'T') && !cutByte(&s, ' ') {
		return p, false
	}
	if s, ok = p.cutISOTime(s); !ok {
		return p, false
	}
	return p, p.readISOOffset(s)
}

func (p *dateParts) cutISOTime(s string) (rest string, ok bool) {
	if s, ok = cutNumber(s, 2, 2, &p.hour); !ok || !cutByte(&s, ':') {
		return s, false
	}
	if s, ok = cutNumber(s, 2, 2, &p.minute); !ok || !cutByte(&s, ':') {
		return s, ok
	}
	if s, ok = cutNumber(s, 2, 2, &p.second); !ok || !cutByte(&s, '.') && !cutByte(&s, ',') {
		return s, ok
	}
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	p.roundUp = digits > 0 && s[0] >= '5'
	p.almostNext = s[:digits] >= "9995" // text by text, as decimals compare
	return s[digits:], digits > 0
}

// readISOOffset reads what is left after a time.
func (p *dateParts) readISOOffset(s string) bool {
	if s == "" {
		return true
	}
	p.hasOffset = true
	if s == "Z" {
		return true
	}
	s = strings.TrimPrefix(s, " ") // some databases set the offset apart
	west := cutByte(&s, '-')
	if !west && !cutByte(&s, '+') {
		return false
	}
	hours, minutes := 0, 0
	s, ok := cutNumber(s, 2, 2, &hours)
	if !ok {
		return false
	}
	if s != "" {
		cutByte(&s, ':')
		if s, ok = cutNumber(s, 2, 2, &minutes); !ok || s != "" {
			return false
		}
	}
	p.offset = hours*3600 + minutes*60
	if west {
		p.offset = -p.offset
	}
	return hours <= 14 && minutes <= 59
}

func cutByte(s *string, b byte) bool {
	if *s == "" || (*s)[0] != b {
		return false
	}
	*s = (*s)[1:]
	return true
}
