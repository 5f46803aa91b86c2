package mapping

import (
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/problem"
)

// role is what a column may be to a client, known by the words of its header.
type role struct {
	field string // of the create payload
	typ   Type   // "" for Text
	words [][]string
}

// clientRoles are the client fields that a sheet may hold, in the order in
// which they are written. The service document shows no names of fields but
// speaks of e-mail and name.
var clientRoles = []role{
	{"email", Email, [][]string{{"email"}, {"e", "mail"}, {"mail"}}},
	{"firstName", "", [][]string{{"first", "name"}, {"firstname"}, {"forename"}, {"given", "name"}}},
	{"lastName", "", [][]string{{"last", "name"}, {"lastname"}, {"surname"}, {"family", "name"}}},
	{"phone", Phone, [][]string{{"mobile"}, {"phone"}, {"telephone"}, {"tel"}}},
}

// numberRole is a number by which a sheet tells its rows apart.
var numberRole = role{words: [][]string{{"agreement", "no"}, {"agreement", "number"}, {"agreement"}, {"account"}, {"policy"}, {"contract"},
	{"claim"}, {"reference"}, {"ref"}, {"id"}, {"number"}, {"no"}}}

// find is the first column whose header has the words, the likeliest words
// first.
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

// wordsOf are the words of a name, in lower case.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// matchColumn finds the column that an attribute's name most likely means: the
// same words, all of its words or the column's, its initials (DOB), or few
// letters otherwise.
func matchColumn(attribute string, columns []string) (string, bool) {
	name := wordsOf(attribute)
	squashed := strings.Join(name, "")
	initials := ""
	for _, w := range name {
		initials += string([]rune(w)[:1])
	}
	var same, part, short []string
	byText := map[string]string{}
	for _, c := range columns {
		words := wordsOf(c)
		text := strings.Join(words, "")
		if _, twice := byText[text]; !twice {
			byText[text] = c
		}
		switch {
		case text == squashed:
			same = append(same, c)
		case within(name, words) || within(words, name):
			part = append(part, c)
		case len(name) > 1 && text == initials:
			short = append(short, c)
		}
	}
	for _, found := range [][]string{same, short, part} {
		if len(found) == 1 {
			return found[0], true
		}
	}
	if len(same)+len(part)+len(short) > 0 {
		return "", false // several are as likely
	}
	var texts []string
	for _, c := range columns {
		if text := strings.Join(wordsOf(c), ""); len(text) > 3 {
			texts = append(texts, text)
		}
	}
	nearest, ok := problem.Nearest(squashed, texts)
	return byText[nearest], ok && len(squashed) > 3
}

// within tells whether all of a's words are among b's.
func within(a, b []string) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}
