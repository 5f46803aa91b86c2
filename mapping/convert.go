package mapping

import (
	"strings"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Conversion is how a filled cell becomes a value: a data type with its
// options, all defaults filled in. The zero value of an option means "not
// given".
type Conversion struct {
	Type Type

	// Format is how dates are written in text cells, in the spreadsheet's own
	// tokens: d dd m mm mmm mmmm yy yyyy h hh mm (after h) ss AM/PM; "serial"
	// takes bare numbers as a spreadsheet's day count. "" takes ISO 8601 only.
	// For a Phone it is how the number is sent: e164 (default), national,
	// international or raw.
	Format   string
	Output   Output         // Date in a client field: as a date-time or a bare date
	Zone     *time.Location // where a DateTime without a zone was written down; nil is an error at Bind, never a guess
	Date1904 bool           // the sheet's date system, for date cells and serials
	// Ambiguous says which DateTime is meant by a time that came twice in Zone.
	Ambiguous AmbiguousTimes

	Numbers Numbers // how numbers look in text cells

	Checked, Unchecked []string // the words of a Checkbox; both nil means the usual ones

	Values map[string]string // a table from the cell's text to the text sent; nil means the text itself
	Else   *string           // sent for a text that Values does not list; nil makes that an error

	Region    string // ISO 3166 region of a Phone without a country code
	MaxLength int    // in characters; 0 means no limit
}

// Convert turns a filled cell into a value, or says why it cannot. It is pure
// and may be called from several goroutines at once.
//
// An empty cell becomes the zero Value: whether it may be empty (required,
// default) is the caller's matter. So does a text that Values turns into "".
//
// The text of a cell is trimmed first, of no-break spaces and of invisible
// characters such as a byte order mark too. What is read beyond that is said
// at each type: convertText, convertCheckbox, convertDate, convertDateTime,
// convertNumber, convertEmail, convertPhone.
func (c *Conversion) Convert(in cell.Cell) (cell.Value, *Refusal) {
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

// literal is the value's canonical spelling; "" leaves the value out.
func (c *Conversion) literal(in cell.Cell) (string, *Refusal) {
	switch c.Type {
	case Checkbox:
		return c.convertCheckbox(in)
	case Date:
		return c.convertDate(in)
	case DateTime:
		return c.convertDateTime(in)
	case Numeric, Currency:
		return c.convertNumber(in)
	case Email:
		return c.convertEmail(in)
	case Phone:
		return c.convertPhone(in)
	}
	return c.convertText(in)
}

// Output is how a Date is written.
type Output string

// The outputs of a Date.
const (
	AsDateTime Output = ""     // 1980-05-01T00:00:00Z
	AsDate     Output = "date" // 1980-05-01
)

// Numbers is how numbers look in text cells.
type Numbers struct {
	Decimal string // "." by default
	Group   string // "," by default; "" for none
}

// Refusal is why a cell cannot become a value, in words that follow the
// column's name: "is not a day of the calendar; expected dd/mm/yyyy". It never
// quotes the cell.
type Refusal struct {
	Code    string
	Message string
	Hint    string
}

func (r Refusal) at(where problem.Where, header string, c cell.Cell) problem.Problem {
	return problem.Problem{
		Where: where, Code: r.Code, Message: header + " " + r.Message, Hint: r.Hint, Seen: c.Shown,
	}
}
