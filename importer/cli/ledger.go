package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping/problem"
)

const ledgerCheckHelp = `Reads the whole ledger: the structure of its file, and that no record points to another that is not there. It changes nothing. Exit code 0: the ledger is whole; 3: it is damaged.

Examples:

    claimsheet ledger check -e uat`

const ledgerCopyHelp = `Writes a copy of the ledger to a new file, also while a run works: the copy is as the ledger was at one moment. It is read as a whole
before it gets its name, and a file that is there is never replaced. To put it back, copy it over ledger.db while no run is active. What was done since the copy is in the results workbooks; give them to claimsheet rerun before the next run.
It has personal data and redirect urls; claimsheet history --purge and --forget do not reach it.
--to may also name a PostgreSQL database without a ledger: its url without a password, or a reference to the url, env:NAME, file:PATH or cmd:PROGRAM ARG….
Then, and when the ledger is in a database, everything is copied row by row; the rows are counted and compared with the original before the copy
is kept. To move a ledger, copy it while no run is active, name the new place in the environments file (ledger), and move the old one away.

Examples:

    claimsheet ledger copy -e uat --to /backup/ledger-monday.db
    claimsheet ledger copy -e uat --to env:LEDGER_URL
    claimsheet ledger copy -e uat --from env:LEDGER_URL --to ledger-copy.db`

func (p *program) ledgerCommand() *cli.Command {
	sub := func(name, usage, help string, flags []cli.Flag, do func(*cli.Context) error) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, UsageText: "claimsheet ledger " + name + " [options]", Description: help, Flags: flags,
			Action: func(c *cli.Context) error {
				if c.NArg() > 0 {
					return problem.New("usage", "claimsheet ledger %s takes no argument", name).Hinted("claimsheet ledger %s --help lists the flags", name)
				}
				return do(c)
			},
		}
	}
	return &cli.Command{
		Name:        "ledger",
		Usage:       "check: read the whole ledger; copy: back it up",
		UsageText:   "claimsheet ledger check [options]\nclaimsheet ledger copy [options] --to LEDGER",
		Description: "Examples:\n\n    claimsheet ledger check -e uat",
		Subcommands: []*cli.Command{
			sub("check", "read the whole ledger and say whether it is sound", ledgerCheckHelp, ledgerFlags(),
				func(c *cli.Context) error { return p.checkLedger(c) }),
			sub("copy", "write a copy of the ledger to a new file or database, also while a run works", ledgerCopyHelp,
				append(ledgerFlags(),
					textFlag("to", "", "the new `LEDGER`: a file that is not there yet, or a database without one"),
					textFlag("from", "", "the `LEDGER` to copy, a file or a database; default: that of the environment")),
				func(c *cli.Context) error { return p.copyLedger(c) }),
		},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return problem.New("unknown-command", "there is no command “ledger %s”", name).Hinted("the commands are ledger check and ledger copy")
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

// copyLedger copies the ledger of an environment to a new file. A ledger that has lost
// records is not copied: its copy would take the place of better ones.
func (p *program) copyLedger(c *cli.Context) error {
	to := c.String("to")
	if to == "" {
		return problem.New("usage", "claimsheet ledger copy needs --to, the new ledger").Hinted("claimsheet ledger copy --to ledger-copy.db")
	}
	l, err := p.ledgerToCopy(c)
	defer l.close()
	if err != nil {
		return err
	}
	if l.ledger == nil {
		return problem.New("no-run", "there is nothing to copy: nothing was ever run here (there is no ledger in %s)", l.session.State).
			Hinted("--state names another state folder")
	}
	if isDatabase(to) || l.place.server != nil {
		return p.transferLedger(c.Context, l, to)
	}
	events, err := ledger.Copy(c.Context, l.path(), to)
	if err == nil {
		fmt.Fprintf(p.Out, "%s: a copy of the ledger with %d records, which was checked\n", problem.OneLine(to), events)
	}
	return err
}

// ledgerToCopy opens the ledger that --from names, else that of the environment.
func (p *program) ledgerToCopy(c *cli.Context) (*ledgerSession, error) {
	from := c.String("from")
	if from == "" {
		return p.readLedger(p.where(c))
	}
	l, err := openEnvironmentOf(p.where(c))
	if err != nil {
		return l, err
	}
	if isDatabase(from) {
		l.place, err = l.place.at(c.Context, "--from", from)
	} else {
		l.place = ledgerPlace{folder: l.session.State, path: from}
	}
	if err != nil {
		return l, err
	}
	if there, err := l.exists(); !there {
		return l, err
	}
	return l, l.openReadOnly()
}

// isDatabase reports whether an argument names a database and not a file: by its url, or
// by a reference to that.
func isDatabase(text string) bool {
	source, _, _ := strings.Cut(text, ":")
	return postgres.IsAddress(text) || source == "env" || source == "file" || source == "cmd"
}

// transferLedger copies a ledger from a file into a database, or the other way.
func (p *program) transferLedger(ctx context.Context, l *ledgerSession, to string) error {
	progress := ledger.Progress(nil)
	if console.IsTerminal(p.stderr) {
		progress = func(what string, _, _ int64) { fmt.Fprint(p.stderr, clearLine+what+" ") }
		defer fmt.Fprint(p.stderr, clearLine)
	}
	var done ledger.Transferred
	var err error
	name := to
	if isDatabase(to) {
		var place ledgerPlace
		if place, err = place.at(ctx, "--to", to); err != nil {
			return err
		}
		name = place.String()
		var copied *ledger.Ledger
		if copied, err = postgres.Open(ctx, *place.server); err != nil {
			return err
		}
		done, err = ledger.Transfer(ctx, l.ledger, copied, progress)
		err = errors.Join(err, copied.Close())
	} else {
		done, err = ledger.Save(ctx, l.ledger, to, progress)
	}
	if err != nil {
		return err
	}
	rows := int64(0)
	for _, n := range done.Tables {
		rows += n
	}
	fmt.Fprintf(p.Out, "%s: a copy of the ledger with %d records; its %d rows were counted, compared with the original (SHA-256 %.16s) and checked\n",
		problem.OneLine(name), done.Events, rows, done.Digest)
	return nil
}

// checkLedger reads the whole ledger of an environment, and compares it with the
// count of what was committed to it.
func (p *program) checkLedger(c *cli.Context) error {
	l, err := openEnvironmentOf(p.where(c))
	defer l.close()
	if err != nil {
		return err
	}
	there, err := l.exists()
	if err != nil {
		return err
	}
	if !there {
		fmt.Fprintf(p.Out, "nothing was ever run here (there is no ledger in %s)\n", l.session.State)
		return nil
	}
	if err := l.openReadOnly(); err != nil {
		return err
	}
	if err = l.ledger.Check(c.Context); err == nil {
		fmt.Fprintf(p.Out, "%s: the ledger is whole\n", problem.OneLine(l.path()))
	}
	return err
}

// clearLine ends a line of progress.
const clearLine = "\r                                                            \r"
