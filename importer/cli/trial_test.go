package cli_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"claimsheet/importer/testform"
)

// long asks for what takes minutes: kills at every place, many histories, workers.
var long = testform.Long

// onlyLong leaves a test out without -long.
func onlyLong(t *testing.T) {
	t.Helper()
	testform.OnlyLong(t)
}

// suite is this package's tests.
type suite struct{ *testing.M }

// Run runs the tests. Most of them wait for a disk or a service: more than there are processors run side by side,
// unless -parallel is given or the race detector keeps the processors busy.
func (s suite) Run() int {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue && !underRace {
		err := parallel.Value.Set(strconv.Itoa(4 * runtime.GOMAXPROCS(0)))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := os.Setenv("UAT_TOKEN", "canary-token"); err != nil { // what environments files name as env:UAT_TOKEN
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return testform.Run(s.M)
}

// The programs that tests start as processes: this test's own binary under the name "claimsheet" is the program, and
// under the other the program with places at which it can be killed, bugs that can be injected, and clocks that can be
// set. What that one does is chosen by environment variables (see the package importer/cli/trial).
const (
	programName = "claimsheet"
	trialName   = "claimsheet-trial"
)

// TestNoTrialInTheProgram: nothing of importer/cli/trial is built into the program.
func TestNoTrialInTheProgram(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Dir = root
	out, err := cmd.Output()
	must(t, err)
	if strings.Contains(string(out), "importer/cli/trial") {
		t.Error("importer/cli/trial is built into the program")
	}
}
