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
func (b *Binding) KeySpace() string { return b.parts[0].space }

// identity reads the key cells of a client or of a further contact.
func (r *rowConverter) identity(p *boundPart, part *rowPart) Identity {
	if it := part.value(p.keyAddress); !it.value.IsZero() || it.refused != nil { // the same however the cell is written
		return addressIdentity(it.of.conv.Type, it)
	}
	key, ok := r.key(p)
	if !ok {
		return Identity{}
	}
	return Identity{p.space, key}
}

// addressIdentity returns the identity of a converted e-mail address or phone
// number; zero for an empty or a refused one, and for a value of another type.
func addressIdentity(t convert.Type, it *fieldValue) Identity {
	key := convert.FoldKey(cmp.Or(it.e164, it.value.Literal))
	switch {
	case it.value.IsZero():
	case t == convert.Email:
		return Identity{EmailSpace, strings.ToLower(key)}
	case t == convert.Phone:
		return Identity{PhoneSpace, key}
	}
	return Identity{}
}

// Identity returns the client with a key, written as in the sheet or as a workbook shows it.
func (b *Binding) Identity(key string) Identity {
	client := b.parts[0]
	if v := client.keyAddress; v != nil {
		it := fieldValue{of: v}
		if refusal := v.convert(textCell(key), &it); refusal == nil {
			return addressIdentity(v.conv.Type, &it)
		}
	}
	if key = convert.FoldKey(key); client.space == EmailSpace {
		key = strings.ToLower(key)
	}
	return Identity{client.space, key}
}

var escapeKeyPart = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// key joins key cells. The parts of a composite key are escaped, so that two
// different keys never join to the same text.
func (r *rowConverter) key(p *boundPart) (string, bool) {
	parts := make([]string, len(p.key))
	ok := true
	for i, c := range p.key {
		part, refusal := convert.Key(r.record.Cell(c))
		if refusal == nil && part == "" {
			refusal = &convert.CellError{Code: "empty-key", Message: "is empty; it is part of " + p.keyName,
				Hint: "fill the cell, or leave such rows or claims out with when"}
		}
		if refusal != nil {
			r.refuse(c, *refusal)
			ok = false
		}
		if len(p.key) > 1 {
			part = escapeKeyPart.Replace(part)
		}
		parts[i] = part
	}
	return strings.Join(parts, "|"), ok
}

// Person is the client of a row, or a further contact that the row names.
type Person struct {
	Who       Identity   // zero when the key cannot be read
	Addresses []Identity // from the look-ups and from the payload, each once
	Asked     []Identity // those by which the person is looked up, and which decide who it is
}

// People returns the client of a row and the further contacts that it names, also where cells of the row are wrong.
func (b *Binding) People(row ConvertedRow) []Person {
	if row.Skipped != "" {
		return make([]Person, 1)
	}
	var people []Person
	for i := range row.parts {
		if part := &row.parts[i]; b.parts[part.entry].kind != ClaimStep {
			p := b.parts[part.entry]
			people = append(people, Person{part.who, p.addresses(part.values), p.lookup(part.values).Asked()})
		}
	}
	return people
}

// addresses returns the addresses among a person's values, each once.
func (p *boundPart) addresses(values []fieldValue) (list []Identity) {
	for i, v := range p.values {
		if who := addressIdentity(v.conv.Type, &values[i]); who != (Identity{}) && !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	return list
}

// lookup returns how the service is asked for a person with these values.
func (p *boundPart) lookup(values []fieldValue) Lookup {
	l := Lookup{Mode: p.mode}
	if p.email != nil {
		it := &values[p.email.slot]
		l.Email, l.EmailAddress = it.value.Literal, addressIdentity(convert.Email, it)
	}
	if p.phone != nil {
		it := &values[p.phone.slot]
		l.Phone, l.PhoneNumber = it.value.Literal, addressIdentity(convert.Phone, it)
	}
	return l
}
