package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// maxComments bounds the cell comments: programs grow slow with thousands. The
// cells beyond are still marked, and the sheet Problems leads to all of them.
const maxComments = 1000

// marks are the problems of the source's rows, and where in the workbook these
// rows stand.
type marks struct {
	sheet    string
	rows     map[int]*markedRow // by the source's row
	comments int
}

// markedRow is a row with problems.
type markedRow struct {
	row   int // of the source
	found problem.List
	sheet string // of the workbook; "" until the row is written
	line  int
}

func newMarks(b Book) marks {
	m := marks{sheet: b.Sheet.Name, rows: map[int]*markedRow{}}
	for _, p := range b.Problems {
		row := p.Where.Row
		if row == 0 || row == b.Sheet.HeaderRow || p.Where.Sheet != b.Sheet.Name {
			continue
		}
		if m.rows[row] == nil {
			m.rows[row] = &markedRow{row: row}
		}
		m.rows[row].found = append(m.rows[row].found, p)
	}
	return m
}

// take notes where a row of the source is written, and returns it if it has
// problems.
func (m marks) take(row int, sheet string, line int) *markedRow {
	r := m.rows[row]
	if r == nil {
		return nil
	}
	r.sheet, r.line = sheet, line
	return r
}

// cell are the problems of one cell of the row.
func (r *markedRow) cell(column int) problem.List {
	ref := cell.ColumnName(column) + strconv.Itoa(r.row)
	var found problem.List
	for _, p := range r.found {
		if p.Where.Cell == ref {
			found = append(found, p)
		}
	}
	return found
}

// explain puts a comment on a marked cell.
func (s *resultsSheet) explain(ref string, found problem.List) error {
	if s.marks.comments == maxComments {
		return nil
	}
	s.marks.comments++
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
	return s.book.AddComment(s.sheetName(), excelize.Comment{
		Cell: ref, Author: "Claimsheet", Text: cut(b.String()),
		Width: 320, Height: uint(40 + 18*(1+b.Len()/45)),
	})
}

// place is where in this workbook the cell of a problem stands; "" for a
// problem that is about none of the sheet's rows. One about a whole row leads
// to its first cell.
func (s *resultsSheet) place(p problem.Problem) string {
	r := s.marks.rows[p.Where.Row]
	if r == nil || r.sheet == "" || p.Where.Sheet != s.marks.sheet {
		return ""
	}
	letters := strings.TrimRight(p.Where.Cell, "0123456789")
	for i, c := range s.columns {
		if cell.ColumnName(c.source) == letters {
			return placeOf(r.sheet, fmt.Sprint(cell.ColumnName(i), r.line))
		}
	}
	return placeOf(r.sheet, fmt.Sprint("A", r.line))
}
