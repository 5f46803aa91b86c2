package environment

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"
)

// jsonDepth bounds how deep a request body may be nested.
const jsonDepth = 32

// jsonObject reads a YAML mapping as the JSON object that it stands for, in
// the order of the file.
func (r *reader) jsonObject(v value) []byte {
	if !isNull(v.Node) && !r.isKind(v, yaml.MappingNode, "“key: value” pairs") {
		return nil
	}
	if isNull(v.Node) {
		return []byte("{}")
	}
	var b bytes.Buffer
	r.writeJSON(&b, v, 0)
	return b.Bytes()
}

func (r *reader) writeJSON(b *bytes.Buffer, v value, depth int) {
	if depth > jsonDepth {
		r.wrong(v.Node, "too-deep", "%s is nested more than %d levels deep", v.name(), jsonDepth)
		return
	}
	switch v.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		comma := ""
		for key, item := range r.pairs(v) {
			b.WriteString(comma)
			writeString(b, key.Value)
			b.WriteByte(':')
			r.writeJSON(b, item, depth+1)
			comma = ","
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		comma := ""
		for item := range r.items(v) {
			b.WriteString(comma)
			r.writeJSON(b, item, depth+1)
			comma = ","
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		r.writeScalar(b, v)
	default:
		r.isKind(v, yaml.ScalarNode, "a value")
	}
}

func (r *reader) writeScalar(b *bytes.Buffer, v value) {
	switch v.ShortTag() {
	case "!!null":
		b.WriteString("null")
	case "!!bool":
		b.WriteString(strings.ToLower(v.Value))
	case "!!int", "!!float":
		// Octal, hexadecimal and infinite numbers have no JSON of their own.
		if !json.Valid([]byte(v.Value)) {
			r.wrong(v.Node, "wrong-kind", "%s is not a number as JSON writes it", v.name()).
				Hint = "put it in quotes if a text is meant"
			return
		}
		b.WriteString(v.Value)
	default:
		writeString(b, v.Value)
	}
}

func writeString(b *bytes.Buffer, s string) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	b.Write(text)
}
