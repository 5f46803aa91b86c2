package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/expr"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// ClientRole is the word by which claims name the client among their contacts.
const ClientRole = "client"

// contactIndex returns the index of the contacts entry with an id; -1 for none.
func (m *Mapping) contactIndex(id string) int {
	return slices.IndexFunc(m.Contacts, func(c ContactRule) bool { return c.ID.Text == id })
}

// ContactReferences are the places from which the claims take the ids of contacts
// that the environment has, each once.
func (m *Mapping) ContactReferences() []yamltree.Scalar {
	var list []yamltree.Scalar
	for _, c := range m.Claims {
		id := c.Administrator.ID
		if id.Text != "" && !slices.ContainsFunc(list, func(s yamltree.Scalar) bool { return s.Text == id.Text }) {
			list = append(list, id)
		}
	}
	return list
}

// administers reports whether some claim has a contact as its administrator.
func (m *Mapping) administers(role string) bool {
	return slices.ContainsFunc(m.Claims, func(c ClaimRule) bool { return c.Administrator.Contact.Text == role })
}

// checkContacts reports what is wrong with the entries of contacts, and with
// what the claims say of them.
func (p *checker) checkContacts(m *Mapping) {
	if m.V1() {
		return // reported as a whole
	}
	used, unread := map[string]bool{}, false
	for _, a := range m.Activities {
		used[a.On.Text] = true
	}
	for i := range m.Claims {
		p.checkRoles(m, &m.Claims[i], used)
		unread = unread || m.Claims[i].unread
	}
	ids := map[string]yamltree.Place{}
	for i := range m.Contacts {
		c := &m.Contacts[i]
		first, twice := ids[c.ID.Text]
		switch {
		case c.ID.Text == "": // reported as missing
		case twice:
			p.wrongAt(c.ID.At, "duplicate-id", "two contacts have the id “%s”; the first is in line %d", c.ID.Text, first.Line).
				Hint = "give each an id of its own"
		case c.ID.Text == ClientRole || strings.ContainsAny(c.ID.Text, "/@"):
			p.wrongAt(c.ID.At, "bad-id", "a contact cannot have the id “%s”: client is taken, and / and @ separate the parts of a step's name", c.ID.Text)
		case !used[c.ID.Text] && !unread:
			p.wrongAt(c.ID.At, "unused-contact", "no claim names the contact “%s” and no activity is on it, so it would never be created", c.ID.Text).
				Hint = "name it under a claims entry, e.g. claimants: [client, " + c.ID.Text + "]; or take it out"
		}
		if !twice {
			ids[c.ID.Text] = c.ID.At
		}
		if !c.Lookup.isGiven() && c.ID.Text != "" && !c.unreadLookup {
			at := c.At
			if c.Lookup.At != (yamltree.Place{}) {
				at = c.Lookup.At
			}
			p.wrongAt(at, "no-lookup", "the contact “%s” needs lookup with email or phone: without one, a person whom the service already knows is not found", c.ID.Text).
				Hint = "name the column, e.g. lookup: {email: Partner e-mail}"
		}
		p.checkMode(&c.Lookup)
		if !c.Administrator && c.ID.Text != "" && m.administers(c.ID.Text) {
			p.wrongAt(c.AdministratorAt, "no-administrator", "the contact “%s” administers claims, and one made with administrator: false cannot", c.ID.Text).
				Hint = "leave administrator out, or name another administrator for the claims"
		}
	}
}

