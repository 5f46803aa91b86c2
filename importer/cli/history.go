package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

const historyHelp = `Without a key it lists the runs of the environment, the newest first. With the key of a client it tells all that is known of
the client over all nights: steps, ids, attempts, what an operator decided, and the rows of every run. Redirect urls are not
shown, because whoever has one acts as the client: claimsheet report writes a workbook that has them.
A key is what the results workbook shows in the sheet Steps; where several kinds of key have the same text, email:KEY,
phone:KEY or NAME:KEY means one of them.

--purge takes out of the state folder what is older than --older-than: kept copies of sheets, requests and answers, redirect
urls, what was wrong with rows, and emergency files that were taken up. Client keys, step names, states and ids stay: without
them the next run would make everything again. --forget KEY erases one client, for good: what is left are the ids of what was made and a
keyed hash by which later runs recognise the client and leave the rows out. Both ask before they begin, unless --yes is given.`

// historyOptions are the flags of claimsheet history.
type historyOptions struct {
	place
	key    string // "" lists the runs
	purge  bool
	days   int // of --older-than
	forget string
	yes    bool
	json   bool
}

func (p *program) historyCommand() *cli.Command {
	return &cli.Command{
		Name:        "history",
		Usage:       "the runs, or all that is known of one client; --purge and --forget take personal data out",
		UsageText:   "claimsheet history [options] [CLIENT-KEY]\n\nclaimsheet history --purge --older-than 90d\n\nclaimsheet history --forget CLIENT-KEY",
		Description: historyHelp,
		Flags: append(deskFlags(),
			switchFlag("json", "print one JSON object on stdout"),
			switchFlag("purge", "take personal data older than --older-than out of the state folder"),
			textFlag("older-than", "", "a number of `DAYS`, such as 90d"),
			textFlag("forget", "", "erase the client with this `KEY`"),
			switchFlag("yes", "do not ask before a purge or an erasure")),
		Action: func(c *cli.Context) error {
			o, err := p.historyOptions(c)
			switch {
			case err != nil:
				return err
			case o.purge:
				return p.purge(c.Context, o)
			case o.forget != "":
				return p.forget(c.Context, o)
			}
			return p.history(c.Context, o)
		},
	}
}

func (p *program) historyOptions(c *cli.Context) (historyOptions, error) {
	o := historyOptions{place: p.placeOf(c), key: c.Args().First(), purge: c.Bool("purge"), forget: c.String("forget"),
		yes: c.Bool("yes"), json: c.Bool("json")}
	usage := func(hint, format string, args ...any) (historyOptions, error) {
		return o, problem.New("usage", format, args...).Hinted("%s", hint)
	}
	const purge, forget = "claimsheet history --purge --older-than 90d", "claimsheet history --forget CLIENT-KEY"
	switch {
	case c.NArg() > 1:
		return usage("put a key that has spaces in quotes", "one client at a time; %d are named", c.NArg())
	case o.purge && c.IsSet("forget"):
		return usage("do one after the other", "--purge and --forget exclude each other")
	case c.IsSet("forget") && o.forget == "":
		return usage(forget, "--forget takes the key of a client")
	case o.purge && o.key != "":
		return usage("to erase one client: "+forget, "--purge takes no client key")
	case c.IsSet("forget") && o.key != "":
		return usage(forget, "--forget takes one client key, and another stands behind the flags")
	case o.purge && !c.IsSet("older-than"):
		return usage(purge, "--purge needs --older-than")
	case !o.purge && c.IsSet("older-than"):
		return usage(purge, "--older-than is for --purge")
	case o.yes && !o.purge && !c.IsSet("forget"):
		return usage("leave it out", "--yes is for --purge and --forget")
	case o.json && (o.purge || c.IsSet("forget")):
		return usage("leave it out", "--json is for what history shows")
	}
	if o.purge {
		var ok bool
		if o.days, ok = parseDays(c.String("older-than")); !ok {
			return usage(purge, "--older-than takes a number of days such as 90d")
		}
	}
	return o, nil
}

// openReadingDesk is openDesk for those who only look: it takes no lock, so a
// run may go on meanwhile.
func (p *program) openReadingDesk(where place) (*desk, error) {
	d := &desk{setup: &setup{}, where: where}
	if err := d.chooseEnvironment(); err != nil {
		return d, err
	}
	path := ledgerFile(d.setup.state)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	known, err := ledger.OpenReadOnly(path)
	if err != nil {
		return d, err
	}
	d.known = known
	d.books = &books{known: known, closers: []func(){func() { _ = known.Close() }}}
	return d, nil
}

func (p *program) history(ctx context.Context, o historyOptions) error {
	d, err := p.openReadingDesk(o.place)
	defer d.close()
	if err != nil {
		return err
	}
	if o.key == "" {
		return p.listRuns(ctx, d, o.json)
	}
	return p.tellClient(ctx, d, o)
}
