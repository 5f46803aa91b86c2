package mapping

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// check reports what is wrong with a mapping without a sheet or a service:
// keys that contradict each other, ids that are not unique, what a version
// does not have.
func (p *checker) check(m *Mapping) {
	p.checkNames(m)
	p.checkKeys(m)
	p.checkEmpty(m)
	p.checkLookup(m)
	p.checkExisting(m)
	if m.V1() {
		p.checkV1(m)
	}
	if m.API.Text == "v2" {
		p.checkV2(m)
	}
	p.checkContacts(m)
	p.checkClaims(m)
	p.checkActivities(m)
	p.checkOrder(m)
	p.checkResume(m)
}

// checkNames refuses the names of the two built-in key spaces for the
// mapping's own.
func (p *checker) checkNames(m *Mapping) {
	names := []yamltree.Scalar{m.Name, m.Client.KeySpace}
	for _, c := range m.Contacts {
		names = append(names, c.KeySpace)
	}
	for _, w := range names {
		if w.Text == EmailSpace || w.Text == PhoneSpace {
			p.wrongAt(w.At, "reserved-name", "“%s” is the name of a built-in key space", w.Text).
				Hint = "choose another name"
		}
	}
}

// checkKeys refuses a column that a key has twice.
func (p *checker) checkKeys(m *Mapping) {
	keys := [][]yamltree.Scalar{m.Client.Key}
	for _, c := range m.Contacts {
		keys = append(keys, c.Key)
	}
	for _, c := range m.Claims {
		keys = append(keys, c.Key)
	}
	for _, key := range keys {
		for i, column := range key {
			if slices.ContainsFunc(key[:i], func(other yamltree.Scalar) bool { return other.Text == column.Text }) && column.Text != "" {
				p.wrongAt(column.At, "repeated-column", "the key has the column “%s” twice", column.Text).Hint = "keep one of the two"
			}
		}
	}
}

// checkEmpty refuses texts of sheet.empty that no trimmed cell has, and tables
// and words that list such a text: it never reaches them.
func (p *checker) checkEmpty(m *Mapping) {
	for _, w := range m.Sheet.Empty {
		if convert.Trim(w.Text) != w.Text {
			p.wrongAt(w.At, "empty-text", "“%s” can never match: cells are trimmed before they are compared with sheet.empty", w.Text).
				Hint = "write the text without white space around it"
		}
	}
	for v := range m.values() {
		var unreachable []string
		for _, word := range slices.Concat(slices.Sorted(maps.Keys(v.Values)), v.Checked, v.Unchecked) {
			if m.Sheet.countsAsEmpty(word) {
				unreachable = append(unreachable, "“"+word+"”")
			}
		}
		if len(unreachable) > 0 {
			p.wrongAt(v.At, "empty-text", "%s counts as empty by sheet.empty, so the entry for it here is never used", strings.Join(unreachable, ", ")).
				Hint = "list it in one of the two places; default says what is sent for an empty cell"
		}
	}
}

// values yields every value of the mapping: look-ups, client fields and
// attributes.
func (m *Mapping) values() iter.Seq[*ValueRule] {
	return func(yield func(*ValueRule) bool) {
		for _, v := range []*ValueRule{m.Client.Lookup.Email, m.Client.Lookup.Phone} {
			if v != nil && !yield(v) {
				return
			}
		}
		for i := range m.Client.Fields {
			if !yield(&m.Client.Fields[i].Value) {
				return
			}
		}
		for i := range m.Activities {
			attributes := m.Activities[i].Attributes
			for k := range attributes {
				if !yield(&attributes[k].Value) {
					return
				}
			}
		}
	}
}

func (p *checker) checkLookup(m *Mapping) {
	c := &m.Client
	if !c.Lookup.isGiven() && c.Existing != Create && c.At != (yamltree.Place{}) {
		at := c.At
		if c.Lookup.At != (yamltree.Place{}) {
			at = c.Lookup.At
		}
		p.wrongAt(at, "no-lookup", "client.lookup needs email or phone: without one, a client that the service already knows is not found").
			Hint = "name the column, e.g. lookup: {email: E-mail}; or write existing: create to create every client without asking"
	}
	p.checkMode(&c.Lookup)
}

