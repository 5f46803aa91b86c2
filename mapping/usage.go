package mapping

import (
	"fmt"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Columns returns how many columns the mapping names.
func (b *Binding) Columns() int { return len(b.named) }

// Templates returns how many activity templates the mapping names.
func (m *Mapping) Templates() int {
	names := map[string]bool{}
	for _, a := range m.Activities {
		names[a.Template.Text] = true
	}
	return len(names)
}

// mostListed limits how many columns or attributes a warning names.
const mostListed = 12

// UnusedColumns warns of columns that have a header and that the mapping never uses,
// in one warning for each sheet.
func (b *Binding) UnusedColumns() problem.List {
	tables := b.tables
	if tables == nil {
		tables = []*Binding{b}
	}
	var list problem.List
	for _, t := range tables {
		var unused []string
		for i := range t.sheet.Header {
			if t.headers[i] != "" && !t.used[i] {
				unused = append(unused, fmt.Sprintf("“%s” (%s)", t.sheet.ColumnLabel(i), cell.ColumnName(i)))
			}
		}
		if len(unused) > 0 {
			list = append(list, problem.At(t.sheet.AtRow(t.sheet.HeaderRow), "unused-columns", "the mapping never uses the %s", named("column", unused)).
				Hinted("map what is meant to be sent; the results workbook keeps the rest"))
		}
	}
	return list
}

// UnfilledAttributes warns of attributes of a back-filled activity's template that no
// key of the mapping fills, in one warning for each activity.
func UnfilledAttributes(m *Mapping, service *Service) problem.List {
	b := &binder{checker: checker{file: m.File}, mapping: m, service: service}
	var list problem.List
	for i := range m.Activities {
		a := &m.Activities[i]
		if a.Status == Open || len(a.Attributes) == 0 {
			continue
		}
		template, ok := b.template(a.Template)
		if !ok {
			continue // Bind reports it
		}
		filled := map[string]bool{}
		for _, attr := range a.Attributes {
			if found, ok := b.attribute(template, attr.Name); ok {
				filled[found.ID] = true
			}
		}
		var unfilled []string
		for _, attr := range template.Attributes {
			if !filled[attr.ID] {
				unfilled = append(unfilled, "“"+attr.Name+"”")
			}
		}
		if len(unfilled) > 0 {
			list = append(list, problem.At(m.At(a.Template.At), "unfilled-attributes", "no key fills the %s of the template “%s”", named("attribute", unfilled), a.Template.Text).
				Hinted("add keys for what the sheet knows; clients fill in the rest"))
		}
	}
	return list
}

// named is a noun with its names, as many as can be read.
func named(noun string, names []string) string {
	if len(names) == 1 {
		return noun + " " + names[0]
	}
	more := ""
	if rest := len(names) - mostListed; rest > 0 {
		names, more = names[:mostListed], fmt.Sprintf(" and %d more", rest)
	}
	return noun + "s " + strings.Join(names, ", ") + more
}
