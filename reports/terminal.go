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
	"claimsheet/mapping/problem"
)

// Ending is what a summary for a terminal needs to know beside the numbers.
type Ending struct {
	// Stopped is why the run ended before its work did, without a final stop;
	// "" when it did not.
	Stopped string
	// Interrupted: a signal stopped the run, so there is no cause to be fixed.
	Interrupted bool
	// Notice is said first, e.g. that nothing was sent to a real service.
	Notice string
	// Command is the command of the run: it does for real what a dry run
	// planned.
	Command []string
	// Settle lists what is uncertain, and Rerun does what is still missing in a
	// results workbook, nil where the results cannot be run again; the workbooks'
	// paths are added to it.
	Settle, Rerun []string
}

// WriteSummary writes the end of a run in a few plain lines for a terminal:
// what was done, what needs a person, and the exact next commands. It holds no
// personal data and no links.
func WriteSummary(w io.Writer, s result.Summary, e Ending) error {
	var b strings.Builder
	if e.Notice != "" {
		fmt.Fprintln(&b, e.Notice)
	}
	if e.Stopped != "" {
		fmt.Fprintf(&b, "Stopped: %s.\n", e.Stopped)
	}
	what := "Done"
	switch {
	case s.DryRun:
		what = "Checked, nothing sent"
	case e.Stopped != "":
		what = "Not finished"
	}
	fmt.Fprintf(&b, "%s in %s: %s of %s in %s.\n", what, s.Environment,
		count(s.Rows.Total, "row"), count(s.Clients.Total, "client"), duration(s.Seconds))
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
		fmt.Fprintf(&b, "%s %sdone without a redirect url; the column %q says why.\n", count(s.WithoutLink, "client"), would, AdviceHeader)
	}
	fmt.Fprintf(&b, "%s: %s.\n", requestWord(s.DryRun), requestText(s.Requests))
	for _, path := range workbooks(s) {
		fmt.Fprintf(&b, "Every row is in %s\n", inLine(path))
	}
	for _, line := range nextSteps(s, e) {
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes s as one JSON object on one line.
func WriteJSON(w io.Writer, s result.Summary) error { return WriteObject(w, s) }

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

// meaning is a status with what it asks of a person.
func meaning(s result.Status) string {
	switch s {
	case result.Unchanged:
		return "unchanged: done before, nothing sent"
	case result.Changed:
		return "changed since they were done: nothing sent, to be corrected by hand in the service"
	case result.Skipped:
		return "skipped on purpose"
	case result.NotStarted:
		return "not started: they wait for something, see the column Error"
	case result.Failed:
		return "failed: surely not created, or given up; see the column Error"
	case result.Uncertain:
		return "uncertain: perhaps created, to be settled by you"
	case result.Invalid:
		return "invalid: cells to be corrected, nothing sent for these clients"
	}
	return string(s)
}

func requestWord(dryRun bool) string {
	if dryRun {
		return "A run would send"
	}
	return "Sent"
}

// requestText lists the kinds of request that there were.
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

// nextSteps is what a person does next, and with which command.
func nextSteps(s result.Summary, e Ending) []string {
	r := s.Rows
	switch {
	case s.DryRun && r.Planned > 0 && r.Invalid > 0:
		return []string{"Next: correct the cells and check again, or import the others; the corrected ones can follow:",
			"  " + CommandLine(e.Command)}
	case s.DryRun && r.Planned > 0:
		return []string{"Next:", "  " + CommandLine(e.Command)}
	case s.DryRun:
		return nil
	}
	var lines []string
	if r.Uncertain > 0 && e.Settle != nil {
		lines = append(lines, "What is uncertain is never sent again by itself. To list it, and decide:", "  "+CommandLine(e.Settle))
	}
	switch missing := r.Failed+r.Invalid+r.NotStarted > 0; {
	case missing && e.Rerun != nil:
		lines = append(lines, goOn(r, e)+"; only what is missing is sent:", "  "+CommandLine(slices.Concat(e.Rerun, workbooks(s))))
	case missing && e.Command != nil:
		again := "Correct the cells in the sheet and import it again"
		if e.broken() {
			again = "Fix the cause, then import the sheet again"
		}
		lines = append(lines, again+"; only what is missing is sent:", "  "+CommandLine(e.Command))
	}
	return lines
}

// goOn is how the rest of a sheet is done: not every row that is left has a cell
// that is wrong, and what stopped a run must be fixed whatever the cells say.
func goOn(rows result.Counts, e Ending) string {
	switch {
	case e.broken() && rows.Invalid > 0:
		return "Fix the cause, correct the invalid cells in the results workbook, then continue with it"
	case e.broken():
		return "Fix the cause, then continue with the results workbook"
	case rows.Failed+rows.Invalid > 0:
		return "Correct the cells in the results workbook and give it back"
	case e.Interrupted:
		return "Continue with the results workbook"
	}
	return "When that is decided, give the results workbook back"
}

// broken: something stopped the run that must be fixed first.
func (e Ending) broken() bool { return e.Stopped != "" && !e.Interrupted }

// workbooks are the paths of what was written.
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

// inLine keeps a file's name from beginning a line of its own or moving the
// cursor.
func inLine(name string) string {
	return strings.Map(func(r rune) rune {
		if problem.IsControl(r) {
			return '?'
		}
		return r
	}, name)
}

// CommandLine is a command as it can be typed: words with anything but plain
// characters are quoted, as this system's shell understands it. Control
// characters are shown as ?.
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

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
