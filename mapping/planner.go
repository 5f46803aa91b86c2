package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"slices"
	"strings"
)

// planner makes the plan of one client.
type planner struct {
	b      *Binding
	plan   *Plan
	rows   []ConvertedRow
	values []fieldValue      // room for the value being merged
	acts   []*activityValues // the activity being made, from each row

	disagreements []disagreement
}

// plannedClaim is a claim of the plan. Several rows may ask for it.
type plannedClaim struct {
	entry         int
	key           string // the step's key
	name          fieldValue
	known         fieldValue        // its id, where the sheet gives one
	contacts      []*plannedContact // further contacts that it needs
	administrator string            // as in Step
	claimants     []string

	administratorID string
	roleSource      Source
	rows            []cell.Row
	requests        []*claimValues  // what each row says of it
	leads           []*ConvertedRow // its rows, where the mapping has further contacts
	hasActivities   bool            // an activity is on it
	ordered         bool            // it is among the plan's steps
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
	client := p.clientStep()
	contacts := p.contacts()
	claims := p.claims()
	for _, c := range claims {
		p.roles(c, contacts)
	}
	var acts []plannedActivity
	if p.sameResume() {
		acts = p.activitySteps(claims, contacts)
	}
	p.conflicts()
	if len(plan.Problems) > 0 {
		plan.Problems = dedupe(plan.Problems)
		plan.Problems.Sort()
		for _, c := range claims {
			plan.Claims = append(plan.Claims, ClaimRows{c.key, c.rows})
		}
	} else if b.mapping.V1() {
		plan.Steps = orderV1(client, acts)
	} else {
		plan.Steps = p.orderV2(client, claims, acts)
	}
	for _, c := range contacts {
		if c.ordered || len(plan.Problems) > 0 {
			plan.Contacts = append(plan.Contacts, ContactRows{c.plan.Client, c.plan.Role, c.plan.Rows})
		}
	}
	return plan
}

// sameResume reports whether all rows say where the client resumes, and agree
// on it. Otherwise each row was converted for other activities, and there is
// no common list of steps.
func (p *planner) sameResume() bool {
	at := func(l ConvertedRow) problem.Where { return p.b.At(p.b.table(l.Row.Table()).resume.column, l.Row) }
	first, same := p.rows[0], true
	cells := []problem.Where{at(first)}
	for _, l := range p.rows[1:] {
		same = same && l.resume == first.resume
		if l.resume >= 0 && first.resume >= 0 && l.resume != first.resume {
			cells = append(cells, at(l))
		}
	}
	if len(cells) > 1 {
		p.differ(p.b.header(p.b.resume.column, first.Row), "the rows of one client must agree on where it resumes", "write the same next step into all of them", cells)
	}
	return same
}

func (p *planner) clientStep() Step {
	step := Step{Key: "client", Kind: ClientStep, Rows: p.plan.Rows, Title: "client", NotAdministrator: !p.b.mapping.Client.Administrator}
	if p.b.knownID != nil {
		step.KnownID = p.mergeRows(p.b.knownID, len(p.rows), func(i int) fieldValue { return p.rows[i].knownID }).value.Literal
	}
	p.person(p.plan, &step, &p.b.lookup, p.b.fields, len(p.rows), func(i int) *personValues { return &p.rows[i].personValues })
	return step
}

// mergeRows merges one value over n rows.
func (p *planner) mergeRows(v *boundValue, n int, of func(i int) fieldValue) fieldValue {
	items := p.values[:0]
	for i := range n {
		items = append(items, of(i))
	}
	return p.merge(v, items)
}

// person fills in how a client or a further contact is looked up, its addresses
// and the payload of the step that creates it, from the values of n rows.
func (p *planner) person(plan *Plan, step *Step, bound *boundLookup, fields []boundField, n int, of func(int) *personValues) {
	merged := func(v *boundValue, of func(i int) fieldValue) fieldValue {
		return p.mergeRows(v, n, of)
	}
	lookup := &plan.Lookup
	if bound.email != nil {
		it := merged(bound.email, func(i int) fieldValue { return of(i).email })
		lookup.Email, lookup.EmailAddress = it.value.Literal, plan.address(EmailSpace, &it)
	}
	if bound.phone != nil {
		it := merged(bound.phone, func(i int) fieldValue { return of(i).phone })
		lookup.Phone, lookup.PhoneNumber = it.value.Literal, plan.address(PhoneSpace, &it)
	}
	lookup.Mode = bound.mode
	step.Fields = make([]Field, 0, len(fields))
	for k := range fields {
		f := &fields[k]
		merged := merged(&f.value, func(i int) fieldValue { return of(i).fields[k] })
		if merged.value.IsZero() {
			step.Omitted = append(step.Omitted, Omitted{strings.Join(f.path, "."), merged.source()})
		} else {
			step.Fields = append(step.Fields, Field{f.path, merged.value, merged.source()})
			switch f.value.conv.Type {
			case convert.Email:
				plan.address(EmailSpace, &merged)
			case convert.Phone:
				plan.address(PhoneSpace, &merged)
			}
		}
	}
	step.Fields = withoutEmptyElements(fields, step.Fields)
}

