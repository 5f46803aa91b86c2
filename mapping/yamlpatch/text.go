package yamlpatch

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem/yamltree"
)

// Document is the text of a YAML file with the tree that it says, for looking its values up by their paths.
type Document struct {
	mark  string   // the byte order mark, "" for none
	lines []string // with their ends
	root  *yaml.Node
}

const byteOrderMark = "\ufeff"

// Read reads a file. A file without a value is an empty object. One with other line ends than line feeds, with or without
// a carriage return, is refused.
func Read(file []byte) (*Document, error) {
	data := strings.TrimPrefix(string(file), byteOrderMark)
	if strings.ContainsAny(strings.ReplaceAll(data, "\r\n", "\n"), "\r\u0085\u2028\u2029") { // YAML ends a line at each of these
		return nil, errors.New("the lines of the file end in different ways")
	}
	decoder := yaml.NewDecoder(strings.NewReader(data))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the file is not YAML: %w", err)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, errors.New("the file holds more than one document")
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	t := &Document{string(file[:len(file)-len(data)]), strings.SplitAfter(data, "\n"), &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}}
	if last := len(t.lines) - 1; t.lines[last] == "" {
		t.lines = t.lines[:last]
	}
	if len(document.Content) > 0 && !isNull(document.Content[0]) {
		t.root = document.Content[0]
	}
	return t, nil
}

// unit is a pair of an object, or an entry of a list, that has lines of its own: neither braces nor brackets are around it.
type unit struct {
	parent      *yaml.Node // nil for the whole file
	at          int        // of its value among the parent's contents
	first, last int        // its lines, from 0
}

func (u unit) value() *yaml.Node { return u.parent.Content[u.at] }

// head is the node that a unit begins with: its key, or its value in a list.
func (u unit) head() *yaml.Node { return u.parent.Content[u.at+1-step(u.parent)] }

// step is how many nodes a pair or an entry has among the contents of what holds it.
func step(parent *yaml.Node) int {
	if parent.Kind == yaml.MappingNode {
		return 2
	}
	return 1
}

// unit returns the unit of a value. last is the last line of what holds it. Empty lines and comments behind a unit are not part of it.
func (t *Document) unit(parent *yaml.Node, at, last int) unit {
	u := unit{parent, at, t.firstLine(parent, at), last}
	if next := at + step(parent); next < len(parent.Content) {
		u.last = t.firstLine(parent, next) - 1
	}
	for u.last > u.first && isAside(t.lines[u.last]) {
		u.last--
	}
	return u
}

// firstLine returns the line in which a unit begins. That of an entry is the line of its dash, which may stand above its value.
func (t *Document) firstLine(parent *yaml.Node, at int) int {
	n := unit{parent: parent, at: at}.head()
	l := n.Line - 1
	if parent.Kind == yaml.SequenceNode && !strings.HasSuffix(strings.TrimRight(t.before(n), " \t"), "-") {
		for l--; l > 0 && isAside(t.lines[l]); {
			l--
		}
	}
	return max(l, 0)
}

