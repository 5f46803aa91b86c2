package draft

import (
	"encoding/json"
	"slices"
	"strings"

	"claimsheet/mapping/cell"
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

// Suggestion is a value of the proposal by itself, for a mapping that exists already.
type Suggestion struct {
	// Path is where the value goes in the mapping file: client, fields, email. For an
	// attribute it is nil, and Template and Attribute say what is filled.
	Path                []string
	Template, Attribute string

	Value     json.RawMessage // as the mapping file would have it: a column's header, or an object
	Column    string          // the header of its column; "" for several that are joined
	Certainty Certainty
	Reason    string
	Ask       string // what a person has to decide; "" when it is sure
}

// Suggestions returns what the proposal fills, each value by itself: the client's key, look-up and fields, and the attributes of
// the service's templates.
func (p *Proposal) Suggestions() []Suggestion {
	c := p.client
	list := []Suggestion{{Path: []string{"client", "key"}, Value: json.RawMessage(quoteJSON(c.key.name)), Column: c.key.name,
		Certainty: Fuzzy, Reason: c.keyWhy, Ask: "does it identify a client?"}}
	add := func(s Suggestion, l link) {
		s.Value, s.Certainty, s.Reason, s.Ask = l.value.json(), l.certainty, l.why, l.ask
		if l.value.column != nil {
			s.Column = l.value.column.name
		}
		if s.Certainty == "" {
			s.Certainty = Fuzzy
		}
		list = append(list, s)
	}
	for _, l := range c.lookup {
		add(Suggestion{Path: []string{"client", "lookup", l.to}}, l)
	}
	for _, l := range c.fields {
		add(Suggestion{Path: []string{"client", "fields", l.to}}, l)
	}
	for _, t := range slices.Concat(p.live, p.rest) {
		for _, l := range t.links {
			if l.value.column == nil || !l.value.column.isWide { // those of a wide sheet need its claims too
				add(Suggestion{Template: t.name, Attribute: l.to}, l)
			}
		}
	}
	return list
}

func quoteJSON(s string) string { return string(cell.QuoteJSON(s)) }

// json returns the value as yaml does.
func (v value) json() json.RawMessage {
	keys, values := v.pairs(quoteJSON)
	if len(keys) == 1 && v.parts == nil {
		return json.RawMessage(values[0])
	}
	for i, key := range keys {
		keys[i] = quoteJSON(key) + ": " + values[i]
	}
	return json.RawMessage("{" + strings.Join(keys, ", ") + "}")
}
