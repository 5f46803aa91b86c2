package mapping

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

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
	case EmailSpace:
		return r.lookupIdentity(r.lead.email, EmailSpace)
	case PhoneSpace:
		return r.lookupIdentity(r.lead.phone, PhoneSpace)
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
	if space == EmailSpace {
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
	case b.keySpace == EmailSpace:
		key = convert.FoldEmail(literal(&b.lookup.email.conv))
	case b.number != nil:
		key = literal(b.number)
	case b.keySpace == PhoneSpace:
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

// totals are words for a sum of the rows above, in the languages in which
// exports are made here.
var totals = []string{"total", "totals", "grand total", "subtotal", "sub total", "sub-total", "sum", "summe", "gesamt", "gesamtsumme", "zwischensumme",
	"insgesamt", "somme", "totale", "totaal"}

// The codes of rows that are no leads.
const (
	totalsCode = "totals-row"
	headerCode = "header-row"
)

// IsNoLead tells a problem of a row that is no lead: totals, or the header
// again.
func IsNoLead(p problem.Problem) bool { return p.Code == totalsCode || p.Code == headerCode }

// notLead refuses a row that is no lead: a row of totals, whose only text says
// so, or the header again. Sent, it would make a client of that name.
func (r *reader) notLead() {
	if c, ok := totalsCell(r.record); ok {
		hint := "delete the row"
		header, word := r.b.sheet.ColumnLabel(c), strings.ToLower(asRead(r.record.Cell(c)))
		if c < len(r.b.sheet.Header) && convert.FoldHeader(r.b.sheet.Header[c]) != "" && !strings.ContainsAny(header, `'"\`) {
			hint += `, or let the mapping leave it out: sheet: {when: 'lower(col("` + header + `")) != "` + word + `"'}`
		}
		r.refuse(c, convert.CellError{Code: totalsCode, Message: "labels a row of totals, which is no lead", Hint: hint})
	}
	if c, ok := r.headerAgain(); ok {
		r.refuse(c, convert.CellError{Code: headerCode, Message: "stands here again with the other headers: the row is no lead", Hint: "delete the row; if the sheet's headers are in this row, write header_row under sheet in the mapping"})
	}
}

// asRead is a cell's text as col gives it to expressions; "" where it cannot be
// read.
func asRead(c cell.Cell) string {
	value, _ := (&convert.Converter{Type: convert.Text}).Convert(c)
	return value.Literal
}

// totalsCell is the column of the word that makes a row one of totals: nothing
// else in the row but numbers.
func totalsCell(record cell.Record) (column int, ok bool) {
	column = -1
	for i, c := range record.Cells {
		switch {
		case c.IsEmpty(), c.Kind == cell.Number, c.Kind == cell.Text && isAmount(c.Raw), c.Kind == cell.Error, c.Kind == cell.Uncomputed:
		case c.Kind == cell.Text && column < 0 && totalsWord(c) != "":
			column = i
		default:
			return -1, false
		}
	}
	return column, column >= 0
}

// totalsWord is the word for totals that a cell holds, "" for none.
func totalsWord(c cell.Cell) string {
	if len(c.Raw) > 40 {
		return ""
	}
	word := strings.ToLower(strings.Trim(convert.FoldKey(c.Raw), " :.="))
	if slices.Contains(totals, word) {
		return word
	}
	return ""
}

// isAmount tells a text that is written like a number, and not like one of a
// telephone.
func isAmount(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("()-%", r)
	})
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		return false
	}
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789.,' \u00a0\u202f") == ""
}

// headerAgain tells a row that repeats every header, of which there are two at
// least.
func (r *reader) headerAgain() (column int, ok bool) {
	column, same := -1, 0
	for i, header := range r.b.headers {
		c := r.record.Cell(i)
		if header == "" && c.IsEmpty() {
			continue
		}
		if c.Kind != cell.Text || convert.FoldHeader(c.Raw) != header {
			return -1, false
		}
		if same++; column < 0 {
			column = i
		}
	}
	return column, same > 1
}
