package draft

import (
	"slices"
	"strings"
	"testing"
)

func TestMeaningOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Tel (mobile)":        "mobile",
		"Mobile tel.":         "mobile",
		"Name (first)":        "first name",
		"Name, last":          "last name",
		"Birth date":          "birth date of",
		"Preferred contact":   "contact preferred",
		"Dealer address":      "address dealer",
		"Contact preference?": "contact preferred",

		"OK to contact? (Y/N)":     "consent contact",
		"Opt in - yes or no":       "consent contact",
		"DOB (dd/mm/yyyy)":         "birth date of",
		"Date of birth DD.MM.YYYY": "birth date of",
		"Finance co.":              "lender",
	} {
		want := without(strings.Fields(want), fillers)
		if got := without(meaningOf(name), fillers); !slices.Equal(got, sorted(want)) {
			t.Errorf("%q means %q, want %q", name, got, want)
		}
	}
}

// TestNamesMeanOneThing: whatever the order of its words, a name has one meaning.
func TestNamesMeanOneThing(t *testing.T) {
	t.Parallel()
	of := map[string]string{}
	for meaning, names := range synonyms {
		for _, name := range append(names, meaning) {
			if was, ok := of[inOrder(name)]; ok && was != meaning {
				t.Errorf("%q means both %q and %q", name, was, meaning)
			}
			of[inOrder(name)] = meaning
		}
	}
}