// isAside reports whether a line is empty or a comment.
func isAside(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

// isInline reports whether a value has no lines of its own for what it holds: in braces or brackets, empty, or no value at all.
func isInline(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 }

// before returns what stands before a node in its line.
func (t *Document) before(n *yaml.Node) string {
	line, column := t.lines[n.Line-1], 1
	for at := range line {
		if column == n.Column {
			return line[:at]
		}
		column++
	}
	return line
}

// comment returns the comment of a line with the blanks before it. A # begins one if the file says the same without it.
func (t *Document) comment(l int) string {
	line := strings.TrimRight(t.lines[l], "\r\n")
	for at := range line {
		if line[at] != '#' || at > 0 && line[at-1] != ' ' && line[at-1] != '\t' {
			continue
		}
		bare, err := Read(t.splice(l, l+1, line[:at]))
		if err == nil && same(t.root, bare.root) {
			return line[len(strings.TrimRight(line[:at], " \t")):]
		}
	}
	return ""
}

// splice returns the file with new lines, which have no ends, in the place of some.
func (t *Document) splice(from, to int, lines ...string) []byte {
	end := "\n"
	if len(t.lines) > 0 && strings.HasSuffix(t.lines[0], "\r\n") {
		end = "\r\n"
	}
	before, after := strings.Join(t.lines[:from], ""), strings.Join(t.lines[to:], "")
	made := strings.Join(lines, end)
	if before != "" && !strings.HasSuffix(before, "\n") {
		made = end + made
	} else if len(lines) > 0 && (from == to || strings.HasSuffix(t.lines[to-1], "\n")) {
		made += end
	}
	return []byte(t.mark + before + made + after)
}

// inBraces returns a value on one line, objects in braces and lists in brackets. key and scalar write what these hold.
func inBraces(n *yaml.Node, key, scalar func(*yaml.Node) string) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for pair := range slices.Chunk(n.Content, 2) {
			parts = append(parts, key(pair[0])+": "+inBraces(pair[1], key, scalar))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, child := range n.Content {
			parts = append(parts, inBraces(child, key, scalar))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(n)
}

// flow returns a value on one line of YAML.
func flow(n *yaml.Node) string { return inBraces(n, yamlScalar, yamlScalar) }

func yamlScalar(n *yaml.Node) string {
	isWord := !strings.ContainsFunc(n.Value, func(r rune) bool { return strings.ContainsRune(`'"\`, r) || !unicode.IsPrint(r) })
	switch mark := map[yaml.Style]string{yaml.SingleQuotedStyle: "'", yaml.DoubleQuotedStyle: `"`}[n.Style]; {
	case n.ShortTag() != "!!str":
		return n.Value
	case n.Line > 0 && isWord && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0: // as the file has it
		return mark + n.Value + mark
	}
	return quote(n.Value)
}

// quote writes a text; one with double quotes in it, such as an expression, in single ones where that needs no escapes.
func quote(s string) string {
	if strings.Contains(s, `"`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r == '\\' || !unicode.IsPrint(r) }) {
		return "'" + s + "'"
	}
	return yamltree.Quote(s)
}

// widest is how many characters a line with an object in braces may have.
const widest = 110

// fits reports whether a value belongs on one line: a scalar, a list of scalars, or an
// object of those that is not one of the style's blocks and is not too wide behind a key.
func (s Style) fits(key string, n *yaml.Node, before int) bool {
	if n.Kind == yaml.ScalarNode || len(n.Content) == 0 {
		return true
	}
	if slices.Contains(s, key) || before+utf8.RuneCountInString(flow(n)) > widest {
		return false
	}
	isFlat := func(c *yaml.Node) bool {
		return c.Kind == yaml.ScalarNode || c.Kind == yaml.SequenceNode && !slices.ContainsFunc(c.Content,
			func(e *yaml.Node) bool { return e.Kind != yaml.ScalarNode })
	}
	return n.Kind == yaml.SequenceNode && isFlat(n) || n.Kind == yaml.MappingNode && !slices.ContainsFunc(n.Content,
		func(c *yaml.Node) bool { return !isFlat(c) })
}

// pair returns the lines of a key with its value, each but the first indented.
func (s Style) pair(indent int, key, value *yaml.Node) []string {
	head := flow(key) + ":"
	if s.fits(key.Value, value, indent+len(head)+1) {
		return []string{head + " " + flow(value)}
	}
	return append([]string{head}, s.block(indent+2, value)...)
}

// block returns the lines of an object or a list, all indented.
func (s Style) block(indent int, n *yaml.Node) (lines []string) {
	space := strings.Repeat(" ", indent)
	if n.Kind == yaml.SequenceNode {
		for _, child := range n.Content {
			lines = append(lines, s.entry(indent, child)...)
		}
		return lines
	}
	for i := 0; i < len(n.Content); i += 2 {
		pair := s.pair(indent, n.Content[i], n.Content[i+1])
		lines = append(append(lines, space+pair[0]), pair[1:]...)
	}
	return lines
}

// entry returns the lines of an entry of a list, all indented.
func (s Style) entry(indent int, n *yaml.Node) []string {
	space := strings.Repeat(" ", indent)
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return []string{space + "- " + flow(n)}
	}
	lines := s.block(indent+2, n)
	lines[0] = space + "- " + strings.TrimLeft(lines[0], " ")
	return lines
}
