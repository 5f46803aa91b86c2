package cli

import (
	"fmt"
	"io"
	"strings"
)

// print tells it in words.
func (c toldClient) print(w io.Writer, d *desk) {
	who := "The client " + oneLine(c.Key)
	if c.ErasedAt != nil {
		who = "A client who was erased on " + moment(*c.ErasedAt)
	}
	fmt.Fprintf(w, "%s (kind of key: %s%s) in the environment “%s”\n", who, oneLine(c.Space), inCase(c.Scope), d.setup.env.Name)
	url := false
	for _, s := range c.Steps {
		s.print(w)
		url = url || s.URL
	}
	if len(c.Rows) > 0 {
		fmt.Fprintln(w, "\nRows:")
	}
	for _, r := range c.Rows {
		fmt.Fprintf(w, "  %s  run %.8s  %s row %d: %s%s\n", moment(r.Started), r.Run, oneLine(r.Input), r.Row, r.Status, because(r.FailedStep, r.Error))
	}
	if url {
		fmt.Fprintf(w, "\nThe redirect url is not shown; the results workbook has it: %s\n", d.where.command("report"))
	}
}

func (s toldStep) print(w io.Writer) {
	what := s.Step
	if strings.HasPrefix(what, " ") { // a hash in place of a name
		what = s.Kind
	}
	if s.ID != "" {
		what += "  id " + s.ID
	}
	if s.URL {
		what += "  (with a redirect url)"
	}
	of := ""
	if s.Mapping != "" {
		of = " of the mapping " + s.Mapping
	}
	fmt.Fprintf(w, "\n%s: %s%s\n", s.State, oneLine(what), oneLine(of))
	for _, e := range s.Events {
		fmt.Fprintf(w, "  %s  %-9s  %s%s\n", moment(e.At), e.State, e.by(), because(e.Via, e.Reason))
	}
}

// by is who made it happen.
func (e toldEvent) by() string {
	who := "by hand"
	if e.Run != "" {
		who = fmt.Sprintf("run %.8s", e.Run)
	}
	if e.Status != 0 && !strings.Contains(e.Reason, fmt.Sprint("HTTP ", e.Status)) {
		who += fmt.Sprintf(", HTTP %d", e.Status)
	}
	return who
}

// because joins what there is of the reasons, behind a comma.
func because(reasons ...string) string {
	text := ""
	for _, reason := range reasons {
		if reason != "" {
			text += ", " + oneLine(reason)
		}
	}
	return text
}

// inCase names the case that a client of version 1 is in.
func inCase(scope string) string {
	if _, caseID, v1 := strings.Cut(scope, " case "); v1 {
		return ", case " + caseID
	}
	return ""
}
