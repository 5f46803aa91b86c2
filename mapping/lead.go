package mapping

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/expr"
	"claimsheet/mapping/problem"
)

// Lead is what one record asks for, every cell converted. Leads of one client
// make a Plan.
type Lead struct {
	Row      cell.Row
	Client   Identity   // zero when the key cells cannot be read
	Skipped  SkipReason // why the row is left out; "" when it is taken
	Problems problem.List
	Typed    []TypedCell // typed cells under attributes whose type nobody says

	email, phone item
	fields       []item
	resume       int        // the order of the activity to resume at; -1 when the cell does not tell
	nextStep     string     // the cell that tells it
	acts         []actItems // activities on the client, as listed
	claims       []claimItems
}

// claimItems is what a record asks of one claims entry.
type claimItems struct {
	entry int
	key   string
	name  item
	acts  []actItems // activities on the claim, as listed
}

// actItems are the values of one activity.
type actItems struct {
	index      int // in the mapping's activities
	attributes []item
	workflow   item
}

// reader reads one record, collecting every problem of its cells.
type reader struct {
	b      *Binding
	record cell.Record
	lead   *Lead
	texts  []string // room for the texts of sources
}

// Read converts a record. What cannot be read stands in the lead's Problems.
func (b *Binding) Read(record cell.Record) Lead {
	b = b.table(record.Table)
	lead := Lead{Row: cell.RowOf(record.Table, record.Row)}
	r := &reader{b: b, record: record, lead: &lead}
	if !r.taken() {
		return lead
	}
	r.notLead()
	lead.fields = make([]item, 0, len(b.fields))
	for i := range b.fields {
		switch f := &b.fields[i]; {
		case f.same == nil:
			lead.fields = append(lead.fields, r.item(&f.value))
		case f.same == b.lookup.email:
			lead.fields = append(lead.fields, lead.email)
		default:
			lead.fields = append(lead.fields, lead.phone)
		}
	}
	lead.resume = r.resume()
	lead.acts = r.activities(clientScope)
	for entry := range b.claims {
		if c, ok := r.claim(entry); ok {
			lead.claims = append(lead.claims, c)
		}
	}
	lead.Problems = dedupe(lead.Problems)
	return lead
}

// Client is whose a record is, as Read says, without converting the rest of
// it.
func (b *Binding) Client(record cell.Record) Identity {
	var lead Lead
	(&reader{b: b.table(record.Table), record: record, lead: &lead}).taken()
	return lead.Client
}

// taken reads whose the row is, unless it is left out.
func (r *reader) taken() bool {
	b, lead := r.b, r.lead
	switch {
	case blank(r.record):
		lead.Skipped = BlankRow
	case r.record.Hidden && b.mapping.Sheet.SkipHidden:
		lead.Skipped = HiddenRow
	case !r.holds(b.take, b.key):
		lead.Skipped = NotWhen
	}
	if lead.Skipped != "" {
		return false
	}
	if b.lookup.email != nil {
		lead.email = r.item(b.lookup.email)
	}
	if b.lookup.phone != nil {
		lead.phone = r.item(b.lookup.phone)
	}
	lead.Client = r.identity()
	return true
}

// blank tells that a row has nothing in it that a person would see.
func blank(record cell.Record) bool {
	return !slices.ContainsFunc(record.Cells, func(c cell.Cell) bool { return !c.IsEmpty() })
}

// dedupe drops what was found again: a column may be mapped more than once.
func dedupe(list problem.List) problem.List {
	if len(list) < 2 {
		return list
	}
	seen := map[problem.Problem]bool{}
	var once problem.List
	for _, p := range list {
		if !seen[p] {
			seen[p] = true
			once = append(once, p)
		}
	}
	return once
}

func (r *reader) item(v *boundValue) item {
	it, wrong := v.read(&r.b.sheet, r.record, r.room(len(v.columns)))
	if wrong != nil {
		r.lead.Problems = append(r.lead.Problems, *wrong)
	}
	return it
}

// room is space for n texts. It comes in pieces of one allocation, of which a
// row would otherwise make one for each of its values.
func (r *reader) room(n int) []string {
	const texts = 32
	if n > len(r.texts) {
		r.texts = make([]string, max(n, texts))
	}
	piece := r.texts[:n:n]
	r.texts = r.texts[n:]
	return piece
}

// refuse notes a refusal of the cell in a column.
func (r *reader) refuse(column int, refusal convert.CellError) {
	sheet := &r.b.sheet
	r.lead.Problems = append(r.lead.Problems,
		refusal.Problem(sheet.At(column, r.record.Row), sheet.ColumnLabel(column), r.record.Cell(column)))
}

// holds evaluates a condition; one that fails counts as true, for the row is
// invalid and must not look left out.
func (r *reader) holds(e *expr.Expression, otherwise []int) bool {
	yes, refusal := e.Holds(r.record)
	if refusal != nil {
		columns, _ := e.Columns()
		if len(columns) == 0 {
			columns = otherwise
		}
		r.refuse(first(columns), *refusal)
		return true
	}
	return yes
}

