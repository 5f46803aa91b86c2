package mapping

import (
	"cmp"
	"slices"
	"strings"

	"claimsheet/mapping/convert"
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

// KeySpace is the Space of every Identity that the binding makes.
func (b *Binding) KeySpace() string { return b.client.space }

// identity reads the key cells of a client or of a further contact; what names
// the key in messages.
func (r *rowConverter) identity(p *boundPerson, part *rowPart, what string) Identity {
	it := &part.email
	switch p.space {
	case EmailSpace:
	case PhoneSpace:
		it = &part.phone
	default:
		if key, ok := r.key(p.key, what); ok {
			return Identity{p.space, key}
		}
		return Identity{}
	}
	if !it.value.IsZero() { // the same however the cell is written
		return addressIdentity(p.space, it)
	}
	if column := p.key[0]; r.record.Cell(column).IsEmpty() {
		r.refuse(column, convert.CellError{Code: "empty-key", Message: "is empty; it is " + what, Hint: "fill the cell, or delete the row"})
	}
	return Identity{}
}

// addressIdentity returns the identity of a converted e-mail address or phone
// number.
func addressIdentity(space string, it *fieldValue) Identity {
	key := convert.FoldKey(cmp.Or(it.e164, it.value.Literal))
	if space == EmailSpace {
		key = convert.FoldEmail(key)
	}
	return Identity{space, key}
}

// Identity returns the client with a key, written as in the sheet or as a
// workbook shows it.
func (b *Binding) Identity(key string) Identity {
	who := Identity{b.client.space, convert.FoldKey(key)}
	var v *boundValue
	switch who.Space {
	case EmailSpace:
		v, who.Key = b.client.email, convert.FoldEmail(who.Key)
	case PhoneSpace:
		v = b.client.phone
	default:
		return who
	}
	it := fieldValue{of: v}
	if refusal := v.convert(textCell(key), &it); refusal == nil {
		return addressIdentity(who.Space, &it)
	}
	return who
}

var escapeKeyPart = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

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
			part = escapeKeyPart.Replace(part)
		}
		parts[i] = part
	}
	return strings.Join(parts, "|"), ok
}

// ClientsAreContacts reports whether a client may be a further contact of another
// client: they have a key space in common.
func (b *Binding) ClientsAreContacts() bool {
	return slices.ContainsFunc(b.contacts, func(c boundPerson) bool { return c.space == b.client.space })
}

// People are whom a row speaks of.
type People struct {
	LookedUp []Identity // the addresses by which the row's client may be looked up
	Others   []Identity // its other addresses, and the keys and addresses of its further contacts
}

// People returns whom a converted row speaks of, beside the client's key.
func (b *Binding) People(row ConvertedRow) (p People) {
	asks := b.mapping.Client.Existing != Create
	p.note(&b.client, &row.client, asks)
	for i := range row.contacts {
		c := &row.contacts[i]
		if c.who != (Identity{}) {
			p.Others = append(p.Others, c.who)
		}
		p.note(&b.contacts[c.entry], c, false)
	}
	return p
}

// note adds the addresses of one person.
func (p *People) note(bound *boundPerson, v *rowPart, asks bool) {
	add := func(space string, it *fieldValue, asked bool) {
		if it.value.IsZero() {
			return
		}
		if who := addressIdentity(space, it); asked {
			p.LookedUp = append(p.LookedUp, who)
		} else if !slices.Contains(p.LookedUp, who) && !slices.Contains(p.Others, who) {
			p.Others = append(p.Others, who)
		}
	}
	add(EmailSpace, &v.email, asks)
	add(PhoneSpace, &v.phone, asks && (v.email.value.IsZero() || bound.mode != ""))
	for i := range v.fields {
		switch bound.fields[i].value.conv.Type {
		case convert.Email:
			add(EmailSpace, &v.fields[i], false)
		case convert.Phone:
			add(PhoneSpace, &v.fields[i], false)
		}
	}
}
