package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"cmp"
	"strings"
)

// Identity identifies a client within an environment: plans, sheets and
// mappings that agree on it mean the same client. In the spaces email and
// phone the key is an address: in lower case, or in E.164 whatever the format
// in which a mapping sends it. A number that is sent as written is that text.
type Identity struct {
	Space string // email, phone, or a name that the mapping gives; keys of different spaces are different clients
	Key   string // trimmed, white space folded; lower case in the space email
}

// The key spaces of clients that are identified by what a look-up asks for.
const (
	EmailSpace = "email"
	PhoneSpace = "phone"
)

// keySpace returns what the client key is a key of. It is email or phone when
// the key is exactly the column of that look-up, so that all mappings mean the
// same client by it.
func keySpace(m *Mapping, bound *Binding) string {
	return cmp.Or(bound.lookup.space(bound.key), m.Client.KeySpace.Text, m.Name.Text)
}

// KeySpace is the Space of every Identity that the binding makes.
func (b *Binding) KeySpace() string { return b.keySpace }

// identity reads the client's key cells.
func (r *rowConverter) identity() Identity {
	return r.identityIn(r.b.keySpace, r.b.key, &r.row.personValues, "the client key")
}

// identityIn reads the key cells of a client or of a further contact; what names
// the key in messages.
func (r *rowConverter) identityIn(space string, columns []int, v *personValues, what string) Identity {
	switch space {
	case EmailSpace:
		return r.lookupIdentity(v.email, space, columns[0], what)
	case PhoneSpace:
		return r.lookupIdentity(v.phone, space, columns[0], what)
	}
	if key, ok := r.key(columns, what); ok {
		return Identity{space, key}
	}
	return Identity{}
}

// lookupIdentity returns the identity of a converted look-up value, so that it
// is the same however the cell is written.
func (r *rowConverter) lookupIdentity(it fieldValue, space string, column int, what string) Identity {
	if it.value.IsZero() {
		if r.record.Cell(column).IsEmpty() {
			r.refuse(column, convert.CellError{Code: "empty-key", Message: "is empty; it is " + what, Hint: "fill the cell, or delete the row"})
		}
		return Identity{}
	}
	return addressIdentity(space, it)
}

// addressIdentity returns the identity of a converted e-mail address or phone
// number.
func addressIdentity(space string, it fieldValue) Identity {
	key := convert.FoldKey(cmp.Or(it.e164, it.value.Literal))
	if space == EmailSpace {
		key = convert.FoldEmail(key)
	}
	return Identity{space, key}
}

// Identity returns the client with a key, written as in the sheet or as a
// workbook shows it.
func (b *Binding) Identity(key string) Identity {
	c := cell.Cell{Kind: cell.Text, Raw: key, Shown: key}
	literal := func(conv *convert.Converter) string {
		if value, refusal := conv.Convert(c); refusal == nil {
			return value.Literal
		}
		return key
	}
	switch {
	case b.keySpace == EmailSpace:
		key = convert.FoldEmail(literal(&b.lookup.email.conv))
	case b.phoneKey != nil:
		key = literal(b.phoneKey)
	case b.keySpace == PhoneSpace:
		key = literal(&b.lookup.phone.conv)
	}
	return Identity{b.keySpace, convert.FoldKey(key)}
}

// key joins key cells. The parts of a composite key are escaped, so that two
// different keys never join to the same text.
func (r *rowConverter) key(columns []int, what string) (string, bool) {
	parts := make([]string, len(columns))
	ok := true
	for i, c := range columns {
		part, refusal := convert.Key(r.record.Cell(c))
		if refusal == nil && part == "" {
			refusal = &convert.CellError{Code: "empty-key", Message: "is empty; it is part of " + what, Hint: "fill the cell"}
		}
		if refusal != nil {
			r.refuse(c, *refusal)
			ok = false
		}
		if len(columns) > 1 {
			part = strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(part)
		}
		parts[i] = part
	}
	return strings.Join(parts, "|"), ok
}
