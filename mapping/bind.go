package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/expr"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Binding is a mapping bound to a sheet and a service: it converts records and
// makes plans. It does not change after Bind and may be used from several
// goroutines.
type Binding struct {
	mapping *Mapping
	sheet   cell.Sheet
	headers []string   // of the sheet, folded
	tables  []*Binding // one for each sheet; nil when there is only one
	untyped []Untyped
	texts   []*ValueRule            // texts of several parts, by boundValue.number
	doubts  problem.List            // see Warnings
	types   map[string]convert.Type // of attributes to which the mapping gives none, by “Template/Attribute”
	named   map[string]string       // the names of columns that the mapping uses, by their folded form
	used    map[int]bool            // those columns of the sheet

	empty      map[string]bool  // the texts of cells that count as empty
	when       *expr.Expression // which rows are taken; nil takes every row
	keySpace   string
	phoneKey   *convert.Converter // E.164, for a phone key that is sent in another format; else nil
	key        []int
	knownID    *boundValue // nil when the mapping has no known_id for clients
	lookup     boundLookup
	fields     []boundField
	contacts   []boundContact
	claims     []boundClaim
	resume     boundResume
	activities []boundActivity
}

type boundLookup struct {
	email, phone *boundValue
	mode         LookupMode
}

type boundField struct {
	path         []string
	value        boundValue
	sharedLookup *boundValue // the look-up that reads the same cells in the same way; nil for none
}

// boundClaim is a claims entry.
type boundClaim struct {
	id    string
	key   []int
	known *boundValue // nil when the entry has no known_id
	name  boundValue
	when  *expr.Expression
	first bool // created before all activities

	administrator boundRole
	claimants     []boundRole
}

// boundActivity is an activity of the mapping's list.
type boundActivity struct {
	rule     *ActivityRule
	template Template
	payloads []*boundPayload // on the client, on each claims entry, and on each contacts entry; nil where the activity is not
	order    int             // position among the workflow's activities; -1 when assigned
}

// clientScope is the client's index among those of the claims entries.
const clientScope = -1

// contactScope is the index of a contacts entry behind those of the claims entries.
func (m *Mapping) contactScope(entry int) int { return len(m.Claims) + entry }

// payload returns what the activity holds on a scope; nil when it is not on
// it.
func (a *boundActivity) payload(scope int) *boundPayload { return a.payloads[1+scope] }

// boundPayload is what an activity holds on one scope. The aliases of a claims
// entry can make the same attribute another column.
type boundPayload struct {
	when       *expr.Expression
	attributes []boundAttribute
	workflow   boundValue // its name
	identifier boundValue // of its template
}

type boundAttribute struct {
	templateID string
	value      boundValue
	options    []string // the texts that it takes, when the service reports them
}

type boundResume struct {
	isSet  bool
	order  int            // of the activity that the mapping names
	column int            // the column that names the activity; -1 for none
	orders map[string]int // by what the cell says: the template's name, or a text that stands for it
	listed bool           // the mapping lists what the cell may say
}

// BindAll is Bind for a run of several sheets. Their columns may be in
// different orders; their clients are the same. Without sheets it binds to
// none.
func BindAll(m *Mapping, sheets []cell.Sheet, service *Service, runDate string) (*Binding, problem.List) {
	if len(sheets) == 0 {
		return Bind(m, nil, service, runDate)
	}
	tables := make([]*Binding, len(sheets))
	var problems problem.List
	for i := range sheets {
		var found problem.List
		tables[i], found = Bind(m, &sheets[i], service, runDate)
		problems = append(problems, found...)
	}
	if problems = dedupe(problems); len(problems) > 0 {
		problems.Sort()
		return nil, problems
	}
	whole := *tables[0]
	if len(tables) > 1 {
		whole.tables = tables
	}
	return &whole, nil
}

