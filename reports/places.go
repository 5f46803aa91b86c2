package reports

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// Places knows where the cells of a sheet are in the sheet Results, also of a workbook
// that is not written yet, so that messages can name the cells that the user should
// correct there. Note the rows in the sheet's order; At knows the noted ones. Both may
// be called from several goroutines.
type Places struct {
	// File is what places call the workbook; "" in a run of one sheet.
	File string
	// Own are the columns that are not written again, as in Workbook.
	Own []int

	mu   sync.RWMutex // the first pass notes rows while it reads those before them
	rows []notedRow
}

// notedRow is a row by its number in the sheet, and in the sheet that was first imported.
type notedRow struct{ row, source int32 }

// Note takes the sheet's next row into account.
func (p *Places) Note(record cell.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = append(p.rows, notedRow{int32(record.Row), int32(cmp.Or(record.Source, record.Row))})
}

// At returns where a cell (column 0 = A) or, with a column of -1, a whole row is; the
// zero Copy for a row that was not noted, such as the header.
func (p *Places) At(column, row int) problem.Copy {
	p.mu.RLock()
	defer p.mu.RUnlock()
	i, found := slices.BinarySearchFunc(p.rows, row, func(r notedRow, row int) int { return cmp.Compare(int(r.row), row) })
	if !found {
		return problem.Copy{}
	}
	const perSheet = xlsx.MaxRows - 1 // row 1 is the header
	place := strconv.Itoa(i%perSheet + 2)
	if column >= 0 {
		at := column
		for _, own := range p.Own {
			if own < column {
				at--
			}
		}
		place = cell.ColumnName(at) + place
	}
	return problem.Copy{File: p.File, Sheet: xlsx.SheetName(ResultsSheet, i/perSheet+1), Place: place, Row: int(p.rows[i].source)}
}
