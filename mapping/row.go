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

// ConvertedRow is what one record asks for, with every cell converted. The rows of one client make a Plan.
type ConvertedRow struct {
	Row      cell.Row
	Client   Identity // zero when the key cells cannot be read
	Skipped  string   // BlankRow or NotWhen: why the row is skipped; "" when it is not
	Problems problem.List
	Notes    []CellNote // cells that make the mapping doubtful
	Readings []Reading  // what the row gives for the Targets, in their order; of BindPart only

	parts  []rowPart // what it says of the client, then of the contacts and the claims that it has; nil when it is skipped
	resume int       // the order of the activity to resume at; -1 when the cell does not say
}

// Reading is what one row gives for a target. A row has none for what it does not ask for,
// such as the attributes of an activity that is Open; an attribute that is on several claims
// of the row has one for each.
type Reading struct {
	Target int        // its place among the Targets
	Value  cell.Value // zero when the cells are empty, or Wrong says why they cannot be used
	Source Source
	Wrong  *problem.Problem
}

// rowPart is what one record says of a part of the Binding, or of an activity on one of these.
type rowPart struct {
	entry      int          // among the parts, or the activities
	who        Identity     // of a client or contact; zero when the key cells cannot be read
	key        string       // of a claim
	values     []fieldValue // those of its boundPart, in their order; of an Open activity without the attributes
	activities []rowPart
}

// value returns what the record says; a zero fieldValue for no value.
func (p *rowPart) value(v *boundValue) *fieldValue {
	if v == nil {
		return &fieldValue{}
	}
	return &p.values[v.slot]
}

// rowConverter converts one record and collects every problem of its cells.
type rowConverter struct {
	b      *Binding
	record cell.Record
	row    *ConvertedRow
	people bool // only values that say who the row speaks of are converted, and those that are noted
}

// Convert converts a record. The row's Problems say what cannot be converted.
func (b *Binding) Convert(record cell.Record) ConvertedRow { return b.convert(record, false) }

// ConvertPeople is Convert for a pass that only groups rows: it converts what Client, People,
// KnownIDsOf and the Notes need. Of the Problems it has some.
func (b *Binding) ConvertPeople(record cell.Record) ConvertedRow { return b.convert(record, true) }

func (b *Binding) convert(record cell.Record, people bool) ConvertedRow {
	b = b.tables[record.Table]
	row := ConvertedRow{Row: cell.RowOf(record.Table, record.Row)}
	own := b.clear(record) // without what empty cells take from the row above
	r := &rowConverter{b, own, &row, people}
	if len(record.Above) > 0 {
		r.record = b.clear(record.Filled())
	}
	switch {
	case blank(own):
		row.Skipped = BlankRow
	case !r.holds(b.when):
		row.Skipped = NotWhen
	}
	if row.Skipped != "" {
		return row
	}
	row.resume = r.resume()
	row.parts = make([]rowPart, 0, len(b.parts))
	for entry, p := range b.parts {
		if !r.holds(p.when) {
			continue
		}
		part, ok := rowPart{entry: entry, values: r.values(p.values), activities: r.activities(p)}, true
		if p.kind == ClaimStep {
			part.key, ok = r.key(p)
		} else {
			part.who = r.identity(p, &part)
		}
		if ok {
			row.parts = append(row.parts, part)
		}
	}
	row.Client = row.parts[0].who
	row.Problems = row.Problems.Unique()               // a column may be mapped more than once
	if label, isTotals := TotalsLabel(own); isTotals { // sent, it would create a client of that name
		row.Problems = nil // what the row lacks as a lead's says nothing
		r.refuse(label, convert.CellError{Code: totalsCode, Message: "labels a row of totals, not a lead",
			Hint: "delete the row, or let sheet.when leave such rows out"})
		row.parts = row.parts[:1]
		row.parts[0].activities = nil
	}
	slices.SortStableFunc(row.Readings, func(a, b Reading) int { return a.Target - b.Target })
	return row
}

