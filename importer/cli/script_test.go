package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/sandbox"
	"claimsheet/importer/cli"
	"claimsheet/importer/ledger"
	"claimsheet/reports"
)

var update = flag.Bool("update", false, "write what the scripts' commands print into the scripts")

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the test process has memory to spare
	programs := map[string]func(){
		programName: func() { os.Exit(cli.QuickProcess()) },
		trialName: func() {
			cli.InstallTrial()
			os.Exit(cli.QuickProcess())
		},
		"claimsheet-panics": func() {
			cli.SetUpProcess(os.Getenv)
			os.Exit(cli.MainAt(context.Background(), os.Args[1:], cli.IO{Out: os.Stdout, Err: os.Stderr, Env: func(string) string { panic("canary") }}, cli.QuickPace()))
		},
	}
	maps.Copy(programs, benchPrograms)
	testscript.Main(suite{m}, programs)
}

// TestScripts runs the program as a user types it, one script for each thing
// that a user does. Every script finds a copy of the samples in its folder, and among them a workbook of LibreOffice.
//
//	exits N claimsheet ARG…      runs the command, which must end with exit code N
//	refuses claimsheet ARG…      the same with exit code 2, and it must leave no trace: nothing on
//	                             stdout, no file or folder made or changed, nothing sent to the service
//	small                        makes the mapping.yaml and the leads.csv that most scripts use, where the script has none
//	says LINE…                   compares stderr, as it is or scrubbed, with these lines; ' is written twice
//	scrub FROM TO [log]          takes what changes from run to run (times, ids, folders), and log lines unless they are asked for, out of a text
//	workbook FILE CSV [SHEET]    makes a workbook of text cells
//	put FILE CELL TEXT           changes a cell of a workbook's first sheet
//	cell FILE SHEET CELL TEXT…   compares cells of a workbook, each with the text behind it
//	encrypt FILE PASSWORD        saves a workbook with a password
//	hide FILE ROW…               hides rows of a workbook's first sheet
//	merge FILE AREA…             merges cells of it, such as B2:B3
//	strip FILE                   saves a workbook without its document properties, as some programs do
//	second FILE SHEET CSV        adds a sheet to a workbook
//	service FILE                 starts a service and writes an environments file that has it as default
//	sent N                       N requests other than GETs have reached the service
//	serve ARG…                   starts claimsheet sandbox and sets $URL to its first line
//	interrupt                    interrupts it; the exit code must be 130; its stderr is then in the file served
//	expand FILE                  replaces $VARIABLES in a file
//	hold LEDGER                  holds a ledger as another run would
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Values[stateKey{}] = new(state)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector would hold up the end of every process by a second
			env.Setenv("GOGC", "400")                 // a process that begins then does not collect garbage
			mappings, err := filepath.Glob(filepath.Join(root, "samples", "*", "mapping.yaml"))
			for _, mapping := range mappings {
				err = errors.Join(err, copySample(filepath.Dir(mapping), filepath.Join(env.WorkDir, "samples")))
			}
			edited, readErr := os.ReadFile("testdata/edited-in-libreoffice.xlsx")
			return errors.Join(err, readErr, os.WriteFile(filepath.Join(env.WorkDir, "samples", "edited-in-libreoffice.xlsx"), edited, 0o600))
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "long":
				return *long, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: commandsOfScripts(),
	})
}

// commandsOfScripts are the commands that TestScripts explains.
func commandsOfScripts() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, []string){
		"exits": exits, "refuses": refuses, "small": makeSmall, "says": says, "scrub": scrub, "cell": compareCells, "encrypt": encryptWorkbook,
		"service": startService, "sent": sent, "serve": serve, "interrupt": interrupt, "expand": expand, "hold": hold,
	}
	for name, edit := range edits {
		commands[name] = func(ts *testscript.TestScript, args []string) {
			path := ts.MkAbs(args[0])
			if name == "workbook" {
				_ = os.Remove(path)
			}
			f, err := excelize.OpenFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				f, err = excelize.NewFile(), os.MkdirAll(filepath.Dir(path), 0o700)
			}
			ts.Check(err)
			defer f.Close()
			ts.Check(edit(ts, f, args[1:]))
			ts.Check(f.SaveAs(path))
		}
	}
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range commands {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("this command takes no !")
			}
			run(ts, args)
		}
	}
	return all
}

