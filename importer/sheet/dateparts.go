package sheet

import "strings"

// dateParts tells what a section shows of a date. Both are false for a
// number, which is any section with a digit other than a second's fraction. A
// section of elapsed time, [h]:mm, is a number's: 26:30 is no time of day.
func dateParts(tokens []codeToken) (date, clock bool) {
	var letters []byte // the date and time codes in order, one letter each
	for i, t := range tokens {
		switch t.kind {
		case elapsedCode, generalCode:
			return false, false
		case dateCode:
			if c := dateLetter(t.text); c != 0 {
				letters = append(letters, c)
			}
		case placesCode:
			if i == 0 || tokens[i-1].kind != pointCode || len(letters) == 0 {
				return false, false
			}
		}
	}
	for i, c := range letters {
		switch {
		case c == 'm' && (i > 0 && letters[i-1] == 'h' || i+1 < len(letters) && letters[i+1] == 's'):
			clock = true // minutes: beside hours or seconds
		case c == 'h' || c == 's' || c == 'a':
			clock = true
		default:
			date = true
		}
	}
	return date, clock
}

// dateLetter is the letter of a date or time code: y m d h s, e for a year of
// an era, a for AM/PM; 0 for a letter that is none.
func dateLetter(code string) byte {
	lower := strings.ToLower(code)
	if strings.Contains(lower, "/") { // AM/PM, A/P and their like
		return 'a'
	}
	switch c := lower[0]; c {
	case 'y', 'm', 'd', 'h', 's':
		return c
	case 'e', 'g', 'b':
		return 'e'
	}
	return 0
}
