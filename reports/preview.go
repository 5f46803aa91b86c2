package reports

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// Preview is what is known of the sheet Results before it is written: where its cells will be, so that messages can name the cells that the
// user should correct there, and how wide its columns are. Note the rows in the sheet's order; At knows the noted ones. Both may be called
// from several goroutines.
type Preview struct {
	// File is what messages call the workbook; "" in a run of one sheet.
	File string
	// Own are the columns that an earlier results workbook added: they are not written again. 0 is A.
	Own []int

	mu      sync.RWMutex // the first pass notes rows while it reads those before them
	rows    []notedRow
	longest []int // characters, by column
}

// notedRow is a row by its number in the sheet, and in the sheet that was first imported.
type notedRow struct{ row, source int32 }

// Note takes the sheet's next row into account.
func (p *Preview) Note(record cell.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = append(p.rows, notedRow{int32(record.Row), int32(cmp.Or(record.Source, record.Row))})
	for i := range record.Cells {
		c := &record.Cells[i]
		if c.Kind == cell.Empty {
			continue
		}
		for len(p.longest) <= i {
			p.longest = append(p.longest, 0)
		}
		most := p.longest[i]
		if most >= widest || len(c.Shown) <= most && c.Kind != cell.Date {
			continue
		}
		p.longest[i] = max(most, utf8.RuneCountInString(c.Shown))
		if c.Kind == cell.Date { // one that does not fit is shown as ####, so its format counts too
			p.longest[i] = max(p.longest[i], utf8.RuneCountInString(c.Format))
		}
	}
}

// At returns where a cell (column 0 = A) or, with a column of -1, a whole row is; the
// zero Copy for a row that was not noted, such as the header.
func (p *Preview) At(column, row int) problem.Copy {
	p.mu.RLock()
	defer p.mu.RUnlock()
	i, found := slices.BinarySearchFunc(p.rows, row, func(r notedRow, row int) int { return cmp.Compare(int(r.row), row) })
	if !found {
		return problem.Copy{}
	}
	place := strconv.Itoa(i + 2) // row 1 is the header
	if column >= 0 {
		at := column
		for _, own := range p.Own {
			if own < column {
				at--
			}
		}
		place = cell.ColumnName(at) + place
	}
	return problem.Copy{File: p.File, Sheet: ResultsSheet, Place: place, Row: int(p.rows[i].source)}
}

// Fits returns a problem if a results workbook has no room for the noted columns and Claimsheet's own beside them; contacts is as in
// Workbook. The problem names the cell of the last column.
func (p *Preview) Fits(sheet cell.Sheet, contacts bool) error {
	columns, added := max(len(sheet.Header), len(p.longest)), len(cell.ResultHeaders("", contacts))
	room := xlsx.MaxColumns - added
	if columns-len(p.Own) <= room {
		return nil
	}
	return problem.At(sheet.At(columns-1, sheet.HeaderRow), "too-wide",
		"the sheet reaches to its column %s, and the results workbook needs %d columns beside them; expected at most %d columns",
		cell.ColumnName(columns-1), added, room).
		Hinted("delete the cells far to the right: look for a stray one")
}

// narrowest and widest bound a source column's width in characters.
const (
	narrowest = 8
	widest    = 48
)

// widths returns widths in which the source's values and headers are readable, for all columns, including those beyond the last header.
func (p *Preview) widths(header []string) []float64 {
	widths := make([]float64, max(len(header), len(p.longest)))
	for i := range widths {
		n := narrowest
		if i < len(p.longest) {
			n = max(n, p.longest[i])
		}
		if i < len(header) {
			n = max(n, headerWidth(header[i]))
		}
		widths[i] = float64(min(n, widest) + 2)
	}
	return widths
}

// headerWidth is the width of a header with room for the filter's button.
func headerWidth(header string) int { return utf8.RuneCountInString(header) + 2 }
