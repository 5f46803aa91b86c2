package problem

import (
	"strings"

	"github.com/xrash/smetrics"
)

// Nearest finds the candidate that the user most likely meant by word: the
// one with the fewest edits, ignoring case, if that is few for its length.
// ok is false when nothing is near.
func Nearest(word string, candidates []string) (nearest string, ok bool) {
	w := strings.ToLower(strings.TrimSpace(word))
	best := 1 + max(2, len(w)/3)
	for _, c := range candidates {
		d := smetrics.WagnerFischer(w, strings.ToLower(strings.TrimSpace(c)), 1, 1, 1)
		if d < best {
			best, nearest, ok = d, c, true
		}
	}
	return nearest, ok
}
