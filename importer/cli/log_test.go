package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

func readText(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

var (
	runID    = regexp.MustCompile(`[ {,]"?run"?[=:]"?[0-9a-f]{8}-[0-9a-f-]{27}"?[ ,}\n]`)
	textLine = regexp.MustCompile(`^time=\S+ level=(INFO|WARN|ERROR) msg=(\S+|".*") run=`)
)

// checkLines checks that a log is one record a line, each with the run's id, and
// that it ends with the exit code.
func checkLines(t *testing.T, format, log string, code int) {
	t.Helper()
	lines := slices.Collect(strings.Lines(log))
	for _, line := range lines {
		if !runID.MatchString(line) || format == "json" && !json.Valid([]byte(line)) || format == "text" && !textLine.MatchString(line) {
			t.Errorf("this is no line of %s, or has no run id: %s", format, line)
		}
	}
	want := map[string]string{"text": fmt.Sprintf("exitCode=%d ", code), "json": fmt.Sprintf(`"exitCode":%d,`, code)}[format]
	if last := append([]string{""}, lines...)[len(lines)]; !strings.Contains(last, "run ended") || !strings.Contains(last, want) {
		t.Errorf("the log does not end with %s: %s", want, last)
	}
}

// TestWhereItIsLogged is the rule of docs/operations.md: what stands on stderr
// and in the log file.
func TestWhereItIsLogged(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	bad := lead(1, "A-1")
	bad[3] = "yesterday"
	s := newScene(t, stepThree, [][]any{bad, lead(2, "A-2")})
	for flags, want := range map[string]struct {
		plain        bool // problems on stderr as lines
		stderr, file bool // the log on stderr, in the file
	}{
		"":                                 {true, false, false}, // a program's own writer
		"--log-format text":                {true, true, false},
		"--log-format json":                {false, true, false},
		"--log-file LOG":                   {true, false, true},
		"--log-file LOG --log-format json": {true, false, true},
		"--log-format text --quiet":        {true, false, false},
	} {
		_ = os.Remove(s.path("log"))
		p := s.runContext(t.Context(), strings.Fields(strings.Replace(flags, "LOG", s.path("log"), 1))...)
		got, file := want, ""
		got.plain = strings.Contains("\n"+p.err, "\nResults!D2 (source row 2): ")
		if want.file {
			file = readText(t, s.path("log"))
			expect(t, file, "Results!D2 (source row 2)")
		}
		got.stderr, got.file = strings.Contains(p.err, "run started"), strings.Contains(file, "run started")
		if got != want {
			t.Errorf("%q: %+v, want %+v\n%s", flags, got, want, p.err)
		}
	}
}

// TestLogFileIsAppendedTo also shows that a run that cannot start is logged.
func TestLogFileIsAppendedTo(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	const earlier = "time=2026-01-01T00:00:00.000Z level=INFO msg=earlier\n"
	write(t, s.path("log"), earlier)
	s.must(2, "run", "--log-file", s.path("log"), s.path("missing.xlsx"))
	log := readText(t, s.path("log"))
	if expect(t, log, `msg="there is no such file"`, "exitCode=2 "); !strings.HasPrefix(log, earlier) {
		t.Errorf("the log is\n%s", log)
	}
}

// TestLogOfTrouble holds that why a run stopped and what it came to are in its last line.
func TestLogOfTrouble(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(func(call apitest.Call) bool { return call.Kind == "claim" }, apitest.Busy(429, 0)))
	expect(t, s.runContext(t.Context(), "--log-format", "text").err, " level=INFO msg=\"run ended\" ", " rows.done=2 ")
	s.service.Play(apitest.Once(func(call apitest.Call) bool { return call.Kind == "client" }, apitest.Answer(apitest.JSON(401, "{}"))))
	s.sheet(leads(3))
	expect(t, s.runContext(t.Context(), "--log-format", "text").err, " level=ERROR msg=\"run ended\" ", " exitCode=3 ", "401")
}
