package yamlpatch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// text is the text of a file with the tree that it says.
type text struct {
	data  string
	root  *yaml.Node
	lines []int  // where each line begins
	eol   string // how the file ends its lines
}

// parse reads a file. A file without a value is an empty object.
func parse(data []byte) (*text, error) {
	t := &text{data: string(data), lines: []int{0}, eol: "\n"}
	for i := range len(t.data) {
		if t.data[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	if first, _, ok := strings.Cut(t.data, "\n"); ok && strings.HasSuffix(first, "\r") {
		t.eol = "\r\n"
	}
	var documents []*yaml.Node
	for decoder, err := yaml.NewDecoder(bytes.NewReader(data)), error(nil); err == nil; {
		var n yaml.Node
		if err = decoder.Decode(&n); err == nil {
			documents = append(documents, &n)
		} else if len(documents) == 0 && !isEnd(err) {
			return nil, fmt.Errorf("the file is not YAML: %w", err)
		} else if !isEnd(err) {
			return nil, err
		}
	}
	switch {
	case len(documents) > 1:
		return nil, errors.New("the file holds more than one document")
	case len(documents) == 0 || len(documents[0].Content) == 0 || isNull(documents[0].Content[0]):
		t.root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	default:
		t.root = documents[0].Content[0]
	}
	return t, check(t.root)
}

// check refuses what has no one place in the text: a value with a name for other places,
// or a key that is no text.
func check(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return fmt.Errorf("line %d: anchors and aliases cannot be kept", n.Line)
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a key must be a text", child.Line)
		}
		if err := check(child); err != nil {
			return err
		}
	}
	return nil
}

// start returns where a node begins in the text.
func (t *text) start(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(t.lines) {
		return len(t.data)
	}
	at := t.lines[n.Line-1]
	if n.Line == 1 {
		at += len(t.data) - len(strings.TrimPrefix(t.data, "\ufeff"))
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(t.data[at:])
		at += size
	}
	return at
}

// end returns where the text of a node ends: behind its last character, quote or bracket.
func (t *text) end(n *yaml.Node) int {
	at := t.start(n)
	switch {
	case n.Style&yaml.FlowStyle != 0 && n.Kind != yaml.ScalarNode:
		return t.flowEnd(at)
	case n.Kind != yaml.ScalarNode:
		last := n.Content[len(n.Content)-1]
		if n.Kind == yaml.MappingNode && isAbsent(last) {
			return t.colon(n.Content[len(n.Content)-2])
		}
		return t.end(last)
	case isAbsent(n):
		return at
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return t.quoteEnd(at, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return t.quoteEnd(at, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return t.blockEnd(at)
	}
	return t.plainEnd(at, n.Value)
}

// isAbsent reports whether a value has no text: a key with nothing behind its colon.
func isAbsent(n *yaml.Node) bool { return isNull(n) && n.Value == "" }

// colon returns the place behind the colon of a key.
func (t *text) colon(key *yaml.Node) int {
	at := t.end(key)
	return at + strings.IndexByte(t.data[at:], ':') + 1
}

// quoteEnd returns the place behind the quote that closes the one at a place.
func (t *text) quoteEnd(at int, quote byte) int {
	for i := at + 1; i < len(t.data); i++ {
		switch {
		case t.data[i] == '\\' && quote == '"':
			i++
		case t.data[i] == quote && quote == '\'' && strings.HasPrefix(t.data[i+1:], "'"):
			i++
		case t.data[i] == quote:
			return i + 1
		}
	}
	return len(t.data)
}

// flowEnd returns the place behind the bracket that closes the one at a place.
func (t *text) flowEnd(at int) int {
	depth, fresh := 0, true // fresh: a quote here would begin a text
	for i := at; i < len(t.data); i++ {
		switch c := t.data[i]; {
		case fresh && (c == '"' || c == '\''):
			i = t.quoteEnd(i, c) - 1
			fresh = false
		case c == '#' && strings.ContainsAny(t.data[i-1:i], " \t\n"):
			i += strings.IndexByte(t.data[i:]+"\n", '\n')
		case c == '{' || c == '[':
			depth++
			fresh = true
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
			fresh = false
		case c == ',' || c == ':':
			fresh = true
		case !strings.ContainsRune(" \t\r\n", rune(c)):
			fresh = false
		}
	}
	return len(t.data)
}

// blockEnd returns the end of the last line of a text that begins with | or >. A comment
// below it that stands further to the left than the text is none of it.
func (t *text) blockEnd(at int) int {
	from := t.lineOf(at)
	least := indentOf(t.line(from)) + 1
	last := from
	for l := from + 1; l < len(t.lines); l++ {
		line := t.line(l)
		if strings.TrimSpace(line) == "" {
			continue
		}
		if indentOf(line) < least {
			break
		}
		if last == from && !blockIndent.MatchString(t.data[at:]) {
			least = indentOf(line)
		}
		last = l
	}
	return t.lines[last] + len(t.line(last))
}

// blockIndent matches the beginning of a text that says how far it is indented.
var blockIndent = regexp.MustCompile(`^[|>][+-]?[1-9]`)

// beside returns the comment in the first line of a text that begins with | or >, with
// the blanks before it; "" for other values, whose comment is behind their end.
func (t *text) beside(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return ""
	}
	at := t.start(n)
	head := t.data[at:t.lineEnd(at)]
	if i := strings.IndexAny(head, " \t"); i >= 0 {
		return strings.TrimRight(head[i:], " \t")
	}
	return ""
}

// plainEnd returns where a text without quotes ends. A line end of the text stands for a
// space of the value, and empty lines for line ends.
func (t *text) plainEnd(at int, value string) int {
	for i := 0; i < len(value); i++ {
		if value[i] != ' ' && value[i] != '\n' {
			at++
			continue
		}
		blank := len(t.data[at:]) - len(strings.TrimLeft(t.data[at:], " \t\r\n"))
		if !strings.Contains(t.data[at:at+blank], "\n") {
			at++
			continue
		}
		for at += blank; i+1 < len(value) && value[i+1] == '\n'; i++ {
		}
	}
	return min(at, len(t.data))
}

// lineOf returns the number of the line of a place, from 0.
func (t *text) lineOf(at int) int {
	n := 0
	for n+1 < len(t.lines) && t.lines[n+1] <= at {
		n++
	}
	return n
}

// line returns a line without its end.
func (t *text) line(n int) string {
	to := len(t.data)
	if n+1 < len(t.lines) {
		to = t.lines[n+1] - 1
	}
	return strings.TrimSuffix(t.data[t.lines[n]:to], "\r")
}

// lineEnd returns the end of the line of a place, before its line end.
func (t *text) lineEnd(at int) int {
	n := t.lineOf(at)
	return t.lines[n] + len(t.line(n))
}

// nextLine returns where the line after that of a place begins.
func (t *text) nextLine(at int) int {
	if n := t.lineOf(at); n+1 < len(t.lines) {
		return t.lines[n+1]
	}
	return len(t.data)
}

// indentOf returns how many spaces a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// column returns how many characters stand before a place in its line.
func (t *text) column(at int) int {
	return utf8.RuneCountInString(t.data[t.lines[t.lineOf(at)]:at])
}

// splice returns the text with a part of it replaced.
func (t *text) splice(from, to int, with string) []byte {
	return []byte(t.data[:from] + with + t.data[to:])
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) }
