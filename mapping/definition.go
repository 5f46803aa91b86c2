package mapping

import (
	"claimsheet/mapping/problem/yamltree"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// definition is what the names of steps are made from: whose they are, the
// claim keys and the activities.
type definition struct {
	Key []string `json:"key"`
	// KeySpace is client.key_space as written, in records that do not have
	// Space yet.
	KeySpace   string            `json:"keySpace,omitempty"`
	Space      string            `json:"space,omitempty"`
	Verbatim   bool              `json:"verbatim,omitempty"` // phone numbers are told apart as texts
	Claims     []definedClaim    `json:"claims,omitempty"`
	Activities []definedActivity `json:"activities,omitempty"`
}

type definedClaim struct {
	ID  string   `json:"id"`
	Key []string `json:"key"`
}

// Definition is what the names of steps are made from, as JSON: the client key
// and what it is a key of, the claim keys, and of each activity its id, its
// template and its scope. recorded is the definition that was stored before, ""
// for none: activities that are no longer in the mapping stay in it, because
// steps may have their ids.
func (b *Binding) Definition(recorded string) string {
	var then definition
	_ = json.Unmarshal([]byte(recorded), &then) // what cannot be read was refused, or is replaced on purpose
	now := b.definition()
	now.Activities = append(now.Activities, removed(then.Activities, now.Activities)...)
	data, err := json.Marshal(now)
	if err != nil {
		panic("mapping: plain data that does not marshal: " + err.Error())
	}
	return string(data)
}

func (b *Binding) definition() definition {
	m := b.mapping
	d := definition{Key: scalarTexts(m.Client.Key), Space: b.keySpace}
	if b.keySpace == PhoneSpace {
		d.Verbatim = b.lookup.phone.conv.IsVerbatim()
	}
	for _, c := range m.Claims {
		key := scalarTexts(c.Key)
		for i, name := range key {
			if alias, ok := c.Columns[name]; ok {
				key[i] = alias.Text
			}
		}
		d.Claims = append(d.Claims, definedClaim{c.ID.Text, key})
	}
	for i := range b.activities {
		d.Activities = append(d.Activities, defined(&b.activities[i]))
	}
	return d
}

// Redefined tells in words which keys are no longer as in a definition that was
// recorded before; nil when clients and claims have the names that they had. Of
// the activities, see Renamed and Grown.
func (b *Binding) Redefined(recorded string) []string {
	var then definition
	_ = json.Unmarshal([]byte(recorded), &then) // what cannot be read is not as it was
	now := b.definition()
	if then.Space == "" {
		b.completeRecord(&then, now, b.mapping.Name.Text)
	}
	var changes []string
	if !slices.Equal(then.Key, now.Key) {
		changes = append(changes, "another client key")
	}
	if then.Space != now.Space {
		changes = append(changes, fmt.Sprintf("the key space “%s” where it is now “%s”", then.Space, now.Space))
	} else if then.Verbatim != now.Verbatim {
		changes = append(changes, "phone numbers told apart in another way")
	}
	if !slices.EqualFunc(then.Claims, now.Claims, definedClaim.equal) {
		changes = append(changes, "other claim keys")
	}
	return changes
}

// SameAs reports whether the definition that was recorded for another mapping is
// this one's but for the name: steps would be made again under the new name. space
// is the key space of that mapping's clients.
func (b *Binding) SameAs(recorded, name string) (space string, same bool) {
	var then definition
	if json.Unmarshal([]byte(recorded), &then) != nil {
		return "", false
	}
	now := b.definition()
	if then.Space == "" {
		b.completeRecord(&then, now, name)
	}
	spaces := then.Space == now.Space || then.Space == name && now.Space == b.mapping.Name.Text
	return then.Space, spaces && then.Verbatim == now.Verbatim && slices.Equal(then.Key, now.Key) &&
		slices.EqualFunc(then.Claims, now.Claims, definedClaim.equal) && sameActivities(then.Activities, now.Activities)
}

func (c definedClaim) equal(d definedClaim) bool { return c.ID == d.ID && slices.Equal(c.Key, d.Key) }

// complete gives a definition that was recorded without its key space, for the
// mapping of that name, the one that it must have had, or may have had. When such
// records were made, a phone number was told apart by the text that was sent.
func (b *Binding) completeRecord(then *definition, now definition, name string) {
	then.Space = now.Space
	if now.Space != EmailSpace && now.Space != PhoneSpace {
		then.Space = cmp.Or(then.KeySpace, name)
	}
	then.Verbatim = now.Verbatim || b.phoneKey != nil
}

// definedActivity is what is remembered of an activity by whose id steps are
// named.
type definedActivity struct {
	ID string `json:"id"`
	On string `json:"on"`
	// Template and TemplateID are the template's name and its id in the
	// environment: the operator of the service may change the one, or make the
	// other anew. Older records have neither.
	Template   string `json:"template,omitempty"`
	TemplateID string `json:"templateId,omitempty"`
	Holds      string `json:"holds,omitempty"` // a digest of its condition and its attributes
	Gone       bool   `json:"gone,omitempty"`  // it is no longer in the mapping
}

// UnmarshalJSON reads also what older records hold: the id and the scope as one
// text.
func (a *definedActivity) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		type plain definedActivity
		return json.Unmarshal(data, (*plain)(a))
	}
	var text string
	err := json.Unmarshal(data, &text)
	at := max(strings.LastIndexByte(text, '@'), 0)
	*a = definedActivity{ID: text[:at], On: strings.TrimPrefix(text[at:], "@")}
	return err
}

