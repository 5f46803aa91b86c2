package yamlpatch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// edit is one operation on a text.
type edit struct {
	*text
	style  Style
	token  string     // the last part of the operation's path
	parent *yaml.Node // the object or list that the rest of it leads to
	holder unit       // the innermost unit of that
}

// change changes the object or list that an operation is about.
type change func(n *yaml.Node)

// apply returns the text with an operation applied to it, and the tree that it must say.
func (t *text) apply(style Style, op Operation) (made string, want *yaml.Node, err error) {
	path, err := pointer(op.Path)
	if err == nil && len(path) == 0 {
		err = errors.New("the whole file is not a value that can be changed")
	}
	if err != nil {
		return "", nil, err
	}
	last := len(path) - 1
	e := edit{text: t, style: style, token: path[last]}
	if e.parent, e.holder, err = t.walk(path[:last]); err != nil {
		return "", nil, err
	}
	if e.parent.Kind == yaml.ScalarNode && !isNull(e.parent) {
		return "", nil, fmt.Errorf("%s is neither an object nor a list", Pointer(path[:last]...))
	}
	var do change
	var write func() (string, error) // for a parent whose contents have lines of their own
	switch op.Op {
	case "add", "replace":
		do, write, err = e.put(op)
	case "remove":
		do, write, err = e.remove()
	case "move":
		do, write, err = e.move(path, op.From)
	default:
		err = fmt.Errorf("%q is not an operation: add, remove, replace or move", op.Op)
	}
	if err != nil {
		return "", nil, err
	}
	want = with(t.root, e.parent, do)
	changed := with(e.parent, e.parent, do)
	switch hasLines := !isInline(e.parent) && (e.holder.parent == nil || e.holder.value() == e.parent); {
	case hasLines && (len(changed.Content) > 0 || e.holder.parent == nil):
		made, err = write()
	case e.holder.parent != nil:
		made, err = e.set(e.holder, with(e.holder.value(), e.parent, do))
	case len(t.root.Content) == 0:
		made = t.splice(len(t.lines), len(t.lines), style.block(0, changed)...)
	default:
		err = errors.New("the whole file is in braces or brackets")
	}
	return made, want, err
}

// put replaces a value, or adds a pair to an object or an entry to a list.
func (e edit) put(op Operation) (do change, write func() (string, error), err error) {
	value, err := decode(op.Value)
	if err != nil {
		return nil, nil, err
	}
	at, missing := find(e.parent, e.token)
	switch isList := e.parent.Kind == yaml.SequenceNode; {
	case missing == nil && (op.Op == "replace" || !isList):
		do = func(n *yaml.Node) { n.Content[at] = value }
		return do, func() (string, error) { return e.set(e.unit(e.parent, at, e.holder.last), value) }, nil
	case op.Op == "replace":
		return nil, nil, missing
	case isList:
		if at = len(e.parent.Content); e.token != "-" {
			if at, err = strconv.Atoi(e.token); err != nil || at < 0 || at > len(e.parent.Content) {
				return nil, nil, fmt.Errorf("there is no place %q in a list of %d", e.token, len(e.parent.Content))
			}
		}
		do = func(n *yaml.Node) { n.Content = slices.Insert(n.Content, at, value) }
		return do, func() (string, error) { return e.insert(at, e.style.entry(e.parent.Column-1, value)) }, nil
	}
	if at = len(e.parent.Content); op.After != "" {
		if at, err = find(e.parent, op.After); err != nil {
			return nil, nil, err
		}
		at++
	}
	key := scalar("!!str", e.token)
	do = func(n *yaml.Node) {
		n.Kind, n.Tag, n.Value, n.Content = yaml.MappingNode, "!!map", "", slices.Insert(n.Content, at, key, value)
	}
	return do, func() (string, error) {
		indent := len(e.before(e.parent.Content[0]))
		pair := e.style.pair(indent, key, value)
		pair[0] = strings.Repeat(" ", indent) + pair[0]
		if e.parent == e.root && e.isSpread() {
			pair = append([]string{""}, pair...)
		}
		return e.insert(at, pair)
	}, nil
}

