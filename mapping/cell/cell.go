// Package cell holds the vocabulary of sheets: cells, records and rows as the
// file has them, and values as they are sent. Reading a sheet, planning, the
// engine and the reports share it; it knows nothing of mappings.
package cell

import (
	"bytes"
	"encoding/json"
	"strings"
)

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

// Value is a converted cell or constant, as it is sent. Values compare with ==.
type Value struct {
	// Field is the field of an attribute that carries it (service document, "Activity attribute template").
	Field string
	// Literal is the value in one canonical spelling: the text itself; true or
	// false; 1980-05-01T00:00:00Z (always UTC, with Z), or 1980-05-01 for a
	// client field of dates alone; a decimal JSON number without an exponent.
	// It is "" only in the zero Value, which is left out.
	Literal string
}

// The value fields.
const (
	StringValue   = "stringValue"
	BoolValue     = "boolValue"
	DateTimeValue = "dateTimeValue"
	DoubleValue   = "doubleValue"
)

// IsZero reports whether there is no value: the attribute or field is left out.
func (v Value) IsZero() bool { return v == Value{} }

// JSON returns the bare value: a JSON string, bool or number by its field.
func (v Value) JSON() []byte {
	switch v.Field {
	case BoolValue, DoubleValue:
		return []byte(v.Literal)
	}
	return QuoteJSON(v.Literal)
}

// QuoteJSON returns a text as a JSON string, as a person would write it: < > and & are not escaped.
func QuoteJSON(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always marshals
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
