//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// columns is the width of the terminal of typing.
const columns = 80

// typing runs the built program with a terminal on all its streams, and a person who types: where what is printed
// matches an expression, in their order, what belongs to it. It returns every byte that was printed.
func typing(t *testing.T, typed [][2]string, args ...string) (printed string, code int) {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	cmd := exec.Command(program, args...)
	cmd.Args[0] = programName // the test binary is then the program, see TestMain
	cmd.Env = append(os.Environ(), "TERM=xterm")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	defer terminal.Close()
	var out []byte
	for chunk := make([]byte, 4096); err == nil; { // ends with an error when the program closes its side
		var n int
		n, err = terminal.Read(chunk)
		out = append(out, chunk[:n]...)
		if len(typed) > 0 && regexp.MustCompile(typed[0][0]).Match(out) {
			_, _ = terminal.Write([]byte(typed[0][1]))
			typed = typed[1:]
		}
	}
	_ = cmd.Wait() // the exit code tells how it went
	return strings.ReplaceAll(string(out), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

// screen is what remains to be seen of what was printed.
func screen(printed string) string {
	var lines []string
	for line := range strings.SplitSeq(printed, "\n") {
		var cells []rune
		for _, part := range strings.Split(line, "\r") {
			over := []rune(part)
			cells = append(over, cells[min(len(over), len(cells)):]...)
		}
		lines = append(lines, strings.TrimRight(string(cells), " "))
	}
	return strings.Join(lines, "\n")
}

var (
	speedAndTime = regexp.MustCompile(`\d+( calls/s|s\b)`)
	theBar       = regexp.MustCompile(`\[[=> ]*\]`)
)

// TestTerminal looks at a run as a person does who sits before it: a bar while it goes on, that fits and says why the
// run waits, and afterwards nothing but what a pipe has without its log lines.
func TestTerminal(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(4))
	s.service.Play(apitest.Once(func(call apitest.Call) bool { return call.Kind == "client" }, apitest.Busy(429, 1)))
	bad := lead(5, "A-5")
	bad[3] = "yesterday"
	s.sheet(append(leads(3), bad))
	printed, code := typing(t, nil, s.args("--rate", "12")...)
	if code != 1 || strings.ContainsRune(printed, '\x1b') {
		t.Fatalf("exit code %d\n%q", code, printed)
	}
	all := ""
	for frame := range strings.SplitSeq(printed, "\r") { // of the progress bar
		if !strings.Contains(frame, "[") || !strings.Contains(frame, "/4 ") {
			continue
		}
		if n := utf8.RuneCountInString(frame); n > columns {
			t.Errorf("a line has %d columns: %q", n, frame)
		}
		all += theBar.ReplaceAllString(speedAndTime.ReplaceAllString(frame, "N$1"), "[]") + "\n"
	}
	expect(t, all, "4 [] ETA Ns  N calls/s\n", "0/4 [] the service asks to wait")
	piped, seen := claimsheet(t, s.args()...), screen(printed)
	if diff := cmp.Diff(piped.err, strings.Join(strings.SplitAfter(seen, "\n")[:2], "")); diff != "" || piped.code != 1 {
		t.Errorf("exit code %d; the problems (-pipe +terminal):\n%s", piped.code, diff)
	}
	if strings.Contains(seen, "calls/s") || strings.Contains(seen, "level=") || !strings.Contains(seen, "\nDone in uat: 4 rows of 4 clients in ") {
		t.Errorf("what remains is\n%s", seen)
	}
}

// TestFirstRunAsks: in a terminal, the first run of a mapping that would create more than five clients asks; later runs
// do not, nor does one with --yes or without a terminal.
func TestFirstRunAsks(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(6))
	try := func(s *scene, answer string, want int, asks bool, flags ...string) {
		t.Helper()
		printed, code := typing(t, [][2]string{{"Type yes: ", answer}}, s.args(flags...)...)
		if asked := strings.Contains(printed, "It creates up to 6 clients at http://"); code != want || asked != asks || asked != strings.Contains(printed, "Type yes") {
			t.Errorf("%q: exit code %d, want %d; it asks: %v\n%s", answer, code, want, asked, printed)
		}
	}
	try(s, "no\n", 3, true)
	try(s, "\x03", 130, true)
	s.onlyGETs()
	try(s, "yes\n", 0, true)
	try(s, "", 0, false)
	try(newScene(t, stepThree, leads(6)), "", 0, false, "--yes")
	s.checkPromise()
}

// TestCtrlCAnswers: the first Ctrl-C says at once what the run waits for.
func TestCtrlCAnswers(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method == "GET" {
			return apitest.Fault{}
		}
		return apitest.Fault{Delay: 2 * time.Second}
	})
	printed, code := typing(t, [][2]string{{`[1-9]\d* calls/s`, "\x03"}}, s.args("--concurrency", "1")...)
	const says = "claimsheet: stopping: requests in flight: 1; waiting for their answers; press Ctrl-C again to stop at once\n"
	if code != 130 || strings.Count(printed, says) != 1 || strings.Index(printed, says) > strings.Index(printed, "Stopped: ") {
		t.Errorf("exit code %d\n%s", code, printed)
	}
	s.service.Play(nil)
	s.mustRun(0)
	s.checkPromise()
}
