package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// plannedContact is a further contact of a plan. Several rows may name it.
type plannedContact struct {
	entry    int
	plan     *Plan // its own
	key      string
	requests []*contactValues
	at       problem.Where // the key cell of the first row that names it
	ordered  bool          // it is among the plan's steps
}

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

// contacts collects the further contacts that the rows name, in the order of
// their first row. One person cannot be two of a client's contacts: the service
// would have one contact for both.
func (p *planner) contacts() []*plannedContact {
	var found []*plannedContact
	for i := range p.rows {
		row := &p.rows[i]
		for k := range row.contacts {
			v := &row.contacts[k]
			if v.who == (Identity{}) {
				continue
			}
			at, label := p.contactCell(v, row.Row)
			known := slices.IndexFunc(found, func(c *plannedContact) bool { return c.plan.Client == v.who })
			switch {
			case v.who == p.plan.Client:
				p.refuseContact(at, "contact-is-client", label+" is the key of the client itself", v)
				continue
			case known < 0:
				known = len(found)
				found = append(found, &plannedContact{entry: v.entry, key: ContactStepKey(v.who), at: at,
					plan: &Plan{Number: p.plan.Number, Client: v.who, Role: p.b.contacts[v.entry].id}})
			case found[known].entry != v.entry:
				p.refuseContact(at, "contact-twice", label+" is the key of another contact of this client", v)
				continue
			}
			c := found[known]
			c.requests = append(c.requests, v)
			if n := len(c.plan.Rows); n == 0 || c.plan.Rows[n-1] != row.Row {
				c.plan.Rows = append(c.plan.Rows, row.Row)
			}
		}
	}
	for _, c := range found {
		p.contactPlan(c)
	}
	p.sharedAddresses(found)
	return found
}

// contactCell is the place of the cell that identifies a contact in a row, and
// its column's name.
func (p *planner) contactCell(v *contactValues, row cell.Row) (at problem.Where, label string) {
	column := first(p.b.table(row.Table()).contacts[v.entry].key)
	return p.b.At(column, row), p.b.header(column, row)
}

func (p *planner) refuseContact(at problem.Where, code, what string, v *contactValues) {
	p.plan.Problems = append(p.plan.Problems, problem.At(at, code, "%s, who cannot be the contact “%s” as well", what, p.b.contacts[v.entry].id).
		Hinted("correct the cell; or give the contact a when that leaves it out"))
}

// contactPlan makes the plan of a contact: one step.
func (p *planner) contactPlan(c *plannedContact) {
	b := &p.b.contacts[c.entry]
	step := Step{Key: string(ClientStep), Kind: ClientStep, Rows: c.plan.Rows, Title: b.id, NotAdministrator: !b.administrator}
	p.person(c.plan, &step, &b.lookup, b.fields, len(c.requests), func(i int) *personValues { return &c.requests[i].personValues })
	c.plan.Steps = []Step{step}
}

// sharedAddresses refuses a contact that is looked up by an address of the client
// or of another of the client's contacts: the look-up would find that one.
func (p *planner) sharedAddresses(contacts []*plannedContact) {
	taken := slices.Clone(p.plan.Addresses)
	for _, c := range contacts {
		asked := c.plan.Lookup.Asked()
		if k := slices.IndexFunc(asked, func(address Identity) bool { return slices.Contains(taken, address) }); k >= 0 {
			what := "e-mail address"
			if asked[k].Space == PhoneSpace {
				what = "phone number"
			}
			p.plan.Problems = append(p.plan.Problems, problem.At(c.at, "contact-address",
				"the contact “%s” is looked up by the %s of the client or of another of the client's contacts, so that one would be found", p.b.contacts[c.entry].id, what).
				Hinted("correct the %s; if they are one person, give the contact a when that leaves it out", what))
		}
		taken = append(taken, c.plan.Addresses...)
	}
}

// Asked are the addresses by which somebody may be looked up, and which decide who it is.
func (l Lookup) Asked() []Identity {
	var list []Identity
	if l.Email != "" {
		list = append(list, l.EmailAddress)
	}
	if l.Phone != "" && (l.Email == "" || l.Mode != "") {
		list = append(list, l.PhoneNumber)
	}
	return list
}

