package mapping

import (
	"claimsheet/mapping/problem/yamltree"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// definition is what the keys of steps are made from: the client key, the
// claim keys and the activities.
type definition struct {
	Key        []string          `json:"key"`
	Space      string            `json:"space"`
	Verbatim   bool              `json:"verbatim,omitempty"` // phone numbers are compared as texts
	Claims     []definedClaim    `json:"claims,omitempty"`
	Contacts   []definedContact  `json:"contacts,omitempty"`
	Activities []definedActivity `json:"activities,omitempty"`
}

type definedContact struct {
	ID    string   `json:"id"`
	Key   []string `json:"key"`
	Space string   `json:"space"`

	Verbatim bool `json:"verbatim,omitempty"` // as definition.Verbatim
	Gone     bool `json:"gone,omitempty"`     // no longer in the mapping
}

type definedClaim struct {
	ID  string   `json:"id"`
	Key []string `json:"key"`
}

// Definition returns what the keys of steps are made from, as JSON: the client
// key and its space, the claim keys, and the id, template and scope of each
// activity. recorded is the definition that was stored before, "" for none.
// Activities and contacts that are no longer in the mapping stay in the result,
// because steps may have their ids.
func (b *Binding) Definition(recorded string) string {
	then, now := recordedDefinition(recorded), b.definition()
	now.Activities = append(now.Activities, removed(then.Activities, now.Activities)...)
	now.Contacts = append(now.Contacts, removedContacts(then.Contacts, now.Contacts)...)
	data, err := json.Marshal(now)
	if err != nil {
		panic("mapping: plain data that does not marshal: " + err.Error())
	}
	return string(data)
}

// recordedDefinition reads a record. An unreadable one counts as another definition.
func recordedDefinition(recorded string) (d definition) {
	_ = json.Unmarshal([]byte(recorded), &d)
	return d
}

func (b *Binding) definition() definition {
	m := b.mapping
	d := definition{Key: scalarTexts(m.Client.Key), Space: b.keySpace}
	d.Verbatim = b.lookup.isVerbatim(b.keySpace)
	for _, c := range m.Claims {
		key := scalarTexts(c.Key)
		for i, name := range key {
			if alias, ok := c.Columns[name]; ok {
				key[i] = alias.Text
			}
		}
		d.Claims = append(d.Claims, definedClaim{c.ID.Text, key})
	}
	for i, c := range b.contacts {
		d.Contacts = append(d.Contacts, definedContact{c.id, scalarTexts(m.Contacts[i].Key), c.space, c.lookup.isVerbatim(c.space), false})
	}
	for i := range b.activities {
		d.Activities = append(d.Activities, defined(m, &b.activities[i]))
	}
	return d
}

// isVerbatim reports whether the people of a key space are told apart by their phone
// numbers as they are written, not as numbers.
func (l *boundLookup) isVerbatim(space string) bool {
	return space == PhoneSpace && l.phone.conv.IsVerbatim()
}

// Redefined says in words which keys differ from a recorded definition; nil
// when clients and claims keep their identities. For activities see Renamed
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
	if !slices.EqualFunc(then.Claims, now.Claims, definedClaim.equal) {
		changes = append(changes, "other claim keys")
	}
	if slices.ContainsFunc(now.Contacts, func(c definedContact) bool { return c.replaces(then.Contacts, now.Contacts) }) {
		changes = append(changes, "other keys of contacts")
	}
	return changes
}

// replaces reports whether a contact would be created again under another key:
// its entry had another key, or an entry that is gone had its columns and was
// keyed in another way.
func (c definedContact) replaces(then, now []definedContact) bool {
	is := func(id string) func(definedContact) bool { return func(d definedContact) bool { return d.ID == id } }
	differs := func(was definedContact) bool { return was.Space != c.Space || was.Verbatim != c.Verbatim }
	if i := slices.IndexFunc(then, is(c.ID)); i >= 0 {
		return differs(then[i]) || !slices.Equal(then[i].Key, c.Key)
	}
	return slices.ContainsFunc(then, func(was definedContact) bool {
		return slices.Equal(was.Key, c.Key) && differs(was) && !slices.ContainsFunc(now, is(was.ID))
	})
}

// removedContacts returns the recorded contacts that are no longer in the mapping,
// except those that another entry has replaced.
func removedContacts(then, now []definedContact) []definedContact {
	var list []definedContact
	for _, was := range then {
		if slices.ContainsFunc(now, func(is definedContact) bool {
			return is.ID == was.ID || is.replaces([]definedContact{was}, now)
		}) {
			continue
		}
		was.Gone = true
		list = append(list, was)
	}
	return list
}

// SameAs reports whether the recorded definition of another mapping differs
// from this one only by the mapping's name: then every step would be sent
// again under the new name. space is the key space of that mapping's clients.
func (b *Binding) SameAs(recorded, name string) (space string, same bool) {
	then, now := recordedDefinition(recorded), b.definition()
	spaces := then.Space == now.Space || then.Space == name && now.Space == b.mapping.Name.Text
	return then.Space, spaces && then.Verbatim == now.Verbatim && slices.Equal(then.Key, now.Key) &&
		slices.EqualFunc(then.Claims, now.Claims, definedClaim.equal) && sameActivities(then.Activities, now.Activities)
}

func (c definedClaim) equal(d definedClaim) bool { return c.ID == d.ID && slices.Equal(c.Key, d.Key) }

// definedActivity is the record of an activity whose id is part of steps'
// keys.
type definedActivity struct {
	ID string `json:"id"`
	On string `json:"on"`
	// Template and TemplateID are the template's name and its id in the
	// environment. The service's operator may rename a template, or delete it
	// and create it again.
	Template   string `json:"template"`
	TemplateID string `json:"templateId"`
	Holds      string `json:"holds,omitempty"` // digest of its condition and attributes
	Gone       bool   `json:"gone,omitempty"`  // no longer in the mapping
}

