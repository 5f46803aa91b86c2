package cli

import (
	"github.com/urfave/cli/v2"
)

// The flags that commands share. Each call makes a flag of its own, because
// the library keeps what was given in the flag.

func textFlag(name, short, usage string) *cli.StringFlag {
	f := &cli.StringFlag{Name: name, Usage: usage}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

func numberFlag(name, usage, usual string) *cli.IntFlag {
	return &cli.IntFlag{Name: name, Usage: usage, DefaultText: usual}
}

func switchFlag(name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, DisableDefaultText: true}
}

func templatesFlag() cli.Flag {
	return textFlag("templates", "", "reference data for the sandbox: a `FILE` with the answer of GET activity-templates")
}

// placeFlags say where things are.
func placeFlags() []cli.Flag {
	return []cli.Flag{
		textFlag("mapping", "m", "the mapping `FILE`"),
		textFlag("env", "e", "the `ENVIRONMENT`; default: CLAIMSHEET_ENV, then the environments file's default"),
		textFlag("environments", "", "the environments `FILE`; default: environments.yaml beside the mapping"),
		textFlag("state", "", "the state `FOLDER`; default: .claimsheet beside the environments file"),
		templatesFlag(),
	}
}

// place is where things are: what every command that uses an environment
// takes.
type place struct {
	mapping      string
	env          string
	environments string
	state        string
	templates    string
	pace         pace
}

func (p *program) placeOf(c *cli.Context) place {
	where := place{
		mapping: c.String("mapping"), env: c.String("env"), environments: c.String("environments"),
		state: c.String("state"), templates: c.String("templates"), pace: p.pace,
	}
	if where.env == "" {
		where.env = p.Env("CLAIMSHEET_ENV")
	}
	return where
}
