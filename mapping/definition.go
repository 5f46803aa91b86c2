package mapping

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
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
	now.Activities = append(now.Activities, gone(then.Activities, now.Activities)...)
	data, err := json.Marshal(now)
	if err != nil {
		panic("mapping: plain data that does not marshal: " + err.Error())
	}
	return string(data)
}

func (b *Binding) definition() definition {
	m := b.mapping
	d := definition{Key: texts(m.Client.Key), Space: b.keySpace}
	if b.keySpace == PhoneSpace {
		d.Verbatim = b.lookup.phone.conv.IsVerbatim()
	}
	for _, c := range m.Claims {
		key := texts(c.Key)
		for i, name := range key {
			if alias, ok := c.Columns[name]; ok {
				key[i] = alias.Text
			}
		}
		d.Claims = append(d.Claims, definedClaim{c.ID.Text, key})
	}
	for i := range b.acts {
		d.Activities = append(d.Activities, define(&b.acts[i]))
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
		b.complete(&then, now, b.mapping.Name.Text)
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
		b.complete(&then, now, name)
	}
	spaces := then.Space == now.Space || then.Space == name && now.Space == b.mapping.Name.Text
	return then.Space, spaces && then.Verbatim == now.Verbatim && slices.Equal(then.Key, now.Key) &&
		slices.EqualFunc(then.Claims, now.Claims, definedClaim.equal) && sameActivities(then.Activities, now.Activities)
}

func (c definedClaim) equal(d definedClaim) bool { return c.ID == d.ID && slices.Equal(c.Key, d.Key) }

// complete gives a definition that was recorded without its key space, for the
// mapping of that name, the one that it must have had, or may have had. When such
// records were made, a phone number was told apart by the text that was sent.
func (b *Binding) complete(then *definition, now definition, name string) {
	then.Space = now.Space
	if now.Space != EmailSpace && now.Space != PhoneSpace {
		then.Space = cmp.Or(then.KeySpace, name)
	}
	then.Verbatim = now.Verbatim || b.number != nil
}
