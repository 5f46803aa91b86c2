package mapping

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/expr"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// Binding is a mapping bound to a sheet and a service: it converts records and
// makes plans. It does not change after Bind and may be used from several
// goroutines.
type Binding struct {
	Targets []Target // the values that the mapping takes from the rows
	Partial bool     // of BindPart: rules with problems are left out
	Keyless bool     // client.key has problems, so clients cannot be told apart

	mapping  *Mapping
	sheet    cell.Sheet
	tables   []*Binding // one for each sheet of the run
	warnings problem.List
	untyped  []untypedAttribute
	texts    []*ValueRule      // those of several parts
	readings bool              // converted rows have Readings
	named    map[string]string // the names of columns that the mapping uses, by their folded form
	used     map[int]bool      // those columns of the sheet

	empty      map[string]bool  // the texts of cells that count as empty
	when       *expr.Expression // which rows are taken; nil takes every row
	parts      []*boundPart     // the client, the contacts and the claims entries
	activities []boundActivity
	resume     struct {
		order  int            // of the activity that the mapping names
		next   *boundValue    // of the client: the name of the activity; nil where the mapping names it
		orders map[string]int // by the template's name
	}
}

// boundPart is the client, an entry of contacts or claims, or an activity on one of these.
type boundPart struct {
	kind       StepKind         // of what creates it; "" for an activity
	id         string           // of the entry; clientRole for the client
	when       *expr.Expression // which rows have it; nil for all
	key        []int            // the columns that identify it
	keyName    string           // what messages call the key
	values     []*boundValue    // what the rows say of it, as it is read; of an activity two for its workflow, then the attributes
	known      *boundValue      // of the values; nil without a known_id
	activities []*boundPart     // by the mapping's activities; nil for those that are not on it

	// Of the client and of contacts.
	space            string
	keyAddress       *boundValue // that of the look-ups whose column is the key; nil for another key
	email, phone     *boundValue // how it is looked up; nil for not
	mode             string
	fields           []*boundValue
	notAdministrator bool

	// Of claims.
	columns         map[string]yamltree.Scalar // the aliases
	name            *boundValue
	isFirst         bool   // created before all activities
	administrator   int    // among the parts; -1 for the environment's contact
	administratorID string // of the environment's contact; "" where administrator says who it is
	claimants       []int  // as administrator
}

// add adds a value.
func (p *boundPart) add(v boundValue) *boundValue {
	v.slot = len(p.values)
	p.values = append(p.values, &v)
	return &v
}

// isUsual reports whether the client is the claim's administrator and its only claimant.
func (p *boundPart) isUsual() bool {
	return p.administratorID == "" && p.administrator == 0 && slices.Equal(p.claimants, []int{0})
}

// boundActivity is an activity of the mapping's list.
type boundActivity struct {
	rule     *ActivityRule
	template Template
	order    int // position among the workflow's activities; -1 when assigned
}

// Target is a value that the mapping takes from the rows, and the rule that says how. An
// attribute that is on several claims is one target.
type Target struct {
	Path     []string     // of the rule in the mapping file: activities, 0, attributes, Date of birth
	Type     convert.Type // as the service or the mapping settles it; Text when neither does
	Required bool
	Columns  []int // of the first sheet, 0 = A, on all claims that it is on; empty for a constant
	OneCell  bool  // the value is that of one cell, the first that is filled in its columns; else it is made from them
}

// BindAll is Bind for a run of several sheets. Their columns may be in
// different orders; their clients are the same. Without sheets it binds to
// none.
func BindAll(m *Mapping, sheets []cell.Sheet, service *Service, runDate string) (*Binding, problem.List) {
	if len(sheets) == 0 {
		return Bind(m, nil, service, runDate)
	}
	var tables []*Binding
	var problems problem.List
	for i := range sheets {
		table, found := Bind(m, &sheets[i], service, runDate)
		tables, problems = append(tables, table), append(problems, found...)
	}
	if problems = problems.Unique(); len(problems) > 0 {
		return nil, problems
	}
	tables[0].tables = tables
	return tables[0], nil
}

// binder makes a Binding and collects the problems of it.
type binder struct {
	checker
	*Binding
	service     *Service
	hasSheet    bool
	zone        *time.Location
	runDate     string
	usedAliases map[yamltree.Place]bool    // by the place of the column that they stand for
	aliases     map[string]yamltree.Scalar // of the claims entry for which something is bound; nil for none
	entries     []*boundPart               // the claims entries that the activity being bound is on
}

