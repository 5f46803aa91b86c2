// Package cli is the command line: it connects the other packages and is the
// only package that does. Each command is in the file of its name, and version, completion and schema in help.go; app.go has
// Main, flags.go the flags that commands share and what they open, exit.go the exit codes.
//
// Nothing below Main ends the process or writes to its standard streams.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/result"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// IO is where a command reads and writes: results go to Out, messages to Err. Env returns an environment variable, "" for none.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	Env func(name string) string
}

// program is one invocation: what its commands share.
type program struct {
	IO
	pace     pace
	stderr   io.Writer         // as given to Main; Out and Err are cleaned
	stdout   io.Writer         // cleaned; Out drops what is printed where JSON is asked for
	said     bool              // the command has printed itself how it ended
	object   any               // what --json prints, without its ending: *result.Summary of a run; nil if the command failed earlier
	counts   result.Counts     // of the rows of a run, or of what another command found: exitCode goes by them
	session  *load.Session     // of a command that works on a ledger
	run      string            // the run's id, or the name of what a command records without a run
	observer *console.Observer // of a run; nil for other commands
	trace    *console.Trace    // nil for none
	typed    []string          // the words that a shell asks to complete
	closers  []func()          // close what the command has opened, the last one first

	// Flags that commands share.
	where             load.Where // with CLAIMSHEET_ENV where -e is not given
	passwordReference string     // as given
	password          string     // to which it refers; opens encrypted workbooks
	traceTo           string     // --trace
	asJSON            bool
}

// pace is how long a run waits before it asks the service again, and from which age it relies on an answer. Tests pass shorter times.
type pace struct {
	LookAgain  []time.Duration  // before each look-up of a client whose creation is uncertain, in the same run
	AskAgain   time.Duration    // before a GET that failed is sent again for the first time; 0 for the engine's
	Believable time.Duration    // age from which a look-up that does not find an uncertain creation is believed; 0 for the engine's
	Clock      func() time.Time // the engine's clock; nil for this machine's
}

// usualPace is the pace of Main.
var usualPace = pace{LookAgain: []time.Duration{0, 5 * time.Second, 30 * time.Second}, AskAgain: 250 * time.Millisecond}

// Process is what main does: it runs the command that the process's arguments ask for, and returns the exit code.
func Process() int {
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		stops = append(stops, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	// The first signal lets what is in flight finish; the second one ends at once.
	context.AfterFunc(ctx, stop)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a run continues when its reader leaves
	SetUpProcess(os.Getenv)
	return Main(ctx, os.Args[1:], IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv})
}

// SetUpProcess sets up the process that runs Main: it has no core file, which could
// hold secrets and personal data, and a garbage collector that lets the heap grow to three
// times what is in use, and less beyond 160 MiB: a dry run then takes a tenth less
// processor time than by Go's default, and a sheet of a million rows needs less than 256 MiB.
// GOGC or GOMEMLIMIT in the environment overrule the collector's settings. Process calls it
// once; Main does not change the process.
func SetUpProcess(env func(name string) string) {
	disableCore()
	if env("GOGC") == "" && env("GOMEMLIMIT") == "" {
		debug.SetGCPercent(200)
		debug.SetMemoryLimit(160 << 20)
	}
}

// Main runs the command that args (without the program's name) ask for and returns the exit code.
func Main(ctx context.Context, args []string, stdio IO) int {
	return start(ctx, args, stdio, usualPace)
}

