package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"claimsheet/apiclient"
	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

// IO is where a command reads and writes. What a script wants goes to Out;
// what a person wants to know besides goes to Err.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	Env func(name string) string
}

// mostProblems is how many problems are printed one by one; the workbook has
// them all.
const mostProblems = 40

// sayError prints what ended a command: every problem with its hint, or one
// line. Personal data is in neither.
func sayError(w io.Writer, err error) {
	var p problem.Problem
	var list problem.List
	if fault, ok := errors.AsType[*importer.Fault](err); ok {
		sayFault(w, fault)
		return
	}
	switch {
	case errors.As(err, &list):
		sayProblems(w, list)
	case errors.As(err, &p):
		sayProblems(w, problem.List{p})
	default:
		fmt.Fprintln(w, "claimsheet: "+oneLine(err.Error()))
		sayHint(w, err)
	}
}

// sayHint prints what to do about an error that is no problem with a place.
func sayHint(w io.Writer, err error) {
	if hint := hintOf(err); hint != "" && !strings.Contains(err.Error(), hint) {
		fmt.Fprintln(w, "  hint: "+oneLine(hint))
	}
}

// hintOf is what to do about a request that failed or a disk that is full; ""
// where that is not what an error is about.
func hintOf(err error) string {
	if f, ok := errors.AsType[*apiclient.Failure](err); ok {
		return f.Hint
	}
	switch {
	case errors.Is(err, ledger.ErrStopped):
		return "see that the state folder's disk has room, that this user may write there and that nobody moves its files; then run again: it goes on from what is recorded"
	case errors.Is(err, syscall.ENOSPC):
		return "make room on that disk, then run again: it goes on from what is recorded"
	}
	return ""
}

// sayFault prints where the program went wrong by itself, without the values
// that it worked on.
func sayFault(w io.Writer, fault *importer.Fault) {
	fmt.Fprintln(w, "claimsheet: "+oneLine(fault.Error()))
	for _, frame := range fault.Stack {
		fmt.Fprintln(w, "\t"+oneLine(frame))
	}
	fmt.Fprintln(w, "  hint: every id is safe in the ledger; run again, and report these lines if it happens again")
}

func sayProblems(w io.Writer, list problem.List) {
	if o, ok := w.(*outlet); ok {
		o.problems(list)
		return
	}
	for i, p := range list {
		if i == mostProblems {
			fmt.Fprintf(w, "… and %d more\n", len(list)-i)
			break
		}
		prefix := ""
		if p.Where.String() == "" {
			prefix = "claimsheet: "
		}
		fmt.Fprintln(w, prefix+oneLine(p.Error()))
		if p.Hint != "" {
			fmt.Fprintln(w, "  hint: "+oneLine(p.Hint))
		}
	}
}

// sayWarnings prints every warning, however many there are: each names something
// that nobody would look for elsewhere.
func sayWarnings(w io.Writer, list problem.List) {
	for _, p := range list {
		sayProblems(w, problem.List{p})
	}
}

// oneLine keeps a text from forging lines of its own: names of sheets, columns
// and templates come from files.
func oneLine(s string) string { return problem.OneLine(s) }

// cleanWriter is the one door to stdout and stderr: whatever is printed there,
// only line feeds and tabs reach a terminal as more than text. Names, keys and
// answers come from elsewhere, and a terminal obeys what it is shown.
type cleanWriter struct{ to io.Writer }

// Write takes whole characters.
func (c *cleanWriter) Write(text []byte) (int, error) {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && problem.IsControl(r) {
			return ' '
		}
		return r // what is no UTF-8 comes as U+FFFD
	}, string(text))
	if _, err := io.WriteString(c.to, clean); err != nil {
		return 0, err
	}
	return len(text), nil
}