// Bind finds every name of m in the sheet and the service and settles every
// type. runDate replaces {run.date}. Without a sheet or a service (nil), the
// names that belong to it are not checked, and the Binding must not be used.
// It is nil when there are problems.
func Bind(m *Mapping, sheet *cell.Sheet, service *Service, runDate string) (*Binding, problem.List) {
	b := &binder{checker: checker{file: m.File}, service: service, runDate: runDate, usedAliases: map[yamltree.Place]bool{},
		Binding: &Binding{mapping: m, empty: map[string]bool{}, named: map[string]string{}, used: map[int]bool{}}}
	if m.Sheet.Timezone.Text != "" {
		b.zone, _ = time.LoadLocation(m.Sheet.Timezone.Text) // checked by Parse
	}
	if sheet != nil {
		b.hasSheet, b.sheet = true, *sheet
		b.problems = reserved(*sheet, len(m.Contacts) > 0)
	}
	for _, w := range m.Sheet.Empty {
		b.empty[w.Text] = true
	}
	b.columns(m.Sheet.FillDown)
	for i, rule := range m.people() {
		b.bindPerson(i, rule)
	}
	for i := range m.Claims {
		b.bindClaim(i)
	}
	b.bindActivities()
	b.bindResume()
	b.when = b.condition(m.Sheet.When)
	b.foldKeys()
	b.checkAliases()
	b.doubtHeader()
	if b.problems = b.problems.Unique(); len(b.problems) > 0 {
		return nil, b.problems
	}
	b.Binding.warnings, b.tables = b.checker.warnings.Unique(), []*Binding{b.Binding}
	return b.Binding, nil
}

// Warnings are of what is allowed but most likely a mistake: look-ups by a value that is not
// one of the fields that are sent, aliases that nothing uses, and attributes of templates that
// nothing fills. They are for those who check the mapping, not for every run.
func (b *Binding) Warnings() problem.List { return b.warnings }

// Mapping returns the mapping as written.
func (b *Binding) Mapping() *Mapping { return b.mapping }

// Sheet returns the sheet that the mapping is bound to, the first of several.
func (b *Binding) Sheet() cell.Sheet { return b.sheet }

// At returns the place of a cell in the sheet of a row; column 0 = A.
func (b *Binding) At(column int, row cell.Row) problem.Where {
	return b.tables[row.Table()].sheet.At(column, row.Number())
}

// AtRow returns the place of a whole row.
func (b *Binding) AtRow(row cell.Row) problem.Where {
	return b.tables[row.Table()].sheet.AtRow(row.Number())
}

// HasColumn reports whether the sheet of a row has a column with a name.
func (b *Binding) HasColumn(name string, row cell.Row) bool {
	headers := foldHeaders(b.tables[row.Table()].sheet.Header...)
	return slices.Contains(headers, convert.FoldHeader(name))
}

// RowName returns a row's name in messages: its number, or its place in a run of several sheets.
func (b *Binding) RowName(row cell.Row) string {
	at := b.AtRow(row)
	switch {
	case len(b.tables) > 1:
		return at.String()
	case at.Copy.Sheet != "":
		return at.Copy.Place + " (source row " + strconv.Itoa(at.Copy.Row) + ")"
	}
	return strconv.Itoa(row.Number())
}

// header returns a column's name in messages, in the sheet of a row.
func (b *Binding) header(column int, row cell.Row) string {
	return b.tables[row.Table()].sheet.ColumnLabel(column)
}

// foldKeys has rows agree in any case on the columns that are part of a key, wherever these are used.
func (b *binder) foldKeys() {
	isKey := func(column int) bool {
		return slices.ContainsFunc(b.parts, func(p *boundPart) bool { return slices.Contains(p.key, column) })
	}
	for _, part := range b.parts {
		for _, p := range append(part.activities, part) {
			for i := 0; p != nil && i < len(p.values); i++ {
				v := p.values[i]
				v.foldCase = v.foldCase || slices.ContainsFunc(v.columns, isKey)
			}
		}
	}
}

