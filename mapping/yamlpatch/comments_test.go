package yamlpatch_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"claimsheet/importer/testform"
	"claimsheet/mapping/yamlpatch"
)

// commented has a comment in every place where YAML takes one, each with a number.
const commented = `#c1
---   #c2
#c3
plain: x   #c4
  #c5
"double": "x # y"   #c6

#c7

'single' : 'it''s'   #c8
long: one
  two
  #c9
three: a
  b   #c10
literal: |   #c11
    two
    lines
  #c12
#c13
folded: >-   #c14

  one

#c15
nothing:   #c16
#c17
block:   #c18
  #c19
  a: 1   #c20
    #c21
  b:   #c22
    #c23
    c: 1   #c24
   #c25
  d: [x,   #c26
    #c27
    y   #c28
    ]   #c29
 #c30
braces: {   #c31
  a: 1,   #c32
  b: {c: 2}   #c33
  #c34
}   #c35
list:   #c36
- x   #c37
  #c38
- a: 1   #c39
  #c40
  b: 2
  #c41
-   #c42
  a: 1
- - y   #c43
  - z
#c44
none: {}   #c45
empty: []   #c46
tab:	x	#c47
last: x   #c48
 #c49
#c50
`

// TestEveryPlace applies an operation at every place of the samples' mappings and of a file with comments wherever YAML takes one. What is
// added can be removed again, and the file is what it was, byte for byte; what is added or replaced leaves every comment in its order;
// with what is removed goes only the comment beside it.
func TestEveryPlace(t *testing.T) {
	t.Parallel()
	files := []string{commented, strings.ReplaceAll(commented, "\n", "\r\n"), "\ufeff" + strings.TrimSuffix(commented, "\n")}
	for _, sample := range []string{"first", "v2-wide", "v2-joint-claimants"} {
		data, err := os.ReadFile(filepath.Join("../../samples", sample, "mapping.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(data))
	}
	values := []string{`"a: b"`, `{"k":"v"}`, `{"k":{"l":{"m":["n",{"o":1}]}}}`, `["p","q"]`, `"two\nlines"`}
	for i, file := range files {
		places := 0
		walk(t, []byte(file), func(path []string, n *yaml.Node) {
			for v, value := range values {
				if *testform.Long || v == (places+i)%len(values) {
					everyOperation(t, file, i >= 3, yamlpatch.Pointer(path...), n, json.RawMessage(value))
				}
			}
			places++
		})
	}
}

// everyOperation applies at one place what can be done there.
func everyOperation(t *testing.T, file string, isSample bool, at string, n *yaml.Node, value json.RawMessage) {
	t.Helper()
	apply := func(file string, op yamlpatch.Operation) (string, bool) {
		changed, err := yamlpatch.Apply([]byte(file), style, op)
		isRefused := err != nil && !isSample && (op.Path == "/list/3/0" || // a list in a list
			(strings.HasPrefix(op.Path, "/braces") || strings.HasPrefix(op.Path, "/block/d")) && strings.Contains(err.Error(), "has comments within its brackets"))
		if err != nil && !isRefused {
			t.Fatalf("%+v: %v\n%s", op, err, file)
		}
		return string(changed), err == nil
	}
	add := yamlpatch.Operation{Op: "add", Path: at + "/new", Value: value}
	if n.Kind == yaml.SequenceNode {
		add.Path = at + "/-"
	}
	if n.Kind != yaml.ScalarNode {
		added, ok := apply(file, add)
		if ok && !slices.Equal(comments(file), comments(added)) {
			t.Fatalf("%+v: the comments are %v\n%s", add, comments(added), added)
		}
		if ok && n.Kind == yaml.MappingNode && len(n.Content) > 0 {
			if undone, _ := apply(added, yamlpatch.Operation{Op: "remove", Path: at + "/new"}); undone != file {
				t.Fatalf("added to %s and removed (-before +after):\n%s", at, cmp.Diff(file, undone))
			}
		}
	}
	if at == "" {
		return
	}
	replaced, ok := apply(file, yamlpatch.Operation{Op: "replace", Path: at, Value: value})
	if ok && n.Kind == yaml.ScalarNode && !slices.Equal(comments(file), comments(replaced)) {
		t.Fatalf("%s: replaced by %s, the comments are %v\n%s", at, value, comments(replaced), replaced)
	}
	removed, ok := apply(file, yamlpatch.Operation{Op: "remove", Path: at})
	if !ok || n.Kind != yaml.ScalarNode || slices.Contains([]string{"/long", "/three", "/literal", "/folded", "/block/b/c"}, at) {
		return // a value of several lines, or the last below a key with comments
	}
	line, left := strings.Split(file, "\n")[n.Line-1], comments(removed)
	for _, comment := range comments(file) {
		if !slices.Contains(left, comment) && !strings.Contains(line, comment) {
			t.Errorf("%s: removed, %s is gone\n%s", at, comment, removed)
		}
	}
}

// comment is what follows a # in the samples and in commented.
var comment = regexp.MustCompile(`#c\d+|(?m)(?:^|  )#[^\r\n]*`)

func comments(file string) (all []string) {
	for _, c := range comment.FindAllString(file, -1) {
		all = append(all, strings.TrimSpace(c))
	}
	return all
}
