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

// Places predicts where the cells of a sheet will be in the sheet Results of a
// workbook that is not written yet, so that messages can name the cells that the user
// should correct there. Note the rows in the sheet's order; At knows the noted ones.
// Both may be called from several goroutines.
type Places struct {
	// File is what places call the workbook; "" in a run of one sheet.
	File string
	// Own are the columns that are not written again, as in Book.
	Own []int

	mu        sync.RWMutex // the first pass notes rows while it reads those before them
	lines     int          // rows noted
	stretches []stretch
}

// stretch is where a run of rows begins that are consecutive in the sheet, in Results
// and, for a results workbook, in the sheet that was first imported.
type stretch struct{ row, line, source int }

// Note takes the sheet's next row into account.
func (p *Places) Note(record cell.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines++
	next := stretch{record.Row, p.lines, cmp.Or(record.Source, record.Row)}
	if n := len(p.stretches); n > 0 {
		last := p.stretches[n-1]
		on := next.line - last.line
		if last.row+on == next.row && last.source+on == next.source {
			return
		}
	}
	p.stretches = append(p.stretches, next)
}

// At returns where a cell (column 0 = A) or, with a column of -1, a whole row is; the
// zero Copy for a row that was not noted, such as the header.
func (p *Places) At(column, row int) problem.Copy {
	p.mu.RLock()
	defer p.mu.RUnlock()
	i, found := slices.BinarySearchFunc(p.stretches, row, func(s stretch, row int) int { return cmp.Compare(s.row, row) })
	if !found {
		i--
	}
	if i < 0 {
		return problem.Copy{}
	}
	on := row - p.stretches[i].row
	line := p.stretches[i].line + on
	if i+1 < len(p.stretches) && line >= p.stretches[i+1].line || line > p.lines {
		return problem.Copy{}
	}
	sheet, below := (line-1)/(xlsx.MaxRows-1), (line-1)%(xlsx.MaxRows-1)
	place := strconv.Itoa(below + 2) // row 1 is the header
	if column >= 0 {
		place = cell.ColumnName(p.column(column)) + place
	}
	return problem.Copy{File: p.File, Sheet: xlsx.SheetName(ResultsSheet, sheet+1), Place: place, Row: p.stretches[i].source + on}
}

// column returns where a source column is in Results.
func (p *Places) column(source int) int {
	at := source
	for _, own := range p.Own {
		if own < source {
			at--
		}
	}
	return at
}
