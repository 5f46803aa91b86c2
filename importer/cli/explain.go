package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/explain"
	"claimsheet/mapping/problem"
)

const explainHelp = `A CODE is the word in brackets at the end of a message, such as [new-ledger]; it can be given with its brackets. Without
a CODE it lists all codes. Where the message and its hint say everything, it prints the line of the list.

Examples:

    claimsheet explain
    claimsheet explain new-ledger`

func (p *program) explainCommand() *cli.Command {
	return &cli.Command{
		Name:        "explain",
		Usage:       "list the problem codes, or explain one: cause, cure and an example",
		UsageText:   "claimsheet explain [CODE…]",
		Description: explainHelp,
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				for _, code := range explain.Codes() {
					fmt.Fprintf(p.Out, "%-22s  %s\n", code.Name, code.Title)
				}
				return nil
			}
			for i, word := range c.Args().Slice() {
				name := strings.ToLower(strings.Trim(word, "[]"))
				code, ok := explain.Lookup(name)
				if !ok {
					return problem.New("unknown-code", "there is no problem code “%s”", problem.Shorten(name)).Hinted("%s", nearCode(name))
				}
				if i > 0 {
					fmt.Fprintln(p.Out)
				}
				if code.Cause == "" {
					fmt.Fprintf(p.Out, "%s: %s. The message and its hint say the rest.\n", code.Name, code.Title)
				} else if _, err := io.WriteString(p.Out, explanation(code, console.Columns(p.Out))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// nearCode returns the hint for a word that is no code.
func nearCode(word string) string {
	if near, ok := problem.Nearest(word, explain.Names()); ok {
		return "did you mean “" + near + "”?"
	}
	return "claimsheet explain lists the codes"
}

func explanation(c explain.Code, columns int) string {
	asIs := func(text string) string { return " " + strings.ReplaceAll(text, "\n", "\n ") }
	h := &helpText{columns: columns}
	h.section("Name", c.Name+" - "+c.Title)
	h.section("Cause", c.Cause)
	h.section("How to fix it", c.Fix)
	h.section("Bad", asIs(c.Bad))
	h.section("Good", asIs(c.Good))
	return h.String()
}
