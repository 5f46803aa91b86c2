package reports

import (
	"fmt"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping"
)

// table is a sheet of rows below a header, which is bold, frozen and has a
// filter. When the sheet is full it goes on in another one of the same name
// with a number: 300,000 rows ask for more steps than a sheet has lines.
type table struct {
	book    *workbook
	name    string
	headers []string
	widths  []float64 // in characters, by column
	ours    int       // the first column that Claimsheet adds; others are the source's
	maxRows int       // rows of a sheet, the header included

	sheet  string // the current sheet's name
	sheets int
	rows   int // written to the current sheet, the header included
	stream *excelize.StreamWriter
}

// begin starts the first or the next sheet with its header.
func (t *table) begin() (err error) {
	t.sheets++
	t.sheet, t.rows = t.name, 0
	if t.sheets > 1 {
		t.sheet = fmt.Sprintf("%s %d", t.name, t.sheets)
	}
	if t.stream, err = t.book.sheet(t.sheet); err != nil {
		return err
	}
	for i, width := range t.widths {
		if err := t.stream.SetColWidth(i+1, i+1, width); err != nil {
			return err
		}
	}
	if err := t.stream.SetPanes(&excelize.Panes{
		Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft",
	}); err != nil {
		return err
	}
	header := make([]any, len(t.headers))
	for i, h := range t.headers {
		l := look{bold: true, colour: plain}
		if i >= t.ours {
			l.colour = strong
		}
		if header[i], err = t.book.styles.cell(h, l); err != nil {
			return err
		}
	}
	return t.add(header)
}

// add writes a row of values.
func (t *table) add(values []any, options ...excelize.RowOpts) error {
	if t.rows == t.maxRows {
		if err := t.finish(); err != nil {
			return err
		}
		if err := t.begin(); err != nil {
			return err
		}
	}
	t.rows++
	return t.stream.SetRow(fmt.Sprintf("A%d", t.rows), values, options...)
}

// finish ends the current sheet.
func (t *table) finish() error {
	last := fmt.Sprintf("%s%d", mapping.ColumnName(len(t.headers)-1), t.rows)
	if err := t.book.AutoFilter(t.sheet, "A1:"+last, nil); err != nil {
		return err
	}
	return t.stream.Flush()
}

// sheet makes a sheet after those there are and starts to stream it.
func (w *workbook) sheet(name string) (*excelize.StreamWriter, error) {
	const given = "Sheet1" // a new workbook has this one
	if w.GetSheetName(0) == given {
		if err := w.SetSheetName(given, name); err != nil {
			return nil, err
		}
	} else if _, err := w.NewSheet(name); err != nil {
		return nil, err
	}
	// Printed, all columns stand on one page.
	fit, landscape, pages := true, "landscape", 0
	if err := w.SetSheetProps(name, &excelize.SheetPropsOptions{FitToPage: &fit}); err != nil {
		return nil, err
	}
	if err := w.SetPageLayout(name, &excelize.PageLayoutOptions{Orientation: &landscape, FitToHeight: &pages}); err != nil {
		return nil, err
	}
	return w.NewStreamWriter(name)
}
