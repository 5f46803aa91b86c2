package yamltree

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"claimsheet/mapping/problem"
)

// Keys are the keys of an object, in the order of the reference.
type Keys []*Key

// Key is one key of an object.
type Key struct {
	Name       string
	Doc        string // a sentence for messages and editors
	IsRequired bool

	schema Schema
	read   func(*Reader, *Node)
}

// To adds a key whose value is read into a variable, as a flag of package flag is.
func To[V any](keys *Keys, name string, into *V, value Value[V], doc string) *Key {
	k := &Key{Name: name, Doc: doc, schema: value.Schema, read: func(r *Reader, n *Node) { value.Read(r, n, into) }}
	*keys = append(*keys, k)
	return k
}

// ToNew adds a key whose value is read into a new V; into stays nil where the file leaves the key out.
func ToNew[V any](keys *Keys, name string, into **V, value Value[V], doc string) *Key {
	k := To(keys, name, nil, value, doc)
	k.read = func(r *Reader, n *Node) {
		*into = new(V)
		value.Read(r, n, *into)
	}
	return k
}

// Required makes the key one that must be there.
func (k *Key) Required() { k.IsRequired = true }

// Value says how a V is written in the file.
type Value[V any] struct {
	Kinds  Kind   // the nodes that it takes
	Wants  string // what messages say it must be: "a text"
	Schema Schema

	// Parse reads a node of one of the Kinds, and reports what is wrong with it. It
	// returns false, and leaves into as it is, when nothing can be read.
	Parse func(r *Reader, n *Node, into *V) bool
	// At is where the place of a V is kept, in it or beside it; nil where it is not kept.
	At func(*V) *Place
}

// Read reads a node and reports what is wrong with it. It returns false, and
// leaves into as it is but for its place, when nothing can be read.
func (v Value[V]) Read(r *Reader, n *Node, into *V) bool {
	if v.At != nil && !n.IsNull() {
		*v.At(into) = n.At()
	}
	return r.accepts(n, v.Kinds, v.Wants) && v.Parse(r, n, into)
}

// entry reads an entry of a list or of a Map; what cannot be read is the zero V in its place.
func (v Value[V]) entry(r *Reader, n *Node) (into V) {
	if v.At != nil {
		*v.At(&into) = n.At()
	}
	v.Read(r, n, &into)
	return into
}

// Then is the value with a check that runs when it has been read.
func (v Value[V]) Then(check func(r *Reader, n *Node, into *V)) Value[V] {
	parse := v.Parse
	v.Parse = func(r *Reader, n *Node, into *V) bool {
		ok := parse(r, n, into)
		if ok {
			check(r, n, into)
		}
		return ok
	}
	return v
}

// Placed is the value with its place kept at; of a key that is left out it stays zero.
func (v Value[V]) Placed(at func(*V) *Place) Value[V] {
	v.At = at
	return v
}

// InPlace is a text with its place.
func InPlace(v Value[string]) Value[Scalar] {
	return Value[Scalar]{Kinds: v.Kinds, Wants: v.Wants, Schema: v.Schema,
		At:    func(s *Scalar) *Place { return &s.At },
		Parse: func(r *Reader, n *Node, into *Scalar) bool { return v.Parse(r, n, &into.Text) }}
}

// Parsed is a scalar that parse reads. parse reports what is wrong with it and then returns false.
func Parsed[V any](wants string, schema Schema, parse func(r *Reader, n *Node) (V, bool)) Value[V] {
	return Value[V]{Kinds: Scalars, Wants: wants, Schema: schema, Parse: func(r *Reader, n *Node, into *V) bool {
		v, ok := parse(r, n)
		if ok {
			*into = v
		}
		return ok
	}}
}

var textSchema = Schema{"type": []string{"string", "number", "boolean"}}

// Text is any scalar as it is written, but not an empty one.
var Text = Parsed("a text", textSchema, func(r *Reader, n *Node) (string, bool) {
	return n.Text(), r.notEmpty(n)
})

// AnyText is any scalar as it is written, even an empty text.
var AnyText = Parsed("a text", textSchema, func(_ *Reader, n *Node) (string, bool) { return n.Text(), true })

