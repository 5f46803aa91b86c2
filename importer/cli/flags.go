package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// The flags that commands share. Each sets the variable that it is made for.

func textFlag(to *string, name, short, usage string) *cli.GenericFlag {
	f := &cli.GenericFlag{Name: name, Usage: usage, Value: (*oneText)(to)}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

// oneText is the text of a flag. An empty one, as of a variable of the shell that is not set, and a second one
// are refused: the command would do another thing than it says.
type oneText string

// Set is called again by the library with the same text, for the flag's other name.
func (t *oneText) Set(text string) error {
	switch {
	case text == "":
		return errors.New("is empty")
	case *t != "" && string(*t) != text:
		return errors.New("is given twice")
	}
	*t = oneText(text)
	return nil
}

func (t *oneText) String() string { return string(*t) }

// Get returns the text.
func (t *oneText) Get() any { return string(*t) }

func numberFlag(to *int, name, usage, usual string) *cli.IntFlag {
	return &cli.IntFlag{Name: name, Usage: usage, DefaultText: usual, Destination: to, Action: aboveZero[int](name)}
}

// aboveZero refuses a flag with the number 0 or less.
func aboveZero[N int | float64](name string) func(*cli.Context, N) error {
	return func(_ *cli.Context, n N) error {
		if n > 0 {
			return nil
		}
		return problem.New("usage", "--%s must be more than 0", name).Hinted("leave it out to have the default")
	}
}

// switchFlag makes a flag that sets to, or nothing if that is nil.
func switchFlag(to *bool, name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, DisableDefaultText: true, Destination: to}
}

func (p *program) templatesFlag() cli.Flag {
	return textFlag(&p.where.Templates, "templates", "", "a `FILE` with the sandbox's templates")
}

// usualMapping is the mapping of a command that is given none, when the working directory has that file.
const usualMapping = "mapping.yaml"

// withUsualMapping returns where with the usual mapping, unless there is another or no such file.
func withUsualMapping(where load.Where) load.Where {
	if _, err := os.Lstat(usualMapping); where.Mapping == "" && err == nil {
		where.Mapping = usualMapping
	}
	return where
}

func (p *program) ledgerFlag() cli.Flag {
	return textFlag(&p.where.Ledger, "ledger", "", "the ledger's database: a `URL` or env:NAME")
}

// environmentFlags say where things are, but for the mapping. usual is the default of -e.
func (p *program) environmentFlags(usual string) []cli.Flag {
	return []cli.Flag{
		textFlag(&p.where.Env, "env", "e", "the `ENVIRONMENT` (default: "+usual+")"),
		textFlag(&p.where.Environments, "environments", "", "the environments `FILE` (default: beside the mapping)"),
		textFlag(&p.where.State, "state", "", "the state `FOLDER` (default: .claimsheet beside it)"),
	}
}

// placeFlags are environmentFlags with -m before them, and more behind.
func (p *program) placeFlags(mapping string, more ...cli.Flag) []cli.Flag {
	return slices.Concat([]cli.Flag{textFlag(&p.where.Mapping, "mapping", "m", mapping)}, p.environmentFlags("the file's default"), more)
}

// ledgerFlags are the flags of commands that work on the ledger without a sheet. The mapping is only a place to look beside.
func (p *program) ledgerFlags(more ...cli.Flag) []cli.Flag {
	return p.placeFlags("the mapping `FILE`: the environments file and the state folder are beside it (default: mapping.yaml in this folder, or this folder)",
		append([]cli.Flag{p.ledgerFlag()}, more...)...)
}

// commandWords returns a command for the same place: its name, the flags of where, and the other words.
func commandWords(where load.Where, words ...string) []string {
	line := []string{"claimsheet", words[0]}
	for _, flag := range [][2]string{{"-m", where.Mapping}, {"-e", where.Env}, {"--environments", where.Environments},
		{"--state", where.State}, {"--ledger", where.Ledger}} {
		if flag[1] != "" {
			line = append(line, flag[0], flag[1])
		}
	}
	return append(line, words[1:]...)
}

// commandFor is a command for the program's own place, as a line to copy.
func (p *program) commandFor(words ...string) string {
	return reports.CommandLine(commandWords(p.where, words...))
}

