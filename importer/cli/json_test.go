package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
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

With ` + "`--json`" + ` a command prints one JSON object, on one line, as the only thing on stdout, at every exit code. A command that failed
early prints only the fields of every command. Problems and warnings are on stderr as without it. A field with ? may be left out, and [] is a
list. Keys of clients are personal data.

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
	"Nothing is on stderr. Exit codes: 0 no mistake, 1 rows that cannot be imported (with `--rows`), 2 mistakes, 3 the service did not answer.\n\n" +
	"- `checked`: `mapping`, `environment`, `sheets`, and how many `columns` and `templates` the mapping names, `rows` were read and `invalidRows` cannot be imported\n" +
	"- `errors`, `warnings`: how many of each are in `problems`\n" +
	"- `problems[]`: `severity` (error, warning), `code`, `where`, `file`, `line` and `column` (from 1; 0 for cells), `sheet`, `cell`, `row`, `message`, `hint`\n" +
	"- `exitCode`\n"

// saidByName matches explanations that add nothing to the name of a field of the page.
var saidByName = regexp.MustCompile(`^(the [a-z]+'s [a-z]+(: personal data)?|what (is wrong, one line|was tried|was found, one line|to do; may be empty|happened to it)|how to fix it; may be empty|magic links asked for|kept copies of sheets|requests and answers|all [a-z ]+|its [a-z]+|why|when it (began|happened)|how long it took|redirect urls|look-ups|(claims|activities) created|the exit code.*)$`)

// describeFields writes the list of a struct's fields, and below each those of a struct in
// it. A type that described has is not explained again.
func describeFields(t *testing.T, b *strings.Builder, indent string, of reflect.Type, described map[reflect.Type]string) {
	t.Helper()
	for f, name := range jsonFields(of) {
		says := f.Tag.Get("doc")
		if says == "" {
			t.Errorf("%s.%s is not explained", of.Name(), f.Name)
		}
		inner, list, optional := f.Type, "", ""
		switch {
		case inner == reflect.TypeFor[json.RawMessage](): // any value
		case inner.Kind() == reflect.Pointer:
			inner = inner.Elem()
		case inner.Kind() == reflect.Slice:
			inner, list = inner.Elem(), "[]"
		}
		isStruct := inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]()
		earlier, again := described[inner]
		if again {
			says += "; fields as in `" + earlier + "`"
		}
		if strings.Contains(f.Tag.Get("json"), ",omit") {
			optional = "?"
		}
		if saidByName.MatchString(says) {
			says = ""
		} else {
			says = ": " + says
		}
		fmt.Fprintf(b, "%s- `%s%s`%s%s\n", indent, name, list, optional, says)
		if isStruct && !again {
			described[inner] = name
			describeFields(t, b, indent+"  ", inner, described)
		}
	}
}
