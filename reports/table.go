package reports

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"claimsheet/mapping/cell"
)

// table is a sheet of rows below a header. When the sheet is full it goes on in
// another one of the same name with a number: 300,000 rows ask for more steps
// than a sheet has lines.
//
// A row is begun with line, its cells are written in order, and end ends it.
type table struct {
	*page
	book    *workbook
	name    string
	layout  layout
	headers []string
	ours    int   // the first column that Claimsheet adds; others are the source's
	numbers []int // columns whose headers stand on the right, above numbers
	maxRows int   // rows of a sheet, the header included

	sheets int
	used   int // rows of the current sheet, the header included
}

// start begins the table with its header.
func (t *table) start() (err error) {
	t.sheets++
	t.layout.table = true
	if t.page, err = t.book.page(sheetOf(t.name, t.sheets), t.layout); err != nil {
		return err
	}
	t.used = 1
	t.begin(1)
	for i, h := range t.headers {
		l := look{bold: true, colour: plain, right: slices.Contains(t.numbers, i)}
		if i >= t.ours {
			l.colour = strong
		}
		style, err := t.book.styles.id(l)
		if err != nil {
			return err
		}
		t.text(style, h)
	}
	return t.end()
}

// line begins the next row, in the next sheet when this one is full.
func (t *table) line() error { return t.lineFor() }

// lineFor is line for a row that is high enough for these texts in the first
// columns, where they wrap: programs do not see to it by themselves.
func (t *table) lineFor(texts ...string) error {
	if t.used == t.maxRows {
		if err := t.close(); err != nil {
			return err
		}
		if err := t.start(); err != nil {
			return err
		}
	}
	t.used++
	lines := 1
	for i, text := range texts {
		lines = max(lines, wrapped(text, int(t.layout.widths[i])))
	}
	t.beginHigh(t.used, lines)
	return nil
}

// wrapped is how many lines a text takes in a column, roughly.
func wrapped(text string, width int) (lines int) {
	for line := range strings.SplitSeq(text, "\n") {
		lines += max(1, (utf8.RuneCountInString(line)+width-1)/width)
	}
	return lines
}

// close ends the current sheet.
func (t *table) close() error { return t.page.finish(t.used) }

// at is the reference of the next cell.
func (t *table) at() string { return t.ref(t.column) }

// ref is the reference of a cell of the current row.
func (t *table) ref(column int) string { return cell.ColumnName(column) + strconv.Itoa(t.row) }
