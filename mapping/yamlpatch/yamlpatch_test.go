package yamlpatch_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"claimsheet/importer/testform"
	"claimsheet/mapping/yamlpatch"
)

func TestMain(m *testing.M) { os.Exit(testform.Run(m)) }

var style = yamlpatch.Style{"client", "fields", "attributes"}

const file = `# A campaign.
name: cards   # never change it
api: v2

client:
  key: E-mail
  # names are the service's
  fields:
    firstName: First name
    email: {column: E-mail, type: Email}   # checked
    "Last name": 'It''s'
  empty:
  none: {}

activities:
  # first
  - template: Your details
    attributes:
      Postcode: Post code   # DECIDE: sure?
      Notes: |
        two
        lines

  # second
  - template: Sign
    status: Open
  - template: Last

beside:   # of the key
  a: 1   # of the value

tail: [a, "b # c", 'd']
# the end
`

func TestApply(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, op, was, is string }{
		{"a text", `{"op":"replace","path":"/name","value":"my cards"}`, "name: cards ", "name: my cards "},
		{"a number that is a text", `{"op":"replace","path":"/name","value":"0012"}`, "name: cards ", `name: "0012" `},
		{"in braces", `{"op":"replace","path":"/client/fields/email/type","value":"Text"}`, "type: Email}", "type: Text}"},
		{"more in braces", `{"op":"add","path":"/client/fields/email/required","value":true}`, "type: Email}", "type: Email, required: true}"},
		{"less in braces", `{"op":"remove","path":"/client/fields/email/type"}`, "{column: E-mail, type: Email}", "{column: E-mail}"},
		{"the first in braces", `{"op":"remove","path":"/client/fields/email/column"}`, "{column: E-mail, type: Email}", "{type: Email}"},
		{"a text becomes an object", `{"op":"replace","path":"/client/fields/firstName","value":{"column":"First name","type":"Text"}}`, "firstName: First name", "firstName: {column: First name, type: Text}"},
		{"braces become a text", `{"op":"replace","path":"/client/fields/email","value":"E-mail"}`, "email: {column: E-mail, type: Email}   # checked", "email: E-mail   # checked"},
		{"a quoted text", `{"op":"replace","path":"/client/fields/Last name","value":"Surname"}`, `"Last name": 'It''s'`, `"Last name": Surname`},
		{"a text of several lines", `{"op":"replace","path":"/activities/0/attributes/Notes","value":"Remarks"}`, "Notes: |\n        two\n        lines\n", "Notes: Remarks\n"},
		{"nothing becomes a text", `{"op":"replace","path":"/client/empty","value":"x"}`, "empty:\n", "empty: x\n"},
		{"nothing becomes an object", `{"op":"add","path":"/client/empty/lookup","value":"E-mail"}`, "empty:\n", "empty: {lookup: E-mail}\n"},
		{"empty braces", `{"op":"add","path":"/client/none/a","value":{"b":{"c":1}}}`, "none: {}\n", "none:\n    a:\n      b: {c: 1}\n"},
		{"a pair at the end", `{"op":"add","path":"/client/fields/phone","value":{"column":"Mobile","type":"Phone"}}`, "'It''s'\n", "'It''s'\n    phone: {column: Mobile, type: Phone}\n"},
		{"a section", `{"op":"add","path":"/workflow","value":{"name":"W"}}`, "'d']\n", "'d']\n\nworkflow: {name: W}\n"},
		{"an entry at the end", `{"op":"add","path":"/activities/-","value":{"template":"T","attributes":{"A":"B"}}}`, "- template: Last\n", "- template: Last\n  - template: T\n    attributes:\n      A: B\n"},
		{"a pair of an entry", `{"op":"add","path":"/activities/2/attributes","value":{"A":"B"}}`, "- template: Last\n", "- template: Last\n    attributes:\n      A: B\n"},
		{"an entry in brackets", `{"op":"add","path":"/tail/-","value":"new"}`, `'d']`, `'d', new]`},
		{"a pair removed, its comment with it", `{"op":"remove","path":"/activities/0/attributes/Postcode"}`, "      Postcode: Post code   # DECIDE: sure?\n", ""},
		{"an entry removed", `{"op":"remove","path":"/activities/1"}`, "  - template: Sign\n    status: Open\n", ""},
		{"the first pair of an entry removed", `{"op":"remove","path":"/activities/1/template"}`, "- template: Sign\n    status", "- status"},
		{"the only pair removed", `{"op":"remove","path":"/activities/2/template"}`, "- template: Last\n", "- {}\n"},
		{"a text of several lines with a comment", `{"op":"replace","path":"/activities/0/attributes/Notes","value":{"text":"x"}}`, "Notes: |\n        two\n        lines\n", "Notes: {text: x}\n"},
		{"an object below its key, and comments beside both", `{"op":"replace","path":"/beside","value":"x"}`, "beside:   # of the key\n  a: 1   # of the value\n", "beside: x   # of the key\n"},
		{"the only pair below a key with a comment", `{"op":"remove","path":"/beside/a"}`, "beside:   # of the key\n  a: 1   # of the value\n", "beside: {}   # of the key\n"},
		{"a section removed", `{"op":"remove","path":"/api"}`, "api: v2\n", ""},
		{"up in a list", `{"op":"move","from":"/activities/2","path":"/activities/1"}`,
			"  # second\n  - template: Sign\n    status: Open\n  - template: Last\n", "  - template: Last\n  # second\n  - template: Sign\n    status: Open\n"},
		{"in brackets", `{"op":"move","from":"/tail/2","path":"/tail/1"}`, `[a, "b # c", 'd']`, `[a, 'd', "b # c"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n"} {
				crlf := func(s string) string { return strings.ReplaceAll(s, "\n", eol) }
				var op yamlpatch.Operation
				if err := json.Unmarshal([]byte(test.op), &op); err != nil {
					t.Fatal(err)
				}
				got, err := yamlpatch.Apply([]byte(crlf(file)), style, op)
				if err != nil {
					t.Fatal(err)
				}
				want := strings.Replace(crlf(file), crlf(test.was), crlf(test.is), 1)
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, op, want string }{
		{file, `{"op":"replace","path":"/nobody","value":1}`, `there is no "nobody"`},
		{file, `{"op":"remove","path":"/activities/9"}`, `there is no "9"`},
		{file, `{"op":"add","path":"/activities/3","value":1}`, `added at the end of a list`},
		{file, `{"op":"add","path":"/client/key/x","value":1}`, "neither an object nor a list"},
		{file, `{"op":"add","path":"/client/lookup/email","value":1}`, `/client/lookup: there is no "lookup"`},
		{file, `{"op":"add","path":"/x","value":{"a":}}`, "not JSON"},
		{file, `{"op":"add","path":"","value":{}}`, "whole file"},
		{file, `{"op":"copy","path":"/x","from":"/name"}`, `"copy" is not an operation`},
		{file, `{"op":"move","from":"/name","path":"/client/name"}`, "not beside"},
		{file, `{"op":"move","from":"/name","path":"/api"}`, "not beside"},
		{"a: &x {b: 1}\nc: *x\n", `{"op":"add","path":"/d","value":1}`, "cannot be changed without touching more"},
		{"a:\n  - - b\n    - c\n", `{"op":"remove","path":"/a/0/0"}`, "cannot be changed without touching more"},
		{"a: 1\rb: 2\n", `{"op":"add","path":"/d","value":1}`, "end in different ways"},
		{"a: [", `{"op":"add","path":"/d","value":1}`, "not YAML"},
		{"a: 1\n---\nb: 1\n", `{"op":"add","path":"/d","value":1}`, "more than one document"},
	} {
		var op yamlpatch.Operation
		if err := json.Unmarshal([]byte(test.op), &op); err != nil {
			op = yamlpatch.Operation{Op: "add", Path: "/x", Value: json.RawMessage(`{"a":}`)}
		}
		if _, err := yamlpatch.Apply([]byte(test.file), style, op); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.op, err, test.want)
		}
	}
}

// walk calls do with every value of a file.
func walk(t *testing.T, data []byte, do func(path []string, n *yaml.Node)) {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	var visit func(path []string, n *yaml.Node)
	visit = func(path []string, n *yaml.Node) {
		do(path, n)
		for i, child := range n.Content {
			token := strconv.Itoa(i)
			if n.Kind == yaml.MappingNode {
				if i%2 == 0 {
					continue
				}
				token = n.Content[i-1].Value
			}
			visit(append(path[:len(path):len(path)], token), child)
		}
	}
	visit(nil, root.Content[0])
}

// TestAnyChange goes on changing a file at random: whatever the text, the file stays YAML
// that says what was asked for, or the operation is refused and nothing changes.
func TestAnyChange(t *testing.T) {
	t.Parallel()
	values := rapid.SampledFrom([]string{`"x"`, `1.5`, `null`, `true`, `{}`, `[]`, `["a","b: c"]`, `{"a":1,"b":{"c":"d # e"}}`, `[{"a":"'"},{"b":[1]}]`, `"two\nlines"`, `"é🙂"`})
	rapid.Check(t, func(r *rapid.T) {
		data := []byte(rapid.SampledFrom(append(variants(), file)).Draw(r, "file"))
		comment := strings.TrimSpace(strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")[0])
		for range rapid.IntRange(1, 12).Draw(r, "changes") {
			var paths []string
			walk(t, data, func(path []string, _ *yaml.Node) { paths = append(paths, yamlpatch.Pointer(path...)) })
			path := rapid.SampledFrom(paths).Draw(r, "path")
			op := yamlpatch.Operation{Op: rapid.SampledFrom([]string{"add", "add", "add", "replace", "remove", "move"}).Draw(r, "op"), Path: path, Value: json.RawMessage(values.Draw(r, "value"))}
			if rapid.Bool().Draw(r, "odd") {
				op.Value, _ = json.Marshal([]any{anyText().Draw(r, "text"), map[string]any{anyText().Draw(r, "key"): anyText().Draw(r, "text")}}[rapid.IntRange(0, 1).Draw(r, "kind")])
			}
			switch op.Op {
			case "add":
				op.Path += rapid.SampledFrom([]string{"/k", "/-", "/0", "/x y", yamlpatch.Pointer(anyText().Draw(r, "name"))}).Draw(r, "token")
			case "move":
				op.From, op.Path = path, path[:strings.LastIndexByte(path+"/", '/')]+rapid.SampledFrom([]string{"/0", "/1", "/new"}).Draw(r, "to")
			}
			changed, err := yamlpatch.Apply(data, style, op)
			if err == nil {
				data = changed
			} else if strings.Contains(err.Error(), "cannot be changed without") {
				r.Fatalf("%+v: %v\n%s", op, err, data)
			}
			if strings.Count(string(data), comment) != 1 {
				r.Fatalf("%+v: the first line is gone:\n%s", op, data)
			}
		}
	})
}

// FuzzApply applies an operation to any file: it never panics, and what it returns can be
// changed back where the operation says how.
func FuzzApply(f *testing.F) {
	for _, op := range []string{"add", "replace", "remove", "move"} {
		f.Add([]byte(file), op, "/client/fields/email", "/client/key", `{"a":[1,{"b":null}]}`)
	}
	f.Add([]byte("- - a\n  - b: |\n     c\n- 'x'\n"), "remove", "/0/1/b", "", `1`)
	f.Add([]byte("a: 1 # x\rb: 2\u0085c: [1]\u2028d:\r  - e\r\n"), "add", "/d/0", "", `"y"`)
	f.Add([]byte("{a: [b, {c: d}], 'e': \"f\"} # g\n"), "add", "/a/1/x", "", `"y"`)
	f.Fuzz(func(t *testing.T, data []byte, op, path, from, value string) {
		was := string(data)
		changed, err := yamlpatch.Apply(data, style, yamlpatch.Operation{Op: op, Path: path, From: from, Value: json.RawMessage(value)})
		if string(data) != was {
			t.Fatal("the file that was given is changed")
		}
		if (err == nil) == (changed == nil) && len(data) > 0 {
			t.Fatalf("%q and %v", changed, err)
		}
	})
}
