package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"claimsheet/importer/cli"
)

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

// TestJSONPage makes docs/json.md from the types of the objects; every field is
// explained there, and every command with --json is.
func TestJSONPage(t *testing.T) {
	t.Parallel()
	commands, end := cli.Objects()
	var b strings.Builder
	b.WriteString(`# What --json prints

With ` + "`--json`" + ` a command prints one JSON object, on one line, as the last and only thing on stdout: at every exit code, also when the
command is mistyped; a command that did not come to its own fields prints those of every command. Problems and warnings are on stderr as
without it.

Keys of clients are personal data: keep what ` + "`settle` and `history`" + ` print where only you can read it.

## Every command

`)
	described := map[reflect.Type]string{}
	describeFields(t, &b, "", reflect.TypeOf(end), described)
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		describeFields(t, &b, "", reflect.TypeOf(commands[name]), described)
	}
	b.WriteString(checkObject)
	goldenPage(t, "json.md", b.String())

	explained := strings.Split(strings.Join(slices.Collect(maps.Keys(commands)), ", "), ", ")
	for _, command := range cli.Commands() {
		if command == "check" {
			continue // checkObject explains its object
		}
		flags, _ := flagsOf(command)
		if known := slices.Contains(explained, command); known != slices.Contains(flags, "--json") {
			t.Errorf("claimsheet %s has --json: %v; docs/json.md has it: %v", command, !known, known)
		}
	}
}

// checkObject explains the object of check, which the package lint writes.
const checkObject = "\n## check\n\n" +
	"Once its flags are understood, nothing is on stderr. Exit codes: 0 no mistake, 1 rows that cannot be imported (with `--rows`), 2 mistakes,\n" +
	"3 the service did not answer.\n\n" +
	"| Field | |\n|---|---|\n" +
	"| `checked` | `mapping`, `environment` (`\"\"` without `-e`), `sheets`, and how many `columns` and `templates` the mapping names, `rows` were read and `invalidRows` cannot be imported |\n" +
	"| `errors`, `warnings` | how many of each are in `problems` |\n" +
	"| `problems` | each with `severity` (error, warning), `code`, `where` (as on the terminal), `file`, `line` and `column` (from 1, in characters; 0 for cells), `sheet`, `cell`, `row`, `message`, `hint`; a text that does not apply is `\"\"`. A service that does not answer is an error without a code |\n" +
	"| `exitCode` | the exit code |\n"

// describeFields writes the table of a struct's fields, with those of the structs in it.
// A type that described has is not explained again.
func describeFields(t *testing.T, b *strings.Builder, prefix string, of reflect.Type, described map[reflect.Type]string) {
	t.Helper()
	if prefix == "" {
		b.WriteString("| Field | Type | |\n|---|---|---|\n")
	}
	for f, name := range jsonFields(of) {
		says := f.Tag.Get("doc")
		if says == "" {
			t.Errorf("%s.%s is not explained", of.Name(), f.Name)
		}
		if strings.Contains(f.Tag.Get("json"), ",omit") {
			says += "; may be left out"
		}
		inner, path, kind := f.Type, prefix+name, ""
		switch {
		case inner == reflect.TypeFor[json.RawMessage]():
			kind = "any"
		case inner.Kind() == reflect.Pointer:
			inner = inner.Elem()
		case inner.Kind() == reflect.Slice:
			inner, path, kind = inner.Elem(), path+"[]", "list"
		}
		isTime := inner == reflect.TypeFor[time.Time]()
		earlier, again := described[inner]
		switch {
		case kind != "":
		case isTime:
			kind = "time"
		default:
			kind = map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer",
				reflect.Float64: "number", reflect.Struct: "object"}[inner.Kind()]
		}
		if again {
			says += "; with the fields of `" + earlier + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", path, kind, says)
		if inner.Kind() == reflect.Struct && !isTime && !again {
			described[inner] = path
			describeFields(t, b, path+".", inner, described)
		}
	}
}
