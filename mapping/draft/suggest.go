package draft

import (
	"encoding/json"
	"slices"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
)

// Certainty says how a column was found for a name.
type Certainty string

// The certainties, the surest first.
const (
	Same       Certainty = "same"       // the header is the name, in any case
	Normalised Certainty = "normalised" // the same words in another order or spelling, or with words that say nothing
	Synonym    Certainty = "synonym"    // other words with the same meaning
	Fuzzy      Certainty = "fuzzy"      // a header like the name, or cells that look like it
)

func (s strength) certainty(name string, c *column) Certainty {
	switch {
	case s == sameName:
		return Same
	case s == likely, s == sameWords && letters(name) == letters(c.name):
		return Normalised
	case s == sameWords:
		return Synonym
	}
	return Fuzzy
}

// Suggestion is a value of the proposal by itself, for a mapping that exists already.
type Suggestion struct {
	// Path is where the value goes in the mapping file: client, fields, email. For an
	// attribute it is nil, and Template and Attribute say what is filled.
	Path                []string
	Template, Attribute string

	Value     json.RawMessage // as the mapping file would have it: a column's header, or an object
	Column    string          // the header of its column; "" for a text of several
	Certainty Certainty
	Reason    string
	Ask       string // what a person has to decide; "" when it is sure
}

// Suggestions returns what the proposal fills, each value by itself: the client's key,
// look-up and fields, and the attributes of the service's templates.
func (p *Proposal) Suggestions() []Suggestion {
	var list []Suggestion
	add := func(s Suggestion, c *column, certainty Certainty) {
		if c != nil {
			s.Column = c.name
		}
		if s.Certainty = certainty; certainty == "" {
			s.Certainty = Fuzzy
		}
		list = append(list, s)
	}
	c := p.client
	add(Suggestion{Path: []string{"client", "key"}, Value: quoteJSON(c.key.name), Reason: c.keyWhy, Ask: "does it identify a client?"}, c.key, "")
	for _, l := range c.fields {
		if l.to == "email" && c.email != nil {
			add(Suggestion{Path: []string{"client", "lookup", "email"}, Value: quoteJSON(c.email.name), Reason: l.why, Ask: c.emailAsk}, c.email, l.certainty)
		}
		if l.to == "phone" && c.phone != nil {
			add(Suggestion{Path: []string{"client", "lookup", "phone"}, Value: c.phone.json(), Reason: c.phoneWhy, Ask: c.phoneAsk}, c.phone.column, l.certainty)
		}
	}
	for _, l := range c.fields {
		add(Suggestion{Path: []string{"client", "fields", l.to}, Value: l.value.json(), Reason: l.why, Ask: l.ask}, l.value.column, l.certainty)
	}
	for _, t := range slices.Concat(p.live, p.rest) {
		for _, l := range t.links {
			if l.value.column == nil || l.value.column.group == nil { // those of a wide sheet need its claims too
				add(Suggestion{Template: t.name, Attribute: l.to, Value: l.value.json(), Reason: l.why, Ask: l.ask}, l.value.column, l.certainty)
			}
		}
	}
	return list
}

func quoteJSON(s string) json.RawMessage { return cell.QuoteJSON(s) }

// json returns the value as yaml does; entries of the table that are questions are left
// out.
func (v value) json() json.RawMessage {
	object := []byte{'{'}
	add := func(key string, value json.RawMessage) {
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(append(append(object, quoteJSON(key)...), ':'), value...)
	}
	list := func(texts []string) json.RawMessage {
		data, _ := json.Marshal(texts) // texts always marshal
		return data
	}
	if v.text != "" {
		add("text", quoteJSON(v.text))
	} else {
		add("column", quoteJSON(v.column.name))
	}
	alone := len(object)
	if v.typ != "" && (v.typ != convert.Text || v.text != "" || v.isTextAnyway) {
		add("type", quoteJSON(string(v.typ)))
	}
	switch len(v.formats) {
	case 0:
	case 1:
		add("format", quoteJSON(v.formats[0]))
	default:
		add("format", list(v.formats))
	}
	if v.region != "" {
		add("region", quoteJSON(v.region))
	}
	if v.percent {
		add("percent", json.RawMessage("true"))
	}
	if v.checked != nil {
		add("checked", list(v.checked))
		add("unchecked", list(v.unchecked))
	}
	if len(v.table) > 0 {
		table := []byte{'{'}
		for _, e := range v.table {
			if e.to == "" || e.ask != "" {
				continue
			}
			if len(table) > 1 {
				table = append(table, ',')
			}
			table = append(append(append(table, quoteJSON(e.from)...), ':'), quoteJSON(e.to)...)
		}
		if len(table) > 1 {
			add("values", append(table, '}'))
		}
	}
	if len(object) == alone && v.text == "" {
		return quoteJSON(v.column.name)
	}
	return append(object, '}')
}
