package cli_test

import (
	"strings"
	"testing"

	"claimsheet/apiclient/apitest"
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
	forged := s.path("a\nlevel=ERROR forged\r\x1b[31m\u009b1m\u2028b.xlsx")
	writeSheet(t, named, header, leads(1))
	writeSheet(t, forged, header, leads(1))
	mapping := s.path("mapping.yaml")
	for _, args := range [][]string{
		s.args(), {"run", "-m", mapping, "--dry-run", named}, {"run", "-m", mapping, s.path("hostile.xlsx")},
		{"init", s.path("hostile.xlsx")}, {"link", "-m", mapping, "c1@example.com"}, {"link", "-m", mapping, hostile},
		{"history", "-m", mapping}, {"history", "-m", mapping, "c1@example.com"}, {"history", "-m", mapping, "--json", "c1@example.com"},
		{"settle", "-m", mapping}, {"settle", "-m", mapping, "--created", hostile}, {"report", "-m", mapping, hostile},
		{"run", "-m", mapping, "--log-format", "text", forged}, {"run", "-m", mapping, "--log-format", "json", forged}, {hostile}, {"run", "--" + hostile}, {"check", "-m", s.path(hostile)},
	} {
		p := claimsheet(t, args...)
		for _, text := range []string{p.out, p.err} {
			if line := obeyed(text); line != "" || strings.Contains(text, "\nlevel=ERROR") {
				t.Errorf("%q prints %q\n%s", args, line, text)
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
	if p := claimsheet(t, "run", "-m", s.path("mapping.yaml"), "--json", named); !strings.Contains(p.summary.Results, "x\u009b31m\u202e.results.xlsx") || obeyed(p.out) != "" {
		t.Errorf("%q\n%s", p.out, p.err)
	}
	if p := claimsheet(t, "init", "-o", s.path("first.yaml"), named); p.err != "" {
		t.Error(p.err)
	}
	text := readText(t, s.path("first.yaml"))
	if line := obeyed(text); line != "" || !strings.Contains(text, "name: x 31m\n") {
		t.Errorf("the mapping has %q\n%s", line, text)
	}
}
