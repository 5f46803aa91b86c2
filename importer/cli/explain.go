package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/explain"
	"claimsheet/mapping/problem"
)

const explainHelp = `A CODE is the word in brackets at the end of a message, such as [new-ledger]; it can be given with its brackets. Without
a CODE it lists all codes. Where the message and its hint say everything, it prints the line of the list.

Examples:

    claimsheet explain
    claimsheet explain new-ledger`

const explanation = `NAME:
   {{wrap (print .Name " - " .Title) 3}}

CAUSE:
   {{wrap (description .Cause) 3}}

HOW TO FIX IT:
   {{wrap (description .Fix) 3}}

BAD:{{nindent 4 .Bad}}

GOOD:{{nindent 4 .Good}}

`

func (p *program) explainCommand() *cli.Command {
	return command("explain", "[CODE…]", "list the problem codes, or explain one: cause, cure and an example", explainHelp, nil,
		func(c *cli.Context) error {
			if !c.Args().Present() {
				for _, code := range explain.Codes() {
					fmt.Fprintf(p.Out, "%-22s  %s\n", code.Name, code.Title)
				}
				return nil
			}
			for _, word := range c.Args().Slice() {
				name := strings.ToLower(strings.Trim(word, "[]"))
				code, ok := explain.Lookup(name)
				if !ok {
					hint := "claimsheet explain lists the codes"
					if near, ok := problem.Nearest(name, explain.Names()); ok {
						hint = "did you mean “" + near + "”?"
					}
					return problem.New("unknown-code", "there is no problem code “%s”", problem.Shorten(name)).Hinted("%s", hint)
				}
				if code.Cause == "" {
					fmt.Fprintf(p.Out, "%s: %s. The message and its hint say the rest.\n", code.Name, code.Title)
					continue
				}
				cli.HelpPrinter(p.Out, explanation, code)
			}
			return nil
		})
}
