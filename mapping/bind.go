package mapping

import (
	"slices"
	"strconv"
	"time"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/expr"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// The key spaces of clients that are told apart by what a look-up asks for.
const (
	EmailSpace = "email"
	PhoneSpace = "phone"
)

// Binding is a mapping bound to a sheet and a service: it reads records and
// makes plans. It is not changed after Bind and may be used from several
// goroutines.
type Binding struct {
	mapping *Mapping
	sheet   cell.Sheet
	headers []string   // of the sheet, folded
	tables  []*Binding // one for each sheet; nil when there is but one
	untyped []Untyped

	take     *expr.Expression // nil takes every row
	keySpace string
	number   *convert.Converter // of a phone key that is sent in another format than it is known by; nil for none
	key      []int
	lookup   boundLookup
	fields   []boundField
	claims   []boundClaim
	resume   boundResume
	acts     []boundActivity
}

type boundLookup struct {
	email, phone *boundValue
	confirm      bool
}

type boundField struct {
	path  []string
	value boundValue
	same  *boundValue // the look-up that reads the very same; nil for none
}

// boundClaim is a claims entry.
type boundClaim struct {
	id    string
	key   []int
	name  boundValue
	when  *expr.Expression
	first bool // created before all activities
}

// boundActivity is an activity of the list. on holds the indexes of the claims
// entries that it is on; none means the client.
type boundActivity struct {
	rule     *ActivityRule
	template Template
	on       []int
	perScope []*boundPayload // the client's, then those of the claims entries; nil where it is not
	order    int             // position among the workflow's activities; -1 when assigned
}

// clientScope stands for the client among the claims entries' indexes.
const clientScope = -1

// payload is what the activity holds on a scope; nil where it is not.
func (a *boundActivity) payload(scope int) *boundPayload { return a.perScope[1+scope] }

// boundPayload is what an activity holds on one scope: a claims entry's
// aliases can make the same attribute another column.
type boundPayload struct {
	when       *expr.Expression
	attributes []boundAttribute
	workflow   boundValue
	identifier string
}

type boundAttribute struct {
	templateID string
	value      boundValue
}

type boundResume struct {
	given  bool
	order  int // of the template named
	column int // -1 when a template is named
	orders map[string]int
}

// BindAll is Bind for a run of several sheets: columns may stand in another
// order in each. The clients are the same in all of them. It binds to no sheet
// when there is none.
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

// binder collects what Bind finds.
type binder struct {
	checker
	mapping    *Mapping
	sheet      *cell.Sheet
	service    *Service
	index      *columnIndex // nil without a sheet
	zone       *time.Location
	runDate    string
	keyColumns map[int]bool
	untyped    []Untyped
}

// Bind finds every name of m in the sheet and the service and settles every
// type. runDate stands for {run.date}. Without a sheet or a service (nil) the
// names that belong to it are not checked; the Binding then serves only to
// have been made. It is nil when there are problems.
func Bind(m *Mapping, sheet *cell.Sheet, service *Service, runDate string) (*Binding, problem.List) {
	b := &binder{checker: checker{file: m.File}, mapping: m, sheet: sheet, service: service,
		runDate: runDate, keyColumns: map[int]bool{}}
	if m.Sheet.Timezone.Text != "" {
		b.zone, _ = time.LoadLocation(m.Sheet.Timezone.Text) // checked by Parse
	}
	bound := &Binding{mapping: m}
	if sheet != nil {
		bound.sheet, bound.headers = *sheet, foldHeaders(sheet.Header...)
		b.index = indexColumns(*sheet)
		b.problems = append(b.problems, b.index.reserved()...)
	}
	b.noteKeys()
	b.bindClient(bound)
	b.bindClaims(bound)
	b.bindActivities(bound)
	b.bindResume(bound)
	bound.take = b.condition(m.Sheet.When, nil)
	bound.untyped = b.untyped
	b.problems.Sort()
	if b.problems = slices.Compact(b.problems); len(b.problems) > 0 {
		return nil, b.problems
	}
	return bound, nil
}

// Sheet is the sheet that the mapping is bound to, the first of several.
func (b *Binding) Sheet() cell.Sheet { return b.sheet }

// table is the binding to one of the run's sheets.
func (b *Binding) table(i int) *Binding {
	if b.tables == nil {
		return b
	}
	return b.tables[i]
}

// At is the place of a cell: column 0 = A, in the sheet of the row.
func (b *Binding) At(column int, row cell.Row) problem.Where {
	return b.table(row.Table()).sheet.At(column, row.Number())
}

// AtRow is the place of a whole row.
func (b *Binding) AtRow(row cell.Row) problem.Where {
	return b.table(row.Table()).sheet.AtRow(row.Number())
}

// HasColumn tells whether the sheet of a row has a column of the name.
func (b *Binding) HasColumn(name string, row cell.Row) bool {
	is := func(header string) bool { return convert.FoldHeader(header) == convert.FoldHeader(name) }
	return slices.ContainsFunc(b.table(row.Table()).sheet.Header, is)
}

// RowName is what a row is called in messages: its number, or its place where
// there are several sheets.
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

// header is what a column is called in the sheet of a row.
func (b *Binding) header(column int, row cell.Row) string {
	return b.table(row.Table()).sheet.ColumnLabel(column)
}

// Mapping is the mapping as written.
func (b *Binding) Mapping() *Mapping { return b.mapping }

// noteKeys notes which columns are part of a key: wherever they are used, rows
// agree on them ignoring case.
func (b *binder) noteKeys() {
	note := func(key []yamltree.Scalar, aliases map[string]yamltree.Scalar) {
		for _, c := range b.columns(key, aliases) {
			b.keyColumns[c] = true
		}
	}
	note(b.mapping.Client.Key, nil)
	for _, c := range b.mapping.Claims {
		note(c.Key, c.Columns)
	}
}

func (b *binder) bindClient(bound *Binding) {
	c := &b.mapping.Client
	bound.key = b.columns(c.Key, nil)
	bind := func(label string, rule *ValueRule, usual convert.Type) *boundValue {
		if rule == nil {
			return nil
		}
		typ := convert.Type(rule.Type.Text)
		if typ == "" {
			typ = usual
		}
		v := b.value(label, rule, typ, nil)
		return &v
	}
	bound.lookup = boundLookup{bind("lookup.email", c.Lookup.Email, convert.Email), bind("lookup.phone", c.Lookup.Phone, convert.Text), c.Lookup.Confirm}
	bound.keySpace = keySpace(b.mapping, bound)
	if phone := bound.lookup.phone; phone != nil && bound.keySpace == PhoneSpace {
		bound.number = phone.conv.E164()
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		typ := convert.Type(f.Value.Type.Text)
		if typ == "" {
			typ = convert.Text
		}
		field := boundField{path: b.fieldPath(f.Name), value: b.value(f.Name.Text, &f.Value, typ, nil)}
		for _, lookup := range []*boundValue{bound.lookup.email, bound.lookup.phone} {
			if lookup != nil && field.value.readsAs(lookup) {
				field.same = lookup
			}
		}
		bound.fields = append(bound.fields, field)
	}
	b.checkPaths(c.Fields, bound.fields)
}

// keySpace tells what the client key is a key of: the e-mail address or phone
// number where it is exactly that look-up's column, so that all mappings mean
// the same client by it.
func keySpace(m *Mapping, bound *Binding) string {
	is := func(v *boundValue) bool {
		return v != nil && v.text == nil && v.expr == nil && v.constant == nil &&
			len(bound.key) == 1 && slices.Equal(v.columns, bound.key)
	}
	switch {
	case is(bound.lookup.email):
		return EmailSpace
	case is(bound.lookup.phone):
		return PhoneSpace
	case m.Client.KeySpace.Text != "":
		return m.Client.KeySpace.Text
	}
	return m.Name.Text
}

func (b *binder) bindClaims(bound *Binding) {
	for i := range b.mapping.Claims {
		c := &b.mapping.Claims[i]
		for _, w := range c.Columns { // an alias that nothing uses must not hide a missing column
			b.column(w, nil)
		}
		name := ValueRule{At: c.Name.At, Text: c.Name, Required: true}
		bound.claims = append(bound.claims, boundClaim{
			id: c.ID.Text, key: b.columns(c.Key, c.Columns), when: b.condition(c.When, c.Columns),
			name: b.value("the claim's name", &name, convert.Text, c.Columns), first: c.First,
		})
	}
}
