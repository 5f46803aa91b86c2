package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Places knows where the cells of a sheet will be in the sheet Results of a
// workbook that has not been written yet, so that messages can name the cells that
// people are to correct there. Note the rows in the sheet's order; At knows those
// that were noted. Both may be called from several goroutines.
type Places struct {
	// File is what places call the workbook; "" in a run of one sheet.
	File string
	// Own are the columns that are not written again, as in Book.
	Own []int

	mu        sync.RWMutex // the first pass notes rows while it reads those before them
	lines     int          // rows noted
	stretches []stretch
}

// stretch is where rows begin that follow one another in the sheet, in Results
// and, of a results workbook, in the sheet that was first imported.
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

// At is where a cell (column 0 = A) or, with a column of -1, a whole row is; the
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
	sheet, below := (line-1)/(excelize.TotalRows-1), (line-1)%(excelize.TotalRows-1)
	place := strconv.Itoa(below + 2) // row 1 is the header
	if column >= 0 {
		place = cell.ColumnName(p.column(column)) + place
	}
	return problem.Copy{File: p.File, Sheet: sheetOf(ResultsSheet, sheet+1), Place: place, Row: p.stretches[i].source + on}
}

// column is where a source column is in Results.
func (p *Places) column(source int) int {
	at := source
	for _, own := range p.Own {
		if own < source {
			at--
		}
	}
	return at
}

// sheetOf is the name of a table's nth sheet, the first being 1.
func sheetOf(table string, n int) string {
	if n == 1 {
		return table
	}
	return fmt.Sprintf("%s %d", table, n)
}
