package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// The flags that commands share. Each call makes a new flag, because the library keeps the given value in it.

func textFlag(name, short, usage string) *cli.GenericFlag {
	f := &cli.GenericFlag{Name: name, Usage: usage, Value: new(oneText)}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

// oneText is the text of a flag. An empty one, as of a variable of the shell that is not set, and a second one
// are refused: the command would do another thing than it says.
type oneText struct{ text string }

// Set is called again by the library with the same text, for the flag's other name.
func (t *oneText) Set(text string) error {
	switch {
	case text == "":
		return errors.New("is empty")
	case t.text != "" && t.text != text:
		return errors.New("is given twice")
	}
	t.text = text
	return nil
}

func (t *oneText) String() string { return t.text }

// Get returns the text.
func (t *oneText) Get() any { return t.text }

func numberFlag(name, usage, usual string) *cli.IntFlag {
	return &cli.IntFlag{Name: name, Usage: usage, DefaultText: usual}
}

func switchFlag(name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, DisableDefaultText: true}
}

func templatesFlag() cli.Flag {
	return textFlag("templates", "", "a `FILE` with the sandbox's templates")
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

// placeFlags say where things are.
func placeFlags() []cli.Flag {
	return []cli.Flag{
		textFlag("mapping", "m", "the mapping `FILE` (default: mapping.yaml)"),
		textFlag("env", "e", "the `ENVIRONMENT` (default: the file's default)"),
		textFlag("environments", "", "the environments `FILE` (default: beside the mapping)"),
		textFlag("state", "", "the state `FOLDER` (default: .claimsheet beside it)"),
		templatesFlag(),
	}
}

// ledgerFlag says where the ledger is.
func ledgerFlag() []cli.Flag {
	return []cli.Flag{textFlag("ledger", "", "the ledger's database: a `URL` or env:NAME")}
}

// ledgerFlags are the flags of commands that work on the ledger without a sheet. The mapping is only a place to look beside.
func ledgerFlags() []cli.Flag {
	return append(withMapping("the mapping `FILE`: the environments file and the state folder are beside it (default: mapping.yaml in this folder, or this folder)",
		placeFlags()[:4]), ledgerFlag()...) // all but the sandbox's reference data
}

// withMapping returns placeFlags with another text for -m.
func withMapping(usage string, flags []cli.Flag) []cli.Flag {
	flags[0] = textFlag("mapping", "m", usage)
	return flags
}

// where reads the flags of placeFlags and ledgerFlag.
func (p *program) where(c *cli.Context) load.Where {
	where := load.Where{
		Mapping: c.String("mapping"), Env: c.String("env"), Environments: c.String("environments"),
		State: c.String("state"), Ledger: c.String("ledger"), Templates: c.String("templates"),
		MustName: c.Command.Name == "run" || c.Command.Name == "rerun", // a nightly job says where it sends
	}
	if where.Env == "" {
		where.Env = p.Env("CLAIMSHEET_ENV")
	}
	return where
}

// commandWords returns a command for the same place: its name, the flags of where, and the other words.
func commandWords(where load.Where, words ...string) []string {
	line := []string{"claimsheet", words[0]}
	for _, flag := range [][2]string{{"-m", where.Mapping}, {"-e", where.Env}, {"--environments", where.Environments}, {"--state", where.State}, {"--ledger", where.Ledger}} {
		if flag[1] != "" {
			line = append(line, flag[0], flag[1])
		}
	}
	return append(line, words[1:]...)
}

// commandLine is commandWords as a line to copy.
func commandLine(where load.Where, words ...string) string {
	return reports.CommandLine(commandWords(where, words...))
}

func passwordFlag() cli.Flag {
	return textFlag("password", "", "of an encrypted workbook: a `REFERENCE` such as env:NAME")
}

// passwordOf returns the password to which the flag refers; "" for none.
func passwordOf(c *cli.Context) (string, error) {
	if !c.IsSet("password") {
		return "", nil
	}
	secret, err := environment.ReadSecret(c.Context, "--password", c.String("password"))
	return secret.Reveal(), err
}

// traceFlag is the flag of every command that speaks with the service.
func traceFlag() cli.Flag {
	return textFlag("trace", "", "write every request, redacted, to a new `FILE`")
}

// openTrace opens the file of traceFlag.
func (p *program) openTrace(c *cli.Context) (err error) {
	path := c.String("trace")
	if err := refuseExisting(path, "--trace"); err != nil {
		return err
	}
	p.trace, err = console.OpenTrace(path, func(wrong problem.Problem) { console.PrintProblems(p.Err, problem.List{wrong}) })
	return err
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
