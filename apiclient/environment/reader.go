package environment

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// field is one key of the language: what it is called, what it means, which
// form its value has, and how the value is read into a T. The tables of fields
// in keys.go are the language: the parser, the suggestions and the JSON Schema
// are made from them.
type field[T any] struct {
	key  string
	doc  string
	form form
	read func(*reader, value, *T)
}

// value is a node with the key that it belongs to, "" for the whole file.
type value struct {
	*yaml.Node
	key   string
	entry bool // one of the list that the key has
}

// name is what messages call the value.
func (v value) name() string {
	switch {
	case v.key == "":
		return "the file"
	case v.entry:
		return "an entry of “" + v.key + "”"
	}
	return "“" + shorten(v.key) + "”"
}

// reader walks the YAML tree by hand, because every scalar must keep its place
// and every problem must be found, not only the first.
type reader struct {
	file     string
	problems problem.List
}

// problemLimit bounds the report of a file that is not an environments file at
// all; nobody mends more at a time.
const problemLimit = 200

func (r *reader) full() bool { return len(r.problems) >= problemLimit }

// add notes a problem and returns it for a hint.
func (r *reader) add(p problem.Problem) *problem.Problem {
	if r.full() {
		return &p
	}
	r.problems = append(r.problems, p)
	return &r.problems[len(r.problems)-1]
}

// wrong notes a problem at a node and returns it for a hint.
func (r *reader) wrong(n *yaml.Node, code, format string, args ...any) *problem.Problem {
	return r.add(problem.At(r.at(n), code, format, args...))
}

func (r *reader) at(n *yaml.Node) problem.Where { return r.position(n.Line, n.Column) }

func (r *reader) position(line, column int) problem.Where {
	return problem.Where{File: r.file, Line: line, Column: column}
}

// readObject reads a YAML mapping by its table of fields. An empty value is an
// empty mapping: all of its keys may have been commented out. A key that is
// misspelt is reported once and read as the one that was meant, so that what it
// seems to leave out is not reported besides.
func readObject[T any](r *reader, v value, fields []field[T], into *T) {
	for key, item := range r.pairs(v) {
		if f := find(fields, key.Value); f != nil {
			f.read(r, item, into)
			continue
		}
		r.unknown(key, "unknown-key", "unknown key “"+shorten(key.Value)+"”", keyNames(fields))
		if meant, _ := problem.Nearest(shorten(key.Value), keyNames(fields)); meant != "" && !hasKey(v, meant) {
			item.key = meant
			find(fields, meant).read(r, item, into)
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

func keyNames[T any](fields []field[T]) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return names
}

// unknown reports a word that is none of the candidates, with the nearest.
func (r *reader) unknown(n *yaml.Node, code, message string, candidates []string) {
	if r.full() {
		return
	}
	r.wrong(n, code, "%s", message).Hint = suggestion(n.Value, candidates)
}

// suggestion names the nearest candidate, or all of them when none is near.
func suggestion(word string, candidates []string) string {
	if nearest, ok := problem.Nearest(shorten(word), candidates); ok {
		return "did you mean “" + nearest + "”?"
	}
	if len(candidates) == 0 {
		return ""
	}
	return "expected " + orList(candidates)
}

// orList is "a", "a or b", "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// shorten keeps a word that a message quotes to a length that a line can hold,
// and on one line.
func shorten(word string) string {
	const most = 60
	runes := []rune(strings.Join(strings.Fields(word), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

// pairs yields the keys and values of a mapping node, reporting keys that are
// no plain names or stand twice; of those the first is yielded.
func (r *reader) pairs(v value) func(func(key *yaml.Node, item value) bool) {
	return func(yield func(*yaml.Node, value) bool) {
		if isNull(v.Node) || !r.isKind(v, yaml.MappingNode, "“key: value” pairs") {
			return
		}
		first := map[string]int{}
		for i := 0; i+1 < len(v.Content) && !r.full(); i += 2 {
			key := v.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
				r.wrong(key, "wrong-kind", "a key in %s must be a plain name", v.name())
				continue
			}
			if line, twice := first[key.Value]; twice {
				r.wrong(key, "duplicate-key", "“%s” is given twice; the first is in line %d", shorten(key.Value), line).
					Hint = "keep one of the two"
				continue
			}
			first[key.Value] = key.Line
			if !yield(key, value{Node: v.Content[i+1], key: key.Value}) {
				return
			}
		}
	}
}

// items yields the elements of a list; an empty value is an empty list.
func (r *reader) items(v value) func(func(item value) bool) {
	return func(yield func(value) bool) {
		if isNull(v.Node) || !r.isKind(v, yaml.SequenceNode, "a list") {
			return
		}
		for _, n := range v.Content {
			if r.full() || !yield(value{n, v.key, true}) {
				return
			}
		}
	}
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// isKind reports a node that is not of the kind wanted. It never quotes the
// node: a secret may stand there by mistake.
func (r *reader) isKind(v value, kind yaml.Kind, wanted string) bool {
	switch {
	case v.Kind == kind && !isNull(v.Node):
		return true
	case v.Kind == yaml.AliasNode:
		r.wrong(v.Node, "alias", "%s", aliasMessage).Hint = aliasHint
	case isNull(v.Node):
		r.wrong(v.Node, "no-value", "%s has no value; expected %s", v.name(), wanted).
			Hint = "give one or leave the key out"
	default:
		r.wrong(v.Node, "wrong-kind", "%s must be %s, not %s", v.name(), wanted, kindName(v.Node))
	}
	return false
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "“key: value” pairs"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}
