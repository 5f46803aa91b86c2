package mapping_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"claimsheet/mapping"
)

func TestSchema(t *testing.T) {
	golden(t, "testdata/schema.json", string(mapping.Schema()))
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(mapping.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mapping.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mapping.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// A good mapping is read, and an editor does not underline it.
func TestGoodMappings(t *testing.T) {
	schema := compiledSchema(t)
	samples, good := files(t, "../samples/*/mapping.yaml"), files(t, "testdata/lang/ok/*.yaml")
	for _, path := range append(samples, good...) {
		data := mustRead(t, path)
		if _, found := mapping.Parse(path, data); len(found) > 0 {
			t.Errorf("%s: %v", path, found)
		}
		if err := schema.Validate(plain(t, data)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if all := len(samples) + len(good); len(samples) < 5 || all < 10 {
		t.Errorf("%d samples and %d mappings in all were tried: too few", len(samples), all)
	}
}

// plain is YAML as JSON has it: dates are texts to an editor.
func plain(t *testing.T, data []byte) any {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return plainNode(t, doc.Content[0])
}

func plainNode(t *testing.T, n *yaml.Node) any {
	t.Helper()
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			object[n.Content[i].Value] = plainNode(t, n.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, plainNode(t, item))
		}
		return list
	}
	var v any
	if err := n.Decode(&v); err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case nil, bool, string, int, float64:
		return v
	}
	return fmt.Sprint(v)
}