// target makes a value one of the Targets.
func (b *binder) target(v *boundValue, path ...string) {
	at := slices.IndexFunc(b.Targets, func(t Target) bool { return slices.Equal(t.Path, path) })
	if at < 0 {
		at = len(b.Targets)
		b.Targets = append(b.Targets, Target{Path: path, Type: v.conv.Type, Required: v.required, OneCell: v.isOneCell()})
	}
	v.target = at + 1
	t := &b.Targets[at]
	for _, c := range v.columns { // the aliases of a claim may make it another column
		if !slices.Contains(t.Columns, c) {
			t.Columns = append(t.Columns, c)
		}
	}
}

// bindPerson binds the client, whose place among the people is 0, or an entry of contacts.
func (b *binder) bindPerson(i int, rule *PersonRule) {
	p := b.part(ClientStep, clientRole, rule.Key, rule.When)
	path, ownSpace := []string{"client"}, b.mapping.Name.Text
	p.keyName = "the client key"
	if i > 0 {
		p.kind, p.id, p.keyName = ContactStep, rule.ID.Text, "the key of the contact “"+rule.ID.Text+"”"
		path, ownSpace = []string{"contacts", strconv.Itoa(i - 1)}, ownSpace+":"+rule.ID.Text
	}
	path = slices.Clip(path)
	p.notAdministrator, p.mode = !rule.Administrator, rule.Lookup.Mode
	b.bindKnownID(p, "known_id", rule.KnownID, append(path, "known_id")...)
	lookup := func(name string, rule *ValueRule, typ convert.Type) *boundValue {
		if rule == nil {
			return nil
		}
		if given := rule.Type; given.Text != "" && given.Text != string(typ) {
			b.wrongAt(given.At, "wrong-type", "lookup.%s is always read as type %s, not %s", name, typ, given.Text).
				Hint = "leave type out, so that every spelling of an address is the same address"
			return nil
		}
		v := p.add(b.value("lookup."+name, rule, typ))
		b.target(v, append(path, "lookup", name)...)
		return v
	}
	p.email, p.phone = lookup("email", rule.Lookup.Email, convert.Email), lookup("phone", rule.Lookup.Phone, convert.Phone)
	for i := range rule.Fields {
		f := &rule.Fields[i]
		v := p.add(b.value(f.Name.Text, &f.Value, cmp.Or(convert.Type(f.Value.Type.Text), convert.Text)))
		b.target(v, append(path, "fields", f.Name.Text)...)
		b.noteParts(v, &f.Value)
		p.fields = append(p.fields, v)
	}
	b.checkSent(rule.Lookup.Email, p.email, p.fields)
	b.checkSent(rule.Lookup.Phone, p.phone, p.fields)
	b.checkPaths(rule.Fields)
	p.space = cmp.Or(rule.KeySpace.Text, ownSpace)
	isKey := func(v *boundValue) bool {
		return v != nil && v.isOneCell() && len(p.key) == 1 && slices.Equal(v.columns, p.key)
	}
	switch { // all mappings mean the same person by a key that is exactly the column of a look-up
	case isKey(p.email):
		p.space, p.keyAddress = EmailSpace, p.email
	case isKey(p.phone):
		p.space, p.keyAddress = PhoneSpace, p.phone
	}
}

// part adds the client, or an entry of contacts or claims.
func (b *binder) part(kind StepKind, id string, key []yamltree.Scalar, when yamltree.Scalar) *boundPart {
	p := &boundPart{kind: kind, id: id, key: b.columns(key), when: b.condition(when), activities: make([]*boundPart, len(b.mapping.Activities))}
	b.parts = append(b.parts, p)
	return p
}

// checkSent warns of a look-up whose value is none of the fields that are sent.
func (b *binder) checkSent(rule *ValueRule, lookup *boundValue, fields []*boundValue) {
	if lookup != nil && !slices.ContainsFunc(fields, func(f *boundValue) bool { return f.sameReading(lookup) }) {
		b.warnAt(rule.At, "lookup-unsent",
			"the value of this look-up is none of the fields that are sent: after a lost answer a look-up cannot show that nobody was created, and the step stays uncertain until you decide").
			Hint = "add a field that reads the same columns in the same way, with the same type, format and region"
	}
}

// bindKnownID binds a column of ids that are known from elsewhere.
func (b *binder) bindKnownID(p *boundPart, label string, column yamltree.Scalar, path ...string) {
	if column.Text != "" {
		p.known = p.add(b.value(label, &ValueRule{At: column.At, Column: column}, convert.ID))
		b.target(p.known, path...)
	}
}

