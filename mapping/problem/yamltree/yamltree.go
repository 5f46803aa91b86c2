// Package yamltree reads YAML files by tables of keys.
//
// A table is a function that adds the keys of an object with To, as the flags of a
// command are added in package flag. Each Key has a name, a variable that it is read
// into, a sentence that documents it, and a Value: how it is read, which nodes it
// takes, and its shape as a JSON Schema. A Language has the table of a whole file.
// Language.Read reports everything that is wrong with a file at once, each problem
// with its line and column: unknown keys with the nearest known one, missing keys,
// keys given twice, and values of a wrong kind. Language.Schema makes the JSON Schema
// for editors from the same tables.
//
// Anchors, aliases and merge keys are refused, so that a small file cannot
// expand into a large one; the YAML library bounds how deep a file is nested.
package yamltree

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// Language is the kind of file whose content is read into a T.
type Language[T any] struct {
	Title    string            // of the JSON Schema
	Name     string            // what messages call the whole file: "the mapping"
	Expected string            // what an empty file lacks: "a mapping"
	Keys     func(*Keys, *T)   // adds the keys of the file
	Defs     map[string]Schema // the shapes of what is Defined

	// EmptyIsNone makes a list or an object without a value an empty one: all of
	// its lines may have been commented out. Otherwise every key needs a value.
	EmptyIsNone bool
	// Secretive keeps values out of the messages: a secret may be in the file by mistake.
	Secretive bool
}

// Read reads a file's bytes; file is its name in messages. It reports every
// problem, up to 200, in the order of their places. root is the content of the
// file, nil when there is none. into holds the defaults, and what could be read
// despite the problems.
func (l *Language[T]) Read(file string, data []byte, into *T) (root *Node, problems problem.List) {
	r := &Reader{file: file, expected: l.Expected, emptyIsNone: l.EmptyIsNone, secretive: l.Secretive}
	content := r.document(data)
	if content != nil {
		root = &Node{yaml: content, name: l.Name}
	}
	if root == nil || root.IsNull() && !l.EmptyIsNone {
		if len(r.problems) == 0 {
			r.WrongAt(Place{1, 1}, "empty-file", "the file is empty; expected %s", l.Expected)
		}
		return nil, r.problems
	}
	Object(l.Keys).Read(r, root, into)
	r.problems.Sort()
	return root, r.problems
}

// Reader collects the problems of one file while its tree is read.
type Reader struct {
	file, expected         string
	emptyIsNone, secretive bool
	problems               problem.List
}

// problemLimit bounds the report of a file of another kind; nobody corrects more at a time.
const problemLimit = 200

func (r *Reader) full() bool { return len(r.problems) >= problemLimit }

// Where is a place of the file that is read.
func (r *Reader) Where(at Place) problem.Where { return at.In(r.file) }

// Wrong notes a problem with a node and returns it for a hint.
func (r *Reader) Wrong(n *Node, code, format string, args ...any) *problem.Problem {
	return r.WrongAt(n.At(), code, format, args...)
}

// WrongAt notes a problem at a place and returns it for a hint.
func (r *Reader) WrongAt(at Place, code, format string, args ...any) *problem.Problem {
	p := problem.At(r.Where(at), code, format, args...)
	if r.full() {
		return &p
	}
	r.problems = append(r.problems, p)
	return &r.problems[len(r.problems)-1]
}

// accepts reports a node that is not of the kinds wanted.
func (r *Reader) accepts(n *Node, kinds Kind, wants string) bool {
	r.straighten(n.yaml)
	switch kind := n.Kind(); {
	case kinds&kind != 0, kind == Nulls && r.emptyIsNone && kinds&(Lists|Objects) != 0:
		return true
	case kind == Nulls:
		p := r.Wrong(n, "no-value", "%s has no value; expected %s", n.name, wants)
		if p.Hint = "give one or leave the key out"; kinds&Scalars == 0 {
			p.Hint = "indent the lines that belong to it, or leave the key out"
		}
	case kind == aliases:
		r.Wrong(n, "alias", "%s", aliasMessage).Hint = aliasHint
	default:
		p := r.Wrong(n, "wrong-kind", "%s must be %s%s", n.name, wants, r.not(n))
		switch {
		case kinds&Scalars != 0 && n.isBraced():
			p.Hint = "a text that begins with { must be in quotes"
		case kind == Scalars && kinds&Objects != 0 && strings.Contains(n.Text(), "://"):
			p.Hint = "if it belongs to the entry before it, indent it under that entry's name"
		case kind == Scalars && kinds&Objects != 0 && strings.Contains(n.Text(), ":"):
			p.Hint = "write a space after the colon"
		}
	}
	return false
}

