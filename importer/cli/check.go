package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const checkHelp = `Without -e the names and types of templates and attributes are not checked; with it they are compared with the service's. With a
SHEET its headers and cells are: it says how many rows cannot be imported as they are, and claimsheet run --dry-run names each
cell. A header in the wrong row, totals, and typed cells under attributes whose type nobody says are named at once.`

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "check a mapping; with -e also against the service's templates, with a SHEET against its columns",
		UsageText:   "claimsheet check -m FILE [-e ENVIRONMENT] [SHEET…]",
		Description: checkHelp,
		Flags:       append(placeFlags(), passwordFlag()),
		Action: func(c *cli.Context) error {
			sheets, err := expand(c.Args().Slice())
			if err != nil {
				return err
			}
			password, err := passwordOf(c)
			if err != nil {
				return err
			}
			return p.check(c.Context, settings{
				place: p.placeOf(c), sheets: sheets, password: password.value, environment: c.IsSet("env"), readOnly: true,
			})
		},
	}
}

func (p *program) check(ctx context.Context, want settings) error {
	s, err := prepare(ctx, want)
	defer s.close()
	console.PrintWarnings(p.Err, s.allWarnings())
	if err != nil {
		return err
	}
	if err := p.checkRows(ctx, s, want); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: no problem found; %s\n", s.mapping.File, s.checked())
	return nil
}

// checkRows looks through the rows of the sheets: for what no header shows, and
// for cells that cannot be used, which a dry run names.
func (p *program) checkRows(ctx context.Context, s *setup, want settings) error {
	var found problem.List
	var typed mapping.TypedCells
	for i := range s.sources {
		look, rows, invalid := newLayout(s, i), 0, 0
		var noLeads problem.List
		for record, err := range s.recordsOf(i) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			look.see(record)
			lead := s.binding.Read(record)
			typed.Add(lead.Typed)
			if rows++; len(lead.Problems) > 0 {
				invalid++
			}
			for _, p := range lead.Problems {
				if mapping.IsNoLead(p) {
					noLeads = append(noLeads, p)
				}
			}
		}
		wrong, warnings := look.verdict()
		found = append(found, wrong...)
		console.PrintWarnings(p.Err, warnings)
		if len(wrong) > 0 {
			continue // the cells are not those of the columns
		}
		console.PrintProblems(p.Err, noLeads)
		if invalid > 0 {
			console.PrintWarnings(p.Err, problem.List{problem.At(problem.Where{File: s.sources[i].input.given}, "invalid-rows",
				"%d of %d rows cannot be imported as they are", invalid, rows).Hinted("%s names every cell", dryRunOf(s, want))})
		}
	}
	untyped, warnings := s.binding.CheckTypes(typed)
	console.PrintWarnings(p.Err, warnings)
	return append(found, untyped...).Err()
}

// dryRunOf is the command line of a dry run of what is checked.
func dryRunOf(s *setup, want settings) string {
	where := want.place
	if s.env == nil {
		where.env = "ENVIRONMENT"
	}
	words := []string{"run", "--dry-run"}
	if where.templates != "" {
		words = append(words, "--templates", where.templates)
	}
	return where.command(append(words, want.sheets...)...)
}

// checked says what a check has looked at, and what it has not.
func (s *setup) checked() string {
	const rest = "; what is done already and what rows make together is for claimsheet run --dry-run"
	switch sheet, service := len(s.sources) > 0, s.service != nil; {
	case sheet && service:
		return "checked against templates, headers and cells" + rest
	case sheet:
		return "checked against headers and cells, as far as their types are known without -e; not against templates"
	case service:
		return "checked against templates; no SHEET is given, so not against columns"
	}
	return "the file alone was checked: -e ENVIRONMENT checks templates, a SHEET columns"
}