// identity reads the client's key cells.
func (r *reader) identity() Identity {
	b := r.b
	switch b.keySpace {
	case emailSpace:
		return r.lookupIdentity(r.lead.email, emailSpace)
	case phoneSpace:
		return r.lookupIdentity(r.lead.phone, phoneSpace)
	}
	if key, ok := r.key(b.key, "the client key"); ok {
		return Identity{b.keySpace, key}
	}
	return Identity{}
}

// lookupIdentity makes the identity from a converted look-up value, so that it
// is the same however the cell is written.
func (r *reader) lookupIdentity(it item, space string) Identity {
	if it.value.IsZero() {
		if c := r.b.key[0]; r.record.Cell(c).IsEmpty() {
			r.refuse(c, convert.CellError{Code: "empty-key", Message: "is empty; it is the client key", Hint: "fill the cell, or delete the row"})
		}
		return Identity{}
	}
	return addressOf(space, it)
}

// addressOf is the identity that a converted e-mail address or phone number is.
func addressOf(space string, it item) Identity {
	key := convert.FoldKey(cmp.Or(it.number, it.value.Literal))
	if space == emailSpace {
		key = convert.FoldEmail(key)
	}
	return Identity{space, key}
}

// Identity is the client with a key, written as in the sheet or as a workbook
// shows it.
func (b *Binding) Identity(key string) Identity {
	c := cell.Cell{Kind: cell.Text, Raw: key, Shown: key}
	literal := func(conv *convert.Converter) string {
		if value, refusal := conv.Convert(c); refusal == nil {
			return value.Literal
		}
		return key
	}
	switch {
	case b.keySpace == emailSpace:
		key = convert.FoldEmail(literal(&b.lookup.email.conv))
	case b.number != nil:
		key = literal(b.number)
	case b.keySpace == phoneSpace:
		key = literal(&b.lookup.phone.conv)
	}
	return Identity{b.keySpace, convert.FoldKey(key)}
}

// key joins key cells. The parts of a composite key are escaped, so that two
// different keys never join to the same text.
func (r *reader) key(columns []int, what string) (string, bool) {
	parts := make([]string, len(columns))
	ok := true
	for i, c := range columns {
		part, refusal := convert.Key(r.record.Cell(c))
		if refusal == nil && part == "" {
			refusal = &convert.CellError{Code: "empty-key", Message: "is empty; it is part of " + what, Hint: "fill the cell"}
		}
		if refusal != nil {
			r.refuse(c, *refusal)
			ok = false
		}
		if len(columns) > 1 {
			part = strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(part)
		}
		parts[i] = part
	}
	return strings.Join(parts, "|"), ok
}

// resume finds the activity at which the client resumes, by its order; -1 when
// the cell does not tell.
func (r *reader) resume() int {
	at := r.b.resume
	if !at.given || at.column < 0 {
		return at.order
	}
	name := convert.FoldSpace(r.record.Cell(at.column).Shown)
	r.lead.nextStep = name
	order, known := at.orders[name]
	if !known {
		message := "names no activity of the workflow; the client's next step was expected"
		if name == "" {
			message = "is empty; the client's next step was expected"
		}
		r.refuse(at.column, convert.CellError{Code: "unknown-activity", Message: message, Hint: problem.Suggestion(name, slices.Sorted(maps.Keys(at.orders)))})
		return -1
	}
	return order
}

// claimStep is the key of the step that makes a claim.
func (b *Binding) claimStep(c *claimItems) string {
	return "claim/" + b.claims[c.entry].id + "/" + c.key
}

// ClaimSteps are the keys of the claim steps that a lead asks for; a claim whose
// key cannot be read is none of them.
func (b *Binding) ClaimSteps(l Lead) []string {
	keys := make([]string, len(l.claims))
	for i := range l.claims {
		keys[i] = b.claimStep(&l.claims[i])
	}
	return keys
}

// activities reads the activities of one scope.
func (r *reader) activities(scope int) []actItems {
	n := 0
	for i := range r.b.acts {
		if r.b.acts[i].payload(scope) != nil {
			n++
		}
	}
	acts := make([]actItems, 0, n)
	for i := range r.b.acts {
		a := &r.b.acts[i]
		payload := a.payload(scope)
		status, wanted := r.b.status(a, r.lead.resume)
		if payload == nil || !wanted || !r.holds(payload.when, r.b.key) {
			continue
		}
		items := actItems{index: i, workflow: r.item(&payload.workflow)}
		if status != Open { // the client fills in an Open one
			items.attributes = make([]item, 0, len(payload.attributes))
			for k := range payload.attributes {
				v := &payload.attributes[k].value
				items.attributes = append(items.attributes, r.item(v))
				r.noteTyped(v)
			}
		}
		acts = append(acts, items)
	}
	return acts
}

func (r *reader) claim(entry int) (claimItems, bool) {
	c := &r.b.claims[entry]
	if !r.holds(c.when, c.key) {
		return claimItems{}, false
	}
	key, ok := r.key(c.key, "the claim key")
	items := claimItems{entry: entry, key: key, name: r.item(&c.name), acts: r.activities(entry)}
	return items, ok
}
