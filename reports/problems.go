package reports

import (
	"github.com/xuri/excelize/v2"
)

// writeProblems writes one line per problem, in the order given; nothing when
// there are none.
func writeProblems(w *workbook, b Book) error {
	if len(b.Problems) == 0 {
		return nil
	}
	t := &table{
		book: w, name: "Problems", maxRows: excelize.TotalRows,
		headers: []string{"Where", "Problem", "Cell says", "How to fix", "Code"},
		widths:  []float64{24, 60, 30, 60, 22},
	}
	if err := t.begin(); err != nil {
		return err
	}
	for _, p := range b.Problems {
		row := []any{text(p.Where.String()), text(p.Message), text(p.Seen), text(p.Hint), text(p.Code)}
		for i, value := range row {
			if value == nil {
				continue
			}
			cell, err := w.styles.cell(value, look{wrap: true})
			if err != nil {
				return err
			}
			row[i] = cell
		}
		if err := t.add(row); err != nil {
			return err
		}
	}
	return t.finish()
}
