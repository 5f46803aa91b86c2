package cli

import (
	"os"
	"slices"
	"strings"

	"claimsheet/importer/cli/load"
	"claimsheet/reports"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/mapping/problem"
)

// The flags that commands share. Each call makes a new flag, because the library
// keeps the given value in it.

func textFlag(name, short, usage string) *cli.StringFlag {
	f := &cli.StringFlag{Name: name, Usage: usage}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

func numberFlag(name, usage, usual string) *cli.IntFlag {
	return &cli.IntFlag{Name: name, Usage: usage, DefaultText: usual}
}

func switchFlag(name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, DisableDefaultText: true}
}

func templatesFlag() cli.Flag {
	return textFlag("templates", "", "a `FILE` with the sandbox's templates")
}

// usualMapping is the mapping of a command that is given none, when the working
// directory has that file.
const usualMapping = "mapping.yaml"

// withUsualMapping returns where with the usual mapping, unless there is another or no
// such file.
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

// commandWords returns a command for the same place: its name, the flags of where,
// and the other words.
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

// password opens an encrypted workbook.
type password struct {
	reference string // as the user gave it; "" for none
	value     string
}

func passwordOf(c *cli.Context) (password, error) {
	if !c.IsSet("password") {
		return password{}, nil
	}
	given := c.String("password")
	secret, err := environment.ReadSecret(c.Context, "--password", given)
	return password{given, secret.Reveal()}, err
}

// withoutSecret returns a command line without a password that was typed instead of
// a reference.
func withoutSecret(words []string) []string {
	safe := slices.Clone(words)
	for i, word := range safe {
		flag, value, joined := strings.Cut(word, "=")
		if strings.TrimLeft(flag, "-") != "password" || !strings.HasPrefix(flag, "-") {
			continue
		}
		at := i
		if !joined {
			if at++; at == len(safe) {
				break
			}
			flag, value = "", safe[at]
		} else {
			flag += "="
		}
		if scheme, _, found := strings.Cut(value, ":"); !found || !slices.Contains([]string{"env", "file", "cmd"}, scheme) {
			safe[at] = flag + "env:NAME"
		}
	}
	return safe
}

// unencrypted warns that the workbook of an encrypted sheet is not encrypted, and
// refuses to replace an encrypted file by it.
func unencrypted(given, output string) (problem.Problem, error) {
	out := problem.Where{File: output}
	if output == given {
		return problem.Problem{}, problem.At(out, "output-encrypted", "the new results workbook, which is not encrypted, would take the place of this encrypted one").
			Hinted("choose another name with -o")
	}
	return problem.At(out, "not-encrypted", "this workbook will not be encrypted, though the sheet is").
		Hinted("it holds personal data and redirect urls: keep it where only you can read it"), nil
}
