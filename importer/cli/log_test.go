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

// checkLines checks that a log is one record a line, each with the run's id, and that it ends with the exit code.
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

// TestWhereItIsLogged is the rule of docs/operations.md: what stands on stderr and in the log file.
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

// traceLine is a line of a trace, as docs/operations.md explains it.
type traceLine struct {
	Run, Kind, Method, Path, RequestID string
	Sheet, Row, Status                 int
	MS                                 map[string]float64
}

func traceLines(t *testing.T, path string) (lines []traceLine) {
	t.Helper()
	for text := range strings.Lines(readText(t, path)) {
		var line traceLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestTraceOfARun: every request of a run is a line that leads to the row and to the service's own log, and no line has
// anything of the sheet, a secret or a redirect url.
func TestTraceOfARun(t *testing.T) {
	t.Parallel()
	rows := [][]any{lead(1, "CANARY-17"), lead(2, "A-2")}
	rows[0][0], rows[0][1] = "canary-mail@example.com", "CanaryName"
	s := newScene(t, stepThree, rows)
	must(t, os.WriteFile(s.path("secret-token"), []byte("canary-token-1\n"), 0o600))
	s.environment("auth: {type: bearer, token: 'file:secret-token'}")
	s.service.Play(apitest.Once(func(c apitest.Call) bool { return c.Kind == "claim" }, apitest.Busy(429, 0)))
	p := s.mustRun(0, "--trace", s.path("trace.jsonl"))
	lines := traceLines(t, s.path("trace.jsonl"))
	ids := map[string]apitest.Call{}
	for _, c := range p.calls {
		ids[c.Header.Get("X-Request-Id")] = c
	}
	if len(lines) != len(p.calls) {
		t.Errorf("%d lines for %d requests", len(lines), len(p.calls))
	}
	for _, line := range lines {
		c, ok := ids[line.RequestID]
		if !ok || c.Method != line.Method || c.Kind != line.Kind || c.Status != line.Status || line.Run != p.summary.Run || !strings.Contains(c.Header.Get("User-Agent"), line.Run) || line.MS["whole"] <= 0 {
			t.Errorf("no request is as the line says: %+v", line)
		}
		if row := map[string]int{"canary-mail@example.com": 2, "c2@example.com": 3}[c.Client]; row != 0 && (line.Row != row || line.Sheet != 1) {
			t.Errorf("the row of %s is %d: %+v", c.Client, row, line)
		}
	}
	text := readText(t, s.path("trace.jsonl"))
	personal := append(column(s.results(), "redirectUrl"), "canary", "token-1", "claims.example.com", "http", "@")
	for _, row := range rows {
		for _, cell := range row {
			if value := fmt.Sprint(cell); len(value) > 4 {
				personal = append(personal, value)
			}
		}
	}
	for _, value := range personal {
		if strings.Contains(strings.ToLower(text), strings.ToLower(value)) {
			t.Errorf("%q is in the trace:\n%s", value, text)
		}
	}
	if p := s.run("--trace", s.path("trace.jsonl")); p.code != 2 || len(p.calls) > 0 || readText(t, s.path("trace.jsonl")) != text {
		t.Errorf("an earlier trace: exit code %d, %d requests\n%s", p.code, len(p.calls), p.err)
	}
}
