package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"claimsheet/importer/result"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// NextSteps is what a summary for a terminal needs besides the numbers, to say what to do next.
type NextSteps struct {
	// Stopped is why the run ended before its work was done, without a full stop at the end; "" when it was not stopped.
	Stopped string
	// Interrupted means that a signal stopped the run: there is no cause to fix.
	Interrupted bool
	// Notice comes first, for example that nothing was sent to a real service.
	Notice string
	// Command is the command of the run: it does what a dry run planned.
	Command []string
	// Settle lists what is uncertain. Rerun does what is missing in a results workbook, whose path is added to it.
	Settle, Rerun []string
	// Sandbox shows what the sandbox holds; nil for a real service.
	Sandbox []string
}

// WriteSummary writes the end of a run in a few plain lines for a terminal: what was done, what needs attention, and the exact next
// commands. It holds no personal data and no links.
func WriteSummary(w io.Writer, s result.Summary, n NextSteps) error {
	var b strings.Builder
	if n.Notice != "" {
		fmt.Fprintln(&b, n.Notice)
	}
	if n.Stopped != "" {
		fmt.Fprintf(&b, "Stopped: %s.\n", n.Stopped)
	}
	what, would, sent := "Done", "", "Sent"
	switch {
	case s.DryRun:
		what, would, sent = "Checked, nothing sent", "would be ", "A run would send"
	case n.Stopped != "":
		what = "Not finished"
	}
	fmt.Fprintf(&b, "%s in %s: %s of %s in %s.\n", what, s.Environment,
		Count(s.Rows.Total, "row"), Count(s.Clients.Total, "client"), duration(s.Seconds))
	for _, status := range statuses {
		if n := s.Rows.Of(status.status); n > 0 {
			fmt.Fprintf(&b, "  %7d %s\n", n, status.meaning)
		}
	}
	if s.WithoutLink > 0 {
		fmt.Fprintf(&b, "%s %sdone without a redirect url; the column %q says why.\n", Count(s.WithoutLink, "client"), would, cell.AdviceHeader)
	}
	if s.UncertainSteps > 0 {
		fmt.Fprintf(&b, "Uncertain steps of the mapping: %d, also of clients that are not in the sheet.\n", s.UncertainSteps)
	}
	fmt.Fprintf(&b, "%s: %s.\n", sent, requestText(s.Requests))
	for _, path := range s.Workbooks() {
		fmt.Fprintf(&b, "Every row is in %s\n", problem.OneLine(path))
	}
	for _, line := range nextSteps(s, n) {
		fmt.Fprintln(&b, line)
	}
	if n.Sandbox != nil {
		fmt.Fprintf(&b, "Look at what the sandbox holds, and open the redirect urls:\n  %s\n", CommandLine(n.Sandbox))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteObject writes v as one JSON object on one line. Control characters in it are escaped, so that the line may go to a terminal.
func WriteObject(w io.Writer, v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(problem.EscapeControls(line.Bytes()))
	return err
}

// statuses are in the order in which they are shown, successes first.
var statuses = []struct {
	status  result.Status
	meaning string // with what the user should do about it
}{
	{result.Done, "done"},
	{result.Unchanged, "unchanged: done before, nothing sent"},
	{result.Planned, "planned"},
	{result.Changed, "changed since they were done: the change was not sent; correct them by hand in the service"},
	{result.Skipped, "skipped on purpose"},
	{result.NotStarted, "not started: stopped before them, or waiting for another row; see the column Error"},
	{result.Failed, "failed: not created, or given up; see the column Error"},
	{result.Uncertain, "uncertain: perhaps created; you decide"},
	{result.Invalid, "invalid: nothing sent for these clients; correct the cells"},
}

// requests are the kinds of requests in words: first those that create something, in the
// order of a client's plan, then those that only read.
var requests = []struct {
	one, several string
	of           func(result.Requests) int
}{
	{"client", "clients", func(r result.Requests) int { return r.Client }},
	{"claim", "claims", func(r result.Requests) int { return r.Claim }},
	{"activity", "activities", func(r result.Requests) int { return r.Activity }},
	{"link", "links", func(r result.Requests) int { return r.Link }},
	{"look-up", "look-ups", func(r result.Requests) int { return r.Lookup }},
	{"request for the templates", "requests for the templates", func(r result.Requests) int { return r.Templates }},
}

// requestText lists the requests by kind.
func requestText(r result.Requests) string {
	var parts []string
	for _, k := range requests {
		if n := k.of(r); n == 1 {
			parts = append(parts, "1 "+k.one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k.several))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no requests")
}

// nextSteps says what to do next, with the command. Not every remaining row has a wrong
// cell, and the cause of a stop must be fixed in any case.
func nextSteps(s result.Summary, n NextSteps) (lines []string) {
	say := func(text string, command []string) { lines = append(lines, text, "  "+CommandLine(command)) }
	r := s.Rows
	if s.DryRun {
		switch {
		case r.Planned == 0:
		case r.Invalid > 0:
			say("Next: correct the cells and check again, or import the others; the corrected ones can follow:", n.Command)
		case r.Failed > 0:
			say("Next: look at the failed rows in the workbook and check again, or import the others:", n.Command)
		default:
			say("Next:", n.Command)
		}
		return lines
	}
	if r.Uncertain+s.UncertainSteps > 0 {
		say("What is uncertain is never sent again without proof that it was not created. To list it and decide:", n.Settle)
	}
	if r.Failed+r.Invalid+r.NotStarted == 0 {
		return lines
	}
	how := "After your decision, import the results workbook again"
	switch isBroken := n.Stopped != "" && !n.Interrupted; {
	case isBroken && r.Invalid > 0:
		how = "Fix the cause, correct the invalid cells in the results workbook, then continue with it"
	case isBroken:
		how = "Fix the cause, then continue with the results workbook"
	case r.Failed+r.Invalid > 0:
		how = "Correct the cells in the results workbook and import it again"
	case n.Interrupted:
		how = "Continue with the results workbook"
	}
	lines = append(lines, how+"; only what is missing is sent:")
	for _, path := range s.Workbooks() {
		lines = append(lines, "  "+CommandLine(append(slices.Clone(n.Rerun), path)))
	}
	if r.Invalid > 0 {
		lines = append(lines, "Correct them in the source of the sheet too; otherwise the next export has the same mistakes.")
	}
	return lines
}

// CommandLine returns a command as the user can type it: words with special
// characters are quoted for this system's shell. Control characters are shown as spaces.
func CommandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		switch {
		case w != "" && !strings.ContainsFunc(w, needsQuotes):
		case runtime.GOOS == "windows":
			quoted[i] = `"` + w + `"`
		default:
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return problem.OneLine(strings.Join(quoted, " "))
}

func needsQuotes(r rune) bool {
	plain := r > 127 || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		strings.ContainsRune("-_./:=,@%+", r)
	return !plain
}

// Count is a number with a noun: "1 row", "2 rows".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
