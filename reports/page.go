package reports

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
)

// page is a sheet under construction. excelize makes the sheet but for its rows
// and many of its links, so that everything about it can be asked of excelize;
// the rows go past it, straight into the archive.
type page struct {
	*rows
	book    *workbook
	name    string
	path    string // of the part in the archive
	columns int
	part    *part
	head    []byte // of the part, as it was written
	links   links
}

// layout is how a page looks.
type layout struct {
	widths []float64 // in characters, by column
	hidden []bool    // by column; columns beyond its end are seen
	// table tells that row 1 is a header above a table: it stays in sight and
	// has a filter. Printed, a table is landscape.
	table bool
	paint []paint
}

// paint colours the cells of a column below the header by what they say.
type paint struct {
	column int // 0 = A
	rules  []rule
}

// rule is a word and the colour of the cells that say it.
type rule struct {
	word   string
	colour colour
}

// page makes a sheet behind those there are, or takes the one that is there
// under this name already and empty, and starts its rows.
func (w *workbook) page(name string, l layout) (*page, error) {
	if err := w.tab(name); err != nil {
		return nil, err
	}
	path, err := w.partOf(name)
	if err != nil {
		return nil, err
	}
	p := &page{book: w, name: name, path: path, columns: len(l.widths), links: links{most: w.maxLinks}}
	if l.table {
		if err := p.tabulate(l.paint); err != nil {
			return nil, err
		}
	}
	if err := p.fit(); err != nil {
		return nil, err
	}
	if p.head, _, err = w.skeleton(path); err != nil {
		return nil, err
	}
	if p.part, err = w.archive.begin(path); err != nil {
		return nil, err
	}
	w.open = p.part
	p.rows = newRows(p.part, w.space)
	p.raw(p.head)
	p.columnWidths(l)
	p.raw([]byte(`<sheetData>`))
	return p, nil
}

// columnWidths writes how wide the columns are and which are hidden, those alike
// together: excelize takes minutes for a sheet of thousands of columns.
func (p *page) columnWidths(l layout) {
	if len(l.widths) == 0 {
		return
	}
	hidden := func(i int) bool { return i < len(l.hidden) && l.hidden[i] }
	p.raw([]byte(`<cols>`))
	for from, i := 0, 1; i <= len(l.widths); i++ {
		if i < len(l.widths) && l.widths[i] == l.widths[from] && hidden(i) == hidden(from) {
			continue
		}
		p.raw(fmt.Appendf(nil, `<col min="%d" max="%d" width="%s" customWidth="1"`, from+1, i, strconv.FormatFloat(l.widths[from], 'f', -1, 64)))
		if hidden(from) {
			p.raw([]byte(` hidden="1"`))
		}
		p.raw([]byte(`/>`))
		from = i
	}
	p.raw([]byte(`</cols>`))
}

// tabulate freezes the header and lets the columns be filtered and coloured.
func (p *page) tabulate(painted []paint) error {
	if err := p.book.SetPanes(p.name, &excelize.Panes{
		Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft",
		Selection: []excelize.Selection{{SQRef: "A2", ActiveCell: "A2", Pane: "bottomLeft"}},
	}); err != nil {
		return err
	}
	landscape, pages := "landscape", 0
	if err := p.book.SetPageLayout(p.name, &excelize.PageLayoutOptions{Orientation: &landscape, FitToHeight: &pages}); err != nil {
		return err
	}
	for _, c := range painted {
		if err := p.book.paintColumn(p.name, c); err != nil {
			return err
		}
	}
	return p.filter(1)
}

// filter gives the columns of a table its buttons.
func (p *page) filter(rows int) error {
	last := fmt.Sprintf("%s%d", cell.ColumnName(p.columns-1), max(rows, 1))
	return p.book.AutoFilter(p.name, "A1:"+last, nil)
}

// fit lets all columns stand on one page when printed. It comes after a
// filter, with which excelize forgets it.
func (p *page) fit() error {
	fit := true
	return p.book.SetSheetProps(p.name, &excelize.SheetPropsOptions{FitToPage: &fit})
}

// finish ends a page. rows is how many of them the filter is for, the header
// included; 0 for a page without one.
func (p *page) finish(rows int) error {
	if rows > 0 {
		if err := p.filter(rows); err != nil {
			return err
		}
		if err := p.fit(); err != nil {
			return err
		}
	}
	if err := p.book.announce(p.name, p.links); err != nil {
		return err
	}
	head, tail, err := p.book.skeleton(p.path)
	if err != nil {
		return err
	}
	if !bytes.Equal(head, p.head) {
		return errors.New("the beginning of a sheet changed while its rows were written")
	}
	p.links.finish(p.rows, tail)
	if err := p.flush(); err != nil {
		return err
	}
	p.book.relate(p.path, p.links)
	p.book.counted[p.path] = p.count
	return p.part.close()
}

// tab makes a sheet, if it is not there.
func (w *workbook) tab(name string) error {
	const given = "Sheet1" // a new workbook has this one
	sheets := w.GetSheetList()
	switch {
	case slices.Contains(sheets, name):
		return nil
	case slices.Contains(sheets, given):
		return w.SetSheetName(given, name)
	}
	_, err := w.NewSheet(name)
	return err
}

// partOf is the name of a sheet's part in the archive.
func (w *workbook) partOf(sheet string) (string, error) {
	for id, name := range w.GetSheetMap() {
		if name == sheet {
			return fmt.Sprintf("xl/worksheets/sheet%d.xml", id), nil
		}
	}
	return "", fmt.Errorf("the workbook has no sheet %s", sheet)
}

// skeleton is a sheet without rows as excelize writes it by now: what stands
// before its columns and rows, and what after them.
func (w *workbook) skeleton(path string) (head, tail []byte, err error) {
	all, err := w.parts()
	if err != nil {
		return nil, nil, err
	}
	content, ok := all.content[path]
	if !ok {
		return nil, nil, fmt.Errorf("the workbook has no part %s", path)
	}
	head, tail, found := bytes.Cut(content.Bytes(), []byte(`<sheetData></sheetData>`))
	if !found {
		return nil, nil, fmt.Errorf("the part %s has no place for rows", path)
	}
	// Of the empty sheet; some programs read no further than it says.
	head = bytes.Replace(head, []byte(`<dimension ref="A1"></dimension>`), nil, 1)
	return head, slices.Concat([]byte(`</sheetData>`), tail), nil
}

// parts are the workbook's parts as excelize writes them by now.
func (w *workbook) parts() (*parts, error) {
	all := newParts()
	w.to = all
	_, err := w.WriteToBuffer() // nothing goes there: the parts are w.to's
	return all, err
}
