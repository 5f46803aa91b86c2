// Package convert turns the cells of a sheet into typed values: one file for each
// type, with all that is read and refused for it.
//
// A cell that cannot become a value is data, a CellError, not a Go error; it never
// quotes the cell. The package is pure: no clock, no disk, no network.
package convert

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Type is a data type of the service (Text to Currency) or one of two more for
// client fields and look-ups (Email, Phone).
type Type string

// The types.
const (
	Text     Type = "Text"
	TextArea Type = "TextArea"
	DropDown Type = "DropDown"
	Checkbox Type = "Checkbox"
	Date     Type = "Date"
	DateTime Type = "DateTime"
	Number   Type = "Number"
	Currency Type = "Currency"
	Email    Type = "Email" // client fields and look-ups only
	Phone    Type = "Phone" // client fields and look-ups only
	ID       Type = "ID"    // known_id only; a mapping cannot name it
)

// AttributeTypes returns the data types that an attribute may have, in the service document's order.
func AttributeTypes() []Type {
	return []Type{Text, TextArea, DropDown, Checkbox, Date, DateTime, Number, Currency}
}

// Field returns the value field that carries a data type.
func (t Type) Field() string {
	switch t {
	case Checkbox:
		return cell.BoolValue
	case Date, DateTime:
		return cell.DateTimeValue
	case Number, Currency:
		return cell.DoubleValue
	}
	return cell.StringValue
}

// Converter turns filled cells into values of one type. All defaults are
// filled in; the zero value of an option means "not given".
type Converter struct {
	Type Type

	// Format is how dates are written in text cells, in the tokens of
	// spreadsheet programs: d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss
	// AM/PM. "serial" takes bare numbers as a spreadsheet's day count; ""
	// takes ISO 8601 only. For a Phone it is the format in which the number is
	// sent: e164 (default), national, international or raw.
	Format string
	// OtherFormats are further formats of dates in text cells. A cell that two formats read differently is refused.
	OtherFormats []string
	Years        string         // which century a year of two digits is of
	Today        string         // the run's day, such as 2026-11-26
	IsBareDate   bool           // a Date is written 1980-05-01, as client fields may want it, not 1980-05-01T00:00:00Z
	Zone         *time.Location // where DateTimes without a zone were written down; nil refuses them
	Date1904     bool           // the sheet counts days from 1904-01-01

	Numbers Numbers // how numbers look in text cells
	Percent bool    // text cells of a Number hold percentages: 5% is 0.05

	Checked, Unchecked []string // the words of a Checkbox; the usual ones when both are nil

	Values map[string]string // what is sent for each text of a cell; nil sends the text itself
	Else   *string           // sent for a text that Values does not list; nil refuses such a text

	Region    string // the ISO 3166 region of phone numbers without a country code
	MaxLength int    // in characters; 0 means no limit
}

// Convert returns a cell's value, or why the cell cannot become one. It may be called from several goroutines at once.
//
// An empty cell, and a text that Values turns into "", becomes the zero Value;
// whether it may be empty is for the caller to decide.
//
// Texts are trimmed first, also of no-break spaces and of invisible characters
// such as a byte order mark. The method of each type (convertText, convertDate
// …) says what else it accepts.
func (c *Converter) Convert(in cell.Cell) (cell.Value, *CellError) {
	if in.Kind == cell.Empty || in.Kind == cell.Text && strings.TrimSpace(in.Raw) == "" {
		return cell.Value{}, nil
	}
	if r := refuseUnreadable(in); r != nil {
		return cell.Value{}, r
	}
	literal, r := c.literal(in)
	if r != nil || literal == "" {
		return cell.Value{}, r
	}
	return cell.Value{Field: c.Type.Field(), Literal: literal}, nil
}

// literal returns the value's canonical spelling; "" leaves the value out.
func (c *Converter) literal(in cell.Cell) (string, *CellError) {
	switch c.Type {
	case Checkbox:
		return c.convertCheckbox(in)
	case Date:
		return c.convertDate(in)
	case DateTime:
		return c.convertDateTime(in)
	case Number, Currency:
		return c.convertNumber(in)
	case Email:
		return c.convertEmail(in)
	case Phone:
		return c.convertPhone(in)
	case ID:
		return ParseID(token(in))
	}
	return c.convertText(in)
}

// CellError is why a cell cannot become a value, in words that follow the
// column's name: "is not a day of the calendar; expected dd/mm/yyyy". It never
// quotes the cell.
type CellError struct {
	Code    string
	Message string
	Hint    string
}

// Problem returns the error as a problem at a place. header is the column's name, c the cell.
func (r CellError) Problem(where problem.Where, header string, c cell.Cell) problem.Problem {
	return problem.Problem{
		Where: where, Code: r.Code, Message: header + " " + r.Message, Hint: r.Hint, Seen: c.Shown,
	}
}

// refuse returns a CellError.
func refuse(code, message, hint string) *CellError {
	return &CellError{Code: code, Message: message, Hint: hint}
}

// refuseUnreadable refuses cells that hold no value of any type.
func refuseUnreadable(c cell.Cell) *CellError {
	switch c.Kind {
	case cell.Error:
		return refuse("cell-error", "holds an error, such as #N/A", "correct the formula in the sheet, or clear the cell")
	case cell.Uncomputed:
		return refuse("cell-uncomputed", "is a formula without a stored result",
			"open the sheet that was exported in a spreadsheet program and save it, so that the results are stored; or type the value in place of the formula")
	}
	return nil
}

// refuseTooLong refuses a text of more than limit characters; 0 is no limit.
func refuseTooLong(s string, limit int) *CellError {
	n := 0
	if limit > 0 && len(s) > limit {
		n = utf8.RuneCountInString(s)
	}
	if n <= limit {
		return nil
	}
	return refuse("too-long", "has "+strconv.Itoa(n)+" characters; expected at most "+strconv.Itoa(limit),
		"shorten the text, or raise max_length if the service takes more")
}
