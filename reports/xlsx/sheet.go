package xlsx

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"claimsheet/mapping/cell"
)

// What a sheet can hold.
const (
	MaxRows    = excelize.TotalRows
	MaxColumns = excelize.MaxColumns
	maxLinks   = excelize.TotalSheetHyperlinks // more make Excel call the file damaged
)

// Layout is how a sheet looks.
type Layout struct {
	Widths []float64 // in characters, by column
	Hidden []bool    // by column; columns beyond its end are visible
	// Paint colours columns of a table below the header by what their cells say.
	Paint []Paint
}

// Paint colours the cells of a column by their words. The colours follow sorting and
// editing.
type Paint struct {
	Column int // 0 = A
	Rules  []Rule
}

// Rule is a word and the colour of the cells that say it.
type Rule struct {
	Word   string
	Colour Colour
}

// SheetWriter writes a sheet, row by row and cell by cell, in order. The first error
// stays: End and Close return it, and later calls do nothing.
type SheetWriter struct {
	rows
	name     string
	path     string // of the part in the archive
	part     *part
	layout   Layout
	isTable  bool
	links    []link
	targets  []byte // of links, one after the other: a string for each would keep alive what it is a piece of
	comments int
	drawing  string // the elements of its chart and comments
	relation int    // relationships that excelize has given its chart and comments
}

// NewSheet adds a sheet, or takes the empty one of this name, and begins its rows.
// The sheet written before it must be closed.
func (w *Workbook) NewSheet(name string, l Layout) (*SheetWriter, error) {
	return w.newSheet(name, l, false)
}

func (w *Workbook) newSheet(name string, l Layout, isTable bool) (*SheetWriter, error) {
	if err := w.AddSheet(name); err != nil {
		return nil, err
	}
	path, err := w.partOf(name)
	if err != nil {
		return nil, err
	}
	s := &SheetWriter{name: name, path: path, layout: l, isTable: isTable}
	if s.part, err = w.archive.begin(path); err != nil {
		return nil, err
	}
	w.open = s.part
	s.rows = rows{book: w, to: s.part, buf: w.space[:0]}
	s.head(w.file.GetSheetList()[0] == name)
	return s, nil
}

// head writes the sheet's part up to its rows. The header of a table stays visible.
// Printed, all columns fit on one page.
func (s *SheetWriter) head(first bool) {
	s.raw(xmlHeader + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"` +
		` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView`)
	if first {
		s.raw(` tabSelected="1"`)
	}
	s.raw(` workbookViewId="0">`)
	if s.isTable {
		s.raw(`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A2" sqref="A2"/>`)
	}
	s.raw(`</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>`)
	s.columnWidths()
	s.raw(`<sheetData>`)
}

// columnWidths writes the columns' widths and which are hidden, equal neighbours
// together.
func (s *SheetWriter) columnWidths() {
	l := s.layout
	if len(l.Widths) == 0 {
		return
	}
	hidden := func(i int) bool { return i < len(l.Hidden) && l.Hidden[i] }
	s.raw(`<cols>`)
	for from, i := 0, 1; i <= len(l.Widths); i++ {
		if i < len(l.Widths) && l.Widths[i] == l.Widths[from] && hidden(i) == hidden(from) {
			continue
		}
		s.raw(fmt.Sprintf(`<col min="%d" max="%d" width="%s" customWidth="1"`, from+1, i, strconv.FormatFloat(l.Widths[from], 'f', -1, 64)))
		if hidden(from) {
			s.raw(` hidden="1"`)
		}
		s.raw(`/>`)
		from = i
	}
	s.raw(`</cols>`)
}

// Name returns the sheet's name.
func (s *SheetWriter) Name() string { return s.name }

// Close completes the sheet.
func (s *SheetWriter) Close() error { return s.close(0) }

// close completes the sheet; a table's filter covers this many rows, including the
// header.
func (s *SheetWriter) close(filtered int) error {
	s.raw(`</sheetData>`)
	if s.isTable {
		if err := s.filter(filtered); err != nil {
			return err
		}
	}
	s.hyperlinks()
	if s.isTable {
		s.raw(`<pageSetup orientation="landscape" fitToHeight="0"/>`)
	}
	s.raw(s.drawing + `</worksheet>`)
	if err := s.flush(); err != nil {
		return err
	}
	s.book.rows[s.path] = s.count
	return s.part.close()
}

