package reports

import (
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Ruler measures a sheet's columns while somebody else goes through its rows,
// so that a workbook need not read the sheet once more for it. The zero Ruler
// has measured nothing.
type Ruler struct {
	longest []int // characters, by column
}

// narrowest and widest are a source column's width in characters.
const (
	narrowest = 8
	widest    = 48
)

// Measure takes a row into account.
func (r *Ruler) Measure(record cell.Record) {
	for i := range record.Cells {
		c := &record.Cells[i]
		if c.Kind == cell.Empty {
			continue
		}
		for len(r.longest) <= i {
			r.longest = append(r.longest, 0)
		}
		if most := r.longest[i]; most < widest && (len(c.Shown) > most || c.Kind == cell.Date) {
			r.longest[i] = max(most, shownLength(c))
		}
	}
}

// Fits tells whether a results workbook has room for the columns measured and
// Claimsheet's own beside them; own are those of an earlier one, as in Book. The
// problem names the cell of the last column.
func (r *Ruler) Fits(sheet cell.Sheet, own []int) error {
	columns := max(len(sheet.Header), len(r.longest))
	room := excelize.MaxColumns - len(ResultHeaders(""))
	if columns-len(own) <= room {
		return nil
	}
	return problem.At(sheet.At(columns-1, sheet.HeaderRow), "too-wide",
		"the sheet reaches to its column %s, and the results workbook needs %d columns beside them; expected at most %d columns",
		cell.ColumnName(columns-1), len(ResultHeaders("")), room).
		Hinted("delete what stands far to the right: look for a stray cell there")
}

// shownLength is how many characters a cell shows, roughly. A date or an amount
// that does not fit shows as ####, so its format counts too.
func shownLength(c *cell.Cell) int {
	n := utf8.RuneCountInString(c.Shown)
	if c.Kind == cell.Date {
		n = max(n, utf8.RuneCountInString(c.Format))
	}
	return n
}

// widths are those in which the columns' values and headers can be read: as
// many as there are, those beyond the last header included.
func (r *Ruler) widths(header []string) []float64 {
	widths := make([]float64, max(len(header), len(r.longest)))
	for i := range widths {
		n := 0
		if i < len(r.longest) {
			n = r.longest[i]
		}
		if i < len(header) {
			n = max(n, utf8.RuneCountInString(header[i])+2) // room for the filter's button
		}
		widths[i] = float64(min(max(n, narrowest), widest) + 2)
	}
	return widths
}

// widths measures the source's columns, where nobody has.
func (b Book) widths() ([]float64, error) {
	ruler := b.Ruler
	if ruler == nil {
		ruler = new(Ruler)
		for record, err := range b.Records {
			if err != nil {
				return nil, err
			}
			ruler.Measure(record)
		}
	}
	return ruler.widths(b.Sheet.Header), nil
}
