package console_test

import (
	"strings"
	"testing"

	"claimsheet/importer/cli/console"
	"claimsheet/mapping/problem"
)

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
