package mapping

import "claimsheet/mapping/cell"

// Template is an activity template of the service's reference data (service
// document, "Activity template").
type Template struct {
	ID         string
	Name       string
	Attributes []AttributeTemplate
}

// AttributeTemplate is an attribute template, nested in an activity template.
type AttributeTemplate struct {
	ID   string
	Name string
	// Type is the data type where the environment's answers tell one, in our
	// names; "" where they do not. (The document shows no such field.)
	Type Type
}

// Type is a data type of the service (Text … Currency) or one of the two more
// that client fields and look-ups may have (Email, Phone).
type Type string

// The types.
const (
	Text     Type = "Text"
	TextArea Type = "TextArea"
	DropDown Type = "DropDown"
	Checkbox Type = "Checkbox"
	Date     Type = "Date"
	DateTime Type = "DateTime"
	Numeric  Type = "Number"
	Currency Type = "Currency"
	Email    Type = "Email" // client fields and look-ups only
	Phone    Type = "Phone" // client fields and look-ups only
)

// AttributeTypes are the data types that an attribute may have, in the
// document's order.
var AttributeTypes = []Type{Text, TextArea, DropDown, Checkbox, Date, DateTime, Numeric, Currency}

// Field is the value field that a data type uses.
func (t Type) Field() cell.ValueField {
	switch t {
	case Checkbox:
		return cell.BoolValue
	case Date, DateTime:
		return cell.DateTimeValue
	case Numeric, Currency:
		return cell.DoubleValue
	}
	return cell.StringValue
}
