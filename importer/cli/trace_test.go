package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
)

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

// TestTraceOfARun: every request of a run is a line that leads to the row and to the
// service's own log, and no line has anything of the sheet, a secret or a redirect url.
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
		if !ok || c.Method != line.Method || c.Kind != line.Kind || c.Status != line.Status || line.Run == "" || line.MS["whole"] <= 0 {
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

// TestTraceOfOtherCommands: all commands that ask the service have a trace; without an
// environment there is nothing to trace.
func TestTraceOfOtherCommands(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	s.mustRun(0)
	for name, args := range map[string][]string{
		"doctor":    {"doctor", "-e", "uat"},
		"templates": {"templates", "-e", "uat"},
		"check":     {"check", "-m", s.path("mapping.yaml"), "-e", "uat"},
		"init":      {"init", "-e", "uat"},
		"link":      {"link", "-e", "uat"},
		"rerun":     {"rerun", "--accept", "new-ledger"},
	} {
		trace := s.path(name + ".jsonl")
		args = append(args, "--environments", s.path("environments.yaml"), "--trace", trace)
		args = append(args, map[string][]string{"init": {s.path("leads.xlsx")}, "link": {"c1@example.com"}, "rerun": {s.path("leads.results.xlsx")}}[name]...)
		if code, _, diagnostics := s.claimsheet(args...); code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, code, diagnostics)
			continue
		}
		if lines := traceLines(t, trace); len(lines) == 0 || lines[0].Status == 0 {
			t.Errorf("%s: %+v", name, lines)
		}
	}
	for _, args := range [][]string{{"check", "-m", s.path("mapping.yaml")}, {"init"}} {
		args = append(args, "--trace", s.path("none.jsonl"), s.path("leads.xlsx"))
		if code, _, diagnostics := s.claimsheet(args...); code != 2 || !strings.Contains(diagnostics, "-e") {
			t.Errorf("%s without -e: exit code %d\n%s", args[0], code, diagnostics)
		}
		if _, err := os.Stat(s.path("none.jsonl")); err == nil {
			t.Errorf("%s without -e leaves a trace", args[0])
		}
	}
}
