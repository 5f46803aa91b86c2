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
	merged, others := fieldValue{}, []fieldValue(nil)
	for _, it := range items {
		switch {
		case it.value.IsZero():
			if merged.value.IsZero() && merged.source.Row == 0 {
				merged.source = it.source
			}
		case merged.value.IsZero():
			merged = it
		case !v.agree(merged.value, it.value):
			others = append(others, it)
		}
	}
	if len(others) > 0 {
		p.disagreements = append(p.disagreements, disagreement{v.label, merged, others})
		return merged
	}
	if merged.value.IsZero() && v.fallback != nil {
		merged.value = *v.fallback
	}
	if merged.value.IsZero() && v.required && !refused(items) {
		p.missing(v, merged)
	}
	return merged
}

// mergeTexts composes a text from the cells of several rows. ok is false when
// two rows differ in a place, or the text does not convert.
func (v *boundValue) mergeTexts(items []fieldValue) (merged fieldValue, ok bool) {
	merged = fieldValue{source: items[0].source}
	merged.source.Texts = slices.Clone(merged.source.Texts)
	for _, it := range items[1:] {
		for i, text := range it.source.Texts {
			known := convert.FoldSpace(merged.source.Texts[i])
			switch {
			case convert.FoldSpace(text) == "" || known == convert.FoldSpace(text):
			case known == "":
				merged.source.Texts[i] = text
			default:
				return fieldValue{}, false
			}
		}
	}
	record := cell.Record{}
	for i, column := range v.columns {
		for len(record.Cells) <= column {
			record.Cells = append(record.Cells, cell.Cell{})
		}
		record.Cells[column] = cell.Cell{Kind: cell.Text, Raw: merged.source.Texts[i], Shown: merged.source.Texts[i]}
	}
	c, _, refusal := v.compose(record)
	if refusal == nil && !c.IsEmpty() {
		merged.value, refusal = v.conv.Convert(c)
		merged.e164 = v.e164(c)
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

// mostNamed is the number of cells that a message names one by one.
const mostNamed = 5

// disagreement is a value on which rows of one client, claim or contact differ: the first
// cell, and those that differ from it.
type disagreement struct {
	label  string
	first  fieldValue
	others []fieldValue
}

// ofSameRows reports whether two values differ in the same rows.
func (d disagreement) ofSameRows(other disagreement) bool {
	return d.first.source.Row == other.first.source.Row &&
		slices.EqualFunc(d.others, other.others, func(a, b fieldValue) bool { return a.source.Row == b.source.Row })
}

// column returns the column of the cell in which a value differs from another.
func (it fieldValue) column(other fieldValue) int {
	for i, text := range it.source.Texts {
		if i < len(other.source.Texts) && convert.FoldSpace(text) != "" && convert.FoldSpace(other.source.Texts[i]) != "" &&
			convert.FoldSpace(text) != convert.FoldSpace(other.source.Texts[i]) {
			return it.source.Columns[i]
		}
	}
	return it.source.From()
}

// conflicts reports the values on which rows differ. Every cell is a problem, so that
// all their rows are invalid, but rows that differ in several cells are one mistake: two
// people with one key. One problem reports it, and the others are Part of it.
func (p *planner) conflicts() {
	for left := p.disagreements; len(left) > 0; {
		var found, others []disagreement
		columns := map[int]bool{} // a column may be mapped more than once
		for _, d := range left {
			switch column := d.first.column(d.others[0]); {
			case !d.ofSameRows(left[0]):
				others = append(others, d)
			case !columns[column]:
				columns[column] = true
				found = append(found, d)
			}
		}
		for i, d := range found {
			p.conflict(found, d, i > 0, d.first, d.others...)
			for _, other := range d.others {
				sameSheet := other.source.Row.Table() == d.first.source.Row.Table() // each sheet's workbook lists its own
				p.conflict(found, d, i > 0 || sameSheet, other, d.first)
			}
		}
		left = others
	}
}

// conflict reports one cell of rows that differ in the values of found.
func (p *planner) conflict(found []disagreement, d disagreement, part bool, here fieldValue, there ...fieldValue) {
	at := make([]problem.Where, len(there))
	for i, it := range there {
		if at[i] = p.b.At(it.column(here), it.source.Row); len(found) > 1 {
			at[i] = p.b.AtRow(it.source.Row)
		}
	}
	column, row := here.column(there[0]), here.source.Row
	q := problem.At(p.b.At(column, row), "conflict", "%s differs from %s, and the rows of one client must agree on “%s”", p.b.header(column, row), someOf(at), d.label).
		Hinted("make the cells the same, or leave all but one empty")
	if len(found) > 1 {
		q.Message = fmt.Sprintf("this row and %s have the same key and differ in %s", someOf(at), p.labels(found, row))
		q.Hint = "if they are not about the same client or claim, correct the key of one; otherwise make the cells the same, or leave all but one empty"
	}
	q.Seen, q.Part = strings.Join(here.source.Texts, " "), part
	p.plan.Problems = append(p.plan.Problems, q)
}

// labels names the columns in which a row differs from others.
func (p *planner) labels(found []disagreement, row cell.Row) string {
	var names []string
	for _, d := range found {
		names = append(names, p.b.header(d.first.column(d.others[0]), row))
	}
	if more := len(names) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// someOf names the first places of a list: "Leads!A3, Leads!A4 and 2 more".
func someOf(places []problem.Where) string {
	var names []string
	for _, at := range places[:min(len(places), mostNamed)] {
		names = append(names, at.String())
	}
	text := strings.Join(names, ", ")
	if more := len(places) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// From returns the column that a value came from: the first that is filled.
func (s Source) From() int {
	for i, text := range s.Texts {
		if convert.FoldSpace(text) != "" {
			return s.Columns[i]
		}
	}
	return first(s.Columns)
}

func (p *planner) missing(v *boundValue, it fieldValue) {
	row, column := it.source.Row, first(it.source.Columns)
	if row == 0 {
		row, column = p.plan.Rows[0], first(v.columns)
	}
	p.plan.Problems = append(p.plan.Problems,
		problem.At(p.b.At(column, row), "required", "%s is empty, and “%s” is required", p.b.header(column, row), v.label).
			Hinted("fill the cell"))
}
