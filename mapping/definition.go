package mapping

import (
	"encoding/json"
	"fmt"
	"slices"

	"claimsheet/mapping/problem/yamltree"
)

// definition is what the keys of steps are made from: the client key, the claim keys
// and the activities. The ledger keeps it for each mapping, as JSON.
type definition struct {
	definedPart
	Claims     []definedPart `json:"claims,omitempty"`
	Contacts   []definedPart `json:"contacts,omitempty"`
	Activities []definedPart `json:"activities,omitempty"`
}

// definedPart is how clients, or the claims or contacts of an entry, are told apart, or an
// activity whose id is part of steps' keys. Several entries of claims may have one id.
type definedPart struct {
	ID       string   `json:"id,omitempty"`
	Key      []string `json:"key,omitempty"`
	Space    string   `json:"space,omitempty"`    // of people; claims have the id of their entry in its place
	Verbatim bool     `json:"verbatim,omitempty"` // phone numbers are compared as texts

	On string `json:"on,omitempty"` // of an activity; "" for the others
	// Template and TemplateID are the template's name and its id in the environment: the
	// service's operator may rename a template, or delete it and create it again.
	Template   string `json:"template,omitempty"`
	TemplateID string `json:"templateId,omitempty"`
	Gone       bool   `json:"gone,omitempty"` // an activity that is no longer in the mapping
}

// onContact is definedPart.On of an activity on any entry of contacts.
const onContact = "contact"

// makesSameSteps reports whether two parts give people, claims or activities the same names.
func (p definedPart) makesSameSteps(other definedPart) bool {
	if p.On != "" {
		return p.ID == other.ID && haveCommonScope(p.On, other.On) && p.isForSame(other)
	}
	return slices.Equal(p.Key, other.Key) && p.Space == other.Space && p.Verbatim == other.Verbatim && (p.Space != "" || p.ID == other.ID)
}

// isForSame reports whether two entries are for the same people or claims, or two activities have the same template, and
// the same scope or id: an activity that moves to another scope is sent again.
func (p definedPart) isForSame(other definedPart) bool {
	if p.On != "" {
		return (p.ID == other.ID || haveCommonScope(p.On, other.On)) && (p.Template == other.Template || p.TemplateID != "" &&
			p.TemplateID == other.TemplateID)
	}
	return p.ID == other.ID || slices.Equal(p.Key, other.Key)
}

// haveCommonScope reports whether activities on a and on b can be on the same client, claim or contact.
func haveCommonScope(a, b string) bool {
	ofClaims := func(on string) bool { return on != clientRole && on != onContact }
	return a == b || ofClaims(a) && ofClaims(b) && (a == "claim" || b == "claim")
}

// replacements returns the indexes of the parts that are new for what a part that is gone was
// for: they would do again, under new names, what is done.
func replacements(then, now []definedPart) (pairs [][2]int) {
	for n, is := range now {
		for t, was := range then {
			if is.isForSame(was) && !slices.ContainsFunc(then, is.makesSameSteps) && !slices.ContainsFunc(now, was.makesSameSteps) {
				pairs = append(pairs, [2]int{t, n})
			}
		}
	}
	return pairs
}

// gone returns the parts that are no longer in a definition and are not replaced.
func gone(then, now []definedPart) (list []definedPart) {
	replaced := replacements(then, now)
	for t, was := range then {
		if !slices.ContainsFunc(now, was.makesSameSteps) && !slices.ContainsFunc(replaced, func(pair [2]int) bool { return pair[0] == t }) {
			list = append(list, was)
		}
	}
	return list
}

// Definition returns what the keys of steps are made from, as JSON. recorded is the
// definition that was stored before, "" for none. Its activities, claims and contacts that are
// no longer in the mapping stay in the result, because steps may have their ids.
func (b *Binding) Definition(recorded string) string {
	then, kept := recordedDefinition(recorded), b.definition()
	kept.Claims = append(kept.Claims, gone(then.Claims, kept.Claims)...)
	kept.Contacts = append(kept.Contacts, gone(then.Contacts, kept.Contacts)...)
	for _, was := range gone(then.Activities, kept.Activities) {
		was.Gone = true
		kept.Activities = append(kept.Activities, was)
	}
	data, _ := json.Marshal(kept) // plain data always marshals
	return string(data)
}

// recordedDefinition reads a record. An unreadable one counts as another definition.
func recordedDefinition(recorded string) (d definition) {
	_ = json.Unmarshal([]byte(recorded), &d)
	return d
}

