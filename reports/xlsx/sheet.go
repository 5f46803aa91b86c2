package xlsx

import (
	"fmt"
	"io"
	"strconv"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
)

// What a sheet can hold.
const (
	MaxRows    = excelize.TotalRows
	MaxColumns = excelize.MaxColumns
)

// Layout is how a sheet looks. One with headers is a table: its header stays visible and has the buttons of a filter, and when the sheet is
// full the table continues in another one of the same name with a number, because 300,000 rows can need more steps than a sheet has rows.
type Layout struct {
	Name    string    // of its first sheet
	Widths  []float64 // in characters, by column
	Hidden  []bool    // by column; columns beyond its end are visible
	Headers []string
	Ours    int // the first column whose header stands out
}

// Sheet writes a sheet, row by row and cell by cell, in order: Next begins a row, whose
// cells follow, and End ends it. Close returns the workbook's first error.
type Sheet struct {
	layout   Layout
	w        *Writer
	to       io.Writer // into the archive
	buffer   []byte
	name     string
	part     string // of the archive
	sheets   int    // begun
	row      int    // the current one, from 1
	column   int    // the next cell's, 0 = A
	number   string // the row's
	letters  []string
	comments int
}

// NewSheet adds a sheet behind the others and begins its rows. The first one is shown
// when the file is opened. The sheet written before it must be closed.
func (w *Writer) NewSheet(l Layout) *Sheet {
	s := &Sheet{layout: l, w: w}
	s.start()
	return s
}

// start begins the next sheet, up to its header.
func (s *Sheet) start() {
	*s = Sheet{layout: s.layout, w: s.w, sheets: s.sheets + 1, letters: s.letters, buffer: s.buffer, name: s.layout.Name}
	if s.sheets > 1 {
		s.name += " " + strconv.Itoa(s.sheets)
	}
	var index int
	var err error
	if len(s.w.written) == 0 {
		err = s.w.file.SetSheetName("Sheet1", s.name) // a new workbook has this one
	} else {
		index, err = s.w.file.NewSheet(s.name)
	}
	s.w.fail(err)
	s.part = fmt.Sprintf("xl/worksheets/sheet%d.xml", index+1)
	to, err := s.w.zip.Create(s.part)
	if err != nil {
		s.w.fail(err)
		to = io.Discard
	}
	s.to = to
	s.head(index == 0)
	if s.layout.Headers == nil {
		return
	}
	s.Next(1, false)
	for i, header := range s.layout.Headers {
		style := Style{Bold: true, Colour: Plain}
		if i >= s.layout.Ours {
			style.Colour = Strong
		}
		s.Text(style, header)
	}
	s.End()
}

// head writes the sheet's part up to its rows. Printed, all columns fit on one page.
func (s *Sheet) head(first bool) {
	s.raw(xmlHeader, `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`,
		` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">`,
		`<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView`)
	if first {
		s.raw(` tabSelected="1"`)
	}
	s.raw(` workbookViewId="0">`)
	if s.layout.Headers != nil {
		s.raw(`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>`,
			`<selection pane="bottomLeft" activeCell="A2" sqref="A2"/>`)
	}
	s.raw(`</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>`)
	if len(s.layout.Widths) > 0 {
		s.raw(`<cols>`)
		for i, width := range s.layout.Widths {
			column := strconv.Itoa(i + 1)
			s.raw(`<col min="`, column, `" max="`, column, `" width="`, strconv.FormatFloat(width, 'f', -1, 64), `" customWidth="1"`)
			if i < len(s.layout.Hidden) && s.layout.Hidden[i] {
				s.raw(` hidden="1"`)
			}
			s.raw(`/>`)
		}
		s.raw(`</cols>`)
	}
	s.raw(`<sheetData>`)
}

// Close completes the sheet.
func (s *Sheet) Close() error {
	s.raw(`</sheetData>`)
	if s.layout.Headers != nil {
		s.filter()
		s.raw(`<pageSetup orientation="landscape" fitToHeight="0"/>`)
	}
	if s.comments > 0 {
		s.raw(`<legacyDrawing r:id="rId1"/>`) // as excelize names the drawing
	}
	s.raw(`</worksheet>`)
	s.w.written[s.part] = true
	s.flush()
	s.w.waitForPacker()
	return s.w.err
}

// filter writes the buttons of a table. excelize keeps the hidden name that a filter needs in the workbook's own part.
func (s *Sheet) filter() {
	area := fmt.Sprintf("A1:%s%d", cell.ColumnName(len(s.layout.Widths)-1), s.row)
	s.w.fail(s.w.file.AutoFilter(s.name, area, nil))
	s.raw(`<autoFilter ref="`, area, `"/>`)
}

// maxComments bounds the comments of a sheet: programs become slow with thousands.
const maxComments = 1000

// Comment puts a comment on the next cell. Comments beyond the first thousand are left out.
func (s *Sheet) Comment(text string) {
	if s.comments == maxComments {
		return
	}
	s.comments++
	s.w.fail(s.w.file.AddComment(s.name, excelize.Comment{
		Cell: cell.ColumnName(s.column) + s.number, Author: "Claimsheet", Text: cut(text),
		Width: 320, Height: uint(40 + 18*(1+len(text)/45)),
	}))
}
