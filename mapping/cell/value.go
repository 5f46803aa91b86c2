package cell

import (
	"bytes"
	"encoding/json"
)

// Value is a converted cell or constant, as it is sent. Values compare with ==.
type Value struct {
	Field ValueField
	// Literal is the value in one canonical spelling: the text itself; true or
	// false; 1980-05-01T00:00:00Z (always UTC, with Z), or 1980-05-01 for a
	// client field of dates alone; a decimal JSON number without an exponent.
	// It is "" only in the zero Value, which is left out.
	Literal string
}

// ValueField is the field of an attribute that carries a value (service document, "Activity attribute template").
type ValueField string

// The value fields.
const (
	StringValue   ValueField = "stringValue"
	BoolValue     ValueField = "boolValue"
	DateTimeValue ValueField = "dateTimeValue"
	DoubleValue   ValueField = "doubleValue"
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
