package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
	"fmt"
	"strings"
)

// Untyped is an attribute of the mapping whose data type neither the service
// nor the mapping says. It is sent as Text, which must not go unnoticed.
type Untyped struct {
	Template  string // the activity template's name
	Attribute string
	At        problem.Where // in the mapping file

	rule *ValueRule
}

// Name is Template/Attribute.
func (u Untyped) Name() string { return u.Template + "/" + u.Attribute }

// warning says that the attribute is sent as Text, and how to say its type.
func (u Untyped) warning() problem.Problem {
	return problem.At(u.At, "untyped", "neither the service nor the mapping says the type of “%s” of “%s”: it is sent as Text", u.Attribute, u.Template).
		Hinted("say what it is: %s", u.yaml(convert.Text))
}

// yaml is what to write in the mapping to give the attribute a type.
func (u Untyped) yaml(t convert.Type) string {
	if source := u.rule; source.Column.Text != "" && source.At == source.Column.At { // a bare column
		return yamltree.Quote(u.Attribute) + ": {column: " + yamltree.Quote(source.Column.Text) + ", type: " + string(t) + "}"
	}
	return "add type: " + string(t) + " to “" + u.Attribute + "”"
}

// Untyped lists the attributes whose type nobody says, as the mapping lists
// them.
func (b *Binding) Untyped() []Untyped { return b.untyped }

// noteUntyped notes an attribute whose type nobody says, once for each place in
// the mapping, and returns its number from 1. What the mapping itself says in a
// typed way, or reads by an option that only another type has, is an error.
func (b *binder) noteUntyped(template string, attr *AttributeRule) int {
	at := problem.Where{File: b.file, Line: attr.Name.At.Line, Column: attr.Name.At.Column}
	for i, u := range b.untyped {
		if u.At == at { // the same attribute on another claims entry
			return i + 1
		}
	}
	u := Untyped{Template: template, Attribute: attr.Name.Text, At: at, rule: &attr.Value}
	b.untyped = append(b.untyped, u)
	rule := &attr.Value
	refuse := func(at yamltree.Place, what string, t convert.Type) {
		b.wrongAt(at, "untyped", "neither the service nor the mapping says the type of “%s” of “%s”, and %s", u.Attribute, template, what).
			Hint = "say what it is: " + u.yaml(t) + textInstead
	}
	if t := rule.likelyType(); t != convert.Text {
		refuse(rule.optionsAt(), "it has an option of another type than Text", t)
	}
	if rule.hasConstant && rule.constantKind != cell.Text {
		refuse(rule.Constant.At, "its constant is "+kindInWords(rule.constantKind)+", which would be sent as Text", likelyType(rule.constantKind, cell.Cell{}))
	}
	if rule.Default != nil && rule.defaultKind != cell.Text {
		refuse(rule.Default.At, "its default is "+kindInWords(rule.defaultKind)+", which would be sent as Text", likelyType(rule.defaultKind, cell.Cell{}))
	}
	return len(b.untyped)
}

const textInstead = "; where it is a text all the same, type: Text"

// likelyType is the type that the options of a value are for.
func (v *ValueRule) likelyType() convert.Type {
	switch {
	case v.Type.Text != "":
		return convert.Type(v.Type.Text)
	case v.Format.Text != "":
		return convert.Date
	case v.Checked != nil || v.Unchecked != nil:
		return convert.Checkbox
	}
	return convert.Text
}

// isTyped reports that a file says more of a cell than that it is a text.
func isTyped(k cell.Kind) bool { return k == cell.Number || k == cell.Date || k == cell.Bool }

func kindInWords(k cell.Kind) string {
	switch k {
	case cell.Number:
		return "a number"
	case cell.Date:
		return "a date"
	case cell.Bool:
		return "a boolean"
	}
	return "a text"
}

// likelyType is the type to propose for a cell, or for a constant where there is
// none.
func likelyType(k cell.Kind, c cell.Cell) convert.Type {
	switch k {
	case cell.Number:
		if strings.ContainsAny(c.Format, "$£€¥") {
			return convert.Currency
		}
		return convert.Number
	case cell.Date:
		if strings.Contains(c.Shown, ":") {
			return convert.DateTime
		}
		return convert.Date
	case cell.Bool:
		return convert.Checkbox
	}
	return convert.Text
}

// TypedCell is a date, number or boolean under an attribute whose type nobody
// says: it would be sent as Text.
type TypedCell struct {
	untyped  int // the attribute's number, from 1
	row      cell.Row
	column   int
	kind     cell.Kind
	likely   convert.Type
	computed bool // not the cell is typed but what an expression makes of the row
}

// noteTyped notes the row's typed cell under an attribute whose type nobody
// says.
func (r *rowConverter) noteTyped(v *boundValue) {
	if v.untyped == 0 {
		return
	}
	if c, ok := v.typedCell(r.record); ok {
		c.untyped, c.row = v.untyped, r.row.Row
		r.row.Typed = append(r.row.Typed, c)
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
	return TypedCell{kind: kind, likely: likelyType(kind, cell.Cell{}), computed: true}, isTyped(kind)
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
		if c.first.computed {
			at = b.AtRow(c.first.row)
		}
		at.Copy = problem.Copy{} // nothing is sent, so no results workbook is made
		what, more := at.String()+" holds ", ""
		if c.first.computed {
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