func (l *LookupRule) isGiven() bool { return l.Email != nil || l.Phone != nil }

func (p *checker) checkMode(l *LookupRule) {
	if l.Mode != "" && (l.Email == nil || l.Phone == nil) {
		p.wrongAt(l.At, "no-lookup", "lookup has mode: %s, which asks by e-mail and by phone; both must be given", l.Mode)
	}
}

// checkExisting refuses existing_activities where no client is ever taken over.
func (p *checker) checkExisting(m *Mapping) {
	c := &m.Client
	if c.ActivitiesAt != (yamltree.Place{}) && !m.takesOver() {
		p.wrongAt(c.ActivitiesAt, "no-effect", "existing_activities is for clients that are found and reused, and with existing: %s there are none", c.Existing).
			Hint = "leave it out, or write existing: reuse"
	}
}

// takesOver reports whether clients may be reused that the service had before.
func (m *Mapping) takesOver() bool { return m.Client.Existing == Reuse || m.Client.KnownID.Text != "" }

// cautions warns of activities that are sent to clients who were found, when the
// mapping does not say that they are wanted.
func (m *Mapping) cautions() problem.List {
	if !m.takesOver() || m.Client.ActivitiesAt != (yamltree.Place{}) {
		return nil
	}
	for _, a := range m.Activities {
		if a.On.Text != "client" || a.Template.Text == "" {
			continue
		}
		what := "Open"
		if a.Status != Open && m.ResumeAt == nil {
			what = "back-filled"
		}
		return problem.List{problem.At(m.At(a.Template.At), "existing-activities",
			"a client who was found, not created, also gets the activities on the client, such as “%s” (%s), and may be past them already", a.Template.Text, what).
			Hinted("under client, write existing_activities: skip to leave them out for such clients, or existing_activities: send if they are wanted")}
	}
	return nil
}

func (p *checker) checkV1(m *Mapping) {
	const hint = "write api: v2, or leave this out"
	if m.Client.AdministratorAt != (yamltree.Place{}) {
		p.wrongAt(m.Client.AdministratorAt, "not-in-v1", "version 1 of the interface has no administrators").Hint = hint
	}
	if len(m.Contacts) > 0 {
		p.wrongAt(m.Contacts[0].At, "not-in-v1", "version 1 of the interface has no contacts beside the client").Hint = hint
	}
	if len(m.Claims) > 0 {
		p.wrongAt(m.Claims[0].At, "not-in-v1", "version 1 of the interface has no claims").Hint = hint
	}
	workflow := func(w WorkflowRule) {
		for _, word := range []yamltree.Scalar{w.Name, w.TemplateIdentifier} {
			if word.Text != "" {
				p.wrongAt(word.At, "not-in-v1", "version 1 of the interface has no workflow fields").Hint = hint
			}
		}
	}
	workflow(m.Workflow)
	if m.LinkAt != (yamltree.Place{}) {
		p.wrongAt(m.LinkAt, "not-in-v1", "version 1 of the interface has no magic links: its redirect url comes with the creation of a client").Hint = hint
	}
	for _, a := range m.Activities {
		workflow(a.Workflow)
		if a.Status == Accepted {
			p.wrongAt(a.StatusAt, "not-in-v1", "version 1 of the interface has no status Accepted; expected Submitted or Open")
		}
	}
}

