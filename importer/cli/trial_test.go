package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A trial build is the program with some edits: places at which it can be
// killed, bugs that can be planted, clocks that can be set. The edits are made
// to copies, which the compiler is told to take instead (go build -overlay), so
// that nothing of all this is in the program itself. What a trial build does is
// chosen by environment variables; without them it does what the program does.

// edit is a change of a trial build: text that stands exactly once in a file of
// the program, and what is to stand there instead.
type edit struct{ file, old, new string }

// trialEdits are the places of a step at which a trial build can be killed, and
// the clocks that are not asked by the package time's functions alone. Outcomes
// wait for the next commit, so one commit may be a place of several steps.
var trialEdits = []edit{
	{"importer/client.go", "\terr := r.job.effects.commit(r.pending)\n", `
	pass := func(when string) {
		for _, event := range r.pending {
			what := "outcome"
			if event.To == ledger.Intent {
				what = "intent"
			}
			trial.Reach(when+"-"+what, event.Client+":"+event.StepID.Step)
		}
	}
	pass("before")
	err := r.job.effects.commit(r.pending)
	pass("after")
`},
	{"importer/client.go", "func (r *clientRun) send(ctx context.Context, d decision) (stepOutcome, error) {\n", `
func (r *clientRun) send(ctx context.Context, d decision) (stepOutcome, error) {
	ctx = trial.Step(ctx, r.plan.Client.Key+":"+d.step.Key)
`},
	{"apiclient/client.go", "proof.watch(ctx)", `trial.Watch(proof.watch(ctx), string(r.Kind)+" "+r.Path[len(r.Path)-1], body.unread)`},
	{"apiclient/evidence.go", "n, err := c.Conn.Write(p)\n", "n, err := c.Conn.Write(p)\n\ttrial.Wrote(c)\n"},
	{"apiclient/client.go", "a.Body, err = io.ReadAll(io.LimitReader(res.Body, int64(most)+1))\n", `
	a.Body, err = io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	trial.Reach("after-answer", trial.StepOf(res.Request.Context(), string(r.Kind)+" "+r.Path[len(r.Path)-1]))
`},
	// The library says by the real clock when a token ends.
	{"apiclient/environment/oauth2.go", "\tif err := checkHeaderText(t.AccessToken)", `
	if !t.Expiry.IsZero() {
		t.Expiry = trial.Now().Add(time.Until(t.Expiry))
	}
	if err := checkHeaderText(t.AccessToken)`},
	{"importer/ledger/clock_linux.go", "return bootID(), time.Duration(t.Nano())", "return trial.Boot(bootID(), time.Duration(t.Nano()))"},
}

// clocked are the packages whose wall clock a trial build can set.
var clocked = []string{"apiclient", "apiclient/environment", "importer/retry", "importer/ledger", "importer/cli", "importer/cli/load", "importer/cli/observe"}

// byTrialClock has a file ask the clock that can be set.
var byTrialClock = strings.NewReplacer("time.Now()", "trial.Now()", "time.Since(", "trial.Since(", "time.Until(", "trial.Until(")

// trialSources are the files that a trial build has otherwise, by their paths.
func trialSources(t testing.TB) map[string]string {
	t.Helper()
	sources := map[string]string{}
	read := func(file string) string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, pkg := range clocked {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		before := len(sources)
		for _, name := range names {
			text := read(name)
			if clocked := byTrialClock.Replace(text); clocked != text && !strings.HasSuffix(name, "_test.go") {
				sources[name] = clocked + "\nvar _ time.Time\n"
			}
		}
		if len(sources) == before {
			t.Fatalf("%s asks no clock: it need not be listed", pkg)
		}
	}
	edits := slices.Clone(trialEdits)
	for _, p := range slices.Concat(plants, historyPlants) {
		edits = append(edits, p.edits...)
	}
	for _, e := range edits {
		name := filepath.Join(root, filepath.FromSlash(e.file))
		if sources[name] == "" {
			sources[name] = read(name)
		}
		old := byTrialClock.Replace(e.old)
		if n := strings.Count(sources[name], old); n != 1 {
			t.Fatalf("%s holds the text %q %d times: it was changed, and so must be the edit of the trial build that looks for it (once)", e.file, old, n)
		}
		sources[name] = strings.Replace(sources[name], old, e.new, 1)
	}
	for name, text := range sources {
		sources[name] = packageClause.ReplaceAllString(text, "$0\nimport \"claimsheet/importer/trial\"\n") + "\nvar _ = trial.Reach\n"
	}
	return sources
}

var packageClause = regexp.MustCompile(`(?m)^package \w+$`)

// buildFolder is where binaries are built that several tests use.
var buildFolder string

// builds is this package's tests with a buildFolder.
type builds struct{ *testing.M }

// Run runs the tests. Most of them wait for a disk or a service: more than there
// are processors run side by side, unless -parallel is given or the race detector
// keeps the processors busy.
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
	return built(t, "claimsheet", func(string) []string { return nil })
}

// trialProgram builds the trial build.
func trialProgram(t testing.TB) string {
	return built(t, "trial", func(dir string) []string { return []string{"-overlay", trialOverlay(t, dir)} })
}

// built builds a binary, unless an earlier test has.
func built(t testing.TB, name string, flags func(dir string) []string) string {
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
	args := append([]string{"build", "-ldflags", "-X 'claimsheet/importer/cli.lookAgain=0s 20ms' -X claimsheet/importer/cli.askAgain=20ms", "-o", binary}, flags(dir)...)
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// trialOverlay writes the sources of a trial build and the list of them.
func trialOverlay(t testing.TB, dir string) (list string) {
	t.Helper()
	absolute := func(elem ...string) string {
		path, err := filepath.Abs(filepath.Join(elem...))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	replace := map[string]string{absolute(root, "importer", "trial", "trial.go"): absolute("testdata", "trial", "trial.go.txt")}
	for name, text := range trialSources(t) {
		edited := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		write(t, edited, text)
		replace[absolute(name)] = edited
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list = filepath.Join(dir, "overlay.json")
	write(t, list, string(data))
	return list
}
