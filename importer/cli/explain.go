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
				if codes[i].Cause == "" {
					fmt.Fprintf(p.Out, "%s: %s. The message and its hint say the rest.\n", codes[i].Name, codes[i].Title)
					continue
				}
				cli.HelpPrinter(p.Out, explanation, codes[i])
			}
			return nil
		})
}

// problemCode is a word in brackets at the end of messages. The file codes.txt has a line for each, and entries.txt the
// explanations of those whose message and hint cannot hold cause and cure:
//
//	## ledger-locked
//	What the cause is.
//	Fix: How to fix it.
//	Bad:
//	-- mapping.yaml --
//	client:
//	  kye: E-mail
//	$ claimsheet check leads.csv
//	Good:
//	…
//
// An example has lines of files, commands, and sentences. The lines of mapping.yaml, environments.yaml and leads.csv
// replace those of the files in the folder base, unless "(whole file)" stands behind the name. Without a command, a dry
// run is meant. The good example goes on in the folder of the bad one.
type problemCode struct{ Name, Title, Cause, Fix, Bad, Good string } // no Cause if message and hint say everything

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
		cause, text, _ := strings.Cut(text, "\nFix: ")
		fix, text, _ := strings.Cut(text, "\nBad:\n")
		bad, good, ok := strings.Cut(text, "\nGood:\n")
		i := indexOfCode(codes, name)
		if !ok || i < 0 {
			return nil, fmt.Errorf("entries.txt: %s lacks a part, or its line in codes.txt: this is a bug of Claimsheet's", name)
		}
		codes[i] = problemCode{name, codes[i].Title, cause, fix, bad, strings.TrimSpace(good)}
	}
	return codes, err
})

func indexOfCode(codes []problemCode, name string) int {
	return slices.IndexFunc(codes, func(c problemCode) bool { return c.Name == name })
}
