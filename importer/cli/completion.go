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

const completionHelp = `It prints a script that lets the shell complete commands, flags and files. Put the line of your shell into its start-up file:

    bash        eval "$(claimsheet completion bash)"
    zsh         source <(claimsheet completion zsh)   # behind compinit
    fish        claimsheet completion fish | source
    powershell  claimsheet completion powershell | Out-String |
                Invoke-Expression

Examples:

    claimsheet completion bash > claimsheet.bash`

// completionScripts has completion/claimsheet.SHELL for each of completionShells. They are not
// the library's, which let a shell compute what is typed.
//
//go:embed completion
var completionScripts embed.FS

var completionShells = []string{"bash", "zsh", "fish", "powershell"}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a shell's completion script: " + problem.OrList(completionShells),
		UsageText:   "claimsheet completion " + strings.Join(completionShells, "|"),
		Description: completionHelp,
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

// completionFlag is behind what is typed up to the cursor when a script asks for candidates. The
// word that is being typed is replaced by a dot unless it is a flag. Each line of the answer is
// a candidate, a tab and what it does; one without a candidate asks the shell for files.
const completionFlag = "--generate-bash-completion"

// asksToComplete reports whether a shell asks what can be typed.
func asksToComplete(args []string) bool { return len(args) > 0 && args[len(args)-1] == completionFlag }

// complete answers a shell. It never does what the words ask for and prints no problem.
func (p *program) complete(ctx context.Context, args []string) {
	p.Err, p.typed = io.Discard, slices.Clone(args[:len(args)-1])
	if last := len(p.typed) - 1; last >= 0 && p.typed[last] == "--" {
		p.typed[last] = "-" // the beginning of a flag, and not what the library takes -- for
	}
	if len(p.typed) > 0 && !slices.Contains(p.typed, "--") { // behind -- the library would carry out the command
		_ = p.command(ctx, append(p.typed, completionFlag))
	}
}

// candidates is the BashComplete of the program and of its commands.
func (p *program) candidates(c *cli.Context) {
	switch last := p.typed[len(p.typed)-1]; {
	case strings.HasPrefix(last, "-"):
		for _, f := range c.Command.Flags {
			if visible, ok := f.(cli.VisibleFlag); !ok || visible.IsVisible() {
				_, text := flagItem(f)
				fmt.Fprintf(c.App.Writer, "--%s\t%s\n", f.Names()[0], text)
			}
		}
	case c.Command.Name == c.App.Name:
		for _, command := range c.App.Commands {
			fmt.Fprintf(c.App.Writer, "%s\t%s\n", command.Name, command.Usage)
		}
	default:
		fmt.Fprint(c.App.Writer, "\tfiles\n")
	}
}
