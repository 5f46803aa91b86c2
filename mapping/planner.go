package mapping

import (
	"slices"

	"claimsheet/mapping/problem"
)

// planner makes the plan of one client.
type planner struct {
	b    *Binding
	plan *Plan
	rows []ConvertedRow

	conflicts []string // the rows and the first place of each conflict
}

// planned is the client, a claim or a further contact of a plan. Several rows may ask for it.
type planned struct {
	bound *boundPart
	step  Step   // that creates it
	on    string // stands for it in the keys of its activities
	plan  *Plan  // the client's; of a contact, its own
	rows  []*ConvertedRow
	parts []*rowPart // what each row says of it

	people        []*planned // the client and the contacts that a claim needs
	hasActivities bool
	isOrdered     bool // it is among the plan's steps
}

// collect returns the clients, contacts or claims that the rows have, in the order of their first row, with the
// steps that create them. It leaves out a contact whose key cannot be read.
func (p *planner) collect(kind StepKind) (found []*planned) {
	for i := range p.rows {
		row := &p.rows[i]
		for k := range row.parts {
			part := &row.parts[k]
			bound := p.b.parts[part.entry]
			if bound.kind != kind {
				continue
			}
			key := p.b.step(part)
			if key == "" {
				continue
			}
			at := slices.IndexFunc(found, func(o *planned) bool { return o.step.Key == key && o.step.Title == bound.id })
			if at < 0 {
				at = len(found)
				found = append(found, p.begin(bound, key, part))
			}
			g := found[at]
			if n := len(g.rows); n == 0 || g.rows[n-1] != row {
				g.rows, g.step.Rows = append(g.rows, row), append(g.step.Rows, row.Row)
			}
			g.parts = append(g.parts, part)
		}
	}
	for _, g := range found {
		p.settle(g)
	}
	return found
}

// begin returns a client, contact or claim without its rows.
func (p *planner) begin(bound *boundPart, key string, part *rowPart) *planned {
	g := &planned{bound: bound, on: key, plan: p.plan,
		step: Step{Key: key, Kind: bound.kind, Title: bound.id, NotAdministrator: bound.notAdministrator}}
	switch bound.kind {
	case ClaimStep:
		g.on, g.step.Claim = key[len(claimPrefix):], key
	case ContactStep:
		g.plan = &Plan{Number: p.plan.Number, Client: part.who, Role: bound.id}
	}
	return g
}

// settle merges what the rows say, for the step that creates a client, contact or claim, and for the look-up of a person.
func (p *planner) settle(g *planned) {
	bound, step := g.bound, &g.step
	values := p.mergeAll(g.parts, bound.values)
	if bound.known != nil {
		step.KnownID = values[bound.known.slot].value.Literal
	}
	if bound.kind == ClaimStep {
		name := &values[bound.name.slot]
		step.Name = name.value.Literal
		step.Fields = []Value{{Name: ClaimName, Value: name.value, Source: name.source()}}
		return
	}
	g.plan.Lookup, g.plan.Addresses = bound.lookup(values), bound.addresses(values)
	step.Fields = sent(bound.fields, values)
	if bound.kind == ContactStep {
		own := *step
		own.Key, own.Kind = string(ClientStep), ClientStep
		g.plan.Rows, g.plan.Steps, step.Contact = own.Rows, []Step{own}, g.plan
	}
}

// Plan makes the plan of a client from all its rows, in sheet order, and may change them. number
// is the client's position in the sheet, from 1. With any problem the plan has no steps.
func (b *Binding) Plan(number int, rows []ConvertedRow) Plan {
	plan := Plan{Number: number, Client: rows[0].Client}
	p := &planner{b: b, plan: &plan, rows: rows}
	for _, l := range rows {
		plan.Rows = append(plan.Rows, l.Row)
		plan.Problems = append(plan.Problems, l.Problems...)
	}
	if plan.Skipped = rows[0].Skipped; plan.Skipped != "" {
		return plan
	}
	people := slices.Concat(p.collect(ClientStep), p.collect(ContactStep))
	p.refuseShared(people)
	claims := p.collect(ClaimStep)
	for _, c := range claims {
		p.roles(c, people)
	}
	var acts []plannedActivity
	resumesElsewhere := func(row ConvertedRow) bool { return row.resume != rows[0].resume }
	if !slices.ContainsFunc(rows, resumesElsewhere) { // else each row was converted for other activities
		acts = p.activitySteps(slices.Concat(people, claims))
	}
	if len(plan.Problems) > 0 {
		plan.Problems = plan.Problems.Unique()
		for _, g := range slices.Concat(claims, people[1:]) {
			plan.Withheld = append(plan.Withheld, g.step)
		}
	} else {
		plan.Steps = p.order(people[0], claims, acts)
	}
	return plan
}

// mergeAll merges values over what the rows say. Those of one row stay where they are.
func (p *planner) mergeAll(parts []*rowPart, values []*boundValue) []fieldValue {
	if len(parts) == 1 {
		list := parts[0].values[:len(values)]
		for i, v := range values {
			p.complete(v, &list[i])
		}
		return list
	}
	list := make([]fieldValue, len(values))
	for i, v := range values {
		var items []fieldValue
		for _, part := range parts {
			items = append(items, part.values[i])
		}
		list[i] = p.merge(v, items)
	}
	return list
}

