//go:build linux || darwin

package cli_test

import (
	"bufio"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"claimsheet/apiclient/apitest"
	"claimsheet/apiclient/sandbox"
)

// typing runs the built program in a folder, with a terminal of so many columns on all its streams, and somebody who
// types: at each text that is printed, in their order, what belongs to it. It returns every byte that was printed.
func typing(t *testing.T, typed [][2]string, folder string, columns uint16, env []string, args ...string) (printed string, code int) {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	cmd.Args[0] = programName // the test binary is then the program, see TestMain
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm"}, env...)...)
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
		if len(typed) > 0 && strings.Contains(string(out), typed[0][0]) {
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
	const columns = 80
	s := newScene(t, stepThree, leads(4))
	s.service.Play(apitest.Once(func(call apitest.Call) bool { return call.Kind == "client" }, apitest.Busy(429, 1)))
	bad := lead(5, "A-5")
	bad[3] = "yesterday"
	s.sheet(append(leads(3), bad))
	printed, code := typing(t, nil, "", columns, nil, s.args("--rate", "12")...)
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
	piped, seen := s.runContext(t.Context()), screen(printed)
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
	const question = "It creates up to 6 clients at http://"
	s := newScene(t, stepThree, leads(6))
	for answer, code := range map[string]int{"no\n": 3, "\x03": 130} {
		printed, got := typing(t, [][2]string{{"Type yes: ", answer}}, "", 80, nil, s.args()...)
		if got != code || !strings.Contains(printed, question) {
			t.Errorf("%q: exit code %d, want %d\n%s", answer, got, code, printed)
		}
		s.onlyGETs()
	}
	if printed, code := typing(t, [][2]string{{"Type yes: ", "yes\n"}}, "", 80, nil, s.args()...); code != 0 || !strings.Contains(printed, question) {
		t.Errorf("yes: exit code %d\n%s", code, printed)
	}
	if printed, code := typing(t, nil, "", 80, nil, s.args()...); code != 0 || strings.Contains(printed, "Type yes") {
		t.Errorf("again: exit code %d\n%s", code, printed)
	}
	other := newScene(t, stepThree, leads(6))
	if printed, code := typing(t, nil, "", 80, nil, other.args("--yes")...); code != 0 || strings.Contains(printed, "Type yes") {
		t.Errorf("--yes: exit code %d\n%s", code, printed)
	}
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
	printed, code := typing(t, [][2]string{{"0/3 ", "\x03"}}, "", 80, nil, s.args("--concurrency", "1")...)
	const says = "claimsheet: stopping: requests in flight: 1; waiting for their answers; press Ctrl-C again to stop at once\n"
	if code != 130 || strings.Count(printed, says) != 1 || strings.Index(printed, says) > strings.Index(printed, "Stopped: ") {
		t.Errorf("exit code %d\n%s", code, printed)
	}
	s.service.Play(nil)
	s.mustRun(0)
	s.checkPromise()
}

// pageBlock is a part of a page that its reader does, in the page's order: a ```console block, whose lines that begin
// with $ are commands with what they print below, and which without such a line is what claimsheet sandbox has printed
// meanwhile in its terminal; a ```yaml block with a file's name, which the reader writes; a comment that says what the
// reader does to a workbook; and a picture of one.
var pageBlock = regexp.MustCompile("(?s)```console\n(.*?)```|```yaml (\\S+)\n(.*?)```|<!-- ([a-z.]+): ([A-Za-z]+)!([A-Z]+[0-9]+) = (.*?) -->|" +
	`\]\((pictures/([a-z.]+)-([0-9])\.png)\)`)

// TestPages does what docs/guide.md shows, from the sheet to the nightly run with a sandbox for a service, and what
// docs/rehearsal.md shows: a night with faults, and the morning after it. That page starts the sandbox itself.
func TestPages(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	service, err := sandbox.New(sandbox.Options{})
	must(t, err)
	server := httptest.NewServer(service)
	defer server.Close()
	typePage(t, "guide", &reader{shown: "https://uat.example.com/api", url: server.URL}, 6)
	typePage(t, "rehearsal", &reader{shown: "http://127.0.0.1:8080"}, 5)
}

// reader does what a page shows in a folder.
type reader struct {
	folder     string
	shown, url string        // the service's url in the page, and in truth
	code       int           // the exit code of the last command
	sandbox    *bufio.Reader // what claimsheet sandbox prints; nil before it is started
}

// typePage does what the page docs/NAME.md shows, in a copy of the sample that the page names, and compares what is
// printed. The page has at least that many commands.
func typePage(t *testing.T, name string, r *reader, atLeast int) {
	t.Helper()
	path := filepath.Join(root, "docs", name+".md")
	page := readText(t, path)
	sample := regexp.MustCompile(`copy\s+.samples/([a-z]+)/`).FindStringSubmatch(page)
	to := t.TempDir()
	must(t, copySample(filepath.Join(root, "samples", sample[1]), to))
	r.folder = filepath.Join(to, sample[1])
	commands := 0
	shown := pageBlock.ReplaceAllStringFunc(page, func(match string) string {
		part := pageBlock.FindStringSubmatch(match)
		switch {
		case part[2] != "":
			write(t, filepath.Join(r.folder, part[2]), strings.ReplaceAll(part[3], r.shown, r.url))
		case part[4] != "":
			editWorkbook(t, filepath.Join(r.folder, part[4]), func(f *excelize.File) { must(t, f.SetCellValue(part[5], part[6], part[7])) })
		case part[8] != "":
			if _, err := os.Stat(filepath.Join(root, "docs", part[8])); err != nil {
				t.Error(err)
			}
		case !strings.HasPrefix(part[1], "$ "):
			return "```console\n" + r.listen(t, strings.Count(part[1], "\n")) + "```"
		default:
			var printed strings.Builder
			for _, command := range pageCommand.FindAllString(part[1], -1) {
				commands++
				printed.WriteString(command + strings.ReplaceAll(r.do(t, command), r.url, r.shown))
			}
			return "```console\n" + printed.String() + "```"
		}
		return part[0]
	})
	if commands < atLeast {
		t.Errorf("only %d commands found in %s", commands, path)
	}
	if *updateDocs {
		write(t, path, shown)
	} else if diff := cmp.Diff(page, shown); diff != "" {
		t.Errorf("what the commands of %s print (-page +printed); -update-docs writes it:\n%s", path, diff)
	}
}

// pageCommand is a command of a page. One that ends with a backslash goes on in the next line. pageWord is a word of
// it, which may be in quotes.
var (
	pageCommand = regexp.MustCompile(`(?m)^\$ (.*\\\n)*.*\n`)
	pageWord    = regexp.MustCompile(`'[^']*'|[^\s']+`)
)

// do runs a command of the page, and returns what remains on the screen, with what differs from run to run replaced.
func (r *reader) do(t *testing.T, command string) string {
	t.Helper()
	words := pageWord.FindAllString(strings.ReplaceAll(command, "\\\n", " "), -1)[1:] // without the $
	for i, word := range words {
		words[i] = strings.Trim(word, "'")
	}
	switch {
	case slices.Equal(words, []string{"echo", "$?"}):
		return strconv.Itoa(r.code) + "\n"
	case words[0] != "claimsheet":
		t.Fatalf("%s is no command of claimsheet", command)
	case words[1] == "sandbox":
		return r.serve(t, words[2:])
	}
	printed, code := typing(t, nil, r.folder, 100, []string{"NO_COLOR=1", "UAT_TOKEN=unused"}, words[1:]...)
	r.code = code
	text := strings.ReplaceAll(screen(printed), r.folder+string(filepath.Separator), "")
	for what, with := range pageConstants {
		text = regexp.MustCompile(what).ReplaceAllString(text, with)
	}
	return strings.TrimRight(text, "\n") + "\n"
}

// serve starts claimsheet sandbox, at a free port in place of the usual one, and returns its first three lines.
func (r *reader) serve(t *testing.T, flags []string) string {
	t.Helper()
	p := child(programName, append([]string{"sandbox", "--addr", "127.0.0.1:0"}, flags...))
	read, write, err := os.Pipe()
	must(t, err)
	p.Stdout, p.Stderr = write, write
	p.start(t)
	t.Cleanup(func() {
		p.kill()
		p.end(t)
	})
	must(t, read.SetReadDeadline(time.Now().Add(time.Minute))) // so that a missing line fails the test
	r.sandbox = bufio.NewReader(read)
	printed := r.listen(t, 3)
	r.url, _, _ = strings.Cut(printed, "\n")
	return regexp.MustCompile(`/dashboard/[A-Z2-7]{26}`).ReplaceAllString(printed, "/dashboard/4QPZ7M2KXN5DA6WVHT3RBJCEYS") // another one each time
}

// listen returns the next lines that the sandbox prints.
func (r *reader) listen(t *testing.T, lines int) (text string) {
	t.Helper()
	for range lines {
		line, err := r.sandbox.ReadString('\n')
		must(t, err)
		text += line
	}
	return text
}

// pageConstants are what pages show for what differs from run to run.
var pageConstants = map[string]string{
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`: "4c7f2a90-1d3e-4b58-9a6c-2e8f5d7b1a03",
	`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`:                               "2026-11-02 06:30:00",
	`\d{8}T\d{6}(\.2)?`:                                            "20261102T063000",
	` in [0-9.]+(ms|s)\.`:                                          " in 0.2s.",
	`\brun [0-9a-f]{8}\b`:                                          "run 3f9a1c27",
	`connection: without TLS.*`:                                    "connection: TLS 1.3, certificate for uat.example.com until 2027-05-31",
}
