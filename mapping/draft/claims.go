package draft

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"claimsheet/mapping/convert"
)

// claim is an entry under claims.
type claim struct {
	id, key, name string
	when          string   // an expression; "" when every row has the claim
	columns       []string // pairs of an alias and its column
	why, ask      string
}

// proposeClaims proposes the claims of version 2: those of a wide sheet, else one of each row if a column numbers them. id is that
// of the claims, "" without.
func (p *proposer) proposeClaims() (claims []claim, id string) {
	switch {
	case p.API != "v2":
		return nil, ""
	case p.wide != nil:
		return p.wideClaims()
	}
	for _, name := range claimNumbers {
		c, _ := p.find(nil, name)
		if c == nil || name == "account number" && p.hasBankAccount() {
			continue
		}
		p.claimKey, p.used[c] = c, true
		made := claim{id: "claim", key: c.name, name: claimName(c), ask: "is each row a claim of its client?"}
		made.why = fmt.Sprintf("%d different in %s; different clients: %d", c.keys, rowsInWords(c.filled), p.key.keys)
		if lender, _ := p.find(nil, "lender"); lender != nil && lender != c && lender.isChoice() && isQuotable(lender.name+c.name) {
			p.claimLender, p.used[lender] = lender, true
			made.name = "{" + lender.name + "} {" + c.name + "}"
		}
		return []claim{made}, made.id
	}
	return nil, ""
}

// claimName is the name of claims by their key alone.
func claimName(key *column) string {
	if !isQuotable(key.name) {
		return "Claim"
	}
	return "Claim {" + key.name + "}"
}

// hasBankAccount reports whether the sheet has the client's bank account, whose number is no claim's.
func (p *proposer) hasBankAccount() bool {
	return slices.ContainsFunc(p.ordinary, func(c *column) bool { return len(among(c.meaning, []string{"sortcode", "iban", "holder"})) > 0 })
}

// isQuotable reports whether a header can stand in an expression and between braces as it is.
func isQuotable(header string) bool {
	return !strings.ContainsAny(header, "'\"\\{}") && !strings.ContainsFunc(header, func(r rune) bool { return !unicode.IsPrint(r) })
}

// has returns the expression that is true where a column is filled.
func has(c *column) string { return fmt.Sprintf(`has("%s")`, c.name) }

// wideClaims proposes an entry for each claim of a wide sheet.
func (p *proposer) wideClaims() (claims []claim, id string) {
	find := func(name string) int {
		return slices.IndexFunc(p.wide, func(c *column) bool { return compareNames(name, meaningOf(name), c) >= likely })
	}
	key, ask := 0, "which of the columns tells a client's claims apart?"
	for _, name := range claimNumbers {
		if i := find(name); i >= 0 {
			key, ask = i, ""
			break
		}
	}
	lender := find("lender")
	for i, c := range p.wide[key].each {
		made := claim{id: "agreement", key: c.name, name: fmt.Sprintf("Claim %d {%s}", i+1, c.name), ask: ask}
		made.why = fmt.Sprintf("%d of %s have it", c.filled, rowsInWords(len(c.cells)))
		if lender >= 0 {
			made.name = "{" + p.wide[lender].each[i].name + "} {" + c.name + "}"
		}
		if i > 0 || c.filled < len(c.cells) {
			made.when = has(c)
		}
		for _, alias := range p.wide {
			made.columns = append(made.columns, alias.name, alias.each[i].name)
		}
		claims = append(claims, made)
	}
	return claims, "agreement"
}

// numbered splits a header that numbers what it names: Lender 1, Loan 2 amount, 3. Lender. The stem is the rest of the words; a
// header with two numbers has none.
func numbered(header string) (stem string, number int) {
	var words []string
	for _, w := range wordsOf(header) {
		n, err := strconv.Atoi(w)
		switch {
		case err != nil:
			words = append(words, w)
		case number > 0 || n < 1 || n > 30:
			return "", 0
		default:
			number = n
		}
	}
	return strings.Join(without(words, []string{"st", "nd", "rd", "th"}), " "), number
}

// findWide finds the columns that a wide sheet repeats for each claim, such as Lender 1 and Lender 2, and takes them out of the ordinary
// ones. It returns one for each of these that stands for those of all claims; nil when there are none. At least two claims and two columns
// of each are a pattern; one column, such as Note 1 and Note 2, is not.
func findWide(columns []*column) (wide, ordinary []*column) {
	var stems []string
	of := map[string]map[int]*column{} // the columns of a stem, by number
	var numbers []int                  // of the stem with the most
	for _, c := range columns {
		stem, n := numbered(c.name)
		if stem == "" || n == 0 || !isQuotable(c.name) || len(among(meaningOf(stem), severalOfPeople)) > 0 || of[stem][n] != nil {
			continue
		}
		if of[stem] == nil {
			stems, of[stem] = append(stems, stem), map[int]*column{}
		}
		of[stem][n] = c
		if len(of[stem]) > len(numbers) {
			numbers = slices.Sorted(maps.Keys(of[stem]))
		}
	}
	ordinary = slices.Clone(columns)
	for _, stem := range stems {
		if !slices.Equal(slices.Sorted(maps.Keys(of[stem])), numbers) {
			continue
		}
		name := stem
		if slices.ContainsFunc(columns, func(c *column) bool { return convert.FoldHeader(c.name) == stem }) { // an alias is no column's name
			name = "each " + stem
		}
		alias := &column{name: name, meaning: meaningOf(stem)}
		for _, n := range numbers {
			alias.each = append(alias.each, of[stem][n])
			alias.cells = append(alias.cells, of[stem][n].cells...)
		}
		wide = append(wide, alias)
		ordinary = slices.DeleteFunc(ordinary, func(c *column) bool { return slices.Contains(alias.each, c) })
	}
	if len(numbers) < 2 || len(wide) < 2 {
		return nil, columns
	}
	return wide, ordinary
}
