package draft

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/convert"
)

// meanings maps each name of synonyms, and the words that it is compared by, to these words; and the sorted words of each name,
// because “Tel (mobile)” is the mobile tel.
var meanings = func() map[string][]string {
	m := map[string][]string{}
	for meaning, names := range synonyms {
		for _, name := range append(names, meaning) {
			m[name], m[inOrder(name)] = strings.Fields(meaning), strings.Fields(meaning)
		}
	}
	return m
}()

func inOrder(name string) string {
	return strings.Join(without(sorted(strings.Fields(name)), fillers), " ")
}

// wordsOf returns the words of a name in lower case, without accents. A capital after a small letter begins a word, and so does a
// number; # is one.
func wordsOf(name string) []string {
	var b strings.Builder
	last := ' '
	for _, r := range name {
		if unicode.IsLower(last) && unicode.IsUpper(r) ||
			unicode.IsLetter(last) && unicode.IsDigit(r) || unicode.IsDigit(last) && unicode.IsLetter(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	text := howToFill.ReplaceAllString(spelling.Replace(strings.ToLower(b.String())), " ")
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// meaningOf returns the words that a name is compared by, sorted: those of the longest names of synonyms that it contains, and its
// other words in their usual form.
func meaningOf(name string) []string {
	const longestName = 5
	words := wordsOf(name)
	whole := strings.Join(words, " ")
	if known, ok := meanings[whole]; ok {
		return sorted(known)
	}
	if known, ok := meanings[inOrder(whole)]; ok {
		return sorted(known)
	}
	words = without(words, fillers)
	var meaning []string
next:
	for i := 0; i < len(words); {
		for n := min(longestName, len(words)-i); n > 0; n-- {
			phrase := strings.Join(words[i:i+n], " ")
			if known, ok := meanings[phrase]; ok && (n > 1 || len(words) == 1 || !slices.Contains(ambiguous, phrase)) {
				meaning = append(meaning, known...)
				i += n
				continue next
			}
		}
		meaning = append(meaning, usual(words[i]))
		i++
	}
	if len(among(meaning, severalOfPeople)) > 0 { // “Phone 1” is the phone
		meaning = without(meaning, []string{"1"})
	}
	return sorted(meaning)
}

// usual returns the usual form of a word.
func usual(word string) string { return cmp.Or(abbreviations[word], word) }

// strength is how much a column's header is like a name.
type strength int

const (
	unlike    strength = iota
	partly             // one has all words of the other: a question
	likely             // only words differ that every sheet of leads is about
	synonym            // other words with the same meaning
	sameWords          // the same words in any order
	sameName           // the same name, in any case
)

// reasons say why a column was taken for a name.
var reasons = [...]string{"", "a name like it", "nearly the same name", "another name for it", "the same words", "the same name"}

// compareNames returns how much a column's header is like a name. meaning is meaningOf(name).
func compareNames(name string, meaning []string, c *column) strength {
	has := c.meaning
	bare, hasBare := without(meaning, neutral), without(has, neutral)
	switch {
	case convert.FoldHeader(c.name) == convert.FoldHeader(name):
		return sameName
	case len(meaning) == 0 || len(has) == 0:
		return unlike
	case slices.Equal(meaning, has) && letters(name) == letters(c.name):
		return sameWords
	case slices.Equal(meaning, has):
		return synonym
	case !slices.Equal(among(meaning, others), among(has, others)):
		return unlike
	case slices.Equal(bare, hasBare) && len(without(bare, generic)) > 0:
		return likely
	case slices.Contains(akin, [2]string{strings.Join(meaning, " "), strings.Join(has, " ")}), saysPart(meaning, has), saysPart(has, meaning):
		return partly
	}
	return unlike
}

// mostLike returns the columns whose headers are the most like a name, and at least so much, of those that fit.
func mostLike(name string, of []*column, least strength, fits func(*column) bool) (best []*column, like strength) {
	meaning := meaningOf(name)
	like = least
	for _, c := range of {
		s := compareNames(name, meaning, c)
		if s < like || !fits(c) {
			continue
		}
		if s > like {
			like, best = s, nil
		}
		best = append(best, c)
	}
	return best, like
}

// saysPart reports whether all words of a name that mean something are among another's. What every sheet of leads is about does
// not mean anything here.
func saysPart(name, other []string) bool {
	telling := without(name, generic)
	return within(telling, other) && len(without(telling, neutral)) > 0
}

// letters returns the words of a name that say something, in their usual form and sorted, without what is between them.
func letters(name string) string {
	words := without(wordsOf(name), fillers)
	for i, w := range words {
		words[i] = usual(w)
	}
	return strings.Join(sorted(words), "")
}

func sorted(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return slices.Compact(words)
}

// without returns the words that are not in a list.
func without(words, list []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(list, w) })
}

// among returns the words that are in a list.
func among(words, list []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !slices.Contains(list, w) })
}

// within reports whether all of a's words are among b's.
func within(a, b []string) bool { return len(a) > 0 && len(without(a, b)) == 0 }
