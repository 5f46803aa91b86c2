package yamlpatch_test

import (
	"encoding/json"
	"reflect"
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

// TestEveryText: every text is read back as it was, wherever it is written.
func TestEveryText(t *testing.T) {
	t.Parallel()
	for i, text := range oddTexts { // rapid mixes the others
		if *testform.Long || i%3 == 0 {
			checkText(t, variants()[i%len(variants())], sections[i%len(sections)], text)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		checkText(r, rapid.SampledFrom(variants()).Draw(r, "file"), rapid.SampledFrom(sections).Draw(r, "section"), anyText().Draw(r, "text"))
	})
}

// checkText writes a text as a section of the file and in values of it, and reads it back.
func checkText(t interface{ Fatalf(string, ...any) }, file, section, text string) {
	data, _ := json.Marshal(text)
	_ = json.Unmarshal(data, &text) // what is no UTF-8 cannot be asked for
	for _, value := range []any{text, map[string]any{text: "b", "k": text}, []any{text, map[string]any{"k": []any{text}}}} {
		data, _ := json.Marshal(value)
		changed, err := yamlpatch.Apply([]byte(file), style, yamlpatch.Operation{Op: "replace", Path: "/" + section, Value: data})
		tree := map[string]any{}
		if err == nil {
			err = yaml.Unmarshal(changed, &tree)
		}
		if got := tree[section]; err != nil || !reflect.DeepEqual(got, value) {
			t.Fatalf("%q: %s is read back as %v, want %v: %v\n%s", text, section, got, value, err, changed)
		}
		if strings.Count(string(changed), "# every way") != 1 || strings.Contains(file, "\r\n") && strings.Count(string(changed), "\r\n") != strings.Count(string(changed), "\n") {
			t.Fatalf("%q: %s touches more\n%s", text, section, changed)
		}
	}
}

// variants are the file of writings with other ends of lines, a byte order mark, and no
// end of the last line.
func variants() []string {
	return []string{writings, strings.ReplaceAll(writings, "\n", "\r\n"), "\ufeff" + writings, writings + "tail: x"}
}