func (p *program) passwordFlag() cli.Flag {
	return textFlag(&p.passwordReference, "password", "", "of an encrypted workbook: a `REFERENCE` such as env:NAME")
}

// traceFlag is the flag of every command that speaks with the service.
func (p *program) traceFlag() cli.Flag {
	return textFlag(&p.traceTo, "trace", "", "write every request, redacted, to a new `FILE`")
}

// refuseExisting refuses to overwrite a file.
func refuseExisting(path, flag string) error {
	if _, err := os.Lstat(path); path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return problem.At(problem.Where{File: path}, "output-exists", "exists, and is never overwritten").Hinted("choose another name with %s", flag)
}

// connection says how a command reaches the service; run is the id that the service and the trace get, and may be empty.
func (p *program) connection(run string) load.Connection {
	return load.Connection{UserAgent: "claimsheet/" + thisVersion() + " run/" + run, AskAgain: p.pace.AskAgain, Wrap: hooks.wrap, Trace: p.trace.Of(run)}
}

// asking is connection for a command that only asks.
func (p *program) asking() load.Connection {
	c := p.connection("")
	c.ReadOnly = true
	return c
}

// openEnvironment chooses the environment of a command that works on the ledger, which must have a state folder.
func (p *program) openEnvironment() (err error) {
	p.where, p.run = withUsualMapping(p.where), uuid.NewString()
	if p.session, err = load.OpenEnvironment(p.where); err != nil {
		return err
	}
	return p.session.Locate(context.Background())
}

// openLedger opens the ledger of the environment with openForReading, openAndReplay or openSharedAndReplay until the
// end of the command. If the environment has no ledger yet, it opens an empty one in memory, which cannot be
// written, so that no state folder is made.
func (p *program) openLedger(open func() error) error {
	if err := p.openEnvironment(); err != nil {
		return err
	}
	p.closers = append(p.closers, p.session.Close, p.session.CloseLedger)
	there, err := p.session.HasLedger()
	switch {
	case err != nil:
	case there:
		err = open()
	default:
		p.session.Ledger, err = ledger.Empty()
	}
	return err
}

// noRun refuses a command that needs an earlier run.
func (p *program) noRun() error {
	return problem.New("no-run", "nothing was ever run in the environment “%s”", p.session.Env.Name).
		Hinted("-e names another environment, --state another state folder; this one is %s", p.session.State)
}

func (p *program) openForReading() error { return p.session.OpenForReading() }

// openAndReplay locks the ledger, so that nothing changes meanwhile, and records the outcomes in its journal.
func (p *program) openAndReplay() error {
	if err := p.session.OpenForWriting(false, 0); err != nil {
		return err
	}
	return p.replayJournal()
}

// openSharedAndReplay is openAndReplay, but runs and workers may write to a ledger in a database meanwhile.
func (p *program) openSharedAndReplay() error {
	if err := p.session.OpenForWriting(true, hooks.silence); err != nil {
		return err
	}
	return p.replayJournal()
}

// replayJournal records the outcomes in the journal of an earlier run, and says so. The ledger is locked, and not written to yet.
func (p *program) replayJournal() error {
	n, conflicts, err := journal.Replay(p.session.Ledger, p.session.Place.Journal())
	console.PrintProblems(p.Err, conflicts)
	if n > 0 {
		fmt.Fprintf(p.Err, "claimsheet: outcomes recorded that an earlier run had to keep in its journal: %d\n", n)
	}
	return err
}

// openJournal prepares for a ledger that cannot be written any more.
func (p *program) openJournal() (*journal.File, error) {
	return journal.Open(p.session.Place.Journal(), func(kind, id string) {
		fmt.Fprintf(p.Err, "claimsheet: neither the ledger nor its journal can be written: %s created, id %q; noted nowhere else: write it down\n",
			kind, id)
	})
}

// runs returns the runs in the environment, the newest first.
func (p *program) runs(ctx context.Context) ([]ledger.Run, error) {
	scopes, _, err := p.session.AllScopes(ctx)
	if err != nil {
		return nil, err
	}
	return p.session.Ledger.Runs(ctx, scopes)
}