// filter writes the buttons and the colours of a table. excelize keeps the hidden
// name that a filter needs in the workbook's own part.
func (s *SheetWriter) filter(rows int) error {
	area := fmt.Sprintf("A1:%s%d", cell.ColumnName(len(s.layout.Widths)-1), max(rows, 1))
	if err := s.book.file.AutoFilter(s.name, area, nil); err != nil {
		return err
	}
	s.raw(`<autoFilter ref="` + area + `"/>`)
	for _, p := range s.layout.Paint {
		column := cell.ColumnName(p.Column)
		s.raw(fmt.Sprintf(`<conditionalFormatting sqref="%s2:%[1]s%d">`, column, MaxRows))
		for i, r := range p.Rules {
			id, err := s.book.conditional(r.Colour)
			if err != nil {
				return err
			}
			s.raw(fmt.Sprintf(`<cfRule type="cellIs" dxfId="%d" priority="%d" stopIfTrue="1" operator="equal"><formula>"%s"</formula></cfRule>`,
				id, i+1, attribute.Replace(r.Word)))
		}
		s.raw(`</conditionalFormatting>`)
	}
	return nil
}

// link is a clickable cell: to an address outside the workbook, or to a place in it.
type link struct {
	row, column int32
	end         int // of its target in targets
	outside     bool
}

// hasRoom reports whether the sheet may have another link.
func (s *SheetWriter) hasRoom() bool { return len(s.links) < s.book.maxLinks }

// Link makes the next cell lead to a web address and reports whether it does: an
// address that a program would refuse or run stays a text, and so do those beyond
// the limit of a sheet.
func (s *SheetWriter) Link(address string) bool {
	if !s.hasRoom() || !isWebAddress(address) {
		return false
	}
	s.addLink(address, true)
	return true
}

// LinkTo makes the next cell lead to a place of the workbook (see Place) and reports
// whether it does.
func (s *SheetWriter) LinkTo(place string) bool {
	if place == "" || !s.hasRoom() {
		return false
	}
	s.addLink(place, false)
	return true
}

func (s *SheetWriter) addLink(target string, outside bool) {
	s.targets = append(s.targets, target...)
	s.links = append(s.links, link{int32(s.row), int32(s.column), len(s.targets), outside})
}

// eachLink yields the links with their targets, in the order of the cells.
func (s *SheetWriter) eachLink(yield func(l link, target string) bool) {
	begin := 0
	for _, l := range s.links {
		if !yield(l, string(s.targets[begin:l.end])) {
			return
		}
		begin = l.end
	}
}

// Place is a cell of a sheet as a link names it.
func Place(sheet, cell string) string {
	return fmt.Sprintf("'%s'!%s", strings.ReplaceAll(sheet, "'", "''"), cell)
}

// hyperlinks writes the links. The part that holds the sheet's relationships has the
// addresses, see relationships.
func (s *SheetWriter) hyperlinks() {
	if len(s.links) == 0 {
		return
	}
	related := false
	s.raw(`<hyperlinks>`)
	for l, target := range s.eachLink {
		cell := cell.ColumnName(int(l.column)) + strconv.Itoa(int(l.row))
		s.raw(`<hyperlink ref="` + cell)
		if l.outside {
			related = true
			s.raw(`" r:id="link` + cell)
		} else {
			s.raw(`" location="` + attribute.Replace(target))
		}
		s.raw(`"/>`)
		s.spill()
	}
	s.raw(`</hyperlinks>`)
	if related {
		s.book.related[strings.Replace(s.path, "xl/worksheets/", "xl/worksheets/_rels/", 1)+".rels"] = s
	}
}

// relationships writes the addresses of the links.
func (s *SheetWriter) relationships(to io.Writer) error {
	w := bufio.NewWriter(to)
	for l, target := range s.eachLink {
		if l.outside {
			_, _ = w.WriteString(`<Relationship Id="link` + cell.ColumnName(int(l.column)) + strconv.Itoa(int(l.row)) +
				`" Type="` + excelize.SourceRelationshipHyperLink + `" Target="`)
			_, _ = attribute.WriteString(w, target)
			_, _ = w.WriteString(`" TargetMode="External"/>`)
		}
	}
	return w.Flush() // with the first error
}

var attribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// longestAddress is how long a link may be: Excel calls a file with a longer one
// damaged.
const longestAddress = 2079

// isWebAddress reports whether s can be made clickable: a web address without
// anything that a program would refuse or run.
func isWebAddress(s string) bool {
	if len(s) > longestAddress || strings.ContainsFunc(s, notInAddress) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func notInAddress(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r)
}

// maxComments bounds the comments of a sheet: programs become slow with thousands.
const maxComments = 1000

