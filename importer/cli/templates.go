package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient"
	"claimsheet/apiclient/environment"
	"claimsheet/importer/cli/console"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

const templatesHelp = `It reads the reference data of the environment and changes nothing there. Ids belong to one environment and one claim type:
mappings use names. The version of the interface is the mapping's with -m, else v1 where the environment has a case_id and v2
where it has none; --api says otherwise.`

func (p *program) templatesCommand() *cli.Command {
	return &cli.Command{
		Name:        "templates",
		Usage:       "list the activity templates of the service and their attributes",
		UsageText:   "claimsheet templates [-e ENVIRONMENT] [options]",
		Description: templatesHelp,
		Flags: append(placeFlags(),
			apiFlag("the mapping's, else v1 for an environment with a case_id, else v2"),
			switchFlag("json", "print one JSON object on stdout"),
			textFlag("xlsx", "", "write the list to a new workbook, `FILE`")),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return problem.New("usage", "claimsheet templates takes no arguments").Hinted("claimsheet templates --help lists the flags")
			}
			api, err := apiOf(c)
			if err != nil {
				return err
			}
			if err := refuseExisting(c.String("xlsx"), "--xlsx"); err != nil {
				return err
			}
			s, err := p.askTemplates(c.Context, p.placeOf(c), api)
			defer s.close()
			if err != nil {
				return err
			}
			return p.showTemplates(s, c.String("xlsx"), c.Bool("json"))
		},
	}
}

func apiFlag(usual string) cli.Flag {
	return textFlag("api", "", "the `VERSION` of the interface: v1 or v2; default: "+usual)
}

func apiOf(c *cli.Context) (string, error) {
	api := c.String("api")
	if c.IsSet("api") && api != string(apiclient.V1) && api != string(apiclient.V2) {
		return "", problem.New("usage", "--api takes v1 or v2, not “%s”", problem.OneLine(api)).Hinted("leave it out to have what fits the environment")
	}
	return api, nil
}

// refuseExisting refuses to write over a file.
func refuseExisting(path, flag string) error {
	if _, err := os.Lstat(path); path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return problem.At(problem.Where{File: path}, "output-exists", "exists, and is never written over").Hinted("choose another name with %s", flag)
}

// asked is an environment that was asked for its templates.
type asked struct {
	setup
	api     string
	service *mapping.Service
}

// askTemplates reads the templates of an environment, over the version that api
// names; "" takes the one that fits. The claim type is the mapping's. It must be
// closed, also after an error.
func (p *program) askTemplates(ctx context.Context, where place, api string) (*asked, error) {
	a := &asked{setup: setup{mapping: &mapping.Mapping{}}}
	if where.mapping != "" {
		if err := a.readMapping(where.mapping); err != nil {
			return a, err
		}
	}
	if err := a.chooseEnvironment(where); err != nil {
		return a, err
	}
	if file, _ := environment.Find(where.mapping, where.environments); environment.StateDir(where.mapping, file, where.state) == "" {
		a.state = "" // a sandbox without a place of its own is in memory
	}
	switch {
	case api != "":
		a.mapping.API.Text = api
	case a.mapping.API.Text != "":
	case a.env.CaseID != "" && !a.env.Sandbox:
		a.mapping.API.Text = string(apiclient.V1)
	default:
		a.mapping.API.Text = string(apiclient.V2)
	}
	a.api = a.mapping.API.Text
	if err := a.connect(ctx, settings{place: where, readOnly: true}); err != nil {
		return a, err
	}
	// The setup reads templates only for a mapping that has activities.
	a.mapping = &mapping.Mapping{API: a.mapping.API, Activities: []mapping.ActivityRule{{}}}
	var err error
	if a.service, err = a.readTemplates(ctx); err != nil {
		return a, err
	}
	console.PrintProblems(p.Err, a.warnings)
	return a, nil
}

// toldTemplate is a template as --json tells it.
type toldTemplate struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Attributes []toldAttribute `json:"attributes"`
}

type toldAttribute struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"` // "" where the service tells none
}

func (p *program) showTemplates(a *asked, xlsx string, asJSON bool) error {
	told := []toldTemplate{}
	rows := [][]string{}
	for _, t := range a.service.Templates {
		one := toldTemplate{ID: t.ID, Name: t.Name, Attributes: []toldAttribute{}}
		rows = append(rows, []string{t.Name, "", "", t.ID})
		for _, at := range t.Attributes {
			one.Attributes = append(one.Attributes, toldAttribute{at.ID, at.Name, string(at.Type)})
			rows = append(rows, []string{t.Name, at.Name, string(at.Type), at.ID})
		}
		told = append(told, one)
	}
	if xlsx != "" {
		if err := reports.WriteList(xlsx, "Templates", []string{"Template", "Attribute", "Data type", "Id"}, rows); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return writeObject(p.Out, struct {
			Environment string         `json:"environment"`
			API         string         `json:"api"`
			Templates   []toldTemplate `json:"templates"`
		}{a.env.Name, a.api, told})
	case xlsx != "":
		fmt.Fprintf(p.Out, "%s: %d activity templates of the environment “%s” (%s)\n", problem.OneLine(xlsx), len(told), a.env.Name, a.api)
		return nil
	}
	fmt.Fprintf(p.Out, "Activity templates of the environment “%s” (%s): %d\n", a.env.Name, a.api, len(told))
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, t := range told {
		fmt.Fprintf(table, "\n%s\t\t%s\n", problem.OneLine(t.Name), problem.OneLine(t.ID))
		for _, at := range t.Attributes {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", problem.OneLine(at.Name), at.Type, problem.OneLine(at.ID))
		}
	}
	return table.Flush()
}