// checkRoles reports contacts that a claims entry names and the mapping does not
// have, and notes in used the others.
func (p *checker) checkRoles(m *Mapping, c *ClaimRule, used map[string]bool) {
	choices := []string{ClientRole}
	for _, contact := range m.Contacts {
		if id := contact.ID.Text; id != "" && !slices.Contains(choices, id) {
			choices = append(choices, id)
		}
	}
	unnamed := slices.ContainsFunc(m.Contacts, func(contact ContactRule) bool { return contact.ID.Text == "" }) // which was reported
	name := func(key string, role yamltree.Scalar) {
		used[role.Text] = true
		meant, near := problem.Nearest(role.Text, choices)
		used[meant] = true
		if role.Text != "" && !slices.Contains(choices, role.Text) && (near || !unnamed) {
			p.wrongAt(role.At, "unknown-contact", "%s cannot be “%s”: no contact has that id", key, role.Text).
				Hint = problem.Suggestion(role.Text, choices)
		}
	}
	name("administrator", c.Administrator.Contact)
	seen := map[string]bool{}
	for _, role := range c.Claimants {
		if name("a claimant", role); seen[role.Text] && role.Text != "" {
			p.wrongAt(role.At, "duplicate-claimant", "“%s” is among the claimants twice", role.Text).Hint = "keep one of the two"
		}
		seen[role.Text] = true
	}
}

// boundContact is an entry of contacts.
type boundContact struct {
	id            string
	when          *expr.Expression
	key           []int
	space         string
	lookup        boundLookup
	fields        []boundField
	administrator bool
}

func (b *binder) bindContacts(bound *Binding) {
	for i := range b.mapping.Contacts {
		c := &b.mapping.Contacts[i]
		contact := boundContact{id: c.ID.Text, when: b.condition(c.When, nil), key: b.columns(c.Key, nil), administrator: c.Administrator}
		contact.lookup, contact.fields = b.bindPerson(&c.Lookup, c.Fields)
		contact.space = contact.lookup.space(contact.key)
		switch {
		case contact.space != "":
		case c.KeySpace.Text != "":
			contact.space = c.KeySpace.Text
		default:
			contact.space = b.mapping.Name.Text + "/" + c.ID.Text
		}
		bound.contacts = append(bound.contacts, contact)
	}
}

// ClientsAreContacts reports whether a client may be a further contact of another
// client: they have a key space in common.
func (b *Binding) ClientsAreContacts() bool {
	return slices.ContainsFunc(b.contacts, func(c boundContact) bool { return c.space == b.keySpace })
}

// boundRole is who a claim names: the client, an entry of contacts, or a contact
// that the environment has.
type boundRole struct {
	contact int    // index of the entry; clientScope for the client
	id      string // of the environment's contact; "" for the others
}

// bindRoles settles who administers the claims of an entry, and who claims.
func (b *binder) bindRoles(rule *ClaimRule, c *boundClaim) {
	c.administrator = boundRole{contact: b.mapping.contactIndex(rule.Administrator.Contact.Text)} // of what is not known Parse has said so
	if ref := rule.Administrator.ID; ref.Text != "" && b.service != nil {
		c.administrator.id = b.service.ContactIDs[ref.Text]
	}
	for _, role := range rule.Claimants {
		c.claimants = append(c.claimants, boundRole{contact: b.mapping.contactIndex(role.Text)})
	}
}

// isUsual reports whether the client is the claim's administrator and its only
// claimant.
func (c *boundClaim) isUsual() bool {
	usual := boundRole{contact: clientScope}
	return c.administrator == usual && slices.Equal(c.claimants, []boundRole{usual})
}

// contactValues is what a record says of one entry of contacts.
type contactValues struct {
	entry int
	who   Identity // zero when the key cells cannot be read
	personValues
	activities []activityValues
}

// personValues are the values of a client or of a further contact in one record.
type personValues struct {
	email, phone fieldValue
	fields       []fieldValue
}