// start is Main with the waits and the clock of the caller.
func start(ctx context.Context, args []string, stdio IO, pace pace) int {
	p := &program{IO: stdio, pace: pace, stderr: stdio.Err}
	p.Out, p.Err = console.Clean(stdio.Out), console.Clean(stdio.Err)
	if len(args) > 0 && args[len(args)-1] == completionFlag {
		p.complete(ctx, args)
		return exitDone
	}
	// The library reads --json too late: a mistyped flag must end with an object too.
	p.asJSON = !slices.Contains(args, "--help") && !slices.Contains(args, "-h") &&
		(slices.Contains(args, "--json") || slices.Contains(args, "-json"))
	if p.stdout = p.Out; p.asJSON {
		p.Out = io.Discard
	}
	err := p.execute(ctx, args)
	p.trace.Close()
	if err != nil && !p.said {
		console.PrintProblems(p.Err, endProblems(err))
	}
	code := exitCode(ctx, err, p.counts)
	if p.asJSON && !p.said {
		if lost := p.printObject(code, err); lost != nil && err == nil {
			console.PrintProblems(p.Err, endProblems(lost))
			code, err = exitCode(ctx, lost, p.counts), lost
		}
	}
	if p.observer != nil {
		level := slog.LevelError
		switch code {
		case exitDone:
			level = slog.LevelInfo
		case exitRows, exitUncertain: // every row has a result
			level = slog.LevelWarn
		}
		summary, _ := p.object.(*result.Summary)
		p.observer.Ended(code, level, errorText(err), summary)
	}
	return code
}

