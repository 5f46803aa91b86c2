package mapping

import (
	"cmp"
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
			merged.refused = cmp.Or(merged.refused, it.refused)
		case merged.value.IsZero():
			merged = it
		case !v.agree(merged.value, it.value):
			others = append(others, it)
		}
	}
	if len(others) > 0 {
		p.conflict(v, append([]fieldValue{merged}, others...))
		return merged
	}
	p.complete(v, &merged)
	return merged
}

// complete gives a value without a filled cell its default, or reports that it is required.
func (p *planner) complete(v *boundValue, it *fieldValue) {
	switch {
	case !it.value.IsZero() || it.refused != nil:
	case v.fallback != nil:
		it.value = *v.fallback
	case v.required:
		p.missing(v, it)
	}
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
	c := v.composed(slices.Clone(merged.texts))
	return merged, c.IsEmpty() || v.convert(c, &merged) == nil
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

// conflict reports a value on which rows of one client, claim or contact differ: the first
// cell, and those that differ from it. Rows that differ in several values are one mistake,
// two people with one key: the first value reports it, and the others are Part of it.
func (p *planner) conflict(v *boundValue, items []fieldValue) {
	cells, rows := make([]problem.Problem, len(items)), ""
	for i := range items {
		it, other := &items[i], &items[0]
		if i == 0 {
			other = &items[1]
		}
		at := it.source().From()
		for k, text := range it.texts[:min(len(it.texts), len(other.texts))] { // of a composed text, the cell that differs
			if one, two := convert.FoldSpace(text), convert.FoldSpace(other.texts[k]); one != "" && two != "" && one != two {
				at = it.of.columns[k]
				break
			}
		}
		cells[i] = problem.Problem{Where: p.b.At(at, it.row), Message: p.b.header(at, it.row), Seen: strings.Join(it.texts, " ")}
		rows += fmt.Sprint(it.row, " ")
	}
	first := cells[0].Where.String()
	if slices.Contains(p.conflicts, first) { // a column may be mapped more than once
		return
	}
	p.differ("the rows of one client must agree on “"+v.label+"”",
		"make the cells the same, or leave all but one empty; if the rows are not about the same client or claim, correct the key of one",
		cells, slices.Contains(p.conflicts, rows))
	p.conflicts = append(p.conflicts, rows, first)
}

// differ reports cells that must agree: the first names the others, and each of these the
// first. In one sheet they are one mistake; each sheet's workbook lists its own. The Messages of
// the cells are what they are called.
func (p *planner) differ(must, cure string, cells []problem.Problem, isPart bool) {
	for i, q := range cells {
		there := cells[:1]
		if i == 0 {
			there = cells[1:]
		}
		var names []string
		for _, other := range there {
			names = append(names, other.Where.String())
		}
		made := problem.At(q.Where, "conflict", "%s differs from %s, and %s", q.Message, problem.Some(names, 5), must).Hinted("%s", cure)
		made.Seen, made.Part = q.Seen, isPart || i > 0 && q.Where.Table == cells[0].Where.Table
		p.plan.Problems = append(p.plan.Problems, made)
	}
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