func (b *Binding) definition() definition {
	m := b.mapping
	var d definition
	for i, rule := range m.people() {
		p := b.parts[i]
		person := definedPart{Key: scalarTexts(rule.Key), Space: p.space, Verbatim: p.space == PhoneSpace && p.keyAddress.conv.IsVerbatim()}
		if i == 0 {
			d.definedPart = person
			continue
		}
		person.ID = p.id
		d.Contacts = append(d.Contacts, person)
	}
	for _, c := range m.Claims {
		key := scalarTexts(c.Key)
		for i, name := range key {
			if alias, ok := c.Columns[name]; ok {
				key[i] = alias.Text
			}
		}
		d.Claims = append(d.Claims, definedPart{ID: c.ID.Text, Key: key})
	}
	for _, a := range b.activities {
		on := a.rule.On.Text
		if m.person(on) > 0 {
			on = onContact
		}
		d.Activities = append(d.Activities, definedPart{ID: a.rule.ID.Text, On: on, Template: a.rule.Template.Text, TemplateID: a.template.ID})
	}
	return d
}

// Redefined says in words which keys differ from a recorded definition; nil
// when clients, claims and contacts keep their identities. For activities see Renamed
// and Grown.
func (b *Binding) Redefined(recorded string) []string {
	then, now := recordedDefinition(recorded), b.definition()
	var changes []string
	if !slices.Equal(then.Key, now.Key) {
		changes = append(changes, "another client key")
	}
	if then.Space != now.Space {
		changes = append(changes, fmt.Sprintf("the key space “%s” where it is now “%s”", then.Space, now.Space))
	} else if then.Verbatim != now.Verbatim {
		changes = append(changes, "phone numbers compared in another way")
	}
	if len(replacements(then.Claims, now.Claims)) > 0 {
		changes = append(changes, "other claim keys")
	}
	if len(replacements(then.Contacts, now.Contacts)) > 0 {
		changes = append(changes, "other keys of contacts")
	}
	return changes
}

// SameAs reports whether this may be the mapping of a recorded definition under another name,
// which may also have grown or shrunk: then what it has would be sent again under the new
// name. space is the key space of the recorded mapping's clients.
func (b *Binding) SameAs(recorded, name string) (space string, same bool) {
	then, now := recordedDefinition(recorded), b.definition()
	space = then.Space
	if then.Space == name && now.Space == b.mapping.Name.Text {
		then.Space = now.Space
	}
	activities := slices.DeleteFunc(then.Activities, func(a definedPart) bool { return a.Gone })
	return space, then.makesSameSteps(now.definedPart) && within(then.Claims, now.Claims) && within(activities, now.Activities)
}

// within reports whether one of two lists has all parts of the other. An empty list is within another empty one only.
func within(a, b []definedPart) bool {
	hasAll := func(in, of []definedPart) bool {
		return !slices.ContainsFunc(of, func(part definedPart) bool { return !slices.ContainsFunc(in, part.makesSameSteps) })
	}
	return (len(a) == 0) == (len(b) == 0) && (hasAll(a, b) || hasAll(b, a))
}

// steps is how the keys of an activity's steps begin.
func (p definedPart) steps() string {
	if p.On == clientRole || p.On == onContact {
		return "activity/" + p.ID + "@" + p.On
	}
	return "activity/" + p.ID + "@"
}

// ActivityChange is an activity that is not as it was in a recorded definition.
type ActivityChange struct {
	Was, Now string // the ids; Was is "" for an activity that is new
	Steps    string // how the keys of the steps begin: of those that would be sent again, else of its own
	At       yamltree.Place
}

// Renamed returns the activities that have another id than an activity of the same
// template and scope in a recorded definition, even if neither was in the mapping for
// a time: they would send again what was sent. Whether anything was sent only the ledger knows.
func (b *Binding) Renamed(recorded string) []ActivityChange {
	then, now := recordedDefinition(recorded).Activities, b.definition().Activities
	var list []ActivityChange
	for _, pair := range replacements(then, now) {
		was, is := then[pair[0]], now[pair[1]]
		list = append(list, ActivityChange{was.ID, is.ID, was.steps(), b.activities[pair[1]].rule.Template.At})
	}
	return list
}

// Grown returns the activities that a recorded definition did not have, or had on other claims, in the mapping's order.
func (b *Binding) Grown(recorded string) []ActivityChange {
	then := recordedDefinition(recorded)
	var list []ActivityChange
	for i, is := range b.definition().Activities {
		if !slices.ContainsFunc(then.Activities, func(was definedPart) bool { return was.ID == is.ID && was.On == is.On && !was.Gone }) {
			list = append(list, ActivityChange{"", is.ID, is.steps(), b.activities[i].rule.Template.At})
		}
	}
	return list
}
