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

// traceLine is a line of a trace, as docs/operations.md explains it.
type traceLine struct {
	Run, Kind, Method, Path, RequestID string
	Sheet, Row, Status                 int
	MS                                 map[string]float64
}

// TestTraceOfARun: every request of a run is a line that leads to the row and to the service's own log. TestP3_Canaries
// shows that no line has anything of the sheet, a secret or a redirect url.
func TestTraceOfARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(func(c apitest.Call) bool { return c.Kind == "claim" }, apitest.Busy(429, 0)))
	p := s.mustRun(0, "--trace", s.path("trace.jsonl"))
	text := readText(t, s.path("trace.jsonl"))
	lines := slices.Collect(strings.Lines(text))
	ids := map[string]apitest.Call{}
	for _, c := range p.calls {
		ids[c.Header.Get("X-Request-Id")] = c
	}
	if len(lines) != len(p.calls) {
		t.Errorf("%d lines for %d requests", len(lines), len(p.calls))
	}
	for _, text := range lines {
		var line traceLine
		must(t, json.Unmarshal([]byte(text), &line))
		c, ok := ids[line.RequestID]
		if !ok || c.Method != line.Method || c.Kind != line.Kind || c.Status != line.Status || line.Run != p.summary.Run || !strings.Contains(c.Header.Get("User-Agent"), line.Run) || line.MS["whole"] <= 0 {
			t.Errorf("no request is as the line says: %+v", line)
		}
		if row := map[string]int{"c1@example.com": 2, "c2@example.com": 3}[c.Client]; row != 0 && (line.Row != row || line.Sheet != 1) {
			t.Errorf("the row of %s is %d: %+v", c.Client, row, line)
		}
	}
	if p := s.run("--trace", s.path("trace.jsonl")); p.code != 2 || len(p.calls) > 0 || readText(t, s.path("trace.jsonl")) != text {
		t.Errorf("an earlier trace: exit code %d, %d requests\n%s", p.code, len(p.calls), p.err)
	}
}
