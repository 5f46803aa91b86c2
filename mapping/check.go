package mapping

import (
	"slices"
	"strings"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// checker collects the problems of a mapping file, and what is allowed but most likely a mistake.
type checker struct {
	file     string
	problems problem.List
	warnings problem.List
}

// wrongAt notes a problem at a place and returns it for a hint.
func (p *checker) wrongAt(at yamltree.Place, code, format string, args ...any) *problem.Problem {
	p.problems = append(p.problems, problem.At(at.In(p.file), code, format, args...))
	return &p.problems[len(p.problems)-1]
}

// warnAt notes a warning at a place and returns it for a hint.
func (p *checker) warnAt(at yamltree.Place, code, format string, args ...any) *problem.Problem {
	p.warnings = append(p.warnings, problem.At(at.In(p.file), code, format, args...))
	return &p.warnings[len(p.warnings)-1]
}

// check reports what is wrong with a mapping without a sheet or a service:
// keys that contradict each other, ids that are not unique, what a version
// does not have.
func (p *checker) check(m *Mapping) {
	p.checkKeySpace(m.Name)
	p.checkPeople(m)
	switch m.API.Text {
	case "v1":
		p.checkV1(m)
	case "v2":
		p.checkV2(m)
	}
	p.checkClaims(m)
	p.checkActivities(m)
	p.checkOrder(m)
	p.checkResume(m)
	if !m.V1() && len(p.problems) == 0 { // what would need a contact may be what is wrong
		p.checkUnusedContacts(m)
	}
}

// checkKeySpace refuses the names of the two built-in key spaces for the mapping's own.
func (p *checker) checkKeySpace(name yamltree.Scalar) {
	if name.Text == EmailSpace || name.Text == PhoneSpace {
		p.wrongAt(name.At, "reserved-name", "“%s” is the name of a built-in key space", name.Text).Hint = "choose another name"
	}
}

// isRepeated refuses an id that an earlier entry has.
func (p *checker) isRepeated(seen map[string]yamltree.Place, id yamltree.Scalar, what string) bool {
	first, twice := seen[id.Text]
	if seen[id.Text] = id.At; !twice || id.Text == "" {
		return false
	}
	p.wrongAt(id.At, "duplicate-id", "two %s have the id “%s”; the first is in line %d", what, id.Text, first.Line).
		Hint = "give one of them an id of its own, e.g. id: " + id.Text + " 2"
	return true
}

// checkPeople reports what is wrong with the client and the contacts.
func (p *checker) checkPeople(m *Mapping) {
	people, ids := m.people(), map[string]yamltree.Place{}
	if m.V1() {
		people = people[:1]
	}
	for i, c := range people {
		id, name, isContact := c.ID.Text, "the client", i > 0
		hint := "name the column, e.g. lookup: {email: E-mail}; or write existing: create to create every client without asking"
		if isContact {
			name, hint = "the contact “"+id+"”", "name the column, e.g. lookup: {email: Partner e-mail}"
		}
		p.checkKeySpace(c.KeySpace)
		l := c.Lookup
		if asksByBoth(l.Mode) && l.isGiven() && (l.Email == nil || l.Phone == nil) {
			p.wrongAt(l.At, "no-lookup", "lookup has mode: %s, which asks by e-mail and by phone; both must be given", l.Mode)
		}
		if id == "" || !c.At.IsSet() { // reported as missing
			continue
		}
		if isContact && !p.isRepeated(ids, c.ID, "contacts") && (id == clientRole || strings.ContainsAny(id, "/@")) {
			p.wrongAt(c.ID.At, "bad-id", "a contact cannot have the id “%s”: client is taken, and / and @ separate the parts of a step's name", id)
		}
		isKnown := len(c.Key) == 1 && c.KnownID.Text != "" && c.Key[0].Text == c.KnownID.Text // then the key is the client's id
		isCreated := !isContact && m.Client.Existing == Create
		isReported := slices.ContainsFunc(p.problems, func(q problem.Problem) bool { return q.Where == l.At.In(p.file) })
		if !l.isGiven() && !isCreated && !isKnown && !isReported {
			p.wrongAt(l.At.Or(c.At), "no-lookup",
				"%s needs lookup with email or phone: without one, a person whom the service already knows is not found", name).
				Hint = hint
		}
		administers := slices.ContainsFunc(m.Claims, func(c ClaimRule) bool { return c.Administrator.Text == id })
		if !c.Administrator && !m.V1() && administers {
			p.wrongAt(c.AdministratorAt, "no-administrator", "%s administers claims, and a contact made with administrator: false cannot", name).
				Hint = "leave administrator out, or name another administrator for the claims"
		}
	}
}

func (l *LookupRule) isGiven() bool { return l.Email != nil || l.Phone != nil }

func (p *checker) checkV1(m *Mapping) {
	refuse := func(at yamltree.Place, what string) {
		if at.IsSet() {
			p.wrongAt(at, "not-in-v1", "version 1 of the interface has no %s", what).Hint = "write api: v2, or leave this out"
		}
	}
	refuse(m.Client.AdministratorAt, "administrators")
	for _, c := range m.Contacts[:min(1, len(m.Contacts))] {
		refuse(c.At, "contacts beside the client")
	}
	for _, c := range m.Claims[:min(1, len(m.Claims))] {
		refuse(c.At, "claims")
	}
	refuse(m.LinkAt, "magic links: its redirect url comes with the creation of a client")
	workflows := []WorkflowRule{m.Workflow}
	for _, a := range m.Activities {
		workflows = append(workflows, a.Workflow)
		if a.Status == Accepted {
			p.wrongAt(a.StatusAt, "not-in-v1", "version 1 of the interface has no status Accepted; expected Submitted or Open")
		}
	}
	for _, w := range workflows {
		refuse(w.Name.At, "workflow fields")
		refuse(w.TemplateIdentifier.At, "workflow fields")
	}
}

func (p *checker) checkV2(m *Mapping) {
	for _, a := range m.Activities {
		if m.Workflow.Name.Text == "" && a.Workflow.Name.Text == "" && a.Template.Text != "" {
			p.wrongAt(a.Template.At, "no-workflow", "“%s” has no workflow name, which every activity of version 2 carries", a.Template.Text).
				Hint = "add workflow: {name: …} to the mapping"
		}
	}
}

// checkRoles reports contacts that a claims entry names and the mapping does not have.
func (p *checker) checkRoles(m *Mapping, c *ClaimRule) {
	choices, isComplete := m.roles()
	check := func(key string, role yamltree.Scalar) {
		_, isNear := problem.Nearest(role.Text, choices)
		if role.Text != "" && !slices.Contains(choices, role.Text) && (isNear || isComplete) {
			p.wrongAt(role.At, "unknown-contact", "%s cannot be “%s”: no contact has that id", key, role.Text).
				Hint = problem.Suggestion(role.Text, choices)
		}
	}
	check("administrator", c.Administrator)
	for _, role := range c.Claimants {
		check("a claimant", role)
	}
}

// roles returns the names of the people whom claims and activities may name; it is not
// complete where an entry of contacts has no id, which may be the one that is meant.
func (m *Mapping) roles() (names []string, isComplete bool) {
	isComplete = true
	for _, c := range m.people() {
		if isComplete = isComplete && c.ID.Text != ""; c.ID.Text != "" && !slices.Contains(names, c.ID.Text) {
			names = append(names, c.ID.Text)
		}
	}
	return names, isComplete
}

// checkUnusedContacts refuses contacts that nothing needs.
func (p *checker) checkUnusedContacts(m *Mapping) {
	var used []string
	for _, c := range m.Claims {
		used = append(append(used, c.Administrator.Text), scalarTexts(c.Claimants)...)
	}
	for _, a := range m.Activities {
		used = append(used, a.On.Text)
	}
	for _, contact := range m.Contacts {
		if !slices.Contains(used, contact.ID.Text) {
			p.wrongAt(contact.ID.At, "unused-contact", "no claim names the contact “%s” and no activity is on it, so it would never be created",
				contact.ID.Text).
				Hint = "name it under a claims entry, e.g. claimants: [client, " + contact.ID.Text + "]; or take it out"
		}
	}
}

func (p *checker) checkClaims(m *Mapping) {
	first := map[string]*ClaimRule{}
	for i := range m.Claims {
		c := &m.Claims[i]
		if !m.V1() {
			p.checkRoles(m, c)
		}
		id, at, same := c.ID.Text, c.ID.At.Or(c.At), first[c.ID.Text]
		switch {
		case same != nil && (len(same.Columns) == 0 || len(c.Columns) == 0):
			p.wrongAt(at, "duplicate-id", "two claims entries have the id “%s”", id).
				Hint = "give each an id of its own; only entries that differ in their columns (wide sheets) may share one"
		case same != nil && ((same.KnownID.Text == "") != (c.KnownID.Text == "") || same.roles() != c.roles()):
			p.wrongAt(at, "duplicate-id", "two claims entries have the id “%s”, and differ in known_id, administrator or claimants", id).
				Hint = "a claim of one is a claim of the other: give both a known_id or neither, and the same people; or give each entry an id of its own"
		case id == clientRole || id == onContact || strings.ContainsAny(id, "/@"):
			p.wrongAt(at, "bad-id",
				"a claims entry cannot have the id “%s”: client and contact are taken, and / and @ separate the parts of a step's name", id)
		case id == "claim" && same == nil && len(m.claimIDs()) > 1:
			p.wrongAt(at, "bad-id", "among several claims entries none can have the id “claim”: on: claim means every claim").
				Hint = "give it an id that says what it is, e.g. id: loan"
		}
		if same == nil {
			first[id] = c
		}
	}
}

// roles returns who administers a claim of the entry, and its claimants.
func (c *ClaimRule) roles() string {
	return strings.Join(append(scalarTexts(c.Claimants), c.Administrator.Text, c.AdministratorID.Text), "\x00")
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
	ids := map[string]yamltree.Place{}
	for i := range m.Activities {
		a := &m.Activities[i]
		p.isRepeated(ids, a.ID, "activities")
		if strings.Contains(a.ID.Text, "@") {
			p.wrongAt(a.ID.At, "bad-id", "an activity's id cannot hold @, which separates the parts of a step's name").
				Hint = "give it an id without @"
		}
		p.checkOn(m, a)
		if a.Status == Open && len(a.Attributes) > 0 {
			p.wrongAt(a.Attributes[0].Name.At, "open-attributes", "“%s” is Open, and an Open activity has no attributes", a.Template.Text).
				Hint = "leave the attributes out, or give it the status Submitted"
		}
		for _, attr := range a.Attributes {
			v := attr.Value
			if t := convert.Type(v.Type.Text); t == convert.Email || t == convert.Phone {
				p.wrongAt(v.Type.At, "wrong-type", "an attribute cannot be of type %s; expected %s", t,
					problem.OrList(typeNames()[:len(convert.AttributeTypes())])).
					Hint = "Email and Phone are for client fields and look-ups; an attribute that holds one is a Text"
			}
			if v.Output.Text != "" {
				p.wrongAt(v.Output.At, "wrong-option", "output is for client fields; a Date attribute is always sent as a date-time")
			}
		}
	}
}

func (p *checker) checkOn(m *Mapping, a *ActivityRule) {
	on, ids, isContact := a.On.Text, m.claimIDs(), m.person(a.On.Text) > 0
	var ofClaims []string
	if len(ids) > 0 {
		ofClaims = append([]string{"claim"}, slices.DeleteFunc(ids, func(id string) bool { return id == "claim" })...)
	}
	switch {
	case isContact && (on == "claim" || slices.Contains(ofClaims, on)):
		p.wrongAt(a.On.At, "duplicate-id", "on cannot be “%s”: a contact has this id, and it also means claims", on).
			Hint = "give the contact another id"
	case on == clientRole, slices.Contains(ofClaims, on), isContact && !m.V1():
	case m.V1():
		p.wrongAt(a.On.At, "not-in-v1", "on cannot be “%s”: in version 1 every activity is on the client", on)
	default:
		contacts, _ := m.roles()
		choices := slices.Concat([]string{clientRole}, ofClaims, contacts[1:])
		p.wrongAt(a.On.At, "unknown-claim", "on cannot be “%s”: no entry of claims or contacts has that id", on).
			Hint = problem.Suggestion(on, choices)
	}
}

// opensWorkflow reports whether an activity of the workflow is Open.
func (a *ActivityRule) opensWorkflow() bool { return a.Status == Open && !a.Assigned }

// isBackFilled reports whether an activity of the workflow is back-filled.
func (a *ActivityRule) isBackFilled() bool {
	return (a.Status == Submitted || a.Status == Accepted) && !a.Assigned
}

// checkOrder compares each activity with the Open ones before it: the service sends a client to
// the first Open activity, and those before it are back-filled. Activities of different claims
// entries have no common order; all have one with those of the client.
func (p *checker) checkOrder(m *Mapping) {
	for i := range m.Activities {
		a := &m.Activities[i]
		if !m.V1() && len(m.Claims) > 0 && a.On.Text == clientRole && a.Status == Accepted {
			p.warnAt(a.StatusAt, "accepted-on-client",
				"“%s” is on the client and Accepted: for a client with several claims, activities on the client are back-filled as Submitted", a.Template.Text).
				Hint = "leave the status out; keep Accepted only if no client has more than one claim and the service's operator specifies it for this activity"
		}
		if a.Assigned {
			continue
		}
		isOnClient := a.On.Text == clientRole
		for _, open := range m.Activities[:i] {
			hasCondition := open.When.Text+a.When.Text != ""
			onSame, line := haveCommonScope(open.On.Text, a.On.Text), open.Template.At.Line
			switch {
			case !open.opensWorkflow():
				continue
			case a.Status == Open && onSame && !hasCondition:
				p.wrongAt(a.Template.At, "two-open", "“%s” is Open, and so is “%s” in line %d: one scope can have one Open activity", a.Template.Text,
					open.Template.Text, line).
					Hint = "an activity that a handler assigns outside the workflow is marked assigned: true"
			case m.ResumeAt != nil:
			case a.Status == Open && onSame:
				p.warnAt(a.Template.At, "two-open", "“%s” is Open, and so is “%s” in line %d: a client for whom both are created is sent to the first, “%s”",
					a.Template.Text, open.Template.Text, line, open.Template.Text).
					Hint = "this is right if no client meets both conditions"
				continue
			case a.isBackFilled() && (onSame || isOnClient || open.On.Text == clientRole):
				unless := ""
				if hasCondition {
					unless = "; this is right only if no client meets both conditions"
				}
				p.warnAt(a.Template.At, "open-before",
					"“%s” is back-filled and comes after “%s” in line %d, which is Open: the client resumes at the Open activity, and only activities before it are back-filled%s",
					a.Template.Text, open.Template.Text, line, unless).
					Hint = "list the activities in the order of the workflow, the Open one after those that are back-filled; an activity that a handler assigns outside the workflow is marked assigned: true"
			default:
				continue
			}
			break
		}
	}
	p.checkNeverOpen(m)
}

// checkNeverOpen warns of back-filled activities when none is Open: the redirect url, or the
// link, begins at step 1, which may be among them. In version 2 one of them alone is use
// case 1 of the service document.
func (p *checker) checkNeverOpen(m *Mapping) {
	begins, least := "the link leads to step 1", 2
	if m.V1() {
		begins, least = "in version 1 the redirect url begins at step 1", 1
	}
	var filled []ActivityRule
	for _, a := range m.Activities {
		if a.opensWorkflow() {
			return
		}
		if a.isBackFilled() && a.Template.Text != "" {
			filled = append(filled, a)
		}
	}
	if m.ResumeAt == nil && m.Link != LinkNever && len(filled) >= least {
		p.warnAt(filled[0].Template.At, "never-open",
			"“%s” is back-filled and no activity is Open: %s, and only an Open activity makes the client resume at a later one", filled[0].Template.Text, begins).
			Hint = "give the activity at which the client resumes the status Open, or write resume_at"
	}
}

func (p *checker) checkResume(m *Mapping) {
	if m.ResumeAt == nil {
		return
	}
	var names []string
	for _, a := range m.Activities {
		if a.Assigned {
			continue
		}
		names = append(names, a.Template.Text)
		if a.Status == Open {
			p.wrongAt(a.StatusAt, "resume-open", "“%s” is Open, and resume_at says where the client resumes: they exclude each other", a.Template.Text).
				Hint = "leave the status out; resume_at makes the activity that it names Open"
		}
	}
	if word := m.ResumeAt.Template; word.Text != "" && !slices.Contains(names, word.Text) {
		p.wrongAt(word.At, "unknown-activity", "resume_at names “%s”, which is not among the activities of the workflow", word.Text).
			Hint = problem.Suggestion(word.Text, names)
	}
}
