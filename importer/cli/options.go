package cli

import (
	"github.com/urfave/cli/v2"
)

// The flags that commands share.
var (
	mappingFlag = &cli.StringFlag{Name: "mapping", Aliases: []string{"m"}, Usage: "the mapping `FILE`; required"}
	envFlag     = &cli.StringFlag{Name: "env", Aliases: []string{"e"},
		Usage: "the `ENVIRONMENT`; default: CLAIMSHEET_ENV, then the environments file's default"}
	environmentsFlag = &cli.StringFlag{Name: "environments", Usage: "the environments `FILE`; default: environments.yaml beside the mapping"}
	stateFlag        = &cli.StringFlag{Name: "state", Usage: "the state `FOLDER`; default: .claimsheet beside the environments file"}
	templatesFlag    = &cli.StringFlag{Name: "templates",
		Usage: "reference data for the sandbox: a `FILE` with the answer of GET activity-templates"}
	jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print one JSON object on stdout at the end"}
)

// runOptions are the flags of claimsheet run.
type runOptions struct {
	place
	sheet       string
	out         string
	concurrency int
	rate        float64
	limit       int
	only        string
	minRows     int
	dryRun      bool
	noLookup    bool
	json        bool
	quiet       bool
}

// place is where things are: what every command that uses an environment
// takes.
type place struct {
	mapping      string
	env          string
	environments string
	state        string
	templates    string
}

func (p *program) placeOf(c *cli.Context) place {
	where := place{
		mapping: c.String("mapping"), env: c.String("env"), environments: c.String("environments"),
		state: c.String("state"), templates: c.String("templates"),
	}
	if where.env == "" {
		where.env = p.Env("CLAIMSHEET_ENV")
	}
	return where
}
