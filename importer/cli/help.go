package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/manual"
	"claimsheet/mapping/problem"
)

const helpHelp = `Without a word it lists the commands. A COMMAND shows what its --help shows, and a TOPIC what several commands have in
common: environment (variables and secrets), exit-codes, and statuses (of rows and steps).

Examples:

    claimsheet help run
    claimsheet help exit-codes`

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "explain a command or a topic: environment, exit-codes, statuses",
		ArgsUsage:   "[COMMAND | TOPIC]",
		Description: helpHelp,
		BashComplete: func(c *cli.Context) {
			if c.NArg() > 1 {
				return
			}
			offerCommands(c, c.App.Commands)
			for _, topic := range topics() {
				offerWord(c, topic.name, topic.summary)
			}
		},
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) == 1 {
				for _, topic := range topics() {
					if topic.name == words[0] {
						_, err := io.WriteString(p.Out, topic.page().Text(console.Columns(p.Out)))
						return err
					}
				}
			}
			if err := knownCommand(c.App, words); err != nil {
				return err
			}
			return p.app().RunContext(c.Context, slices.Concat([]string{"claimsheet"}, words, []string{"--help"}))
		},
	}
}

// knownCommand refuses words that name neither a command nor, where there is one word,
// a topic.
func knownCommand(app *cli.App, words []string) error {
	commands := app.Commands
	for i, word := range words {
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == word })
		if at >= 0 {
			commands = commands[at].Subcommands
			continue
		}
		var names []string
		for _, c := range commands {
			names = append(names, c.Name)
		}
		if i == 0 {
			for _, topic := range topics() {
				names = append(names, topic.name)
			}
		}
		return problem.New("unknown-command", "there is no command or topic “%s”", problem.OneLine(strings.Join(words, " "))).
			Hinted("%s", problem.Suggestion(word, names))
	}
	return nil
}

// printHelp is the library's hook for everything that --help prints.
func printHelp(w io.Writer, _ string, about any) {
	var page manual.Page
	switch about := about.(type) {
	case *cli.App:
		page = programPage(about)
	case *cli.Command:
		page = commandPage(about, about.HelpName)
	}
	_, _ = io.WriteString(w, page.Text(console.Columns(w))) // the hook cannot fail, as with the library's own printer
}

// programPage is the page of the program itself.
func programPage(app *cli.App) manual.Page {
	sections := append(descriptionOf(app.Description), commandSections(app.Commands)...)
	return manual.Page{Name: app.Name, Summary: app.Usage, Usage: strings.Split(app.UsageText, "\n"),
		Sections: append(sections, optionSections(app.Flags)...)}
}

// commandPage is the page of a command; path is how it is typed.
func commandPage(c *cli.Command, path string) manual.Page {
	page := manual.Page{Name: path, Summary: c.Usage, Usage: []string{strings.TrimSpace(path + " [options] " + c.ArgsUsage)}}
	if c.UsageText != "" {
		page.Usage = strings.Split(c.UsageText, "\n")
	}
	page.Sections = append(descriptionOf(c.Description), commandSections(c.Subcommands)...)
	page.Sections = append(page.Sections, optionSections(c.Flags)...)
	return page
}

// descriptionOf returns the sections of a description, which may end with examples.
func descriptionOf(text string) []manual.Section {
	text, examples, found := strings.Cut(text, "Examples:\n\n")
	var sections []manual.Section
	if text != "" {
		sections = append(sections, manual.Section{Title: "Description", Text: text})
	}
	if found {
		sections = append(sections, manual.Section{Title: "Examples", Text: examples})
	}
	return sections
}

// commandSections lists commands by their category, in the order of the first ones.
func commandSections(commands []*cli.Command) []manual.Section {
	var sections []manual.Section
	for _, c := range commands {
		if !c.Hidden {
			sections = addTo(sections, "Commands", c.Category, manual.Item{Term: c.Name, Text: c.Usage})
		}
	}
	return sections
}

// optionSections lists flags by their category, in the order of the first ones.
func optionSections(flags []cli.Flag) []manual.Section {
	var sections []manual.Section
	for _, f := range flags {
		if item, ok := flagItem(f); ok {
			sections = addTo(sections, "Options", f.(cli.CategorizableFlag).GetCategory(), item)
		}
	}
	return sections
}

// addTo adds an item to the section of its category, or to that with the title for
// none.
func addTo(sections []manual.Section, title, category string, item manual.Item) []manual.Section {
	title = cmp.Or(category, title)
	at := slices.IndexFunc(sections, func(s manual.Section) bool { return s.Title == title })
	if at < 0 {
		sections, at = append(sections, manual.Section{Title: title}), len(sections)
	}
	sections[at].Items = append(sections[at].Items, item)
	return sections
}

// flagItem returns how a flag is typed and what it does; ok is false for a hidden one.
func flagItem(f cli.Flag) (item manual.Item, ok bool) {
	if shared, isShared := f.(sharedFlag); isShared {
		f = shared.BoolFlag
	}
	doc, isDoc := f.(cli.DocGenerationFlag)
	if visible, ok := f.(cli.VisibleFlag); !isDoc || ok && !visible.IsVisible() {
		return item, false
	}
	var names []string
	for _, name := range f.Names() {
		if len(name) == 1 {
			names = slices.Insert(names, 0, "-"+name)
			continue
		}
		names = append(names, "--"+name)
	}
	item.Term, item.Text = strings.Join(names, ", "), doc.GetUsage()
	if !doc.TakesValue() {
		return item, true
	}
	placeholder := "VALUE"
	if before, rest, found := strings.Cut(item.Text, "`"); found {
		word, after, _ := strings.Cut(rest, "`")
		placeholder, item.Text = word, before+word+after
	}
	item.Term += " " + placeholder
	if usual := strings.Trim(doc.GetDefaultText(), `"`); usual != "" {
		item.Text += "; default: " + usual
	}
	return item, true
}
