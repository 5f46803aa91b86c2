package convert

import (
	"claimsheet/mapping/cell"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"golang.org/x/net/idna"
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

// SameKey reports whether two texts make the same key: only case, white space,
// accents or the format of a number differ.
func SameKey(a, b string) bool {
	return strings.EqualFold(FoldKey(a), FoldKey(b)) || isDressed(a, b) || isDressed(b, a)
}

// foldKey is a text as keys and headers are compared: what cannot be seen is
// dropped or, where it leaves a gap, counts as white space; white space is
// folded and accents are composed.
func FoldKey(s string) string {
	if isSpaceFolded(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case isGap(r):
			return ' '
		case isUnseen(r) && !isJoiner(r):
			return -1
		}
		return r
	}, s)
	if strings.ContainsFunc(s, isJoiner) {
		s = dropJoiners(s)
	}
	return norm.NFC.String(FoldSpace(s))
}

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

func isJoiner(r rune) bool { return r == nonJoiner || r == joiner }

// dropJoiners drops the joiners of a text that change nothing on the page. Where
// letters are written joined, as in Persian and Hindi, they part one word from
// another and stay: there, RFC 5892 (A.1 and A.2) allows them in domains too.
func dropJoiners(s string) string {
	const near = 16 // what stands farther away makes no difference
	all := []rune(s)
	var kept []rune
	for i, r := range all {
		if !isJoiner(r) || shows(r, letters(all[max(0, i-near):i], true), letters(all[i+1:min(len(all), i+1+near)], false)) {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

// letters are those at the end of a text, or at its beginning, with their marks
// and without joiners.
func letters(text []rune, atEnd bool) string {
	text = slices.Clone(text)
	if atEnd {
		slices.Reverse(text)
	}
	end := slices.IndexFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M) && !isJoiner(r) })
	if end >= 0 {
		text = text[:end]
	}
	text = slices.DeleteFunc(text, isJoiner)
	if atEnd {
		slices.Reverse(text)
	}
	return string(text)
}

// joining checks where a joiner stands, and nothing else.
var joining = idna.New(idna.CheckJoiners(true))

// shows tells a joiner that changes how the letters beside it are written.
func shows(joiner rune, before, after string) bool {
	_, err := joining.ToUnicode(before + string(joiner) + after)
	return before != "" && err == nil
}

// isGap tells a character that looks like a space and is none to Unicode: the
// empty Braille pattern and the Hangul fillers.
func isGap(r rune) bool { return r == '\u2800' || r == '\u3164' || r == '\uffa0' }

// isUnseen tells a character that is no mark on the page: Unicode's default
// ignorable ones (soft hyphen, joiners, variation selectors, tags, marks of the
// writing direction and more).
func isUnseen(r rune) bool {
	if r < 0xad {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !isHieroglyphControl(r)
}

// isHidden tells a character that a reader does not see, or takes for a space.
func isHidden(r rune) bool { return isGap(r) || isUnseen(r) }

// isHieroglyphControl tells the controls that say how hieroglyphs are placed,
// which can be seen.
func isHieroglyphControl(r rune) bool { return 0x13430 <= r && r <= 0x13455 }

// FoldEmail is an address as addresses are compared: in lower case, with letters
// that differ only by where they stand in a word, or by their age, made one
// (Unicode's simple case folding: the final sigma, the long s). A sharp s is no
// double s: these are two addresses.
func FoldEmail(s string) string {
	return strings.Map(func(r rune) rune {
		lower := unicode.ToLower(r)
		if r < utf8.RuneSelf {
			return lower
		}
		upper := unicode.ToUpper(lower)
		for other := unicode.SimpleFold(lower); other != lower; other = unicode.SimpleFold(other) {
			if other == upper { // a case of the same letter, which not every pair of cases is
				return unicode.ToLower(upper)
			}
		}
		return lower
	}, s)
}

// foldHeader is a header as it is compared where none is the same: what cannot
// be seen makes no difference, as in keys.
func FoldHeader(s string) string { return strings.ToLower(FoldKey(s)) }

// squeeze trims a text and folds each run of white space, no-break spaces
// included, into one space.
func FoldSpace(s string) string {
	if isSpaceFolded(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isSqueezed tells the plain case, which most texts are, without allocating:
// printable ASCII with single spaces between its words.
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
