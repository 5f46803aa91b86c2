package mapping

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// untypedAttribute is an attribute whose data type is given neither by the service nor
// by the mapping. It is sent as Text, and the user is warned.
type untypedAttribute struct {
	template string // the activity template's name
	rule     *FieldRule
}

// Untyped returns the attributes of unknown type as “Template/Attribute”, each once, in the mapping's order.
func (b *Binding) Untyped() []string {
	var names []string
	for _, u := range b.untyped {
		if name := u.template + "/" + u.rule.Name.Text; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// says is what a message says of the attribute.
func (u untypedAttribute) says() string {
	return "neither the service nor the mapping says the type of “" + u.rule.Name.Text + "” of “" + u.template + "”"
}

// cure is the hint that says how to give the attribute a type.
func (u untypedAttribute) cure(t convert.Type, instead string) string {
	value := &u.rule.Value
	if value.Column.Text != "" && value.At == value.Column.At { // a bare column
		return fmt.Sprintf("say what it is: %s: {column: %s, type: %s}%s", yamltree.Quote(u.rule.Name.Text), yamltree.Quote(value.Column.Text), t, instead)
	}
	return fmt.Sprintf("say what it is: add type: %s to “%s”%s", t, u.rule.Name.Text, instead)
}

const orText = "; if it is a text, type: Text"

// noteParts has the empty parts of a text of several parts noted.
func (b *binder) noteParts(v *boundValue, rule *ValueRule) {
	if !v.hasParts() {
		return
	}
	v.rule = rule
	if !slices.Contains(b.texts, rule) { // it may be on several claims entries
		b.texts = append(b.texts, rule)
	}
}

// hasParts reports whether the value is a text of several parts.
func (v *boundValue) hasParts() bool { return v.text != nil && len(v.columns) > 1 }

// likelyType returns the type that the options of a value are for.
func (v *ValueRule) likelyType() convert.Type {
	switch {
	case v.Type.Text != "":
		return convert.Type(v.Type.Text)
	case len(v.Formats) > 0:
		return convert.Date
	case v.Percent:
		return convert.Number
	case v.Checked != nil || v.Unchecked != nil:
		return convert.Checkbox
	}
	return convert.Text
}

// typedCell says what a cell is that is more than a text, and which type it most likely has; it is not ok for a text.
func typedCell(c cell.Cell) (words string, t convert.Type, ok bool) {
	switch {
	case c.Kind == cell.Bool:
		return "a boolean", convert.Checkbox, true
	case c.Kind == cell.Date && strings.Contains(c.Shown, ":"):
		return "a date", convert.DateTime, true
	case c.Kind == cell.Date:
		return "a date", convert.Date, true
	case c.Kind != cell.Number:
		return "", "", false
	case strings.ContainsAny(c.Format, "$£€¥"):
		return "a number", convert.Currency, true
	case strings.HasPrefix(c.Format, "00"): // 00123 is a code, and as a Number it would be 123
		return "a number", convert.Text, true
	}
	return "a number", convert.Number, true
}

// CellNote is a cell that makes the mapping doubtful: a date, number or boolean under
// an attribute of unknown type, which would be sent as Text; or an empty part of a text.
type CellNote struct {
	rule   *ValueRule
	row    cell.Row
	column int
	words  string       // what a typed cell is; "" for an empty part
	likely convert.Type // of a typed cell
}

// note notes the row's typed cell under an attribute of unknown type, and the empty part of
// a text. For first_of only the cell that counts is looked at; a text and an expression are
// made from all their cells.
func (r *rowConverter) note(it *fieldValue) {
	v := it.of
	for _, c := range v.columns {
		in := r.record.Cell(c)
		if words, likely, ok := typedCell(in); ok && v.isUntyped {
			r.row.Notes = append(r.row.Notes, CellNote{v.rule, r.row.Row, c, words, likely})
			return
		}
		if v.isOneCell() && !in.IsEmpty() {
			return
		}
	}
	for i, c := range v.columns {
		if v.hasParts() && !it.value.IsZero() && convert.FoldSpace(it.texts[i]) == "" {
			r.row.Notes = append(r.row.Notes, CellNote{rule: v.rule, row: r.row.Row, column: c})
			return
		}
	}
}

// CellNotes counts what is noted of cells, over the rows of a run. The zero value
// has nothing. It is not safe for concurrent use.
type CellNotes struct {
	first map[*ValueRule]CellNote
	count map[*ValueRule]int
}

// Add counts a row's notes. Rows must come in the order of the sheets.
func (t *CellNotes) Add(notes []CellNote) {
	if t.count == nil && len(notes) > 0 {
		t.first, t.count = map[*ValueRule]CellNote{}, map[*ValueRule]int{}
	}
	for _, c := range notes {
		if t.count[c.rule]++; t.count[c.rule] == 1 || t.first[c.rule].words == "" && c.words != "" {
			t.first[c.rule] = c
		}
	}
}

// CheckCells checks the mapping against what is noted of cells. An attribute of unknown
// type that has typed cells is an error: sent as Text, a date would not be a date at the
// service. The others get a warning, and so does a text of which a part is empty.
func (b *Binding) CheckCells(cells CellNotes) (wrong, warnings problem.List) {
	at := func(rule *ValueRule) (at problem.Where, first CellNote) {
		first = cells.first[rule]
		at = b.At(first.column, first.row)
		at.Copy = problem.Copy{} // it is about the mapping
		return at, first
	}
	for _, rule := range b.texts {
		count := cells.count[rule]
		at, first := at(rule)
		if count == 0 || first.words != "" {
			continue
		}
		rows := "1 row"
		if count > 1 {
			rows = fmt.Sprintf("%d rows, first", count)
		}
		t, _ := parseTemplate(rule.Text.Text) // checked by Parse
		warnings = append(warnings, problem.At(b.mapping.At(rule.Text.At), "empty-part",
			"a part of this text is empty in %s in %s (%s): what stands around it is sent all the same", rows, at, b.header(first.column, first.row)).
			Hinted("join: [%s] in place of text leaves out what is empty, and with: says what stands between the rest", strings.Join(t.names(), ", ")))
	}
	for _, u := range b.untyped {
		rule, place := &u.rule.Value, b.mapping.At(u.rule.Name.At)
		at, first := at(rule)
		if first.words == "" {
			warnings = append(warnings, problem.At(place, "untyped", "%s: it is sent as Text", u.says()).
				Hinted("%s", u.cure(convert.Text, ", or in place of Text the type of a date, a number or a tick: Date, DateTime, Number, Currency or Checkbox")))
			continue
		}
		more, instead := "", orText
		if n := cells.count[rule]; n > 1 {
			more = fmt.Sprintf(" (the first of %d)", n)
		}
		if first.likely == convert.Text {
			instead = "; if it is a quantity, type: Number, which sends no leading zeros"
		}
		wrong = append(wrong, problem.At(place, "untyped", "%s, and %s holds %s%s, which would be sent as Text", u.says(), at, first.words, more).
			Hinted("%s", u.cure(first.likely, instead)))
	}
	return wrong, warnings
}