func (b *binder) bindClaim(i int) {
	c := &b.mapping.Claims[i]
	if c.isLeftOut {
		return
	}
	for _, w := range c.Columns { // an unused alias must not hide a missing column
		b.column(w)
	}
	b.aliases = c.Columns
	defer func() { b.aliases = nil }()
	claim := b.part(ClaimStep, c.ID.Text, c.Key, c.When)
	claim.keyName, claim.columns, claim.isFirst = "the claim key", c.Columns, c.Create == "first"
	claim.name = claim.add(b.value("the claim's name", &ValueRule{At: c.Name.At, Text: c.Name, Required: true}, convert.Text))
	claim.name.table = c.NameValues
	b.target(claim.name, "claims", strconv.Itoa(i), "name")
	b.bindKnownID(claim, "the claim's known_id", c.KnownID, "claims", strconv.Itoa(i), "known_id")
	claim.administrator = b.mapping.person(c.Administrator.Text) // of what is not known Parse has said so
	if ref := c.AdministratorID; ref.Text != "" && b.service != nil {
		claim.administratorID = b.service.ContactIDs[ref.Text]
	}
	for _, role := range c.Claimants {
		claim.claimants = append(claim.claimants, b.mapping.person(role.Text))
	}
}

// checkAliases warns of aliases that nothing uses.
func (b *binder) checkAliases() {
	for _, c := range b.mapping.Claims {
		for _, name := range slices.Sorted(maps.Keys(c.Columns)) {
			if at := c.Columns[name].At; !b.usedAliases[at] {
				b.warnAt(at, "unused-alias", "nothing uses the name “%s” of this claims entry", name).
					Hint = "use it in place of the column, in the entry or in the activities on: " + c.ID.Text + "; or take it out"
			}
		}
	}
}

// checkPaths reports fields that cannot be parts of one object.
func (b *binder) checkPaths(fields []FieldRule) {
	for _, f := range fields {
		name := f.Name
		isWithin := func(other FieldRule) bool { return strings.HasPrefix(other.Name.Text, name.Text+".") }
		if slices.Contains(strings.Split(name.Text, "."), "") {
			b.wrongAt(name.At, "bad-field", "“%s” is not a field's name; a dot separates the names of nested objects", name.Text)
		} else if at := slices.IndexFunc(fields, isWithin); at >= 0 {
			b.wrongAt(name.At, "bad-field", "“%s” is a value here and an object in “%s”", name.Text, fields[at].Name.Text)
		}
	}
}

func (b *binder) bindActivities() {
	order := 0
	if b.service != nil && strings.ContainsAny(b.service.WorkflowTemplateIdentifier, "{}") && len(b.mapping.Activities) > 0 && !b.mapping.V1() {
		b.wrongAt(b.mapping.Activities[0].Template.At, "braces",
			"the environment “%s” has the workflow template identifier “%s”, and nothing replaces its braces",
			b.service.Environment, problem.Shorten(b.service.WorkflowTemplateIdentifier)).
			Hint = "write it as workflow.template_identifier in the mapping: there {Column} is replaced by the cell's text"
	}
	for i := range b.mapping.Activities {
		rule := &b.mapping.Activities[i]
		a := boundActivity{rule: rule, order: -1}
		if rule.isLeftOut {
			b.activities = append(b.activities, a)
			continue
		}
		if !rule.Assigned {
			a.order = order
			order++
		}
		known := false
		if b.service != nil {
			a.template, known = b.template(rule.Template)
		}
		if known && len(a.template.Attributes) > 0 && len(rule.Attributes) == 0 && rule.Status != Open && rule.Status != "" && b.mapping.ResumeAt == nil {
			b.wrongAt(rule.Template.At, "no-attributes", "“%s” is back-filled (%s) without attributes, and its template has some",
				rule.Template.Text, rule.Status).
				Hint = "add attributes, or give it the status Open"
		}
		var on []*boundPart
		for _, p := range b.parts {
			if p.id == rule.On.Text || p.kind == ClaimStep && rule.On.Text == "claim" {
				on = append(on, p)
			}
		}
		if len(on) > 0 && on[0].kind == ClaimStep {
			b.entries = on
		}
		for _, p := range on {
			b.aliases = p.columns
			p.activities[i] = b.activityOn(i, a.template, known)
		}
		b.entries, b.aliases = nil, nil
		b.activities = append(b.activities, a)
	}
}

