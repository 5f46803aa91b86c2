package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "check a mapping; with -e also against the service's templates, with a SHEET against its columns",
		UsageText: "claimsheet check -m FILE [-e ENVIRONMENT] [SHEET…]",
		Flags:     append(placeFlags(), passwordFlag()),
		Action: func(c *cli.Context) error {
			sheets, err := expand(c.Args().Slice())
			if err != nil {
				return err
			}
			password, err := passwordOf(c)
			if err != nil {
				return err
			}
			s, err := prepare(c.Context, settings{
				place: p.placeOf(c), sheets: sheets, password: password.value, environment: c.IsSet("env"), readOnly: true,
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
