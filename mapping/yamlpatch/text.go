package yamlpatch

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
)

// text is the text of a file with the tree that it says.
type text struct {
	lines []string // with their ends
	root  *yaml.Node
}

// parse reads a file. A file without a value is an empty object. One with other line ends than line feeds, with or without
// a carriage return, is refused.
func parse(data string) (*text, error) {
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
	t := &text{strings.SplitAfter(data, "\n"), &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}}
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
func (t *text) unit(parent *yaml.Node, at, last int) unit {
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
func (t *text) firstLine(parent *yaml.Node, at int) int {
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
func (t *text) before(n *yaml.Node) string {
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
func (t *text) comment(l int) string {
	line := strings.TrimRight(t.lines[l], "\r\n")
	for at := range line {
		if line[at] != '#' || at > 0 && line[at-1] != ' ' && line[at-1] != '\t' {
			continue
		}
		bare, err := parse(t.splice(l, l+1, line[:at]))
		if err == nil && same(t.root, bare.root) {
			return line[len(strings.TrimRight(line[:at], " \t")):]
		}
	}
	return ""
}

// splice returns the file with new lines, which have no ends, in the place of some.
func (t *text) splice(from, to int, lines ...string) string {
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
	return before + made + after
}
