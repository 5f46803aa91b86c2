package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

const checkHelp = `Without -e the names and types of templates and attributes are not checked; with it they are compared with the service's. With a
SHEET its headers and cells are checked: it prints how many rows cannot be imported as they are, and claimsheet run --dry-run
names each cell. It reports a header in the wrong row, totals, and typed cells under attributes without a type.

Examples:

    claimsheet check
    claimsheet check -m mapping.yaml -e uat leads.xlsx`

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "check a mapping; with -e also against the service's templates, with a SHEET against its columns",
		UsageText:   "claimsheet check [-m FILE] [-e ENVIRONMENT] [SHEET…]",
		Description: checkHelp,
		Flags:       append(placeFlags(), under(specialCategory, passwordFlag())...),
		Action: func(c *cli.Context) error {
			sheets, err := load.Sheets(c.Args().Slice())
			if err != nil {
				return err
			}
			password, err := passwordOf(c)
			if err != nil {
				return err
			}
			return p.check(c.Context, load.Options{
				Where: withUsualMapping(p.where(c)), Sheets: sheets, Password: password.value, NeedEnvironment: c.IsSet("env"),
				Connection: load.Connection{ReadOnly: true, UserAgent: userAgent(""), AskAgain: p.pace.AskAgain},
			})
		},
	}
}

func (p *program) check(ctx context.Context, want load.Options) error {
	s, err := load.Open(ctx, want)
	console.PrintWarnings(p.Err, s.AllWarnings())
	if err != nil {
		return err
	}
	defer s.Close()
	console.PrintWarnings(p.Err, s.Mapping.Cautions)
	if err := p.checkRows(ctx, s, want); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: no mistake in the mapping; %s\n", s.Mapping.File, checked(s))
	return nil
}

// checkRows checks the rows of the sheets: data without a header, rows that cannot be
// imported, and typed cells under attributes without a type. It counts invalid rows
// only; a dry run names each cell.
func (p *program) checkRows(ctx context.Context, s *load.Session, want load.Options) error {
	var found problem.List
	var typed mapping.TypedCells
	for _, src := range s.Sources {
		look, rows, invalid := newLayout(src.Sheet(), s.Mapping.Sheet), 0, 0
		var noLeads problem.List
		for record, err := range src.Records() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			look.see(record)
			lead := s.Binding.Convert(record)
			typed.Add(lead.Typed)
			if rows++; len(lead.Problems) > 0 {
				invalid++
			}
			for _, p := range lead.Problems {
				if mapping.IsTotalsOrHeader(p) {
					noLeads = append(noLeads, p)
				}
			}
		}
		wrong, warnings := look.verdict()
		found = append(found, wrong...)
		console.PrintWarnings(p.Err, warnings)
		if len(wrong) > 0 {
			continue // the header row is wrong, so the cells are under wrong headers
		}
		console.PrintProblems(p.Err, noLeads)
		if invalid > 0 {
			console.PrintWarnings(p.Err, problem.List{problem.At(problem.Where{File: src.Input.Given}, "invalid-rows",
				"%d of %d rows cannot be imported as they are", invalid, rows).Hinted("%s names every cell", dryRunOf(s, want))})
		}
	}
	untyped, warnings := s.Binding.CheckTypes(typed)
	console.PrintWarnings(p.Err, warnings)
	return append(found, untyped...).Err()
}

// dryRunOf returns the command line of a dry run of what is checked.
func dryRunOf(s *load.Session, want load.Options) string {
	where := want.Where
	if s.Env == nil {
		where.Env = "ENVIRONMENT"
	}
	words := []string{"run", "--dry-run"}
	if where.Templates != "" {
		words = append(words, "--templates", where.Templates)
	}
	return commandLine(where, append(words, want.Sheets...)...)
}

// checked says what was checked, and what was not.
func checked(s *load.Session) string {
	const rest = "; claimsheet run --dry-run also compares rows with each other and with what is done"
	switch sheet, service := len(s.Sources) > 0, s.Client != nil; {
	case sheet && service:
		return "checked against templates, headers and cells" + rest
	case sheet:
		return "checked against headers and cells, as far as their types are known without -e; not against templates"
	case service:
		return "checked against templates; no SHEET is given, so not against columns"
	}
	return "only the file was checked: add -e ENVIRONMENT to check it against templates, and a SHEET to check columns"
}
