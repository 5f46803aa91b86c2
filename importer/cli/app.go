package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/observe"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// userAgent names the program, and the run if there is one, to the service.
func userAgent(run string) string { return "claimsheet/" + thisVersion() + " run/" + run }

// IO is where a command reads and writes: results go to Out, messages for the user
// to Err. Env returns the value of an environment variable, "" for none.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	Env func(name string) string
}

// program is one invocation: what its commands share.
type program struct {
	IO
	pace      pace
	stderr    io.Writer         // as given to Main; Out and Err are cleaned
	stdout    io.Writer         // cleaned; Out drops what is printed where JSON is asked for
	ownObject bool              // the command has printed its object itself
	object    any               // what --json prints, without its ending; nil if the command failed earlier
	summary   *result.Summary   // of the run that the command made, nil for none
	run       string            // the run's id
	observer  *observe.Observer // of a run; nil for other commands
	trace     *observe.Trace    // nil for none
	typed     []string          // the words that a shell asks to complete
}

// Main runs the command that args (without the program's name) ask for and
// returns the exit code.
func Main(ctx context.Context, args []string, stdio IO) int {
	return start(ctx, args, stdio, usualPace)
}

// start is Main with the waits and the clock of the caller.
func start(ctx context.Context, args []string, stdio IO, pace pace) int {
	p := &program{IO: stdio, pace: pace, stderr: stdio.Err}
	p.Out, p.Err = console.Clean(stdio.Out), console.Clean(stdio.Err)
	if asksToComplete(args) {
		p.complete(ctx, args)
		return exitDone
	}
	asJSON := asksForJSON(args)
	if p.stdout = p.Out; asJSON {
		p.Out = io.Discard
	}
	err := p.command(ctx, args)
	p.trace.Close()
	switch {
	case errors.As(err, new(*interrupted)):
		printError(p.Err, err)
	case errors.Is(err, context.Canceled):
		printError(p.Err, errors.New("stopped by a signal; nothing was sent"))
	case err != nil:
		printError(p.Err, err)
	}
	code := exitCode(ctx, err, p.summary)
	if asJSON && !p.ownObject {
		if lost := p.printObject(code, err); lost != nil && err == nil {
			printError(p.Err, lost)
			code = exitCode(ctx, lost, p.summary)
			err = lost
		}
	}
	p.ended(ctx, code, err)
	return code
}

// interrupted says how far a command came before a signal stopped it.
type interrupted struct{ message string }

func (i *interrupted) Error() string { return i.message }

// Unwrap makes errors.Is find context.Canceled.
func (i *interrupted) Unwrap() error { return context.Canceled }

// command runs a command. A panic becomes an error, so that the end of the command
// is reported like any other.
func (p *program) command(ctx context.Context, args []string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = importer.Caught(v)
		}
	}()
	return p.app().RunContext(ctx, append([]string{"claimsheet"}, args...))
}

const programHelp = `It reads a sheet through a mapping file, sends what the sheet asks for and the service does not have yet, and writes a copy of the
sheet with ids and redirect urls beside every row. Repeat a run at any time: nothing is sent twice.
claimsheet COMMAND --help explains a command, and claimsheet explain CODE the code in brackets at the end of a message. Commands without -e
use the environment that the variable CLAIMSHEET_ENV names.

Examples:

    claimsheet run -m mapping.yaml --dry-run leads.xlsx
    claimsheet run -m mapping.yaml -e uat leads.xlsx`

func (p *program) app() *cli.App {
	app := &cli.App{
		Name:            "claimsheet",
		Usage:           "pushes lead spreadsheets into a claims intake service",
		Version:         thisVersion(),
		Writer:          p.Out,
		ErrWriter:       p.Err,
		HideHelpCommand: true,
		UsageText:       "claimsheet COMMAND [options] [arguments]",
		Description:     programHelp,
		Commands: slices.Concat(
			inCategory(firstCommands, p.studioCommand(), p.checkCommand(), p.runCommand(), p.rerunCommand(), p.settleCommand(), p.historyCommand(), p.doctorCommand(), p.sandboxCommand()),
			inCategory(moreCommands, p.initCommand(), p.templatesCommand(), p.reportCommand(), p.linkCommand(), p.trackCommand(), p.listenCommand(), p.workerCommand(), p.copyLedgerCommand(),
				p.schemaCommand(), p.explainCommand(), p.helpCommand(), p.completionCommand(), p.versionCommand()),
		),
		// The library adds this flag only to programs without a command help.
		Flags:                     []cli.Flag{cli.HelpFlag},
		OnUsageError:              usageError,
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		BashComplete:              p.candidates,
		// Main alone decides how the process ends.
		ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c)
			}
			return cli.ShowAppHelp(c)
		},
	}
	p.prepareCommands(app.Commands)
	return app
}

// The headings of the list of commands.
const (
	firstCommands = "Commands"
	moreCommands  = "More commands"
)

// prepareCommands sets what all commands have in common.
func (p *program) prepareCommands(commands []*cli.Command) {
	for _, command := range commands {
		command.OnUsageError = usageError
		command.BashComplete = p.candidates
		command.HideHelpCommand = true
		command.Before = checkArguments
	}
}

// inCategory puts commands under a heading of the list of commands.
func inCategory(category string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = category
	}
	return commands
}

