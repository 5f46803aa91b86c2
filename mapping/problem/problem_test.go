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
	} {
		if got := problem.Suggestion(test.word, test.candidates); got != test.want {
			t.Errorf("%s: %q, want %q", test.word, got, test.want)
		}
	}
}

func TestOrList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := problem.OrList(words); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	if got := problem.Shorten(" a\n b\t"); got != "a b" {
		t.Errorf("%q", got)
	}
	if got := problem.Shorten(strings.Repeat("é", 61)); got != strings.Repeat("é", 60)+"…" {
		t.Errorf("%q", got)
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
