package draft

import (
	"fmt"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// HeaderWatch watches the rows of a sheet for signs that its headers are in another row than
// the mapping says.
type HeaderWatch struct {
	sheet  cell.Sheet
	first  []cell.Record // the first rows that are not empty
	filled []int         // by column: the row of the first cell, 0 for none
}

// NewHeaderWatch returns a watch that has seen no rows.
func NewHeaderWatch(s cell.Sheet) *HeaderWatch { return &HeaderWatch{sheet: s} }

// See takes a row. It copies the cells that it keeps.
func (w *HeaderWatch) See(record cell.Record) {
	any := false
	for i, c := range record.Cells {
		if c.IsEmpty() {
			continue
		}
		any = true
		for len(w.filled) <= i {
			w.filled = append(w.filled, 0)
		}
		if w.filled[i] == 0 {
			w.filled[i] = record.Row
		}
	}
	if any && len(w.first) < SoughtRows {
		record.Cells = append([]cell.Cell(nil), record.Cells...)
		w.first = append(w.first, record)
	}
}

// mostColumns limits how many columns a warning names.
const mostColumns = 5

// Verdict judges the rows. One header over three or more filled columns is a title, which
// is an error unless the mapping names the header row. Other data without a header is a
// warning, because it may be notes that nobody wants to send.
func (w *HeaderWatch) Verdict(headerRowGiven bool) (wrong, warnings problem.List) {
	headers, data := 0, 0
	var bare []string
	from := 0 // the first row with data that has no header
	for i := range max(len(w.filled), len(w.sheet.Header)) {
		named := i < len(w.sheet.Header) && strings.TrimSpace(w.sheet.Header[i]) != ""
		if named {
			headers++
		}
		if i >= len(w.filled) || w.filled[i] == 0 {
			continue
		}
		if data++; named {
			continue
		}
		if bare = append(bare, cell.ColumnName(i)); from == 0 || w.filled[i] < from {
			from = w.filled[i]
		}
	}
	hint := "give these columns headers, or write the row of the headers in the mapping: sheet: {header_row: N}"
	if row := LikelyHeader(w.sheet, w.first); row != w.sheet.HeaderRow {
		hint = fmt.Sprintf("row %d looks like the row of the headers: write sheet: {header_row: %d} in the mapping, or give these columns headers", row, row)
	}
	at := w.sheet.AtRow(w.sheet.HeaderRow)
	switch {
	case len(bare) == 0:
	case headers == 1 && data >= 3 && !headerRowGiven:
		wrong = append(wrong, problem.At(at, "title-row", "the row was taken for the headers, and it has one text over %d columns that hold data: it looks like a title", data).
			Hinted("%s; where row %d is meant, write sheet: {header_row: %d}", hint, w.sheet.HeaderRow, w.sheet.HeaderRow))
	default:
		warnings = append(warnings, problem.At(at, "no-header-over-data", "%s below this row, from row %d on, and %s no header here: no mapping can use it",
			holdData(bare), from, hasOrHave(len(bare))).Hinted("%s", hint))
	}
	return wrong, warnings
}

// holdData names the columns that hold data.
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