func (r *Reader) notEmpty(n *Node) bool {
	if strings.TrimSpace(n.Text()) != "" {
		return true
	}
	r.Wrong(n, "no-value", "%s must not be empty", n.name).Hint = "give a value or leave the key out"
	return false
}

// OneOf is one of a few words. Another word is reported and read as the one that
// was most likely meant, so that nothing else is reported because of it.
func OneOf[V ~string](allowed ...V) Value[V] {
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	return Parsed(problem.OrList(words), Schema{"enum": words}, func(r *Reader, n *Node) (V, bool) {
		word := n.Text()
		if slices.Contains(words, word) {
			return V(word), true
		}
		if !r.notEmpty(n) {
			return "", false
		}
		p := r.Wrong(n, "unknown-value", "%s cannot be “%s”; expected %s", n.name, problem.Shorten(word), problem.OrList(words))
		meant, ok := problem.Nearest(problem.Shorten(word), words)
		if ok {
			p.Hint = "did you mean “" + meant + "”?"
		}
		return V(meant), ok
	})
}

// Bool is true or false.
var Bool = Parsed("true or false", Schema{"type": "boolean"}, func(r *Reader, n *Node) (bool, bool) {
	if n.Tag() != "!!bool" {
		r.Wrong(n, "wrong-kind", "%s must be true or false%s", n.name, r.quoted(n))
		return false, false
	}
	return strings.EqualFold(n.Text(), "true"), true
})

