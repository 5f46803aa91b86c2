package yamltree

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Schema is the shape of a value, as a JSON Schema (2020-12).
type Schema map[string]any

// Defined is the value with the shape of that name among the Defs of the Language.
func (v Value[V]) Defined(name string) Value[V] {
	v.Schema = Schema{"$ref": "#/$defs/" + name}
	return v
}

// Schema is the JSON Schema of the language's files, for editors. It knows less
// than Read: what depends on another key is left to that.
func (l *Language[T]) Schema() []byte {
	s := Object(l.Keys).Schema
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = l.Title
	if len(l.Defs) > 0 {
		s["$defs"] = l.Defs
	}
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // the tables hold nothing that cannot be encoded
	}
	if l.EmptyIsNone {
		for _, kind := range []string{"object", "array"} {
			data = bytes.ReplaceAll(data, []byte(`"type":"`+kind+`"`), []byte(`"type":["`+kind+`","null"]`))
		}
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		panic(err)
	}
	return append(b.Bytes(), '\n')
}

func (keys Keys) schema() Schema {
	properties, required := Schema{}, []string{}
	for _, k := range keys {
		property := Schema{"description": k.Doc}
		maps.Copy(property, k.schema)
		properties[k.Name] = property
		if k.IsRequired {
			required = append(required, k.Name)
		}
	}
	s := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