// copySample copies a sample into a folder, but neither results nor a state folder: a trial of the sample leaves them there.
func copySample(from, to string) error {
	to = filepath.Join(to, filepath.Base(from))
	err := os.CopyFS(to, os.DirFS(from))
	for _, made := range []string{".claimsheet", "*.results*.xlsx", "*.plan.xlsx"} {
		found, globErr := filepath.Glob(filepath.Join(to, made))
		err = errors.Join(err, globErr)
		for _, path := range found {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// state is what a script's commands share.
type state struct {
	requests atomic.Int64  // those other than GETs, at the service
	server   *exec.Cmd     // nil when none is running
	said     *bytes.Buffer // its stderr
}

type stateKey struct{}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(stateKey{}).(*state) }

func exits(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	expectExit(ts, want, args[1:])
}

// expectExit runs a command, which must end with an exit code, and returns what it said.
func expectExit(ts *testscript.TestScript, want int, args []string) played {
	err := ts.Exec(args[0], args[1:]...)
	got := played{out: ts.ReadFile("stdout"), err: ts.ReadFile("stderr")}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		got.code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got.code != want {
		ts.Fatalf("exit code %d, want %d", got.code, want)
	}
	return got
}

func refuses(ts *testscript.TestScript, args []string) {
	before, sentBefore := tree(ts), stateOf(ts).requests.Load()
	got := expectExit(ts, 2, args)
	if got.out != "" {
		ts.Fatalf("a refused command prints on stdout")
	}
	if got.err == "" {
		ts.Fatalf("a refused command says nothing on stderr")
	}
	if diff := cmp.Diff(before, tree(ts)); diff != "" {
		ts.Fatalf("a refused command leaves a trace (-before +after):\n%s", diff)
	}
	if n := stateOf(ts).requests.Load() - sentBefore; n != 0 {
		ts.Fatalf("a refused command sends %d requests", n)
	}
}

// tree is what stands in the script's folder, temporary files included. The ledger may be there: a run opens it to
// learn whether it may replace a workbook. It holds no input.
func tree(ts *testscript.TestScript) map[string]string {
	work := ts.Getenv("WORK")
	found := map[string]string{}
	ts.Check(filepath.WalkDir(work, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || name == ".tmp" || name == ".claimsheet" || strings.HasPrefix(name, "ledger.db") {
			return err
		}
		info, err := d.Info()
		if err == nil && d.IsDir() {
			found[path] = "folder"
		} else if err == nil {
			found[path] = fmt.Sprint(info.Size(), info.ModTime())
		}
		return err
	}))
	return found
}

// changing is what differs from one run to the next.
var changing = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`(?m)^[0-9a-f]{8}  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  \d+s `), "RUN  TIME  TOOK "}, // a line of history
	{regexp.MustCompile(`run [0-9a-f]{8}\b`), "run RUN"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`\d+ bytes`), "N bytes"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "TIME"},
	{regexp.MustCompile(` in [0-9.hmµs]+\.\n`), " in SECONDS.\n"},
	{regexp.MustCompile(`"seconds":[0-9.e-]+`), `"seconds":SECONDS`},
	{regexp.MustCompile(`process \d+`), "process PID"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\d+ ms, slowest \d+ ms`), "DURATIONS"},
	{regexp.MustCompile(`(?m)^time=\S+`), "time=TIME"},
	{regexp.MustCompile(` seconds=[0-9.]+`), " seconds=SECONDS"},
}

var logLine = regexp.MustCompile(`(?m)^time=\S+ level=.*\n`)

func says(ts *testscript.TestScript, args []string) {
	want, got := strings.Join(args, "\n")+"\n", ts.ReadFile("stderr")
	if got != want && steadied(ts, logLine.ReplaceAllString(got, "")) != want {
		ts.Fatalf("stderr is\n%swant\n%s", got, want)
	}
}

func scrub(ts *testscript.TestScript, args []string) {
	text := ts.ReadFile(args[0])
	if len(args) == 2 {
		text = logLine.ReplaceAllString(text, "")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(steadied(ts, text)), 0o600))
}

// steadied replaces what changes from run to run in a text.
func steadied(ts *testscript.TestScript, text string) string {
	text = strings.ReplaceAll(text, ts.Getenv("WORK"), "WORK")
	for _, c := range changing {
		text = c.what.ReplaceAllString(text, c.with)
	}
	return text
}

const (
	smallMapping = `name: small
api: v2
client:
  key: E-mail
  lookup: {email: E-mail}
  fields: {email: {column: E-mail, type: Email}, lastName: Name}
activities:
  - template: Your details
    attributes:
      Postcode: Post code
      Date of birth: {column: DOB, type: Date, format: dd/mm/yyyy}
workflow: {name: Small, template_identifier: WF-1}
`
	smallLeads = `E-mail,Name,Post code,DOB
ann@example.com,Archer,ZZ1 1ZZ,01/02/1980
bob@example.com,Baker,ZZ2 2ZZ,03/04/1981
cid@example.com,Cooper,ZZ3 3ZZ,05/06/1982
`
)

func makeSmall(ts *testscript.TestScript, _ []string) {
	for name, text := range map[string]string{"mapping.yaml": smallMapping, "leads.csv": smallLeads} {
		if _, err := os.Stat(ts.MkAbs(name)); err != nil {
			ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
		}
	}
}

// fill writes the rows of a CSV file into a sheet.
func fill(ts *testscript.TestScript, f *excelize.File, sheet, file string) error {
	reader := csv.NewReader(strings.NewReader(ts.ReadFile(file)))
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	for i, row := range rows {
		err = errors.Join(err, f.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &row))
	}
	return err
}

// edits are the commands that change a workbook, or make a new one.
var edits = map[string]func(ts *testscript.TestScript, f *excelize.File, args []string) error{
	"workbook": func(ts *testscript.TestScript, f *excelize.File, args []string) error {
		name := append(args, "Leads")[1]
		return errors.Join(f.SetSheetName("Sheet1", name), fill(ts, f, name, args[0]))
	},
	"second": func(ts *testscript.TestScript, f *excelize.File, args []string) error {
		_, err := f.NewSheet(args[0])
		return errors.Join(err, fill(ts, f, args[0], args[1]))
	},
	"put": func(_ *testscript.TestScript, f *excelize.File, args []string) error {
		tab := reports.ResultsSheet // of a results workbook; a sheet's own is its first
		if n, err := f.GetSheetIndex(tab); err != nil || n < 0 {
			tab = f.GetSheetName(0)
		}
		return f.SetCellValue(tab, args[0], args[1])
	},
	"hide": func(_ *testscript.TestScript, f *excelize.File, args []string) (err error) {
		for _, arg := range args {
			row, _ := strconv.Atoi(arg)
			err = errors.Join(err, f.SetRowVisible(f.GetSheetName(0), row, false))
		}
		return err
	},
	"merge": func(_ *testscript.TestScript, f *excelize.File, args []string) (err error) {
		for _, area := range args {
			from, to, _ := strings.Cut(area, ":")
			err = errors.Join(err, f.MergeCell(f.GetSheetName(0), from, to))
		}
		return err
	},
	"strip": func(_ *testscript.TestScript, f *excelize.File, _ []string) error {
		properties, err := f.GetCustomProps()
		for _, p := range properties {
			p.Value = nil
			err = errors.Join(err, f.SetCustomProps(p))
		}
		return err
	},
}

func compareCells(ts *testscript.TestScript, args []string) {
	f, err := excelize.OpenFile(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	for pair := range slices.Chunk(args[2:], 2) {
		got, err := f.GetCellValue(args[1], pair[0])
		ts.Check(err)
		if got != pair[1] {
			ts.Fatalf("%s!%s is %q, want %q", args[1], pair[0], got, pair[1])
		}
	}
}

// encryptWorkbook saves a workbook with a password.
func encryptWorkbook(ts *testscript.TestScript, args []string) {
	f, err := excelize.OpenFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(f.SaveAs(ts.MkAbs(args[0]), excelize.Options{Password: args[1]}))
}

func startService(ts *testscript.TestScript, args []string) {
	inner, err := sandbox.New(sandbox.Options{})
	ts.Check(err)
	count := &stateOf(ts).requests
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			count.Add(1)
		}
		inner.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("URL", server.URL)
	file := "default: here\nenvironments:\n  here:\n    base_url: " + server.URL + "\n    case_id: " + sandbox.CaseID + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(file), 0o600))
}

func sent(ts *testscript.TestScript, args []string) {
	want, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	if got := stateOf(ts).requests.Load(); got != want {
		ts.Fatalf("%d requests were sent, want %d", got, want)
	}
}

func serve(ts *testscript.TestScript, args []string) {
	cmd := exec.Command("claimsheet", append([]string{"sandbox"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "GORACE="+ts.Getenv("GORACE"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	mine := stateOf(ts)
	mine.server, mine.said = cmd, new(bytes.Buffer)
	cmd.Stderr = mine.said
	ts.Check(cmd.Start())
	ts.Defer(func() {
		if mine.server != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv("URL", strings.TrimSuffix(line, "\n"))
}

func interrupt(ts *testscript.TestScript, _ []string) {
	mine := stateOf(ts)
	cmd := mine.server
	mine.server = nil
	ts.Check(cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // the exit code tells how it went
	ts.Check(os.WriteFile(ts.MkAbs("served"), mine.said.Bytes(), 0o600))
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		ts.Fatalf("exit code %d, want 130", got)
	}
}

func expand(ts *testscript.TestScript, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func hold(ts *testscript.TestScript, args []string) {
	release, err := ledger.Lock(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(release)
}
