package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// CheckPointer says what is wrong with a JSON Pointer (RFC 6901); nil for a valid
// one. "" is valid: it means the whole document.
func CheckPointer(pointer string) error {
	if pointer == "" {
		return nil
	}
	if pointer[0] != '/' {
		return fmt.Errorf("a JSON Pointer begins with a slash: write %q", "/"+strings.ReplaceAll(pointer, ".", "/"))
	}
	for i := range len(pointer) {
		if pointer[i] == '~' && !strings.HasPrefix(pointer[i:], "~0") && !strings.HasPrefix(pointer[i:], "~1") {
			return errors.New("in a JSON Pointer ~ is written ~0 and a slash within a name ~1")
		}
	}
	return nil
}

// document returns a body as one JSON value, without its byte order mark. ok is
// false when the body is not valid UTF-8, not JSON, or has more after the value.
func document(body []byte) (doc []byte, ok bool) {
	doc = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	return doc, utf8.Valid(doc) && json.Valid(doc)
}

// found is what a pointer leads to in a document.
type found struct {
	value    json.RawMessage // nil for none
	repeated bool            // an object on the way repeats the key, so that another value may be meant
	crowded  bool            // the way leads through an array of several elements: it has chosen one of several
	whole    bool            // the document itself is such an array
}

// pointerEscapes are the characters that a token of a pointer writes in another way.
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// follow follows a valid pointer into a document.
func follow(doc []byte, pointer string) (f found) {
	if f.value = doc; pointer == "" {
		return f
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token, outer := pointerEscapes.Replace(token), f.value
		f.value = nil
		for _, m := range inside(outer, "object") {
			if m.key != token {
				continue
			}
			if f.repeated = f.repeated || f.value != nil; f.value == nil {
				f.value = m.value
			}
		}
		if items := inside(outer, "array"); len(items) > 0 {
			f.crowded = f.crowded || len(items) > 1
			if i, ok := index(token); ok && i < len(items) {
				f.value = items[i].value
			}
		}
		f.whole = f.whole || f.crowded && len(outer) == len(doc)
	}
	return f
}

// index reads an array index of RFC 6901: digits without a leading zero.
func index(token string) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && strconv.Itoa(i) == token && i >= 0
}

// member is a value inside another one, with its key in an object.
type member struct {
	key   string
	value json.RawMessage
}

// jsonSpace is the white space of JSON.
const jsonSpace = " \t\r\n"

// inside returns the members of an object, also repeated keys, or the elements of an
// array, in order; none for a value of another form. The value is valid JSON in UTF-8.
func inside(value []byte, of string) (out []member) {
	if form(value) != of {
		return nil
	}
	gjson.ParseBytes(value).ForEach(func(key, v gjson.Result) bool {
		out = append(out, member{key.Str, value[v.Index : v.Index+len(v.Raw)]})
		return true
	})
	return out
}

// form returns the kind of a JSON value: object, array, string, number, boolean or null; "" for nothing.
func form(value []byte) string {
	value = bytes.TrimLeft(value, jsonSpace)
	if len(value) == 0 {
		return ""
	}
	switch value[0] {
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

// scalar returns the text of a string, number or boolean; a number as it was written, to the last digit.
func scalar(value []byte) (string, bool) {
	switch form(value) {
	case "string":
		if text := bytes.Trim(value, jsonSpace); len(text) > 1 && bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
			return string(text[1 : len(text)-1]), true
		}
		var s string
		err := json.Unmarshal(value, &s)
		return s, err == nil
	case "number", "boolean":
		return string(bytes.TrimSpace(value)), true
	}
	return "", false
}

// stringOf returns the text of a string; ok is false for any other value.
func stringOf(value []byte) (text string, ok bool) {
	text, ok = scalar(value)
	return text, ok && form(value) == "string"
}

// At returns the JSON value to which a valid pointer leads in a document. ok is false
// when there is none, when the document is not JSON, and when the way is ambiguous
// because an object repeats a key.
func At(document []byte, pointer string) (value json.RawMessage, ok bool) {
	if !json.Valid(document) {
		return nil, false
	}
	f := follow(document, pointer)
	return bytes.TrimSpace(f.value), f.value != nil && !f.repeated
}

// ScalarText returns the text of a JSON string, number or boolean; a number as it was written, to the last digit.
func ScalarText(value json.RawMessage) (string, bool) { return scalar(value) }
