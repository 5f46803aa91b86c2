package cli

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli/load"
	"claimsheet/mapping/problem"
)

// sandboxNotice is shown wherever results of the sandbox are.
const sandboxNotice = "This is the sandbox: nothing was sent to a real service, and its links lead nowhere."

func (p *program) sandboxCommand() *cli.Command {
	return &cli.Command{
		Name:      "sandbox",
		Usage:     "serve the embedded service, for trying things out; its url is the first line on stdout",
		UsageText: "claimsheet sandbox [options]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8080", Usage: "the loopback `ADDRESS` to listen on; port 0 takes any free one"},
			templatesFlag(),
			textFlag("state", "", "keep what it holds in `FOLDER`/sandbox; default: in memory only"),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return problem.New("usage", "claimsheet sandbox takes no arguments").Hinted("claimsheet sandbox --help lists the flags")
			}
			return p.serve(c)
		},
	}
}

func (p *program) serve(c *cli.Context) error {
	templates, err := load.ReferenceData(c.String("templates"))
	if err != nil {
		return err
	}
	l, err := sandbox.Listen(c.String("addr"))
	if err != nil {
		return problem.New("address", "the sandbox cannot listen there: %v", err)
	}
	url := "http://" + l.Addr().String()
	options := sandbox.Options{Templates: templates, BaseURL: url}
	if state := c.String("state"); state != "" {
		options.Dir = filepath.Join(state, "sandbox")
	}
	service, err := sandbox.New(options)
	if err != nil {
		_ = l.Close()
		return problem.New("sandbox", "the sandbox cannot start: %v", err)
	}
	defer service.Close()
	fmt.Fprintln(p.Out, url)
	fmt.Fprintln(p.Err, "serving the sandbox, case id "+sandbox.CaseID+"; stop it with Ctrl-C")
	return service.Serve(c.Context, l)
}
