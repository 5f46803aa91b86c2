//go:build linux || darwin

package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

// inTerminal runs the built program with a terminal of so many columns on all
// its streams, and returns every byte that it printed.
func inTerminal(t *testing.T, columns uint16, env []string, args ...string) (printed string, code int) {
	t.Helper()
	return inTerminalAt(t, "", columns, env, args...)
}

// inTerminalAt is inTerminal in a folder.
func inTerminalAt(t *testing.T, folder string, columns uint16, env []string, args ...string) (printed string, code int) {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	cmd.Args[0] = "claimsheet" // the test binary is then the program, see TestMain
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm"}, env...)...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	defer terminal.Close()
	out, _ := io.ReadAll(terminal) // ends with an error when the program closes its side
	_ = cmd.Wait()                 // the exit code tells how it went
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

// frames are the states of the progress bar.
func frames(printed string) []string {
	var found []string
	for part := range strings.SplitSeq(printed, "\r") {
		if strings.Contains(part, "[") && strings.Contains(part, "/4 ") {
			found = append(found, part)
		}
	}
	return found
}

var (
	speedAndTime = regexp.MustCompile(`\d+( calls/s|s\b)`)
	theBar       = regexp.MustCompile(`\[[=> ]*\]`)
)

// TestTerminal looks at a run as a person does who sits before it: a bar while
// it goes on, that fits and says why the run waits, and afterwards nothing but
// what a pipe has without its log lines.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns uint16
		frame   string // one that must be seen, but for its numbers
		pause   string
	}{
		{40, "4 [] ETA Ns  N calls/s\n", "0/4 [] the service asks to wait"},
		{80, "4 clients [] ETA Ns  N calls/s\n", "0/4 clients [] the service asks to wait"},
	} {
		t.Run(fmt.Sprint(c.columns, " columns"), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(4))
			s.service.Play(apitest.Once(func(call apitest.Call) bool { return call.Kind == "client" }, apitest.Busy(429, 1)))
			bad := lead(5, "A-5")
			bad[3] = "yesterday"
			s.sheet(append(leads(3), bad))
			printed, code := inTerminal(t, c.columns, nil, s.args("--rate", "12")...)
			if code != 1 {
				t.Fatalf("exit code %d\n%s", code, printed)
			}
			if strings.ContainsRune(printed, '\x1b') {
				t.Errorf("%d columns: there are escape sequences in %q", c.columns, printed)
			}
			all := ""
			for _, frame := range frames(printed) {
				if n := utf8.RuneCountInString(frame); n > int(c.columns) {
					t.Errorf("%d columns: a line has %d: %q", c.columns, n, frame)
				}
				all += theBar.ReplaceAllString(speedAndTime.ReplaceAllString(frame, "N$1"), "[]") + "\n"
			}
			for _, want := range []string{c.frame, c.pause} {
				if !strings.Contains(all, want) {
					t.Errorf("%d columns: %q is not among the lines\n%s", c.columns, want, all)
				}
			}
			piped := s.runContext(t.Context())
			if piped.code != 1 {
				t.Fatalf("exit code %d\n%s", piped.code, piped.err)
			}
			seen := screen(printed)
			if diff := cmp.Diff(piped.err, strings.Join(strings.SplitAfter(seen, "\n")[:2], "")); diff != "" {
				t.Errorf("%d columns: the problems (-pipe +terminal):\n%s", c.columns, diff)
			}
			if strings.Contains(seen, "calls/s") || strings.Contains(seen, "level=") || !strings.Contains(seen, "\nDone in uat: 4 rows of 4 clients in ") {
				t.Errorf("%d columns: what remains is\n%s", c.columns, seen)
			}
		})
	}
}

// TestWithoutBar are the terminals that want none.
func TestWithoutBar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, env string }{{"--no-progress", ""}, {"--quiet", ""}, {"--log-format=text", ""}, {"--dry-run", "TERM=dumb"}} {
		t.Run(c.flag+c.env, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(2))
			printed, code := inTerminal(t, 80, []string{c.env}, s.args("--rate", "40", c.flag)...)
			if code != 0 || strings.Contains(strings.ReplaceAll(printed, "\n", ""), "\r") || strings.Contains(printed, "/2 ") {
				t.Errorf("%v: exit code %d, and a bar:\n%q", c, code, printed)
			}
			if logs := strings.Contains(printed, "level="); logs != (c.flag == "--log-format=text") {
				t.Errorf("%v: log lines on the terminal: %v", c, logs)
			}
		})
	}
}
