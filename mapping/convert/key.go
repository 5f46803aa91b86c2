package convert

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"golang.org/x/text/unicode/norm"

	"claimsheet/mapping/cell"
)

// Key returns a key cell in the form in which two sheets agree on it: what a
// person reads, trimmed, with each run of white space as one space. Characters
// that cannot be seen are dropped and accents are composed (Unicode NFC), so
// that one client never becomes two. Case is kept.
//
// A number that its format only decorates (1,234 or £1,234.00 for 1234) is the
// number: applying the comma style does not make another claim. A format that
// changes the digits (00123, 12-345) gives what a person reads.
//
// An empty cell is "". Errors, formulas without a result and numbers that have
// lost digits are refused as for Text, and so is 1.2E+11. The key of a key is the key itself.
func Key(c cell.Cell) (string, *CellError) {
	if c.Kind == cell.Empty || c.Kind == cell.Text && strings.TrimSpace(c.Raw) == "" {
		return "", nil
	}
	if r := refuseUnreadable(c); r != nil {
		return "", r
	}
	s, r := shownText(c)
	if r != nil {
		return "", r
	}
	if c.Kind == cell.Number && isDressed(s, c.Raw) {
		return plainDecimal(c.Raw)
	}
	if s = FoldKey(s); s == "" {
		return "", refuse("text-invisible", "holds nothing that can be seen", "type the value again, or clear the cell")
	}
	if shortened.MatchString(s) {
		return "", refuse("number-scientific", "is a number that a spreadsheet program has shortened, so that its last digits are lost",
			"format the column as text or as a plain number in the source, and export it again")
	}
	return s, nil
}

// shortened matches how spreadsheet programs write long numbers of General format into CSV files.
var shortened = regexp.MustCompile(`^-?\d([.,]\d+)?E\+\d\d+$`)

// isDressed reports whether a text is a number with only group separators, a
// currency sign and zeros after the point added.
func isDressed(s, number string) bool {
	if s == number {
		return false
	}
	bare := strings.Map(func(r rune) rune {
		if r == ',' || unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) {
			return -1
		}
		return r
	}, s)
	digits := strings.TrimPrefix(bare, "-")
	if strings.Trim(digits, "0123456789.") != "" || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return false
	}
	shown, err := decimal.NewFromString(bare)
	if err != nil {
		return false
	}
	plain, refusal := plainDecimal(number)
	held, err := decimal.NewFromString(plain)
	return refusal == nil && err == nil && shown.Equal(held)
}

// SameKey reports whether two texts mean the same key: only case, white space,
// accents or the format of a number differ.
func SameKey(a, b string) bool {
	return strings.EqualFold(FoldKey(a), FoldKey(b)) || isDressed(a, b) || isDressed(b, a)
}

// FoldKey returns a text as keys and headers are compared: invisible characters are
// dropped, white space is folded and accents are composed.
func FoldKey(s string) string {
	if isSpaceFolded(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if isUnseen(r) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(FoldSpace(s))
}

// isUnseen reports whether a character leaves no mark on the page: Unicode's
// default ignorable characters (soft hyphen, joiners, variation selectors,
// tags, direction marks and more).
func isUnseen(r rune) bool {
	if r < 0xad {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// FoldHeader returns a header as headers are compared: without case and without what cannot be seen.
func FoldHeader(s string) string { return strings.ToLower(FoldKey(s)) }

// Composed returns a text with each accented letter as one character (NFC), so that names
// that look the same are the same.
func Composed(s string) string { return norm.NFC.String(s) }

// FoldSpace trims a text and replaces each run of white space, also of no-break spaces, by one space.
func FoldSpace(s string) string {
	if isSpaceFolded(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isSpaceFolded reports whether a text is plainly folded already, as most are:
// printable ASCII with single spaces. It allocates nothing.
func isSpaceFolded(s string) bool {
	space := true // a leading space is not folded
	for i := range len(s) {
		b := s[i]
		if b < ' ' || b >= utf8.RuneSelf || b == ' ' && space {
			return false
		}
		space = b == ' '
	}
	return !space
}
