package cli_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"claimsheet/importer/cli"
)

func TestVersionSaysWhatWasBuilt(t *testing.T) {
	t.Parallel()
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0ac6bee"}, {Key: "vcs.time", Value: "2026-11-22T18:07:25Z"}, {Key: "vcs.modified", Value: "false"}}
	changed := append(commit[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	built := "built with go1.26.8 for " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	for name, c := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		"a release":            {"v1.2.0", commit, "claimsheet v1.2.0\n" + built + "from commit 0ac6bee of 2026-11-22T18:07:25Z\n"},
		"with changes":         {"v1.2.0+dirty", changed, "claimsheet v1.2.0+dirty\n" + built + "from commit 0ac6bee of 2026-11-22T18:07:25Z, with changes\n"},
		"without a repository": {"(devel)", nil, "claimsheet dev\n" + built},
		"a test":               {"", nil, "claimsheet dev\n" + built},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "claimsheet", Version: c.version}, Settings: c.settings}
		if got := cli.VersionOf(info); got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}
