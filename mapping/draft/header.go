package draft

import (
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// SoughtRows is the number of rows below the header that LikelyHeader looks at.
const SoughtRows = 20

// LikelyHeader returns the number of the row that most likely holds the headers. That is the sheet's header row, unless it names
// fewer than half of the columns that the first rows fill, and one of these rows has texts for half of them. rows are the first
// SoughtRows rows below the header.
func LikelyHeader(sheet cell.Sheet, rows []cell.Record) int {
	width := 0
	for _, r := range rows {
		width = max(width, filled(r))
	}
	if width < 3 || 2*NamedColumns(sheet.Header) >= width {
		return sheet.HeaderRow
	}
	isData := func(c cell.Cell) bool {
		return !c.IsEmpty() && (c.Kind != cell.Text || !strings.ContainsFunc(c.Raw, unicode.IsLetter))
	}
	for _, r := range rows {
		if 2*filled(r) >= width && !slices.ContainsFunc(r.Cells, isData) {
			return r.Row
		}
	}
	return sheet.HeaderRow
}

// NamedColumns returns how many columns have a header.
func NamedColumns(header []string) int {
	return count(header, func(h string) bool { return convert.FoldHeader(h) != "" })
}

func filled(r cell.Record) int { return count(r.Cells, func(c cell.Cell) bool { return !c.IsEmpty() }) }

// SheetWatch watches the rows of a sheet for signs that its headers are in another row than the mapping says, for columns in which a
// spreadsheet program probably exchanged day and month, and for hidden rows, which may be hidden because they are not wanted.
type SheetWatch struct {
	Rows        int // seen so far
	sheet       cell.Sheet
	filled      []int       // by column: the row of the first cell, 0 without one
	orders      []dateOrder // by column with a header
	hidden      int         // rows
	firstHidden int
}

// NewSheetWatch returns a watch that has seen no rows.
func NewSheetWatch(s cell.Sheet) *SheetWatch {
	return &SheetWatch{sheet: s, orders: make([]dateOrder, len(s.Header))}
}

// See takes a row. It keeps nothing of the record.
func (w *SheetWatch) See(record cell.Record) {
	w.Rows++
	if record.Hidden {
		if w.hidden++; w.hidden == 1 {
			w.firstHidden = record.Row
		}
	}
	for i, c := range record.Cells {
		if c.IsEmpty() {
			continue
		}
		if i < len(w.orders) {
			w.orders[i].see(c)
		}
		for len(w.filled) <= i {
			w.filled = append(w.filled, 0)
		}
		if w.filled[i] == 0 {
			w.filled[i] = record.Row
		}
	}
}

// Warnings returns a warning of data without a header, which may be notes that are not meant to be sent, one of hidden rows, and one of
// each column of exchanged dates.
func (w *SheetWatch) Warnings() (warnings problem.List) {
	var bare []string
	from := 0 // the first row with data that has no header
	for i, row := range w.filled {
		if row == 0 || i < len(w.sheet.Header) && strings.TrimSpace(w.sheet.Header[i]) != "" {
			continue
		}
		if bare = append(bare, cell.ColumnName(i)); from == 0 || row < from {
			from = row
		}
	}
	if len(bare) > 0 {
		what := "column " + bare[0] + " holds data below this row, from row %d on, and has"
		if len(bare) > 1 {
			what = "columns " + problem.Some(bare, 8) + " hold data below this row, from row %d on, and have"
		}
		warnings = append(warnings, problem.At(w.sheet.AtRow(w.sheet.HeaderRow), "no-header-over-data",
			what+" no header here: no mapping can use it", from).
			Hinted("write the row of the headers in the mapping: sheet: {header_row: N}; or give these columns headers"))
	}
	if w.hidden > 0 {
		at := problem.Where{File: w.sheet.Book, Table: w.sheet.Table, Sheet: w.sheet.Name, Row: w.firstHidden}
		warnings = append(warnings, problem.At(at, "hidden-rows", "rows that are hidden in the sheet are imported: %d; this is the first", w.hidden).
			Hinted("show them, or delete those that are not wanted"))
	}
	for i := range w.orders {
		if why := w.orders[i].evidence(); why != "" {
			warnings = append(warnings, problem.At(w.sheet.At(i, w.sheet.HeaderRow), "swapped-dates",
				"“%s”: day and month of the dates may be exchanged. %s: a spreadsheet program leaves that of a sheet "+
					"that has the other order of day and month",
				problem.OneLine(w.sheet.Header[i]), why).
				Hinted("compare some of these rows with the source; if they differ, import the source again with this column as text"))
		}
	}
	return warnings
}
