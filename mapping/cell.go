package mapping

import (
	"slices"
	"strings"

	"claimsheet/mapping/problem"
)

// CellKind is what a cell holds, as far as the file says.
type CellKind uint8

// The kinds of a cell.
const (
	Empty      CellKind = iota // nothing, or an empty string
	TextCell                   // a string: shared, inline, rich text, or a formula's string result
	Number                     // a number whose format is not a date's
	DateCell                   // a number whose number format shows a date or a time
	Bool                       // TRUE or FALSE
	ErrorCell                  // #N/A, #REF! and the like
	Uncomputed                 // a formula whose result was never stored: the file was written by a program
)

// Cell is one cell as the file holds it. The zero Cell is an empty one.
type Cell struct {
	Kind CellKind
	// Raw is the stored value: a string's text; a number's literal (for a
	// DateCell the serial, in the sheet's date system); "1" or "0" for a Bool;
	// the error's name for an ErrorCell.
	Raw string
	// Shown is what a person reads in a spreadsheet program, with two
	// exceptions that serve the reader: a number in General format is all its
	// digits, never 7.7E+09, and a date cell is ISO 8601 (1980-05-01,
	// 1980-05-01T14:30:00 or 14:30:00, by what its format shows).
	Shown string
	// Format is the number format's code, "" for General.
	Format string
}

// IsEmpty tells whether the cell has nothing in it; white space is something
// only to the file, not to a reader, so a blank text is empty too.
func (c Cell) IsEmpty() bool {
	return c.Kind == Empty || c.Kind == TextCell && strings.TrimSpace(c.Raw) == ""
}

// Record is one row of a sheet.
type Record struct {
	Table  int    // which of the run's sheets it is in; 0 = the first
	Row    int    // 1-based, as a spreadsheet program numbers it
	Cells  []Cell // by column, 0 = A; it may be shorter than the header
	Hidden bool   // the row is hidden in the file
	// Source is the row's number in the sheet that was first imported, when it
	// comes from a results workbook; else 0.
	Source int
}

// Cell is the cell in column i (0 = A), empty where the row ends before it.
func (r Record) Cell(i int) Cell {
	if i < 0 || i >= len(r.Cells) {
		return Cell{}
	}
	return r.Cells[i]
}

// Sheet is what is known of a sheet besides its records.
type Sheet struct {
	File      string   // the path as the user gave it
	Book      string   // what places call the file; empty in a run of one sheet
	Table     int      // which of the run's sheets it is; 0 = the first
	Name      string   // the sheet's name; for a CSV file the file's base name
	HeaderRow int      // 1-based
	Header    []string // by column, 0 = A, as shown; "" for a column without a header
	Date1904  bool     // the workbook counts days from 1904-01-01
	// HiddenColumns are those that are hidden in the file, 0 = A.
	HiddenColumns []int
	// Copied is where a cell or, with a column of -1, a row of the sheet is in the
	// results workbook, when that is where people correct it: places name it so.
	// nil where they correct the sheet itself.
	Copied func(column, row int) problem.Copy
	// Origin is the name of the sheet that was first imported, when this is the
	// sheet of a results workbook; else "". A text's {sheet} stands for it.
	Origin string
}

// At is the place of a cell: column 0 = A, row 1-based.
func (s Sheet) At(column, row int) problem.Where {
	where := s.AtRow(row)
	where.Cell = ColumnName(column) + itoa(row)
	if s.Copied != nil {
		where.Copy = s.Copied(column, row)
	}
	return where
}

// AtRow is the place of a whole row.
func (s Sheet) AtRow(row int) problem.Where {
	where := problem.Where{File: s.Book, Table: s.Table, Sheet: s.Name, Row: row}
	if s.Copied != nil {
		where.Copy = s.Copied(-1, row)
	}
	return where
}

// ColumnName is a column's letters: 0 is A, 25 is Z, 26 is AA.
func ColumnName(column int) string {
	var letters []byte
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		letters = append(letters, byte('A'+(n-1)%26))
	}
	slices.Reverse(letters)
	return string(letters)
}
