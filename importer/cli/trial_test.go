package cli_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// buildFolder is where binaries are built that several tests use.
var buildFolder string

// builds is this package's tests with a buildFolder.
type builds struct{ *testing.M }

// Run runs the tests. Most of them wait for a disk or a service: more than there
// are processors run side by side, unless -parallel is given or the race detector
// keeps the processors busy. Temporary files are in memory, where there is room and
// TMPDIR does not say where else; binaries are not, for programs may be forbidden there.
func (b builds) Run() int {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue && !underRace {
		err := parallel.Value.Set(strconv.Itoa(4 * runtime.GOMAXPROCS(0)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "claimsheet-builds-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	buildFolder = dir
	if memory := inMemory(); memory != "" && os.Getenv("TMPDIR") == "" {
		files, err := os.MkdirTemp(memory, "claimsheet-tests-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(files)
		if err := os.Setenv("TMPDIR", files); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := os.Setenv("UAT_TOKEN", "canary-token"); err != nil { // what environments files name as env:UAT_TOKEN
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return b.M.Run()
}

// building is held while a binary is built.
var building sync.Mutex

// buildProgram builds the real binary.
func buildProgram(t testing.TB) string {
	return built(t, "claimsheet")
}

// trialProgram builds the trial build: the program with places at which it can be
// killed, bugs that can be planted, and clocks that can be set. What it does is
// chosen by environment variables (see the package importer/cli/trial); without them
// it does what the program does.
func trialProgram(t testing.TB) string { return built(t, "trial", "-tags", "trial") }

// built builds a binary, unless an earlier test has.
func built(t testing.TB, name string, flags ...string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	dir := filepath.Join(buildFolder, name)
	binary := filepath.Join(dir, "claimsheet.exe")
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"build", "-ldflags", "-X 'claimsheet/importer/cli.lookAgain=0s 20ms' -X claimsheet/importer/cli.askAgain=20ms", "-o", binary}, flags...)
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// TestNothingOfATrialIsInTheProgram compares what the program is built from with
// what a trial build is.
func TestNothingOfATrialIsInTheProgram(t *testing.T) {
	t.Parallel()
	const pkg = "claimsheet/importer/cli/trial"
	for _, build := range []struct {
		tags  string
		trial bool
	}{{"", false}, {"trial", true}} {
		cmd := exec.Command("go", "list", "-deps", "-tags", build.tags, "-f", "{{.ImportPath}}{{if eq .ImportPath \"claimsheet/importer/cli\"}} {{.GoFiles}}{{end}}", ".")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(out), pkg); has != build.trial {
			t.Errorf("with the tags %q the package %s is built in: %v", build.tags, pkg, has)
		}
		if has := strings.Contains(string(out), "seams_trial.go"); has != build.trial {
			t.Errorf("with the tags %q the seams of a trial are built in: %v", build.tags, has)
		}
	}
}
