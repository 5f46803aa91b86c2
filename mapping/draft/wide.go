package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"claimsheet/mapping/convert"
)

// group is a set of columns that a wide sheet repeats for each claim of a row: Lender
// 1, Amount 1, Lender 2, Amount 2.
type group struct {
	numbers []int // of the claims, in order
	members []*member
}

// member is what a wide sheet holds of each claim: the column of every claim, and an
// alias for all of them.
type member struct {
	alias   *column   // its cells are those of all claims, one claim behind the other
	columns []*column // in the order of group.numbers
}

// numbered splits a header that numbers what it names: Lender 1, Loan 2 amount, 3.
// Lender. The stem is the rest of the words. A header with two numbers has none.
func numbered(header string) (stem string, number int, ok bool) {
	var words []string
	for _, w := range wordsOf(header) {
		n, err := strconv.Atoi(w)
		switch {
		case err != nil:
			words = append(words, w)
		case ok || n < 1 || n > 30:
			return "", 0, false
		default:
			number, ok = n, true
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains([]string{"st", "nd", "rd", "th"}, w) })
	return strings.Join(words, " "), number, ok && len(words) > 0
}

// isOfPerson reports whether a stem is of what people have several of: address lines,
// phone numbers, names. These are not claims.
func isOfPerson(stem string) bool {
	for _, word := range meaningOf(stem) {
		if slices.Contains([]string{"address", "line", "street", "phone", "mobile", "landline", "email", "first", "last", "full", "locality", "town", "postcode", "title", "birth", "notes", "comment", "applicant", "client", "claimant", "borrower"}, word) {
			return true
		}
	}
	return false
}

// findGroup finds the columns that a wide sheet repeats for each claim, and takes them
// out of the ordinary ones; nil when there are none. At least two claims and two
// columns of each are a pattern; one column, such as Note 1 and Note 2, is not.
func findGroup(columns []*column) (g *group, ordinary []*column) {
	stems, of := []string{}, map[string][]part{}
	for _, c := range columns {
		stem, n, ok := numbered(c.name)
		if !ok || isOfPerson(stem) || !isQuotable(c.name) {
			continue
		}
		if of[stem] == nil {
			stems = append(stems, stem)
		}
		of[stem] = append(of[stem], part{c, n})
	}
	var numbers []int
	for _, stem := range stems {
		if n := numbersOf(of[stem]); len(n) > len(numbers) {
			numbers = n
		}
	}
	g, ordinary = &group{numbers: numbers}, slices.Clone(columns)
	for _, stem := range stems {
		if parts := of[stem]; len(numbers) > 1 && slices.Equal(numbersOf(parts), numbers) && len(parts) == len(numbers) {
			slices.SortFunc(parts, func(a, b part) int { return a.number - b.number })
			m := &member{alias: &column{name: aliasOf(stem, columns), meaning: meaningOf(stem), group: g, is1904: parts[0].column.is1904}}
			for _, p := range parts {
				m.columns = append(m.columns, p.column)
				m.alias.cells = append(m.alias.cells, p.column.cells...)
			}
			g.members = append(g.members, m)
			ordinary = slices.DeleteFunc(ordinary, func(c *column) bool { return slices.Contains(m.columns, c) })
		}
	}
	if len(g.members) < 2 {
		return nil, columns
	}
	return g, ordinary
}

// part is a column whose header numbers it.
type part struct {
	column *column
	number int
}

// numbersOf returns the different numbers of columns, in order.
func numbersOf(parts []part) []int {
	var numbers []int
	for _, p := range parts {
		numbers = append(numbers, p.number)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// aliasOf returns the name by which the mapping calls the columns of a stem: none of a
// column.
func aliasOf(stem string, columns []*column) string {
	if slices.ContainsFunc(columns, func(c *column) bool { return convert.FoldHeader(c.name) == stem }) {
		return "each " + stem
	}
	return stem
}

// isQuotable reports whether a header can stand in an expression and between braces as
// it is.
func isQuotable(header string) bool {
	return !strings.ContainsAny(header, "'\"\\{}") && !strings.ContainsFunc(header, func(r rune) bool { return !unicode.IsPrint(r) })
}

// has returns the expression that is true where a column is filled.
func has(c *column) string { return fmt.Sprintf(`has("%s")`, c.name) }
