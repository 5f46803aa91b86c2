package mapping

import (
	"strings"
	"unicode"

	"github.com/shopspring/decimal"
	"golang.org/x/text/unicode/norm"
)

// KeyText is a key cell as two sheets would agree on it: what a person reads,
// trimmed, runs of white space folded to one space. What cannot be seen makes
// no difference: invisible characters are dropped and accents are composed
// (Unicode NFC), so that one client never becomes two. Case is kept.
//
// A number that its format only dresses (1,234 or £1,234.00 for 1234) is the
// number: a click on the comma style makes no other claim. Where the format
// makes something else of it (00123, 12-345) it is what a person reads.
//
// An empty cell is "". Errors, formulas without a result and numbers that have
// lost digits are refused as for Text. It is idempotent on text.
func KeyText(cell Cell) (string, *Refusal) {
	if cell.Kind == Empty || cell.Kind == TextCell && strings.TrimSpace(cell.Raw) == "" {
		return "", nil
	}
	if r := refuseUnreadable(cell); r != nil {
		return "", r
	}
	s, r := shownText(cell)
	if r != nil {
		return "", r
	}
	if cell.Kind == Number && isDressed(s, cell.Raw) {
		return plainDecimal(cell.Raw)
	}
	if s = foldKey(s); s == "" {
		return "", refuse("text-invisible", "holds nothing that can be seen", "write the value anew, or clear the cell")
	}
	return s, nil
}

// isDressed tells that a text is a number with nothing added but separators of
// groups, a currency sign and zeros behind the point.
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

func foldKey(s string) string {
	if isSqueezed(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u200b' || r == '\u2060' || r == '\ufeff' || isDirectionMark(r):
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(squeeze(s))
}
