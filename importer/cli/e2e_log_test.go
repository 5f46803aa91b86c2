package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient/apitest"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// canaries stand for what must never be on a terminal or in a log.
var canaries = []string{
	"canary-mail@example.com", "CanaryName", "07911 999001", "447911999001", "Canary Street", "CANARY-NO", "canary-token",
	"url-token", "canary-bad-mail", "canary-date", "canary-amount", "canary-detail", "canary-badphone", "Canary%20", "canary-mail%40",
}

// TestLogsHoldNothingPersonal looks for personal data, secrets and links in
// everything that tells of a run besides its workbook, in good runs and in bad
// ones.
func TestLogsHoldNothingPersonal(t *testing.T) {
	t.Parallel()
	good := []any{"canary-mail@example.com", "CanaryName", "07911 999001", "1980-05-01", "1 Canary Street", "Yes", "CANARY-NO", 12.5, "2026-03-31 09:30"}
	bad := slices.Clone(good)
	bad[3], bad[7] = "canary-date", "canary-amount"
	echo := `{"message":"canary-mail@example.com\ntime=now level=INFO canary-detail https://x.example/?token=url-token"}`
	changed := func(column int, value any) []any {
		row := slices.Clone(good)
		row[column] = value
		return row
	}
	faults := []struct {
		name  string
		rows  [][]any
		fault apitest.Fault
		code  int
	}{
		{"done", [][]any{good}, apitest.Fault{}, 0},
		{"refused", [][]any{good}, apitest.Answer(apitest.JSON(422, echo)), 1},
		{"unauthorised", [][]any{good}, apitest.Answer(apitest.JSON(401, echo)), 3},
		{"no answer", [][]any{good}, apitest.DropBefore(), 4},
		{"cut", [][]any{good}, apitest.CreateThenCut(), 4},
		{"500", [][]any{good}, apitest.CreateThen(apitest.JSON(500, echo)), 4},
		{"redirect", [][]any{good}, apitest.Answer(apitest.Reply{Status: 302, Header: map[string]string{"Location": "https://x/?t=canary-detail"}}), 3},
		{"invalid", [][]any{bad}, apitest.Fault{}, 1},
		{"invalid cells", [][]any{changed(0, "canary-bad-mail@@x"), changed(2, "canary-badphone"), changed(3, "canary-date"), changed(7, "canary-amount"),
			changed(5, "canary-amount"), changed(1, "CanaryName the second")}, apitest.Fault{}, 1},
	}
	for _, format := range []string{"text", "json"} {
		for _, c := range faults {
			if short := map[string][]string{"text": {"done", "refused", "500", "no answer"}, "json": {"invalid", "invalid cells"}}; !*long && !slices.Contains(short[format], c.name) {
				continue
			}
			t.Run(format+" "+c.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, stepThree, c.rows)
				s.environment("auth: {type: bearer, token: 'env:UAT_TOKEN'}")
				s.service.Play(func(call apitest.Call) apitest.Fault {
					if call.Kind == "client" || call.Kind == "link" {
						return c.fault
					}
					return apitest.Fault{}
				})
				dry, only := s.runContext(t.Context(), "--dry-run"), "--only=canary-mail@example.com"
				if c.name == "invalid cells" {
					only = "--max-failures=100%" // the rows have several keys
				}
				p := s.runContext(t.Context(), "--log-format", format, "--log-file", s.path("log"), "--trace", s.path("trace"), only)
				if p.code != c.code {
					t.Fatalf("exit code %d, want %d\n%s", p.code, c.code, p.err)
				}
				again := s.runContext(t.Context(), "--log-format", format)
				log := readText(t, s.path("log"))
				told := log + again.out + again.err + p.out + p.err + dry.out + dry.err + readText(t, s.path("trace"))
				for _, secret := range canaries {
					if strings.Contains(strings.ToLower(told), strings.ToLower(secret)) {
						t.Errorf("%q is told:\n%s", secret, told)
					}
				}
				checkLines(t, format, log, c.code)
				if format == "json" {
					checkLines(t, format, again.err, again.code)
				}
			})
		}
	}
	t.Run("look-up fails", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, stepThree, [][]any{good})
		s.service.Play(func(call apitest.Call) apitest.Fault {
			if strings.Contains(call.Path, "canary") {
				return apitest.DropBefore()
			}
			return apitest.Fault{}
		})
		p := s.mustRun(1)
		for _, canary := range canaries {
			if strings.Contains(p.out+p.err, canary) || strings.Contains(column(s.results(), "Error")[0], canary) {
				t.Errorf("%q is on stdout or stderr, or in the Error column", canary)
			}
		}
	})
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
		switch {
		case !runID.MatchString(line):
			t.Errorf("a line has no run id: %s", line)
		case format == "json" && !json.Valid([]byte(line)), format == "text" && !textLine.MatchString(line):
			t.Errorf("this is no line of %s: %s", format, line)
		}
	}
	last := ""
	if len(lines) > 0 {
		last = lines[len(lines)-1]
	}
	want := fmt.Sprintf("exitCode=%d ", code)
	if format == "json" {
		want = fmt.Sprintf(`"exitCode":%d,`, code)
	}
	if !strings.Contains(last, "run ended") || !strings.Contains(last, want) {
		t.Errorf("the log does not end with %s: %s", want, last)
	}
}