// binder collects the problems that Bind finds.
type binder struct {
	checker
	mapping    *Mapping
	sheet      *cell.Sheet
	service    *Service
	index      *columnIndex // nil without a sheet
	zone       *time.Location
	runDate    string
	keyColumns map[int]bool
	named      map[string]string
	used       map[int]bool
	untyped    []Untyped
	texts      []*ValueRule
	doubts     problem.List
	entries    []int // the claims entries that the activity being bound is on

	usedAliases map[yamltree.Place]bool // by the place of the column that they stand for
	types       map[string]convert.Type
}

// Bind finds every name of m in the sheet and the service and settles every
// type. runDate replaces {run.date}. Without a sheet or a service (nil), the
// names that belong to it are not checked, and the Binding must not be used.
// It is nil when there are problems.
func Bind(m *Mapping, sheet *cell.Sheet, service *Service, runDate string) (*Binding, problem.List) {
	b := &binder{checker: checker{file: m.File}, mapping: m, sheet: sheet, service: service,
		runDate: runDate, keyColumns: map[int]bool{}, named: map[string]string{}, used: map[int]bool{}, types: map[string]convert.Type{},
		usedAliases: map[yamltree.Place]bool{}}
	if m.Sheet.Timezone.Text != "" {
		b.zone, _ = time.LoadLocation(m.Sheet.Timezone.Text) // checked by Parse
	}
	bound := &Binding{mapping: m}
	if sheet != nil {
		bound.sheet, bound.headers = *sheet, foldHeaders(sheet.Header...)
		b.index = indexColumns(*sheet)
		b.problems = append(b.problems, b.index.reserved(len(m.Contacts) > 0)...)
	}
	for _, w := range m.Sheet.Empty {
		if bound.empty == nil {
			bound.empty = map[string]bool{}
		}
		bound.empty[w.Text] = true
	}
	b.columns(m.Sheet.FillDown, nil)
	b.noteKeys()
	b.bindClient(bound)
	b.bindContacts(bound)
	b.bindClaims(bound)
	b.bindActivities(bound)
	b.bindResume(bound)
	bound.when = b.condition(m.Sheet.When, nil)
	b.doubtAliases()
	bound.untyped, bound.texts, bound.types, bound.doubts = b.untyped, b.texts, b.types, b.doubts
	bound.named, bound.used = b.named, b.used
	b.doubtHeader()
	b.problems.Sort()
	if b.problems = slices.Compact(b.problems); len(b.problems) > 0 {
		return nil, b.problems
	}
	return bound, nil
}

// Sheet returns the sheet that the mapping is bound to, the first of several.
func (b *Binding) Sheet() cell.Sheet { return b.sheet }

// table returns the binding to one of the run's sheets.
func (b *Binding) table(i int) *Binding {
	if b.tables == nil {
		return b
	}
	return b.tables[i]
}

// At returns the place of a cell in the sheet of a row; column 0 = A.
func (b *Binding) At(column int, row cell.Row) problem.Where {
	return b.table(row.Table()).sheet.At(column, row.Number())
}

// AtRow returns the place of a whole row.
func (b *Binding) AtRow(row cell.Row) problem.Where {
	return b.table(row.Table()).sheet.AtRow(row.Number())
}

// HasColumn reports whether the sheet of a row has a column with a name.
func (b *Binding) HasColumn(name string, row cell.Row) bool {
	is := func(header string) bool { return convert.FoldHeader(header) == convert.FoldHeader(name) }
	return slices.ContainsFunc(b.table(row.Table()).sheet.Header, is)
}

// RowName returns a row's name in messages: its number, or its place in a run
// of several sheets.
func (b *Binding) RowName(row cell.Row) string {
	at := b.AtRow(row)
	switch {
	case b.tables != nil:
		return at.String()
	case at.Copy.Sheet != "":
		return at.Copy.Place + " (source row " + strconv.Itoa(at.Copy.Row) + ")"
	}
	return strconv.Itoa(row.Number())
}

// header returns a column's name in messages, in the sheet of a row.
func (b *Binding) header(column int, row cell.Row) string {
	return b.table(row.Table()).sheet.ColumnLabel(column)
}

// Types returns the data types of the attributes to which the mapping gives none,
// by “Template/Attribute”; see Earlier.
func (b *Binding) Types() map[string]convert.Type { return b.types }

