package yamlpatch_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"claimsheet/importer/testform"
	"claimsheet/mapping/yamlpatch"
)

// writings has every way in which YAML writes a text, an object and a list.
const writings = `# every way
plain: x   # beside
double: "x # y"
single: 'it''s'
literal: |
  two
  lines
folded: >-
  one
  line
nothing:
block:
  a: 1   # first
  b: 2
braces: {a: 1, 'b': "2"}
none: {}
entries:
  - x   # first
  - y
  - {a: 1}
  - a: 1
    b: 2
brackets: [x, {a: 1}]
empty: []
last: >
  folded
  text
`

// sections are the keys of writings.
var sections = []string{"plain", "double", "single", "literal", "folded", "nothing", "block", "braces", "none", "entries", "brackets", "empty", "last"}

// oddTexts are texts that YAML reads as something else when nothing is done about it.
var oddTexts = []string{"-", "--", "---", "- a", "-1", "~", "null", "Null", "NULL", "yes", "No", "on", "y", "true", "FALSE", "?", "? x", "#", "# x", "a # b", "a #b", ":", ": ", "a: b", "a:", ":a",
	"", " ", " a", "a ", "\ta", "a\t", "\t", "1e3", "0x1", "0o7", "0b1", "017", "1_000", "1:30", "12.50", ".5", "5.", ".inf", ".nan", "+1", "-.inf", "2026-11-23", "2026-11-23T10:00:00Z", "31/02/2024",
	"!!str", "!x", "&a", "*a", "%YAML 1.2", "@x", "`x", "|", "|-", ">", ">+", "=", "<<", "{", "}", "{a}", "{a: b}", "[", "]", "[a]", ",", "a, b", "'", "''", "it's", `"`, `""`, `a "b" c`, `\`, `\n`, `a\"b`,
	"two\nlines", "\n", "\n\n", "a\n", "\na", "a\r\nb", "\r", "é", "🙂", "👩\u200d👧", "\u0000", "\u0007", "\u001b[0m", "\u007f", "\u0085", "\u00a0", "\u00ad", "\u2028", "\u2029", "\u200b", "\u202e", "\ufeff", "a\ufeff", "\ue000", "\ufffd", "\U0010ffff",
	"“x”", "…", "...", "--- x", "DECIDE: x", "x ", "/", "~1", "~0", "a/b", "template=x", "0", "1", "values", strings.Repeat("a b ", 60), strings.Repeat("é", 2000)}

// anyText draws one of the odd texts, a mixture of them, or any text.
func anyText() *rapid.Generator[string] {
	odd := rapid.SampledFrom(oddTexts)
	return rapid.OneOf(odd, rapid.Custom(func(t *rapid.T) string { return odd.Draw(t, "one") + odd.Draw(t, "other") }), rapid.String())
}

// writer writes a text into the file of writings, and says where it is then: as a value,
// or, for a key, with the value "v".
type writer struct {
	op   yamlpatch.Operation // TEXT and KEY stand for the text
	at   []string            // KEY stands for the text
	want string              // JSON, with TEXT
}

func writers() []writer {
	var list []writer
	add := func(op, path, value, want string, at ...string) {
		list = append(list, writer{yamlpatch.Operation{Op: op, Path: path, Value: json.RawMessage(value)}, at, want})
	}
	for _, name := range sections {
		add("replace", "/"+name, `TEXT`, `TEXT`, name)
		add("replace", "/"+name, `{"a":TEXT,TEXT:"b"}`, `{"a":TEXT,TEXT:"b"}`, name)
		add("replace", "/"+name, `[TEXT,{"a":[TEXT]}]`, `[TEXT,{"a":[TEXT]}]`, name)
	}
	add("add", "/KEY", `"v"`, `"v"`, "KEY")
	for _, name := range []string{"block", "braces", "none", "nothing", "entries/2", "entries/3", "brackets/1"} {
		at := strings.Split(name, "/")
		add("add", "/"+name+"/KEY", `"v"`, `"v"`, append(slices.Clone(at), "KEY")...)
		add("add", "/"+name+"/new", `TEXT`, `TEXT`, append(slices.Clone(at), "new")...)
		add("add", "/"+name+"/new", `{"b":{TEXT:TEXT}}`, `{"b":{TEXT:TEXT}}`, append(slices.Clone(at), "new")...)
	}
	for _, name := range []string{"entries", "brackets"} {
		add("add", "/"+name+"/-", `TEXT`, `TEXT`, name, map[string]string{"entries": "4", "brackets": "2"}[name])
		add("replace", "/"+name+"/0", `TEXT`, `TEXT`, name, "0")
	}
	add("add", "/empty/-", `TEXT`, `TEXT`, "empty", "0")
	return list
}

