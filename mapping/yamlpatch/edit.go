package yamlpatch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// edit makes the new text of one operation.
type edit struct {
	*text
	style Style
}

// replace puts a value in the place of another.
func (e edit) replace(path []string, value *yaml.Node) (change, error) {
	p, err := e.locate(path)
	if err != nil {
		return change{}, err
	}
	want := with(e.root, p.parent, func(n *yaml.Node) { n.Content[p.at] = value })
	old := p.value()
	from, to := e.start(old), e.end(old)
	key, beside := p.key(), e.beside(old)
	if key != nil { // also what lies between the colon and a value below it
		if colon := e.colon(key); isAbsent(old) || e.lineOf(colon) != e.lineOf(from) {
			from = colon
			if isAbsent(old) {
				to = colon
			} else if beside = strings.TrimRight(e.data[colon:e.lineEnd(colon)], " \t"); beside != "" && !p.flow {
				to = e.lineEnd(to) // the comment beside the key stays, that behind the old value goes with it
			}
		}
	}
	if p.flow {
		return change{e.splice(from, to, spaced(e.data[:from], flow(value))), want}, nil
	}
	if key == nil {
		indent := e.column(e.start(p.parent))
		lines := e.style.entry(indent, value)
		lines[0] = strings.TrimLeft(strings.TrimPrefix(lines[0][indent:], "- "), " ") + beside
		return change{e.splice(from, to, spaced(e.data[:from], strings.Join(lines, e.eol))), want}, nil
	}
	indent := e.column(e.start(key))
	lines := e.style.pair(indent, key, value)
	if len(lines) == 1 {
		return change{e.splice(from, to, spaced(e.data[:from], flow(value)+beside)), want}, nil
	}
	// Lines below the key; a comment beside the key stays beside it.
	colon := e.colon(key)
	comment := beside
	if comment == "" && (isAbsent(old) || e.lineOf(e.start(old)) == e.lineOf(colon)) {
		behind := max(to, colon)
		comment = strings.TrimRight(e.data[behind:e.lineEnd(behind)], " ")
		to = e.lineEnd(behind)
	}
	return change{e.splice(colon, to, comment+e.eol+strings.Join(lines[1:], e.eol)), want}, nil
}

// spaced is a value behind what stands before it, with the space that a colon needs.
func spaced(before, value string) string {
	if strings.HasSuffix(before, ":") {
		return " " + value
	}
	return value
}

// add puts a new pair into an object, or a new entry into a list.
func (e edit) add(path []string, after string, value *yaml.Node) (change, error) {
	parent, inFlow, err := e.holder(path)
	if err != nil {
		return change{}, err
	}
	last := path[len(path)-1]
	switch {
	case parent.Kind == yaml.SequenceNode:
		return e.insert(path[:len(path)-1], parent, inFlow, last, value)
	case parent.Kind == yaml.MappingNode:
		if _, err := find(parent, last); err == nil {
			return e.replace(path, value)
		}
	}
	key := scalar("!!str", last)
	if len(parent.Content) == 0 && len(path) > 1 { // {} or nothing: the object is written again
		kind := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, value}}
		return e.replace(path[:len(path)-1], kind)
	}
	behind := len(parent.Content)
	if after != "" {
		at, err := find(parent, after)
		if err != nil {
			return change{}, err
		}
		behind = at + 1
	}
	want := with(e.root, parent, func(n *yaml.Node) { n.Content = slices.Insert(n.Content, behind, key, value) })
	if len(parent.Content) == 0 { // an empty file
		end := len(e.data)
		return change{e.splice(end, end, e.newLines(end, e.style.block(0, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}))), want}, nil
	}
	sibling := parent.Content[behind-1]
	end := e.end(sibling)
	if isAbsent(sibling) {
		end = e.colon(parent.Content[behind-2])
	}
	if inFlow {
		return change{e.splice(end, end, ", "+flow(key)+": "+flow(value)), want}, nil
	}
	indent := e.column(e.start(parent.Content[0]))
	pair := e.style.pair(indent, key, value)
	pair[0] = strings.Repeat(" ", indent) + pair[0]
	if len(path) == 1 && e.isSpread(parent) {
		pair = append([]string{""}, pair...)
	}
	end = e.lineEnd(end)
	return change{e.splice(end, end, e.newLines(end, pair)), want}, nil
}