// Mapping returns the mapping as written.
func (b *Binding) Mapping() *Mapping { return b.mapping }

// noteKeys notes the columns that are part of a key. Wherever these are used,
// rows agree on them in any case.
func (b *binder) noteKeys() {
	note := func(key []yamltree.Scalar, aliases map[string]yamltree.Scalar) {
		for _, c := range b.columns(key, aliases) {
			b.keyColumns[c] = true
		}
	}
	note(b.mapping.Client.Key, nil)
	for _, c := range b.mapping.Contacts {
		note(c.Key, nil)
	}
	for _, c := range b.mapping.Claims {
		note(c.Key, c.Columns)
	}
}

func (b *binder) bindClient(bound *Binding) {
	c := &b.mapping.Client
	bound.key = b.columns(c.Key, nil)
	bound.lookup, bound.fields = b.bindPerson(&c.Lookup, c.Fields)
	bound.knownID = b.knownID("known_id", c.KnownID, nil)
	bound.keySpace = keySpace(b.mapping, bound)
	if phone := bound.lookup.phone; phone != nil && bound.keySpace == PhoneSpace {
		bound.phoneKey = phone.conv.E164()
	}
}

func (b *binder) bindClaims(bound *Binding) {
	for i := range b.mapping.Claims {
		c := &b.mapping.Claims[i]
		for _, w := range c.Columns { // an unused alias must not hide a missing column
			b.column(w, nil)
		}
		name := ValueRule{At: c.Name.At, Text: c.Name, Required: true}
		claim := boundClaim{
			id: c.ID.Text, key: b.columns(c.Key, c.Columns), when: b.condition(c.When, c.Columns),
			name: b.value("the claim's name", &name, convert.Text, c.Columns), first: c.First,
			known: b.knownID("the claim's known_id", c.KnownID, c.Columns),
		}
		claim.name.table = c.NameValues
		b.bindRoles(c, &claim)
		bound.claims = append(bound.claims, claim)
	}
}

// doubtAliases warns of aliases that nothing uses.
func (b *binder) doubtAliases() {
	for _, c := range b.mapping.Claims {
		for _, name := range slices.Sorted(maps.Keys(c.Columns)) {
			if at := c.Columns[name].At; !b.usedAliases[at] {
				b.doubts = append(b.doubts, problem.At(at.In(b.file), "unused-alias", "nothing uses the name “%s” of this claims entry", name).
					Hinted("use it in place of the column, in the entry or in the activities on: %s; or take it out", c.ID.Text))
			}
		}
	}
}

// knownID binds a column of ids that are known from elsewhere; nil without one.
func (b *binder) knownID(label string, column yamltree.Scalar, aliases map[string]yamltree.Scalar) *boundValue {
	if column.Text == "" {
		return nil
	}
	v := b.value(label, &ValueRule{At: column.At, Column: column}, convert.ID, aliases)
	return &v
}

// fieldPath splits a dotted field name into names of nested objects and array
// indexes.
func (b *binder) fieldPath(name yamltree.Scalar) []string {
	path := strings.Split(name.Text, ".")
	_, isPlace := arrayIndex(path[0])
	switch {
	case slices.Contains(path, ""):
		b.wrongAt(name.At, "bad-field", "“%s” is not a field's name; a dot separates the names of nested objects", name.Text)
	case isPlace:
		b.wrongAt(name.At, "bad-field", "“%s” begins with a place in an array, and the payload is an object; a name must come first", name.Text)
	}
	return path
}

// arrayIndex reads a part of a field's name that is an array index: digits
// without a leading zero.
func arrayIndex(part string) (int, bool) {
	i, err := strconv.Atoi(part)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == part
}

// checkPaths reports a field that is both a value and an object or both an
// object and an array, and arrays with a gap.
func (b *binder) checkPaths(rules []FieldRule, fields []boundField) {
	for i, f := range fields {
		for _, other := range fields {
			if len(other.path) > len(f.path) && slices.Equal(other.path[:len(f.path)], f.path) {
				b.wrongAt(rules[i].Name.At, "bad-field", "“%s” is a value here and an object in “%s”", rules[i].Name.Text, strings.Join(other.path, "."))
				break
			}
		}
		for depth := 1; depth < len(f.path); depth++ {
			if !b.checkPlace(rules[i].Name, f.path[:depth], f.path[depth], fields) {
				break
			}
		}
	}
}

