package yamltree

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"claimsheet/mapping/problem"
)

// Place is a position in the file, 1-based; the zero Place means no place.
type Place struct{ Line, Column int }

// IsSet reports whether there is a place.
func (p Place) IsSet() bool { return p.Line > 0 }

// Or is the place, or another where there is no place.
func (p Place) Or(other Place) Place {
	if p.IsSet() {
		return p
	}
	return other
}

// In is the place for a problem with the file.
func (p Place) In(file string) problem.Where {
	return problem.Where{File: file, Line: p.Line, Column: p.Column}
}

// Scalar is a text of the file with its place.
type Scalar struct {
	Text string
	At   Place `json:"-"`
}

// Kind is a set of kinds of nodes.
type Kind yaml.Kind

// The kinds of nodes that a Value can take.
const (
	Scalars = Kind(yaml.ScalarNode)
	Lists   = Kind(yaml.SequenceNode)
	Objects = Kind(yaml.MappingNode)
	Nulls   = Kind(1 << 31) // a node without a value; to YAML it is a scalar

	aliases = Kind(yaml.AliasNode)
)

// Node is a value of the file.
type Node struct {
	yaml  *yaml.Node
	key   *yaml.Node // the key that the value belongs to; nil for the whole file and for entries of lists
	name  string
	given map[string]*Node // for an object that was read by a table of keys
}

// Name is what messages call the node: “key”, an entry of “key”, or the language's name for the whole file.
func (n *Node) Name() string { return n.name }

// At is where the node begins; for a node without a value, where its key does.
func (n *Node) At() Place {
	if n.key != nil && n.IsNull() {
		return placeOf(n.key)
	}
	return placeOf(n.yaml)
}

// KeyAt is where the key of the node begins, or the node where it has none.
func (n *Node) KeyAt() Place {
	if n.key != nil {
		return placeOf(n.key)
	}
	return placeOf(n.yaml)
}

func placeOf(n *yaml.Node) Place { return Place{n.Line, n.Column} }

// Key is the key that the value belongs to, as the file spells it; "" for none.
func (n *Node) Key() string {
	if n.key == nil {
		return ""
	}
	return n.key.Value
}

// Text is a scalar as it is written, without its quotes: 0012 stays 0012.
func (n *Node) Text() string { return n.yaml.Value }

// Tag is what YAML takes the node for, such as !!int or !!str; what is in quotes is a !!str.
func (n *Node) Tag() string { return n.yaml.ShortTag() }

// IsQuoted reports whether a scalar is in single or double quotes.
func (n *Node) IsQuoted() bool {
	return n.yaml.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
}

// IsNull reports whether the node has no value.
func (n *Node) IsNull() bool { return n.Kind() == Nulls }

// Kind is the node's kind: Scalars, Lists, Objects, Nulls, or the kind of an alias, which nothing takes.
func (n *Node) Kind() Kind {
	if n.yaml.Kind == yaml.ScalarNode && n.Tag() == "!!null" {
		return Nulls
	}
	return Kind(n.yaml.Kind)
}

// isBraced reports whether the node is a text in braces, such as {Column}, which YAML takes for keys without values.
func (n *Node) isBraced() bool {
	hasValue := func(v *Node) bool { return !v.IsNull() }
	values := n.Values()
	return len(values) > 0 && n.yaml.Style&yaml.FlowStyle != 0 && !slices.ContainsFunc(values, hasValue)
}

// Items returns the entries of a list; nil for other nodes.
func (n *Node) Items() (items []*Node) {
	if n != nil && n.Kind() == Lists {
		for _, item := range n.yaml.Content {
			items = append(items, &Node{yaml: item, name: "an entry of " + n.name})
		}
	}
	return items
}

// Given is the value of a key of an object that was read by a table of keys; a
// misspelt key has the name as which it was read. It is nil when the
// key is not there, or n is nil.
func (n *Node) Given(key string) *Node {
	if n == nil {
		return nil
	}
	return n.given[key]
}

// Values returns the values of an object without reporting anything. Their keys
// may be of any kind and may occur more than once.
func (n *Node) Values() (values []*Node) {
	if n != nil && n.yaml.Kind == yaml.MappingNode {
		for pair := range slices.Chunk(n.yaml.Content, 2) {
			values = append(values, valueOf(pair[0], pair[1]))
		}
	}
	return values
}

func valueOf(key, value *yaml.Node) *Node {
	return &Node{yaml: value, key: key, name: "“" + problem.Shorten(key.Value) + "”"}
}
