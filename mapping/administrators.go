package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Administration is somebody of a row who administers a claim that the row asks for,
// or who is to be created with administrator: false.
type Administration struct {
	Who         Identity
	Administers bool // else: administrator: false
	Column      int  // of the first cell of their key; 0 = A
}

// MixesAdministrators reports whether one person can be both in a sheet: somebody who
// administers claims, and somebody who is created with administrator: false.
func (b *Binding) MixesAdministrators() bool {
	m := b.mapping
	administer := map[string]bool{b.keySpace: m.administers(ClientRole)}
	for i := range b.contacts {
		c := &b.contacts[i]
		administer[c.space] = administer[c.space] || m.administers(c.id)
	}
	mixes := !m.Client.Administrator && administer[b.keySpace]
	for i := range b.contacts {
		mixes = mixes || !b.contacts[i].administrator && administer[b.contacts[i].space]
	}
	return mixes
}

// AdministrationsOf returns who of a row administers its claims, and who of those that
// its claims name is created with administrator: false. A claim whose id the sheet
// gives is not created, and says nothing.
func (b *Binding) AdministrationsOf(row ConvertedRow) []Administration {
	if row.Client == (Identity{}) || len(row.Problems) > 0 {
		return nil
	}
	table := b.table(row.Row.Table())
	var list []Administration
	if !b.mapping.Client.Administrator {
		list = append(list, Administration{row.Client, false, first(table.key)})
	}
	add := func(role boundRole, administers bool) {
		switch v := row.contact(role.contact); {
		case role.id != "":
		case role.contact == clientScope && administers:
			list = append(list, Administration{row.Client, true, first(table.key)})
		case v != nil && v.who != (Identity{}) && (administers || !b.contacts[role.contact].administrator):
			list = append(list, Administration{v.who, administers, first(table.contacts[role.contact].key)})
		}
	}
	for i := range row.claims {
		if c := &row.claims[i]; c.known.value.IsZero() {
			rule := &b.claims[c.entry]
			add(rule.administrator, true)
			for _, role := range rule.claimants {
				add(role, false)
			}
		}
	}
	return list
}

// MixedAdministrator is the problem of a row with somebody of a role ("" for the
// client, else an id of contacts) who administers claims there, or is created with
// administrator: false, and at another place the reverse.
func (b *Binding) MixedAdministrator(role string, row cell.Row, administers bool, other problem.Where) problem.Problem {
	who, columns := "the client", b.table(row.Table()).key
	if i := b.mapping.contactIndex(role); i >= 0 {
		who, columns = "the contact “"+role+"”", b.table(row.Table()).contacts[i].key
	}
	here, there := "is created with administrator: false", "administers claims"
	if administers {
		here, there = there, here
	}
	column := first(columns)
	return problem.At(b.At(column, row), "administrator-conflict", "%s is that of %s, who %s, and by %s the same person %s",
		b.header(column, row), who, here, other, there).
		Hinted("take administrator: false out of the mapping, so that the person is created as an administrator; or take one of the rows out of the sheet")
}
