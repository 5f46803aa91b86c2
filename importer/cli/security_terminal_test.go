package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/cli"
	"claimsheet/mapping/problem"
)

// hostile is a text with what a terminal obeys: escape sequences of 7 and of 8
// bits, line separators, and turned directions.
const hostile = "x\u009b31m\u202ey\u2066z\u2028w\u0085v"

// obeyed is the first character of a text that a terminal would obey.
func obeyed(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		for _, r := range strings.ReplaceAll(line, "\t", "") {
			if problem.IsControl(r) || r == '\ufffd' {
				return line
			}
		}
	}
	return ""
}

// P-9: no command prints a character that a terminal obeys, whoever wrote it: a
// header, a cell, a key, a file's name, a template or a redirect url.
func TestP9_NothingPrintedIsObeyed(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(2))
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Kind == "link" {
			return apitest.CreateThen(apitest.JSON(201, `{"redirectUrl":"https://claims.example.com/`+hostile+`"}`))
		}
		return apitest.Fault{}
	})
	writeSheet(t, s.path("hostile.xlsx"), []any{"E-mail", hostile}, [][]any{{"c1@example.com", hostile}})
	named := s.path("x\u009b31m\u202e.xlsx")
	writeSheet(t, named, header, leads(1))
	mapping := s.path("mapping.yaml")
	for _, args := range [][]string{
		s.args(), {"run", "-m", mapping, "--dry-run", named}, {"run", "-m", mapping, s.path("hostile.xlsx")},
		{"init", s.path("hostile.xlsx")}, {"link", "-m", mapping, "c1@example.com"}, {"link", "-m", mapping, hostile},
		{"history", "-m", mapping}, {"history", "-m", mapping, "c1@example.com"}, {"history", "-m", mapping, "--json", "c1@example.com"},
		{"settle", "-m", mapping}, {"settle", "-m", mapping, "--created", hostile}, {"report", "-m", mapping, hostile},
		{hostile}, {"run", "--" + hostile}, {"check", "-m", s.path(hostile)},
	} {
		out, diagnostics, _ := printed(t, args...)
		for _, text := range []string{out, diagnostics} {
			if line := obeyed(text); line != "" {
				t.Errorf("%q prints %q", args, line)
			}
		}
	}
}

// P-9: what is data stays what it was: JSON and the first mapping have such
// characters escaped.
func TestP9_DataIsEscaped(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	s := newScene(t, stepThree, leads(1))
	named := s.path("x\u009b31m\u202e.xlsx")
	writeSheet(t, named, header, leads(1))
	out, diagnostics, _ := printed(t, "run", "-m", s.path("mapping.yaml"), "--json", named)
	var summary struct{ Results string }
	if err := json.Unmarshal([]byte(out), &summary); err != nil || !strings.Contains(summary.Results, "x\u009b31m\u202e.results.xlsx") {
		t.Errorf("%v, %q\n%s", err, out, diagnostics)
	}
	if _, diagnostics, _ := printed(t, "init", "-o", s.path("first.yaml"), named); diagnostics != "" {
		t.Error(diagnostics)
	}
	text, err := os.ReadFile(s.path("first.yaml"))
	must(t, err)
	if line := obeyed(string(text)); line != "" || !strings.Contains(string(text), "name: x 31m\n") {
		t.Errorf("the mapping has %q\n%s", line, text)
	}
}

// printed is what a command prints, whatever it comes to.
func printed(t *testing.T, args ...string) (out, diagnostics string, code int) {
	t.Helper()
	var o, e strings.Builder
	code = quickMain(t.Context(), args, cli.IO{In: strings.NewReader(""), Out: &o, Err: &e, Env: func(string) string { return "" }})
	return o.String(), e.String(), code
}
