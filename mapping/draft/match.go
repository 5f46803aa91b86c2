package draft

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
)

// strength is how much a column's header is like a name.
type strength int

const (
	unlike    strength = iota
	partly             // one has all words of the other, or few letters differ: a question
	likely             // only words differ that every sheet of leads is about
	sameWords          // the same words in any order, or words with the same meaning
	sameName           // the same name, in any case
)

// compareNames returns how much a column's header is like a name. meaning is
// meaningOf(name).
func compareNames(name string, meaning []string, c *column) strength {
	has := c.meaning
	bare, hasBare := without(meaning, neutral), without(has, neutral)
	switch {
	case convert.FoldHeader(c.name) == convert.FoldHeader(name):
		return sameName
	case len(meaning) == 0 || len(has) == 0:
		return unlike
	case slices.Equal(meaning, has):
		return sameWords
	case !slices.Equal(among(meaning, others), among(has, others)):
		return unlike
	case slices.Equal(bare, hasBare) && len(without(bare, generic)) > 0:
		return likely
	case areAkin(meaning, has), saysPart(meaning, has), saysPart(has, meaning):
		return partly
	}
	if a, b := without(meaning, has), without(has, meaning); len(a) == 1 && len(b) == 1 && isMisspelt(a[0], b[0]) {
		return partly
	}
	return unlike
}

// saysPart reports whether all words of a name that mean something are among another's.
// What every sheet of leads is about does not mean anything here.
func saysPart(name, other []string) bool {
	telling := without(name, generic)
	return within(telling, other) && len(without(telling, neutral)) > 0
}

// isMisspelt reports whether two words may be one: they begin alike, and few letters
// differ.
func isMisspelt(a, b string) bool {
	_, near := problem.Nearest(a, []string{b})
	return near && min(len(a), len(b)) >= 5 && a[:2] == b[:2] && max(len(a), len(b))-min(len(a), len(b)) <= 2 && !strings.ContainsAny(a+b, "0123456789")
}

// reason says why a column was taken for a name.
func (s strength) reason(name string, c *column) string {
	switch s {
	case sameName:
		return "the same name"
	case sameWords:
		if letters(name) == letters(c.name) {
			return "the same words"
		}
		return "another name for it"
	case likely:
		return "nearly the same name"
	}
	return "a name like it"
}

// letters returns the words of a name that say something, in their usual form and
// sorted, without what is between them.
func letters(name string) string {
	words := without(wordsOf(name), fillers)
	for i, w := range words {
		if usual, ok := abbreviations[w]; ok {
			words[i] = usual
		}
	}
	return strings.Join(sorted(words), "")
}

// value is a value of the mapping: where it comes from and how its cells are read.
type value struct {
	column             *column
	firstOf            []*column
	text               string // set instead of column
	typ                convert.Type
	formats            []string
	region             string
	percent            bool
	checked, unchecked []string
	table              []entry
	isTextAnyway       bool // cells that are no texts are sent as one
}

// reading is how the cells of a column can be read as a type.
type reading struct {
	value value
	fits  bool   // enough cells read
	why   string // the evidence
	ask   string // what a person has to decide; "" when it is certain
	idle  bool   // the decision is needed before the line can be used
	none  bool   // no cell reads at all
}

// decide notes a question that has to be answered before the reading can be used.
func (r *reading) decide(ask string) { r.ask, r.idle = joined(r.ask, ask), true }

// read finds how a column is read as a type. options are those of a drop-down, nil
// when they are not known.
func (p *proposer) read(c *column, t convert.Type, options []string) reading {
	r := reading{value: value{column: c, typ: t}, fits: true}
	if c.isBlank() {
		r.why = "its cells are all empty"
		return r
	}
	switch t {
	case convert.Date, convert.DateTime:
		p.readAsDate(c, &r)
	case convert.Number, convert.Currency:
		p.readAsNumber(c, &r)
	case convert.Checkbox:
		readAsBox(c, &r)
	case convert.DropDown:
		readAsChoice(c, options, &r)
	case convert.Email:
		good, filled := c.count(isEmail)
		r.fits = c.mostly(isEmail)
		r.why = fmt.Sprintf("e-mail addresses in %d of %s", good, cellsInWords(filled))
	case convert.Phone:
		good, filled := c.count(isPhone)
		r.value.region, r.why, r.ask = c.region(slices.Contains(c.meaning, "mobile"), p.country)
		if r.fits = c.mostly(isPhone); !r.fits {
			r.why = joined(fmt.Sprintf("phone numbers in %d of %s", good, cellsInWords(filled)), r.why)
		}
	case "":
		p.readUntyped(c, &r)
	}
	return r
}

