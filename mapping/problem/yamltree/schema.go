package yamltree

import (
	"encoding/json"
	"maps"
)

// Schema is the shape of a value, as a JSON Schema (2020-12).
type Schema map[string]any

// Ref is the shape of that name among the Defs of the Language.
func Ref(name string) Schema { return Schema{"$ref": "#/$defs/" + name} }

// Schema is the JSON Schema of the language's files, for editors. It knows less
// than Read: what depends on another key is left to that.
func (l *Language[T]) Schema() []byte {
	s := objectSchema(l.Keys)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = l.Title
	if len(l.Defs) > 0 {
		s["$defs"] = l.Defs
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil && l.EmptyIsNone {
		data, err = allowEmpty(data)
	}
	if err != nil {
		panic(err) // the tables hold nothing that cannot be encoded
	}
	return append(data, '\n')
}

func objectSchema[T any](keys []Key[T]) Schema {
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

// allowEmpty lets null stand for every object and every list of a schema.
func allowEmpty(schema []byte) ([]byte, error) {
	var tree any
	if err := json.Unmarshal(schema, &tree); err != nil {
		return nil, err
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if t := v["type"]; t == "object" || t == "array" {
				v["type"] = []any{t, "null"}
			}
			for _, child := range v {
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(tree)
	return json.MarshalIndent(tree, "", "  ")
}
