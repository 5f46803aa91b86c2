package yamlpatch

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem/yamltree"
)

// flow returns a value on one line, objects in braces and lists in brackets.
func flow(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			parts = append(parts, flow(n.Content[i])+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, child := range n.Content {
			parts = append(parts, flow(child))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	isWord := !strings.ContainsFunc(n.Value, func(r rune) bool { return strings.ContainsRune(`'"\`, r) || !unicode.IsPrint(r) })
	switch mark := map[yaml.Style]string{yaml.SingleQuotedStyle: "'", yaml.DoubleQuotedStyle: `"`}[n.Style]; {
	case n.ShortTag() != "!!str":
		return n.Value
	case n.Line > 0 && isWord && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0: // as the file has it
		return mark + n.Value + mark
	}
	return quote(n.Value)
}

// quote writes a text; one with double quotes in it, such as an expression, in single ones
// where that needs no escapes.
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
		return c.Kind == yaml.ScalarNode || c.Kind == yaml.SequenceNode && !slices.ContainsFunc(c.Content, func(e *yaml.Node) bool { return e.Kind != yaml.ScalarNode })
	}
	return n.Kind == yaml.SequenceNode && isFlat(n) || n.Kind == yaml.MappingNode && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !isFlat(c) })
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
