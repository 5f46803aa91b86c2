package yamlpatch_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

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

var numbered = regexp.MustCompile(`#c\d+`)

// TestCommentsStay: what is added, and a text that is replaced, leave every comment in its
// order; with what is removed goes only the comment beside it.
func TestCommentsStay(t *testing.T) {
	t.Parallel()
	files := []string{commented, strings.ReplaceAll(commented, "\n", "\r\n"), "\ufeff" + strings.TrimSuffix(commented, "\n")}
	rapid.Check(t, func(r *rapid.T) {
		file := rapid.SampledFrom(files).Draw(r, "file")
		type at struct {
			path string
			node *yaml.Node
		}
		var places []at
		walk(t, []byte(file), func(path []string, n *yaml.Node) { places = append(places, at{yamlpatch.Pointer(path...), n}) })
		place := rapid.SampledFrom(places).Draw(r, "place")
		value := rapid.SampledFrom([]string{`"x"`, `{"k":"v"}`, `{"k":{"l":{"m":["n",{"o":1}]}}}`, `["p","q"]`, `"two\nlines"`}).Draw(r, "value")
		op := yamlpatch.Operation{Op: "replace", Path: place.path, Value: json.RawMessage(value)}
		switch place.node.Kind {
		case yaml.MappingNode:
			op.Op, op.Path = "add", place.path+"/new"
		case yaml.SequenceNode:
			op.Op, op.Path = "add", place.path+"/-"
		}
		isLine := place.node.Kind == yaml.ScalarNode && !strings.Contains(place.node.Value, "\n") && place.node.Value != "" && !slices.Contains([]string{"/long", "/three", "/literal", "/folded"}, place.path)
		if isLine && !strings.HasPrefix(place.path, "/block/b/") && rapid.Bool().Draw(r, "remove") {
			op.Op = "remove"
		}
		changed, err := yamlpatch.Apply([]byte(file), style, op)
		if err != nil {
			isCommented := strings.HasPrefix(op.Path, "/braces") || strings.HasPrefix(op.Path, "/block/d")
			if op.Path != "/list/3/0" && !(isCommented && strings.Contains(err.Error(), "has comments within its brackets")) { // the first is a list in a list
				r.Fatalf("%+v: %v", op, err)
			}
			return
		}
		if op.Op == "remove" { // what stands beside it goes too
			line := strings.Split(file, "\n")[place.node.Line-1]
			for _, comment := range numbered.FindAllString(file, -1) {
				if !strings.Contains(string(changed), comment) && !strings.Contains(line, comment) {
					r.Fatalf("%+v: %s is gone\n%s", op, comment, changed)
				}
			}
			return
		}
		if before, after := numbered.FindAllString(file, -1), numbered.FindAllString(string(changed), -1); !slices.Equal(before, after) {
			r.Fatalf("%+v: the comments are %v\n%s", op, after, changed)
		}
	})
}
