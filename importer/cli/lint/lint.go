// Package lint writes what a check of a mapping found: for people with the lines of
// the mapping file, and for programs as JSON.
package lint

import (
	"io"
	"strings"

	"claimsheet/importer/cli/console"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// Checked is what a check looked at. Its JSON is part of what users rely on.
type Checked struct {
	Mapping     string   `json:"mapping"`
	Environment string   `json:"environment"` // "" when the service was not asked
	Sheets      []string `json:"sheets"`
	Columns     int      `json:"columns"`     // that the mapping names; 0 when it cannot be bound
	Templates   int      `json:"templates"`   // that the mapping names
	Rows        int      `json:"rows"`        // that were read
	InvalidRows int      `json:"invalidRows"` // that cannot be imported as they are
}

// Report is what a check found.
type Report struct {
	Checked  Checked
	Errors   problem.List
	Warnings problem.List
	// Failure says why the check could not be finished, for a reason that is not a
	// problem of what was checked; the zero Problem when it was finished.
	Failure  problem.Problem
	ExitCode int

	// Source is the content of the mapping file, whose lines Text shows.
	Source []byte
}

// Write writes the report: asJSON as one object to out, on every exit code; else to
// messages, for people.
func (r *Report) Write(out, messages io.Writer, asJSON bool) error {
	if asJSON {
		return reports.WriteObject(out, r.object())
	}
	r.writeText(messages)
	return nil
}

// finding is a problem with its severity.
type finding struct {
	problem.Problem
	severity string // error or warning
}

// findings returns everything that was found, errors first.
func (r *Report) findings() []finding {
	var list []finding
	for _, p := range r.Errors {
		list = append(list, finding{p, "error"})
	}
	if r.Failure.Message != "" {
		list = append(list, finding{r.Failure, "error"})
	}
	for _, p := range r.Warnings {
		list = append(list, finding{p, "warning"})
	}
	return list
}

// file is the file that a problem is about, "" for none. Places of cells name the file
// only when there are several.
func (r *Report) file(w problem.Where) string {
	if w.File == "" && w.Sheet != "" && w.Table < len(r.Checked.Sheets) {
		return r.Checked.Sheets[w.Table]
	}
	return w.File
}

// jsonProblem is a problem in the output of --json.
type jsonProblem struct {
	Severity string `json:"severity"`
	Code     string `json:"code"` // "" for a failure that is not a problem of a file
	Where    string `json:"where"`
	File     string `json:"file"`
	Line     int    `json:"line"`   // 0 for a cell
	Column   int    `json:"column"` // in characters, from 1
	Sheet    string `json:"sheet"`
	Cell     string `json:"cell"`
	Row      int    `json:"row"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

func (r *Report) object() any {
	problems := []jsonProblem{}
	for _, f := range r.findings() {
		w := f.Where
		problems = append(problems, jsonProblem{f.severity, f.Code, w.String(), r.file(w), w.Line, w.Column, w.Sheet, w.Cell, w.Row, f.Message, f.Hint})
	}
	if r.Checked.Sheets == nil {
		r.Checked.Sheets = []string{}
	}
	return struct {
		Checked  Checked       `json:"checked"`
		Errors   int           `json:"errors"`
		Warnings int           `json:"warnings"`
		Problems []jsonProblem `json:"problems"`
		ExitCode int           `json:"exitCode"`
	}{r.Checked, len(problems) - len(r.Warnings), len(r.Warnings), problems, r.ExitCode}
}

// writeText writes the warnings and then the errors as all commands print them, those
// of the mapping file with their lines.
func (r *Report) writeText(w io.Writer) {
	source := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(r.Source)), "\n")
	show := func(p problem.Problem) string {
		if p.Where.File != r.Checked.Mapping || p.Where.Line < 1 || p.Where.Line > len(source) {
			return ""
		}
		return Snippet(source[p.Where.Line-1], p.Where.Line, p.Where.Column)
	}
	for _, p := range r.Warnings.Grouped() {
		console.PrintExcerpts(w, problem.List{p}, show)
	}
	console.PrintExcerpts(w, r.Errors, show)
	if r.Failure.Message != "" {
		console.PrintProblems(w, problem.List{r.Failure})
	}
}