func defined(a *boundActivity) definedActivity {
	rule := a.rule
	holds, err := json.Marshal(struct {
		When       yamltree.Scalar
		Attributes []AttributeRule
	}{rule.When, rule.Attributes})
	if err != nil {
		panic("mapping: plain data that does not marshal: " + err.Error())
	}
	sum := sha256.Sum256(holds)
	return definedActivity{ID: rule.ID.Text, On: rule.On.Text, Template: rule.Template.Text, TemplateID: a.template.ID,
		Holds: hex.EncodeToString(sum[:8])}
}

// isAlike reports whether two activities are made from one template. Of an older
// record that is not known, and taken to be so.
func (a definedActivity) sameTemplate(b definedActivity) bool {
	return a.Template == "" || b.Template == "" || a.Template == b.Template || a.TemplateID != "" && a.TemplateID == b.TemplateID
}

// meets reports whether two activities can be on one client or on one claim.
func (a definedActivity) overlaps(b definedActivity) bool {
	const client, everyClaim = "client", "claim"
	return a.On == b.On || a.On != client && b.On != client && (a.On == everyClaim || b.On == everyClaim)
}

// is reports whether steps of the one have the names of the other's.
func (a definedActivity) sameSteps(b definedActivity) bool { return a.ID == b.ID && a.overlaps(b) }

func (a definedActivity) findIn(list []definedActivity) (definedActivity, bool) {
	i := slices.IndexFunc(list, a.sameSteps)
	if i < 0 {
		return definedActivity{}, false
	}
	return list[i], true
}

// gone are the activities of a record that are no longer in the mapping, but
// for those in whose place another stands now.
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

// replaces reports whether an activity would do again what another one of the
// record did: it has come in its place, or holds now what that held.
func (a definedActivity) replaces(was definedActivity, then, now []definedActivity) bool {
	before, known := a.findIn(then)
	after, still := was.findIn(now)
	switch {
	case a.sameSteps(was) || !a.sameTemplate(was):
		return false
	case a.ID == was.ID: // on the client where it was on claims, or the reverse
		return !known
	case !a.overlaps(was):
		return false
	case !still && !known:
		return true
	}
	moved := was.Holds != "" && a.Holds == was.Holds
	return moved && (!known || before.Holds != a.Holds) && (!still || after.Holds != was.Holds)
}

// sameActivities reports whether a record has the very activities of a mapping, in
// whatever order.
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

// Renaming is an activity that would do again, under another name, what is done.
type Renaming struct {
	Was, Now string // in words, with the scope where that has changed
	Steps    string // how the names begin of the steps that would be done again
	At       yamltree.Place
}

// Renamed are the activities that would do again what those of a definition that
// was recorded before have done: another id for the same template and scope,
// whether or not there was a time between without either; ids that were
// exchanged; an id that has gone from the client to claims, or the reverse.
// Whether anything was done is for the ledger to say.
func (b *Binding) Renamed(recorded string) []Renaming {
	var then definition
	_ = json.Unmarshal([]byte(recorded), &then)
	now := b.definition().Activities
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

// steps is how the names of an activity's steps begin.
func (a definedActivity) steps() string {
	if a.On == "client" {
		return "activity/" + a.ID + "@client"
	}
	return "activity/" + a.ID + "@"
}

// Growth is an activity that is new in a mapping, or on more claims.
type Growth struct {
	ID    string
	Wider bool   // it is not new, but on more claims than it was
	Steps string // how the names of its steps begin
	At    yamltree.Place
}

// Grown are the activities that a definition that was recorded before did not
// have, had no longer or had on fewer claims, in the mapping's order.
func (b *Binding) Grown(recorded string) []Growth {
	var then definition
	_ = json.Unmarshal([]byte(recorded), &then)
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