// with returns the writer for a text, and the value that must be read back; ok is false
// when the text means something else there.
func (w writer) with(text string) (op yamlpatch.Operation, at []string, want string, ok bool) {
	encoded, _ := json.Marshal(text)
	if text == "a" || text == "new" || text == "b" {
		return op, nil, "", false // that key is there already
	}
	in := func(s string) string { return strings.ReplaceAll(s, "TEXT", string(encoded)) }
	op = w.op
	op.Value = json.RawMessage(in(string(op.Value)))
	op.Path = strings.ReplaceAll(op.Path, "/KEY", yamlpatch.Pointer(text))
	for _, token := range w.at {
		if token == "KEY" {
			token = text
		}
		at = append(at, token)
	}
	return op, at, in(w.want), true
}

// checkText writes a text in some ways and reads it back.
func checkText(t interface{ Fatalf(string, ...any) }, file, text string, ways []writer) {
	data, _ := json.Marshal(text)
	_ = json.Unmarshal(data, &text) // what is no UTF-8 cannot be asked for
	for _, w := range ways {
		op, at, want, ok := w.with(text)
		if !ok || slices.Contains(at, text) && slices.Contains(sections, text) {
			continue
		}
		changed, err := yamlpatch.Apply([]byte(file), style, op)
		if err != nil {
			t.Fatalf("%q: %s %s %s: %v", text, op.Op, op.Path, op.Value, err)
		}
		var tree any
		if err := yaml.Unmarshal(changed, &tree); err != nil {
			t.Fatalf("%q: %s %s: %v\n%s", text, op.Op, op.Path, err, changed)
		}
		for _, token := range at {
			switch v := tree.(type) {
			case map[string]any:
				tree = v[token]
			case []any:
				tree = v[int(token[0]-'0')]
			default:
				t.Fatalf("%q: %s %s: nothing is at %q\n%s", text, op.Op, op.Path, at, changed)
			}
		}
		got, _ := json.Marshal(tree)
		if !sameJSON(string(got), want) {
			t.Fatalf("%q: %s %s is read back as %s, want %s\n%s", text, op.Op, op.Path, got, want, changed)
		}
		if strings.Count(string(changed), "# every way") != 1 || strings.Contains(file, "\r\n") && strings.Count(string(changed), "\r\n") != strings.Count(string(changed), "\n") {
			t.Fatalf("%q: %s %s touches more\n%s", text, op.Op, op.Path, changed)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// Every text, written in any place, is read back as it was.
func TestEveryText(t *testing.T) {
	t.Parallel()
	all := writers()
	for i, text := range oddTexts { // rapid mixes the others
		if !*testform.Long && i%3 != 0 {
			continue
		}
		var ways []writer
		for k := i / 3 % 3; k < len(all); k += 3 {
			ways = append(ways, all[k])
		}
		checkText(t, variants()[i%len(variants())], text, ways)
	}
	rapid.Check(t, func(r *rapid.T) {
		ways := rapid.SliceOfN(rapid.SampledFrom(all), 1, 4).Draw(r, "ways")
		checkText(r, rapid.SampledFrom(variants()).Draw(r, "file"), anyText().Draw(r, "text"), ways)
	})
}

// variants are the file of writings with other ends of lines, a byte order mark, and no
// end of the last line.
func variants() []string {
	return []string{writings, strings.ReplaceAll(writings, "\n", "\r\n"), "\ufeff" + writings, writings + "tail: x"}
}
