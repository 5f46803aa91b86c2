package importer

import (
	"encoding/json"
	"fmt"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// action is what is to be done about a step.
type action int

const (
	send     action = iota // unknown, or surely not created: send it
	keep                   // done before
	differ                 // done before, with other data: nothing is sent
	operator               // may have been created: an operator decides
	closed                 // an operator gave it up
	adopted                // a look-up found the client in this run
	hold                   // new, but held back because of a difference elsewhere
)

// decision is what is to be done about one step of a plan, and why.
type decision struct {
	step    mapping.Step
	known   ledger.Step // zero when the ledger does not know the step
	asked   asked
	action  action
	why     string // for differ, operator, closed and hold
	mapping bool   // the mapping, not a cell, made the data differ
}

// decide tells for every step of a plan what is to be done, given what the
// ledger knows of the client. It is pure: a first run, the resume after a
// crash, a re-run and tonight's sheet are all this.
func decide(plan mapping.Plan, known map[string]ledger.Step, sheet mapping.Sheet, mappingDigest string) []decision {
	decisions := make([]decision, len(plan.Steps))
	statusMoved := ""
	for i, step := range plan.Steps {
		d := decision{step: step, known: known[step.Key], asked: ask(step, mappingDigest)}
		d.fixWorkflow()
		switch d.known.To {
		case ledger.Done:
			if moved := d.compare(sheet); moved && statusMoved == "" {
				statusMoved = step.Title
			}
		case ledger.Intent, ledger.Uncertain, ledger.Parked:
			d.action, d.why = operator, d.known.Reason
		case ledger.GivenUp:
			d.action, d.why = closed, "given up by an operator"
		}
		decisions[i] = d
	}
	if statusMoved != "" {
		for i := range decisions {
			if decisions[i].action == send {
				decisions[i].action = hold
				decisions[i].why = "held back: “" + statusMoved + "” is done and is now wanted in another status"
			}
		}
	}
	return decisions
}

// fixWorkflow keeps the workflow fields of an earlier attempt: they are fixed
// when the step is first sent, or a name with the run's date would split one
// night's batch over two.
func (d *decision) fixWorkflow() {
	var then asked
	if d.step.Activity == nil || d.known.Data == nil || json.Unmarshal(d.known.Data, &then) != nil || then.Workflow == nil {
		return
	}
	act := *d.step.Activity
	act.Workflow = *then.Workflow
	d.step.Activity, d.asked.Workflow = &act, then.Workflow
}

// compare settles a done step: kept, or different. moved tells that an
// activity is wanted in another status than it has.
func (d *decision) compare(sheet mapping.Sheet) (moved bool) {
	d.action = keep
	if d.known.Digest == "" || d.known.Digest == d.asked.digest() {
		return false
	}
	var then asked
	if d.known.Data == nil || json.Unmarshal(d.known.Data, &then) != nil {
		d.action, d.why = differ, "the data differ from what was sent; what they were is no longer kept"
		return false
	}
	diff := d.asked.differs(then)
	d.mapping = diff.mapping
	var parts []string
	if diff.status {
		parts = append(parts, fmt.Sprintf("it was sent as %s and is now wanted as %s", then.Status, d.asked.Status))
	}
	for _, c := range diff.cells {
		if diff.status && d.asked.Status != then.Status && len(d.asked.Values)*len(then.Values) == 0 {
			break // an Open activity has no attributes: they do not differ, they are absent
		}
		parts = append(parts, c.describe(sheet))
	}
	if len(parts) > 0 {
		d.action, d.why = differ, strings.Join(parts, "; ")
	}
	return diff.status
}

func (c cellChange) describe(sheet mapping.Sheet) string {
	if len(c.source.Columns) == 0 {
		return "“" + c.name + "” is now empty"
	}
	at := make([]string, len(c.source.Columns))
	for i, column := range c.source.Columns {
		at[i] = sheet.At(column, c.source.Row).String()
	}
	return "“" + c.name + "” differs: " + strings.Join(at, ", ")
}