// set writes another value into a unit. Comments beside its first line stay, and so does one behind a value that had no lines of its own.
func (e edit) set(u unit, value *yaml.Node) (string, error) {
	old, beside := u.value(), e.comment(u.first)
	line := strings.TrimRight(e.lines[u.first], "\r\n")
	head := line[:len(line)-len(beside)]
	if !isAbsent(old) && old.Line-1 == u.first {
		head = e.before(old)
	}
	head = strings.TrimRight(head, " \t")
	if u.last > u.first && isInline(old) {
		for l := u.first; l < u.last; l++ {
			if old.Kind != yaml.ScalarNode && e.comment(l) != "" {
				return "", fmt.Errorf("the value has comments within its brackets (line %d)", l+1)
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

// insert writes lines before the node that has a number among the parent's contents.
func (e edit) insert(at int, lines []string) (string, error) {
	if at > 0 {
		l := e.unit(e.parent, at-1, e.holder.last).last + 1
		return e.splice(l, l, lines...), nil
	}
	u := e.unit(e.parent, 0, e.holder.last)
	return e.splice(u.first, u.first, lines...), e.alone(u)
}

// isSpread reports whether an empty line is above the last section of the file.
func (e edit) isSpread() bool {
	l := e.firstLine(e.root, len(e.root.Content)-1) - 1
	for l > 0 && strings.HasPrefix(e.lines[l], "#") {
		l--
	}
	return l > 0 && strings.TrimSpace(e.lines[l]) == ""
}

// alone refuses a unit that begins in the line of another one, behind its dash.
func (t *text) alone(u unit) error {
	if strings.TrimSpace(t.lead(u)) != "" {
		return errors.New("it begins in the line of another value")
	}
	return nil
}

// lead returns what stands before a unit in its first line.
func (t *text) lead(u unit) string {
	if u.parent.Kind == yaml.SequenceNode {
		line := t.lines[u.first]
		return line[:min(u.parent.Column-1, len(line))]
	}
	return t.before(u.head())
}

// remove takes a pair out of its object, or an entry out of its list. What holds it stays, empty perhaps; a comment beside what is
// removed goes with it, those above it stay.
func (e edit) remove() (do change, write func() (string, error), err error) {
	at, err := find(e.parent, e.token)
	if err != nil {
		return nil, nil, err
	}
	size := step(e.parent)
	do = func(n *yaml.Node) { n.Content = slices.Delete(n.Content, at+1-size, at+1) }
	return do, func() (string, error) {
		u := e.unit(e.parent, at, e.holder.last)
		isEmpty := func(l int) bool { return l == len(e.lines) || strings.TrimSpace(e.lines[l]) == "" }
		switch lead := e.lead(u); {
		case strings.TrimSpace(lead) != "" && size == 2: // the first pair behind the dash of an entry
			next := e.parent.Content[at+1]
			if l := next.Line - 1; l == u.last+1 {
				return e.splice(u.first, l+1, lead+strings.TrimRight(e.lines[l][len(e.before(next)):], "\r\n")), nil
			}
			return e.splice(u.first, u.last+1, strings.TrimRight(lead, " ")), nil
		case u.first > 0 && isEmpty(u.first-1) && isEmpty(u.last+1):
			u.first-- // one of the two empty lines that would meet
		}
		return e.splice(u.first, u.last+1), e.alone(u)
	}, nil
}

// move lets an entry of a list and the one beside it change places, with the comments above them.
func (e edit) move(path []string, pointerFrom string) (do change, write func() (string, error), err error) {
	from, err := pointer(pointerFrom)
	if err != nil {
		return nil, nil, err
	}
	last := len(path) - 1
	isBeside := e.parent.Kind == yaml.SequenceNode && len(from) == len(path) && slices.Equal(from[:last], path[:last])
	to, missing := find(e.parent, e.token)
	at := to
	if isBeside && missing == nil {
		at, missing = find(e.parent, from[last])
	}
	first, second := min(at, to), max(at, to)
	if !isBeside || missing != nil || second != first+1 {
		return nil, nil, fmt.Errorf("%s is not beside %s in a list", Pointer(path...), Pointer(from...))
	}
	do = func(n *yaml.Node) { n.Content[first], n.Content[second] = n.Content[second], n.Content[first] }
	return do, func() (string, error) {
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
		return e.splice(a.first, b.last+1, swapped), e.alone(a)
	}, nil
}
