package problem_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"claimsheet/mapping/problem"
)

func TestSuggestion(t *testing.T) {
	many := strings.Split("alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november", " ")
	for _, test := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"lok-up", []string{"name", "lookup"}, "did you mean “lookup”?"},
		{"LOOKUP", []string{"name", "lookup"}, "did you mean “lookup”?"},
		{"zzzzzz", []string{"name", "lookup"}, "expected one of name, lookup"},
		{"zzzzzz", []string{"name"}, "expected name"},
		{"zzzzzzzzz", many, "expected one of " + strings.Join(many[:12], ", ") + " and 2 more"},
		{"zzzzzz", nil, ""},
		{"n", []string{"m", "e"}, "expected one of m, e"},
		{"yes", []string{"e", "m"}, "expected one of e, m"},
		{"kye", []string{"name", "key"}, "did you mean “key”?"},
		{"lookups", []string{"lookup", "key"}, "did you mean “lookup”?"},
		{"名", []string{"字"}, "expected 字"},
	} {
		if got := problem.Suggestion(test.word, test.candidates); got != test.want {
			t.Errorf("%s: %q, want %q", test.word, got, test.want)
		}
	}
}

func TestOrList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := problem.OrList(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// Cause keeps paths, which may name people, out of messages.
func TestCause(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/home/jane.doe/x", Err: syscall.ENOSPC}
	for _, err := range []error{full, fmt.Errorf("place 1: %w", full), errors.Join(full, os.ErrClosed), errors.Join(nil, fmt.Errorf("x: %w", full)), syscall.ENOSPC} {
		if got := problem.Cause(err); got != syscall.ENOSPC {
			t.Errorf("the cause of %q is %q", err, got)
		}
	}
}

// Collect finds the problems in an error, however they are wrapped, and returns an error without any.
func TestCollect(t *testing.T) {
	a, b := problem.New("a", "one"), problem.New("b", "two")
	both := problem.List{a, b}.Err()
	for want, errs := range map[string][]error{
		"":    {nil, problem.List{}.Err()},
		"a":   {a, fmt.Errorf("while it ran: %w", a), problem.List{a}.Err(), errors.Join(fs.ErrClosed, a)},
		"a b": {both, fmt.Errorf("while it ran: %w", both), errors.Join(a, errors.Join(fs.ErrClosed, b))},
	} {
		for _, err := range errs {
			list := problem.List{}
			rest := list.Collect(err)
			var codes []string
			for _, p := range list {
				codes = append(codes, p.Code)
			}
			if got := strings.Join(codes, " "); rest != nil || got != want {
				t.Errorf("%v: got %s and %v, want %s", err, got, rest, want)
			}
		}
	}
	var list problem.List
	if rest := list.Collect(fs.ErrClosed); rest != fs.ErrClosed || list != nil {
		t.Errorf("got %v and %v", list, rest)
	}
}

// One cause is one line: a column without country codes, a column's name that the
// mapping spells wrongly everywhere.
func TestGrouped(t *testing.T) {
	t.Parallel()
	phone := func(cell string) problem.Problem {
		return problem.At(problem.Where{Sheet: "Leads", Cell: cell, Row: 4}, "no-country", "Mobile has no country code").Hinted("add region: GB")
	}
	list := problem.List{phone("G4")}
	for row := 5; row < 62; row++ {
		list = append(list, phone(fmt.Sprint("G", row)))
	}
	line := func(line, column int, name string) problem.Problem {
		return problem.At(problem.Where{File: "m.yaml", Line: line, Column: column}, "unknown-column", "the sheet has no column “%s”", name)
	}
	list = append(list, phone("H9"), line(4, 8, "Mail"), line(4, 20, "Mail"), line(5, 3, "Nmae"), line(6, 1, "Mail"), line(9, 2, "Mail"), problem.New("x", "twice"), problem.New("x", "twice"))
	list[1].Seen = "07700 900123"
	want := `Leads!G4: Mobile has no country code; the same in 57 more places: G5, G6, G7, G8, G9 and 52 more [no-country]
Leads!H9: Mobile has no country code [no-country]
m.yaml:4:8: the sheet has no column “Mail”; the same in line 6, line 9 [unknown-column]
m.yaml:5:3: the sheet has no column “Nmae” [unknown-column]
twice [x]
twice [x]`
	if got := list.Grouped().Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	copied := phone("G4")
	copied.Where.Copy = problem.Copy{Sheet: "Results", Place: "E2", Row: 4}
	again := phone("G7")
	again.Where.Copy = problem.Copy{Sheet: "Results", Place: "E5", Row: 7}
	if got, want := (problem.List{copied, again}).Grouped().Err().Error(), "Results!E2 (source row 4): Mobile has no country code; the same in E5 [no-country]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
