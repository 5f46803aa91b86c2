package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const templatesHelp = `It reads the reference data of the environment and changes nothing there. Ids belong to one environment and one claim type,
so mappings use names. The version of the interface is the mapping's with -m, else v1 when the environment has a case_id, else v2.

Examples:

    claimsheet templates -e uat
    claimsheet templates -e uat --xlsx templates.xlsx`

func (p *program) templatesCommand() *cli.Command {
	xlsx := ""
	return newCommand("templates", "[-e ENVIRONMENT] [options]",
		"list the activity templates of the service and their attributes", templatesHelp,
		p.placeFlags("the mapping `FILE`, whose version and claim type are asked for; default: none", p.templatesFlag(),
			jsonFlag(),
			textFlag(&xlsx, "xlsx", "", "write the list to a new workbook, `FILE`"),
			p.traceFlag()),
		func(c *cli.Context) error {
			if err := refuseExisting(xlsx, "--xlsx"); err != nil {
				return err
			}
			s, err := p.listTemplates(c.Context, "")
			if err != nil {
				return err
			}
			return p.printTemplates(templatesOf(s), xlsx)
		})
}

// listTemplates reads the templates of the environment over the version that api names, "" for the one that fits. Its session is closed.
func (p *program) listTemplates(ctx context.Context, api string) (*load.Session, error) {
	s, err := load.OpenConfiguration(p.where)
	if err == nil {
		err = s.Wrong.Err()
	}
	if err != nil {
		return nil, err
	}
	return s, p.readTemplates(ctx, s, s.Version(api))
}

// readTemplates reads the templates of a session's environment, and closes the session.
func (p *program) readTemplates(ctx context.Context, s *load.Session, version apiclient.Version) (err error) {
	defer s.Close()
	if err := s.Connect(ctx, version, p.asking()); err != nil {
		return err
	}
	if s.Service, err = s.ListTemplates(ctx); err != nil {
		return err
	}
	console.PrintProblems(p.Err, s.Warnings)
	return nil
}

// templatesJSON is the object of claimsheet templates.
type templatesJSON struct {
	Environment string             `json:"environment"` // the environment's name
	API         string             `json:"api"`         // the version of the interface: v1 or v2
	Templates   []mapping.Template `json:"templates"`   // the activity templates, as the service lists them
}

// templatesOf returns what --json prints, which the sandbox takes as its reference data.
func templatesOf(s *load.Session) templatesJSON {
	return templatesJSON{s.Env.Name, string(s.Client.Routes().Version), s.Service.Templates}
}

func (p *program) printTemplates(object templatesJSON, xlsx string) error {
	p.object = object
	if xlsx != "" {
		rows := [][]string{}
		for _, t := range object.Templates {
			rows = append(rows, []string{t.Name, "", "", t.ID})
			for _, at := range t.Attributes {
				rows = append(rows, []string{t.Name, at.Name, string(at.Type), at.ID})
			}
		}
		if err := reports.WriteList(xlsx, "Templates", []string{"Template", "Attribute", "Data type", "Id"}, rows); err != nil {
			return err
		}
		fmt.Fprintf(p.Out, "%s: %d activity templates of the environment “%s” (%s)\n", problem.OneLine(xlsx), len(object.Templates),
			object.Environment, object.API)
		return nil
	}
	fmt.Fprintf(p.Out, "Activity templates of the environment “%s” (%s): %d\n", object.Environment, object.API, len(object.Templates))
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, t := range object.Templates {
		fmt.Fprintf(table, "\n%s\t\t%s\n", problem.OneLine(t.Name), problem.OneLine(t.ID))
		for _, at := range t.Attributes {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", problem.OneLine(at.Name), at.Type, problem.OneLine(at.ID))
		}
	}
	return table.Flush()
}
