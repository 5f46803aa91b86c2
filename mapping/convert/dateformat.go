package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// serialFormat is the format of dates that are a spreadsheet's day count.
const serialFormat = "serial"

// dateTokens lists the tokens of a date format, for messages.
const dateTokens = "d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM"

// dateFormat is a compiled date format: how text cells write dates.
type dateFormat struct {
	layout string // as package time has it
	units  []string
	short  bool // the year has two digits
}

// dateTokenOf has the unit of each token and how a layout of package time writes it. An hour with AM/PM is written otherwise.
var dateTokenOf = map[string]struct{ unit, layout string }{
	"d": {"day", "2"}, "dd": {"day", "02"},
	"m": {"month", "1"}, "mm": {"month", "01"}, "mmm": {"month", "Jan"}, "mmmm": {"month", "January"},
	"yy": {"year", "06"}, "yyyy": {"year", "2006"},
	"h": {"hour", "15"}, "hh": {"hour", "15"}, "ss": {"second", "05"}, "am/pm": {"AM/PM", "PM"},
}

// dateFormats are the formats that were compiled already.
var dateFormats sync.Map // of dateFormat, by the format

// parseDateFormat compiles a format of the tokens of spreadsheet programs, in upper or lower case:
//
//	d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM
//
// mm is minutes directly after h or hh, otherwise a month. One letter matches
// one or two digits, two letters exactly two. Month names are English, in any
// case. yy is a year of 1930–2029, as in spreadsheet programs. A space matches
// any run of white space, and a character that is neither an ASCII letter nor a digit
// stands for itself. A format needs day, month and year, and may have a time.
//
// The error says what is wrong and which tokens there are. "serial" is not
// compiled, because it is not a format of texts.
func parseDateFormat(format string) (dateFormat, error) {
	if known, ok := dateFormats.Load(format); ok {
		return known.(dateFormat), nil
	}
	f, err := compileDateFormat(format)
	if err == nil {
		dateFormats.Store(format, f)
	}
	return f, err
}

func compileDateFormat(format string) (f dateFormat, err error) {
	isOpen := false // whether the token before is a number of one digit or two
	for rest := format; rest != ""; {
		char, size := utf8.DecodeRuneInString(rest)
		part := rest[:size]
		written, wasOpen := part, isOpen
		isOpen = false
		switch {
		case char >= '0' && char <= '9':
			return f, fmt.Errorf("a date format has no digits of its own; expected the tokens %s", dateTokens)
		case char < utf8.RuneSelf && unicode.IsLetter(char):
			after := strings.TrimLeft(rest, strings.ToLower(part)+strings.ToUpper(part))
			if part = rest[:len(rest)-len(after)]; len(rest) >= 5 && strings.EqualFold(rest[:5], "am/pm") {
				part = rest[:5]
			}
			token, known := dateTokenOf[strings.ToLower(part)]
			if last := len(f.units) - 1; token.unit == "month" && len(part) <= 2 && last >= 0 && f.units[last] == "hour" {
				token.unit, token.layout, known = "minute", "04", len(part) == 2
			}
			switch isOpen = len(part) == 1; {
			case !known:
				return f, fmt.Errorf("the date format has the unknown token %q; expected the tokens %s", part, dateTokens)
			case slices.Contains(f.units, token.unit):
				return f, fmt.Errorf("the date format has the %s twice", token.unit)
			case wasOpen && token.layout[0] <= '9':
				return f, errors.New("the date format has two numbers side by side, the first of them of one digit or two; " +
					"write dd, mm or hh, or something between them")
			}
			f.units, written = append(f.units, token.unit), token.layout
			f.short = f.short || token.layout == "06"
		}
		f.layout, rest = f.layout+written, rest[len(part):]
	}
	if f.has("AM/PM") {
		f.layout = strings.Replace(f.layout, "15", "3", 1)
	}
	f.layout = FoldSpace(f.layout)
	return f, f.check()
}

func (f *dateFormat) has(unit string) bool { return slices.Contains(f.units, unit) }

// check refuses formats that do not give one certain moment.
func (f *dateFormat) check() error {
	for _, unit := range []string{"day", "month", "year"} {
		if !f.has(unit) {
			return fmt.Errorf("the date format has no %s; expected day, month and year in the tokens %s", unit, dateTokens)
		}
	}
	if f.has("second") && !f.has("minute") {
		return errors.New("the date format has seconds without minutes; write mm after h or hh")
	}
	return nil
}