// values converts values of the row. In a pass that only groups rows most of them do not count.
func (r *rowConverter) values(of []*boundValue) []fieldValue {
	list := make([]fieldValue, len(of))
	for i, v := range of {
		if r.people && !v.saysWho() {
			list[i].of = v
		} else {
			list[i] = r.read(v)
		}
	}
	return list
}

// saysWho reports whether a pass that only groups rows converts the value: it may say who the row
// speaks of, or is noted.
func (v *boundValue) saysWho() bool {
	t := v.conv.Type
	return v.rule != nil || t == convert.Email || t == convert.Phone || t == convert.ID
}

// read converts a value of the row. It does not report a required cell that is
// empty, because another row of the client may fill it.
func (r *rowConverter) read(v *boundValue) fieldValue {
	it := fieldValue{of: v}
	if v.constant != nil {
		it.value = *v.constant
	} else {
		it.row, it.texts = r.row.Row, make([]string, len(v.columns))
		for i, c := range v.columns {
			it.texts[i] = r.record.Cell(c).Shown
		}
		in, at, refusal := v.cell(r.record)
		if refusal == nil && !in.IsEmpty() {
			refusal = v.convert(in, &it)
		}
		if refusal != nil {
			it.refused = r.refuse(at, *refusal)
		}
	}
	if v.rule != nil {
		r.note(&it)
	}
	if r.b.readings && v.target > 0 {
		r.row.Readings = append(r.row.Readings, Reading{v.target - 1, it.value, it.source(), it.refused})
	}
	return it
}

// clear returns a record without the cells that count as empty. What counts is
// what a person reads, of any kind of cell, so that a workbook and its CSV
// export mean the same.
func (b *Binding) clear(record cell.Record) cell.Record {
	if len(b.empty) == 0 {
		return record
	}
	own := false
	for i := range record.Cells {
		c := &record.Cells[i]
		if !b.empty[convert.Trim(cmp.Or(c.Shown, c.Raw))] {
			continue
		}
		if !own { // the cells belong to the reader
			record.Cells, own = slices.Clone(record.Cells), true
		}
		record.Cells[i] = cell.Cell{}
	}
	return record
}

// blank reports whether a person sees nothing in a row.
func blank(record cell.Record) bool {
	return !slices.ContainsFunc(record.Cells, func(c cell.Cell) bool { return !c.IsEmpty() })
}

// refuse adds a problem of the cell in a column.
func (r *rowConverter) refuse(column int, refusal convert.CellError) *problem.Problem {
	sheet := &r.b.sheet
	p := refusal.Problem(sheet.At(column, r.record.Row), sheet.ColumnLabel(column), r.record.Cell(column))
	r.row.Problems = append(r.row.Problems, p)
	return &p
}

// holds evaluates a condition. One that fails counts as true: the row is invalid and must not look skipped.
func (r *rowConverter) holds(e *expr.Expression) bool {
	yes, refusal := e.Holds(r.record)
	if refusal != nil {
		columns, _ := e.Columns()
		r.refuse(first(columns), *refusal)
	}
	return yes || refusal != nil
}

// resume returns the order of the activity at which the client resumes; -1 when the cell does not say.
func (r *rowConverter) resume() int {
	at := r.b.resume
	if at.next == nil {
		return at.order
	}
	column := first(at.next.columns)
	name := convert.Composed(convert.FoldSpace(r.record.Cell(column).Shown))
	order, known := at.orders[name]
	if !known {
		message := "names no activity of the workflow; the client's next step was expected"
		if name == "" {
			message = "is empty; the client's next step was expected"
		}
		r.refuse(column, convert.CellError{Code: "unknown-activity", Message: message, Hint: problem.Suggestion(name, slices.Sorted(maps.Keys(at.orders)))})
		return -1
	}
	return order
}

