package yamlpatch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// edit is one operation on a text.
type edit struct {
	*Document
	style           Style
	token           string     // the last part of the operation's path
	parent, changed *yaml.Node // the object or list that the rest of it leads to, as it is and as it must be
	holder          unit       // the innermost unit of that
	held            *yaml.Node // the unit's value as it must be
}

// apply returns the text with an operation applied to it, and changes want, which says the same as the text, accordingly.
func (t *Document) apply(style Style, op Operation, want *yaml.Node) ([]byte, error) {
	path, err := Path(op.Path)
	if err == nil && len(path) == 0 {
		err = errors.New("the whole file is not a value that can be changed")
	}
	if err != nil {
		return nil, err
	}
	last := len(path) - 1
	e := edit{Document: t, style: style, token: path[last], parent: t.root, changed: want, holder: unit{last: len(t.lines) - 1}}
	for i, token := range path[:last] {
		at, err := find(e.parent, token)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Pointer(path[:i+1]...), err)
		}
		if e.hasLines() {
			e.holder, e.held = t.unit(e.parent, at, e.holder.last), e.changed.Content[at]
		}
		e.parent, e.changed = e.parent.Content[at], e.changed.Content[at]
	}
	if e.parent.Kind == yaml.ScalarNode && !isNull(e.parent) {
		return nil, fmt.Errorf("%s is neither an object nor a list", Pointer(path[:last]...))
	}
	var write func() ([]byte, error) // for a parent whose contents have lines of their own
	switch op.Op {
	case "add", "replace":
		write, err = e.put(op)
	case "remove":
		write, err = e.remove()
	case "move":
		write, err = e.move(op)
	default:
		err = fmt.Errorf("%q is not an operation: add, remove, replace or move", op.Op)
	}
	switch {
	case err != nil:
		return nil, err
	case e.hasLines() && (len(e.changed.Content) > 0 || e.holder.parent == nil):
		return write()
	case e.holder.parent != nil:
		return e.set(e.holder, e.held)
	case len(t.root.Content) == 0:
		return t.splice(len(t.lines), len(t.lines), style.block(0, e.changed)...), nil
	}
	return nil, errors.New("the whole file is in braces or brackets")
}

// hasLines reports whether the parent's contents have lines of their own.
func (e *edit) hasLines() bool {
	return !isInline(e.parent) && (e.holder.parent == nil || e.holder.value() == e.parent)
}

// put replaces a value, or adds a pair to an object or an entry to a list.
func (e *edit) put(op Operation) (write func() ([]byte, error), err error) {
	value, err := decode(op.Value)
	if err != nil {
		return nil, err
	}
	at, missing := find(e.parent, e.token)
	switch isList := e.parent.Kind == yaml.SequenceNode; {
	case missing == nil && (op.Op == "replace" || !isList):
		e.changed.Content[at] = value
		return func() ([]byte, error) { return e.set(e.unit(e.parent, at, e.holder.last), value) }, nil
	case op.Op == "replace":
		return nil, missing
	case isList:
		if e.token != "-" {
			return nil, fmt.Errorf("an entry is added at the end of a list, -, not at %q", e.token)
		}
		e.changed.Content = append(e.changed.Content, value)
		return func() ([]byte, error) { return e.attach(e.style.entry(e.parent.Column-1, value)), nil }, nil
	}
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: e.token}
	e.changed.Kind, e.changed.Tag, e.changed.Value = yaml.MappingNode, "!!map", ""
	e.changed.Content = append(e.changed.Content, key, value)
	return func() ([]byte, error) {
		indent := len(e.before(e.parent.Content[0]))
		pair := e.style.pair(indent, key, value)
		pair[0] = strings.Repeat(" ", indent) + pair[0]
		if e.parent == e.root && e.isSpread() {
			pair = append([]string{""}, pair...)
		}
		return e.attach(pair), nil
	}, nil
}

