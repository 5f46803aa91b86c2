package mapping

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// KeyText is a key cell as two sheets would agree on it: what a person reads,
// trimmed, runs of white space folded to one space. What cannot be seen makes
// no difference: invisible characters are dropped and accents are composed
// (Unicode NFC), so that one client never becomes two. Case is kept.
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
	if s = foldKey(s); s == "" {
		return "", refuse("text-invisible", "holds nothing that can be seen", "write the value anew, or clear the cell")
	}
	return s, nil
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