// execute runs a command. A panic becomes an error, so that the end of the command is reported like any other.
func (p *program) execute(ctx context.Context, args []string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = importer.Caught(v)
		}
	}()
	defer func() {
		for _, closer := range slices.Backward(p.closers) {
			closer()
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
	first := []*cli.Command{p.studioCommand(), p.checkCommand(), p.runCommand(), p.rerunCommand(), p.settleCommand(), p.historyCommand(),
		p.doctorCommand(), p.sandboxCommand()}
	more := []*cli.Command{p.initCommand(), p.templatesCommand(), p.reportCommand(), p.linkCommand(), p.trackCommand(), p.listenCommand(),
		p.workerCommand(), p.copyLedgerCommand(),
		p.schemaCommand(), p.explainCommand(), p.helpCommand(), p.completionCommand(), p.versionCommand()}
	for _, c := range more {
		c.Category = "More commands"
	}
	app := &cli.App{
		Name: "claimsheet", HelpName: "claimsheet",
		Usage:       "pushes lead spreadsheets into a claims intake service",
		Writer:      p.Out,
		ErrWriter:   p.Err,
		UsageText:   "claimsheet COMMAND [options] [arguments]",
		Description: programHelp,
		Commands:    slices.Concat(first, more),
		// The library's own flags are shared by all programs of a process, and it writes to them.
		Flags:    []cli.Flag{helpFlag(), &cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version", DisableDefaultText: true}},
		HideHelp: true, HideVersion: true,
		CustomAppHelpTemplate:     helpTemplate,
		OnUsageError:              usageError,
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		BashComplete:              p.candidates,
		// Main alone decides how the process ends.
		ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			switch {
			case c.Bool("version"):
				fmt.Fprintln(p.Out, "claimsheet version "+thisVersion())
				return nil
			case c.Args().Present():
				return unknownCommand(c)
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, c := range app.Commands {
		if c.OnUsageError, c.BashComplete = usageError, p.candidates; c.Before == nil {
			c.Before = p.prepare
		}
		c.HideHelp, c.CustomHelpTemplate = true, helpTemplate
	}
	return app
}

// newCommand returns a command. Each line of arguments is a way to use it.
func newCommand(name, arguments, usage, help string, flags []cli.Flag, action cli.ActionFunc) *cli.Command {
	var uses []string
	for form := range strings.SplitSeq(arguments, "\n") {
		uses = append(uses, strings.TrimSpace("claimsheet "+name+" "+form))
	}
	return &cli.Command{Name: name, Usage: usage, UsageText: strings.Join(uses, "\n"), Description: help, Action: action,
		Flags: append(flags, helpFlag())}
}

func helpFlag() cli.Flag {
	return &cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show help", DisableDefaultText: true}
}

func unknownCommand(c *cli.Context) error {
	name := c.Args().First()
	var names []string
	for _, command := range c.App.Commands {
		names = append(names, command.Name)
	}
	return problem.New("unknown-command", "there is no command “%s”", name).Hinted("%s", problem.Suggestion(name, names))
}

// usageError explains an unknown flag, or one with a wrong value.
func usageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	flag, unknown := strings.CutPrefix(text, "flag provided but not defined: -")
	if !unknown {
		if of := text[strings.LastIndexByte(text, '"')+1:]; strings.HasSuffix(of, " is given twice") || strings.HasSuffix(of, " is empty") {
			name, why, _ := strings.Cut(strings.TrimPrefix(of, " for flag -"), ":") // without the value, which may be a password
			text = "the flag " + dashed(name) + why
		}
		text = strings.ToLower(text[:1]) + strings.Replace(text[1:], "parse error", "a number is expected", 1)
		return problem.New("usage", "%s", text).Hinted("%s --help lists the flags", c.Command.HelpName)
	}
	flag = strings.TrimPrefix(flag, "-")
	found := problem.New("unknown-flag", "there is no flag %s", dashed(flag))
	if c.Command.Name == c.App.Name {
		return found.Hinted("flags come after the command: claimsheet run -m mapping.yaml -e uat leads.xlsx")
	}
	var names []string
	for _, f := range c.Command.Flags {
		names = append(names, f.Names()...)
	}
	if nearest, ok := problem.Nearest(flag, names); ok {
		return found.Hinted("did you mean --%s?", nearest)
	}
	return found.Hinted("%s --help lists the flags", c.Command.HelpName)
}

// dashed returns a flag as it is typed.
func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// withoutArguments are the commands that take none.
var withoutArguments = []string{"copy-ledger", "doctor", "listen", "sandbox", "templates", "track", "version", "worker"}

// prepare checks the arguments and reads what the flags refer to, before a command begins.
func (p *program) prepare(c *cli.Context) error {
	p.where.Env = cmp.Or(p.where.Env, p.Env("CLAIMSHEET_ENV"))
	if err := checkArguments(c); err != nil {
		return err
	}
	if p.passwordReference != "" {
		secret, err := environment.ReadSecret(c.Context, "--password", p.passwordReference)
		if err != nil {
			return err
		}
		p.password = secret.Reveal()
	}
	if err := refuseExisting(p.traceTo, "--trace"); err != nil {
		return err
	}
	var err error
	p.trace, err = console.OpenTrace(p.traceTo, func(wrong problem.Problem) { console.PrintProblems(p.Err, problem.List{wrong}) })
	return err
}

// checkArguments refuses arguments that a command does not take, and a flag after the first
// one: it would be taken for an argument, and what was meant as a dry run would send.
func checkArguments(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) > 0 && slices.Contains(withoutArguments, c.Command.Name) {
		return problem.New("usage", "%s takes no arguments", c.Command.HelpName).Hinted("%s --help lists the flags", c.Command.HelpName)
	}
	for i, arg := range args {
		if i > 0 && len(arg) > 1 && strings.HasPrefix(arg, "-") { // the first may begin so behind --
			corrected := slices.Concat(strings.Fields(c.Command.HelpName), givenFlags(c), args[i:], args[:i])
			flag, _, _ := strings.Cut(arg, "=")
			late := problem.New("late-flag", "the flag %s is after the argument %s; flags come first", flag, args[0])
			line := reports.CommandLine(corrected)
			if strings.Contains(line, "-password") && !passwordReference.MatchString(line) {
				return late // what is typed behind it may be a password, which is not shown
			}
			return late.Hinted("%s", line)
		}
	}
	return nil
}

// passwordReference matches a password that is a reference, in a command line.
var passwordReference = regexp.MustCompile(`-password[= ]'?(env|file|cmd):`)

// givenFlags returns the flags before the arguments, by the shortest of their names: all, or only some.
func givenFlags(c *cli.Context, only ...string) []string {
	var words []string
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		flag := dashed(slices.MinFunc(f.Names(), func(a, b string) int { return len(a) - len(b) }))
		switch f.(type) {
		case *cli.BoolFlag:
			if c.Bool(name) {
				words = append(words, flag)
			}
		case *cli.StringSliceFlag:
			for _, value := range c.StringSlice(name) {
				words = append(words, flag, value)
			}
		default:
			if c.IsSet(name) {
				words = append(words, flag, fmt.Sprint(c.Value(name)))
			}
		}
	}
	return words
}
