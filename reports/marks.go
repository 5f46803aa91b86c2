package reports

import (
	"fmt"
	"strings"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// invalidCells are the cells of a dry run's sheet that cannot be used, by their
// reference in the source. A results workbook says the same beside its rows.
func invalidCells(b Book) map[string]problem.List {
	if !b.Summary.DryRun {
		return nil
	}
	cells := map[string]problem.List{}
	for _, p := range b.Problems {
		if p.Where.Cell != "" && p.Where.Sheet == b.Sheet.Name && p.Where.Row != b.Sheet.HeaderRow {
			cells[p.Where.Cell] = append(cells[p.Where.Cell], p)
		}
	}
	return cells
}

func markOf(found problem.List) colour {
	if len(found) == 0 {
		return colour{}
	}
	return red
}

// comment explains a marked cell of the row that is being written.
func (s *resultsSheet) comment(column int, found problem.List) error {
	if len(found) == 0 || s.comments == maxComments {
		return nil
	}
	s.comments++
	var b strings.Builder
	for i, p := range found {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(p.Message)
		if p.Hint != "" {
			b.WriteString("\n" + p.Hint)
		}
	}
	return s.book.AddComment(s.sheet, excelize.Comment{
		Cell: mapping.ColumnName(column) + fmt.Sprint(s.rows+1), Author: "Claimsheet", Text: cut(b.String()),
		Width: 320, Height: uint(40 + 18*(1+b.Len()/45)),
	})
}
