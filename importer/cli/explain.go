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
				indent := strings.NewReplacer("\n", "\n ")
				for _, part := range [][2]string{{"NAME", code.Name + " - " + code.Title}, {"CAUSE", code.Cause}, {"HOW TO FIX IT", code.Fix},
					{"BAD", " " + indent.Replace(code.Bad)}, {"GOOD", " " + indent.Replace(code.Good)}} {
					fmt.Fprintf(p.Out, "%s:\n%s\n", part[0], helpParagraphs(part[1]))
				}
			}
			return nil
		})
}
