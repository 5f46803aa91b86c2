package problem

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/xrash/smetrics"
)

// Nearest finds the candidate that the user most likely meant by word: the
// one with the fewest edits, ignoring case, if that is few for its length.
// Fewer characters of both must differ than the shorter one has, so that a
// letter is never taken for another. ok is false when nothing is near.
func Nearest(word string, candidates []string) (nearest string, ok bool) {
	w := strings.ToLower(strings.TrimSpace(word))
	best := 1 + max(2, len(w)/3)
	for _, candidate := range candidates {
		c := strings.ToLower(strings.TrimSpace(candidate))
		d := smetrics.WagnerFischer(w, c, 1, 1, 1)
		if d < best && (d == 0 || d < min(utf8.RuneCountInString(w), utf8.RuneCountInString(c))) {
			best, nearest, ok = d, candidate, true
		}
	}
	return nearest, ok
}

// Suggestion is the hint for a word that is not among the candidates: the
// nearest one, else the candidates themselves, of many the first twelve. It is
// empty when there are no candidates.
func Suggestion(word string, candidates []string) string {
	const most = 12
	nearest, ok := Nearest(Shorten(word), candidates)
	switch {
	case ok:
		return "did you mean “" + nearest + "”?"
	case len(candidates) == 0:
		return ""
	case len(candidates) == 1:
		return "expected " + candidates[0]
	case len(candidates) > most:
		return fmt.Sprintf("expected one of %s and %d more", strings.Join(candidates[:most], ", "), len(candidates)-most)
	}
	return "expected one of " + strings.Join(candidates, ", ")
}

// OrList is "a", "a or b", or "a, b or c".
func OrList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Shorten cuts a word of the user's to 60 characters and puts it on one line, so that a message can quote it.
func Shorten(word string) string {
	const most = 60
	runes := []rune(strings.Join(strings.Fields(word), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
