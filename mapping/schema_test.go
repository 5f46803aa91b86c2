package mapping

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

func TestSchema(t *testing.T) {
	const golden = "testdata/schema.json"
	got := Schema()
	if *updateDocs {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("schema (-want +got), go test ./mapping -run Schema -update-docs:\n%s", diff)
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
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
	samples, err := filepath.Glob("../samples/*/mapping.yaml")
	if err != nil {
		t.Fatal(err)
	}
	good, err := filepath.Glob("testdata/lang/ok/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for _, path := range append(samples, good...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := Parse(path, data); len(found) > 0 {
			t.Errorf("%s: %v", path, found)
		}
		taken++
		if err := schema.Validate(plain(t, data)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(samples) < 5 || taken < 10 {
		t.Errorf("%d samples and %d mappings in all were tried: too few", len(samples), taken)
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