// checkPlace compares one part of a field's name with the parts that other
// fields have at the same place.
func (b *binder) checkPlace(name yamltree.Scalar, below []string, part string, fields []boundField) (ok bool) {
	at, isPlace := arrayIndex(part)
	before := at == 0
	for _, other := range fields {
		if len(other.path) <= len(below) || !slices.Equal(other.path[:len(below)], below) {
			continue
		}
		there, alike := arrayIndex(other.path[len(below)])
		if isPlace && !alike {
			b.wrongAt(name.At, "bad-field", "“%s” is an array in “%s” and an object in “%s”", strings.Join(below, "."), name.Text, strings.Join(other.path, ".")).
				Hint = "a part of a name that is a number is a place in an array"
			return false
		}
		before = before || there == at-1
	}
	if isPlace && !before {
		b.wrongAt(name.At, "bad-field", "“%s” is at place %d of an array, and no field is at place %d", name.Text, at, at-1).
			Hint = "the first place is 0, and there are no gaps"
	}
	return before || !isPlace
}

func (b *binder) bindActivities(bound *Binding) {
	order := 0
	if b.service != nil && strings.ContainsAny(b.service.WorkflowTemplateIdentifier, "{}") && len(b.mapping.Activities) > 0 && !b.mapping.V1() {
		b.wrongAt(b.mapping.Activities[0].Template.At, "braces", "the environment “%s” has the workflow template identifier “%s”, and nothing replaces its braces",
			b.service.Environment, problem.Shorten(b.service.WorkflowTemplateIdentifier)).
			Hint = "write it as workflow.template_identifier in the mapping: there {Column} is replaced by the cell's text"
	}
	for i := range b.mapping.Activities {
		rule := &b.mapping.Activities[i]
		a := boundActivity{rule: rule, payloads: make([]*boundPayload, 1+len(b.mapping.Claims)+len(b.mapping.Contacts)), order: -1}
		if !rule.Assigned {
			a.order = order
			order++
		}
		known := true
		if b.service != nil {
			a.template, known = b.template(rule.Template)
		}
		if known && len(a.template.Attributes) > 0 && len(rule.Attributes) == 0 && rule.Status != Open && rule.Status != "" && b.mapping.ResumeAt == nil {
			b.wrongAt(rule.Template.At, "no-attributes", "“%s” is back-filled (%s) without attributes, and its template has some", rule.Template.Text, rule.Status).
				Hint = "add attributes, or give it the status Open"
		}
		scopes := b.scopes(rule.On.Text)
		for _, scope := range scopes {
			if b.isEntry(scope) {
				b.entries = scopes
			}
			a.payloads[1+scope] = b.payload(rule, a.template, known, scope)
			b.entries = nil
			if !b.mapping.V1() {
				a.payloads[1+scope].workflow, a.payloads[1+scope].identifier = b.workflow(rule, b.aliases(scope))
			}
		}
		bound.activities = append(bound.activities, a)
	}
}

// scopes returns the scopes that `on` means.
func (b *binder) scopes(on string) []int {
	if on == ClientRole {
		return []int{clientScope}
	}
	if i := b.mapping.contactIndex(on); i >= 0 {
		return []int{b.mapping.contactScope(i)}
	}
	var entries []int
	for i, c := range b.mapping.Claims {
		if on == "claim" || on == c.ID.Text {
			entries = append(entries, i)
		}
	}
	return entries
}

