package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/environment"
	"claimsheet/importer/journal"
	"claimsheet/importer/ledger"
	"claimsheet/importer/ledger/postgres"
	"claimsheet/mapping/problem"
)

const copyLedgerHelp = `Writes a copy of the ledger to a new file, also while a run works: the copy is as the ledger was at one moment. It is read as a whole
before it gets its name, and a file that is there is never replaced. To put it back, copy it over ledger.db while no run is active. What was done since the copy is in the results workbooks; give them to claimsheet rerun before the next run.
It has personal data and redirect urls; claimsheet history --purge and --forget do not reach it.
--to may also name a PostgreSQL database without a ledger: its url without a password, or a reference to the url, env:NAME, file:PATH or cmd:PROGRAM ARG….
To move a ledger, copy it while no run is active, name the new place in the environments file (ledger), and move the old one away.

Examples:

    claimsheet copy-ledger -e uat --to /backup/ledger-monday.db
    claimsheet copy-ledger -e uat --to env:LEDGER_URL`

func (p *program) copyLedgerCommand() *cli.Command {
	to := ""
	return newCommand("copy-ledger", "[options] --to LEDGER",
		"write a copy of the ledger to a new file or database, also while a run works", copyLedgerHelp,
		p.ledgerFlags(textFlag(&to, "to", "", "the new `LEDGER`: a file that is not there yet, or a database without one")),
		func(c *cli.Context) error { return p.copyLedger(c.Context, to) })
}

// copyLedger copies the ledger to a new file or an empty database. One that lost records is refused: its copy could replace a better one.
func (p *program) copyLedger(ctx context.Context, to string) error {
	if to == "" {
		return problem.New("usage", "claimsheet copy-ledger needs --to, the new ledger").Hinted("claimsheet copy-ledger --to ledger-copy.db")
	}
	if err := p.openLedger(p.openForReading); err != nil {
		return err
	}
	if p.session.Ledger.Path() == "" {
		return p.noRun()
	}
	if n, err := journal.Pending(p.session.Place.Journal()); err != nil {
		return err
	} else if n > 0 {
		return problem.New("copy-journal", "%d outcomes of an earlier run are in its journal and not yet in the ledger: a copy would lack their ids", n).
			Hinted("the next run records them before anything else; claimsheet settle records them, too, and sends nothing; then copy the ledger")
	}
	var steps int
	source, _, hasSource := strings.Cut(to, ":")
	isDatabase := postgres.IsAddress(to) || hasSource && slices.Contains([]string{"env", "file", "cmd"}, source)
	if !isDatabase {
		var err error
		if steps, err = ledger.Save(ctx, p.session.Ledger, to); err != nil {
			return err
		}
	} else {
		url, err := environment.LedgerURL(ctx, "--to", to)
		if err != nil {
			return err
		}
		place, err := postgres.Parse(url.Reveal())
		if err != nil {
			return err
		}
		copied, err := postgres.Open(ctx, place)
		if err != nil {
			return err
		}
		steps, err = ledger.Transfer(ctx, p.session.Ledger, copied)
		if err = errors.Join(err, copied.Close()); err != nil {
			return err
		}
		to = place.String()
	}
	fmt.Fprintf(p.Out, "%s: a copy of the ledger with %d steps; its rows were counted and checked\n", problem.OneLine(to), steps)
	return nil
}
