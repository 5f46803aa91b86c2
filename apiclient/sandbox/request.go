package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// caller returns what a record keeps of who made the request. Claimsheet names its
// run there.
func caller(r *http.Request) string { return strings.ToValidUTF8(r.UserAgent(), "") }

// maxBody is how many bytes a body may have. The document shows no limit.
const maxBody = 1 << 20

// readBody reads the request's body, which must be one JSON object in UTF-8.
func readBody(r *http.Request) (object, error) {
	if err := checkContentType(r.Header); err != nil {
		return object{}, err
	}
	raw, err := readAll(r)
	if err != nil {
		return object{}, err
	}
	return parseBody(raw)
}

func readAll(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(http.StatusRequestEntityTooLarge, "body-too-large", "", "the body is too large: expected at most %d bytes", tooLarge.Limit)
	case err != nil:
		return nil, bad("body-incomplete", "", "the body is incomplete")
	}
	return raw, nil
}

// parseBody parses a body.
func parseBody(raw []byte) (object, error) {
	switch {
	case len(raw) == 0:
		return object{}, bad("not-json", "", "the body is empty: expected a JSON object")
	case !utf8.Valid(raw):
		return object{}, bad("not-utf-8", "", "the body is not UTF-8: expected JSON in UTF-8")
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(raw, new(json.RawMessage)); errors.As(err, &syntax) {
		return object{}, bad("not-json", "", "the body is not JSON: it is wrong or ends too early at byte %d; expected one JSON object", syntax.Offset)
	}
	if k := kindOf(raw); k != "object" {
		return object{}, bad("not-an-object", "", "the body is %s: expected a JSON object", a(k))
	}
	return parseObject(raw, "")
}

// checkContentType requires application/json, in UTF-8, not compressed.
func checkContentType(h http.Header) error {
	declared := h.Get("Content-Type")
	if declared == "" {
		return refuse(http.StatusUnsupportedMediaType, "content-type", "Content-Type", "the header Content-Type is missing: expected application/json")
	}
	media, params, err := mime.ParseMediaType(declared)
	if err != nil || media != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "content-type", "Content-Type", "the header Content-Type is wrong: expected application/json")
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return refuse(http.StatusUnsupportedMediaType, "content-type", "Content-Type", "the header Content-Type declares another charset: expected utf-8")
	}
	if h.Get("Content-Encoding") != "" {
		return refuse(http.StatusUnsupportedMediaType, "content-encoding", "Content-Encoding", "the body is declared as encoded: expected no Content-Encoding")
	}
	return nil
}

// object is a JSON object that is read field by field, so that every refusal can
// name the field. (encoding/json ignores the case of names and takes the last of
// two equal ones; a strict service does neither.)
type object struct {
	raw    []byte
	path   string   // of the object in the body, "" for the body itself
	names  []string // in the order of the body
	values map[string]json.RawMessage
}

// parseObject parses raw, which must be valid JSON and an object.
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

// at returns a field's path in the body.
func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// only refuses fields that are not known. For a field of the other version it says
// so.
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

// value returns a field's value, which must exist and be of that kind.
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

// text returns a string field, which must not be empty.
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

// uuid returns a string field, which must hold a UUID.
func (o object) uuid(name string) (string, error) {
	raw, err := o.value(name, "string")
	if err != nil {
		return "", err
	}
	return parseUUID(unquote(raw), o.at(name))
}

// elements returns the elements of an array field.
func (o object) elements(name string) ([]json.RawMessage, error) {
	raw, err := o.value(name, "array")
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	err = json.Unmarshal(raw, &list)
	return list, err
}

// parseUUID accepts only the usual spelling of a UUID, 36 characters, and returns
// it in lower case.
func parseUUID(s, field string) (string, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", bad("bad-uuid", field, "%s is not a UUID: expected 36 characters such as %s", field, CaseID)
	}
	return id.String(), nil
}

// unquote returns the text of a valid JSON string.
func unquote(raw json.RawMessage) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		panic(fmt.Sprintf("not a JSON string: %v", err)) // the caller has checked with kindOf
	}
	return s
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