func (b *binder) payload(rule *ActivityRule, template Template, known bool, scope int) *boundPayload {
	aliases := b.aliases(scope)
	p := &boundPayload{when: b.condition(rule.When, aliases)}
	for i := range rule.Attributes {
		attr := &rule.Attributes[i]
		var found AttributeTemplate
		typ, untyped := convert.Type(attr.Value.Type.Text), 0 // "" when nothing says the type
		if b.service != nil && known {
			var ok bool
			if found, ok = b.attribute(template, attr.Name); ok {
				typ, untyped = b.attributeType(template.Name, found, attr)
			}
		}
		if untyped > 0 && attr.Value.likelyType() != convert.Text { // reported already
			typ = ""
		}
		v := b.value(attr.Name.Text, &attr.Value, typ, aliases)
		v.untyped = untyped
		b.numberText(&v, &attr.Value)
		p.attributes = append(p.attributes, boundAttribute{found.ID, v, optionsOf(found)})
	}
	return p
}

// isEntry reports whether a scope is a claims entry.
func (b *binder) isEntry(scope int) bool { return scope >= 0 && scope < len(b.mapping.Claims) }

// aliases returns the aliases of a scope; nil for none.
func (b *binder) aliases(scope int) map[string]yamltree.Scalar {
	if b.isEntry(scope) {
		return b.mapping.Claims[scope].Columns
	}
	return nil
}

// workflow settles the two workflow fields: the activity's own, else the
// mapping's. The identifier may also come from the environment.
func (b *binder) workflow(rule *ActivityRule, aliases map[string]yamltree.Scalar) (name, identifier boundValue) {
	own, usual := rule.Workflow, b.mapping.Workflow
	if own.Name.Text == "" {
		own.Name = usual.Name
	}
	if own.TemplateIdentifier.Text == "" {
		own.TemplateIdentifier = usual.TemplateIdentifier
	}
	name = b.workflowText("workflow name", own.Name, aliases)
	if own.TemplateIdentifier.Text != "" || b.service == nil {
		return name, b.workflowText("workflow template identifier", own.TemplateIdentifier, aliases)
	}
	if b.service.WorkflowTemplateIdentifier == "" {
		b.wrongAt(rule.Template.At, "no-workflow", "“%s” has no workflow template identifier, which every activity of version 2 carries", rule.Template.Text).
			Hint = "the service's operator supplies it: write it as workflow.template_identifier, or as workflow_template_identifier of the environment"
	}
	return name, boundValue{constant: &cell.Value{Field: cell.StringValue, Literal: b.service.WorkflowTemplateIdentifier}}
}

// workflowText binds a text in which the sheet's name and the run's date are replaced, too.
func (b *binder) workflowText(label string, w yamltree.Scalar, aliases map[string]yamltree.Scalar) boundValue {
	v := boundValue{label: label, required: true, conv: convert.Converter{Type: convert.Text}}
	if t, err := parseTemplateText(w.Text); err == nil && w.Text != "" {
		v.text = t.settle(map[string]string{"sheet": b.sheetName(), "run.date": b.runDate})
		v.places = b.places(v.text, w.At, aliases)
		v.columns, v.names = placeColumns(v.text, v.places)
	}
	if len(v.columns) == 0 {
		v.constant = &cell.Value{Field: cell.StringValue, Literal: v.text.fill(func(string) string { return "" })}
	}
	return v
}

func (b *binder) sheetName() string {
	if b.sheet == nil {
		return ""
	}
	return cmp.Or(b.sheet.Origin, b.sheet.Name)
}

// bindResume settles where the client resumes, by the order of the activities.
func (b *binder) bindResume(bound *Binding) {
	rule := b.mapping.ResumeAt
	if rule == nil {
		return
	}
	r := boundResume{isSet: true, column: -1, orders: map[string]int{}}
	for _, a := range bound.activities {
		if _, twice := r.orders[a.rule.Template.Text]; a.order >= 0 && !twice {
			r.orders[a.rule.Template.Text] = a.order
		}
	}
	if rule.Column.Text != "" {
		r.column, _ = b.column(rule.Column, nil)
		if rule.Values != nil {
			byName := r.orders
			r.orders, r.listed = map[string]int{}, true
			for from, to := range rule.Values {
				r.orders[convert.Composed(from)] = byName[to.Text] // checked by Parse
			}
		}
	} else {
		r.order = r.orders[rule.Template.Text] // checked by Parse
	}
	bound.resume = r
}
