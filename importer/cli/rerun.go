package cli

import (
	"github.com/urfave/cli/v2"

	"claimsheet/mapping/problem"
)

func (p *program) rerunCommand() *cli.Command {
	return &cli.Command{
		Name:      "rerun",
		Usage:     "do what is still missing in results workbooks, edited or not",
		UsageText: "claimsheet rerun [options] RESULTS.xlsx…",
		Flags:     rerunFlags(),
		Action: func(c *cli.Context) error {
			if err := p.attend(c); err != nil {
				return err
			}
			if c.NArg() == 0 {
				return problem.New("no-sheet", "no results workbook is given").Hinted("claimsheet rerun leads.results.xlsx")
			}
			o, err := p.runOptions(c)
			if err != nil {
				return err
			}
			o.yes = c.Bool("yes")
			if o.sheets, err = expandAll(c.Args().Slice()); err != nil {
				return err
			}
			if o.origins, err = readOrigins(o.sheets, o.password.value); err != nil {
				return err
			}
			if err := o.fromLedger(c.Context, c.IsSet("env")); err != nil {
				return err
			}
			p.attended.where = o.place
			return p.run(c.Context, o)
		},
	}
}

func rerunFlags() []cli.Flag {
	flags := placeFlags()
	flags[0] = textFlag("mapping", "m", "the mapping `FILE`; default: that of the run, as the ledger recorded it")
	flags[1] = textFlag("env", "e", "the `ENVIRONMENT`; default: that of the run, as the ledger recorded it")
	flags = append(flags,
		textFlag("out", "o", "the new results workbook's `FILE`; default: the workbook itself; an edited one is kept under another name"),
		switchFlag("yes", "when the ledger is gone, take the ids from the workbook without asking"))
	return append(flags, runFlags()...)
}
