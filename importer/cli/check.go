package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"claimsheet/mapping/problem"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "check a mapping; with -e also against the service's templates, with a SHEET against its columns",
		UsageText: "claimsheet check -m FILE [-e ENVIRONMENT] [SHEET]",
		Flags:     append(placeFlags(), passwordFlag()),
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return problem.New("usage", "one sheet at a time; %d are given", c.NArg()).Hinted("run the command once for each")
			}
			password, err := passwordOf(c)
			if err != nil {
				return err
			}
			s, err := prepare(c.Context, settings{
				place: p.placeOf(c), sheet: c.Args().First(), password: password.value, environment: c.IsSet("env"), readOnly: true,
			})
			defer s.close()
			if err != nil {
				return err
			}
			sayProblems(p.Err, s.warnings)
			fmt.Fprintln(p.Out, s.mapping.File+": no problem found")
			return nil
		},
	}
}
