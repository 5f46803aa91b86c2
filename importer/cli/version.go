package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"claimsheet/mapping/problem"
)

const versionHelp = `The version is the release's, or for a build between releases the one that Go makes from the time and the name of the commit;
dev when the program was built without a repository.

Examples:

    claimsheet version`

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print which program this is: version, commit, Go version, platform",
		UsageText:   "claimsheet version",
		Description: versionHelp,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return problem.New("usage", "claimsheet version takes no arguments").Hinted("claimsheet version")
			}
			_, err := fmt.Fprint(p.Out, thisBuild())
			return err
		},
	}
}

// build is what Go recorded in the program when it was built.
type build struct {
	Version  string // the release, or what Go makes from the commit; dev without a repository
	Revision string // the commit; "" without a repository
	Time     string // of the commit
	Modified bool   // the files were not those of the commit
	Go       string // the Go version
	Platform string // system and processor
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{Version: cmp.Or(strings.TrimSuffix(info.Main.Version, "(devel)"), "dev"), Go: info.GoVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	text := fmt.Sprintf("claimsheet %s\nbuilt with %s for %s\n", b.Version, b.Go, b.Platform)
	switch {
	case b.Revision == "":
		return text
	case b.Modified:
		return text + fmt.Sprintf("from commit %s of %s, with changes\n", b.Revision, b.Time)
	}
	return text + fmt.Sprintf("from commit %s of %s\n", b.Revision, b.Time)
}
