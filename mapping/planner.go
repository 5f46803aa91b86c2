package mapping

import (
	"slices"
	"strings"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// planner makes the plan of one client.
type planner struct {
	b      *Binding
	plan   *Plan
	rows   []ConvertedRow
	client *planned
	values []fieldValue      // room for the value being merged
	acts   []*activityValues // the activity being made, from each row

	conflicts []string // the rows and the first place of each conflict
}

// planned is the client, a claim or a further contact of a plan. Several rows may ask for it.
type planned struct {
	entry int    // of the claims or contacts
	step  Step   // that creates it
	on    string // stands for it in the keys of its activities
	// activities are those that can be on it, by the mapping's activities.
	activities []*boundPayload
	plan       *Plan // of the client; of a contact, its own
	rows       []*ConvertedRow
	parts      []*rowPart // what each row says of it

	contacts      []*planned    // further contacts that a claim needs
	at            problem.Where // the key cell of the first row that names a contact
	hasActivities bool
	isOrdered     bool // it is among the plan's steps
}

// add adds what a row says.
func (g *planned) add(row *ConvertedRow, part *rowPart) {
	if n := len(g.rows); n == 0 || g.rows[n-1] != row {
		g.rows, g.step.Rows = append(g.rows, row), append(g.step.Rows, row.Row)
	}
	g.parts = append(g.parts, part)
}

// Plan makes the plan of a client from all its rows, in sheet order. number is
// the client's position in the sheet, from 1. With any problem the plan has no
// steps.
func (b *Binding) Plan(number int, rows []ConvertedRow) Plan {
	plan := Plan{Number: number, Client: rows[0].Client}
	p := &planner{b: b, plan: &plan, rows: rows, values: make([]fieldValue, 0, len(rows))}
	for _, l := range rows {
		plan.Rows = append(plan.Rows, l.Row)
		plan.Problems, plan.Warnings = append(plan.Problems, l.Problems...), append(plan.Warnings, l.Warnings...)
	}
	if plan.Skipped = rows[0].Skipped; plan.Skipped != "" {
		return plan
	}
	p.planClient()
	contacts := p.contacts()
	claims := p.claims()
	for _, c := range claims {
		p.roles(c, contacts)
	}
	var acts []plannedActivity
	if p.sameResume() {
		acts = p.activitySteps(slices.Concat([]*planned{p.client}, claims, contacts))
	}
	if len(plan.Problems) > 0 {
		plan.Problems = plan.Problems.Unique()
		for _, c := range claims {
			plan.Claims = append(plan.Claims, ClaimRows{c.step.Key, c.step.Rows})
		}
	} else if b.mapping.V1() {
		plan.Steps = orderV1(p.client.step, acts)
	} else {
		plan.Steps = p.orderV2(claims, acts)
	}
	for _, c := range contacts {
		if c.isOrdered || len(plan.Problems) > 0 {
			plan.Contacts = append(plan.Contacts, ContactRows{c.plan.Client, c.plan.Role, c.plan.Rows})
		}
	}
	return plan
}

// PeopleOf returns a plan of the client of a row, and one of each further contact that the row names,
// with their addresses and look-ups, also where cells of the row are wrong.
func (b *Binding) PeopleOf(row ConvertedRow) []Plan {
	p := &planner{b: b, plan: &Plan{Client: row.Client}, rows: []ConvertedRow{row}}
	p.planClient()
	contacts := p.contacts()
	people := []Plan{*p.plan}
	for _, c := range contacts {
		people = append(people, *c.plan)
	}
	return people
}

// sameResume reports whether all rows say where the client resumes, and agree
// on it. Otherwise each row was converted for other activities, and there is
// no common list of steps.
func (p *planner) sameResume() bool {
	at := func(l ConvertedRow) problem.Where { return p.b.At(p.b.table(l.Row.Table()).resume.column, l.Row) }
	first, same := p.rows[0], true
	var others []problem.Where
	for _, l := range p.rows[1:] {
		same = same && l.resume == first.resume
		if l.resume >= 0 && first.resume >= 0 && l.resume != first.resume {
			others = append(others, at(l))
		}
	}
	if len(others) > 0 {
		p.differ(p.b.header(p.b.resume.column, first.Row), "the rows of one client must agree on where it resumes", "write the same next step into all of them",
			append([]problem.Where{at(first)}, others...))
	}
	return same
}

// planClient settles the client.
func (p *planner) planClient() {
	p.client = &planned{plan: p.plan, on: ClientRole, activities: p.b.client.activities,
		step: Step{Key: string(ClientStep), Kind: ClientStep, Title: ClientRole, NotAdministrator: !p.b.client.administrator}}
	for i := range p.rows {
		p.client.add(&p.rows[i], &p.rows[i].client)
	}
	p.mergeKnownID(p.client, p.b.client.known)
	p.person(p.client, &p.b.client)
}

// mergeParts merges one value over what the rows say.
func (p *planner) mergeParts(g *planned, v *boundValue, of func(*rowPart) fieldValue) fieldValue {
	items := p.values[:0]
	for _, part := range g.parts {
		items = append(items, of(part))
	}
	return p.merge(v, items)
}

func (p *planner) mergeKnownID(g *planned, v *boundValue) {
	if v != nil {
		g.step.KnownID = p.mergeParts(g, v, func(part *rowPart) fieldValue { return part.known }).value.Literal
	}
}

// person settles how a client or a further contact is looked up, its addresses
// and the payload of the step that creates it.
func (p *planner) person(g *planned, bound *boundPerson) {
	lookup := &g.plan.Lookup
	if bound.email != nil {
		it := p.mergeParts(g, bound.email, func(part *rowPart) fieldValue { return part.email })
		lookup.Email, lookup.EmailAddress = it.value.Literal, g.plan.address(EmailSpace, &it)
	}
	if bound.phone != nil {
		it := p.mergeParts(g, bound.phone, func(part *rowPart) fieldValue { return part.phone })
		lookup.Phone, lookup.PhoneNumber = it.value.Literal, g.plan.address(PhoneSpace, &it)
	}
	lookup.Mode = bound.mode
	g.step.Fields = make([]Field, 0, len(bound.fields))
	for k := range bound.fields {
		f := &bound.fields[k]
		it := p.mergeParts(g, &f.value, func(part *rowPart) fieldValue { return part.fields[k] })
		if it.value.IsZero() {
			g.step.Omitted = append(g.step.Omitted, Omitted{strings.Join(f.path, "."), it.source()})
			continue
		}
		g.step.Fields = append(g.step.Fields, Field{f.path, it.value, it.source()})
		switch f.value.conv.Type {
		case convert.Email:
			g.plan.address(EmailSpace, &it)
		case convert.Phone:
			g.plan.address(PhoneSpace, &it)
		}
	}
}

// address returns a value as an address and notes it as one of the client's.
func (plan *Plan) address(space string, it *fieldValue) Identity {
	if it.value.IsZero() {
		return Identity{}
	}
	who := addressIdentity(space, it)
	if !slices.Contains(plan.Addresses, who) {
		plan.Addresses = append(plan.Addresses, who)
	}
	return who
}

// claims collects the claims that the rows ask for, in the order of their
// first row.
func (p *planner) claims() []*planned {
	var found []*planned
	for i := range p.rows {
		row := &p.rows[i]
		for k := range row.claims {
			part := &row.claims[k]
			key := p.b.claimStep(part)
			at := slices.IndexFunc(found, func(c *planned) bool { return c.step.Key == key })
			if at < 0 {
				at = len(found)
				found = append(found, &planned{entry: part.entry, on: key[len("claim/"):], activities: p.b.claims[part.entry].activities,
					step: Step{Key: key, Kind: ClaimStep, Claim: key, Title: p.b.claims[part.entry].id}})
			}
			found[at].add(row, part)
		}
	}
	for _, c := range found {
		b := &p.b.claims[c.entry]
		name := p.mergeParts(c, &b.name, func(part *rowPart) fieldValue { return part.name })
		c.step.Name, c.step.NameSource = name.value.Literal, name.source()
		p.mergeKnownID(c, b.known)
	}
	return found
}

// plannedActivity is the step of an activity and what the order of the steps
// depends on.
type plannedActivity struct {
	Step
	of   *planned
	open bool
}

// activitySteps makes the steps of all activities, in the mapping's order and,
// within one activity, in the order of the claims or contacts.
func (p *planner) activitySteps(all []*planned) []plannedActivity {
	steps := make([]plannedActivity, 0, len(p.b.activities))
	for i := range p.b.activities {
		a := &p.b.activities[i]
		status, wanted := p.b.status(a, p.rows[0].resume)
		if !wanted {
			continue
		}
		for _, g := range all {
			payload := g.activities[i]
			if payload == nil {
				continue
			}
			p.acts = p.acts[:0]
			for _, part := range g.parts {
				for k := range part.activities {
					if part.activities[k].index == i {
						p.acts = append(p.acts, &part.activities[k])
					}
				}
			}
			if len(p.acts) > 0 { // else its condition left it out
				steps = append(steps, plannedActivity{p.activity(a, status, payload, g), g, status == Open && a.order >= 0})
			}
		}
	}
	return steps
}

// status returns the activity's status, and whether it is wanted at all, for a
// client that resumes at the activity of order resume.
func (b *Binding) status(a *boundActivity, resume int) (status Status, wanted bool) {
	switch {
	case !b.resume.isSet || a.order < 0 || a.order < resume:
		return a.rule.Status, true
	case a.order == resume:
		return Open, true
	}
	return "", false
}

// activity makes the step of one activity.
func (p *planner) activity(a *boundActivity, status Status, payload *boundPayload, g *planned) Step {
	step := Step{Key: "activity/" + a.rule.ID.Text + "@" + g.on, Kind: ActivityStep, Rows: g.step.Rows, Claim: g.step.Claim, Title: a.rule.Template.Text,
		Activity: &Activity{TemplateID: a.template.ID, TemplateName: a.rule.Template.Text, Status: status}}
	if g.step.Kind == ContactStep {
		step.On = g.step.Key
	}
	g.hasActivities = true
	act := step.Activity
	if !p.b.mapping.V1() {
		name := p.mergeActs(&payload.workflow, func(it *activityValues) fieldValue { return it.workflow })
		identifier := p.mergeActs(&payload.identifier, func(it *activityValues) fieldValue { return it.identifier })
		act.Workflow = Workflow{name.value.Literal, identifier.value.Literal}
	}
	if p.b.resume.isSet && p.b.resume.column >= 0 && a.order >= 0 { // the rows agree on it
		row := g.step.Rows[0]
		act.StatusSource = Source{Row: row, Columns: []int{p.b.table(row.Table()).resume.column},
			Names: foldHeaders(p.b.mapping.ResumeAt.Column.Text), Texts: []string{p.rows[0].resumeCell}}
	}
	if status == Open {
		return step
	}
	act.Attributes = make([]Attribute, 0, len(payload.attributes))
	for k := range payload.attributes {
		attr := &payload.attributes[k]
		it := p.mergeActs(&attr.value, func(it *activityValues) fieldValue { return it.attributes[k] })
		if it.value.IsZero() {
			step.Omitted = append(step.Omitted, Omitted{attr.value.label, it.source()})
		} else {
			act.Attributes = append(act.Attributes, Attribute{attr.templateID, attr.value.label, it.value, it.source()})
		}
	}
	// A row without a key is not held to what its client's other rows may have.
	couldHave := p.plan.Client != (Identity{}) && (len(payload.attributes) > 0 || len(a.template.Attributes) > 0)
	if couldHave && len(act.Attributes) == 0 && !slices.ContainsFunc(p.acts, func(it *activityValues) bool { return refused(it.attributes) }) {
		p.plan.Problems = append(p.plan.Problems, problem.At(p.b.AtRow(g.step.Rows[0]), "no-attributes",
			"“%s” would be sent without attributes: all its cells are empty", a.rule.Template.Text).
			Hinted("fill one of them, or give the activity a when that leaves it out"))
	}
	return step
}

// mergeActs merges one value of the activity being made over the rows.
func (p *planner) mergeActs(v *boundValue, of func(*activityValues) fieldValue) fieldValue {
	items := p.values[:0]
	for _, it := range p.acts {
		items = append(items, of(it))
	}
	return p.merge(v, items)
}

// orderV1 puts the Open activity directly after the client, so that the client
// can be redirected while the earlier activities are still being back-filled
// (service document, v1 flow B).
func orderV1(client Step, acts []plannedActivity) []Step {
	steps := []Step{client}
	for _, open := range []bool{true, false} {
		for _, a := range acts {
			if a.open == open {
				steps = append(steps, a.Step)
			}
		}
	}
	return steps
}

// orderV2 orders the steps: the client; claims that no activity is on, or that
// the mapping wants first; the activities as listed; the link. Any other claim
// is created just before its first activity, and a further contact just before the
// first claim or activity that needs it. Consecutive activities on
// claims run claim by claim. In the service document, use cases 1 and 2 create
// the claim first, use case 3 creates each claim when it is needed.
func (p *planner) orderV2(claims []*planned, acts []plannedActivity) []Step {
	steps := make([]Step, 0, 2+len(claims)+len(acts))
	var create func(g *planned)
	create = func(g *planned) {
		if g.isOrdered {
			return
		}
		g.isOrdered = true
		if g.step.KnownID == "" { // a claim that exists has its contacts
			for _, contact := range g.contacts {
				create(contact)
			}
		}
		steps = append(steps, g.step)
	}
	create(p.client)
	for _, c := range claims {
		if !c.hasActivities || p.b.claims[c.entry].first {
			create(c)
		}
	}
	for len(acts) > 0 {
		stretch := 0
		for stretch < len(acts) && acts[stretch].Claim != "" {
			stretch++
		}
		for _, c := range claims {
			for i := range acts[:stretch] {
				if acts[i].of == c {
					create(c)
					steps = append(steps, acts[i].Step)
				}
			}
		}
		if stretch == 0 {
			create(acts[0].of)
			steps = append(steps, acts[0].Step)
			stretch = 1
		}
		acts = acts[stretch:]
	}
	if p.b.mapping.Link == LinkNever {
		return steps
	}
	return append(steps, LinkStepOf(string(LinkStep), p.plan.Rows))
}