func (p *proposer) readAsDate(c *column, r *reading) {
	d := c.readDates()
	r.value.formats, r.why, r.ask, r.idle = d.formats, d.why, d.ask, d.idle
	if other := p.showsOtherOrder(d); other != nil {
		r.value.formats = slices.Clone(d.formats)
		for _, pair := range d.stated {
			at := slices.Index(r.value.formats, pair[0])
			r.value.formats = slices.Insert(r.value.formats, at+1, pair[1])
		}
		r.ask = joined(fmt.Sprintf("day or month first? “%s” has the other order; keep one of the two", other.name), r.ask)
	}
	refuse := func(why string) { r.fits, r.ask, r.idle, r.why = false, "", false, why }
	switch {
	case float64(d.read) < enough*float64(d.filled):
		r.none = d.read == 0
		refuse(fmt.Sprintf("only %d of %s read as a date", d.read, cellsInWords(d.filled)))
		return
	case slices.Contains(d.formats, serial) && len(among(c.meaning, codes)) > 0:
		refuse("its cells are plain numbers, and its header does not speak of a date")
		return
	case d.timed && r.value.typ == convert.Date:
		refuse("its dates have times of day")
		return
	case r.why == "":
		r.why = fmt.Sprintf("dates in %s", cellsInWords(d.read))
	}
	if len(d.unread) > 0 {
		r.why += p.notRead(d.unread)
	}
	if !d.timed && r.value.typ == convert.DateTime {
		r.decide("its cells have no time of day, and midnight of sheet.timezone is sent; is that right?")
	}
	nameOf := func(at place) string { return p.rowName(p.seen.places[at.row%len(p.seen.places)]) }
	if why := d.order.evidence(nameOf); why != "" {
		r.decide("did a spreadsheet program exchange day and month? Compare these rows with the source: " + why)
	}
}

// notRead names rows that cannot be read.
func (p *proposer) notRead(rows []int) string {
	const most = 3
	var names []string
	for _, i := range rows[:min(len(rows), most)] {
		names = append(names, p.rowName(p.seen.places[i%len(p.seen.places)]))
	}
	list := strings.Join(names, ", ")
	if more := len(rows) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "; not row " + list
}

// rowName is a row's number, with the sheet's file in a run of several.
func (p *proposer) rowName(at place) string {
	if len(p.Sources) > 1 && at.table < len(p.Sources) {
		return fmt.Sprintf("%d of %s", at.row, oneLine(p.Sources[at.table]))
	}
	return fmt.Sprint(at.row)
}

func (p *proposer) readAsNumber(c *column, r *reading) {
	n := c.readNumbers()
	read := n.most()
	if r.fits = float64(read) >= enough*float64(n.filled); !r.fits {
		r.why = fmt.Sprintf("only %d of %s read as a number", read, cellsInWords(n.filled))
		r.none = read == 0
		return
	}
	r.why = fmt.Sprintf("numbers in %d of %s", read, cellsInWords(n.filled))
	switch inText := total(n.texts); {
	case n.percent > 0 && r.value.typ == convert.Currency:
		r.fits = false
		r.why = fmt.Sprintf("percentages in %s", cellsInWords(n.percent))
	case n.percent > 0 && 2*n.percent >= inText:
		r.value.percent = true
		r.decide(fmt.Sprintf("5%% is sent as 0.05; is that what the service expects? Percent signs in %d of %s", n.percent, cellsInWords(n.filled)))
	case n.percent > 0:
		r.ask = fmt.Sprintf("percent signs in %s, which are invalid; with percent: true the others are", cellsInWords(n.percent))
	case n.shown > 0:
		r.decide(fmt.Sprintf("a cell that shows 5%% is sent as 0.05; is that what the service expects? Such are %s", cellsInWords(n.shown)))
	}
	if slices.Contains(p.numbers.doubtful, c) {
		r.decide(p.numbers.ask)
	}
}