// withoutEmptyElements leaves the constants out that stand in an element of an array of
// which every cell is empty. An element of constants only has no cells, and stays.
func withoutEmptyElements(bound []boundField, filled []Field) []Field {
	isEmpty := func(element []string) bool {
		hasCells := false
		for i := range bound {
			if f := &bound[i]; f.value.constant == nil && isWithin(f.path, element) {
				hasCells = true
				if slices.ContainsFunc(filled, func(it Field) bool { return slices.Equal(it.Path, f.path) }) {
					return false
				}
			}
		}
		return hasCells
	}
	return slices.DeleteFunc(slices.Clone(filled), func(f Field) bool {
		for i, part := range f.Path[:len(f.Path)-1] {
			if _, isPlace := arrayIndex(part); isPlace && isEmpty(f.Path[:i+1]) {
				return true
			}
		}
		return false
	})
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
func (p *planner) claims() []*plannedClaim {
	var found []*plannedClaim
	for i := range p.rows {
		l := &p.rows[i]
		for k := range l.claims {
			c := &l.claims[k]
			key := p.b.claimStep(c)
			at := slices.IndexFunc(found, func(c *plannedClaim) bool { return c.key == key })
			if at < 0 {
				at = len(found)
				found = append(found, &plannedClaim{entry: c.entry, key: key})
			}
			known := found[at]
			if len(known.rows) == 0 || known.rows[len(known.rows)-1] != l.Row {
				known.rows = append(known.rows, l.Row)
				if len(p.b.contacts) > 0 {
					known.leads = append(known.leads, l)
				}
			}
			known.requests = append(known.requests, c)
		}
	}
	for _, c := range found {
		names := p.values[:0]
		for _, asked := range c.requests {
			names = append(names, asked.name)
		}
		c.name = p.merge(&p.b.claims[c.entry].name, names)
		if known := p.b.claims[c.entry].known; known != nil {
			ids := p.values[:0]
			for _, asked := range c.requests {
				ids = append(ids, asked.known)
			}
			c.known = p.merge(known, ids)
		}
	}
	return found
}

func (c *plannedClaim) step(id string) Step {
	return Step{Key: c.key, Kind: ClaimStep, Rows: c.rows, Claim: c.key, Title: id,
		KnownID: c.known.value.Literal, Name: c.name.value.Literal, NameSource: c.name.source(),
		Administrator: c.administrator, AdministratorID: c.administratorID, Claimants: c.claimants, RoleSource: c.roleSource}
}

// plannedActivity is the step of an activity and what the order of the steps
// depends on.
type plannedActivity struct {
	Step
	on      *plannedClaim   // nil for the client's, and a contact's
	contact *plannedContact // nil for the client's, and a claim's
	open    bool
}

// activitySteps makes the steps of all activities, in the mapping's order and,
// within one activity, in the order of the claims or contacts.
func (p *planner) activitySteps(claims []*plannedClaim, contacts []*plannedContact) []plannedActivity {
	steps := make([]plannedActivity, 0, len(p.b.activities))
	for i := range p.b.activities {
		a := &p.b.activities[i]
		status, wanted := p.b.status(a, p.rows[0].resume)
		if !wanted {
			continue
		}
		if payload := a.payload(clientScope); payload != nil {
			p.acts = p.acts[:0]
			for k := range p.rows {
				p.collect(p.rows[k].activities, i)
			}
			steps = p.activity(steps, i, status, payload, p.plan.Rows, nil, nil)
		}
		for _, c := range claims {
			if payload := a.payload(c.entry); payload != nil {
				p.acts = p.acts[:0]
				for _, asked := range c.requests {
					p.collect(asked.activities, i)
				}
				steps = p.activity(steps, i, status, payload, c.rows, c, nil)
			}
		}
		for _, c := range contacts {
			if payload := a.payload(p.b.mapping.contactScope(c.entry)); payload != nil {
				p.acts = p.acts[:0]
				for _, named := range c.requests {
					p.collect(named.activities, i)
				}
				steps = p.activity(steps, i, status, payload, c.plan.Rows, nil, c)
			}
		}
	}
	return steps
}

// collect adds what one row says of an activity.
func (p *planner) collect(acts []activityValues, index int) {
	for i := range acts {
		if acts[i].index == index {
			p.acts = append(p.acts, &acts[i])
		}
	}
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

// activity adds the step of one activity on one scope; on and contact are nil for the
// client. When no row says anything of it, its condition left it out.
func (p *planner) activity(steps []plannedActivity, i int, status Status, payload *boundPayload, rows []cell.Row, on *plannedClaim, contact *plannedContact) []plannedActivity {
	if len(p.acts) == 0 {
		return steps
	}
	a := &p.b.activities[i]
	key, claimKey, contactKey := "activity/"+a.rule.ID.Text+"@client", "", ""
	if contact != nil {
		key, contactKey = "activity/"+a.rule.ID.Text+"@"+contact.key, contact.key
	}
	if on != nil {
		key, claimKey = "activity/"+a.rule.ID.Text+"@"+on.key[len("claim/"):], on.key
		on.hasActivities = true
	}
	act := &Activity{TemplateID: a.template.ID, TemplateName: a.rule.Template.Text, Status: status}
	if !p.b.mapping.V1() {
		name := p.merge(&payload.workflow, p.pick(func(it *activityValues) fieldValue { return it.workflow }))
		identifier := p.merge(&payload.identifier, p.pick(func(it *activityValues) fieldValue { return it.identifier }))
		act.Workflow = Workflow{name.value.Literal, identifier.value.Literal}
	}
	if p.b.resume.isSet && p.b.resume.column >= 0 && a.order >= 0 {
		act.StatusSource = p.resumeSource(rows[0])
	}
	var empty []Omitted
	if status != Open {
		act.Attributes, empty = p.attributes(payload)
		// A row without a key is not held to what its client's other rows may have.
		couldHave := p.plan.Client != (Identity{}) && (len(payload.attributes) > 0 || len(a.template.Attributes) > 0)
		if couldHave && len(act.Attributes) == 0 && !slices.ContainsFunc(p.acts, func(it *activityValues) bool { return refused(it.attributes) }) {
			p.plan.Problems = append(p.plan.Problems, problem.At(p.b.AtRow(rows[0]), "no-attributes",
				"“%s” would be sent without attributes: all its cells are empty", a.rule.Template.Text).
				Hinted("fill one of them, or give the activity a when that leaves it out"))
		}
	}
	step := Step{Key: key, Kind: ActivityStep, Rows: rows, Claim: claimKey, On: contactKey, Title: a.rule.Template.Text, Activity: act, Omitted: empty}
	return append(steps, plannedActivity{step, on, contact, status == Open && a.order >= 0})
}

// resumeSource is the cell that says where the client resumes; the rows agree
// on it.
func (p *planner) resumeSource(row cell.Row) Source {
	return Source{Row: row, Columns: []int{p.b.table(row.Table()).resume.column},
		Names: foldHeaders(p.b.mapping.ResumeAt.Column.Text), Texts: []string{p.rows[0].resumeCell}}
}

func (p *planner) attributes(payload *boundPayload) (list []Attribute, empty []Omitted) {
	list = make([]Attribute, 0, len(payload.attributes))
	for k := range payload.attributes {
		attr := &payload.attributes[k]
		merged := p.merge(&attr.value, p.pick(func(it *activityValues) fieldValue { return it.attributes[k] }))
		if merged.value.IsZero() {
			empty = append(empty, Omitted{attr.value.label, merged.source()})
		} else {
			list = append(list, Attribute{attr.templateID, attr.value.label, merged.value, merged.source()})
		}
	}
	return list, empty
}

// pick returns one value of the activity from each row. It is valid until the
// next pick.
func (p *planner) pick(of func(*activityValues) fieldValue) []fieldValue {
	list := p.values[:0]
	for _, it := range p.acts {
		list = append(list, of(it))
	}
	return list
}

// orderV1 puts the Open activity directly after the client, so that the client
// can be redirected while the earlier activities are still being back-filled
// (service document, v1 flow B).
func orderV1(client Step, acts []plannedActivity) []Step {
	steps := []Step{client}
	for _, a := range acts {
		if a.open {
			steps = append(steps, a.Step)
		}
	}
	for _, a := range acts {
		if !a.open {
			steps = append(steps, a.Step)
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
func (p *planner) orderV2(client Step, claims []*plannedClaim, acts []plannedActivity) []Step {
	steps := append(make([]Step, 0, 2+len(claims)+len(acts)), client)
	createContact := func(c *plannedContact) {
		if !c.ordered {
			c.ordered = true
			steps = append(steps, c.step())
		}
	}
	create := func(c *plannedClaim) {
		if !c.ordered {
			c.ordered = true
			for _, contact := range c.contacts {
				if c.known.value.IsZero() { // a claim that exists has its contacts
					createContact(contact)
				}
			}
			steps = append(steps, c.step(p.b.claims[c.entry].id))
		}
	}
	for _, c := range claims {
		if !c.hasActivities || p.b.claims[c.entry].first {
			create(c)
		}
	}
	for len(acts) > 0 {
		if acts[0].on == nil {
			if acts[0].contact != nil {
				createContact(acts[0].contact)
			}
			steps = append(steps, acts[0].Step)
			acts = acts[1:]
			continue
		}
		stretch := 0
		for stretch < len(acts) && acts[stretch].on != nil {
			stretch++
		}
		for _, c := range claims {
			for i := range acts[:stretch] {
				if acts[i].on == c {
					create(c)
					steps = append(steps, acts[i].Step)
				}
			}
		}
		acts = acts[stretch:]
	}
	if p.b.mapping.Link == LinkNever {
		return steps
	}
	return append(steps, LinkStepOf(string(LinkStep), p.plan.Rows))
}
