package convert

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// convertText reads Text, TextArea and DropDown: what a person reads in the
// cell, or what the table of values has for it.
//
// The table must match exactly, with upper and lower case. Line ends become
// \n. Control characters other than tab are refused, and so are bytes that are
// not text.
func (c *Converter) convertText(in cell.Cell) (string, *CellError) {
	s, r := shownText(in)
	if r != nil {
		return "", r
	}
	if c.Values != nil {
		if s, r = c.lookUp(s); r != nil {
			return "", r
		}
	}
	return s, refuseTooLong(s, c.MaxLength)
}

// lookUp returns what the table of values has for a text.
func (c *Converter) lookUp(s string) (string, *CellError) {
	if to, ok := c.Values[s]; ok {
		return to, nil
	}
	if c.Else != nil {
		return *c.Else, nil
	}
	hint := "write one of these in the cell, or let the mapping list this text too (values, or else)"
	for from := range c.Values {
		if strings.EqualFold(from, s) {
			hint = "values is case-sensitive: list the text as the cell writes it"
		}
	}
	return "", refuse("value-unlisted", "is not listed in values; expected "+problem.OrList(slices.Sorted(maps.Keys(c.Values))), hint)
}

// shownText returns what a person reads in the cell, trimmed and fit to be sent. It is never "" without an error.
func shownText(c cell.Cell) (string, *CellError) {
	s := c.Shown
	if r := refuseFormat(c); r != nil {
		return "", r
	}
	if c.Kind == cell.Number {
		var r *CellError
		if s, r = shownNumber(c); r != nil {
			return "", r
		}
	}
	if s = Trim(s); s == "" {
		return "", refuse("text-invisible", "holds nothing that can be seen", "type the value again, or clear the cell")
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = lineEnds.Replace(s)
	}
	return s, refuseCharacters(s)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// refuseCharacters refuses characters that JSON can carry but no form can
// show, and texts that were damaged before they came here.
func refuseCharacters(s string) *CellError {
	for _, char := range s {
		switch {
		case char == utf8.RuneError:
			return refuse("text-broken", "holds a character that was lost in an earlier export",
				"export the sheet again in UTF-8 (or as .xlsx), or type the character again")
		case unicode.IsControl(char) && char != '\n' && char != '\t':
			return refuse("text-control", "holds a control character, which cannot be seen", "type the value again")
		}
	}
	return nil
}

// Trim removes what a reader cannot see at both ends of a text: white space,
// no-break and zero-width spaces, and byte order marks.
func Trim(s string) string {
	return strings.TrimFunc(s, isBlank)
}

// isBlank reports whether a character is white space, a no-break space, a
// zero-width space, a word joiner or a byte order mark.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || r == '\u200b' || r == '\u2060' || r == '\ufeff'
}

// trimToken is Trim for dates, numbers and addresses: it also removes
// marks of the writing direction. Address books put them around phone numbers
// when these are copied.
func trimToken(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return isBlank(r) || isDirectionMark(r) })
}

// token returns the text of a cell as trimToken leaves it.
func token(c cell.Cell) string {
	if c.Kind == cell.Text {
		return trimToken(c.Raw)
	}
	return trimToken(c.Shown)
}

func isDirectionMark(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// shownNumber returns what a person reads in a number cell; for General
// format, all digits. It refuses a long number that has lost digits: such a
// text is a damaged account or phone number.
func shownNumber(c cell.Cell) (string, *CellError) {
	// @ (text) shows a number as it was typed, if it was there before the format.
	general := c.Format == "" || c.Format == "@" || strings.EqualFold(c.Format, "General")
	digits, r := plainDecimal(c.Raw)
	if r != nil {
		return "", r
	}
	whole, _, _ := strings.Cut(digits, ".")
	if countDigits(whole) > significantDigits && (general || countDigits(c.Shown) > significantDigits) {
		return "", refuseLostDigits
	}
	if general {
		return digits, nil
	}
	return c.Shown, nil
}

func countDigits(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// rareFormats are number formats that hide digits, or whose text Claimsheet does not render, by what they hold.
var rareFormats = []struct {
	mark    *regexp.Regexp
	refusal *CellError
}{
	{regexp.MustCompile(`\[[<>=]`), refuseShown("by a number format with a condition, such as [>100]")},
	{regexp.MustCompile(`[Ee][+-]`), refuse("number-scientific", "is shown with an exponent, which hides digits",
		"format the column as text or as a plain number")},
	{regexp.MustCompile(`(?i)\[(h+|m+|s+)\]`), refuseElapsed},
	{regexp.MustCompile(`/`), refuseShown("as a fraction")},
	{regexp.MustCompile(`[0#?],+([^0#?,]|$)`), refuseShown("in thousands, without its last digits")},
}

// refuseElapsed refuses a number that is shown as elapsed time. It is stored as a
// number of days, which is neither a date nor a number that a person reads.
var refuseElapsed = refuseShown("as elapsed time, such as 26:30")

func refuseShown(how string) *CellError {
	return refuse("number-format", "is shown "+how, "show the column as text, or format it as General or as a plain number")
}

// hiddenInFormat matches what has no other meaning in a format: quoted and escaped text, colours and currencies.
var hiddenInFormat = regexp.MustCompile(`"[^"]*"?|\[[^hms<>=\]][^\]]*\]?|[\\_*].`)

// knownFormats are the refusals of the formats that were looked at already.
var knownFormats sync.Map // of *CellError, by the format

// refuseFormat refuses a number whose text is not what a person reads.
func refuseFormat(c cell.Cell) *CellError {
	if c.Kind != cell.Number || c.Format == "" {
		return nil
	}
	if known, ok := knownFormats.Load(c.Format); ok {
		return known.(*CellError)
	}
	bare := hiddenInFormat.ReplaceAllString(c.Format, " ")
	var refusal *CellError
	for _, rare := range rareFormats {
		if refusal == nil && rare.mark.MatchString(bare) {
			refusal = rare.refusal
		}
	}
	knownFormats.Store(c.Format, refusal)
	return refusal
}
