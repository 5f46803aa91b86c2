package reports

import (
	"bytes"
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

// NextSteps is what a summary for a terminal needs besides the numbers, to say what
// to do next.
type NextSteps struct {
	// Stopped is why the run ended before its work was done, without a full stop at
	// the end; "" when it was not stopped.
	Stopped string
	// Interrupted means that a signal stopped the run: there is no cause to fix.
	Interrupted bool
	// Notice comes first, for example that nothing was sent to a real service.
	Notice string
	// Command is the command of the run: it does what a dry run planned.
	Command []string
	// Settle lists what is uncertain. Rerun does what is missing in a results
	// workbook, whose path is added to it; nil where the results cannot be run again.
	Settle, Rerun []string
	// Look shows what the sandbox holds; nil where there is nothing to look at.
	Look []string
}

// WriteSummary writes the end of a run in a few plain lines for a terminal: what was
// done, what needs attention, and the exact next commands. It holds no personal data
// and no links.
func WriteSummary(w io.Writer, s result.Summary, n NextSteps) error {
	var b strings.Builder
	if n.Notice != "" {
		fmt.Fprintln(&b, n.Notice)
	}
	if n.Stopped != "" {
		fmt.Fprintf(&b, "Stopped: %s.\n", n.Stopped)
	}
	what := "Done"
	switch {
	case s.DryRun:
		what = "Checked, nothing sent"
	case n.Stopped != "":
		what = "Not finished"
	}
	fmt.Fprintf(&b, "%s in %s: %s of %s in %s.\n", what, s.Environment,
		Count(s.Rows.Total, "row"), Count(s.Clients.Total, "client"), duration(s.Seconds))
	for _, c := range byStatus(s.Rows) {
		if c.count > 0 {
			fmt.Fprintf(&b, "  %7d %s\n", c.count, meaning(c.status))
		}
	}
	if s.WithoutLink > 0 {
		would := ""
		if s.DryRun {
			would = "would be "
		}
		fmt.Fprintf(&b, "%s %sdone without a redirect url; the column %q says why.\n", Count(s.WithoutLink, "client"), would, cell.AdviceHeader)
	}
	if s.UncertainSteps > 0 {
		fmt.Fprintf(&b, "Uncertain steps of the mapping: %d, also of clients that are not in the sheet.\n", s.UncertainSteps)
	}
	fmt.Fprintf(&b, "%s: %s.\n", requestWord(s.DryRun), requestText(s.Requests))
	for _, path := range workbooks(s) {
		fmt.Fprintf(&b, "Every row is in %s\n", inLine(path))
	}
	for _, line := range nextSteps(s, n) {
		fmt.Fprintln(&b, line)
	}
	if n.Look != nil {
		fmt.Fprintf(&b, "Look at what the sandbox holds, and open the redirect urls:\n  %s\n", CommandLine(n.Look))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteObject writes v as one JSON object on one line. Control characters in it
// are escaped, so that the line may go to a terminal.
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

// meaning is a status with what the user should do about it.
func meaning(s result.Status) string {
	switch s {
	case result.Unchanged:
		return "unchanged: done before, nothing sent"
	case result.Changed:
		return "changed since they were done: nothing sent; correct them by hand in the service"
	case result.Skipped:
		return "skipped on purpose"
	case result.NotStarted:
		return "not started: stopped before them, or waiting for another row; see the column Error"
	case result.Failed:
		return "failed: not created, or given up; see the column Error"
	case result.Uncertain:
		return "uncertain: perhaps created; you decide"
	case result.Invalid:
		return "invalid: nothing sent for these clients; correct the cells"
	}
	return string(s)
}

type statusCount struct {
	status result.Status
	count  int
}

// byStatus lists counts, successes first.
func byStatus(c result.Counts) []statusCount {
	return []statusCount{
		{result.Done, c.Done},
		{result.Unchanged, c.Unchanged},
		{result.Planned, c.Planned},
		{result.Changed, c.Changed},
		{result.Skipped, c.Skipped},
		{result.NotStarted, c.NotStarted},
		{result.Failed, c.Failed},
		{result.Uncertain, c.Uncertain},
		{result.Invalid, c.Invalid},
	}
}

type kindCount struct {
	kind   string // as --json names it
	count  int
	one    string // in words
	plural string
}

// byKind lists requests: first those that create something, in the order of a client's
// plan, then those that only read.
func byKind(r result.Requests) []kindCount {
	return []kindCount{
		{"client", r.Client, "client", "clients"},
		{"claim", r.Claim, "claim", "claims"},
		{"activity", r.Activity, "activity", "activities"},
		{"link", r.Link, "link", "links"},
		{"lookup", r.Lookup, "look-up", "look-ups"},
		{"templates", r.Templates, "request for the templates", "requests for the templates"},
	}
}

func requestWord(dryRun bool) string {
	if dryRun {
		return "A run would send"
	}
	return "Sent"
}

// requestText lists the requests by kind.
func requestText(r result.Requests) string {
	var parts []string
	for _, k := range byKind(r) {
		if k.count > 0 {
			word := k.plural
			if k.count == 1 {
				word = k.one
			}
			parts = append(parts, fmt.Sprintf("%d %s", k.count, word))
		}
	}
	if parts == nil {
		return "no requests"
	}
	return strings.Join(parts, ", ")
}

// nextSteps says what to do next, with the command.
func nextSteps(s result.Summary, n NextSteps) []string {
	r := s.Rows
	switch {
	case s.DryRun && r.Planned > 0 && r.Invalid > 0:
		return []string{"Next: correct the cells and check again, or import the others; the corrected ones can follow:",
			"  " + CommandLine(n.Command)}
	case s.DryRun && r.Planned > 0 && r.Failed > 0:
		return []string{"Next: look at the failed rows in the workbook and check again, or import the others:", "  " + CommandLine(n.Command)}
	case s.DryRun && r.Planned > 0:
		return []string{"Next:", "  " + CommandLine(n.Command)}
	case s.DryRun:
		return nil
	}
	var lines []string
	if r.Uncertain+s.UncertainSteps > 0 && n.Settle != nil {
		lines = append(lines, "Uncertain steps are never sent again automatically. To list them and decide:", "  "+CommandLine(n.Settle))
	}
	switch missing := r.Failed+r.Invalid+r.NotStarted > 0; {
	case missing && n.Rerun != nil:
		lines = append(lines, goOn(r, n)+"; only what is missing is sent:", "  "+CommandLine(slices.Concat(n.Rerun, workbooks(s))))
		if r.Invalid > 0 {
			lines = append(lines, "Correct them in the source of the sheet too; otherwise the next export has the same mistakes.")
		}
	case missing && n.Command != nil:
		again := "Correct the cells in the sheet and import it again"
		if n.broken() {
			again = "Fix the cause, then import the sheet again"
		}
		lines = append(lines, again+"; only what is missing is sent:", "  "+CommandLine(n.Command))
	}
	return lines
}

// goOn says how to import the rest of a sheet. Not every remaining row has a wrong
// cell, and the cause of a stop must be fixed in any case.
func goOn(rows result.Counts, n NextSteps) string {
	switch {
	case n.broken() && rows.Invalid > 0:
		return "Fix the cause, correct the invalid cells in the results workbook, then continue with it"
	case n.broken():
		return "Fix the cause, then continue with the results workbook"
	case rows.Failed+rows.Invalid > 0:
		return "Correct the cells in the results workbook and import it again"
	case n.Interrupted:
		return "Continue with the results workbook"
	}
	return "After your decision, import the results workbook again"
}

// broken reports whether something stopped the run that must be fixed first.
func (n NextSteps) broken() bool { return n.Stopped != "" && !n.Interrupted }

// workbooks returns the paths of what was written.
func workbooks(s result.Summary) []string {
	var paths []string
	for _, sheet := range s.Sheets {
		paths = append(paths, sheet.Results)
	}
	if paths == nil && s.Results != "" {
		paths = []string{s.Results}
	}
	return paths
}

// inLine replaces control characters, so that a file's name cannot begin a new line or
// move the cursor.
func inLine(name string) string {
	return strings.Map(func(r rune) rune {
		if problem.IsControl(r) {
			return '?'
		}
		return r
	}, name)
}

// CommandLine returns a command as the user can type it: words with special
// characters are quoted for this system's shell. Control characters are shown as ?.
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
	return inLine(strings.Join(quoted, " "))
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