func (p *checker) checkV2(m *Mapping) {
	if c := &m.Client; !c.Administrator && c.AdministratorAt != (yamltree.Place{}) && m.administers(ClientRole) {
		p.wrongAt(c.AdministratorAt, "no-administrator", "the contact administers its claims, and one made with administrator: false cannot").
			Hint = "leave administrator out, or the claims; or name another contact as the claims' administrator"
	}
	if m.Link == LinkOnNewClaim && len(m.Claims) == 0 {
		p.wrongAt(m.LinkAt, "no-effect", "link: on_new_claim is for clients who get a new claim, and the mapping has no claims").
			Hint = "leave link out, or list the claims"
	}
	for _, a := range m.Activities {
		if m.Workflow.Name.Text == "" && a.Workflow.Name.Text == "" && a.Template.Text != "" {
			p.wrongAt(a.Template.At, "no-workflow", "“%s” has no workflow name, which every activity of version 2 carries", a.Template.Text).
				Hint = "add workflow: {name: …} to the mapping"
		}
	}
}

func (p *checker) checkClaims(m *Mapping) {
	ids := map[string]*ClaimRule{}
	for i := range m.Claims {
		c := &m.Claims[i]
		first := ids[c.ID.Text]
		at := c.ID.At
		if at == (yamltree.Place{}) {
			at = c.At
		}
		switch {
		case first != nil && (len(first.Columns) == 0 || len(c.Columns) == 0):
			p.wrongAt(at, "duplicate-id", "two claims entries have the id “%s”", c.ID.Text).
				Hint = "give each an id of its own; only entries that differ in their columns (wide sheets) may share one"
		case c.ID.Text == "client" || c.ID.Text == onContact || strings.ContainsAny(c.ID.Text, "/@"):
			p.wrongAt(at, "bad-id", "a claims entry cannot have the id “%s”: client and contact are taken, and / and @ separate the parts of a step's name", c.ID.Text)
		case c.ID.Text == "claim" && first == nil && len(m.claimIDs()) > 1:
			p.wrongAt(at, "bad-id", "among several claims entries none can have the id “claim”: on: claim means every claim").
				Hint = "give it an id that says what it is, e.g. id: loan"
		}
		if first == nil {
			ids[c.ID.Text] = c
		}
		checkBraces(p.wrongAt, c.Name)
		p.checkNameValues(m, c)
	}
}

// checkNameValues refuses entries of a name's table that no cell can match.
func (p *checker) checkNameValues(m *Mapping, c *ClaimRule) {
	if c.NameValues != nil && len(c.NameValues) == 0 {
		p.wrongAt(c.Name.At, "no-value", "the values of the claim's name list nothing").
			Hint = "list what the cells say, or leave values out"
	}
	if t, err := parseTemplateText(c.Name.Text); err == nil && c.NameValues != nil && len(t.names()) == 0 && c.Name.Text != "" {
		p.wrongAt(c.Name.At, "values-alone", "the claim's name has values for its cells, and names no column").
			Hint = "write the columns into the text, e.g. \"{Lender} {Agreement no}\", or leave values out"
	}
	for _, from := range slices.Sorted(maps.Keys(c.NameValues)) {
		switch {
		case convert.Trim(from) != from || from == "":
			p.wrongAt(c.Name.At, "values-key", "“%s” can never match: cells are trimmed before they are looked up in the name's values, and an empty cell is not looked up", from).
				Hint = "write the text without white space around it"
		case m.Sheet.countsAsEmpty(from):
			p.wrongAt(c.Name.At, "empty-text", "“%s” counts as empty by sheet.empty, so the entry for it in the name's values is never used", from).
				Hint = "list it in one of the two places"
		}
	}
}

// countsAsEmpty reports whether sheet.empty lists a text.
func (s *SheetRule) countsAsEmpty(text string) bool {
	return slices.ContainsFunc(s.Empty, func(w yamltree.Scalar) bool { return w.Text == text })
}

// claimIDs returns the ids of the claims entries, each once, in order.
func (m *Mapping) claimIDs() []string {
	var ids []string
	for _, c := range m.Claims {
		if !slices.Contains(ids, c.ID.Text) {
			ids = append(ids, c.ID.Text)
		}
	}
	return ids
}

