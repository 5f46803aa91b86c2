package importer

import (
	"fmt"
	"slices"
	"strings"

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
	// MappingChanged tells that a done step's data differ because the mapping
	// asks for something else; it is said once for a run, not for each row.
	MappingChanged bool
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
func outcomeOf(plan mapping.Plan, steps []StepOutcome) Outcome {
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
	for _, row := range plan.Rows {
		r := RowResult{Row: row, ClientID: client, URL: url}
		for _, s := range steps {
			if slices.Contains(s.Step.Rows, row) {
				r.add(s)
			}
		}
		o.Rows = append(o.Rows, r)
		o.Status = worse(o.Status, r.Status)
	}
	return o
}

// add takes a step of the row into account.
func (r *RowResult) add(s StepOutcome) {
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
	} else if worst == s.Status && s.Status == Changed && s.Error != "" && s.Error != r.Error {
		r.Error += "; " + s.Error
	}
	r.Status = worst
	if r.Advice == "" {
		r.Advice = s.Advice
	}
	if s.Step.Kind == mapping.ClaimStep && s.Step.Rows[0] != r.Row && r.Advice == "" {
		r.Advice = fmt.Sprintf(adviceSameClaim, s.Step.Rows[0])
	}
}

// invalidOutcome is that of a plan with problems: the rows that have one are
// invalid, the others wait for them.
func invalidOutcome(plan mapping.Plan, clientID, url string) Outcome {
	o := Outcome{Number: plan.Number, Client: plan.Client, Status: Invalid, URL: url, Problems: plan.Problems}
	var bad []string
	for _, row := range plan.Rows {
		if len(problemsOf(plan, row)) > 0 {
			bad = append(bad, fmt.Sprint(row))
		}
	}
	for _, row := range plan.Rows {
		r := RowResult{Row: row, Status: NotStarted, ClientID: clientID, URL: url, Advice: adviceWaits,
			Error: "waits for row " + strings.Join(bad, ", ") + ", which is invalid"}
		if len(bad) > 1 {
			r.Error = "waits for rows " + strings.Join(bad, ", ") + ", which are invalid"
		}
		if own := problemsOf(plan, row); len(own) > 0 {
			r.Status, r.Advice, r.Error = Invalid, adviceInvalid, strings.Join(own, "; ")
		}
		o.Rows = append(o.Rows, r)
	}
	return o
}

// problemsOf are a row's problems in words for the workbook, which shows the
// cell beside them.
func problemsOf(plan mapping.Plan, row int) []string {
	var list []string
	for _, p := range plan.Problems {
		if p.Where.Row != row {
			continue
		}
		text := p.Where.String() + ": " + p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		list = append(list, text)
	}
	return list
}

// leftOut is the outcome of rows that are not taken, and why.
func leftOut(plan mapping.Plan, clientID, why string) Outcome {
	o := Outcome{Number: plan.Number, Client: plan.Client, Status: Skipped}
	for _, row := range plan.Rows {
		o.Rows = append(o.Rows, RowResult{Row: row, Status: Skipped, ClientID: clientID, Advice: why})
	}
	return o
}