func defined(m *Mapping, a *boundActivity) definedActivity {
	rule, on := a.rule, a.rule.On.Text
	if m.contactIndex(on) >= 0 {
		on = onContact
	}
	holds, err := json.Marshal(struct {
		When       yamltree.Scalar
		Attributes []AttributeRule
	}{rule.When, rule.Attributes})
	if err != nil {
		panic("mapping: plain data that does not marshal: " + err.Error())
	}
	sum := sha256.Sum256(holds)
	return definedActivity{ID: rule.ID.Text, On: on, Template: rule.Template.Text, TemplateID: a.template.ID,
		Holds: hex.EncodeToString(sum[:8])}
}

// sameTemplate reports whether two activities have the same template.
func (a definedActivity) sameTemplate(b definedActivity) bool {
	return a.Template == b.Template || a.TemplateID != "" && a.TemplateID == b.TemplateID
}

// onContact is definedActivity.On of an activity on any entry of contacts.
const onContact = "contact"

// overlaps reports whether two activities can be on the same client, claim or contact.
func (a definedActivity) overlaps(b definedActivity) bool {
	const client, everyClaim = "client", "claim"
	ofClaims := func(on string) bool { return on != client && on != onContact }
	return a.On == b.On || ofClaims(a.On) && ofClaims(b.On) && (a.On == everyClaim || b.On == everyClaim)
}

// sameSteps reports whether the steps of two activities have the same keys.
func (a definedActivity) sameSteps(b definedActivity) bool { return a.ID == b.ID && a.overlaps(b) }

func (a definedActivity) findIn(list []definedActivity) (definedActivity, bool) {
	i := slices.IndexFunc(list, a.sameSteps)
	if i < 0 {
		return definedActivity{}, false
	}
	return list[i], true
}

// removed returns the recorded activities that are no longer in the mapping,
// except those that another activity has replaced.
func removed(then, now []definedActivity) []definedActivity {
	var list []definedActivity
	for _, was := range then {
		_, still := was.findIn(now)
		if still || slices.ContainsFunc(now, func(is definedActivity) bool { return is.replaces(was, then, now) }) {
			continue
		}
		was.Gone = true
		list = append(list, was)
	}
	return list
}

// replaces reports whether an activity would send again what another activity
// of the record sent: it took its place, or holds now what that one held.
func (a definedActivity) replaces(was definedActivity, then, now []definedActivity) bool {
	before, known := a.findIn(then)
	after, still := was.findIn(now)
	switch {
	case a.sameSteps(was) || !a.sameTemplate(was):
		return false
	case a.ID == was.ID: // moved from claims to the client, or the reverse
		return !known
	case !a.overlaps(was):
		return false
	case !still && !known:
		return true
	}
	moved := was.Holds != "" && a.Holds == was.Holds
	return moved && (!known || before.Holds != a.Holds) && (!still || after.Holds != was.Holds)
}

// sameActivities reports whether a record has exactly the activities of a
// mapping, in any order.
func sameActivities(then, now []definedActivity) bool {
	n := 0
	for _, was := range then {
		if was.Gone {
			continue
		}
		n++
		if is, ok := was.findIn(now); !ok || is.On != was.On || !is.sameTemplate(was) {
			return false
		}
	}
	return n == len(now)
}

// Renaming is an activity that would send again, under another name, what was
// sent.
type Renaming struct {
	Was, Now string // in words, with the scope if that has changed
	Steps    string // how the keys of the steps begin that would be sent again
	At       yamltree.Place
}

// Renamed returns the activities that would send again what activities of a
// recorded definition have sent: another id for the same template and scope,
// even if neither was in the mapping for a time; ids that were exchanged; an
// id that moved from the client to claims, or the reverse. Whether anything
// was sent only the ledger knows.
func (b *Binding) Renamed(recorded string) []Renaming {
	then, now := recordedDefinition(recorded), b.definition().Activities
	var list []Renaming
	for i, is := range now {
		for _, was := range then.Activities {
			if !is.replaces(was, then.Activities, now) {
				continue
			}
			r := Renaming{Was: quoted(was.ID), Now: quoted(is.ID), Steps: was.steps(), At: b.activities[i].rule.Template.At}
			if was.ID == is.ID {
				r.Was, r.Now = fmt.Sprintf("“%s” on: %s", was.ID, was.On), "on: "+is.On
			}
			list = append(list, r)
		}
	}
	return list
}

func quoted(s string) string { return "“" + s + "”" }

// steps is how the keys of an activity's steps begin.
func (a definedActivity) steps() string {
	if a.On == "client" || a.On == onContact {
		return "activity/" + a.ID + "@" + a.On
	}
	return "activity/" + a.ID + "@"
}

// Growth is an activity that is new in a mapping, or is on more claims than
// before.
type Growth struct {
	ID    string
	Wider bool   // not new, but on more claims than before
	Steps string // how the keys of its steps begin
	At    yamltree.Place
}

// Grown returns the activities that a recorded definition did not have, or had
// on fewer claims, in the mapping's order.
func (b *Binding) Grown(recorded string) []Growth {
	then := recordedDefinition(recorded)
	var list []Growth
	for i, is := range b.definition().Activities {
		was, known := is.findIn(then.Activities)
		wider := known && !was.Gone
		if wider && (was.On == is.On || is.On != "claim") {
			continue
		}
		list = append(list, Growth{ID: is.ID, Wider: wider, Steps: is.steps(), At: b.activities[i].rule.Template.At})
	}
	return list
}
