package console_test

import (
	"fmt"
	"strings"
	"testing"

	"claimsheet/importer/cli/console"
	"claimsheet/mapping/problem"
)

func TestPrintProblems(t *testing.T) {
	at := problem.Where{File: "leads.xlsx"}
	var out strings.Builder
	console.PrintProblems(&out, problem.List{
		problem.New("usage", "no sheet is given").Hinted("claimsheet run leads.xlsx"),
		problem.At(at, "no-file", "there is no such file\nforged line"),
	})
	const want = "claimsheet: no sheet is given [usage]\n  hint: claimsheet run leads.xlsx\nleads.xlsx: there is no such file forged line [no-file]\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	var list problem.List
	for i := range console.MaxProblems + 2 {
		list = append(list, problem.New("x", "problem %d", i))
	}
	var out strings.Builder
	console.PrintProblems(&out, list)
	if lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"); len(lines) != console.MaxProblems+1 || lines[console.MaxProblems] != "… and 2 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	out.Reset()
	console.PrintWarnings(&out, list)
	if n := strings.Count(out.String(), "\n"); n != len(list) {
		t.Errorf("%d of %d warnings are printed", n, len(list))
	}
}

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"yes\n": true, " YES \n": true, "yes": true, "y\n": false, "no\n": false, "": false, "\n": false} {
		var out strings.Builder
		if got := console.Confirm(t.Context(), strings.NewReader(answer), &out, "Erase it?"); got != want {
			t.Errorf("the answer %q is %v, want %v", answer, got, want)
		}
		if out.String() != "Erase it?\nType yes: \n" {
			t.Errorf("it printed %q", out.String())
		}
	}
	if console.Confirm(t.Context(), nil, &strings.Builder{}, "Erase it?") {
		t.Error("no input is a yes")
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n": "a\tb\n", "red \x1b[31m": "red  [31m", "line\u2028two": "line two", "turn\u202e": "turn ", "é “x”": "é “x”", "bad \xff": "bad \ufffd",
	} {
		var out strings.Builder
		if n, err := fmt.Fprint(console.Clean(&out), text); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if out.String() != want {
			t.Errorf("%q is printed as %q, want %q", text, out.String(), want)
		}
	}
}