func (p *checker) checkActivities(m *Mapping) {
	checkBraces(p.wrongAt, m.Workflow.Name)
	checkBraces(p.wrongAt, m.Workflow.TemplateIdentifier)
	ids := map[string]yamltree.Place{}
	for i := range m.Activities {
		a := &m.Activities[i]
		if first, twice := ids[a.ID.Text]; twice && a.ID.Text != "" {
			p.wrongAt(a.ID.At, "duplicate-id", "two activities have the id “%s”; the first is in line %d", a.ID.Text, first.Line).
				Hint = "give one of them an id of its own, e.g. id: " + a.ID.Text + " 2"
		}
		ids[a.ID.Text] = a.ID.At
		if strings.Contains(a.ID.Text, "@") {
			p.wrongAt(a.ID.At, "bad-id", "an activity's id cannot hold @, which separates the parts of a step's name").
				Hint = "give it an id without @"
		}
		p.checkOn(m, a)
		checkBraces(p.wrongAt, a.Workflow.Name)
		checkBraces(p.wrongAt, a.Workflow.TemplateIdentifier)
		p.checkAttributes(m, a)
	}
}

func (p *checker) checkOn(m *Mapping, a *ActivityRule) {
	switch {
	case m.contactIndex(a.On.Text) >= 0 && slices.Contains(append(m.claimIDs(), "claim"), a.On.Text):
		p.wrongAt(a.On.At, "duplicate-id", "on cannot be “%s”: a contact has this id, and it also means claims", a.On.Text).
			Hint = "give the contact another id"
	case a.On.Text == "client", a.On.Text == "claim" && len(m.Claims) > 0, slices.Contains(m.claimIDs(), a.On.Text):
		return
	case !m.V1() && m.contactIndex(a.On.Text) >= 0:
		return
	case m.V1():
		p.wrongAt(a.On.At, "not-in-v1", "on cannot be “%s”: in version 1 every activity is on the client", a.On.Text)
	default:
		choices := []string{"client"}
		if len(m.Claims) > 0 {
			choices = append(choices, "claim")
		}
		for _, id := range m.claimIDs() {
			if id != "claim" {
				choices = append(choices, id)
			}
		}
		for _, c := range m.Contacts {
			if c.ID.Text != "" {
				choices = append(choices, c.ID.Text)
			}
		}
		hint := "the ids of the entries of claims and contacts can be used here"
		if nearest, ok := problem.Nearest(problem.Shorten(a.On.Text), choices); ok {
			hint = "did you mean “" + nearest + "”?"
		}
		p.wrongAt(a.On.At, "unknown-claim", "on cannot be “%s”; expected %s", a.On.Text, problem.OrList(choices)).Hint = hint
	}
}

func (p *checker) checkAttributes(m *Mapping, a *ActivityRule) {
	if a.Status == Open && len(a.Attributes) > 0 {
		p.wrongAt(a.Attributes[0].Name.At, "open-attributes", "“%s” is Open, and an Open activity has no attributes", a.Template.Text).
			Hint = "leave the attributes out, or give it the status Submitted"
	}
	for _, attr := range a.Attributes {
		v := attr.Value
		if t := convert.Type(v.Type.Text); t == convert.Email || t == convert.Phone {
			p.wrongAt(v.Type.At, "wrong-type", "an attribute cannot be of type %s; expected %s", t, problem.OrList(typeNames()[:len(convert.AttributeTypes())])).
				Hint = "Email and Phone are for client fields and look-ups; an attribute that holds one is a Text"
		}
		if v.Output.Text != "" {
			p.wrongAt(v.Output.At, "wrong-option", "output is for client fields; a Date attribute is always sent as a date-time")
		}
	}
}

// checkBraces reports braces that do not pair.
func checkBraces(wrongAt func(at yamltree.Place, code, format string, args ...any) *problem.Problem, w yamltree.Scalar) {
	if _, err := parseTemplateText(w.Text); err != nil {
		wrongAt(w.At, "braces", "%s", err.Error()).
			Hint = "{Column} is replaced by the cell's text; {{ and }} are braces"
	}
}
