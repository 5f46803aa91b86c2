package mapping

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// ContactStepKey is the key of the step that creates a further contact. A slash
// in the key space is written %2F, so that the key begins behind the second
// slash.
func ContactStepKey(who Identity) string {
	return contactPrefix + strings.NewReplacer("%", "%25", "/", "%2F").Replace(who.Space) + "/" + who.Key
}

const contactPrefix = string(ContactStep) + "/"

// ContactOf returns the contact that a step of this key creates or is on, and the key that
// the step has as one of the contact's own; ok is false for the key of another step.
func ContactOf(step string) (who Identity, own string, ok bool) {
	own = string(ClientStep)
	if activity, on, isActivity := strings.Cut(step, "@"); isActivity && strings.HasPrefix(step, string(ActivityStep)+"/") {
		step, own = on, activity+"@"+string(ContactStep)
	}
	rest, ok := strings.CutPrefix(step, contactPrefix)
	space, key, found := strings.Cut(rest, "/")
	if !ok || !found || space == "" || key == "" {
		return Identity{}, "", false
	}
	return Identity{strings.NewReplacer("%25", "%", "%2F", "/").Replace(space), key}, own, true
}

// refuseShared refuses a contact with the key, or a looked up address, of the client or of
// another of the client's contacts: the service would have one contact for both.
func (p *planner) refuseShared(people []*planned) {
	var taken []Identity
	for _, c := range people {
		asked := append([]Identity{c.plan.Client}, c.plan.Lookup.Asked()...)
		if slices.ContainsFunc(asked, func(who Identity) bool { return slices.Contains(taken, who) }) {
			at, _ := p.contactCell(c.parts[0], c.rows[0].Row)
			p.plan.Problems = append(p.plan.Problems, problem.At(at, "contact-shared",
				"the contact “%s” has the key, e-mail address or phone number of the client or of another of the client's contacts, "+
					"and would be taken for that one", c.plan.Role).
				Hinted("correct it; if they are one person, give the contact a when that leaves it out"))
		}
		taken = append(append(taken, c.plan.Client), c.plan.Addresses...)
	}
}

// contactCell is the place of the cell that identifies a contact in a row, and its column's name.
func (p *planner) contactCell(part *rowPart, row cell.Row) (at problem.Where, label string) {
	column := first(p.b.tables[row.Table()].parts[part.entry].key)
	return p.b.At(column, row), p.b.header(column, row)
}

// Asked are the addresses by which somebody may be looked up, and which decide who it is.
func (l Lookup) Asked() []Identity {
	var list []Identity
	if l.Email != "" {
		list = append(list, l.EmailAddress)
	}
	if l.AsksByPhone() {
		list = append(list, l.PhoneNumber)
	}
	return list
}

// Addresses names e-mail addresses, phone numbers or clients' keys: the form in which they are
// compared, and in which the ledger keeps them.
func Addresses(of []Identity) []string {
	list := make([]string, len(of))
	for i, who := range of {
		list[i] = who.Space + " " + who.Key
	}
	return list
}

// AsksByPhone reports whether somebody may be looked up by phone: without an e-mail address, or where the mode says so.
func (l Lookup) AsksByPhone() bool { return l.Phone != "" && (l.Email == "" || asksByBoth(l.Mode)) }

