package cli

import (
	"fmt"
	"iter"
	"strings"

	"claimsheet/importer/sheet"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// mostAreas is how many merged cells are named.
const mostAreas = 5

// mergedCells warns of cells that look filled and are not: what a merged cell
// shows is the value of its first one alone.
func mergedCells(merged iter.Seq[sheet.Area], s mapping.Sheet) problem.List {
	var names []string
	count, first := 0, ""
	for area := range merged {
		if count++; count == 1 {
			first = area.First()
		}
		if count <= mostAreas {
			names = append(names, area.String())
		}
	}
	if count == 0 {
		return nil
	}
	where, belongs := strings.Join(names, ", "), "the value of each belongs to its first cell alone"
	switch {
	case count == 1:
		belongs = "the value belongs to " + first + " alone"
	case count > mostAreas:
		where += fmt.Sprintf(" and %d more", count-mostAreas)
	}
	return problem.List{problem.At(problem.Where{File: s.Book, Table: s.Table, Sheet: s.Name}, "merged-cells",
		"cells are merged: %s; %s, and the others count as empty", where, belongs).
		Hinted("unmerge them, and fill in every cell that the value is meant for")}
}
