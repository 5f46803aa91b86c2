package reports

import (
	"unicode/utf8"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"claimsheet/reports/xlsx"
)

// ColumnWidths measures a sheet's columns during a pass that is made for something
// else, so that a workbook does not read the sheet once more. The zero ColumnWidths
// has measured nothing.
type ColumnWidths struct {
	longest []int // characters, by column
}

// narrowest and widest bound a source column's width in characters.
const (
	narrowest = 8
	widest    = 48
)

// Measure takes a row into account.
func (r *ColumnWidths) Measure(record cell.Record) {
	for i := range record.Cells {
		c := &record.Cells[i]
		if c.Kind == cell.Empty {
			continue
		}
		for len(r.longest) <= i {
			r.longest = append(r.longest, 0)
		}
		most := r.longest[i]
		if most >= widest || len(c.Shown) <= most && c.Kind != cell.Date {
			continue
		}
		r.longest[i] = max(most, utf8.RuneCountInString(c.Shown))
		if c.Kind == cell.Date { // one that does not fit is shown as ####, so its format counts too
			r.longest[i] = max(r.longest[i], utf8.RuneCountInString(c.Format))
		}
	}
}

// Fits returns a problem if a results workbook has no room for the measured columns
// and Claimsheet's own beside them; own and contacts are as in Workbook. The problem
// names the cell of the last column.
func (r *ColumnWidths) Fits(sheet cell.Sheet, own []int, contacts bool) error {
	columns, added := max(len(sheet.Header), len(r.longest)), len(cell.ResultHeaders("", contacts))
	room := xlsx.MaxColumns - added
	if columns-len(own) <= room {
		return nil
	}
	return problem.At(sheet.At(columns-1, sheet.HeaderRow), "too-wide",
		"the sheet reaches to its column %s, and the results workbook needs %d columns beside them; expected at most %d columns",
		cell.ColumnName(columns-1), added, room).
		Hinted("delete the cells far to the right: look for a stray one")
}

// widths returns widths in which the source's values and headers are readable, for all
// columns, including those beyond the last header.
func (b Workbook) widths() ([]float64, error) {
	measured := b.Widths
	if measured == nil {
		measured = new(ColumnWidths)
		for record, err := range b.Records {
			if err != nil {
				return nil, err
			}
			measured.Measure(record)
		}
	}
	widths := make([]float64, max(len(b.Sheet.Header), len(measured.longest)))
	for i := range widths {
		n := 0
		if i < len(measured.longest) {
			n = measured.longest[i]
		}
		if i < len(b.Sheet.Header) {
			n = max(n, headerWidth(b.Sheet.Header[i]))
		}
		widths[i] = float64(min(max(n, narrowest), widest) + 2)
	}
	return widths, nil
}

// headerWidth is the width of a header with room for the filter's button.
func headerWidth(header string) int { return utf8.RuneCountInString(header) + 2 }
