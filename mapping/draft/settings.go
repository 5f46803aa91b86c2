package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem/yamltree"
)

// setting is a line of the sheet section, in YAML.
type setting struct {
	key, value string
	why, ask   string
}

// settings returns the lines of the sheet section that say where the leads are.
func (l Layout) settings() (all []setting) {
	add := func(key, value string, s Setting) {
		if s.Value != "" {
			all = append(all, setting{key, value, s.Why, s.Ask})
		}
	}
	add("name", yamltree.Quote(l.SheetName.Value), l.SheetName)
	add("header_row", l.HeaderRow.Value, l.HeaderRow)
	add("encoding", yamltree.Quote(l.Encoding.Value), l.Encoding)
	add("delimiter", yamltree.Quote(l.Delimiter.Value), l.Delimiter)
	return all
}

// Beginning returns a mapping that says only how the sheets are read: what there is until
// their rows are known.
func (r Request) Beginning() []byte {
	w := &writer{}
	w.line("name: %s", yamltree.Quote(r.mappingName()))
	w.line("api: %s", r.API)
	if all := r.Layout.settings(); len(all) > 0 {
		w.line("sheet:")
		for _, s := range all {
			w.line("  %s: %s", s.key, s.value)
		}
	}
	return []byte(w.String())
}

// proposeSettings proposes the sheet section.
func (p *proposer) proposeSettings(made *Proposal) []setting {
	all := p.Layout.settings()
	add := func(key, value, why, ask string) { all = append(all, setting{key, value, why, ask}) }
	if made.hasType(convert.DateTime) {
		add("timezone", p.zone(made), "", "where the sheet's times were written down")
	}
	if n := p.numbers; n.why != "" {
		add("numbers", fmt.Sprintf("{decimal: %s, group: %s}", yamltree.Quote(n.Decimal), yamltree.Quote(n.Group)), n.why, n.ask)
	}
	if value, why, ask := p.emptyTexts(); value != "" {
		add("empty", value, why, ask)
	}
	if value, why := p.leadsOnly(); value != "" {
		add("when", value, why, "")
	}
	return all
}

// links returns all links, those that are comments among them: each can be used
// without another change of the mapping.
func (p *Proposal) links() []link {
	all := slices.Clone(p.client.fields)
	for _, t := range slices.Concat(p.live, p.rest) {
		all = append(all, t.links...)
	}
	return all
}

func (p *Proposal) hasType(t convert.Type) bool {
	return slices.ContainsFunc(p.links(), func(l link) bool { return l.value.typ == t })
}

// zone is the time zone of the region that the phone numbers are of, or that the sheet
// shows.
func (p *proposer) zone(made *Proposal) string {
	var shown []string
	for _, l := range made.client.fields {
		shown = append(shown, l.value.region)
	}
	for _, name := range append(shown, p.country.regions...) {
		for _, r := range regions {
			if name == r.name {
				return r.zone
			}
		}
	}
	return "UTC"
}

// findNumbers finds how the sheet writes the numbers that are linked.
func (p *proposer) findNumbers(made *Proposal) numbers {
	var columns []*column
	for _, l := range made.links() {
		if c := l.value.column; c != nil && (l.value.typ == convert.Number || l.value.typ == convert.Currency) && !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	return notation(columns, p.country)
}

// emptyTexts is the list of texts that count as empty.
func (p *proposer) emptyTexts() (value, why, ask string) {
	var words, counts, doubts []string
	for _, word := range slices.Sorted(maps.Keys(p.seen.emptied)) {
		words = append(words, yamltree.Quote(word))
		counts = append(counts, fmt.Sprintf("%s in %s", oneLine(word), cellsInWords(p.seen.emptied[word])))
		if column := p.seen.unsure[word]; column != "" {
			doubts = append(doubts, fmt.Sprintf("%s, as in %s", quoted(oneLine(word)), oneLine(column)))
		}
	}
	if len(words) == 0 {
		return "", "", ""
	}
	if len(doubts) > 0 {
		ask = "is " + strings.Join(doubts, ", ") + ", an empty cell or an answer?"
	}
	return "[" + strings.Join(words, ", ") + "]", strings.Join(counts, ", "), ask
}

// leadsOnly is the condition that leaves out rows of totals and repeated headers.
func (p *proposer) leadsOnly() (value, why string) {
	of := map[string][]string{} // by column, the texts to leave out
	var columns, rows []string
	for _, n := range append(slices.Clone(p.seen.totals), p.seen.headers...) {
		text := strings.ToLower(n.text)
		if text == "" {
			text = strings.ToLower(n.column)
		}
		if n.column == "" || !isQuotable(n.column) || !isQuotable(text) || !slices.ContainsFunc(p.seen.columns, func(c *column) bool { return c.name == n.column }) {
			continue
		}
		if of[n.column] == nil {
			columns = append(columns, n.column)
		}
		if !slices.Contains(of[n.column], text) {
			of[n.column] = append(of[n.column], text)
		}
		rows = append(rows, p.rowName(n.place))
	}
	var conditions []string
	for _, c := range columns {
		if texts := of[c]; len(texts) == 1 {
			conditions = append(conditions, fmt.Sprintf(`lower(col("%s")) != "%s"`, c, texts[0]))
		} else {
			conditions = append(conditions, fmt.Sprintf(`lower(col("%s")) not in ["%s"]`, c, strings.Join(texts, `", "`)))
		}
	}
	if len(conditions) == 0 {
		return "", ""
	}
	what := "is a row of totals, not a lead"
	switch {
	case len(p.seen.totals) == 0:
		what = "repeats the headers"
	case len(p.seen.headers) > 0:
		what = "is a row of totals or of headers, not a lead"
	}
	const most = 5
	list := strings.Join(rows[:min(len(rows), most)], ", ")
	if len(rows) > most {
		list += fmt.Sprintf(" and %d more", len(rows)-most)
	}
	return "'" + strings.Join(conditions, " and ") + "'", "each of these rows " + what + ": " + list
}

// notes are what else was seen that a person should know.
func (p *proposer) notes() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if p.seen.isNarrow {
		add("The first %d of %d rows were looked at.", len(p.seen.places), p.seen.rows)
	}
	if n := len(p.seen.bare); n > 0 {
		add("Columns with data and no header, which no mapping can use: %s", someOf(p.seen.bare))
	}
	if n := len(p.seen.repeated); n > 0 {
		add("Columns with the same header, which no mapping can use until each has a header of its own: %s", someOf(p.seen.repeated))
	}
	if n := len(p.seen.merged); n > 0 {
		add("Merged cells, of which only the first has the value: %s", someOf(p.seen.merged))
	}
	for _, n := range p.seen.totals {
		if n.column == "" {
			add("Row %s is a row of totals; a run refuses it until it is deleted.", p.rowName(n.place))
		}
	}
	return all
}

// someOf lists the first names.
func someOf(names []string) string {
	const most = 8
	list := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
