package cli

import (
	_ "embed"
	"fmt"
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
	return newCommand("explain", "[CODE…]", "list the problem codes, or explain one: cause, cure and an example", explainHelp, nil,
		func(c *cli.Context) error {
			names, titles, texts := problemCodes()
			if !c.Args().Present() {
				for _, name := range names {
					fmt.Fprintf(p.Out, "%-22s  %s\n", name, titles[name])
				}
				return nil
			}
			for _, word := range c.Args().Slice() {
				name := strings.ToLower(strings.Trim(word, "[]"))
				switch title, isKnown := titles[name]; {
				case !isKnown:
					return problem.New("unknown-code", "there is no problem code “%s”", problem.Shorten(name)).Hinted("%s", problem.Suggestion(name, names))
				case texts[name] == "":
					fmt.Fprintf(p.Out, "%s: %s. The message and its hint say the rest.\n", name, title)
				default:
					fmt.Fprintf(p.Out, "%s: %s.\n\n%s\n\n", name, title, texts[name])
				}
			}
			return nil
		})
}

//go:embed explain/codes.txt
var codeLines string

//go:embed explain/entries.txt
var codeEntries string

// problemCodes returns the names of all codes, which are the words in brackets at the end of messages, those of one subject together;
// their titles; and the texts of those whose message and hint do not say everything. The file codes.txt has a line for each, and
// entries.txt, below “## NAME”, the text: the cause, “Fix:”, and what is typed under “Bad:” and “Good:”. The lines of mapping.yaml,
// environments.yaml and leads.csv there replace those of the files in the folder base, and the good example goes on in the folder of the
// bad one.
func problemCodes() (names []string, titles, texts map[string]string) {
	titles, texts = map[string]string{}, map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimPrefix(codeEntries, "## "), "\n## ") {
		name, text, _ := strings.Cut(entry, "\n")
		texts[name] = strings.TrimSpace(text)
	}
	for line := range strings.Lines(codeLines) {
		if name, title, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "# ") {
			names, titles[name] = append(names, name), title
		}
	}
	return names, titles, texts
}