// newLines is text that goes behind a place at the end of a line.
func (e edit) newLines(at int, lines []string) string {
	text := strings.Join(lines, e.eol)
	if at == 0 || at == len(e.data) && e.data[at-1] == '\n' {
		return text + e.eol
	}
	return e.eol + text
}

// isSpread reports whether empty lines part the sections of the file: most of those that
// have several lines.
func (e edit) isSpread(root *yaml.Node) bool {
	long, spread := 0, 0
	for i := 2; i < len(root.Content); i += 2 {
		if e.lineOf(e.start(root.Content[i-2])) == e.lineOf(e.end(root.Content[i-1])) {
			continue
		}
		long++
		for l := e.lineOf(e.start(root.Content[i])) - 1; l >= 0; l-- {
			line := strings.TrimSpace(e.line(l))
			if line == "" {
				spread++
			}
			if !strings.HasPrefix(line, "#") {
				break
			}
		}
	}
	return spread*2 > long
}

// insert puts an entry into a list.
func (e edit) insert(path []string, list *yaml.Node, inFlow bool, token string, value *yaml.Node) (change, error) {
	n := len(list.Content)
	if token != "-" {
		var err error
		if n, err = strconv.Atoi(token); err != nil || n < 0 || n > len(list.Content) {
			return change{}, fmt.Errorf("there is no place %q in a list of %d", token, len(list.Content))
		}
	}
	if len(list.Content) == 0 {
		return e.replace(path, &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{value}})
	}
	want := with(e.root, list, func(c *yaml.Node) { c.Content = slices.Insert(c.Content, n, value) })
	if inFlow && n == 0 {
		at := e.start(list.Content[0])
		return change{e.splice(at, at, flow(value)+", "), want}, nil
	}
	if inFlow {
		at := e.end(list.Content[n-1])
		return change{e.splice(at, at, ", "+flow(value)), want}, nil
	}
	lines := e.style.entry(e.column(e.start(list)), value)
	if n == 0 {
		at := e.lines[e.lineOf(e.dash(list, 0))]
		return change{e.splice(at, at, strings.Join(lines, e.eol)+e.eol), want}, nil
	}
	at := e.lineEnd(e.end(list.Content[n-1]))
	return change{e.splice(at, at, e.newLines(at, lines)), want}, nil
}

// dash returns where the dash of an entry of a block list stands.
func (e edit) dash(list *yaml.Node, n int) int {
	return strings.LastIndexByte(e.data[:e.start(list.Content[n])], '-')
}

// remove takes a pair out of its object, or an entry out of its list. What holds it stays,
// empty perhaps; a comment beside what is removed goes with it, those above it stay.
func (e edit) remove(path []string) (change, error) {
	p, err := e.locate(path)
	if err != nil {
		return change{}, err
	}
	first, size := p.at, 1
	if p.key() != nil {
		first, size = p.at-1, 2
	}
	if len(p.parent.Content) == size && len(path) > 1 {
		return e.replace(path[:len(path)-1], &yaml.Node{Kind: p.parent.Kind, Tag: p.parent.Tag})
	}
	want := with(e.root, p.parent, func(n *yaml.Node) { n.Content = slices.Delete(n.Content, first, first+size) })
	from, to := e.start(p.parent.Content[first]), e.endOf(p)
	next := first + size
	switch {
	case p.flow:
		from, until := e.cut(p, first, next, to)
		return change{e.splice(from, until, ""), want}, nil
	case p.key() == nil:
		from = e.dash(p.parent, p.at)
	}
	line := e.lines[e.lineOf(from)]
	if strings.TrimSpace(e.data[line:from]) != "" { // the first pair behind the dash of an entry
		if next == len(p.parent.Content) {
			return change{}, fmt.Errorf("it is the only value there")
		}
		if end := e.lineEnd(to); strings.Contains(e.data[end:e.start(p.parent.Content[next])], "#") { // above the next one
			from = len(strings.TrimRight(e.data[:from], " \t"))
			return change{e.splice(from, end, ""), want}, nil
		}
		return change{e.splice(from, e.start(p.parent.Content[next]), ""), want}, nil
	}
	until := e.nextLine(to)
	isEmpty := func(l int) bool { return strings.TrimSpace(e.line(l)) == "" }
	if l := e.lineOf(line); l > 0 && isEmpty(l-1) && isEmpty(e.lineOf(until)) {
		line = e.lines[l-1] // one of the two empty lines that would meet
	}
	return change{e.splice(line, until, ""), want}, nil
}

