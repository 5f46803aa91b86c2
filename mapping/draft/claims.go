package draft

import (
	"fmt"
	"slices"
	"strings"
)

// claim is an entry under claims.
type claim struct {
	id, key, name string
	when          string   // an expression; "" when every row has the claim
	whenAsk       string   // why when is a question, and a comment until it is answered
	columns       []string // pairs of an alias and its column
	why, ask      string
	idle          bool // a comment until the decision is made
}

// claimNumbers are the names of columns that number claims, the likeliest first.
var claimNumbers = []string{"agreement number", "policy number", "claim number", "account number"}

// proposeClaims proposes the claims of version 2: those of a wide sheet, else one of
// each row if a column numbers them. id is that of the claims, "" without.
func (p *proposer) proposeClaims() (claims []claim, id string) {
	switch {
	case p.API != "v2":
		return nil, ""
	case p.group != nil:
		return p.wideClaims()
	}
	w := newPerson()
	for _, name := range claimNumbers {
		c := p.find(&w, nil, name)
		if c == nil || name == "account number" && p.hasBankAccount() {
			continue
		}
		f := p.keyFacts(c)
		p.claimKey = c
		p.used[c] = true
		made := claim{id: "claim", key: c.name, name: p.claimName(c), ask: "is each row a claim of its client?",
			why: fmt.Sprintf("%d different in %s; different clients: %d", f.different, rowsInWords(f.filled), p.keyFacts(p.key).different)}
		if f.filled < f.rows && isQuotable(c.name) {
			made.when = has(c)
			made.whenAsk = fmt.Sprintf("is a row without it no claim? Until you take the # away, it is invalid (%d of %s have it)", f.filled, rowsInWords(f.rows))
		}
		return []claim{made}, made.id
	}
	c := p.anyNumber()
	return []claim{{id: "claim", key: c.name, name: nameWith("Claim", c), ask: "if each row is a claim of its client, take the # away", idle: true}}, ""
}

// wideClaims proposes an entry for each claim of a wide sheet.
func (p *proposer) wideClaims() (claims []claim, id string) {
	key, keyAsk := p.group.members[0], "which of the columns tells a client's claims apart?"
	for _, name := range claimNumbers {
		i := slices.IndexFunc(p.group.members, func(m *member) bool { return compareNames(name, meaningOf(name), m.alias) >= likely })
		if i >= 0 {
			key, keyAsk = p.group.members[i], ""
			break
		}
	}
	lender := slices.IndexFunc(p.group.members, func(m *member) bool { return compareNames("lender", meaningOf("lender"), m.alias) >= likely })
	for i, n := range p.group.numbers {
		c := claim{id: "agreement", key: key.columns[i].name, name: "{" + key.columns[i].name + "}", ask: keyAsk}
		switch {
		case lender >= 0:
			c.name = "{" + p.group.members[lender].columns[i].name + "} " + c.name
		default:
			c.name = fmt.Sprintf("Claim %d ", n) + c.name
		}
		if i > 0 || hasBlanks(key.columns[i]) {
			c.when = has(key.columns[i])
		}
		if _, filled := key.columns[i].count(isPhone); i == 0 || keyAsk == "" {
			c.why = fmt.Sprintf("%d of %s have it", filled, rowsInWords(len(key.columns[i].cells)))
		}
		for _, m := range p.group.members {
			c.columns = append(c.columns, m.alias.name, m.columns[i].name)
		}
		claims = append(claims, c)
	}
	return claims, "agreement"
}

// claimName is the name of a row's claim: with the lender where the sheet has one.
func (p *proposer) claimName(key *column) string {
	w := newPerson()
	if lender := p.find(&w, nil, "lender"); lender != nil && lender != key && lender.isChoice() {
		p.used[lender], p.claimLender = true, lender
		return nameWith(nameWith("", lender), key)
	}
	return nameWith("Claim", key)
}

// nameWith returns a name of claims that goes on with the cells of a column, if its
// header can stand between braces.
func nameWith(name string, c *column) string {
	if isQuotable(c.name) {
		name += " {" + c.name + "}"
	} else if name == "" {
		name = "Claim"
	}
	return strings.TrimSpace(name)
}

// braced returns a header as it is written between braces.
func braced(header string) string { return strings.NewReplacer("{", "{{", "}", "}}").Replace(header) }

// hasBankAccount reports whether the sheet has the client's bank account, whose number
// is no claim's.
func (p *proposer) hasBankAccount() bool {
	return slices.ContainsFunc(p.ordinary, func(c *column) bool {
		return slices.ContainsFunc(c.meaning, func(w string) bool { return w == "sortcode" || w == "iban" || w == "holder" })
	})
}

// anyNumber returns the column that most likely numbers the rows.
func (p *proposer) anyNumber() *column {
	w := newPerson()
	if c := p.find(&w, nil, numberNames...); c != nil {
		return c
	}
	for _, c := range p.ordinary {
		if slices.Contains(c.meaning, "number") || slices.Contains(c.meaning, "reference") {
			return c
		}
	}
	return p.mostDifferent()
}

// varies reports whether rows of the same client have different texts in a column.
func (p *proposer) varies(c *column) bool {
	if p.key == c {
		return false
	}
	of := map[string]string{}
	for i, v := range p.key.filled() {
		if c.cells[i].IsEmpty() {
			continue
		}
		k, text := keyOf(v), strings.ToLower(textOf(c.cells[i]))
		if known, seen := of[k]; seen && known != text {
			return true
		}
		of[k] = text
	}
	return false
}
