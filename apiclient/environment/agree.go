package environment

import (
	"maps"
	"slices"

	"claimsheet/mapping/problem"
)

// CheckAgreement reports the fields of wire.lookup_agree that are not among those
// that a mapping fills: nothing would be compared, and a stranger who has the
// client's address would be taken for the client.
func (e *Environment) CheckAgreement(fields []string) problem.List {
	var found problem.List
	for _, name := range slices.Sorted(maps.Keys(e.Wire.LookupAgree)) {
		if slices.Contains(fields, name) {
			continue
		}
		p := problem.At(e.agreeAt[name], "unfilled-field",
			"wire.lookup_agree compares the client field “%s” before a client is taken over, and the mapping does not fill it", shorten(name))
		p.Hint = "add it to client.fields of the mapping, or take it out of lookup_agree"
		if nearest, ok := problem.Nearest(name, fields); ok {
			p.Hint = "did you mean “" + nearest + "”? Otherwise " + p.Hint
		}
		found = append(found, p)
	}
	found.Sort()
	return found
}

// readWire also notes where the fields of lookup_agree stand: whether they make
// sense is known only with a mapping.
func readWire(r *reader, v value, e *Environment) {
	readObject(r, v, wireFields, &e.Wire)
	e.agreeAt = map[string]problem.Where{}
	for key, fields := range keysOf(v) {
		if key.Value != "lookup_agree" {
			continue
		}
		for field := range keysOf(fields) {
			e.agreeAt[field.Value] = r.at(field)
		}
	}
}