// cut returns what goes with a part of an object in braces or a list in brackets: its
// comma, and the rest of its line when the others are on lines of their own.
func (e edit) cut(p place, first, next, to int) (from, until int) {
	from = e.start(p.parent.Content[first])
	hasNext := next < len(p.parent.Content)
	rest := strings.TrimLeft(e.data[to:e.lineEnd(to)], " \t")
	switch {
	case hasNext && (e.lineOf(e.start(p.parent.Content[next])) == e.lineOf(to) || !strings.HasPrefix(rest, ",")):
		return from, e.start(p.parent.Content[next])
	case !hasNext && (e.lineOf(e.end(p.parent.Content[first-1])) == e.lineOf(from) || rest != "" && rest[0] != '#'):
		return e.end(p.parent.Content[first-1]), to
	}
	if line := e.lines[e.lineOf(from)]; strings.TrimSpace(e.data[line:from]) == "" {
		return line, e.nextLine(to)
	}
	return from, e.lineEnd(to)
}

// endOf returns where a value ends, or its colon when it has no text.
func (e edit) endOf(p place) int {
	if key := p.key(); key != nil && isAbsent(p.value()) {
		return e.colon(key)
	}
	return e.end(p.value())
}

// move lets an entry of a list and the one beside it change places: with their own lines and
// the comments above them in a block list.
func (e edit) move(from, to []string) (change, error) {
	p, err := e.locate(from)
	if err != nil {
		return change{}, err
	}
	n, err := strconv.Atoi(to[len(to)-1])
	isList := p.key() == nil && len(from) == len(to) && slices.Equal(from[:len(from)-1], to[:len(to)-1])
	if err != nil || !isList || n < 0 || n >= len(p.parent.Content) || n != p.at-1 && n != p.at+1 {
		return change{}, fmt.Errorf("%s is not beside %s in a list", Pointer(to...), Pointer(from...))
	}
	want := with(e.root, p.parent, func(c *yaml.Node) { c.Content[n], c.Content[p.at] = c.Content[p.at], c.Content[n] })
	first, firstEnd := e.whole(p, min(n, p.at))
	second, secondEnd := e.whole(p, max(n, p.at))
	return change{e.splice(first, secondEnd, e.data[second:secondEnd]+e.data[firstEnd:second]+e.data[first:firstEnd]), want}, nil
}

// whole returns where the nth entry of a list begins and ends.
func (e edit) whole(p place, n int) (from, to int) {
	if p.flow {
		return e.start(p.parent.Content[n]), e.end(p.parent.Content[n])
	}
	line := e.lineOf(e.dash(p.parent, n))
	for line > 0 && n > 0 && strings.HasPrefix(strings.TrimSpace(e.line(line-1)), "#") && e.lines[line-1] > e.end(p.parent.Content[n-1]) {
		line--
	}
	if from = e.lines[line]; n == 0 {
		from = e.dash(p.parent, 0) - indentOf(e.line(line))
	}
	return from, e.lineEnd(e.end(p.parent.Content[n]))
}
