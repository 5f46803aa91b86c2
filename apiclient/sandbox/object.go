package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// object is a JSON object whose fields are asked for by name, so that every
// refusal can say which field it is about. (encoding/json takes names in any
// case and the last of two equal names; a strict service does neither.)
type object struct {
	raw    []byte
	path   string   // of the object in the body, "" for the body itself
	names  []string // in the order of the body
	values map[string]json.RawMessage
}

// parseObject takes apart raw, which is valid JSON and an object.
func parseObject(raw []byte, path string) (object, error) {
	o := object{raw: raw, path: path, values: map[string]json.RawMessage{}}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return object{}, err
	}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return object{}, err
		}
		name := token.(string) // a valid object has nothing else here
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return object{}, err
		}
		if o.has(name) {
			return object{}, bad("duplicate-field", o.at(name), "field %q is there twice: expected once", o.at(name))
		}
		o.names = append(o.names, name)
		o.values[name] = value
	}
	return o, nil
}

func (o object) has(name string) bool {
	_, ok := o.values[name]
	return ok
}

// at is a field's path in the body.
func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// only refuses fields that are not known; those of the other version are named
// as such.
func (o object) only(known, otherVersion []string) error {
	for _, name := range o.names {
		switch {
		case slices.Contains(known, name):
		case slices.Contains(otherVersion, name):
			return bad("other-version", o.at(name), "field %q belongs to the other version of the interface: expected %s", o.at(name), strings.Join(known, ", "))
		default:
			return bad("unknown-field", o.at(name), "unknown field %q: expected %s", o.at(name), strings.Join(known, ", "))
		}
	}
	return nil
}

// value is a field's value, which must be there and of that kind.
func (o object) value(name, kind string) (json.RawMessage, error) {
	v, ok := o.values[name]
	if !ok {
		return nil, bad("missing-field", o.at(name), "field %q is missing: expected %s", o.at(name), a(kind))
	}
	if k := kindOf(v); k != kind {
		return nil, bad("wrong-kind", o.at(name), "field %q is %s: expected %s", o.at(name), a(k), a(kind))
	}
	return v, nil
}

// text is a string field that must say something.
func (o object) text(name string) (string, error) {
	raw, err := o.value(name, "string")
	if err != nil {
		return "", err
	}
	s := unquote(raw)
	if strings.TrimSpace(s) == "" {
		return "", bad("empty-field", o.at(name), "field %q is empty: expected a text", o.at(name))
	}
	return s, nil
}

// uuid is a string field that holds a UUID.
func (o object) uuid(name string) (string, error) {
	raw, err := o.value(name, "string")
	if err != nil {
		return "", err
	}
	return parseUUID(unquote(raw), o.at(name))
}

// elements are the elements of an array field.
func (o object) elements(name string) ([]json.RawMessage, error) {
	raw, err := o.value(name, "array")
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	err = json.Unmarshal(raw, &list)
	return list, err
}

// parseUUID takes the usual spelling of a UUID only, 36 characters, and gives
// it in lower case.
func parseUUID(s, field string) (string, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", bad("bad-uuid", field, "%s is not a UUID: expected 36 characters such as %s", field, CaseID)
	}
	return id.String(), nil
}

// unquote is the text of a valid JSON string.
func unquote(raw json.RawMessage) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		panic(fmt.Sprintf("not a JSON string: %v", err)) // kindOf has looked
	}
	return s
}

// kindOf names the kind of a valid JSON value.
func kindOf(raw json.RawMessage) string {
	switch bytes.TrimLeft(raw, " \t\r\n")[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// a puts the article before a kind.
func a(kind string) string {
	switch kind {
	case "null":
		return kind
	case "object", "array":
		return "an " + kind
	}
	return "a " + kind
}
