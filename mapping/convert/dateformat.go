package convert

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// serialFormat is the format of dates that are a spreadsheet's day count.
const serialFormat = "serial"

// dateTokens lists the tokens of a date format, for messages.
const dateTokens = "d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM"

// maxDateFormat is the longest format that is read, in bytes.
const maxDateFormat = 64

// dateFormat is a compiled date format: how text cells write dates.
type dateFormat struct {
	whole *regexp.Regexp // a group for each of units
	units []string
	short bool // the year has two digits
}

// dateToken is what a token stands for.
type dateToken struct{ unit, pattern string }

// oneOrTwo and twoDigits are the patterns of numbers.
const oneOrTwo, twoDigits = `(\d{1,2})`, `(\d\d)`

var (
	monthNames = []string{"January", "February", "March", "April", "May", "June",
		"July", "August", "September", "October", "November", "December"}
	monthName  = "(" + strings.Join(monthNames, "|") + ")"
	monthShort = regexp.MustCompile(`([A-Z]..)[a-z]*`).ReplaceAllString(monthName, "$1")

	dateTokenOf = map[string]dateToken{
		"d": {"day", oneOrTwo}, "dd": {"day", twoDigits},
		"m": {"month", oneOrTwo}, "mm": {"month", twoDigits}, "mmm": {"month", monthShort}, "mmmm": {"month", monthName},
		"yy": {"year", twoDigits}, "yyyy": {"year", `(\d{4})`},
		"h": {"hour", oneOrTwo}, "hh": {"hour", twoDigits}, "ss": {"second", twoDigits}, "am/pm": {"AM/PM", "([AP]M)"},
	}
	minutes = dateToken{"minute", twoDigits}

	// dateTokenAt matches a token at the beginning of a format: a quoted or escaped text, AM/PM, a run of one letter, or a character.
	dateTokenAt = regexp.MustCompile(`(?is)^(?:"([^"]*)("?)|\\(.)|(am/pm|` +
		`a+|b+|c+|d+|e+|f+|g+|h+|i+|j+|k+|l+|m+|n+|o+|p+|q+|r+|s+|t+|u+|v+|w+|x+|y+|z+)|(.))`)
)

const spaces = `[\s\v\x{85}\p{Z}]+`

// dateFormats are the formats that were compiled already.
var dateFormats sync.Map // of dateFormat, by the format

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
	if len(format) > maxDateFormat {
		return f, fmt.Errorf("a date format has at most %d characters", maxDateFormat)
	}
	pattern, before := "^", "" // before is the pattern of the token before
	for rest := format; rest != ""; {
		at := dateTokenAt.FindStringSubmatch(rest)
		rest = rest[len(at[0]):]
		quoted, end, escaped, word, char := at[1], at[2], at[3], strings.ToLower(at[4]), at[5]
		token, known := dateTokenOf[word]
		if last := len(f.units) - 1; word == "mm" && last >= 0 && f.units[last] == "hour" {
			token = minutes
		} else if word == "m" && last >= 0 && f.units[last] == "hour" {
			known = false
		}
		switch {
		case at[0][0] == '"' && end == "":
			return f, errors.New("a quoted text in the date format has no end")
		case word != "" && !known:
			return f, fmt.Errorf("the date format has the unknown token %q; expected the tokens %s", at[0], dateTokens)
		case word != "" && slices.Contains(f.units, token.unit):
			return f, fmt.Errorf("the date format has the %s twice", token.unit)
		case char >= "0" && char <= "9":
			return f, fmt.Errorf("a date format has no digits of its own; expected the tokens %s", dateTokens)
		case before == oneOrTwo && strings.HasPrefix(token.pattern, `(\d`):
			return f, errors.New("the date format has two numbers side by side, the first of them of one digit or two; " +
				"write dd, mm or hh, or something between them")
		case word != "":
			f.units = append(f.units, token.unit)
			f.short = f.short || word == "yy"
		case char == " ":
			token.pattern = spaces
		default:
			token.pattern = "(?-i:" + regexp.QuoteMeta(quoted+escaped+char) + ")"
		}
		pattern, before = pattern+token.pattern, token.pattern
	}
	if f.whole, err = regexp.Compile("(?i)" + pattern + "$"); err != nil {
		return f, errors.New("the date format is not text")
	}
	return f, f.check()
}

// check refuses formats that do not give one certain moment.
func (f *dateFormat) check() error {
	has := func(unit string) bool { return slices.Contains(f.units, unit) }
	for _, unit := range []string{"day", "month", "year"} {
		if !has(unit) {
			return fmt.Errorf("the date format has no %s; expected day, month and year in the tokens %s", unit, dateTokens)
		}
	}
	switch {
	case has("second") && !has("minute"):
		return errors.New("the date format has seconds without minutes; write mm after h or hh")
	case has("AM/PM") && !has("hour"):
		return errors.New("the date format has AM/PM without an hour; write h or hh")
	}
	return nil
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
	found := f.whole.FindStringSubmatch(s)
	if found == nil {
		return p, false
	}
	half := ""
	for i, unit := range f.units {
		text := found[i+1]
		n, _ := strconv.Atoi(text) // 0 for a name
		switch unit {
		case "day":
			p.day = n
		case "month":
			p.month = n
			if n == 0 && text[0] > '9' {
				p.month = 1 + slices.IndexFunc(monthNames, func(name string) bool { return strings.EqualFold(name[:3], text[:3]) })
			}
		case "year":
			p.year, p.shortYear = n, f.short
		case "hour":
			p.hour = n
		case "minute":
			p.minute = n
		case "second":
			p.second = n
		case "AM/PM":
			half = strings.ToLower(text)
		}
	}
	if f.short { // as spreadsheet programs read it: 1930–2029
		p.year += 1900
		if p.year < 1930 {
			p.year += 100
		}
	}
	if half == "" {
		return p, true
	}
	ok = p.hour >= 1 && p.hour <= 12
	if p.hour %= 12; half == "pm" {
		p.hour += 12
	}
	return p, ok
}
