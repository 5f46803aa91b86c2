// Package manual shows the pages that explain the program: a Page is plain data, as
// text for a terminal or as part of the man page.
package manual

import (
	"fmt"
	"strings"
	"time"
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

// Man returns the pages as one man page of section 1: the first page is about the
// program, the commands are those of its parts, and more are sections of their own at
// the end. version and the day of built stand in its foot.
func Man(program Page, commands []Page, more []Section, version string, built time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"%s\" \"%s %s\"\n", strings.ToUpper(program.Name), built.Format(time.DateOnly), roff(program.Name), roff(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(program.Name), roff(program.Summary))
	b.WriteString(".SH SYNOPSIS\n.nf\n")
	for _, line := range program.Usage {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
	for _, s := range program.Sections {
		writeRoff(&b, ".SH", s)
	}
	b.WriteString(".SH COMMAND REFERENCE\n")
	for _, c := range commands {
		fmt.Fprintf(&b, ".SS %s\n%s.PP\n.nf\n", roff(c.Name), filled(capital(c.Summary)+"."))
		for _, line := range c.Usage {
			b.WriteString(roff(line) + "\n")
		}
		b.WriteString(".fi\n")
		for _, s := range c.Sections {
			writeRoff(&b, "", s)
		}
	}
	for _, s := range more {
		writeRoff(&b, ".SH", s)
	}
	return b.String()
}

// writeRoff writes a section below a heading, or below its title in bold for none.
func writeRoff(b *strings.Builder, heading string, s Section) {
	if heading == "" {
		b.WriteString(".PP\n\\fB" + roff(capital(strings.ToLower(s.Title))) + "\\fR\n")
	} else {
		b.WriteString(heading + " " + roff(strings.ToUpper(s.Title)) + "\n")
	}
	for i, block := range blocks(s.Text) {
		if i > 0 || heading == "" {
			b.WriteString(".PP\n")
		}
		if !block.asIs {
			b.WriteString(filled(strings.Join(block.lines, " ")))
			continue
		}
		b.WriteString(".nf\n")
		for _, line := range block.lines {
			b.WriteString(roff(line) + "\n")
		}
		b.WriteString(".fi\n")
	}
	for _, i := range s.Items {
		b.WriteString(".TP\n\\fB" + roff(i.Term) + "\\fR\n" + filled(i.Text))
	}
}

// filled returns a paragraph for troff, in lines of a usual length.
func filled(words string) string {
	const usual = 72 // characters that are escaped make lines longer
	var b strings.Builder
	for _, line := range fill(words, usual, usual) {
		b.WriteString(roff(line) + "\n")
	}
	return b.String()
}

// roff returns a text for troff: nothing in it is a request or an escape.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(string(r)) + text[size:]
}
