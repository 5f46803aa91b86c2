package cli

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/mapping/problem"
)

const completionHelp = `It prints a script that lets the shell complete commands, flags, their values, the names of environments, and files.
Put the line of your shell into its start-up file:

    bash        eval "$(claimsheet completion bash)"
    zsh         source <(claimsheet completion zsh)   # behind compinit
    fish        claimsheet completion fish | source
    powershell  claimsheet completion powershell | Out-String |
                Invoke-Expression

The packages for Linux install the scripts, so that nothing is left to do.

Examples:

    claimsheet completion bash > claimsheet.bash`

// completionScripts has completion/claimsheet.SHELL for each of completionShells.
//
//go:embed completion
var completionScripts embed.FS

var completionShells = []string{"bash", "zsh", "fish", "powershell"}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:         "completion",
		Usage:        "print a shell's completion script: " + problem.OrList(completionShells),
		UsageText:    "claimsheet completion " + strings.Join(completionShells, "|"),
		Description:  completionHelp,
		BashComplete: offer(completionShells...),
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if !slices.Contains(completionShells, shell) || c.NArg() != 1 {
				return problem.New("usage", "one of %s is expected", problem.OrList(completionShells)).Hinted("claimsheet completion bash")
			}
			script, err := completionScripts.ReadFile("completion/claimsheet." + shell)
			if err != nil {
				return err
			}
			_, err = p.Out.Write(script)
			return err
		},
	}
}

// The scripts ask for candidates in the library's way: they run what is typed up to the
// cursor with completionFlag behind it, and the library calls BashComplete of the command
// that it leads to. The last word is the one that is being typed. One that is no flag is
// replaced by a dot, because the library would take the name of a command for the command.
//
// Each line of the answer is a candidate, a tab and what it does. A line without a
// candidate asks the shell for files.
const (
	completionFlag = "--generate-bash-completion"
	noFlag         = "."
	filesLine      = "\tfiles\n"
)

// asksToComplete reports whether a shell asks what can be typed.
func asksToComplete(args []string) bool { return len(args) > 0 && args[len(args)-1] == completionFlag }

// complete answers a shell. It never does what the words ask for and prints no problem:
// whoever presses a key in the middle of a command wants neither.
func (p *program) complete(ctx context.Context, args []string) {
	p.Err, p.typed = io.Discard, slices.Clone(args[:len(args)-1])
	if last := len(p.typed) - 1; last >= 0 && p.typed[last] == "--" {
		p.typed[last] = "-" // the beginning of a flag, and not what the library takes -- for
	}
	if len(p.typed) > 0 && !slices.Contains(p.typed, "--") { // behind -- the library would carry out the command
		_ = p.command(ctx, append(p.typed, completionFlag))
	}
}

// completes returns the BashComplete of a command. Its own one is for its arguments.
func (p *program) completes(arguments cli.BashCompleteFunc) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		last := len(p.typed) - 1
		typed, before := p.typed[last], ""
		if last > 0 {
			before = p.typed[last-1]
		}
		flag, value, hasValue := strings.Cut(typed, "=")
		switch asked := flagNamed(c.Command, before); {
		case asked != nil:
			p.offerValues(c, "", asked)
		case !strings.HasPrefix(typed, "-"):
			if c.NArg() <= 1 { // the one that is being typed
				offerCommands(c, c.Command.Subcommands)
			}
			if arguments != nil {
				arguments(c)
			}
		case c.Args().Present() && c.Args().First() != typed: // flags come before arguments
		case hasValue:
			if asked := flagNamed(c.Command, flag); asked != nil {
				p.offerValues(c, strings.TrimSuffix(typed, value), asked)
			}
		default:
			offerFlags(c, typed)
		}
	}
}

// flagNamed returns the flag of a command that a word names, if a value follows it; else
// nil.
func flagNamed(command *cli.Command, word string) cli.Flag {
	for _, f := range command.Flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && doc.TakesValue() && strings.HasPrefix(word, "-") && slices.Contains(f.Names(), strings.TrimLeft(word, "-")) {
			return f
		}
	}
	return nil
}

// offerValues offers the values of a flag, each behind a prefix.
func (p *program) offerValues(c *cli.Context, prefix string, f cli.Flag) {
	if choice, ok := f.(choiceFlag); ok {
		offerEach(c, prefix, choice.values)
		return
	}
	item, _ := flagItem(f)
	switch item.Term[strings.LastIndexByte(item.Term, ' ')+1:] {
	case "ENVIRONMENT":
		offerEach(c, prefix, p.where(c).EnvironmentNames())
	case "CODE":
		offerEach(c, prefix, guardCodes)
	case "FILE", "FOLDER", "LEDGER":
		offerFiles(c)
	}
}

// offerFlags offers the flags of a command that are not given yet.
func offerFlags(c *cli.Context, typed string) {
	for _, f := range c.Command.Flags {
		item, ok := flagItem(f)
		_, repeats := f.(*cli.StringSliceFlag)
		if name := "--" + f.Names()[0]; ok && (name == typed || repeats || !c.IsSet(f.Names()[0])) {
			offerWord(c, name, item.Text)
		}
	}
}

// offerCommands offers commands that can be typed.
func offerCommands(c *cli.Context, commands []*cli.Command) {
	for _, command := range commands {
		if !command.Hidden {
			offerWord(c, command.Name, command.Usage)
		}
	}
}

// offer is the BashComplete of a command whose argument is one of the words.
func offer(words ...string) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		if c.NArg() <= 1 {
			offerEach(c, "", words)
		}
	}
}

// offerFiles is the BashComplete of a command whose arguments are files.
func offerFiles(c *cli.Context) { _, _ = io.WriteString(c.App.Writer, filesLine) }

// offerEach offers words, each behind a prefix.
func offerEach(c *cli.Context, prefix string, words []string) {
	for _, word := range words {
		offerWord(c, prefix+word, "")
	}
}

// offerWord offers a word, unless the shell, which reads lines, could not read it.
func offerWord(c *cli.Context, word, does string) {
	if word == problem.OneLine(word) {
		fmt.Fprintf(c.App.Writer, "%s\t%s\n", word, does)
	}
}

// choiceFlag is a flag that takes one of a few words.
type choiceFlag struct {
	*cli.StringFlag
	values []string
}

func oneOf(f *cli.StringFlag, values ...string) cli.Flag { return choiceFlag{f, values} }
