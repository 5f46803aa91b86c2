package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/explain"
	"claimsheet/importer/cli/manual"
	"claimsheet/mapping/problem"
)

const explainHelp = `A CODE is the word in brackets at the end of a message, such as [unknown-key]; it can be given with its brackets. Without
a CODE it lists all codes by their subject.

Examples:

    claimsheet explain
    claimsheet explain unknown-key not-date`

func (p *program) explainCommand() *cli.Command {
	return &cli.Command{
		Name:         "explain",
		Usage:        "explain problem codes: what they mean and how to mend them, with examples",
		UsageText:    "claimsheet explain [CODE…]",
		Description:  explainHelp,
		BashComplete: func(c *cli.Context) { offerEach(c, "", explain.Codes()) },
		Flags:        []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				p.object = explainJSON{everyEntry()}
				_, err := io.WriteString(p.Out, listOfCodes().Text(console.Columns(p.Out)))
				return err
			}
			var entries []explain.Entry
			for _, word := range c.Args().Slice() {
				code := strings.ToLower(strings.Trim(word, "[]"))
				e, ok := explain.Lookup(code)
				if !ok {
					return problem.New("unknown-code", "there is no problem code “%s”", problem.Shorten(code)).
						Hinted("%s", nearCode(code))
				}
				entries = append(entries, e)
			}
			p.object = explainJSON{entriesJSON(entries)}
			for i, e := range entries {
				if i > 0 {
					fmt.Fprintln(p.Out)
				}
				if _, err := io.WriteString(p.Out, e.Page().Text(console.Columns(p.Out))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// nearCode returns the hint for a word that is no code.
func nearCode(word string) string {
	if near, ok := problem.Nearest(word, explain.Codes()); ok {
		return "did you mean “" + near + "”?"
	}
	return "claimsheet explain lists the codes"
}

// listOfCodes is the page with the titles of all codes by their subject.
func listOfCodes() manual.Page {
	page := manual.Page{Name: "claimsheet explain", Summary: "the problem codes; claimsheet explain CODE explains one"}
	for _, s := range explain.Subjects() {
		section := manual.Section{Title: s.Title}
		for _, e := range s.Entries {
			section.Items = append(section.Items, manual.Item{Term: e.Code, Text: e.Title})
		}
		page.Sections = append(page.Sections, section)
	}
	return page
}

// explainJSON is what explain prints as JSON.
type explainJSON struct {
	Entries []entryJSON `json:"entries" doc:"the codes that were asked for, or all"`
}

type entryJSON struct {
	Code    string `json:"code" doc:"the word in brackets behind a message"`
	Title   string `json:"title" doc:"what it is, one line"`
	Subject string `json:"subject" doc:"what it is about, such as Cells"`
	Meaning string `json:"meaning" doc:"what it means, and its cause"`
	Mend    string `json:"mend" doc:"how to mend it"`
	Bad     string `json:"bad" doc:"an example in which it comes up: lines of files, each after -- NAME --, words, and commands after $"`
	Good    string `json:"good" doc:"the example mended"`
}

func entriesJSON(entries []explain.Entry) []entryJSON {
	var list []entryJSON
	for _, e := range entries {
		list = append(list, entryJSON{e.Code, e.Title, e.Subject, e.Meaning, e.Mend, e.Bad.String(), e.Good.String()})
	}
	return list
}

func everyEntry() []entryJSON {
	var list []entryJSON
	for _, s := range explain.Subjects() {
		list = append(list, entriesJSON(s.Entries)...)
	}
	return list
}