// roles settles who administers a claim and who claims, by the rows that ask for
// it. The rows agree on each contact; a row that names none agrees with any.
func (p *planner) roles(c *planned, people []*planned) {
	b := c.bound
	if b.isUsual() {
		return
	}
	step := func(role int) string {
		who := p.personOf(c, role, people)
		if who == nil {
			return ""
		}
		if !slices.Contains(c.people, who) {
			c.people = append(c.people, who)
		}
		return who.step.Key
	}
	refuse := func(code, format string, args ...any) {
		p.plan.Problems = append(p.plan.Problems, problem.At(p.b.AtRow(c.step.Rows[0]), code, format, args...).
			Hinted("fill the contact's cells; or let the claim's when leave the row out"))
	}
	if c.step.AdministratorID = b.administratorID; b.administratorID == "" {
		if c.step.Administrator = step(b.administrator); c.step.Administrator == "" && !p.names(c, b.administrator) {
			refuse("no-administrator", "the claim “%s” has no administrator: the contact “%s” is left out", b.id, p.b.parts[b.administrator].id)
		}
	}
	for _, role := range b.claimants {
		if key := step(role); key != "" && !slices.Contains(c.step.Claimants, key) {
			c.step.Claimants = append(c.step.Claimants, key)
		}
	}
	if len(c.step.Claimants) == 0 && !slices.ContainsFunc(b.claimants, func(role int) bool { return p.names(c, role) }) {
		refuse("no-claimants", "the claim “%s” has no claimants: every contact that the mapping names is left out", b.id)
	}
	c.step.Fields = append(c.step.Fields, p.roleFields(c)...)
}

// names reports whether one of the claim's rows has a contact of an entry, also one whose key was refused.
func (p *planner) names(c *planned, role int) bool {
	return slices.ContainsFunc(c.rows, func(row *ConvertedRow) bool { return row.part(role) != nil })
}

// personOf returns the client, or the contact of an entry, that a claim's rows name; nil when they name
// none. Rows that name different ones are reported.
func (p *planner) personOf(c *planned, entry int, people []*planned) (found *planned) {
	var cells []problem.Problem
	for _, row := range c.rows {
		part := row.part(entry)
		if part == nil || part.who == (Identity{}) {
			continue
		}
		who := people[slices.IndexFunc(people, func(g *planned) bool { return g.plan.Client == part.who })]
		if found != who {
			at, header := p.contactCell(part, row.Row)
			cells = append(cells, problem.Problem{Where: at, Message: header})
		}
		found = cmp.Or(found, who)
	}
	if len(cells) > 1 {
		p.differ("the rows of one claim must agree on the contact “"+p.b.parts[entry].id+"”",
			"make the cells the same, or leave all but one empty", cells, false)
	}
	return found
}

// part returns what the row says of a part of the Binding; nil for nothing.
func (r *ConvertedRow) part(entry int) *rowPart {
	for i := range r.parts {
		if r.parts[i].entry == entry {
			return &r.parts[i]
		}
	}
	return nil
}

// roleFields returns the contacts of a claim as its fields. They come from the key columns of
// the contacts that its entry can have. Instead of the contacts' keys and the cells' texts they
// hold fingerprints, so that what is kept of a claim says nothing about other people.
func (p *planner) roleFields(c *planned) []Value {
	src := Source{Row: c.step.Rows[0]}
	people := p.b.mapping.people()
	for i, role := range append([]int{c.bound.administrator}, c.bound.claimants...) {
		if role <= 0 || i > 0 && role == c.bound.administrator { // the client, or the environment's contact
			continue
		}
		text := ""
		for _, who := range c.people {
			if who.bound == p.b.parts[role] {
				text = fingerprintOf(who.step.Key)
			}
		}
		for k, column := range p.b.tables[src.Row.Table()].parts[role].key {
			src.Columns = append(src.Columns, column)
			src.Names = append(src.Names, foldHeaders(people[role].Key[k].Text)...)
			src.Texts = append(src.Texts, text)
		}
	}
	field := func(name string, keys ...string) Value {
		for i, key := range keys {
			if key != string(ClientStep) {
				keys[i] = fingerprintOf(key)
			}
		}
		return Value{Name: name, Value: cell.Value{Field: cell.StringValue, Literal: strings.Join(keys, ", ")}, Source: src}
	}
	administrator := field(ClaimAdministrator, c.step.Administrator)
	if c.step.AdministratorID != "" {
		administrator.Value.Literal = c.step.AdministratorID
	}
	return []Value{administrator, field(ClaimClaimants, slices.Clone(c.step.Claimants)...)}
}

// fingerprintOf stands for a contact where its key must not be.
func fingerprintOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}