// sent are values as a step sends them.
func sent(values []*boundValue, merged []fieldValue) []Value {
	list := make([]Value, len(values))
	for i, v := range values {
		it := &merged[v.slot]
		list[i] = Value{v.label, v.templateID, it.value, it.source()}
	}
	return list
}

// plannedActivity is the step of an activity and what it is on.
type plannedActivity struct {
	Step
	of *planned
}

// activitySteps makes the steps of all activities, in the mapping's order and,
// within one activity, in the order of the claims or contacts. In version 1 the Open activity
// comes first, so that the client can be redirected while the earlier ones are still being
// back-filled (service document, v1 flow B).
func (p *planner) activitySteps(all []*planned) []plannedActivity {
	var first, others []plannedActivity
	for i := range p.b.activities {
		a := &p.b.activities[i]
		status, wanted := p.b.status(a, p.rows[0].resume)
		if !wanted {
			continue
		}
		for _, g := range all {
			var acts []*rowPart // the activity, from each row
			for _, part := range g.parts {
				for k := range part.activities {
					if part.activities[k].entry == i {
						acts = append(acts, &part.activities[k])
					}
				}
			}
			if len(acts) == 0 { // it is not on this one, or its condition left it out
				continue
			}
			list := &others
			if p.b.mapping.V1() && status == Open && a.order >= 0 {
				list = &first
			}
			*list = append(*list, plannedActivity{p.activity(a, status, g.bound.activities[i], g, acts), g})
		}
	}
	return slices.Concat(first, others)
}

// status returns the activity's status, and whether it is wanted at all, for a
// client that resumes at the activity of order resume.
func (b *Binding) status(a *boundActivity, resume int) (status string, wanted bool) {
	switch {
	case b.mapping.ResumeAt == nil || a.order < 0 || a.order < resume:
		return a.rule.Status, true
	case a.order == resume:
		return Open, true
	}
	return "", false
}

// activity makes the step of one activity.
func (p *planner) activity(a *boundActivity, status string, on *boundPart, g *planned, acts []*rowPart) Step {
	step := Step{Key: "activity/" + a.rule.ID.Text + "@" + g.on, Kind: ActivityStep, Rows: g.step.Rows, Claim: g.step.Claim, Title: a.rule.Template.Text,
		Activity: &Activity{TemplateID: a.template.ID, TemplateName: a.rule.Template.Text, Status: status}}
	if g.step.Kind == ContactStep {
		step.On = g.step.Key
	}
	g.hasActivities = true
	act := step.Activity
	values := p.mergeAll(acts, on.values[:len(acts[0].values)])
	act.Workflow = Workflow{values[0].value.Literal, values[1].value.Literal}
	if a.order >= 0 { // the rows agree on it
		act.StatusSource = p.rows[0].parts[0].value(p.b.resume.next).source()
	}
	if status == Open {
		return step
	}
	step.Fields = sent(on.values[2:], values)
	// A row without a key is not held to what its client's other rows may have.
	couldHave := p.plan.Client != (Identity{}) && (len(step.Fields) > 0 || len(a.template.Attributes) > 0)
	isFilled := slices.ContainsFunc(step.Fields, func(v Value) bool { return !v.Value.IsZero() })
	if couldHave && !isFilled && !slices.ContainsFunc(acts, func(it *rowPart) bool { return refused(it.values) }) {
		p.plan.Problems = append(p.plan.Problems, problem.At(p.b.AtRow(g.step.Rows[0]), "no-attributes",
			"“%s” would be sent without attributes: all its cells are empty", a.rule.Template.Text).
			Hinted("fill one of them, or give the activity a when that leaves it out"))
	}
	return step
}

// order orders the steps: the client; claims that no activity is on, or that
// the mapping wants first; the activities as listed; the link. Any other claim
// is created just before its first activity, and a further contact just before the
// first claim or activity that needs it. Consecutive activities on
// claims run claim by claim. In the service document, use cases 1 and 2 create
// the claim first, use case 3 creates each claim when it is needed.
func (p *planner) order(client *planned, claims []*planned, acts []plannedActivity) []Step {
	steps := make([]Step, 0, 2+len(claims)+len(acts))
	var create func(g *planned)
	create = func(g *planned) {
		if g.isOrdered {
			return
		}
		g.isOrdered = true
		if g.step.KnownID == "" { // a claim that exists has its contacts
			for _, contact := range g.people {
				create(contact)
			}
		}
		steps = append(steps, g.step)
	}
	create(client)
	for _, c := range claims {
		if !c.hasActivities || c.bound.isFirst {
			create(c)
		}
	}
	for from, to := 0, 0; from < len(acts); from = to { // a stretch of activities on claims, or one other activity
		for to = from + 1; to < len(acts) && acts[from].Claim != "" && acts[to].Claim != ""; {
			to++
		}
		slices.SortStableFunc(acts[from:to], func(a, b plannedActivity) int { return slices.Index(claims, a.of) - slices.Index(claims, b.of) })
	}
	for _, a := range acts {
		create(a.of)
		steps = append(steps, a.Step)
	}
	if p.b.mapping.Link == LinkNever || p.b.mapping.V1() {
		return steps
	}
	return append(steps, LinkStepOf(string(LinkStep), p.plan.Rows))
}