// sharedFlag is a flag that all commands share. The library records in a flag how
// it was set; a sharedFlag makes it do so in a copy, so that several Mains can run
// at the same time.
type sharedFlag struct{ *cli.BoolFlag }

// Apply declares the flag.
func (f sharedFlag) Apply(set *flag.FlagSet) error {
	own := *f.BoolFlag
	return own.Apply(set)
}

func init() {
	for _, shared := range []*cli.Flag{&cli.HelpFlag, &cli.VersionFlag} {
		*shared = sharedFlag{(*shared).(*cli.BoolFlag)}
	}
	cli.HelpPrinter = printHelp
}

func unknownCommand(c *cli.Context) error {
	name := c.Args().First()
	var names []string
	for _, command := range c.App.Commands {
		names = append(names, command.Name)
	}
	unknown := problem.New("unknown-command", "there is no command “%s”", name)
	if meant := meantCommand(name); meant != "" {
		return unknown.Hinted("did you mean claimsheet %s?", meant)
	}
	return unknown.Hinted("%s", problem.Suggestion(name, names))
}

// meantCommand returns the command for a word that other programs use; "" for none.
func meantCommand(word string) string {
	switch strings.ToLower(word) {
	case "import", "load", "push", "send", "start", "upload":
		return "run"
	case "dry-run", "plan", "preview":
		return "run --dry-run"
	case "continue", "resume", "retry":
		return "rerun"
	case "lint", "test", "validate", "verify":
		return "check"
	case "list", "log", "status":
		return "history"
	}
	return ""
}

// badValue matches the library's error about a flag value that is not a number.
var badValue = regexp.MustCompile(`^invalid value "(.*)" for flag -+([a-z-]+): parse error$`)

// usageError explains an unknown flag, or one with a wrong value.
func usageError(c *cli.Context, err error, _ bool) error {
	found := problem.New("usage", "%s", strings.ToLower(err.Error()[:1])+err.Error()[1:])
	if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		found = problem.New("usage", "--%s takes a number, not “%s”", m[2], m[1])
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		name = strings.TrimPrefix(name, "-")
		if len(name) == 1 {
			name = "-" + name
		} else {
			name = "--" + name
		}
		found = problem.New("unknown-flag", "there is no flag %s", name)
		if c.Command == nil || c.Command.Name == c.App.Name {
			return found.Hinted("flags come after the command: claimsheet run -m mapping.yaml -e uat leads.xlsx")
		}
		var names []string
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
		if nearest, ok := problem.Nearest(strings.TrimLeft(name, "-"), names); ok {
			return found.Hinted("did you mean --%s?", nearest)
		}
	}
	return found.Hinted("%s --help lists the flags", c.Command.HelpName)
}

// withoutArguments are the commands that take none.
var withoutArguments = []string{"copy-ledger", "listen", "sandbox", "templates", "track", "version", "worker"}

// checkArguments refuses arguments that a command does not take, and a flag after the first
// one: it would be taken for an argument, and what was meant as a dry run would send.
func checkArguments(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) > 0 && slices.Contains(withoutArguments, c.Command.Name) && !c.Bool("help") {
		return problem.New("usage", "%s takes no arguments", c.Command.HelpName).Hinted("%s --help lists the flags", c.Command.HelpName)
	}
	for i, arg := range args {
		if _, err := os.Lstat(arg); err == nil && strings.HasPrefix(arg, "-") {
			return problem.New("late-flag", "the file %s is named like a flag", arg).Hinted("write ./%s", arg)
		}
		if len(arg) > 1 && strings.HasPrefix(arg, "-") {
			corrected := append(strings.Fields(c.Command.HelpName), givenFlags(c)...)
			corrected = append(corrected, args[i:]...)
			corrected = append(corrected, args[:i]...)
			return problem.New("late-flag", "the flag %s is after the argument %s; flags come first", withoutSecret([]string{arg})[0], args[0]).
				Hinted("%s", reports.CommandLine(withoutSecret(corrected)))
		}
	}
	return nil
}

// givenFlags returns the flags before the arguments, as they were typed.
func givenFlags(c *cli.Context) []string {
	var words []string
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) {
			continue
		}
		dashes := "--"
		if short := f.Names()[len(f.Names())-1]; len(short) == 1 {
			name, dashes = short, "-"
		}
		if _, repeats := f.(*cli.StringSliceFlag); repeats {
			for _, value := range c.StringSlice(name) {
				words = append(words, dashes+name, value)
			}
			continue
		}
		words = append(words, dashes+name)
		if _, isBool := f.(*cli.BoolFlag); !isBool {
			words = append(words, fmt.Sprint(c.Value(name)))
		}
	}
	return words
}

// pace is how long a run waits before it asks the service again, and from which age it
// relies on an answer. Tests pass shorter times.
type pace struct {
	LookAgain  []time.Duration  // before each look-up of a client whose creation is uncertain, in the same run
	AskAgain   time.Duration    // before a GET that failed is sent again for the first time; 0 for the engine's
	Believable time.Duration    // age of an uncertain creation from which a look-up that finds nobody is believed; 0 for the engine's
	Clock      func() time.Time // the engine's clock; nil for this machine's
}

// usualPace is the pace of Main.
var usualPace = pace{LookAgain: []time.Duration{0, 5 * time.Second, 30 * time.Second}, AskAgain: 250 * time.Millisecond}
