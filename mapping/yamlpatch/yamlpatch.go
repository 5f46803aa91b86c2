// Package yamlpatch changes a YAML file as a person would. It applies the operations of
// a JSON Patch (RFC 6902) to the text of the file, and leaves every comment, blank line,
// quote and order that no operation names as it is, byte for byte.
//
// Each operation is proved before it is taken: the new text is parsed, and it must say
// what the old text said with the operation applied to it. A text that the package cannot
// change in this way gives an error and stays as it is; it is never half changed.
package yamlpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Operation is one operation of a JSON Patch.
type Operation struct {
	// Op is add, remove, replace or move. A move lets an entry of a list change places with the one beside it.
	Op string `json:"op"`

	// Path is a JSON Pointer (RFC 6901) to the value; "-" is the end of a list, where alone an entry can be added.
	Path string `json:"path"`

	// From is where a moved value is now.
	From string `json:"from,omitempty"`

	// Value is what is added, or what replaces. Its keys keep their order. An added key goes to the end of its object.
	Value json.RawMessage `json:"value,omitempty"`
}

// Style says how new text is written. It has the keys whose objects have a line for each pair, even when they would fit
// in braces on one line.
type Style []string

// Apply returns the file with the operations applied one after the other, or the error of
// the first that cannot be applied. file is not changed. An empty file is an empty object.
func Apply(file []byte, style Style, operations ...Operation) ([]byte, error) {
	for n, op := range operations {
		changed, err := apply(file, style, op)
		if err != nil {
			return nil, fmt.Errorf("operation %d (%s %s): %w", n+1, op.Op, op.Path, err)
		}
		file = changed
	}
	return file, nil
}

func apply(file []byte, style Style, op Operation) ([]byte, error) {
	before, err := Read(file)
	if err != nil {
		return nil, err
	}
	want, _ := Read(file)
	made, err := before.apply(style, op, want.root)
	if err != nil {
		return nil, err
	}
	after, err := Read(made)
	if err == nil && !same(want.root, after.root) {
		err = errors.New("its lines say something else afterwards")
	}
	if err != nil {
		return nil, fmt.Errorf("the text around it cannot be changed without touching more of the file: %w", err)
	}
	return made, nil
}

// Path returns the path of a JSON Pointer; nil for the whole file. The error says that s is not one.
func Path(s string) (path []string, err error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, fmt.Errorf("%q is not a JSON Pointer: it must begin with /", s)
	}
	for token := range strings.SplitSeq(s[1:], "/") {
		path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return path, nil
}

// Pointer returns the JSON Pointer of a path.
func Pointer(path ...string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}

// find returns the number of the value of a key, or of an entry of a list. A key that is there twice is refused.
func find(n *yaml.Node, token string) (at int, err error) {
	at = index(n, token)
	if at < 0 {
		return 0, fmt.Errorf("there is no %q", token)
	}
	for i := at + 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == token {
			return 0, fmt.Errorf("%q is there twice, in lines %d and %d", token, n.Content[at-1].Line, n.Content[i].Line)
		}
	}
	return at, nil
}

// index returns the number of the first value of a key, or of an entry of a list; -1 for none.
func index(n *yaml.Node, token string) int {
	for i := 0; i < len(n.Content); i += step(n) {
		if tokenAt(n, i) == token {
			return i + step(n) - 1
		}
	}
	return -1
}

// tokenAt is the last part of the path of the pair, or the entry of a list, that begins at i of the contents.
func tokenAt(n *yaml.Node, i int) string {
	if n.Kind == yaml.SequenceNode {
		return strconv.Itoa(i)
	}
	return n.Content[i].Value
}

// decode reads a JSON value, which is YAML once what is not ASCII is escaped in YAML's way.
func decode(data json.RawMessage) (*yaml.Node, error) {
	if !json.Valid(data) {
		return nil, errors.New("the value is not JSON")
	}
	var ascii strings.Builder
	for _, r := range string(data) {
		if r < 0x7f {
			ascii.WriteRune(r)
		} else {
			fmt.Fprintf(&ascii, `\U%08x`, r)
		}
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(ascii.String()), &document); err != nil {
		return nil, fmt.Errorf("the value cannot be read: %w", err)
	}
	return unwritten(document.Content[0]), nil
}

// unwritten returns a value without the way in which it was written.
func unwritten(n *yaml.Node) *yaml.Node {
	bare := &yaml.Node{Kind: n.Kind, Tag: n.ShortTag(), Value: n.Value}
	for _, child := range n.Content {
		bare.Content = append(bare.Content, unwritten(child))
	}
	return bare
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// same reports whether two values say the same; how they are written does not count. What an alias says is not looked for.
func same(a, b *yaml.Node) bool {
	if a.Kind == yaml.AliasNode || a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode && a.Value != b.Value && !isNull(a) {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
