package draft

import (
	"fmt"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// value is a value of the mapping: where it comes from and how its cells are read.
type value struct {
	column             *column
	parts              []*column // joined; set instead of column
	with               string    // between them; "" for a comma
	typ                convert.Type
	formats            []string
	years              string // as convert.Converter.Years
	region             string
	percent            bool
	checked, unchecked []string
	isTextAnyway       bool // cells that are no texts are sent as one
}

// link is a client field or an attribute with the value that was found for it.
type link struct {
	to    string
	value value
	why   string // the evidence
	ask   string // what a person has to decide; "" when the link is certain
	idle  bool   // a comment until the decision is made
	fits  bool   // enough cells read
}

// decide notes a question that has to be answered before the link can be used.
func (l *link) decide(ask string) { l.ask, l.idle = joined(l.ask, ask), true }

// joined joins what is said of a link. After a question a new sentence begins.
func joined(parts ...string) string {
	var all string
	for _, part := range parts {
		switch {
		case strings.Contains(all, part): // also where it is ""
		case all == "":
			all = part
		case strings.HasSuffix(all, "?"):
			all += " " + strings.ToUpper(part[:1]) + part[1:]
		default:
			all += "; " + part
		}
	}
	return all
}

// read finds how a column is read as a type. options are those of a drop-down, nil when they are not known.
func (p *proposer) read(c *column, t convert.Type, options []string) link {
	l := link{value: value{column: c, typ: t}, fits: true}
	if c.filled == 0 {
		l.why = "its cells are all empty"
		return l
	}
	switch t {
	case convert.Date, convert.DateTime:
		p.readAsDate(c, &l)
	case convert.Number, convert.Currency:
		p.readAsNumber(c, &l)
	case convert.Checkbox:
		readAsBox(c, &l)
	case convert.DropDown:
		readAsChoice(c, options, &l)
	case convert.Email:
		l.why, l.fits = fmt.Sprintf("e-mail addresses in %d of %s", c.emails, cellsInWords(c.filled)), c.isMostly(c.emails)
	case convert.Phone:
		l.value.region, l.why, l.ask = p.region(c)
		if l.fits = c.isMostly(c.phones); !l.fits {
			l.why = joined(fmt.Sprintf("phone numbers in %d of %s", c.phones, cellsInWords(c.filled)), l.why)
		}
	case "":
		p.readUntyped(c, &l)
	}
	return l
}

func (p *proposer) readAsDate(c *column, l *link) {
	d := c.dates
	l.value.formats, l.why, l.ask = d.formats, d.why, d.ask
	isShort := func(format string) bool { return strings.Contains(format, "yy") && !strings.Contains(format, "yyyy") }
	if slices.ContainsFunc(d.formats, isShort) {
		if l.value.years = convert.PastYears; !slices.Contains(c.meaning, "birth") {
			l.decide("years of two digits: are all these days past? If not, write years: future, for 2000 to 2099")
		}
	}
	switch {
	case !c.isMostly(d.read), d.timed && l.value.typ == convert.Date:
		l.fits = false
		return
	case l.why == "" && d.read < c.filled:
		l.why = fmt.Sprintf("dates in %d of %s", d.read, cellsInWords(c.filled))
	case l.why == "":
		l.why = "dates in " + cellsInWords(d.read)
	}
	if !d.timed && l.value.typ == convert.DateTime {
		l.decide("its cells have no time of day, and midnight of sheet.timezone is sent; is that right?")
	}
	if why := d.order.evidence(); why != "" {
		l.decide("did a spreadsheet program exchange day and month? Compare some rows with the source: " + why)
	}
}

func (p *proposer) readAsNumber(c *column, l *link) {
	l.why = fmt.Sprintf("numbers in %d of %s", c.numbers, cellsInWords(c.filled))
	switch {
	case !c.isMostly(c.numbers), c.percent > 0 && l.value.typ == convert.Currency:
		l.fits = false
		return
	case c.percent > 0:
		l.value.percent = true
		l.decide(fmt.Sprintf("5%% is sent as 0.05; is that what the service expects? Percent signs in %d of %s",
			c.percent, cellsInWords(c.filled)))
	}
	if slices.Contains(p.doubtful, c) {
		l.decide(p.numbers.Ask)
	}
}

// readBoxes finds how the column ticks a check box: the words, nil when the usual ones do, and how many cells say yes or no.
func (c *column) readBoxes() (checked, unchecked []string, known int) {
	isUsual := true
	var pair [2]string // the last one that was met
	for _, t := range c.texts {
		word := strings.ToLower(t.text)
		i := slices.IndexFunc(wordPairs, func(p [2]string) bool { return p[0] == word || p[1] == word })
		if t.cell.Kind == cell.Bool || i >= 0 {
			known += t.count
		}
		if t.cell.Kind == cell.Bool || i < 0 {
			continue
		}
		isUsual, pair = isUsual && i < usualPairs, wordPairs[i]
		list := &unchecked
		if pair[0] == word {
			list = &checked
		}
		if !slices.ContainsFunc(*list, func(w string) bool { return strings.EqualFold(w, word) }) {
			*list = append(*list, t.text)
		}
	}
	if isUsual && (known == c.filled || checked == nil && unchecked == nil) {
		return nil, nil, known
	}
	if checked == nil { // both lists are needed, also where only one of the words occurs
		checked = []string{pair[0]}
	}
	if unchecked == nil {
		unchecked = []string{pair[1]}
	}
	return checked, unchecked, known
}

func readAsBox(c *column, l *link) {
	checked, unchecked, known := c.readBoxes()
	l.value.checked, l.value.unchecked = checked, unchecked
	switch {
	case known == c.filled:
		var words []string
		for _, t := range c.texts {
			words = append(words, fmt.Sprintf("%s (%d)", oneLine(t.text), t.count))
		}
		l.why = strings.Join(words, ", ")
	case len(c.texts) == 2 && oneLine(c.texts[0].text) != "" && oneLine(c.texts[1].text) != "": // as that of a formula without a result
		l.value.checked, l.value.unchecked = []string{c.texts[0].text}, []string{c.texts[1].text}
		l.decide("which of the two words ticks the box?")
	case !c.isMostly(known):
		l.fits = false
	default:
		l.ask = fmt.Sprintf("neither list has the texts of %s, which are invalid", cellsInWords(c.filled-known))
	}
}

func readAsChoice(c *column, options []string, l *link) {
	l.fits = !c.isMostly(c.emails) && !c.isOfKind(cell.Date)
	l.why = inWords(len(c.texts), "different text")
	if slices.ContainsFunc(c.texts, func(t text) bool { return !slices.Contains(options, t.text) }) {
		l.ask = "the texts are sent as they are; are they what the service expects? If not, add values: {TEXT: OPTION}"
	}
}

// isChoice reports whether a column may hold the choices of a drop-down: few texts that come again and again.
func (c *column) isChoice() bool {
	const maxOptions = 40
	return len(c.texts) <= maxOptions && (len(c.texts) <= 6 || 2*len(c.texts) <= c.filled)
}

// readUntyped proposes a type for an attribute of which the service reports none. A text is sent as it is; any other type is a
// question.
func (p *proposer) readUntyped(c *column, l *link) {
	isCode := len(among(c.meaning, codes)) > 0
	_, _, known := c.readBoxes()
	what := ""
	switch {
	case c.isMostly(c.dates.read) && !isCode:
		l.value.typ, what = convert.Date, "dates"
		if c.dates.timed {
			l.value.typ, what = convert.DateTime, "dates with times"
		}
		p.readAsDate(c, l)
	case c.isOfKind(cell.Bool), known == c.filled && !c.isMostly(c.numbers):
		l.value.typ, what = convert.Checkbox, "yes and no"
		readAsBox(c, l)
	case c.isMostly(c.numbers) && !isCode && !c.isMostly(c.phones):
		l.value.typ, what = convert.Number, "numbers"
		p.readAsNumber(c, l)
	default:
		l.value.typ = convert.Text
		l.value.isTextAnyway = slices.ContainsFunc(c.cells, func(v cell.Cell) bool { return v.Kind != cell.Text && !v.IsEmpty() })
		return
	}
	l.decide("the service reports no type, and the cells hold " + what + "; is it a " + string(l.value.typ) + "?")
}