// roles settles who administers a claim and who claims, by the rows that ask for
// it. The rows agree on each contact; a row that names none agrees with any.
func (p *planner) roles(c *plannedClaim, contacts []*plannedContact) {
	b := &p.b.claims[c.entry]
	if b.isUsual() {
		return
	}
	step := func(role boundRole) string {
		if role.contact == clientScope {
			return string(ClientStep)
		}
		who := p.contactOf(c, role.contact, contacts)
		if who == nil {
			return ""
		}
		if !slices.Contains(c.contacts, who) {
			c.contacts = append(c.contacts, who)
		}
		return who.key
	}
	refuse := func(code, format string, args ...any) {
		p.plan.Problems = append(p.plan.Problems, problem.At(p.b.AtRow(c.rows[0]), code, format, args...).
			Hinted("fill the contact's cells; or let the claim's when leave the row out"))
	}
	if c.administratorID = b.administrator.id; c.administratorID == "" {
		if c.administrator = step(b.administrator); c.administrator == "" && !c.names(b.administrator) {
			refuse("no-administrator", "the claim “%s” has no administrator: the contact “%s” is left out", b.id, p.b.contacts[b.administrator.contact].id)
		}
	}
	for _, role := range b.claimants {
		if key := step(role); key != "" {
			c.claimants = append(c.claimants, key)
		}
	}
	if len(c.claimants) == 0 && !slices.ContainsFunc(b.claimants, c.names) {
		refuse("no-claimants", "the claim “%s” has no claimants: every contact that the mapping names is left out", b.id)
	}
	c.roleSource = p.roleSource(c)
}

// names reports whether one of the claim's rows has a contact of an entry, also
// one whose key was refused.
func (c *plannedClaim) names(role boundRole) bool {
	return slices.ContainsFunc(c.leads, func(row *ConvertedRow) bool { return row.contact(role.contact) != nil })
}

// contactOf returns the contact of an entry that a claim's rows name; nil when they name
// none. Rows that name different ones are reported.
func (p *planner) contactOf(c *plannedClaim, entry int, contacts []*plannedContact) (found *plannedContact) {
	var cells []problem.Where
	label := ""
	for _, row := range c.leads {
		v := row.contact(entry)
		if v == nil || v.who == (Identity{}) {
			continue
		}
		here, header := p.contactCell(v, row.Row)
		switch k := slices.IndexFunc(contacts, func(c *plannedContact) bool { return c.plan.Client == v.who }); {
		case k < 0: // it was refused
		case found == nil:
			found, cells, label = contacts[k], append(cells, here), header
		case found != contacts[k]:
			cells = append(cells, here)
		}
	}
	if len(cells) > 1 {
		p.differ(label, "the rows of one claim must agree on the contact “"+p.b.contacts[entry].id+"”", "make the cells the same, or leave all but one empty", cells)
	}
	return found
}

// contact returns what the row says of an entry of contacts; nil for nothing.
func (r *ConvertedRow) contact(entry int) *contactValues {
	for i := range r.contacts {
		if r.contacts[i].entry == entry {
			return &r.contacts[i]
		}
	}
	return nil
}

// roleSource is where a claim's contacts come from: the key columns of the
// contacts that its entry can have. Instead of the cells' texts it holds
// fingerprints, so that what is kept of a claim says nothing about other people.
func (p *planner) roleSource(c *plannedClaim) Source {
	src := Source{Row: c.rows[0]}
	b, rule := &p.b.claims[c.entry], p.b.mapping
	for i, role := range append([]boundRole{b.administrator}, b.claimants...) {
		if role.contact == clientScope || role.id != "" || i > 0 && role == b.administrator {
			continue
		}
		text := ""
		for _, who := range c.contacts {
			if who.entry == role.contact {
				text = fingerprintOf(who.key)
			}
		}
		for k, column := range p.b.table(src.Row.Table()).contacts[role.contact].key {
			src.Columns = append(src.Columns, column)
			src.Names = append(src.Names, foldHeaders(rule.Contacts[role.contact].Key[k].Text)...)
			src.Texts = append(src.Texts, text)
		}
	}
	return src
}

// Fingerprint is what the payload of a claim names a contact by.
func Fingerprint(who Identity) string { return fingerprintOf(ContactStepKey(who)) }

// fingerprintOf stands for a contact where its key must not be.
func fingerprintOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// contactStep is the step of a contact in the plan of a client.
func (c *plannedContact) step() Step {
	own := &c.plan.Steps[0]
	return Step{Key: c.key, Kind: ContactStep, Rows: own.Rows, Title: own.Title, Fields: own.Fields, Omitted: own.Omitted,
		NotAdministrator: own.NotAdministrator, Contact: c.plan}
}
