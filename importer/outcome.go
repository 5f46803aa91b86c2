package importer

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// Outcome is what became of a client and of each of its rows.
type Outcome struct {
	Number   int // as in the plan
	Client   mapping.Identity
	Status   Status // the worst of its rows'
	URL      string
	Rows     []RowResult
	Steps    []StepOutcome
	Problems problem.List
	// Known are the steps of earlier runs, of a client for whom nothing is
	// planned in this one: the workbook must be enough by itself.
	Known []ledger.Step
	// asked tells that the service was asked about the client, and nothing more.
	asked bool
	// MappingChanged tells that a done step's data differ because the mapping
	// asks for something else; it is said once for a run, not for each row.
	MappingChanged bool
}

// unmet tells that a look-up failed, so that nothing was sent for the client.
func (o Outcome) unmet() bool {
	return slices.ContainsFunc(o.Steps, func(s StepOutcome) bool { return s.unmet })
}

// failure tells whether a step failed in this run, and the 4xx that the first
// one got, 0 for none.
func (o Outcome) failure() (failed bool, refused int) {
	for _, s := range o.Steps {
		if s.Status == FailedRow && (s.answered || s.unmet) {
			if !failed && s.http/100 == 4 {
				refused = s.http
			}
			failed = true
		}
	}
	return failed || o.Status == FailedRow, refused
}

// tables are the sheets in which the client has rows, ascending.
func (o Outcome) tables() []int {
	var tables []int
	for _, r := range o.Rows { // in the order of the run
		if n := len(tables); n == 0 || tables[n-1] != r.Table {
			tables = append(tables, r.Table)
		}
	}
	return tables
}

// severity orders the statuses, the worst first.
var severity = []Status{Invalid, Uncertain, FailedRow, NotStarted, Changed, DoneRow, Planned, Unchanged, Skipped}

func worse(a, b Status) Status {
	if b == "" || a != "" && slices.Index(severity, a) <= slices.Index(severity, b) {
		return a
	}
	return b
}

// outcomeOf makes the rows' results from the steps'.
func outcomeOf(b *mapping.Binding, plan mapping.Plan, steps []StepOutcome) Outcome {
	o := Outcome{Number: plan.Number, Client: plan.Client, Steps: steps}
	client, url := "", ""
	for _, s := range steps {
		if s.Step.Kind == mapping.ClientStep {
			client = s.ID
		}
		if s.URL != "" {
			url = s.URL
		}
	}
	o.URL = url
	byRow := make(map[mapping.Row]*RowResult, len(plan.Rows))
	o.Rows = make([]RowResult, len(plan.Rows))
	for i, row := range plan.Rows {
		o.Rows[i] = resultOf(row, client, url)
		byRow[row] = &o.Rows[i]
	}
	for _, s := range steps {
		for _, row := range s.Step.Rows {
			byRow[row].add(b, s)
		}
	}
	for _, r := range o.Rows {
		o.Status = worse(o.Status, r.Status)
	}
	return o
}

// add takes a step of the row into account.
func (r *RowResult) add(b *mapping.Binding, s StepOutcome) {
	if s.Step.Kind == mapping.ClaimStep && s.ID != "" {
		r.ClaimIDs = append(r.ClaimIDs, s.ID)
	}
	worst := worse(r.Status, s.Status)
	if worst != r.Status {
		r.Error, r.FailedStep = s.Error, ""
		if s.Status == FailedRow || s.Status == Uncertain {
			r.FailedStep = s.Step.Key
		}
		if s.Advice != "" {
			r.Advice = s.Advice
		}
	} else if worst == s.Status && s.Status == Changed && s.Error != "" && !r.says(s.Error) {
		r.Error += "; " + s.Error
	}
	r.Status = worst
	if r.Advice == "" {
		r.Advice = s.Advice
	}
	if s.Step.Kind == mapping.ClaimStep && s.Step.Rows[0] != r.row() && r.Advice == "" {
		r.Advice = fmt.Sprintf(adviceSameClaim, b.RowName(s.Step.Rows[0]))
	}
}

// says tells whether a reason stands beside the row already.
func (r *RowResult) says(reason string) bool {
	return strings.Contains("; "+r.Error+"; ", "; "+reason+"; ")
}

// invalidOutcome is that of a plan with problems: the rows that have one are
// invalid, the others wait for them.
func invalidOutcome(b *mapping.Binding, plan mapping.Plan, made ids, url string) Outcome {
	o := Outcome{Number: plan.Number, Client: plan.Client, Status: Invalid, URL: url, Problems: plan.Problems}
	byRow, cells := map[mapping.Row][]string{}, map[mapping.Row]bool{}
	for _, p := range plan.Problems {
		row := mapping.RowOf(p.Where.Table, p.Where.Row)
		byRow[row] = append(byRow[row], inWords(p))
		cells[row] = cells[row] || p.Code != mapping.LacksTimezone
	}
	waits := waitsFor(b, plan, byRow)
	o.Rows = knownRows(plan, made, url)
	for i := range o.Rows {
		r := &o.Rows[i]
		r.Status, r.Advice, r.Error = NotStarted, adviceWaits, waits
		if own := byRow[r.row()]; len(own) > 0 {
			r.Status, r.Advice, r.Error = Invalid, adviceTimezone, strings.Join(own, "; ")
			if cells[r.row()] {
				r.Advice = adviceInvalid
			}
		}
	}
	return o
}

// waitsFor names the rows that the others wait for, a few of them.
func waitsFor(b *mapping.Binding, plan mapping.Plan, byRow map[mapping.Row][]string) string {
	const most = 5
	var bad []string
	more := 0
	for _, row := range plan.Rows {
		switch {
		case len(byRow[row]) == 0:
		case len(bad) < most:
			bad = append(bad, b.RowName(row))
		default:
			more++
		}
	}
	switch {
	case more > 0:
		return fmt.Sprintf("waits for rows %s and %d more, which are invalid", strings.Join(bad, ", "), more)
	case len(bad) > 1:
		return "waits for rows " + strings.Join(bad, ", ") + ", which are invalid"
	}
	return "waits for row " + strings.Join(bad, "") + ", which is invalid"
}

// inWords is a problem for the workbook, which shows the cell beside it.
func inWords(p problem.Problem) string {
	text := p.Where.String() + ": " + p.Message
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// leftOut is the outcome of rows that are not taken, and why.
func leftOut(plan mapping.Plan, made ids, url, why string) Outcome {
	o := Outcome{Number: plan.Number, Client: plan.Client, Status: Skipped, URL: url, Rows: knownRows(plan, made, url)}
	for i := range o.Rows {
		o.Rows[i].Status, o.Rows[i].Advice = Skipped, why
	}
	return o
}

// knownRows are the rows of a plan for which nothing is sent, with the ids
// that are known from before.
func knownRows(plan mapping.Plan, made ids, url string) []RowResult {
	claims := map[mapping.Row][]string{}
	note := func(key string, rows []mapping.Row) {
		if id := made.claims[key]; id != "" {
			for _, row := range rows {
				claims[row] = append(claims[row], id)
			}
		}
	}
	for _, s := range plan.Steps {
		if s.Kind == mapping.ClaimStep {
			note(s.Key, s.Rows)
		}
	}
	for _, c := range plan.Claims {
		note(c.Key, c.Rows)
	}
	rows := make([]RowResult, len(plan.Rows))
	for i, row := range plan.Rows {
		rows[i] = resultOf(row, made.client, url)
		rows[i].ClaimIDs = claims[row]
	}
	return rows
}