// Int is a whole number from least to most; math.MaxInt means no upper bound.
func Int(least, most int) Value[int] {
	schema, span := Schema{"type": "integer", "minimum": least}, "from "+strconv.Itoa(least)+" upwards"
	if most < math.MaxInt {
		schema["maximum"] = most
		span = "from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	}
	return Parsed("a whole number", schema, func(r *Reader, n *Node) (int, bool) {
		i, err := strconv.Atoi(n.Text())
		switch {
		case err != nil:
			r.Wrong(n, "wrong-kind", "%s must be a whole number %s%s", n.name, span, r.quoted(n)).
				Hint = "write it in digits, such as " + strconv.Itoa(least)
		case i < least || i > most:
			r.Wrong(n, "out-of-range", "%s must be a whole number %s%s", n.name, span, r.quoted(n))
		default:
			return i, true
		}
		return 0, false
	})
}

const wantsList = "a list (each entry begins with “- ”)"

// WantsObject is what messages say that an object must be.
const WantsObject = "“key: value” pairs"

// List is a list of values.
func List[V any](of Value[V]) Value[[]V] {
	return Value[[]V]{Kinds: Lists, Wants: wantsList, Schema: Schema{"type": "array", "items": of.Schema},
		Parse: func(r *Reader, n *Node, into *[]V) bool {
			*into = nil
			for _, item := range n.Items() {
				if r.full() {
					break
				}
				*into = append(*into, of.entry(r, item))
			}
			return true
		}}
}

// OneOrMore is one value, or a list of at least one.
func OneOrMore[V any](of Value[V]) Value[[]V] {
	list := List(of)
	schema := Schema{"type": "array", "items": of.Schema, "minItems": 1}
	return Value[[]V]{Kinds: of.Kinds | Lists, Wants: of.Wants + " or a list", Schema: Schema{"anyOf": []Schema{of.Schema, schema}},
		Parse: func(r *Reader, n *Node, into *[]V) bool {
			if n.Kind() != Lists {
				*into = []V{of.entry(r, n)}
				return true
			}
			if len(n.Items()) == 0 {
				r.Wrong(n, "no-value", "%s must not be an empty list", n.name)
			}
			return list.Parse(r, n, into)
		}}
}

// Map is an object with keys of the user's choice.
func Map[V any](of Value[V]) Value[map[string]V] {
	return Value[map[string]V]{Kinds: Objects, Wants: WantsObject, Schema: mapSchema(of.Schema),
		Parse: func(r *Reader, n *Node, into *map[string]V) bool {
			*into = map[string]V{}
			for _, item := range r.Pairs(n) {
				(*into)[item.Key()] = of.entry(r, item)
			}
			return true
		}}
}

// Pairs is an object with keys of the user's choice, in the order of the file;
// pair makes an entry of a key and its value.
func Pairs[V, E any](of Value[V], pair func(key Scalar, v V) E) Value[[]E] {
	return Value[[]E]{Kinds: Objects, Wants: WantsObject, Schema: mapSchema(of.Schema),
		Parse: func(r *Reader, n *Node, into *[]E) bool {
			*into = nil
			for _, item := range r.Pairs(n) {
				*into = append(*into, pair(Scalar{item.Key(), item.KeyAt()}, of.entry(r, item)))
			}
			return true
		}}
}

func mapSchema(of Schema) Schema { return Schema{"type": "object", "additionalProperties": of} }

// Object is an object that is read by a table of keys, into what into holds
// already. A misspelt key is reported and read as the one that was most likely
// meant, so that what it seems to leave out is not reported as well.
func Object[T any](table func(*Keys, *T)) Value[T] {
	var all Keys
	table(&all, new(T))
	return Value[T]{Kinds: Objects, Wants: WantsObject, Schema: all.schema(),
		Parse: func(r *Reader, n *Node, into *T) bool {
			var keys Keys
			table(&keys, into)
			n.given = map[string]*Node{}
			for _, v := range r.Pairs(n) {
				if r.full() {
					break
				}
				k := keys.find(v.Key())
				if k == nil {
					k = keys.unknown(r, n, v)
					isGiven := func(v *Node) bool { return v.Key() == k.Name }
					if k == nil || n.given[k.Name] != nil || slices.ContainsFunc(n.Values(), isGiven) {
						continue
					}
					v.name = "“" + k.Name + "”"
				}
				n.given[k.Name] = v
				k.read(r, v)
			}
			for _, k := range keys {
				if k.IsRequired && n.given[k.Name] == nil && !n.IsNull() {
					does, _, _ := strings.Cut(k.Doc, ";")
					r.Wrong(n, "missing-key", "%s needs “%s”: %s", n.name, k.Name, does)
				}
			}
			return true
		}}
}

// TextOr is an object, or a text that stands for one of its fields alone. wants says what is expected, in messages.
func TextOr[T, V any](text Value[V], field func(*T) *V, object Value[T], wants string) Value[T] {
	return Value[T]{Kinds: Scalars | Objects, Wants: wants, Schema: Schema{"anyOf": []Schema{text.Schema, object.Schema}},
		Parse: func(r *Reader, n *Node, into *T) bool {
			if n.Kind() == Objects {
				return object.Read(r, n, into)
			}
			return text.Read(r, n, field(into))
		}}
}

// unknown reports a key and returns the one that was most likely meant, or nil.
func (keys Keys) unknown(r *Reader, n, v *Node) *Key {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	said := r.WrongAt(v.KeyAt(), "unknown-key", "unknown key %s in %s", v.name, n.name)
	said.Hint = problem.Suggestion(v.Key(), names)
	if home := keys.home(v.Key()); home != "" {
		said.Hint = home
		return nil
	}
	if meant, ok := problem.Nearest(problem.Shorten(v.Key()), names); ok {
		return keys.find(meant)
	}
	for _, k := range keys { // such as ident for id
		if k.IsRequired && strings.HasPrefix(v.Key(), k.Name) {
			said.Hint = "did you mean “" + k.Name + "”?"
			return k
		}
	}
	return nil
}

// home says under which of the keys, the first that can have it, another key belongs; "" for none.
func (keys Keys) home(name string) string {
	for _, k := range keys {
		in, hint := k.schema, "“"+name+"” belongs under “"+k.Name+"”: indent it there"
		if items, ok := in["items"].(Schema); ok {
			in, hint = items, "“"+name+"” belongs to an entry of “"+k.Name+"”: indent it there, and begin the entry with “- ”"
		}
		properties, _ := in["properties"].(Schema)
		if _, has := properties[name]; has {
			return hint
		}
	}
	return ""
}

func (keys Keys) find(name string) *Key {
	for _, k := range keys {
		if k.Name == name {
			return k
		}
	}
	return nil
}
