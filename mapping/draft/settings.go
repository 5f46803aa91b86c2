package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// settings returns the lines of the sheet section that say where the leads are.
func (r Request) settings() (all []Setting) {
	add := func(key, value string, s Setting) {
		if s.Value != "" {
			all = append(all, Setting{key, value, s.Why, s.Ask})
		}
	}
	add("name", yamltree.Quote(r.SheetName.Value), r.SheetName)
	add("header_row", r.HeaderRow.Value, r.HeaderRow)
	add("encoding", yamltree.Quote(r.Encoding.Value), r.Encoding)
	add("delimiter", yamltree.Quote(r.Delimiter.Value), r.Delimiter)
	return all
}

// Beginning returns a mapping that says only how the sheets are read: what there is until their rows are known.
func (r Request) Beginning() []byte {
	w := &writer{}
	w.line("name: %s", yamltree.Quote(r.mappingName()))
	w.line("api: %s", r.API)
	if all := r.settings(); len(all) > 0 {
		w.line("sheet:")
		for _, s := range all {
			w.line("  %s: %s", s.Key, s.Value)
		}
	}
	return []byte(w.String())
}

// proposeSettings proposes the sheet section.
func (p *proposer) proposeSettings(made *Proposal) []Setting {
	all := p.settings()
	sends := func(types ...convert.Type) bool { // as what is a comment would, too
		isSent := func(l link) bool { return slices.Contains(types, l.value.typ) }
		isIn := func(t template) bool { return slices.ContainsFunc(t.links, isSent) }
		return slices.ContainsFunc(made.fields, isSent) || slices.ContainsFunc(made.live, isIn)
	}
	if sends(convert.DateTime) {
		timezone := Setting{"timezone", "UTC", "", "where were the sheet's times written down?"}
		if zone, ok := zones[p.country]; ok {
			timezone = Setting{"timezone", zone, "as the sheet is from " + p.country, ""}
		}
		all = append(all, timezone)
	}
	if p.numbers.Why != "" && sends(convert.Number, convert.Currency) {
		all = append(all, p.numbers)
	}
	if words := slices.Sorted(maps.Keys(p.seen.emptied)); len(words) > 0 { // texts that count as empty
		var counts []string
		for _, word := range words {
			counts = append(counts, fmt.Sprintf("%s in %s", oneLine(word), cellsInWords(p.seen.emptied[word])))
		}
		all = append(all, Setting{"empty", list(words, yamltree.Quote), strings.Join(counts, ", "), ""})
	}
	if p.seen.totals > 0 {
		why := "rows of totals, which are no leads: " + fmt.Sprint(p.seen.totals)
		all = append(all, Setting{"when", "'" + strings.Join(p.seen.leadsOnly, " and ") + "'", why, ""})
	}
	return all
}

// notes are what else was seen that a person should know.
func (p *proposer) notes() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if n := p.seen.kept; n < p.seen.rows {
		add("The first %d of %d rows were looked at.", n, p.seen.rows)
	}
	if len(p.seen.repeated) > 0 {
		add("Columns with the same header, which a mapping names with their letters: %s", problem.Some(p.seen.repeated, 8))
	}
	return all
}