// TestP9_SheetNamesInLogs runs a sheet whose name forges lines and commands a
// terminal.
func TestP9_SheetNamesInLogs(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	if runtime.GOOS == "windows" {
		t.Skip("files cannot be named so")
	}
	s := newScene(t, stepThree, leads(1))
	name := s.path("a\nlevel=ERROR forged\r\x1b[31m\u009b1m\u2028b.xlsx")
	if err := os.Rename(s.path("leads.xlsx"), name); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json"} {
		printed := runMain(t, "", "run", "-m", s.path("mapping.yaml"), "--log-format", format, "--json", name)
		if printed.code != 0 {
			t.Fatalf("exit code %d\n%s", printed.code, printed.err)
		}
		if n := strings.Count(printed.err, "\n"); n != 4 && n != 3 { // the second run tells of the same file
			t.Errorf("%s: %d lines\n%s", format, n, printed.err)
		}
		for _, line := range strings.Split(printed.err, "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' }) {
				t.Errorf("%s: a control character is in %q", format, line)
			}
		}
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
	problem := "Results!D2 (source row 2): "
	cases := []struct {
		name         string
		flags        []string
		plain        bool // problems on stderr as lines
		stderr, file bool // the log on stderr, in the file
	}{
		{"a program's own writer", nil, true, false, false},
		{"text", []string{"--log-format", "text"}, true, true, false},
		{"json", []string{"--log-format", "json"}, false, true, false},
		{"file", []string{"--log-file", s.path("log")}, true, false, true},
		{"json file", []string{"--log-file", s.path("log"), "--log-format", "json"}, true, false, true},
		{"quiet text", []string{"--log-format", "text", "--quiet"}, true, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Remove(s.path("log"))
			p := s.runContext(t.Context(), c.flags...)
			plain := strings.HasPrefix(p.err, problem) || strings.Contains(p.err, "\n"+problem)
			logged, file := strings.Contains(p.err, "run started"), ""
			if c.file {
				file = readText(t, s.path("log"))
				if info, err := os.Stat(s.path("log")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
					t.Errorf("the log file is %v, %v; want mode 0600", info.Mode(), err)
				}
				if !strings.Contains(file, "Results!D2 (source row 2)") {
					t.Errorf("the problem is not in the file:\n%s", file)
				}
			}
			got := []bool{plain, logged, strings.Contains(file, "run started")}
			if diff := cmp.Diff([]bool{c.plain, c.stderr, c.file}, got); diff != "" {
				t.Errorf("(-want +got):\n%s\nstderr:\n%s", diff, p.err)
			}
		})
	}
}

// TestLogFileIsAppendedTo also shows that a run that cannot start is logged.
func TestLogFileIsAppendedTo(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	const earlier = "time=2026-01-01T00:00:00.000Z level=INFO msg=earlier\n"
	write(t, s.path("log"), earlier)
	if p := runMain(t, "", "run", "-m", s.path("mapping.yaml"), "--log-file", s.path("log"), s.path("missing.xlsx")); p.code != 2 {
		t.Fatalf("exit code %d\n%s", p.code, p.err)
	}
	log := readText(t, s.path("log"))
	if !strings.HasPrefix(log, earlier) || !strings.Contains(log, `msg="there is no such file"`) || !strings.Contains(log, "exitCode=2 ") {
		t.Errorf("the log is\n%s", log)
	}
}

// TestLogOfTrouble holds that why a run stopped and what it came to are in its last line.
func TestLogOfTrouble(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(2))
	s.service.Play(apitest.Once(func(call apitest.Call) bool { return call.Kind == "claim" }, apitest.Busy(429, 0)))
	log := s.runContext(t.Context(), "--log-format", "text").err
	if !strings.Contains(log, " level=INFO msg=\"run ended\" ") || !strings.Contains(log, " rows.done=2 ") {
		t.Errorf("the log is\n%s", log)
	}
	s.service.Play(apitest.Once(func(call apitest.Call) bool { return call.Kind == "client" }, apitest.Answer(apitest.JSON(401, "{}"))))
	s.sheet(leads(3))
	log = s.runContext(t.Context(), "--log-format", "text").err
	if !strings.Contains(log, " level=ERROR msg=\"run ended\" ") || !strings.Contains(log, " exitCode=3 ") || !strings.Contains(log, "401") {
		t.Errorf("the log is\n%s", log)
	}
}