// not is the end of a sentence that says what a node is instead.
func (r *Reader) not(n *Node) string {
	switch {
	case n.Kind() == Objects:
		return ", not “key: value” pairs"
	case n.Kind() == Lists:
		return ", not a list"
	case r.secretive:
		return ", not a single value"
	}
	return ", not “" + problem.Shorten(n.Text()) + "”"
}

// quoted is the end of a sentence that quotes a scalar, unless it may be secret.
func (r *Reader) quoted(n *Node) string {
	if r.secretive {
		return ""
	}
	return r.not(n)
}

// Pairs returns the values of an object, and reports keys that are not plain
// names or are given twice; of those it has the first.
func (r *Reader) Pairs(n *Node) (pairs []*Node) {
	first := map[string]int{}
	for _, v := range n.Values() {
		if v.key.Kind != yaml.ScalarNode || v.key.ShortTag() == "!!merge" {
			r.WrongAt(v.KeyAt(), "wrong-kind", "a key in %s must be a plain name", n.name)
			continue
		}
		if v.key.Style == 0 && strings.TrimLeftFunc(v.Key(), unicode.IsSpace) != v.Key() { // a name of its own, where any name may be a key
			r.WrongAt(v.KeyAt(), "yaml", "%s", oddSpace).Hint = typeSpaces
			continue
		}
		r.straighten(v.key)
		v = valueOf(v.key, v.yaml)
		if line, twice := first[v.Key()]; twice {
			r.WrongAt(v.KeyAt(), "duplicate-key", "%s is given twice; the first is in line %d", v.name, line).Hint = "keep one of the two"
			continue
		}
		first[v.Key()] = v.key.Line
		pairs = append(pairs, v)
	}
	return pairs
}

// document is the file's one YAML document, nil when there is none. Aliases
// stay nodes of the tree and the library bounds the depth, so that neither can
// exhaust the memory.
func (r *Reader) document(data []byte) *yaml.Node {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	isUTF16 := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) // which has zeros too
	if !isUTF16 && bytes.IndexByte(data[:min(len(data), 4096)], 0) >= 0 {
		r.WrongAt(Place{1, 1}, "other-file", "this is a binary file, such as a workbook, not %s", r.expected).
			Hint = "check the order of the file names on the command line"
		return nil
	}
	var doc, more yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = loader.Load(&doc)
	}
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil
	case err != nil:
		r.syntax(err, data)
		return nil
	}
	switch err := loader.Load(&more); {
	case err == nil: // what the first lacks may be in the second, so nothing else is looked for
		r.WrongAt(placeOf(&more), "two-documents", "the file must hold one document; a second one begins here").
			Hint = "remove the line “---”, and what follows it if that is not part of this one"
		return nil
	case !errors.Is(err, io.EOF):
		r.syntax(err, data)
	}
	return doc.Content[0]
}

const (
	aliasMessage = "anchors and aliases are not supported here"
	aliasHint    = "write the value out; put a value that begins with * or & in quotes"
)

// Schema is the shape of a value, as a JSON Schema (2020-12).
type Schema map[string]any

// Defined is the value with the shape of that name among the Defs of the Language.
func (v Value[V]) Defined(name string) Value[V] {
	v.Schema = Schema{"$ref": "#/$defs/" + name}
	return v
}

// Schema is the JSON Schema of the language's files, for editors. It knows less
// than Read: what depends on another key is left to that.
func (l *Language[T]) Schema() []byte {
	s := Object(l.Keys).Schema
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = l.Title
	if len(l.Defs) > 0 {
		s["$defs"] = l.Defs
	}
	data, _ := json.MarshalIndent(s, "", "  ") // the tables hold nothing that cannot be encoded
	if l.EmptyIsNone {
		for _, kind := range []string{"object", "array"} {
			data = bytes.ReplaceAll(data, []byte(`"type": "`+kind+`"`), []byte(`"type": ["`+kind+`", "null"]`))
		}
	}
	return append(data, '\n')
}

func (keys Keys) schema() Schema {
	properties, required := Schema{}, []string{}
	for _, k := range keys {
		property := Schema{"description": k.Doc}
		maps.Copy(property, k.schema)
		properties[k.Name] = property
		if k.IsRequired {
			required = append(required, k.Name)
		}
	}
	s := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
