package draft

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// role is what a column may mean for a client, recognised by the words of its
// header.
type role struct {
	field string       // of the create payload
	typ   convert.Type // "" for Text
	words [][]string
}

// clientRoles are the client fields that a sheet may hold, in the order in
// which they are written. The service document gives no field names, but
// speaks of e-mail and name.
var clientRoles = []role{
	{"email", convert.Email, [][]string{{"email"}, {"e", "mail"}, {"mail"}}},
	{"firstName", "", [][]string{{"first", "name"}, {"firstname"}, {"forename"}, {"given", "name"}}},
	{"lastName", "", [][]string{{"last", "name"}, {"lastname"}, {"surname"}, {"family", "name"}}},
	{"phone", convert.Phone, [][]string{{"mobile"}, {"phone"}, {"telephone"}, {"tel"}}},
}

// numberRole is a number that identifies rows.
var numberRole = role{words: [][]string{{"agreement", "no"}, {"agreement", "number"}, {"agreement"}, {"account"}, {"policy"}, {"contract"},
	{"claim"}, {"reference"}, {"ref"}, {"id"}, {"number"}, {"no"}}}

// find returns the first column whose header has the role's words; the
// likeliest words come first.
func (r role) find(columns []string) (string, bool) {
	for _, words := range r.words {
		for _, c := range columns {
			has := wordsOf(c)
			if !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(has, w) }) {
				return c, true
			}
		}
	}
	return "", false
}

// wordsOf returns the words of a name in lower case.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// alike maps words to the word with the same meaning in headers.
var alike = map[string]string{"no": "number", "nr": "number", "num": "number", "tel": "telephone", "phone": "telephone", "addr": "address"}

// matchColumn returns the column that an attribute's name most likely means.
// It is sure when both have the same words, or the header is the name's
// initials (DOB). Otherwise it is a guess: one name has all words of the
// other, or few letters differ. A guess can be wrong (Sort code, Post code);
// several equally likely columns give none.
func matchColumn(attribute string, columns []string) (column string, sure, ok bool) {
	name := alikeWords(attribute)
	initials := ""
	for _, w := range name {
		initials += string([]rune(w)[:1])
	}
	var same, part []string
	near := map[string]string{}
	for _, c := range columns {
		words := alikeWords(c)
		text := strings.Join(words, "")
		switch {
		case text == strings.Join(name, ""), len(name) > 2 && text == initials:
			same = append(same, c)
		case within(name, words) || within(words, name):
			part = append(part, c)
		case len(text) > 3:
			near[text] = c
		}
	}
	switch {
	case len(same) > 0:
		return same[0], len(same) == 1, len(same) == 1
	case len(part) > 0:
		return part[0], false, len(part) == 1
	}
	nearest, ok := problem.Nearest(strings.Join(name, ""), slices.Sorted(maps.Keys(near)))
	return near[nearest], false, ok
}

// alikeWords returns the words of a name, with one word for those of the same
// meaning.
func alikeWords(name string) []string {
	words := wordsOf(name)
	for i, w := range words {
		if other, ok := alike[w]; ok {
			words[i] = other
		}
	}
	return words
}

// within reports whether all of a's words are among b's.
func within(a, b []string) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}
