package mapping

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// squeeze trims a text and folds each run of white space, no-break spaces
// included, into one space.
func squeeze(s string) string {
	if isSqueezed(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isSqueezed tells the plain case, which most texts are, without allocating:
// printable ASCII with single spaces between its words.
func isSqueezed(s string) bool {
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

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
