package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
)

const versionHelp = `The version is the release's, or for a build between releases the one that Go makes from the time and the name of the commit;
dev when the program was built without a repository.

Examples:

    claimsheet version`

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print which program this is",
		UsageText:   "claimsheet version",
		Description: versionHelp,
		Action: func(*cli.Context) error {
			_, err := fmt.Fprintf(p.Out, "claimsheet %s\nbuilt with %s for %s/%s\n", thisVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// thisVersion is the release, or what Go makes from the commit; dev without a repository.
func thisVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	return cmp.Or(strings.TrimSuffix(info.Main.Version, "(devel)"), "dev")
}
