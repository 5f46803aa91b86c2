package yamlpatch

import (
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// Value returns a value as JSON; its keys keep their order, and a number that a reader of
// JSON would not give back as the file writes it, such as 1.50, becomes a text. ok is false
// for no such value.
func (d *Document) Value(path ...string) (value json.RawMessage, ok bool) {
	n, _ := d.find(path)
	if n == nil {
		return nil, false
	}
	key := func(n *yaml.Node) string { return jsonText(n.Value) }
	return json.RawMessage(inBraces(n, key, jsonScalar)), true
}

// Keys returns the keys of an object in their order, and the places of a list's entries;
// nil for other values, and without such a value.
func (d *Document) Keys(path ...string) []string {
	n, _ := d.find(path)
	var keys []string
	for i := 0; n != nil && i < len(n.Content); i += step(n) {
		keys = append(keys, tokenAt(n, i))
	}
	return keys
}

// Line returns the line of a value's key, or of an entry of a list, from 1; 0 for an unknown path.
func (d *Document) Line(path ...string) int {
	if _, head := d.find(path); head != nil {
		return head.Line
	}
	return 0
}

// find returns the value of a path, and what it begins with: its key, or itself in a list.
func (d *Document) find(path []string) (value, head *yaml.Node) {
	value, head = d.root, d.root
	for _, token := range path {
		at := index(value, token)
		if at < 0 {
			return nil, nil
		}
		value, head = value.Content[at], value.Content[at+1-step(value)]
	}
	return value, head
}

// At returns the path of the innermost value that a place of the file belongs to, or
// whose key does. line and column count from 1; a column of 0 is the line's end.
func (d *Document) At(line, column int) []string {
	isBehind := func(n *yaml.Node) bool {
		return n.Line > line || n.Line == line && column > 0 && n.Column > column
	}
	var path []string
	for n := d.root; ; {
		at := -1
		for i := 0; i < len(n.Content); i += step(n) {
			if !isBehind(n.Content[i]) {
				at = i
			}
		}
		if at < 0 {
			return path
		}
		path, n = append(path, tokenAt(n, at)), n.Content[at+step(n)-1]
	}
}

func jsonScalar(n *yaml.Node) string {
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		return "null"
	case tag == "!!bool" && (n.Value == "true" || n.Value == "false"), (tag == "!!int" || tag == "!!float") && isExact(n.Value):
		return n.Value
	}
	return jsonText(n.Value)
}

// isExact reports whether a program that reads JSON numbers as floating-point ones, as
// browsers do, would write this one as it is.
func isExact(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && json.Valid([]byte(number)) && strconv.FormatFloat(f, 'f', -1, 64) == number
}

func jsonText(s string) string {
	text, _ := json.Marshal(s) // a text always encodes
	return string(text)
}
