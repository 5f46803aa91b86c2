package cli

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

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
			codes := problemCodes()
			if !c.Args().Present() {
				for _, code := range codes {
					fmt.Fprintf(p.Out, "%-22s  %s\n", code.Name, code.Title)
				}
				return nil
			}
			var names []string
			for _, code := range codes {
				names = append(names, code.Name)
			}
			for _, word := range c.Args().Slice() {
				name := strings.ToLower(strings.Trim(word, "[]"))
				i := slices.Index(names, name)
				switch {
				case i < 0:
					return problem.New("unknown-code", "there is no problem code “%s”", problem.Shorten(name)).Hinted("%s", problem.Suggestion(name, names))
				case codes[i].Text == "":
					fmt.Fprintf(p.Out, "%s: %s. The message and its hint say the rest.\n", name, codes[i].Title)
				default:
					fmt.Fprintf(p.Out, "%s: %s.\n\n%s\n\n", name, codes[i].Title, codes[i].Text)
				}
			}
			return nil
		})
}

// problemCode is a word in brackets at the end of messages. The file codes.txt has a line for each, and entries.txt, below
// “## NAME”, the text of those whose message and hint cannot hold it: the cause, “Fix:”, and what is typed under “Bad:” and
// “Good:”. The lines of mapping.yaml, environments.yaml and leads.csv there replace those of the files in the folder base,
// and the good example goes on in the folder of the bad one.
type problemCode struct{ Name, Title, Text string } // no Text if message and hint say everything

//go:embed explain/codes.txt
var codeLines string

//go:embed explain/entries.txt
var codeEntries string

// problemCodes returns all codes, those of one subject together.
func problemCodes() (codes []problemCode) {
	texts := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimPrefix(codeEntries, "## "), "\n## ") {
		name, text, _ := strings.Cut(entry, "\n")
		texts[name] = strings.TrimSpace(text)
	}
	for line := range strings.Lines(codeLines) {
		if name, title, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "# ") {
			codes = append(codes, problemCode{name, title, texts[name]})
		}
	}
	return codes
}
