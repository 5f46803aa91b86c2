package mapping

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// field is one key of the language: what it is called, what it means, and how
// its value is read into a T. The tables of fields in keys.go are the language:
// the parser, the suggestions and the reference are made from them.
type field[T any] struct {
	key      string
	doc      string
	required bool
	read     func(*parser, *yaml.Node, *T)
}

// parser walks the YAML tree by hand, because every scalar must keep its place
// and every problem must be found, not only the first.
type parser struct {
	file     string
	problems problem.List
}

func place(n *yaml.Node) Place { return Place{n.Line, n.Column} }

// wrong notes a problem at a node and returns it for a hint.
func (p *parser) wrong(n *yaml.Node, code, format string, args ...any) *problem.Problem {
	return p.wrongAt(place(n), code, format, args...)
}

func (p *parser) wrongAt(at Place, code, format string, args ...any) *problem.Problem {
	where := problem.Where{File: p.file, Line: at.Line, Column: at.Column}
	p.problems = append(p.problems, problem.At(where, code, format, args...))
	return &p.problems[len(p.problems)-1]
}

// object reads a YAML mapping by its table of fields. what names it in
// messages: "the mapping", "client". A key that is misspelt is reported once and
// read as the one that was meant, so that what it seems to leave out is not
// reported besides.
func object[T any](p *parser, n *yaml.Node, what string, into *T, fields []field[T]) {
	if !p.isKind(n, yaml.MappingNode, what, "a list of key: value pairs") {
		return
	}
	seen := map[string]bool{}
	for key, value := range p.pairs(n, what) {
		f := find(fields, key.Value)
		if f == nil {
			if f = unknownKey(p, key, what, fields); f == nil || seen[f.key] || hasKey(n, f.key) {
				continue
			}
		}
		seen[f.key] = true
		if isNull(value) {
			p.wrong(key, "no-value", "“%s” has no value", key.Value).Hint = "give one or leave the key out"
			continue
		}
		f.read(p, value, into)
	}
	for _, f := range fields {
		if f.required && !seen[f.key] {
			p.wrong(n, "missing-key", "%s needs “%s”: %s", what, f.key, f.doc)
		}
	}
}

func find[T any](fields []field[T], key string) *field[T] {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

// unknownKey reports a key, and gives the field that was most likely meant; nil
// for none.
func unknownKey[T any](p *parser, key *yaml.Node, what string, fields []field[T]) *field[T] {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	found := p.wrong(key, "unknown-key", "unknown key “%s” in %s", key.Value, what)
	found.Hint = nearestHint(key.Value, names)
	meant, _ := problem.Nearest(key.Value, names)
	return find(fields, meant)
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// nearestHint suggests what was meant, or lists what there is.
func nearestHint(word string, names []string) string {
	if nearest, ok := problem.Nearest(word, names); ok {
		return "did you mean “" + nearest + "”?"
	}
	if len(names) == 0 {
		return ""
	}
	const most = 12
	if len(names) > most {
		return "there are " + strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
	}
	return "expected one of " + strings.Join(names, ", ")
}

// pairs yields the keys and values of a mapping node, reporting keys that are
// no plain text or stand twice.
func (p *parser) pairs(n *yaml.Node, what string) func(func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		first := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
				p.wrong(key, "wrong-kind", "a key of %s must be a plain name", what)
				continue
			}
			if line, twice := first[key.Value]; twice {
				p.wrong(key, "duplicate-key", "“%s” stands twice in %s; it was first given in line %d", key.Value, what, line).
					Hint = "keep one of the two"
				continue
			}
			first[key.Value] = key.Line
			if !yield(key, n.Content[i+1]) {
				return
			}
		}
	}
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// isKind reports a node that is not of the kind wanted.
func (p *parser) isKind(n *yaml.Node, kind yaml.Kind, what, wanted string) bool {
	if n.Kind == kind && !isNull(n) {
		return true
	}
	if n.Kind == yaml.AliasNode {
		p.wrong(n, "alias", "anchors and aliases are not part of the language").Hint = "write the value out"
		return false
	}
	p.wrong(n, "wrong-kind", "%s must be %s, not %s", what, wanted, kindName(n))
	return false
}

func kindName(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "empty"
	case n.Kind == yaml.MappingNode:
		return "key: value pairs"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "“" + n.Value + "”"
}

// word reads a scalar as text; any plain scalar will do, as 123 is a fine name.
func (p *parser) word(n *yaml.Node, what string) Word {
	if !p.isKind(n, yaml.ScalarNode, what, "a text") {
		return Word{At: place(n)}
	}
	if strings.TrimSpace(n.Value) == "" {
		p.wrong(n, "no-value", "%s must not be empty", what)
	}
	return Word{n.Value, place(n)}
}

// expression reads an expression; its place is where its first character
// stands, behind the quote if there is one.
func (p *parser) expression(n *yaml.Node, what string) Word {
	w := p.word(n, what)
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		w.At.Column++
	}
	return w
}

// oneOf reads a word of a closed set. Another one is reported, and read as the
// one that was meant; "" where that is not known.
func (p *parser) oneOf(n *yaml.Node, what string, allowed ...string) Word {
	w := p.word(n, what)
	for _, a := range allowed {
		if w.Text == a {
			return w
		}
	}
	if w.Text != "" {
		p.wrong(n, "unknown-value", "%s cannot be “%s”; expected %s", what, w.Text, orList(allowed)).
			Hint = nearestHint(w.Text, allowed)
	}
	meant, _ := problem.Nearest(w.Text, allowed)
	return Word{Text: meant, At: w.At}
}

func (p *parser) boolean(n *yaml.Node, what string) bool {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case p.isKind(n, yaml.ScalarNode, what, "true or false"):
		p.wrong(n, "wrong-kind", "%s must be true or false, not %s", what, kindName(n))
	}
	return false
}

// count reads a whole number from least upwards.
func (p *parser) count(n *yaml.Node, what string, least int) int {
	if !p.isKind(n, yaml.ScalarNode, what, "a whole number") {
		return least
	}
	v, err := strconv.Atoi(n.Value)
	if err != nil || v < least {
		p.wrong(n, "wrong-kind", "%s must be a whole number from %d upwards, not %s", what, least, kindName(n))
		return least
	}
	return v
}

// words reads one word or a list of words.
func (p *parser) words(n *yaml.Node, what string) []Word {
	if n.Kind != yaml.SequenceNode {
		return []Word{p.word(n, what)}
	}
	if len(n.Content) == 0 {
		p.wrong(n, "no-value", "%s must not be an empty list", what)
	}
	var list []Word
	for _, item := range n.Content {
		list = append(list, p.word(item, "each of "+what))
	}
	return list
}

// table reads free key: value pairs of plain texts; empty texts are allowed.
func (p *parser) table(n *yaml.Node, what string) map[string]Word {
	if !p.isKind(n, yaml.MappingNode, what, "a list of key: value pairs") {
		return nil
	}
	t := map[string]Word{}
	for key, value := range p.pairs(n, what) {
		if p.isKind(value, yaml.ScalarNode, "“"+key.Value+"” in "+what, "a text") {
			t[key.Value] = Word{value.Value, place(value)}
		}
	}
	return t
}

// items reads a list of objects.
func (p *parser) items(n *yaml.Node, what string, each func(*yaml.Node)) {
	if !p.isKind(n, yaml.SequenceNode, what, "a list (each entry begins with “- ”)") {
		return
	}
	for _, item := range n.Content {
		each(item)
	}
}

func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
