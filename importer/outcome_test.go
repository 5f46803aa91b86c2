package importer

import (
	"strings"
	"testing"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// The column Error of a row says once what one mistake about several of its cells is.
func TestInvalidRowSaysAMistakeOnce(t *testing.T) {
	t.Parallel()
	at := func(cell string, row int, part bool) problem.Problem {
		p := problem.At(problem.Where{Sheet: "Leads", Cell: cell, Row: row}, "conflict", "this row and another differ in A, B")
		p.Part = part
		return p
	}
	plan := mapping.Plan{Number: 1, Rows: []cell.Row{2, 3}, Problems: problem.List{at("A2", 2, false), at("B2", 2, true), at("A3", 3, true), at("B3", 3, true)}}
	for _, r := range invalidOutcome(new(mapping.Binding), plan, ids{}, "").Rows {
		if strings.Count(r.Error, "differ in A, B") != 1 {
			t.Errorf("row %d says: %s", r.Row, r.Error)
		}
	}
}
