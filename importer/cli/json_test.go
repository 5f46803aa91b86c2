package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"claimsheet/importer/cli"
)

// object is an object of JSON.
type object map[string]any

// schemaOf returns the JSON Schema of a type that is encoded as JSON.
func schemaOf(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return object{"anyOf": []any{schemaOf(t.Elem()), object{"type": "null"}}}
	case t.Kind() == reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case t.Kind() == reflect.Struct:
		return structSchema(t)
	}
	names := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number"}
	return object{"type": names[t.Kind()]}
}

// structSchema is the schema of an object with the fields of structs, and no others.
func structSchema(structs ...reflect.Type) object {
	properties, required := object{}, []string{}
	for _, t := range structs {
		for f, name := range jsonFields(t) {
			schema := schemaOf(f.Type)
			schema["description"] = f.Tag.Get("doc")
			properties[name] = schema
			if !mayLack(f) {
				required = append(required, name)
			}
		}
	}
	slices.Sort(required)
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// jsonFields yields the fields of a struct that are encoded, with their names.
func jsonFields(t reflect.Type) func(func(reflect.StructField, string) bool) {
	return func(yield func(reflect.StructField, string) bool) {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name != "" && !yield(t.Field(i), name) {
				return
			}
		}
	}
}

// mayLack reports whether a field is left out when it is empty.
func mayLack(f reflect.StructField) bool { return strings.Contains(f.Tag.Get("json"), ",omit") }

// jsonSchemas is docs/json.schema.json: the object of each command is in $defs by the
// command's name.
func jsonSchemas(t *testing.T) string {
	t.Helper()
	commands, end := cli.Objects()
	defs := object{"refused": structSchema(reflect.TypeOf(end))}
	for name, o := range commands {
		defs[strings.ReplaceAll(name, " ", "-")] = structSchema(reflect.TypeOf(o), reflect.TypeOf(end))
	}
	text, err := json.MarshalIndent(object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "What the commands of Claimsheet print with --json", "$defs": defs}, "", "  ")
	must(t, err)
	return string(text) + "\n"
}

// TestJSONPages makes docs/json.schema.json and docs/json.md from the types of the
// objects; every field is explained there, and every command with --json is.
func TestJSONPages(t *testing.T) {
	t.Parallel()
	goldenPage(t, "json.schema.json", jsonSchemas(t))
	commands, end := cli.Objects()
	var b strings.Builder
	b.WriteString(`# What --json prints

With ` + "`--json`" + ` a command prints one JSON object, on one line, as the last and only thing on stdout: at every exit code, also when the
command is mistyped. Problems and warnings are on stderr as without it. [json.schema.json](json.schema.json) is a JSON Schema: each command has
its own under ` + "`$defs`" + `, such as ` + "`#/$defs/run`" + ` and ` + "`#/$defs/ledger-check`" + `; a command that did not come to its own fields prints
` + "`#/$defs/refused`" + `. Fields are added in new versions, never removed or renamed.
The object of ` + "`check`" + ` is explained in [operations.md](operations.md).

Keys of clients and redirect urls are personal data: keep what ` + "`link`, `settle` and `history`" + ` print where only you can read it.

## Every command

`)
	describeFields(t, &b, "", reflect.TypeOf(end))
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		describeFields(t, &b, "", reflect.TypeOf(commands[name]))
	}
	goldenPage(t, "json.md", b.String())

	for _, command := range cli.Commands() {
		if command == "check" {
			continue // its object is that of --format json, and docs/operations.md explains it
		}
		flags, _ := flagsOf(command)
		if _, known := commands[command]; known != slices.Contains(flags, "--json") {
			t.Errorf("claimsheet %s has --json: %v; docs/json.md has it: %v", command, !known, known)
		}
	}
}

// describeFields writes the table of a struct's fields, with those of the structs in it.
func describeFields(t *testing.T, b *strings.Builder, prefix string, of reflect.Type) {
	t.Helper()
	if prefix == "" {
		b.WriteString("| Field | Type | |\n|---|---|---|\n")
	}
	for f, name := range jsonFields(of) {
		if f.Tag.Get("doc") == "" {
			t.Errorf("%s.%s is not explained", of.Name(), f.Name)
		}
		inner, kind, path := f.Type, "", prefix+name
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch schema := schemaOf(inner); {
		case inner.Kind() == reflect.Slice:
			inner, kind, path = inner.Elem(), "list", path+"[]"
		case schema["format"] != nil:
			kind = "time"
		default:
			kind = schema["type"].(string)
		}
		says := f.Tag.Get("doc")
		if mayLack(f) {
			says += "; may be left out"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", path, kind, says)
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() {
			describeFields(t, b, path+".", inner)
		}
	}
}

// conforms compares an output with the schema of a command's object. The output is one
// line.
func conforms(ts *testscript.TestScript, neg bool, args []string) {
	wants(ts, neg, args, 2, 2)
	compiler := jsonschema.NewCompiler()
	page, err := os.Open(filepath.Join(root, "docs", "json.schema.json"))
	ts.Check(err)
	defer page.Close()
	schemas, err := jsonschema.UnmarshalJSON(page)
	ts.Check(err)
	ts.Check(compiler.AddResource("json.schema.json", schemas))
	schema, err := compiler.Compile("json.schema.json#/$defs/" + args[0])
	ts.Check(err)
	text := ts.ReadFile(args[1])
	if strings.Count(text, "\n") != 1 {
		ts.Fatalf("the output is not one line")
	}
	got, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	ts.Check(err)
	ts.Check(schema.Validate(got))
}
