package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// maxBody is how many bytes a body may have. The document shows no limit.
const maxBody = 1 << 20

// input is a request that is read piece by piece. It keeps the first thing that is wrong
// with it; what is read after that counts for nothing.
type input struct {
	*http.Request
	raw     []byte   // the body
	refusal *refusal // nil while nothing is wrong
}

// note keeps r, unless something else was wrong before; nil is nothing.
func (in *input) note(r *refusal) {
	if in.refusal == nil {
		in.refusal = r
	}
}

// uuid returns an id in lower case. field names it in a refusal.
func (in *input) uuid(text, field string) string {
	id, err := parseUUID(text, field)
	if err != nil {
		in.note(bad("bad-uuid", field, "%v", err))
	}
	return id
}

// caseID returns the case of the path.
func (in *input) caseID() string { return in.uuid(in.PathValue("caseId"), "caseId") }

// flag returns a boolean query parameter; false when it is missing.
func (in *input) flag(name string) bool {
	query := in.URL.Query()
	value := query.Get(name)
	if query.Has(name) && value != "true" && value != "false" {
		in.note(bad("bad-parameter", name, "query parameter %s is wrong: expected true or false", name))
	}
	return value == "true"
}

// body parses the body, which must be one JSON object in UTF-8.
func (in *input) body() object {
	if media, _, _ := mime.ParseMediaType(in.Header.Get("Content-Type")); media != "application/json" {
		in.note(refuse(http.StatusUnsupportedMediaType, "content-type", "Content-Type",
			"the header Content-Type is wrong or missing: expected application/json"))
	}
	o := in.object(in.raw, "")
	if o.values == nil {
		in.note(bad("not-an-object", "", "the body is not a JSON object"))
	}
	return o
}

// object is a JSON object of a body, read field by field, so that every refusal can
// name the field.
type object struct {
	in     *input
	path   string // of the object in the body, "" for the body itself
	values map[string]json.RawMessage
}

// object parses raw. Its values are nil if that is no object.
func (in *input) object(raw []byte, path string) object {
	o := object{in: in, path: path}
	if json.Unmarshal(raw, &o.values) != nil {
		o.values = nil
	}
	return o
}

// names returns the names of the fields, sorted.
func (o object) names() []string { return slices.Sorted(maps.Keys(o.values)) }

func (o object) has(name string) bool {
	_, ok := o.values[name]
	return ok
}

// at returns a field's path in the body.
func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// only refuses fields that are not known.
func (o object) only(known ...string) {
	for _, name := range o.names() {
		if !slices.Contains(known, name) {
			o.in.note(bad("unknown-field", o.at(name), "unknown field %q: expected %s", o.at(name), strings.Join(known, ", ")))
		}
	}
}

// value returns a field's value, which must exist and be of that kind; else nil.
func (o object) value(name, kind string) json.RawMessage {
	v, ok := o.values[name]
	if !ok {
		o.in.note(bad("missing-field", o.at(name), "field %q is missing: expected %s", o.at(name), a(kind)))
		return nil
	}
	if k := kindOf(v); k != kind {
		o.in.note(bad("wrong-kind", o.at(name), "field %q is %s: expected %s", o.at(name), a(k), a(kind)))
		return nil
	}
	return v
}

// text returns a string field, which must not be empty.
func (o object) text(name string) string {
	text := unquote(o.value(name, "string"))
	if strings.TrimSpace(text) == "" {
		o.in.note(bad("empty-field", o.at(name), "field %q is empty: expected a text", o.at(name)))
	}
	return text
}

// uuid returns a string field, which must hold a UUID.
func (o object) uuid(name string) string {
	return o.in.uuid(unquote(o.value(name, "string")), o.at(name))
}

// parseUUID accepts only the usual spelling of a UUID, 36 characters, and returns
// it in lower case. The error has the field and not the text.
func parseUUID(s, field string) (string, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", fmt.Errorf("%s is not a UUID: expected 36 characters such as %s", field, CaseID)
	}
	return id.String(), nil
}

// unquote returns the text of a valid JSON string; "" for nil.
func unquote(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text) // the caller has checked with kindOf
	return text
}

// kindOf returns the kind of a valid JSON value.
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
