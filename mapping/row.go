package mapping

import (
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
type ConvertedRow struct {
	Row      cell.Row
	Client   Identity   // zero when the key cells cannot be read
	Skipped  SkipReason // why the row is left out; "" when it is taken
	Problems problem.List
	Typed    []TypedCell // typed cells under attributes whose type nobody says

	email, phone fieldValue
	fields       []fieldValue
	resume       int              // the order of the activity to resume at; -1 when the cell does not tell
	resumeCell   string           // the cell that tells it
	activities   []activityValues // activities on the client, as listed
	claims       []claimValues
}

// claimItems is what a record asks of one claims entry.
type claimValues struct {
	entry      int
	key        string
	name       fieldValue
	activities []activityValues // activities on the claim, as listed
}

// actItems are the values of one activity.
type activityValues struct {
	index      int // in the mapping's activities
	attributes []fieldValue
	workflow   fieldValue
}

// reader reads one record, collecting every problem of its cells.
type rowConverter struct {
	b      *Binding
	record cell.Record
	row    *ConvertedRow
	texts  []string // room for the texts of sources
}

// Read converts a record. What cannot be read stands in the lead's Problems.
func (b *Binding) Convert(record cell.Record) ConvertedRow {
	b = b.table(record.Table)
	lead := ConvertedRow{Row: cell.RowOf(record.Table, record.Row)}
	r := &rowConverter{b: b, record: record, row: &lead}
	if !r.accept() {
		return lead
	}
	r.refuseTotalsAndHeader()
	lead.fields = make([]fieldValue, 0, len(b.fields))
	for i := range b.fields {
		switch f := &b.fields[i]; {
		case f.sharedLookup == nil:
			lead.fields = append(lead.fields, r.value(&f.value))
		case f.sharedLookup == b.lookup.email:
			lead.fields = append(lead.fields, lead.email)
		default:
			lead.fields = append(lead.fields, lead.phone)
		}
	}
	lead.resume = r.resume()
	lead.activities = r.activities(clientScope)
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
	var lead ConvertedRow
	(&rowConverter{b: b.table(record.Table), record: record, row: &lead}).accept()
	return lead.Client
}

// taken reads whose the row is, unless it is left out.
func (r *rowConverter) accept() bool {
	b, lead := r.b, r.row
	switch {
	case blank(r.record):
		lead.Skipped = BlankRow
	case r.record.Hidden && b.mapping.Sheet.SkipHidden:
		lead.Skipped = HiddenRow
	case !r.holds(b.when, b.key):
		lead.Skipped = NotWhen
	}
	if lead.Skipped != "" {
		return false
	}
	if b.lookup.email != nil {
		lead.email = r.value(b.lookup.email)
	}
	if b.lookup.phone != nil {
		lead.phone = r.value(b.lookup.phone)
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

func (r *rowConverter) value(v *boundValue) fieldValue {
	it, wrong := v.read(&r.b.sheet, r.record, r.makeTexts(len(v.columns)))
	if wrong != nil {
		r.row.Problems = append(r.row.Problems, *wrong)
	}
	return it
}

// room is space for n texts. It comes in pieces of one allocation, of which a
// row would otherwise make one for each of its values.
func (r *rowConverter) makeTexts(n int) []string {
	const texts = 32
	if n > len(r.texts) {
		r.texts = make([]string, max(n, texts))
	}
	piece := r.texts[:n:n]
	r.texts = r.texts[n:]
	return piece
}

// refuse notes a refusal of the cell in a column.
func (r *rowConverter) refuse(column int, refusal convert.CellError) {
	sheet := &r.b.sheet
	r.row.Problems = append(r.row.Problems,
		refusal.Problem(sheet.At(column, r.record.Row), sheet.ColumnLabel(column), r.record.Cell(column)))
}

// holds evaluates a condition; one that fails counts as true, for the row is
// invalid and must not look left out.
func (r *rowConverter) holds(e *expr.Expression, otherwise []int) bool {
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

// resume finds the activity at which the client resumes, by its order; -1 when
// the cell does not tell.
func (r *rowConverter) resume() int {
	at := r.b.resume
	if !at.isSet || at.column < 0 {
		return at.order
	}
	name := convert.FoldSpace(r.record.Cell(at.column).Shown)
	r.row.resumeCell = name
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
func (b *Binding) claimStep(c *claimValues) string {
	return "claim/" + b.claims[c.entry].id + "/" + c.key
}

// ClaimSteps are the keys of the claim steps that a lead asks for; a claim whose
// key cannot be read is none of them.
func (b *Binding) ClaimSteps(l ConvertedRow) []string {
	keys := make([]string, len(l.claims))
	for i := range l.claims {
		keys[i] = b.claimStep(&l.claims[i])
	}
	return keys
}

// activities reads the activities of one scope.
func (r *rowConverter) activities(scope int) []activityValues {
	n := 0
	for i := range r.b.activities {
		if r.b.activities[i].payload(scope) != nil {
			n++
		}
	}
	acts := make([]activityValues, 0, n)
	for i := range r.b.activities {
		a := &r.b.activities[i]
		payload := a.payload(scope)
		status, wanted := r.b.status(a, r.row.resume)
		if payload == nil || !wanted || !r.holds(payload.when, r.b.key) {
			continue
		}
		items := activityValues{index: i, workflow: r.value(&payload.workflow)}
		if status != Open { // the client fills in an Open one
			items.attributes = make([]fieldValue, 0, len(payload.attributes))
			for k := range payload.attributes {
				v := &payload.attributes[k].value
				items.attributes = append(items.attributes, r.value(v))
				r.noteTyped(v)
			}
		}
		acts = append(acts, items)
	}
	return acts
}

func (r *rowConverter) claim(entry int) (claimValues, bool) {
	c := &r.b.claims[entry]
	if !r.holds(c.when, c.key) {
		return claimValues{}, false
	}
	key, ok := r.key(c.key, "the claim key")
	items := claimValues{entry: entry, key: key, name: r.value(&c.name), activities: r.activities(entry)}
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
func IsTotalsOrHeader(p problem.Problem) bool { return p.Code == totalsCode || p.Code == headerCode }

// notLead refuses a row that is no lead: a row of totals, whose only text says
// so, or the header again. Sent, it would make a client of that name.
func (r *rowConverter) refuseTotalsAndHeader() {
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
func (r *rowConverter) headerAgain() (column int, ok bool) {
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
