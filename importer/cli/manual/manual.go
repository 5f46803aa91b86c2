// Package manual lays out the pages that explain the program as text for a terminal.
package manual

import (
	"strings"
	"unicode/utf8"
)

// Page explains a command or a topic.
type Page struct {
	Name     string // as it is typed: claimsheet run
	Summary  string // one line
	Usage    []string
	Sections []Section
}

// Section is a part of a page: text, then items.
type Section struct {
	Title string
	// Text has paragraphs with an empty line between them. Lines that begin with a
	// space stay as they are; the others are wrapped.
	Text  string
	Items []Item
}

// Item is a term, such as a flag, with its explanation.
type Item struct{ Term, Text string }

const (
	indent   = 3
	gap      = 2  // between a term and its explanation
	mostTerm = 24 // the longest term that has its explanation on the same line
)

// Text returns the page for a terminal of so many columns.
func (p Page) Text(columns int) string {
	w := &text{columns: columns}
	w.title("Name")
	w.item(Item{p.Name + " -", p.Summary}, indent+utf8.RuneCountInString(p.Name)+3)
	if len(p.Usage) > 0 {
		w.title("Usage")
		for _, line := range p.Usage {
			w.wrapped(indent, indent+4, line)
		}
	}
	for _, s := range p.Sections {
		w.title(s.Title)
		for i, block := range blocks(s.Text) {
			if i > 0 {
				w.b.WriteByte('\n')
			}
			if block.asIs {
				for _, line := range block.lines {
					w.line(indent, line)
				}
				continue
			}
			w.wrapped(indent, indent, strings.Join(block.lines, " "))
		}
		if s.Text != "" && len(s.Items) > 0 {
			w.b.WriteByte('\n')
		}
		column := indent + widest(s.Items) + gap
		for _, i := range s.Items {
			w.item(i, column)
		}
	}
	return w.b.String()
}

// widest returns the width of the longest term that has its explanation beside it.
func widest(items []Item) int {
	most := 0
	for _, i := range items {
		if n := utf8.RuneCountInString(i.Term); n <= mostTerm {
			most = max(most, n)
		}
	}
	return most
}

// block is a paragraph, or lines that stay as they are.
type block struct {
	asIs  bool
	lines []string
}

// blocks splits a text at its empty lines.
func blocks(text string) []block {
	var all []block
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			all = append(all, block{strings.HasPrefix(part, " "), strings.Split(part, "\n")})
		}
	}
	return all
}

// text is a page for a terminal.
type text struct {
	b       strings.Builder
	columns int
}

func (t *text) title(title string) {
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
	t.b.WriteString(strings.ToUpper(title) + ":\n")
}

func (t *text) line(at int, line string) {
	if line == "" {
		at = 0
	}
	t.b.WriteString(strings.Repeat(" ", at) + line + "\n")
}

// item writes a term, and its explanation from a column on.
func (t *text) item(i Item, column int) {
	width := utf8.RuneCountInString(i.Term)
	if i.Text == "" || indent+width >= column {
		t.line(indent, i.Term)
		if i.Text != "" {
			t.wrapped(column, column, i.Text)
		}
		return
	}
	t.b.WriteString(strings.Repeat(" ", indent) + i.Term + strings.Repeat(" ", column-indent-width))
	t.wrappedFrom(column, column, i.Text)
}

// wrapped writes words that fit the width: the first line from the column first, the
// others from the column rest.
func (t *text) wrapped(first, rest int, words string) {
	t.b.WriteString(strings.Repeat(" ", first))
	t.wrappedFrom(first, rest, words)
}

// wrappedFrom is wrapped where the cursor is at the column at already.
func (t *text) wrappedFrom(at, rest int, words string) {
	for i, line := range fill(words, t.columns-at, t.columns-rest) {
		if i > 0 {
			t.b.WriteString(strings.Repeat(" ", rest))
		}
		t.b.WriteString(line + "\n")
	}
}

// fill puts words into lines: the first of at most first columns, the others of rest.
// A longer word has a line of its own.
func fill(words string, first, rest int) []string {
	lines, room := []string{""}, first
	for _, word := range strings.Fields(words) {
		last := &lines[len(lines)-1]
		switch used := utf8.RuneCountInString(*last); {
		case used == 0:
			*last = word
		case used+1+utf8.RuneCountInString(word) > room:
			lines, room = append(lines, word), rest
		default:
			*last += " " + word
		}
	}
	return lines
}
