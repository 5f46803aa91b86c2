package mapping

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// definition is what the names of steps are made from: whose they are, the
// claim keys and the activity ids.
type definition struct {
	Key []string `json:"key"`
	// KeySpace is client.key_space as written, in records that do not have
	// Space yet.
	KeySpace   string         `json:"keySpace,omitempty"`
	Space      string         `json:"space,omitempty"`
	Verbatim   bool           `json:"verbatim,omitempty"` // phone numbers are told apart as texts
	Claims     []definedClaim `json:"claims,omitempty"`
	Activities []string       `json:"activities,omitempty"`
}

type definedClaim struct {
	ID  string   `json:"id"`
	Key []string `json:"key"`
}

// Definition is what the names of steps are made from, as JSON: the client key
// and what it is a key of, the claim keys and the activity ids. A mapping whose
// definition changes under the same name would ask for everything again under
// new names.
func (b *Binding) Definition() string {
	data, err := json.Marshal(b.definition())
	if err != nil {
		panic("mapping: plain data that does not marshal: " + err.Error())
	}
	return string(data)
}

func (b *Binding) definition() definition {
	m := b.mapping
	d := definition{Key: texts(m.Client.Key), Space: b.keySpace}
	if b.keySpace == phoneSpace {
		d.Verbatim = isVerbatim(b.lookup.phone.conv)
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
	for _, a := range m.Activities {
		d.Activities = append(d.Activities, a.ID.Text+"@"+a.On.Text)
	}
	return d
}

// Redefined tells in words what is no longer as in a definition that was
// recorded before; nil when steps have the names that they had.
func (b *Binding) Redefined(recorded string) []string {
	var then definition
	_ = json.Unmarshal([]byte(recorded), &then) // what cannot be read is not as it was
	now := b.definition()
	if then.Space == "" {
		b.complete(&then, now)
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
	if !slices.EqualFunc(then.Claims, now.Claims, func(a, b definedClaim) bool { return a.ID == b.ID && slices.Equal(a.Key, b.Key) }) {
		changes = append(changes, "other claim keys")
	}
	if !slices.Equal(then.Activities, now.Activities) {
		changes = append(changes, "other activity ids")
	}
	return changes
}

// complete gives a definition that was recorded without its key space the one
// that it must have had, or may have had. When such records were made, a phone
// number was told apart by the text that was sent.
func (b *Binding) complete(then *definition, now definition) {
	then.Space = now.Space
	if now.Space != emailSpace && now.Space != phoneSpace {
		then.Space = cmp.Or(then.KeySpace, b.mapping.Name.Text)
	}
	then.Verbatim = now.Verbatim || b.number != nil
}
