package cell

import "strings"

// Kind is what the file says a cell holds.
type Kind uint8

// The kinds of a cell.
const (
	Empty      Kind = iota // nothing, or an empty string
	Text                   // a string: shared, inline, rich text, or a formula's string result
	Number                 // a number whose format is not a date's
	Date                   // a number whose number format shows a date or a time
	Bool                   // TRUE or FALSE
	Error                  // #N/A, #REF! and the like
	Uncomputed             // a formula without a stored result, as in files that a program wrote
)

// Cell is one cell as the file holds it. The zero Cell is an empty one.
type Cell struct {
	Kind Kind
	// Raw is the stored value: a string's text; a number's literal (for a date
	// the serial, in the sheet's date system); "1" or "0" for a Bool; the name
	// of an error.
	Raw string
	// Shown is what a person reads in a spreadsheet program, with two
	// exceptions: a number in General format has all its digits (never
	// 7.7E+09), and a date is in ISO 8601 (1980-05-01, 1980-05-01T14:30:00 or
	// 14:30:00, depending on its format).
	Shown string
	// Format is the number format's code; "" for General.
	Format string
}

// IsEmpty reports whether a reader sees nothing in the cell: a text of white space is empty too.
func (c Cell) IsEmpty() bool {
	return c.Kind == Empty || c.Kind == Text && strings.TrimSpace(c.Raw) == ""
}