// activityOn binds what an activity holds on one of those that it is on. The aliases of a claims
// entry can make the same attribute another column. known reports whether the service has the template.
func (b *binder) activityOn(activity int, template Template, known bool) *boundPart {
	rule := &b.mapping.Activities[activity]
	p := &boundPart{when: b.condition(rule.When)}
	var name, identifier boundValue
	if !b.mapping.V1() {
		entries := b.entries
		b.entries = nil // its texts may name a column of one entry
		name, identifier = b.workflow(rule)
		b.entries = entries
	}
	p.add(name)
	p.add(identifier)
	unfilled := slices.Clone(template.Attributes)
	for i := range rule.Attributes {
		attr, found := &rule.Attributes[i], AttributeTemplate{}
		typ, isUntyped := attr.Value.likelyType(), false
		if known {
			found, typ, isUntyped = b.attribute(template, attr, typ)
		}
		unfilled = slices.DeleteFunc(unfilled, func(a AttributeTemplate) bool { return a.ID == found.ID })
		v := p.add(b.value(attr.Name.Text, &attr.Value, typ))
		b.target(v, "activities", strconv.Itoa(activity), "attributes", attr.Name.Text)
		b.noteParts(v, &attr.Value)
		if v.isUntyped = isUntyped; isUntyped {
			v.rule = &attr.Value
		}
		v.templateID = found.ID
	}
	if len(unfilled) > 0 && len(unfilled) < len(template.Attributes) && rule.Status != Open {
		names := make([]string, len(unfilled))
		for i, a := range unfilled {
			names[i] = "“" + a.Name + "”"
		}
		b.warnAt(rule.Template.At, "unfilled-attributes", "no key fills the %s of the template “%s”", named("attribute", names), rule.Template.Text).
			Hint = "add keys for what the sheet knows; clients fill in the rest"
	}
	return p
}

// workflow settles the two workflow fields: the activity's own, else the
// mapping's. The identifier may also come from the environment.
func (b *binder) workflow(rule *ActivityRule) (name, identifier boundValue) {
	usual := b.mapping.Workflow
	name = b.workflowText("workflow name", cmp.Or(rule.Workflow.Name, usual.Name))
	if own := cmp.Or(rule.Workflow.TemplateIdentifier, usual.TemplateIdentifier); own.Text != "" || b.service == nil {
		return name, b.workflowText("workflow template identifier", own)
	}
	if b.service.WorkflowTemplateIdentifier == "" {
		b.wrongAt(rule.Template.At, "no-workflow", "“%s” has no workflow template identifier, which every activity of version 2 carries",
			rule.Template.Text).
			Hint = "the service's operator supplies it: write it as workflow.template_identifier, or as workflow_template_identifier of the environment"
	}
	return name, boundValue{constant: &cell.Value{Field: cell.StringValue, Literal: b.service.WorkflowTemplateIdentifier}}
}

// workflowText binds a text in which the sheet's name and the run's date are replaced, too.
func (b *binder) workflowText(label string, w yamltree.Scalar) boundValue {
	v := boundValue{label: label, required: true, conv: convert.Converter{Type: convert.Text}}
	b.bindTemplate(&v, w, map[string]string{"sheet": cmp.Or(b.sheet.Origin, b.sheet.Name), "run.date": b.runDate})
	if len(v.columns) == 0 {
		v.constant = &cell.Value{Field: cell.StringValue, Literal: v.text.fill(nil)}
	}
	return v
}

// bindResume settles where the client resumes, by the order of the activities.
func (b *binder) bindResume() {
	rule := b.mapping.ResumeAt
	if rule == nil {
		return
	}
	r := &b.resume
	r.orders = map[string]int{}
	for _, a := range b.activities {
		if _, twice := r.orders[a.rule.Template.Text]; a.order >= 0 && !twice {
			r.orders[a.rule.Template.Text] = a.order
		}
	}
	r.order = r.orders[rule.Template.Text] // checked by Parse
	if rule.Column.Text != "" {
		r.next = b.parts[0].add(b.value("resume_at", &ValueRule{At: rule.Column.At, Column: rule.Column}, convert.Text))
	}
}
