package mapping

import "encoding/json"

// Value is a converted cell or constant, ready for the wire. Values compare
// with ==.
type Value struct {
	Field ValueField
	// Literal is the value in its one canonical spelling: the text itself; true
	// or false; 1980-05-01T00:00:00Z (UTC, always with Z; a date-only client
	// field has 1980-05-01); a decimal JSON number without an exponent. ""
	// only in the zero Value, which stands for "left out".
	Literal string
}

// IsZero tells that there is no value: an attribute or field is left out.
func (v Value) IsZero() bool { return v == Value{} }

// MarshalJSON writes the bare value: a JSON string, bool or number by its field.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.Field {
	case BoolValue, DoubleValue:
		return []byte(v.Literal), nil
	}
	return json.Marshal(v.Literal)
}
