package mapping

import (
	"fmt"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// TypedCell is a date, number or boolean under an attribute whose type nobody
// says: it would be sent as Text.
type TypedCell struct {
	untyped int // the attribute's number, from 1
	row     cell.Row
	column  int
	kind    cell.Kind
	likely  convert.Type
	made    bool // not the cell is typed but what an expression makes of the row
}

// noteTyped notes the row's typed cell under an attribute whose type nobody
// says.
func (r *reader) noteTyped(v *boundValue) {
	if v.untyped == 0 {
		return
	}
	if c, ok := v.typedCell(r.record); ok {
		c.untyped, c.row = v.untyped, r.lead.Row
		r.lead.Typed = append(r.lead.Typed, c)
	}
}

// typedCell is the first typed cell that a row's value is made from. Of several
// columns of which the first filled one counts, it is that one; a text and an
// expression are made from all of theirs. What an expression makes of texts may
// be typed too.
func (v *boundValue) typedCell(r cell.Record) (TypedCell, bool) {
	for _, c := range v.columns {
		switch in := r.Cell(c); {
		case isTyped(in.Kind):
			return TypedCell{column: c, kind: in.Kind, likely: likelyType(in.Kind, in)}, true
		case v.expr == nil && v.text == nil && !in.IsEmpty():
			return TypedCell{}, false
		}
	}
	if v.expr == nil {
		return TypedCell{}, false
	}
	kind := v.expr.Kind(r)
	return TypedCell{kind: kind, likely: likelyType(kind, cell.Cell{}), made: true}, isTyped(kind)
}

// TypedCells counts the typed cells under attributes whose type nobody says, of
// the rows of a run. The zero value has none. It is not safe for concurrent
// use.
type TypedCells struct {
	found map[int]*typedCount // by the attribute's number
}

type typedCount struct {
	first TypedCell
	count int
}

// Add counts a row's cells. The rows come in the order of the sheets.
func (t *TypedCells) Add(cells []TypedCell) {
	for _, c := range cells {
		if t.found == nil {
			t.found = map[int]*typedCount{}
		}
		if t.found[c.untyped] == nil {
			t.found[c.untyped] = &typedCount{first: c}
		}
		t.found[c.untyped].count++
	}
}

// CheckTypes looks at the attributes whose type nobody says. Where cells under
// one are typed that is an error: sent as Text, a date would be no date at the
// service. The others are warned of. Each stands in one of the lists, once.
func (b *Binding) CheckTypes(cells TypedCells) (wrong, warnings problem.List) {
	for i, u := range b.untyped {
		c := cells.found[i+1]
		if c == nil {
			warnings = append(warnings, u.warning())
			continue
		}
		at := b.At(c.first.column, c.first.row)
		if c.first.made {
			at = b.AtRow(c.first.row)
		}
		at.Copy = problem.Copy{} // nothing is sent, so no results workbook is made
		what, more := at.String()+" holds ", ""
		if c.first.made {
			what = "its expression gives for " + at.String() + " "
		}
		if c.count > 1 {
			more = fmt.Sprintf(" (the first of %d)", c.count)
		}
		wrong = append(wrong, problem.At(u.At, "untyped",
			"neither the service nor the mapping says the type of “%s” of “%s”, and %s%s%s, which would be sent as Text",
			u.Attribute, u.Template, what, kindInWords(c.first.kind), more).
			Hinted("say what it is: %s%s", u.yaml(c.first.likely), textInstead))
	}
	return wrong, warnings
}
