package cli

import (
	"fmt"
	"strings"

	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// layout looks at the rows of a sheet for signs that its headers stand in
// another row than the mapping says.
type layout struct {
	sheet  mapping.Sheet
	rule   mapping.SheetRule
	first  []mapping.Record // the first rows that hold anything
	filled []int            // by column: the row of the first cell, 0 for none
}

// newLayout is for one of the run's sheets.
func newLayout(s *setup, i int) *layout {
	return &layout{sheet: s.sources[i].sheet(i), rule: s.mapping.Sheet}
}

// see looks at a row. Its cells are copied where they are kept.
func (l *layout) see(record mapping.Record) {
	any := false
	for i, cell := range record.Cells {
		if cell.IsEmpty() {
			continue
		}
		any = true
		for len(l.filled) <= i {
			l.filled = append(l.filled, 0)
		}
		if l.filled[i] == 0 {
			l.filled[i] = record.Row
		}
	}
	if any && len(l.first) < mapping.SoughtRows {
		record.Cells = append([]mapping.Cell(nil), record.Cells...)
		l.first = append(l.first, record)
	}
}

// mostColumns is how many columns are named.
const mostColumns = 5

// verdict says what the rows have shown. One header over three filled columns
// or more is a title, and no mapping means that: it is an error until the
// mapping says the row itself. Other data without a header is warned of, for it
// may be notes that nobody wants to send.
func (l *layout) verdict() (wrong, warnings problem.List) {
	headers, data := 0, 0
	var bare []string
	from := 0 // the first row with data that has no header
	for i := range max(len(l.filled), len(l.sheet.Header)) {
		named := i < len(l.sheet.Header) && strings.TrimSpace(l.sheet.Header[i]) != ""
		if named {
			headers++
		}
		if i >= len(l.filled) || l.filled[i] == 0 {
			continue
		}
		if data++; named {
			continue
		}
		if bare = append(bare, mapping.ColumnName(i)); from == 0 || l.filled[i] < from {
			from = l.filled[i]
		}
	}
	hint := "give these columns headers, or write the row of the headers in the mapping: sheet: {header_row: N}"
	if row := mapping.LikelyHeader(l.sheet, l.first); row != l.sheet.HeaderRow {
		hint = fmt.Sprintf("row %d looks like the row of the headers: write sheet: {header_row: %d} in the mapping, or give these columns headers", row, row)
	}
	at := l.sheet.AtRow(l.sheet.HeaderRow)
	switch {
	case len(bare) == 0:
	case headers == 1 && data >= 3 && !l.rule.HeaderRowGiven:
		wrong = append(wrong, problem.At(at, "title-row", "the row was taken for the headers, and it has one text over %d columns that hold data: it looks like a title", data).
			Hinted("%s; where row %d is meant, write sheet: {header_row: %d}", hint, l.sheet.HeaderRow, l.sheet.HeaderRow))
	default:
		warnings = append(warnings, problem.At(at, "no-header-over-data", "%s below this row, from row %d on, and %s no header here: no mapping can use it",
			holdData(bare), from, hasOrHave(len(bare))).Hinted("%s", hint))
	}
	return wrong, warnings
}

// holdData says which columns hold data.
func holdData(columns []string) string {
	if len(columns) == 1 {
		return "column " + columns[0] + " holds data"
	}
	names := strings.Join(columns[:min(len(columns), mostColumns)], ", ")
	if more := len(columns) - mostColumns; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return "columns " + names + " hold data"
}

func hasOrHave(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}
