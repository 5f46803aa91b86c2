package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
	"fmt"
	"slices"
	"strings"
)

// Untyped is an attribute whose data type is given neither by the service nor
// by the mapping. It is sent as Text, and the user is warned.
type Untyped struct {
	Template  string // the activity template's name
	Attribute string
	At        problem.Where // in the mapping file

	rule *ValueRule
}

// Name is Template/Attribute.
func (u Untyped) Name() string { return u.Template + "/" + u.Attribute }

// warning says that the attribute is sent as Text, and how to give its type.
func (u Untyped) warning() problem.Problem {
	return problem.At(u.At, "untyped", "neither the service nor the mapping says the type of “%s” of “%s”: it is sent as Text", u.Attribute, u.Template).
		Hinted("say what it is: %s, or in place of Text the type of a date, a number or a tick: Date, DateTime, Number, Currency or Checkbox", u.yaml(convert.Text))
}

// yaml is what to write in the mapping to give the attribute a type.
func (u Untyped) yaml(t convert.Type) string {
	if source := u.rule; source.Column.Text != "" && source.At == source.Column.At { // a bare column
		return yamltree.Quote(u.Attribute) + ": {column: " + yamltree.Quote(source.Column.Text) + ", type: " + string(t) + "}"
	}
	return "add type: " + string(t) + " to “" + u.Attribute + "”"
}

// Untyped returns the attributes of unknown type, in the mapping's order.
func (b *Binding) Untyped() []Untyped { return b.untyped }

// noteUntyped notes an attribute of unknown type, once for each place in the
// mapping, and returns its number from 1. A typed constant of such an
// attribute is an error, and so is an option that only another type has.
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

const textInstead = "; if it is a text, type: Text"

// likelyType returns the type that the options of a value are for.
func (v *ValueRule) likelyType() convert.Type {
	switch {
	case v.Type.Text != "":
		return convert.Type(v.Type.Text)
	case v.Format.Text != "":
		return convert.Date
	case v.Percent:
		return convert.Number
	case v.Checked != nil || v.Unchecked != nil:
		return convert.Checkbox
	}
	return convert.Text
}

// isTyped reports whether the file says that a cell is more than a text.
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

// likelyType returns the type to propose for a cell, or for a constant when c
// is empty.
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

// CellNote is a cell that makes the mapping doubtful: a date, number or boolean under
// an attribute of unknown type, which would be sent as Text; or an empty part of a text.
type CellNote struct {
	about    int // the number of the attribute, from 1; negative for the number of the text
	row      cell.Row
	column   int
	kind     cell.Kind
	likely   convert.Type
	computed bool // an expression gives it; the cells are texts
}

// noteTyped notes the row's typed cell under an attribute of unknown type.
func (r *rowConverter) noteTyped(v *boundValue) {
	if v.untyped == 0 {
		return
	}
	if c, ok := v.typedCell(r.record); ok {
		c.about, c.row = v.untyped, r.row.Row
		r.row.Notes = append(r.row.Notes, c)
	}
}

// numberText gives a text with several parts a number, from 1, under which its empty
// parts are counted.
func (b *binder) numberText(v *boundValue, rule *ValueRule) {
	if v.text == nil || len(v.columns) < 2 {
		return
	}
	if v.number = 1 + slices.Index(b.texts, rule); v.number == 0 { // else it is on another claims entry, too
		b.texts = append(b.texts, rule)
		v.number = len(b.texts)
	}
}

// noteEmptyPart notes a part of a text that is empty in a row.
func (r *rowConverter) noteEmptyPart(v *boundValue, it fieldValue) {
	if v.number == 0 || it.value.IsZero() {
		return
	}
	for i, c := range v.columns {
		if convert.FoldSpace(it.source.Texts[i]) == "" {
			r.row.Notes = append(r.row.Notes, CellNote{about: -v.number, row: r.row.Row, column: c})
			return
		}
	}
}

// emptyPart warns of a text of which a part is empty in some rows.
func (b *Binding) emptyPart(rule *ValueRule, c *noteCount) problem.Problem {
	at := b.At(c.first.column, c.first.row)
	at.Copy = problem.Copy{} // it is about the mapping
	rows := "1 row"
	if c.count > 1 {
		rows = fmt.Sprintf("%d rows, first", c.count)
	}
	t, _ := parseTemplateText(rule.Text.Text) // checked by Parse
	return problem.At(b.mapping.At(rule.Text.At), "empty-part", "a part of this text is empty in %s in %s (%s): what stands around it is sent all the same",
		rows, at, b.header(c.first.column, c.first.row)).
		Hinted("join: [%s] in place of text leaves out what is empty, and with: says what stands between the rest", strings.Join(t.names(), ", "))
}

// typedCell returns the first typed cell that a value is made from. For
// first_of that is only the cell that counts; a text and an expression are
// made from all their cells. An expression can also turn texts into something
// typed.
func (v *boundValue) typedCell(r cell.Record) (CellNote, bool) {
	for _, c := range v.columns {
		switch in := r.Cell(c); {
		case isTyped(in.Kind):
			return CellNote{column: c, kind: in.Kind, likely: likelyType(in.Kind, in)}, true
		case v.expr == nil && !v.isComposed() && !in.IsEmpty():
			return CellNote{}, false
		}
	}
	if v.expr == nil {
		return CellNote{}, false
	}
	kind := v.expr.Kind(r)
	return CellNote{kind: kind, likely: likelyType(kind, cell.Cell{}), computed: true}, isTyped(kind)
}

// CellNotes counts what is noted of cells, over the rows of a run. The zero value
// has nothing. It is not safe for concurrent use.
type CellNotes struct {
	found map[int]*noteCount // by CellNote.about
}

type noteCount struct {
	first CellNote
	count int
}

// Add counts a row's notes. Rows must come in the order of the sheets.
func (t *CellNotes) Add(notes []CellNote) {
	for _, c := range notes {
		if t.found == nil {
			t.found = map[int]*noteCount{}
		}
		if t.found[c.about] == nil {
			t.found[c.about] = &noteCount{first: c}
		}
		t.found[c.about].count++
	}
}

// NotesCells reports whether rows may have notes.
func (b *Binding) NotesCells() bool { return len(b.untyped) > 0 || len(b.texts) > 0 }

// CheckCells checks the mapping against what is noted of cells. An attribute of unknown
// type that has typed cells is an error: sent as Text, a date would not be a date at the
// service. The others get a warning, and so does a text of which a part is empty.
func (b *Binding) CheckCells(cells CellNotes) (wrong, warnings problem.List) {
	for i, rule := range b.texts {
		if c := cells.found[-i-1]; c != nil {
			warnings = append(warnings, b.emptyPart(rule, c))
		}
	}
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
		at.Copy = problem.Copy{} // nothing is sent, so there is no results workbook
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
