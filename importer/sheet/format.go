package sheet

import (
	"strings"

	"github.com/xuri/nfp"
)

// format is a compiled number format. A nil *format is General.
type format struct {
	code string
	// date and clock tell what of a serial is shown; a format with neither is
	// a number's.
	date, clock bool
	sections    []section // of a number; nil shows it as General
}

// isDate tells whether a number of this format is a date or a time of day. A
// format of elapsed time, [h]:mm, is a number's: 26:30 is no time of day.
func (f *format) isDate() bool { return f != nil && (f.date || f.clock) }

// formatCode is the code, "" for General.
func (f *format) formatCode() string {
	if f == nil {
		return ""
	}
	return f.code
}

// maxCode bounds a format code; spreadsheet programs stop at 255.
const maxCode = 1_000

// compile reads a number format code. Its first section, the one for positive
// numbers, tells dates from numbers. A code that cannot be rendered leaves
// the number as in General: all its digits are better than a wrong few.
func compile(code string) *format {
	if code == "" || strings.EqualFold(code, "General") {
		return nil
	}
	f := &format{code: code}
	if len(code) > maxCode {
		return f
	}
	parser := nfp.NumberFormatParser()
	parsed := parser.Parse(code)
	if len(parsed) == 0 {
		return f
	}
	if f.date, f.clock = dateParts(parsed[0].Items); f.isDate() {
		return f
	}
	for _, p := range parsed {
		if p.Type == nfp.TokenSectionText || isTextSection(p.Items) || len(f.sections) == 3 {
			break
		}
		s, ok := compileSection(p.Items)
		if !ok {
			f.sections = nil
			return f
		}
		f.sections = append(f.sections, s)
	}
	return f
}

func isTextSection(items []nfp.Token) bool {
	for _, t := range items {
		if t.TType == nfp.TokenTypeTextPlaceHolder {
			return true
		}
	}
	return false
}

// dateParts tells what a section shows of a date. Both are false for a
// number, which is any section with a digit other than a second's fraction.
func dateParts(items []nfp.Token) (date, clock bool) {
	var codes []byte // the date and time codes in order, one letter each
	for i, t := range items {
		switch t.TType {
		case nfp.TokenTypeElapsedDateTimes, nfp.TokenTypeGeneral, nfp.TokenTypeTextPlaceHolder:
			return false, false
		case nfp.TokenTypeDateTimes:
			if c := dateCode(t.TValue); c != 0 {
				codes = append(codes, c)
			}
		case nfp.TokenTypeZeroPlaceHolder, nfp.TokenTypeHashPlaceHolder, nfp.TokenTypeDigitalPlaceHolder:
			if i == 0 || items[i-1].TType != nfp.TokenTypeDecimalPoint || len(codes) == 0 {
				return false, false
			}
		}
	}
	for i, c := range codes {
		switch {
		case c == 'm' && (i > 0 && codes[i-1] == 'h' || i+1 < len(codes) && codes[i+1] == 's'):
			clock = true // minutes: beside hours or seconds
		case c == 'h' || c == 's' || c == 'a':
			clock = true
		default:
			date = true
		}
	}
	return date, clock
}

// dateCode is the letter of a date or time code: y m d h s, e for a year of
// an era, a for AM/PM; 0 for a letter that is none.
func dateCode(token string) byte {
	lower := strings.ToLower(token)
	switch {
	case strings.Contains(lower, "/"): // AM/PM, A/P and their like
		return 'a'
	case lower == "":
		return 0
	}
	switch c := lower[0]; c {
	case 'y', 'm', 'd', 'h', 's':
		return c
	case 'e', 'g', 'b':
		return 'e'
	}
	return 0
}
