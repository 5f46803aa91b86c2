package mapping

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// merge makes one value of what the rows of a client or claim say. An empty
// cell agrees with anything; the first filled one counts; where two differ,
// both cells are reported.
func (p *planner) merge(v *boundValue, items []fieldValue) fieldValue {
	if v.isComposed() && len(items) > 1 && !refused(items) {
		if merged, ok := v.mergeTexts(items); ok {
			items = []fieldValue{merged}
		}
	}
	merged := fieldValue{of: v}
	var others []fieldValue
	for _, it := range items {
		switch {
		case it.value.IsZero():
			if merged.row == 0 {
				merged.row, merged.texts, merged.of = it.row, it.texts, it.of
			}
		case merged.value.IsZero():
			merged = it
		case !v.agree(merged.value, it.value):
			others = append(others, it)
		}
	}
	if len(others) > 0 {
		p.disagreements = append(p.disagreements, disagreement{v.label, append([]fieldValue{merged}, others...)})
		return merged
	}
	if merged.value.IsZero() && v.fallback != nil {
		merged.value = *v.fallback
	}
	if merged.value.IsZero() && v.required && !refused(items) {
		p.missing(v, &merged)
	}
	return merged
}

// mergeTexts composes a text from the cells of several rows. ok is false when
// two rows differ in a place, or the text does not convert.
func (v *boundValue) mergeTexts(items []fieldValue) (merged fieldValue, ok bool) {
	merged = fieldValue{of: items[0].of, row: items[0].row, texts: slices.Clone(items[0].texts)}
	for _, it := range items[1:] {
		for i, text := range it.texts {
			known := convert.FoldSpace(merged.texts[i])
			switch {
			case convert.FoldSpace(text) == "" || known == convert.FoldSpace(text):
			case known == "":
				merged.texts[i] = text
			default:
				return fieldValue{}, false
			}
		}
	}
	record := cell.Record{}
	for i, column := range v.columns {
		record.Cells = append(record.Cells, make([]cell.Cell, max(0, column+1-len(record.Cells)))...)
		record.Cells[column] = textCell(merged.texts[i])
	}
	c, _, refusal := v.compose(record)
	if refusal == nil && !c.IsEmpty() {
		refusal = v.convert(c, &merged)
	}
	return merged, refusal == nil
}

// refused reports whether a filled cell could not be converted.
func refused(items []fieldValue) bool {
	return slices.ContainsFunc(items, func(it fieldValue) bool { return it.refused != nil })
}

// agree reports whether two rows say the same. What makes no difference in a
// key (white space, accents, a number's format) makes none here.
func (v *boundValue) agree(a, b cell.Value) bool {
	return a == b || v.foldCase && a.Field == b.Field && convert.SameKey(a.Literal, b.Literal)
}

// disagreement is a value on which rows of one client, claim or contact differ: the first
// cell, and those that differ from it.
type disagreement struct {
	label string
	cells []fieldValue
}

// ofSameRows reports whether two values differ in the same rows.
func (d disagreement) ofSameRows(other disagreement) bool {
	return slices.EqualFunc(d.cells, other.cells, func(a, b fieldValue) bool { return a.row == b.row })
}

// column returns the column of a cell, the one in which it differs from another.
func (d disagreement) column(of int) int {
	it, other := &d.cells[of], &d.cells[0]
	if of == 0 {
		other = &d.cells[1]
	}
	for i, text := range it.texts {
		if i < len(other.texts) && convert.FoldSpace(text) != "" && convert.FoldSpace(other.texts[i]) != "" &&
			convert.FoldSpace(text) != convert.FoldSpace(other.texts[i]) {
			return it.of.columns[i]
		}
	}
	return it.from()
}

// conflicts reports the values on which rows differ. Every cell is a problem, so that
// all their rows are invalid, but rows that differ in several cells are one mistake: two
// people with one key. One problem reports it, and the others are Part of it.
func (p *planner) conflicts() {
	for len(p.disagreements) > 0 {
		var found, others []disagreement
		columns := map[int]bool{} // a column may be mapped more than once
		for _, d := range p.disagreements {
			if !d.ofSameRows(p.disagreements[0]) {
				others = append(others, d)
			} else if !columns[d.column(0)] {
				columns[d.column(0)] = true
				found = append(found, d)
			}
		}
		p.disagreements = others
		for i, d := range found {
			for k, it := range d.cells {
				sameSheet := k > 0 && it.row.Table() == d.cells[0].row.Table() // each sheet's workbook lists its own
				p.conflict(found, d, k, i > 0 || sameSheet)
			}
		}
	}
}

// conflict reports one cell of rows that differ in the values of found.
func (p *planner) conflict(found []disagreement, d disagreement, of int, part bool) {
	here, column := &d.cells[of], d.column(of)
	there := []int{0}
	if of == 0 {
		there = there[:0]
		for k := range d.cells[1:] {
			there = append(there, k+1)
		}
	}
	var cells, rows, names []string
	for _, k := range there {
		cells = append(cells, p.b.At(d.column(k), d.cells[k].row).String())
		rows = append(rows, p.b.AtRow(d.cells[k].row).String())
	}
	for _, other := range found {
		names = append(names, p.b.header(other.column(0), here.row))
	}
	q := problem.At(p.b.At(column, here.row), "conflict", "%s differs from %s, and the rows of one client must agree on “%s”",
		p.b.header(column, here.row), someOf(cells), d.label).
		Hinted("make the cells the same, or leave all but one empty")
	if len(found) > 1 {
		q.Message = fmt.Sprintf("this row and %s have the same key and differ in %s", someOf(rows), someOf(names))
		q.Hint = "if they are not about the same client or claim, correct the key of one; otherwise make the cells the same, or leave all but one empty"
	}
	q.Seen, q.Part = strings.Join(here.texts, " "), part
	p.plan.Problems = append(p.plan.Problems, q)
}

// differ reports cells that must agree: the first names the others, and each of these the
// first. In one sheet they are one mistake.
func (p *planner) differ(label, must, cure string, cells []problem.Where) {
	for i, here := range cells {
		there := cells[:1]
		if i == 0 {
			there = cells[1:]
		}
		var names []string
		for _, at := range there {
			names = append(names, at.String())
		}
		q := problem.At(here, "conflict", "%s differs from %s, and %s", label, someOf(names), must).Hinted("%s", cure)
		q.Part = i > 0 && here.Table == cells[0].Table
		p.plan.Problems = append(p.plan.Problems, q)
	}
}

// someOf lists the first names: "Leads!A3, Leads!A4 and 2 more".
func someOf(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (p *planner) missing(v *boundValue, it *fieldValue) {
	row, column := it.row, first(it.of.columns)
	if row == 0 {
		row, column = p.plan.Rows[0], first(v.columns)
	}
	p.plan.Problems = append(p.plan.Problems,
		problem.At(p.b.At(column, row), "required", "%s is empty, and “%s” is required", p.b.header(column, row), v.label).
			Hinted("fill the cell"))
}