// step returns the key of the step that creates what a row speaks of; "" for a contact whose key cannot be read.
func (b *Binding) step(part *rowPart) string {
	switch p := b.parts[part.entry]; {
	case p.kind == ClaimStep:
		return claimPrefix + p.id + "/" + part.key
	case p.kind == ClientStep:
		return string(ClientStep)
	case part.who == (Identity{}):
		return ""
	}
	return ContactStepKey(part.who)
}

const claimPrefix = string(ClaimStep) + "/"

// ClaimSteps returns the keys of the claim steps that a row asks for. It leaves out a claim whose key cannot be read.
func (b *Binding) ClaimSteps(row ConvertedRow) (keys []string) {
	for i := range row.parts {
		if part := &row.parts[i]; b.parts[part.entry].kind == ClaimStep {
			keys = append(keys, b.step(part))
		}
	}
	return keys
}

// KnownID is an id that a row gives for a client or a claim (known_id).
type KnownID struct {
	Step   string // the key of the step that the id is for
	Kind   StepKind
	ID     string
	Column int // of the cell; 0 = A
}

// KnownIDsOf returns the ids that a row gives.
func (b *Binding) KnownIDsOf(row ConvertedRow) (ids []KnownID) {
	for i := range row.parts {
		part := &row.parts[i]
		p := b.parts[part.entry]
		if it := part.value(p.known); !it.value.IsZero() {
			ids = append(ids, KnownID{b.step(part), p.kind, it.value.Literal, first(it.of.columns)})
		}
	}
	return ids
}

// activities converts the activities of the client, a claim or a contact.
func (r *rowConverter) activities(of *boundPart) []rowPart {
	var acts []rowPart
	for i, a := range of.activities {
		status, wanted := r.b.status(&r.b.activities[i], r.row.resume)
		if a == nil || !wanted {
			continue
		}
		resumes := status == Open && r.b.activities[i].rule.Status != Open // it becomes Open, whatever its when says
		if !resumes && !r.holds(a.when) {
			continue
		}
		values := a.values
		if status == Open { // the client fills it in
			values = values[:2]
		}
		if !r.people || slices.ContainsFunc(values, (*boundValue).saysWho) {
			acts = append(acts, rowPart{entry: i, values: r.values(values)})
		}
	}
	return acts
}

// totals are the words for a sum of the rows above, in the languages of the exports.
var totals = []string{"total", "totals", "grand total", "subtotal", "sub total", "sub-total", "sum", "summe", "gesamt", "gesamtsumme",
	"zwischensumme",
	"insgesamt", "somme", "totale", "totaal"}

const totalsCode = "totals-row"

// IsTotals reports whether a problem is that of a row of totals.
func IsTotals(p problem.Problem) bool { return p.Code == totalsCode }

// TotalsLabel returns the column of the word that marks a row of totals, such as
// Total or Summe; it is not ok for other rows. A row of totals has nothing else but
// numbers.
func TotalsLabel(record cell.Record) (column int, ok bool) {
	column = -1
	for i, c := range record.Cells {
		switch {
		case c.IsEmpty(), c.Kind == cell.Number, c.Kind == cell.Text && isAmount(c.Raw), c.Kind == cell.Error, c.Kind == cell.Uncomputed:
		case c.Kind == cell.Text && column < 0 && slices.Contains(totals, strings.ToLower(strings.Trim(convert.FoldKey(c.Raw), " :.="))):
			column = i
		default:
			return -1, false
		}
	}
	return column, column >= 0
}

// isAmount reports whether a text is written like a number, but not like a phone number.
func isAmount(s string) bool {
	isPhone := len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9'
	isPart := func(r rune) bool {
		return unicode.Is(unicode.Sc, r) || strings.ContainsRune("0123456789.,'()-% \u00a0\u202f", r)
	}
	return !isPhone && strings.TrimFunc(s, isPart) == ""
}
