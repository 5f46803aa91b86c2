package mapping

import (
	"claimsheet/mapping/cell"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// convertText reads Text, TextArea and DropDown: what a person reads in the
// cell, through the table of values where there is one.
//
// The table is matched exactly, upper and lower case told apart. Line ends
// become \n; other control characters than tab are refused, and so are bytes
// that are not text.
func (c *Conversion) convertText(in cell.Cell) (string, *Refusal) {
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

// lookUp takes a text through the table of values.
func (c *Conversion) lookUp(s string) (string, *Refusal) {
	if to, ok := c.Values[s]; ok {
		return to, nil
	}
	if c.Else != nil {
		return *c.Else, nil
	}
	hint := "write one of these in the cell, or let the mapping list this text too (values, or else)"
	for from := range c.Values {
		if strings.EqualFold(from, s) {
			hint = "values tells upper from lower case: list the text as the cell writes it"
		}
	}
	return "", refuse("value-unlisted", "is not listed in values; expected "+someWords(slices.Sorted(maps.Keys(c.Values))), hint)
}

// someWords lists words for a message: “A, B or C”, of many the first ones.
func someWords(words []string) string {
	if more := len(words) - 2*mostNamed; more > 0 {
		return fmt.Sprintf("%s or one of %d more", strings.Join(words[:2*mostNamed], ", "), more)
	}
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return strings.Join(words, "")
}

// shownText is what a person reads in the cell, trimmed and fit to be sent;
// never "" without a refusal.
func shownText(c cell.Cell) (string, *Refusal) {
	s := c.Shown
	switch {
	case c.Kind == cell.Number:
		var r *Refusal
		if s, r = shownNumber(c); r != nil {
			return "", r
		}
	case c.Kind == cell.Text && s == "":
		s = c.Raw // a number format such as ;;; hides the text, which is there all the same
	}
	if s = trimVisible(s); s == "" {
		return "", refuse("text-invisible", "holds nothing that can be seen", "write the value anew, or clear the cell")
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = lineEnds.Replace(s)
	}
	return s, refuseCharacters(s)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// refuseCharacters refuses what JSON would carry but no form could show, and
// what was broken before it came here.
func refuseCharacters(s string) *Refusal {
	for i := 0; i < len(s); {
		if s[i] >= ' ' && s[i] < 0x7f {
			i++
			continue
		}
		char, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case char == utf8.RuneError:
			return refuse("text-broken", "holds a character that was lost in an earlier export",
				"export the sheet again in UTF-8 (or as .xlsx), or write the character anew")
		case unicode.IsControl(char) && char != '\n' && char != '\t':
			return refuse("text-control", "holds a control character, which cannot be seen", "write the value anew")
		}
		i += size
	}
	return nil
}
