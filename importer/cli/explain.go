package cli

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

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
			codes, err := problemCodes()
			if err != nil {
				return err
			}
			if !c.Args().Present() {
				for _, code := range codes {
					fmt.Fprintf(p.Out, "%-22s  %s\n", code.Name, code.Title)
				}
				return nil
			}
			for _, word := range c.Args().Slice() {
				name := strings.ToLower(strings.Trim(word, "[]"))
				i := indexOfCode(codes, name)
				if i < 0 {
					var names []string
					for _, code := range codes {
						names = append(names, code.Name)
					}
					hint := "claimsheet explain lists the codes"
					if near, ok := problem.Nearest(name, names); ok {
						hint = "did you mean “" + near + "”?"
					}
					return problem.New("unknown-code", "there is no problem code “%s”", problem.Shorten(name)).Hinted("%s", hint)
				}
				if codes[i].Text == "" {
					fmt.Fprintf(p.Out, "%s: %s. The message and its hint say the rest.\n", codes[i].Name, codes[i].Title)
					continue
				}
				fmt.Fprintf(p.Out, "%s: %s.\n\n%s\n\n", codes[i].Name, codes[i].Title, codes[i].Text)
			}
			return nil
		})
}

// problemCode is a word in brackets at the end of messages. The file codes.txt has a line for each, and entries.txt, below
// “## NAME”, the text of those whose message and hint cannot hold it: the cause, “Fix:”, and what is typed under “Bad:” and
// “Good:”. The lines of mapping.yaml, environments.yaml and leads.csv there replace those of the files in the folder base,
// and the good example goes on in the folder of the bad one.
type problemCode struct{ Name, Title, Text string } // no Text if message and hint say everything

//go:embed explain/codes.txt explain/entries.txt
var explainFiles embed.FS

// problemCodes returns all codes, those of one subject together.
var problemCodes = sync.OnceValues(func() (codes []problemCode, err error) {
	list, err := explainFiles.ReadFile("explain/codes.txt")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		if name, title, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "# ") {
			codes = append(codes, problemCode{Name: name, Title: title})
		}
	}
	entries, err := explainFiles.ReadFile("explain/entries.txt")
	for entry := range strings.SplitSeq(strings.TrimPrefix(string(entries), "## "), "\n## ") {
		name, text, _ := strings.Cut(entry, "\n")
		i := indexOfCode(codes, name)
		if i < 0 {
			return nil, fmt.Errorf("entries.txt: codes.txt has no line for %s: this is a bug of Claimsheet's", name)
		}
		codes[i].Text = strings.TrimSpace(text)
	}
	return codes, err
})

func indexOfCode(codes []problemCode, name string) int {
	return slices.IndexFunc(codes, func(c problemCode) bool { return c.Name == name })
}