// set writes another value into a unit. Comments beside its first line stay, and so does one behind a value that had no lines of its own.
func (e *edit) set(u unit, value *yaml.Node) ([]byte, error) {
	old, beside := u.value(), e.comment(u.first)
	line := strings.TrimRight(e.lines[u.first], "\r\n")
	head := line[:len(line)-len(beside)]
	isAbsent := isNull(old) && old.Value == "" // nothing stands behind the colon
	if !isAbsent && old.Line-1 == u.first {
		head = e.before(old)
	}
	head = strings.TrimRight(head, " \t")
	if u.last > u.first && isInline(old) {
		for l := u.first; l < u.last; l++ {
			if old.Kind != yaml.ScalarNode && e.comment(l) != "" {
				return nil, fmt.Errorf("the value has comments within its brackets (line %d)", l+1)
			}
		}
		beside += e.comment(u.last)
	}
	isRewritten := len(old.Content) > 0 && value.Style&yaml.FlowStyle != 0
	var lines []string
	switch isPair := u.parent.Kind == yaml.MappingNode; {
	case isRewritten, isPair && e.style.fits(u.head().Value, value, len(head)+1), !isPair && (value.Kind != yaml.MappingNode || len(value.Content) == 0):
		lines = []string{head + " " + flow(value) + beside}
	case isPair:
		lines = append([]string{head + beside}, e.style.block(len(e.before(u.head()))+2, value)...)
	default:
		lines = e.style.block(len(head)+1, value)
		lines[0] = head + " " + strings.TrimLeft(lines[0], " ") + beside
	}
	return e.splice(u.first, u.last+1, lines...), nil
}

// attach writes lines behind the last of the parent's contents.
func (e *edit) attach(lines []string) []byte {
	l := e.unit(e.parent, len(e.parent.Content)-1, e.holder.last).last + 1
	return e.splice(l, l, lines...)
}

// isSpread reports whether an empty line is above the last section of the file.
func (e *edit) isSpread() bool {
	l := e.firstLine(e.root, len(e.root.Content)-1) - 1
	for l > 0 && strings.HasPrefix(e.lines[l], "#") {
		l--
	}
	return l > 0 && strings.TrimSpace(e.lines[l]) == ""
}

// remove takes a pair out of its object, or an entry out of its list. What holds it stays, empty perhaps; a comment beside what is
// removed goes with it, those above it stay.
func (e *edit) remove() (write func() ([]byte, error), err error) {
	at, err := find(e.parent, e.token)
	if err != nil {
		return nil, err
	}
	size := step(e.parent)
	e.changed.Content = slices.Delete(e.changed.Content, at+1-size, at+1)
	return func() ([]byte, error) {
		u := e.unit(e.parent, at, e.holder.last)
		isEmpty := func(l int) bool { return l == len(e.lines) || strings.TrimSpace(e.lines[l]) == "" }
		switch lead := e.before(u.head()); {
		case size == 2 && strings.TrimSpace(lead) != "": // the first pair behind the dash of an entry
			next := e.parent.Content[at+1]
			if l := next.Line - 1; l == u.last+1 {
				return e.splice(u.first, l+1, lead+strings.TrimRight(e.lines[l][len(e.before(next)):], "\r\n")), nil
			}
			return e.splice(u.first, u.last+1, strings.TrimRight(lead, " ")), nil
		case u.first > 0 && isEmpty(u.first-1) && isEmpty(u.last+1):
			u.first-- // one of the two empty lines that would meet
		}
		return e.splice(u.first, u.last+1), nil
	}, nil
}

// move lets an entry of a list and the one beside it change places, with the comments above them.
func (e *edit) move(op Operation) (write func() ([]byte, error), err error) {
	from, isInList := strings.CutPrefix(op.From, op.Path[:strings.LastIndexByte(op.Path, '/')+1])
	at, to := index(e.parent, from), index(e.parent, e.token)
	first, second := min(at, to), max(at, to)
	if e.parent.Kind != yaml.SequenceNode || !isInList || first < 0 || second != first+1 {
		return nil, fmt.Errorf("%s is not beside %s in a list", op.Path, op.From)
	}
	now := e.changed.Content
	now[first], now[second] = now[second], now[first]
	return func() ([]byte, error) {
		a, b := e.unit(e.parent, first, e.holder.last), e.unit(e.parent, second, e.holder.last)
		isComment := func(l int) bool { return strings.HasPrefix(strings.TrimSpace(e.lines[l]), "#") }
		for first > 0 && isComment(a.first-1) {
			a.first--
		}
		for isComment(b.first - 1) {
			b.first--
		}
		one, between, other := e.lines[a.first:a.last+1], e.lines[a.last+1:b.first], e.lines[b.first:b.last+1]
		swapped := strings.TrimRight(strings.Join(slices.Concat(other, between, one), ""), "\r\n")
		return e.splice(a.first, b.last+1, swapped), nil
	}, nil
}
