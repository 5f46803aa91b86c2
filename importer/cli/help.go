package cli

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const helpHelp = `It prints what COMMAND --help prints; without a COMMAND it lists the commands.

Examples:

    claimsheet help run`

func (p *program) helpCommand() *cli.Command {
	return newCommand("help", "[COMMAND]", "explain a command", helpHelp, nil,
		func(c *cli.Context) error {
			if name := c.Args().First(); name != "" && c.App.Command(name) == nil {
				return unknownCommand(c)
			}
			return p.app().RunContext(c.Context, slices.Concat([]string{"claimsheet"}, c.Args().Slice(), []string{"--help"}))
		})
}

// helpTemplate is the help of the program and of its commands.
const helpTemplate = `NAME:
   {{wrap (print .HelpName " - " .Usage) 3}}

USAGE:{{nindent 3 .UsageText}}

DESCRIPTION:
   {{wrap (description .Description) 3}}

EXAMPLES:{{nindent 3 (examples .Description)}}
{{range .VisibleCategories}}
{{heading .Name}}:{{range .VisibleCommands}}
   {{printf "%-13s" .Name}}{{wrap .Usage 16}}{{end}}
{{end}}
OPTIONS:{{range .VisibleFlags}}
   {{printf "%-23s" (term .)}}{{wrap (text .) 26}}{{end}}
`

func init() {
	cli.HelpPrinter = func(w io.Writer, template string, about any) {
		cli.HelpPrinterCustom(w, template, about, map[string]any{
			"wrapAt":  func() int { return 80 },
			"term":    func(f cli.Flag) string { term, _ := flagItem(f); return term },
			"text":    func(f cli.Flag) string { _, text := flagItem(f); return text },
			"heading": func(category string) string { return strings.ToUpper(cmp.Or(category, "Commands")) },
			"description": func(text string) string { // each paragraph as one line; lines that begin with a space stay as they are
				text, _, _ = strings.Cut(text, "\n\nExamples:\n\n")
				parts := strings.Split(text, "\n\n")
				for i, part := range parts {
					if !strings.HasPrefix(part, " ") {
						parts[i] = strings.ReplaceAll(part, "\n", " ")
					}
				}
				return strings.Join(parts, "\n\n")
			},
			"examples": func(text string) string {
				_, text, _ = strings.Cut(text, "\n\nExamples:\n\n")
				return text
			},
		})
	}
}

// flagItem returns how a flag is typed and what it does, from what the library says of it.
func flagItem(f cli.Flag) (term, text string) {
	term, text, _ = strings.Cut(fmt.Sprint(f), "\t")
	term, _, _ = strings.Cut(term, " [") // of a flag that may be repeated
	if long, short, both := strings.Cut(term, ", "); both {
		term = short[:2] + ", " + long
	}
	return term, strings.TrimSuffix(text, " (default: 0)")
}

const versionHelp = `The version is the release's, or for a build between releases the one that Go makes from the time and the name of the commit;
dev when the program was built without a repository.

Examples:

    claimsheet version`

func (p *program) versionCommand() *cli.Command {
	return newCommand("version", "", "print which program this is", versionHelp, nil,
		func(*cli.Context) error {
			_, err := fmt.Fprintf(p.Out, "claimsheet %s\nbuilt with %s for %s/%s\n", thisVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		})
}

// thisVersion is the release, or what Go makes from the commit; dev without a repository.
func thisVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	return cmp.Or(strings.TrimSuffix(info.Main.Version, "(devel)"), "dev")
}

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
	return newCommand("completion", strings.Join(completionShells, "|"),
		"print a shell's completion script: "+problem.OrList(completionShells), completionHelp, nil,
		func(c *cli.Context) error {
			script, err := completionScripts.ReadFile("completion/claimsheet." + c.Args().First())
			if err != nil || c.NArg() != 1 {
				return problem.New("usage", "one of %s is expected", problem.OrList(completionShells)).Hinted("claimsheet completion bash")
			}
			_, err = p.Out.Write(script)
			return err
		})
}

const schemaHelp = `Editors with a YAML language server use it to complete and check the files. Write it to a file and name that file in the first line:

    # yaml-language-server: $schema=mapping.schema.json

Examples:

    claimsheet schema mapping > mapping.schema.json`

func (p *program) schemaCommand() *cli.Command {
	return newCommand("schema", "mapping | environments",
		"print the JSON Schema of mapping files or environments files, for editors", schemaHelp, nil,
		func(c *cli.Context) error {
			schemas := map[string]func() []byte{"mapping": mapping.Schema, "environments": environment.Schema}
			schema, ok := schemas[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return problem.New("usage", "one of mapping and environments is expected").Hinted("claimsheet schema mapping")
			}
			_, err := p.Out.Write(schema())
			return err
		})
}

// completionFlag is behind what is typed up to the cursor when a script asks for candidates. The
// word that is being typed is replaced by a dot unless it is a flag. Each line of the answer is
// a candidate, a tab and what it does; one without a candidate asks the shell for files.
const completionFlag = "--generate-bash-completion"

// complete answers a shell. It never does what the words ask for and prints no problem.
func (p *program) complete(ctx context.Context, args []string) {
	p.Err, p.typed = io.Discard, slices.Clone(args[:len(args)-1])
	if last := len(p.typed) - 1; last >= 0 && p.typed[last] == "--" {
		p.typed[last] = "-" // the beginning of a flag, and not what the library takes -- for
	}
	if len(p.typed) > 0 && !slices.Contains(p.typed, "--") { // behind -- the library would carry out the command
		_ = p.execute(ctx, append(p.typed, completionFlag))
	}
}

// candidates is the BashComplete of the program and of its commands.
func (p *program) candidates(c *cli.Context) {
	switch last := p.typed[len(p.typed)-1]; {
	case strings.HasPrefix(last, "-"):
		for _, f := range c.Command.Flags {
			_, text := flagItem(f)
			fmt.Fprintf(c.App.Writer, "--%s\t%s\n", f.Names()[0], text)
		}
	case c.Command.Name == c.App.Name:
		for _, command := range c.App.Commands {
			fmt.Fprintf(c.App.Writer, "%s\t%s\n", command.Name, command.Usage)
		}
	default:
		fmt.Fprint(c.App.Writer, "\tfiles\n")
	}
}