// Comment puts a comment on a cell. Comments beyond the first thousand are left out.
func (s *SheetWriter) Comment(cell, author, text string) error {
	if s.comments == maxComments {
		return nil
	}
	if s.comments++; s.comments == 1 {
		s.drawing += fmt.Sprintf(`<legacyDrawing r:id="rId%d"/>`, s.relation+1)
		s.relation += 2 // the drawing and the texts
	}
	return s.book.file.AddComment(s.name, excelize.Comment{
		Cell: cell, Author: author, Text: Cut(text, "…"),
		Width: 320, Height: uint(40 + 18*(1+len(text)/45)),
	})
}

// BarChart draws bars beside a table of the sheet: for each row from first to last a
// name in column A and a number in column B.
func (s *SheetWriter) BarChart(title string, first, last int) error {
	s.relation++
	s.drawing += fmt.Sprintf(`<drawing r:id="rId%d"/>`, s.relation)
	column := func(letter string) string {
		return fmt.Sprintf("'%s'!$%s$%d:$%s$%d", s.name, letter, first, letter, last)
	}
	return s.book.file.AddChart(s.name, fmt.Sprint("E", first-1), &excelize.Chart{
		Type:      excelize.Bar,
		Series:    []excelize.ChartSeries{{Name: "Rows", Categories: column("A"), Values: column("B"), Fill: fill(Strong.Ground)}},
		Title:     excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: title}}},
		Legend:    excelize.ChartLegend{Position: "none"},
		XAxis:     excelize.ChartAxis{ReverseOrder: true, Font: excelize.Font{Color: Plain.Text}}, // the first bar on top
		YAxis:     excelize.ChartAxis{None: true},                                                 // the bars show their numbers
		PlotArea:  excelize.ChartPlotArea{ShowVal: true},
		Dimension: excelize.ChartDimension{Width: 460, Height: 300},
	})
}

// Table is a sheet of rows below a header. When the sheet is full the table continues
// in another one of the same name with a number: 300,000 rows can need more steps
// than a sheet has rows.
type Table struct {
	*SheetWriter
	book   *Workbook
	table  TableLayout
	sheets int
	used   int // rows of the current sheet, including the header
}

// TableLayout is how a table looks.
type TableLayout struct {
	Layout
	Name    string // of its first sheet
	Headers []string
	Ours    int   // the first column whose header stands out
	Numbers []int // columns of numbers: their headers stand on the right
	MaxRows int   // of a sheet, including the header; 0 for as many as it can hold
}

// NewTable begins a table with its header. A row is begun with Next; its cells are
// written in order, and End ends it.
func (w *Workbook) NewTable(l TableLayout) (*Table, error) {
	if l.MaxRows == 0 {
		l.MaxRows = MaxRows
	}
	t := &Table{book: w, table: l}
	return t, t.start()
}

// SheetName returns the name of a table's nth sheet, from 1.
func SheetName(table string, n int) string {
	if n == 1 {
		return table
	}
	return fmt.Sprintf("%s %d", table, n)
}

func (t *Table) start() (err error) {
	t.sheets++
	if t.SheetWriter, err = t.book.newSheet(SheetName(t.table.Name, t.sheets), t.table.Layout, true); err != nil {
		return err
	}
	t.used = 1
	t.Begin(1)
	for i, h := range t.table.Headers {
		l := Look{Bold: true, Colour: Plain, Right: slices.Contains(t.table.Numbers, i)}
		if i >= t.table.Ours {
			l.Colour = Strong
		}
		t.Text(t.book.Style(l), h)
	}
	return t.End()
}

// Next begins the next row, in the next sheet when this one is full.
func (t *Table) Next() error { return t.NextHigh(1) }

// NextHigh is Next for a row that is high enough for this many lines of text: programs do
// not adjust the height themselves. Lines says how many a text needs.
func (t *Table) NextHigh(lines int) error {
	if t.used == t.table.MaxRows {
		if err := t.Close(); err != nil {
			return err
		}
		if err := t.start(); err != nil {
			return err
		}
	}
	t.used++
	t.beginHigh(t.used, lines)
	return nil
}

// Lines returns roughly how many lines a text takes in a column (0 = A) where it wraps.
func (t *Table) Lines(column int, text string) (lines int) {
	width := int(t.table.Widths[column])
	for line := range strings.SplitSeq(text, "\n") {
		lines += max(1, (utf8.RuneCountInString(line)+width-1)/width)
	}
	return lines
}

// NextBelow begins a row below the table, outside its filter, with a gap between.
func (t *Table) NextBelow() { t.Begin(t.used + 2) }

// Close completes the table.
func (t *Table) Close() error { return t.close(t.used) }
