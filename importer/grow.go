package importer

import (
	"context"
	"iter"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// vetActivities refuses activities that would do again, under another name, what
// the ledger says is done. then is the mapping's definition as it was recorded.
func (j *Job) vetActivities(ctx context.Context, then string) error {
	m := j.Binding.Mapping()
	for _, r := range j.Binding.Renamed(then) {
		done, err := j.Ledger.HasSteps(ctx, j.Environment, m.Name.Text, r.Steps)
		if err != nil {
			return err
		}
		if done {
			return problem.At(m.At(r.At), "identity-changed", "the activity that is %s now has run before as %s: what is done would be done again", r.Now, r.Was).
				Hinted("take the change back; or give --new-identity if the activity is to be made again for everybody")
		}
	}
	return nil
}

// Growth says which activities of the mapping are new since it last ran, and for
// how many clients whom the ledger knows they will be sent; nil where none is.
// plans are those of the whole sheet, and read only when there is one.
func (j *Job) Growth(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) (problem.List, error) {
	m := j.Binding.Mapping()
	then, known, err := j.Ledger.Definition(ctx, j.Environment, m.Name.Text)
	if err != nil || !known || len(j.Binding.Redefined(then)) > 0 {
		return nil, err
	}
	grown := j.Binding.Grown(then)
	if len(grown) == 0 {
		return nil, nil
	}
	if err := j.loadErased(ctx); err != nil {
		return nil, err
	}
	clients, open := make([]int, len(grown)), make([]bool, len(grown))
	for plan, err := range plans {
		if err != nil {
			return nil, err
		}
		if len(plan.Steps) == 0 || j.leavesOut(plan) != "" {
			continue
		}
		known, err := j.stepsOf(plan, j.reparseOnly) // the run has not begun
		if err != nil {
			return nil, err
		}
		if known[string(mapping.ClientStep)].To != ledger.Done {
			continue
		}
		decisions := decide(plan, known, j.Binding)
		for i, g := range grown {
			for _, d := range decisions {
				if d.action == send && strings.HasPrefix(d.step.Key, g.Steps) {
					clients[i]++
					open[i] = open[i] || d.step.Activity.Status == mapping.Open
					break
				}
			}
		}
	}
	var said problem.List
	for i, g := range grown {
		if clients[i] > 0 || !g.Wider {
			said = append(said, growth(m.At(g.At), g.ID, clients[i], open[i]))
		}
	}
	return said, nil
}

// growth says that an activity is new.
func growth(at problem.Where, id string, clients int, open bool) problem.Problem {
	whom := "known clients"
	if clients == 1 {
		whom = "known client"
	}
	p := problem.At(at, "grown", "the activity “%s” is new since the mapping last ran: it will be sent for %d %s", id, clients, whom)
	if open && clients > 0 {
		return p.Hinted("it is opened also for those who have completed what their link led to; they get no new link")
	}
	return p
}
