package cli

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
)

const helpHelp = `It prints what COMMAND --help prints; without a COMMAND it lists the commands.

Examples:

    claimsheet help run`

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "explain a command",
		ArgsUsage:   "[COMMAND]",
		Description: helpHelp,
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" && c.App.Command(name) == nil {
				return unknownCommand(c)
			}
			return p.app().RunContext(c.Context, slices.Concat([]string{"claimsheet"}, c.Args().Slice(), []string{"--help"}))
		},
	}
}

// printHelp is the library's hook for everything that --help prints. The library's own
// templates do not wrap the explanations of flags.
func printHelp(w io.Writer, _ string, about any) {
	var commands []*cli.Command
	var flags []cli.Flag
	var path, usage, line, text string
	switch a := about.(type) {
	case *cli.App:
		path, usage, line, text, commands, flags = a.Name, a.Usage, a.UsageText, a.Description, a.Commands, a.Flags
	case *cli.Command:
		path, usage, line, text, flags = a.HelpName, a.Usage, a.UsageText, a.Description, a.Flags
		if line == "" {
			line = strings.TrimSpace(path + " [options] " + a.ArgsUsage)
		}
	}
	h := &helpText{columns: console.Columns(w)}
	h.section("Name", path+" - "+usage)
	h.title("Usage")
	for each := range strings.SplitSeq(line, "\n") {
		h.wrap(helpIndent, len(helpIndent)+4, each)
	}
	description, examples, _ := strings.Cut(text, "Examples:\n\n")
	h.section("Description", description)
	h.section("Examples", examples)
	for _, category := range []string{firstCommands, moreCommands} {
		h.items(category, func(yield func(term, text string)) {
			for _, c := range commands {
				if c.Category == category {
					yield(c.Name, c.Usage)
				}
			}
		})
	}
	h.items("Options", func(yield func(term, text string)) {
		for _, f := range flags {
			if visible, ok := f.(cli.VisibleFlag); !ok || visible.IsVisible() {
				yield(flagItem(f))
			}
		}
	})
	_, _ = io.WriteString(w, h.String()) // the hook cannot fail, as with the library's own printer
}

// flagItem returns how a flag is typed and what it does.
func flagItem(f cli.Flag) (term, text string) {
	var names []string
	for _, name := range f.Names() {
		if len(name) == 1 {
			names = slices.Insert(names, 0, "-"+name)
			continue
		}
		names = append(names, "--"+name)
	}
	term = strings.Join(names, ", ")
	if shared, isShared := f.(sharedFlag); isShared {
		f = shared.BoolFlag
	}
	doc := f.(cli.DocGenerationFlag)
	placeholder, text := "VALUE", doc.GetUsage()
	if before, rest, found := strings.Cut(text, "`"); found {
		word, after, _ := strings.Cut(rest, "`")
		placeholder, text = word, before+word+after
	}
	if !doc.TakesValue() {
		return term, text
	}
	if usual := strings.Trim(doc.GetDefaultText(), `"`); usual != "" && usual != "0" {
		text += "; default: " + usual
	}
	return term + " " + placeholder, text
}

// helpText is a text with sections for a terminal of so many columns.
type helpText struct {
	strings.Builder
	columns int
}

const helpIndent = "   "

func (h *helpText) title(title string) {
	if h.Len() > 0 {
		h.WriteByte('\n')
	}
	h.WriteString(strings.ToUpper(title) + ":\n")
}

// section writes paragraphs with an empty line between them, if there are any. Lines that
// begin with a space stay as they are; the others are wrapped.
func (h *helpText) section(title, text string) {
	if strings.Trim(text, "\n") == "" {
		return
	}
	h.title(title)
	for i, part := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			h.WriteByte('\n')
		}
		for line := range strings.Lines(part) {
			if strings.HasPrefix(line, " ") {
				h.WriteString(helpIndent + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
		if !strings.HasPrefix(part, " ") {
			h.wrap(helpIndent, len(helpIndent), part)
		}
	}
}

// items writes terms and their explanations in two columns, if there are any.
func (h *helpText) items(title string, each func(yield func(term, text string))) {
	const mostTerm = 24 // the longest term that has its explanation on the same line
	column := 0
	each(func(term, _ string) {
		if n := utf8.RuneCountInString(term); n <= mostTerm {
			column = max(column, len(helpIndent)+n+2)
		}
	})
	if column == 0 {
		return
	}
	h.title(title)
	each(func(term, text string) {
		start := helpIndent + term
		if room := column - utf8.RuneCountInString(start); room >= 2 {
			start += strings.Repeat(" ", room)
		} else {
			h.WriteString(start + "\n")
			start = strings.Repeat(" ", column)
		}
		h.wrap(start, column, text)
	})
}

// wrap writes words behind start, which ends at the column that the other lines begin at.
func (h *helpText) wrap(start string, column int, text string) {
	line := start
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > h.columns:
			h.WriteString(line + "\n")
			line = strings.Repeat(" ", column)
		default:
			line += " "
		}
		line += word
	}
	h.WriteString(line + "\n")
}
