package cell

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"claimsheet/mapping/problem"
)

// The most that a sheet holds. Spreadsheet programs set all limits but the last,
// which keeps a damaged file from filling the memory.
const (
	MaxRows     = 1_048_576
	MaxColumns  = 16_384
	MaxText     = 32_767   // characters of one cell
	MaxRowBytes = 16 << 20 // of the texts of one row
)

// Fits reports whether a cell can hold a text. Spreadsheet programs count UTF-16 units.
func Fits[T string | []byte](text T) bool {
	if len(text) <= MaxText {
		return true
	}
	units := 0
	for _, r := range string(text) {
		units += max(1, utf16.RuneLen(r))
	}
	return units <= MaxText
}

// Sheet describes a sheet, without its records.
type Sheet struct {
	File      string   // the path as the user gave it
	Book      string   // the file's name in messages; "" in a run of one sheet
	Table     int      // the sheet's position among the sheets of the run; 0 = the first
	Name      string   // the sheet's name; for a CSV file the file's base name
	HeaderRow int      // 1-based
	Header    []string // by column, 0 = A, as shown; "" for a column without a header
	Date1904  bool     // the workbook counts days from 1904-01-01
	// HiddenColumns are the columns that are hidden in the file; 0 = A.
	HiddenColumns []int
	// Copied returns where a cell is in the results workbook, or a row for
	// column -1. It is set when people correct cells there; messages then name
	// that place. nil when they correct the sheet itself.
	Copied func(column, row int) problem.Copy `json:"-"`
	// Origin is the name of the sheet that was imported first, when this is the
	// sheet of a results workbook; else "". {sheet} in a text stands for it.
	Origin string
}

// BookNames returns Sheet.Book for each of the files: "" when there is one, their base
// names when these differ, else the paths as given.
func BookNames(paths []string) []string {
	names, seen := make([]string, len(paths)), map[string]bool{}
	if len(paths) < 2 {
		return names
	}
	for i, path := range paths {
		names[i] = filepath.Base(path)
		seen[names[i]] = true
	}
	if len(seen) < len(paths) {
		return paths
	}
	return names
}

// At returns the place of a cell: column 0 = A, row 1-based.
func (s Sheet) At(column, row int) problem.Where {
	where := s.AtRow(row)
	where.Cell = ColumnName(column) + strconv.Itoa(row)
	if s.Copied != nil {
		where.Copy = s.Copied(column, row)
	}
	return where
}

// AtRow returns the place of a whole row.
func (s Sheet) AtRow(row int) problem.Where {
	where := problem.Where{File: s.Book, Table: s.Table, Sheet: s.Name, Row: row}
	if s.Copied != nil {
		where.Copy = s.Copied(-1, row)
	}
	return where
}

// Label is the sheet's name in messages: Leads, or [leads.xlsx]Leads in a run of several sheets.
func (s Sheet) Label() string {
	if s.Book != "" {
		return "[" + s.Book + "]" + s.Name
	}
	return s.Name
}

// ColumnLabel is a column's name in messages: its header, or "column B" without one.
func (s Sheet) ColumnLabel(column int) string {
	if column < len(s.Header) {
		if words := strings.Fields(s.Header[column]); len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return fmt.Sprintf("column %s", ColumnName(column))
}

// ColumnName returns a column's letters: 0 is A, 25 is Z, 26 is AA.
func ColumnName(column int) string {
	var letters []byte
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		letters = append(letters, byte('A'+(n-1)%26))
	}
	slices.Reverse(letters)
	return string(letters)
}

// Area is a merged cell: it shows the value of its first cell and covers the others. Rows count from 1, columns from 0.
type Area struct{ Top, Left, Bottom, Right int }

// First is the reference of the cell that the value belongs to, such as B2.
func (a Area) First() string { return ColumnName(a.Left) + strconv.Itoa(a.Top) }

// String is the area's reference, such as B2:B3.
func (a Area) String() string {
	return a.First() + ":" + ColumnName(a.Right) + strconv.Itoa(a.Bottom)
}

// Record is one row of a sheet with its cells.
type Record struct {
	Table  int    // the sheet's position among the sheets of the run; 0 = the first
	Row    int    // 1-based, as a spreadsheet program numbers it
	Cells  []Cell // by column, 0 = A; may be shorter than the header
	Above  []Cell // by column, what an empty cell takes from a row above (mapping: sheet.fill_down)
	Hidden bool   // the row is hidden in the file
	// Source is the row's number in the sheet that was imported first, when the
	// record comes from a results workbook; else 0.
	Source int
}

// Cell returns the cell in column i (0 = A), an empty one behind the row's end.
func (r Record) Cell(i int) Cell {
	if i < 0 || i >= len(r.Cells) {
		return Cell{}
	}
	return r.Cells[i]
}

// Filled returns the record with what its empty cells take from rows above.
func (r Record) Filled() Record {
	if len(r.Above) == 0 {
		return r
	}
	cells := make([]Cell, max(len(r.Cells), len(r.Above)))
	copy(cells, r.Cells)
	for i, c := range r.Above {
		if cells[i].IsEmpty() && !c.IsEmpty() {
			cells[i] = c
		}
	}
	r.Cells = cells
	return r
}

// Row identifies a row of a run: the sheet's position and the row's number in
// it. Rows compare in the order in which the run reads them. In a run of one
// sheet a Row equals its number.
type Row int64

// tableBits leaves room for every row number that a spreadsheet can have.
const tableBits = 32

// ColumnAt returns the index of the column with these letters (A = 0), in upper or lower case; -1 for other texts.
func ColumnAt(letters string) int {
	n := 0
	for _, c := range strings.ToUpper(letters) {
		if n = n*26 + int(c-'A') + 1; c < 'A' || c > 'Z' || n > 1<<20 {
			return -1
		}
	}
	return n - 1
}

// RowOf returns the Row with a number (1-based) in a sheet of the run (0 = the first).
func RowOf(table, number int) Row { return Row(table)<<tableBits | Row(number) }

// Table is the sheet's position among the sheets of the run; 0 = the first.
func (r Row) Table() int { return int(r >> tableBits) }

// Number is the row's number in its sheet, 1-based.
func (r Row) Number() int { return int(r & (1<<tableBits - 1)) }

// TrimHeader empties names of white space alone, and returns the header up to the last name.
func TrimHeader(header []string) []string {
	last := 0
	for i, name := range header {
		if strings.TrimSpace(name) == "" {
			header[i] = ""
		} else {
			last = i + 1
		}
	}
	return header[:last]
}