func readAsBox(c *column, r *reading) {
	b, texts := c.readBoxes(), c.texts()
	r.why = b.why
	r.value.checked, r.value.unchecked = b.checked, b.unchecked
	switch {
	case len(texts) == 2 && len(b.unknown) > 0 && texts[0].text != "" && texts[1].text != "": // as that of a formula without a result
		r.value.checked, r.value.unchecked = []string{texts[0].text}, []string{texts[1].text}
		r.ask, r.idle = "which of the two words ticks the box?", true
	case float64(b.known) < enough*float64(b.filled):
		r.fits, r.none = false, b.known == 0
		r.why = "its cells do not say yes or no"
	case len(b.unknown) > 0:
		r.ask = fmt.Sprintf("neither list has the texts of %s, which are invalid", cellsInWords(total(b.unknown)))
	}
}

func readAsChoice(c *column, options []string, r *reading) {
	texts := c.texts()
	if !c.isChoice() || c.mostly(isEmail) || c.mostly(func(v cell.Cell) bool { return v.Kind == cell.Date }) {
		r.fits = false
		r.why = fmt.Sprintf("%d different texts are too many for a drop-down", len(texts))
		return
	}
	if len(options) == 0 {
		r.why = c.shown()
		r.ask = "the texts are sent as they are, because the service does not report its options; are they right? If not, add values: {TEXT: OPTION}"
		return
	}
	table, known := c.table(options)
	if known == 0 {
		r.fits = false
		r.why = "none of its texts is an option"
		return
	}
	r.why = fmt.Sprintf("%d different texts, all of them options", len(texts))
	if r.value.table = table; table == nil {
		return
	}
	certain := 0
	for _, e := range table {
		if e.to != "" && e.ask == "" {
			certain++
		}
	}
	r.why = fmt.Sprintf("%d of %d texts stand for an option", certain, len(table))
	if !isCertain(table) {
		r.decide("do the texts stand for these options?")
	}
}

// showsOtherOrder returns a column whose cells show another order of day and month than the
// one that d has from its header; nil where there is none.
func (p *proposer) showsOtherOrder(d *dateReading) *column {
	if d.stated == nil {
		return nil
	}
	for _, c := range p.seen.columns {
		if strings.Trim(c.readDates().shows, d.header.first) != "" {
			return c
		}
	}
	return nil
}

// readUntyped proposes a type for an attribute of which the service reports none. A
// text is sent as it is; any other type is a question.
func (p *proposer) readUntyped(c *column, r *reading) {
	isKind := func(k cell.Kind) bool { return c.mostly(func(v cell.Cell) bool { return v.Kind == k }) }
	_, filled := c.count(isEmail)
	d, n, b := c.readDates(), c.readNumbers(), c.readBoxes()
	is := func(read int) bool { return float64(read) >= enough*float64(filled) }
	isCode := len(among(c.meaning, codes)) > 0
	what := ""
	switch {
	case is(d.read) && !isCode && !slices.Contains(d.formats, serial):
		r.value.typ, what = convert.Date, "dates"
		if d.timed {
			r.value.typ, what = convert.DateTime, "dates with times"
		}
		p.readAsDate(c, r)
	case isKind(cell.Bool), is(b.known) && len(b.unknown) == 0 && !is(n.most()):
		r.value.typ, what = convert.Checkbox, "yes and no"
		readAsBox(c, r)
	case is(n.most()) && !isCode && !c.mostly(isPhone):
		r.value.typ, what = convert.Number, "numbers"
		p.readAsNumber(c, r)
	default:
		r.value.typ = convert.Text
		r.value.isTextAnyway = slices.ContainsFunc(c.cells, func(v cell.Cell) bool { return v.Kind != cell.Text && !v.IsEmpty() })
		return
	}
	r.decide("the service reports no type, and the cells hold " + what + "; is it a " + string(r.value.typ) + "?")
}

// holds says in words what is in a column.
func (c *column) holds() string {
	_, filled := c.count(func(cell.Cell) bool { return true })
	d, n := c.readDates(), c.readNumbers()
	is := func(count int) bool { return float64(count) >= enough*float64(filled) }
	switch {
	case filled == 0:
		return "empty"
	case c.mostly(isEmail):
		return "e-mail addresses"
	case is(d.read) && !slices.Contains(d.formats, serial):
		return "dates"
	case is(n.most()):
		return "numbers"
	case c.mostly(isPhone):
		return "phone numbers"
	}
	return c.shown()
}
