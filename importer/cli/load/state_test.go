package load_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"claimsheet/importer/cli/load"
	"claimsheet/importer/testform"
	"claimsheet/mapping/problem"
)

var must = testform.NoError

func TestStatePath(t *testing.T) {
	for _, test := range []struct{ mapping, environments, flag, want string }{
		{"a/mapping.yaml", "", "", "a/.claimsheet"},
		{"a/mapping.yaml", "b/environments.yaml", "", "b/.claimsheet"},
		{"mapping.yaml", "environments.yaml", "", ".claimsheet"},
		{"a/mapping.yaml", "b/environments.yaml", "elsewhere", "elsewhere"},
		{"", "", "", ""}, // never the current folder by accident
	} {
		if got := load.StatePath(filepath.FromSlash(test.mapping), filepath.FromSlash(test.environments), test.flag); got != filepath.FromSlash(test.want) {
			t.Errorf("StatePath(%q, %q, %q) = %q, want %q", test.mapping, test.environments, test.flag, got, test.want)
		}
	}
}

func TestIsInStateFolder(t *testing.T) {
	dir := t.TempDir()
	must(t, errors.Join(os.Mkdir(filepath.Join(dir, "state"), 0o700), os.WriteFile(filepath.Join(dir, "state", "ledger.db"), nil, 0o600)))
	for path, want := range map[string]bool{
		"log.txt": false, "state/log.txt": true, "state/deep/log.txt": true, ".claimsheet/log.txt": true,
	} {
		if got := load.IsInStateFolder(filepath.Join(dir, path)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestCheckState: neither the folder nor one above it may be writable for others.
func TestCheckState(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes here")
	}
	above := filepath.Join(t.TempDir(), "above")
	folder := filepath.Join(above, "state")
	for _, test := range []struct {
		above, folder os.FileMode
		refused       bool
	}{
		{0o755, 0o700, false}, {0o755, 0o755, false}, {0o755, 0o770, true}, {0o755, 0o702, true},
		{0o777, 0o700, true}, {0o777 | os.ModeSticky, 0o700, false}, {0o770, 0o700, false},
	} {
		must(t, errors.Join(os.MkdirAll(folder, 0o700), os.Chmod(folder, test.folder), os.Chmod(above, test.above)))
		err := load.CheckState(folder)
		p, isProblem := errors.AsType[problem.Problem](err)
		if refused := err != nil; refused != test.refused || refused && (!isProblem || p.Code != "state-folder") {
			t.Errorf("%v in %v: %v", test.folder, test.above, err)
		}
	}
	if err := load.CheckState(filepath.Join(folder, "none")); err != nil {
		t.Errorf("a folder that does not exist yet: %v", err)
	}
}
