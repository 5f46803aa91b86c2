package mapping

import (
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// merge makes one value of what the rows of a client (or claim) say: an empty
// cell agrees with anything, the first filled one counts, and where two differ
// both cells are named.
func (p *planner) merge(v *boundValue, items []item) item {
	merged := item{}
	for _, it := range items {
		switch {
		case it.value.IsZero():
			if merged.value.IsZero() && merged.source.Row == 0 {
				merged.source = it.source
			}
		case merged.value.IsZero():
			merged = it
		case !v.agree(merged.value, it.value):
			p.conflict(v, merged, it)
			return merged
		}
	}
	if merged.value.IsZero() && v.fallback != nil {
		merged.value = *v.fallback
	}
	if merged.value.IsZero() && v.required && !refused(items) {
		p.missing(v, merged)
	}
	return merged
}

// refused tells that a cell was filled but could not be converted.
func refused(items []item) bool {
	return slices.ContainsFunc(items, func(it item) bool { return it.refused })
}

// agree tells whether two rows say the same. What makes one key of two cells
// (white space, accents) makes no difference to what stands in them either.
func (v *boundValue) agree(a, b Value) bool {
	return a == b || v.foldCase && a.Field == b.Field && strings.EqualFold(foldKey(a.Literal), foldKey(b.Literal))
}

// conflict names both cells, each in a problem of its own, so that both rows
// are invalid.
func (p *planner) conflict(v *boundValue, a, b item) {
	sheet := &p.b.sheet
	at := func(it item) problem.Where { return sheet.At(v.from(it), it.source.Row) }
	say := func(here, there item) {
		found := problem.At(at(here), "conflict", "%s differs from %s, and the rows of one client must agree on “%s”",
			sheet.header(v.from(here)), at(there), v.label).
			Hinted("make the two cells the same, or leave one empty")
		found.Seen = strings.Join(here.source.Texts, " ")
		p.plan.Problems = append(p.plan.Problems, found)
	}
	say(a, b)
	say(b, a)
}

// from is the column that a value came from: of several, the first that is
// filled.
func (v *boundValue) from(it item) int {
	for i, text := range it.source.Texts {
		if squeeze(text) != "" {
			return it.source.Columns[i]
		}
	}
	return first(v.columns)
}

func (p *planner) missing(v *boundValue, it item) {
	row := it.source.Row
	if row == 0 {
		row = p.plan.Rows[0]
	}
	column := first(v.columns)
	p.plan.Problems = append(p.plan.Problems,
		problem.At(p.b.sheet.At(column, row), "required", "%s is empty, and “%s” is required", p.b.sheet.header(column), v.label).
			Hinted("fill the cell"))
}