// contacts converts the further contacts of a record.
func (r *rowConverter) contacts() []contactValues {
	var list []contactValues
	for i := range r.b.contacts {
		c := &r.b.contacts[i]
		if !r.holds(c.when, c.key) {
			continue
		}
		v := contactValues{entry: i}
		r.lookups(&c.lookup, &v.personValues)
		r.fields(&c.lookup, c.fields, &v.personValues)
		v.activities = r.activities(r.b.mapping.contactScope(i))
		v.who = r.identityIn(c.space, c.key, &v.personValues, "the key of the contact “"+c.id+"”")
		list = append(list, v)
	}
	return list
}

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
	for i, c := range contacts {
		for _, address := range c.plan.Lookup.Asked() {
			taken := slices.Contains(p.plan.Addresses, address)
			for _, other := range contacts[:i] {
				taken = taken || slices.Contains(other.plan.Addresses, address)
			}
			if taken {
				what := "e-mail address"
				if address.Space == PhoneSpace {
					what = "phone number"
				}
				p.plan.Problems = append(p.plan.Problems, problem.At(c.at, "contact-address",
					"the contact “%s” is looked up by the %s of the client or of another of the client's contacts, so that one would be found", p.b.contacts[c.entry].id, what).
					Hinted("correct the %s; if they are one person, give the contact a when that leaves it out", what))
				break
			}
		}
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
	id := b.id
	step := func(role boundRole) string {
		if role.contact == clientScope {
			return string(ClientStep)
		}
		who, ok := p.contactOf(c, role.contact, contacts)
		if !ok {
			return ""
		}
		if !slices.Contains(c.contacts, who) {
			c.contacts = append(c.contacts, who)
		}
		return who.key
	}
	if c.administratorID = b.administrator.id; c.administratorID == "" {
		if c.administrator = step(b.administrator); c.administrator == "" && !c.names(b.administrator) {
			p.plan.Problems = append(p.plan.Problems, problem.At(p.b.AtRow(c.rows[0]), "no-administrator",
				"the claim “%s” has no administrator: the contact “%s” is left out", id, p.b.contacts[b.administrator.contact].id).
				Hinted("fill the contact's cells; or let the claim's when leave the row out"))
		}
	}
	for _, role := range b.claimants {
		if key := step(role); key != "" {
			c.claimants = append(c.claimants, key)
		}
	}
	if len(c.claimants) == 0 && !slices.ContainsFunc(b.claimants, c.names) {
		p.plan.Problems = append(p.plan.Problems, problem.At(p.b.AtRow(c.rows[0]), "no-claimants",
			"the claim “%s” has no claimants: every contact that the mapping names is left out", id).
			Hinted("fill the contacts' cells; or let the claim's when leave the row out"))
	}
	c.roleSource = p.roleSource(c)
}

// names reports whether one of the claim's rows has a contact of an entry, also
// one whose key was refused.
func (c *plannedClaim) names(role boundRole) bool {
	return slices.ContainsFunc(c.leads, func(row *ConvertedRow) bool { return row.contact(role.contact) != nil })
}

// contactOf returns the contact of an entry that a claim's rows name; ok is false
// when they name none. Rows that name different ones are reported.
func (p *planner) contactOf(c *plannedClaim, entry int, contacts []*plannedContact) (found *plannedContact, ok bool) {
	var first problem.Where
	var others []problem.Where
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
			found, first, label = contacts[k], here, header
		case found != contacts[k]:
			others = append(others, here)
		}
	}
	if len(others) > 0 {
		p.differ(label, "the rows of one claim must agree on the contact “"+p.b.contacts[entry].id+"”", "make the cells the same, or leave all but one empty", first, others)
	}
	return found, found != nil
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

// space returns the key space of a key that is exactly the column of a look-up:
// EmailSpace or PhoneSpace; "" for another key.
func (l *boundLookup) space(key []int) string {
	is := func(v *boundValue) bool {
		return v != nil && v.isOneCell() && len(key) == 1 && slices.Equal(v.columns, key)
	}
	switch {
	case is(l.email):
		return EmailSpace
	case is(l.phone):
		return PhoneSpace
	}
	return ""
}

