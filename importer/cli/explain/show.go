package explain

import (
	"fmt"
	"path"
	"strings"

	"claimsheet/importer/cli/manual"
)

// Page returns the entry for a terminal.
func (e Entry) Page() manual.Page {
	good := "Good"
	if e.Then {
		good = "Then"
	}
	return manual.Page{Name: e.Code, Summary: e.Title, Sections: []manual.Section{
		{Title: "Meaning", Text: e.Meaning},
		{Title: "How to mend it", Text: e.Mend},
		{Title: "Bad", Text: e.Bad.indented()},
		{Title: good, Text: e.Good.indented()},
	}}
}

// indented returns the example for a page, which keeps lines that begin with a space.
func (x Example) indented() string {
	return strings.TrimSuffix(" "+strings.ReplaceAll(x.String(), "\n", "\n "), "\n ")
}

// String returns the example as its file has it.
func (x Example) String() string {
	var b strings.Builder
	for _, p := range x {
		if p.File != "" {
			b.WriteString("-- " + p.name() + " --\n")
		}
		if p.Text != "" {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

func (p Part) name() string {
	if p.Whole {
		return p.File + " (whole file)"
	}
	return p.File
}

// Markdown returns all entries, and the files that their examples change, for
// docs/problems.md.
func Markdown() string {
	var b strings.Builder
	for _, s := range Subjects() {
		fmt.Fprintf(&b, "- [%s](#%s)\n", s.Title, anchor(s.Title))
	}
	b.WriteString("\n## The files of the examples\n\nAn example shows only the lines of these files that matter: they replace the lines here. After \"whole file\" it shows the file.\n")
	for _, name := range []string{"mapping.yaml", "environments.yaml", "leads.csv"} {
		text, _ := Base(name)
		writeBlock(&b, "`"+name+"`:", path.Ext(name), strings.TrimSpace(text))
	}
	for _, s := range Subjects() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.Title, s.About)
		if s.Command != "" {
			fmt.Fprintf(&b, "Where an example names no command, it is `%s`.\n", s.Command)
		}
		for _, e := range s.Entries {
			e.writeMarkdown(&b)
		}
	}
	return b.String()
}

// anchor is the name that GitHub gives a heading.
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", ",", "", "'", "", "(", "", ")", "").Replace(strings.ToLower(heading))
}

func (e Entry) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n**%s.** %s\n\nTo mend it: %s\n", e.Code, e.Title, plain(e.Meaning), plain(e.Mend))
	e.Bad.writeMarkdown(b, "Bad")
	if e.Then {
		e.Good.writeMarkdown(b, "Then")
		return
	}
	e.Good.writeMarkdown(b, "Good")
}

// writeMarkdown writes the words before the first block, and the files and the commands each as a
// block.
func (x Example) writeMarkdown(b *strings.Builder, title string) {
	lead := title
	for i := 0; i < len(x); i++ {
		switch p := x[i]; {
		case p.File != "":
			writeBlock(b, lead+", `"+p.File+"`"+strings.TrimPrefix(p.name(), p.File)+":", path.Ext(p.File), p.Text)
			lead = title
		case strings.HasPrefix(p.Text, "$ "):
			commands := []string{p.Text}
			for ; i+1 < len(x) && strings.HasPrefix(x[i+1].Text, "$ "); i++ {
				commands = append(commands, x[i+1].Text)
			}
			writeBlock(b, lead+":", ".console", strings.Join(commands, "\n"))
			lead = title
		default:
			lead += ": " + plain(p.Text)
			if i == len(x)-1 {
				fmt.Fprintf(b, "\n%s\n", lead)
			}
		}
	}
}

// writeBlock writes a paragraph and a block of code below it.
func writeBlock(b *strings.Builder, lead, ext, text string) {
	fmt.Fprintf(b, "\n%s\n\n```%s\n%s\n```\n", lead, strings.TrimPrefix(ext, "."), text)
}

// plain keeps Markdown from reading characters of a sentence as markup.
func plain(text string) string {
	return strings.NewReplacer("*", `\*`, "<", `\<`, "[", `\[`).Replace(text)
}
