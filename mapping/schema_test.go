package mapping_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"claimsheet/mapping"
)

func TestSchema(t *testing.T) {
	golden(t, "testdata/schema.json", string(mapping.Schema()))
}

// A good mapping is read, and an editor does not underline it.
func TestGoodMappings(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(mapping.Schema()))
	c := jsonschema.NewCompiler()
	if err := errors.Join(err, c.AddResource("mapping.json", doc)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mapping.json")
	if err != nil {
		t.Fatal(err)
	}
	samples, good := files(t, "../samples/*/mapping.yaml"), files(t, "testdata/lang/ok/*.yaml")
	for _, path := range append(samples, good...) {
		data := mustRead(t, path)
		if _, found := mapping.Parse(path, data); len(found) > 0 {
			t.Errorf("%s: %v", path, found)
		}
		var value any
		if err := yaml.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value) // dates are texts to an editor
		if err == nil {
			value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
		}
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if all := len(samples) + len(good); len(samples) < 5 || all < 10 {
		t.Errorf("%d samples and %d mappings in all were tried: too few", len(samples), all)
	}
}
