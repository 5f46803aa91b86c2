package yamlpatch_test

import (
	"strings"
	"testing"

	"claimsheet/mapping/yamlpatch"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	const file = `# first
name: spring
sheet: {header_row: 2, empty: [N/A, "-"]}
client:
  key: 0012   # a text
  fields:
    "E/mail": {column: E-mail, required: true}
    none:
activities:
  - template: One
  - template: Two
    when: yes
`
	d, err := yamlpatch.Read([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"name": `"spring"`, "sheet": `{"header_row": 2, "empty": ["N/A", "-"]}`, "client key": `"0012"`, "client fields": `{"E/mail": {"column": "E-mail", "required": true}, "none": null}`,
		"activities 1": `{"template": "Two", "when": "yes"}`, "activities 2": "", "client nothing": "", "name x": "",
	} {
		got, ok := d.Value(strings.Fields(path)...)
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s is %s (%t), want %s", path, got, ok, want)
		}
	}
	for path, want := range map[string]string{"": "name sheet client activities", "sheet empty": "0 1", "activities 1": "template when", "name": ""} {
		if got := strings.Join(d.Keys(strings.Fields(path)...), " "); got != want {
			t.Errorf("the keys of %q are %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]int{"name": 2, "client fields E/mail column": 7, "activities 1": 11, "activities 1 when": 12, "x": 0} {
		if got := d.Line(strings.Fields(path)...); got != want {
			t.Errorf("%s is in line %d, want %d", path, got, want)
		}
	}
	for _, c := range []struct {
		line, column int
		want         string
	}{{2, 1, "/name"}, {2, 9, "/name"}, {3, 9, "/sheet/header_row"}, {3, 37, "/sheet/empty/1"}, {5, 0, "/client/key"}, {7, 20, "/client/fields/E~1mail/column"},
		{8, 5, "/client/fields/none"}, {10, 5, "/activities/0/template"}, {12, 0, "/activities/1/when"}, {1, 1, ""}} {
		if got := yamlpatch.Pointer(d.At(c.line, c.column)...); got != c.want {
			t.Errorf("%d:%d belongs to %q, want %q", c.line, c.column, got, c.want)
		}
	}
	if _, err := yamlpatch.Read([]byte("a: [")); err == nil {
		t.Error("what is not YAML is read")
	}
}