// noteUnsent notes a look-up whose value is none of the fields that are sent.
func (b *binder) noteUnsent(rule *ValueRule, lookup *boundValue, fields []boundField) {
	if lookup == nil || slices.ContainsFunc(fields, func(f boundField) bool { return f.value.sameReading(lookup) }) {
		return
	}
	b.doubts = append(b.doubts, problem.At(rule.At.In(b.file), "lookup-unsent",
		"the value of this look-up is none of the fields that are sent: after a lost answer a look-up cannot show that nobody was created, and the step stays uncertain until you decide").
		Hinted("add a field that reads the same columns in the same way, with the same type, format and region"))
}

// Warnings are of what is allowed but most likely a mistake: look-ups by a value that is not one
// of the fields that are sent, and aliases that nothing uses. They are for those who check
// the mapping, not for every run.
func (b *Binding) Warnings() problem.List { return b.doubts }

// bindPerson binds how somebody is looked up, and what the create payload holds.
func (b *binder) bindPerson(rule *LookupRule, fields []FieldRule) (lookup boundLookup, bound []boundField) {
	bind := func(label string, rule *ValueRule, typ convert.Type) *boundValue {
		if rule == nil {
			return nil
		}
		if given := rule.Type; given.Text != "" && given.Text != string(typ) {
			b.wrongAt(given.At, "wrong-type", "%s is always read as type %s, not %s", label, typ, given.Text).
				Hint = "leave type out, so that every spelling of an address is the same address"
			return nil
		}
		v := b.value(label, rule, typ, nil)
		return &v
	}
	lookup = boundLookup{bind("lookup.email", rule.Email, convert.Email), bind("lookup.phone", rule.Phone, convert.Phone), rule.Mode}
	for i := range fields {
		f := &fields[i]
		typ := convert.Type(f.Value.Type.Text)
		if typ == "" {
			typ = convert.Text
		}
		field := boundField{path: b.fieldPath(f.Name), value: b.value(f.Name.Text, &f.Value, typ, nil)}
		b.numberText(&field.value, &f.Value)
		for _, lookup := range []*boundValue{lookup.email, lookup.phone} {
			if lookup != nil && field.value.sameReading(lookup) {
				field.sharedLookup = lookup
			}
		}
		bound = append(bound, field)
	}
	b.noteUnsent(rule.Email, lookup.email, bound)
	b.noteUnsent(rule.Phone, lookup.phone, bound)
	b.checkPaths(fields, bound)
	return lookup, bound
}

// People are whom a row speaks of.
type People struct {
	LookedUp []Identity // the addresses by which the row's client may be looked up
	Others   []Identity // its other addresses, and the keys and addresses of its further contacts
}

// People returns whom a converted row speaks of, beside the client's key.
func (b *Binding) People(row ConvertedRow) (p People) {
	asks := b.mapping.Client.Existing != Create
	p.note(&b.lookup, b.fields, &row.personValues, asks)
	for i := range row.contacts {
		c := &row.contacts[i]
		if c.who != (Identity{}) {
			p.Others = append(p.Others, c.who)
		}
		p.note(&b.contacts[c.entry].lookup, b.contacts[c.entry].fields, &c.personValues, false)
	}
	return p
}

// note adds the addresses of one person.
func (p *People) note(lookup *boundLookup, fields []boundField, v *personValues, asks bool) {
	add := func(space string, it fieldValue, asked bool) {
		if it.value.IsZero() {
			return
		}
		if who := addressIdentity(space, it); asked {
			p.LookedUp = append(p.LookedUp, who)
		} else if !slices.Contains(p.LookedUp, who) && !slices.Contains(p.Others, who) {
			p.Others = append(p.Others, who)
		}
	}
	add(EmailSpace, v.email, asks)
	add(PhoneSpace, v.phone, asks && (v.email.value.IsZero() || lookup.mode != ""))
	for i := range min(len(fields), len(v.fields)) {
		switch fields[i].value.conv.Type {
		case convert.Email:
			add(EmailSpace, v.fields[i], false)
		case convert.Phone:
			add(PhoneSpace, v.fields[i], false)
		}
	}
}
