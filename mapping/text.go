package mapping

import (
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// squeeze trims a text and folds each run of white space, no-break spaces
// included, into one space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
