package mapping

import (
	"strconv"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// Target is a value that the mapping takes from the rows, and the rule that says how.
type Target struct {
	Path     []string     // of the rule in the mapping file: activities, 0, attributes, Date of birth
	Type     convert.Type // as the service or the mapping settles it; Text when neither does
	Required bool
	Columns  []int // of the first sheet, 0 = A; empty for a constant
}

// Reading is what one row gives for a target.
type Reading struct {
	Target int        // its place among the Targets
	Value  cell.Value // zero when the cells are empty, or Wrong says why they cannot be used
	Source Source
	Wrong  *problem.Problem
}

// Targets returns what the mapping takes from the rows, in the mapping's order: the
// client with its look-up, further contacts, claims and activities. An attribute that is
// on several claims is one target.
func (b *Binding) Targets() []Target {
	var list []Target
	add := func(v *boundValue, path ...string) {
		if v != nil {
			list = append(list, Target{Path: path, Type: v.conv.Type, Required: v.required, Columns: v.columns})
		}
	}
	m := b.mapping
	add(b.knownID, "client", "known_id")
	add(b.lookup.email, "client", "lookup", "email")
	add(b.lookup.phone, "client", "lookup", "phone")
	for i := range b.fields {
		add(&b.fields[i].value, "client", "fields", m.Client.Fields[i].Name.Text)
	}
	for i := range b.contacts {
		c, entry := &b.contacts[i], strconv.Itoa(i)
		add(c.lookup.email, "contacts", entry, "lookup", "email")
		add(c.lookup.phone, "contacts", entry, "lookup", "phone")
		for k := range c.fields {
			add(&c.fields[k].value, "contacts", entry, "fields", m.Contacts[i].Fields[k].Name.Text)
		}
	}
	for i := range b.claims {
		add(&b.claims[i].name, "claims", strconv.Itoa(i), "name")
		add(b.claims[i].known, "claims", strconv.Itoa(i), "known_id")
	}
	for i := range b.activities {
		a := &b.activities[i]
		if p := a.anyPayload(); p != nil {
			for k := range p.attributes {
				add(&p.attributes[k].value, "activities", strconv.Itoa(i), "attributes", a.rule.Attributes[k].Name.Text)
			}
		}
	}
	return list
}

// anyPayload returns what the activity holds on the first scope that it is on; nil when
// it is on none.
func (a *boundActivity) anyPayload() *boundPayload {
	for _, p := range a.payloads {
		if p != nil {
			return p
		}
	}
	return nil
}

// Readings returns what a row gives for the Targets, in their order. It leaves out what
// the row does not ask for, such as the attributes of an activity that is Open; an
// attribute that is on several claims of the row comes once for each.
func (b *Binding) Readings(row ConvertedRow) []Reading {
	if row.Skipped != "" {
		return nil
	}
	var list []Reading
	next := 0
	read := func(there bool, it *fieldValue) {
		if !there {
			return
		}
		if it != nil {
			list = append(list, Reading{next, it.value, it.source, it.refused})
		}
		next++
	}
	person := func(lookup *boundLookup, fields []boundField, it *personValues) {
		if it == nil {
			it = &personValues{}
		}
		read(lookup.email != nil, &it.email)
		read(lookup.phone != nil, &it.phone)
		for i := range fields {
			if i < len(it.fields) {
				read(true, &it.fields[i])
			} else {
				read(true, nil)
			}
		}
	}
	read(b.knownID != nil, &row.knownID)
	person(&b.lookup, b.fields, &row.personValues)
	for i := range b.contacts {
		var it *personValues
		for k := range row.contacts {
			if row.contacts[k].entry == i {
				it = &row.contacts[k].personValues
			}
		}
		first := len(list)
		if person(&b.contacts[i].lookup, b.contacts[i].fields, it); it == nil {
			list = list[:first]
		}
	}
	for i := range b.claims {
		var it *claimValues
		for k := range row.claims {
			if row.claims[k].entry == i {
				it = &row.claims[k]
			}
		}
		if it == nil {
			read(true, nil)
			read(b.claims[i].known != nil, nil)
			continue
		}
		read(true, &it.name)
		read(b.claims[i].known != nil, &it.known)
	}
	acts := row.activities
	for i := range row.claims {
		acts = append(acts[:len(acts):len(acts)], row.claims[i].activities...)
	}
	for i := range b.activities {
		for k := range acts {
			if acts[k].index != i {
				continue
			}
			for n := range acts[k].attributes {
				it := &acts[k].attributes[n]
				list = append(list, Reading{next + n, it.value, it.source, it.refused})
			}
		}
		if p := b.activities[i].anyPayload(); p != nil {
			next += len(p.attributes)
		}
	}
	return list
}
