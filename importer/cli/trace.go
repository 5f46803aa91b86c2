package cli

import (
	"github.com/urfave/cli/v2"

	"claimsheet/importer/cli/console"
	"claimsheet/importer/cli/load"
	"claimsheet/importer/cli/observe"
	"claimsheet/mapping/problem"
)

// traceFlag is the flag of every command that speaks with the service.
func traceFlag() cli.Flag {
	return textFlag("trace", "", "write every request, redacted, to a new `FILE`")
}

// openTrace opens the file of traceFlag.
func (p *program) openTrace(c *cli.Context) (err error) {
	path := c.String("trace")
	if err := refuseExisting(path, "--trace"); err != nil {
		return err
	}
	p.trace, err = observe.OpenTrace(path, func(wrong problem.Problem) { console.PrintProblems(p.Err, problem.List{wrong}) })
	return err
}

// untraceable refuses --trace for a command that does not ask the service.
func untraceable(c *cli.Context) error {
	if !c.IsSet("trace") {
		return nil
	}
	return problem.New("usage", "--trace is about requests, and without -e the service is not asked").Hinted("name the environment with -e, or leave --trace out")
}

// connection says how a command reaches the service; run is the id that the service and
// the trace get, and may be empty.
func (p *program) connection(run string) load.Connection {
	return load.Connection{UserAgent: userAgent(run), AskAgain: p.pace.AskAgain, Trace: p.trace.Of(run)}
}
