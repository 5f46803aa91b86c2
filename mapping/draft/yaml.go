package draft

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// YAML returns the proposal as a mapping without problems, for a person to finish. The questions that only a person can answer stand
// together at the top; the others stand beside the lines that they are about.
func (p *Proposal) YAML() []byte {
	w := &writer{}
	p.write(w)
	top := &writer{}
	top.line("# yaml-language-server: $schema=mapping.schema.json")
	top.line("# A first mapping for %s, made by claimsheet init. Answer each DECIDE and delete its comment, then try a dry run.",
		oneLine(strings.Join(p.request.Sources, ", ")))
	top.line("# The first line is for editors; this makes the file that it names: claimsheet schema mapping > mapping.schema.json")
	for _, note := range p.notes {
		top.line("# %s", oneLine(note))
	}
	for _, question := range w.questions {
		top.line("# DECIDE: %s", question)
	}
	top.line("")
	return []byte(top.String() + w.String())
}

// Plain returns the proposal with every question beside its line, and without the lines that are comments alone, but for questions about
// the line below: what may be filled, and with what, is among the Suggestions.
func (p *Proposal) Plain() []byte {
	w := &writer{isPlain: true}
	p.write(w)
	return []byte(w.String())
}

// write writes the mapping.
func (p *Proposal) write(w *writer) {
	w.general("", "name: "+yamltree.Quote(p.request.mappingName()), "name", "what is this campaign called? It must not change once it has run", "")
	w.line("api: %s", p.request.API)
	if len(p.settings) > 0 {
		w.line("\nsheet:")
		for _, s := range p.settings {
			w.commented("  ", s.Key+": "+s.Value, s.Why, s.Ask)
		}
	}
	w.client(p)
	w.claims(p)
	w.templates(p)
	w.listed("\n# Columns that nothing uses", names(p.unused, func(c *column) string { return c.name }))
}

// writer writes lines of YAML with comments.
type writer struct {
	strings.Builder
	isPlain   bool     // lines that are comments are left out
	questions []string // the general ones, for the top; when it is plain they stand beside their lines
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// comment writes a line that is a comment.
func (w *writer) comment(format string, args ...any) {
	if !w.isPlain {
		w.line(format, args...)
	}
}

// listed writes a list of names as a comment; nothing for no names.
func (w *writer) listed(title string, names []string) {
	if len(names) > 0 {
		w.comment("%s: %s", title, strings.Join(names, ", "))
	}
}

func names[T any](list []T, of func(T) string) (all []string) {
	for _, v := range list {
		all = append(all, oneLine(of(v)))
	}
	return all
}

// widest is how wide a line may be before its comment goes above it.
const widest = 130

// general writes a line about which only a person can decide; about says what the question is about, where it stands at the top.
func (w *writer) general(indent, text, about, ask, why string) {
	if w.isPlain {
		w.commented(indent, text, why, ask)
		return
	}
	if why != "" {
		ask += " (" + why + ")"
	}
	w.questions = append(w.questions, about+": "+ask)
	w.line("%s%s", indent, text)
}

// commented writes a line with its reason, and with what a person has to decide. With a # in its indent it is a comment itself.
func (w *writer) commented(indent, text, why, ask string) {
	bare, isIdle := strings.CutSuffix(indent, "# ")
	comment := why
	switch {
	case ask != "" && why != "":
		comment = "DECIDE: " + ask + " (" + why + ")"
	case ask != "":
		comment = "DECIDE: " + ask
	}
	switch isWide := len(indent)+len(text)+len(comment)+5 > widest; {
	case w.isPlain && isIdle:
	case comment == "", w.isPlain && isWide && ask == "":
		w.line("%s%s", indent, text)
	case isWide:
		w.line("%s# %s\n%s%s", bare, comment, indent, text)
	default:
		w.line("%s%s   # %s", indent, text, comment)
	}
}

func (w *writer) client(p *Proposal) {
	w.line("\nclient:")
	w.general("  ", "key: "+yamltree.Quote(p.key.name), "client.key", "does "+oneLine(p.key.name)+" identify a client?", p.keyWhy)
	if len(p.lookup) == 0 {
		w.commented("  ", "existing: create", "no column holds an e-mail address or phone number to look clients up by", "")
	} else {
		w.general("  ", "existing_activities: send", "client.existing_activities",
			"does a client who was found, not created, get the activities too: send or skip?", "")
		w.line("  lookup:")
	}
	for _, l := range p.lookup {
		w.link("    ", l)
	}
	w.commented("  ", "fields:", "", "the names on the left are the service's; its operator knows them")
	for _, l := range p.fields {
		w.link("    ", l)
	}
}

// link writes a client field or an attribute.
func (w *writer) link(indent string, l link) {
	if l.idle {
		indent += "# "
	}
	w.commented(indent, yamltree.Quote(l.to)+": "+l.value.written(yamltree.Quote), l.why, l.ask)
}

// written returns the value on one line, in YAML or JSON: a column alone, or pairs in braces. quote quotes a text.
func (v value) written(quote func(string) string) string {
	var pairs []string
	add := func(key, value string) { pairs = append(pairs, quote(key)+": "+value) }
	if v.parts != nil {
		var names []string
		for _, c := range v.parts {
			names = append(names, c.name)
		}
		add("join", list(names, quote))
		if v.with != "" {
			add("with", quote(v.with))
		}
	} else {
		add("column", quote(v.column.name))
	}
	if v.typ != "" && (v.typ != convert.Text || v.parts != nil || v.isTextAnyway) {
		add("type", quote(string(v.typ)))
	}
	if len(v.formats) == 1 {
		add("format", quote(v.formats[0]))
	} else if len(v.formats) > 1 {
		add("format", list(v.formats, quote))
	}
	if v.years != "" {
		add("years", quote(string(v.years)))
	}
	if v.region != "" {
		add("region", quote(v.region))
	}
	if v.percent {
		add("percent", "true")
	}
	if v.checked != nil {
		add("checked", list(v.checked, quote))
		add("unchecked", list(v.unchecked, quote))
	}
	if len(pairs) == 1 && v.parts == nil {
		return quote(v.column.name)
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func list(texts []string, quote func(string) string) string {
	var all []string
	for _, t := range texts {
		all = append(all, quote(t))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (w *writer) claims(p *Proposal) {
	if len(p.claims) == 0 && p.request.API == "v2" && !w.isPlain {
		w.questions = append(w.questions,
			"claims: no column numbers claims; is each row a claim of its client? Then add claims: [{key: COLUMN, name: TEXT}]")
	}
	for i, c := range p.claims {
		if i == 0 {
			w.line("\nclaims:")
		}
		w.line("  - id: %s", c.id)
		if key := "key: " + yamltree.Quote(c.key); c.ask != "" && i == 0 {
			w.general("    ", key, "claims", c.ask, c.why)
		} else {
			w.commented("    ", key, c.why, "")
		}
		w.line("    name: %s", yamltree.Quote(c.name))
		if c.when != "" {
			w.line("    when: '%s'", c.when)
		}
		if len(c.columns) > 0 {
			var pairs []string
			for pair := range slices.Chunk(c.columns, 2) {
				pairs = append(pairs, yamltree.Quote(pair[0])+": "+yamltree.Quote(pair[1]))
			}
			w.line("    columns: {%s}", strings.Join(pairs, ", "))
		}
	}
}

func (w *writer) templates(p *Proposal) {
	service := p.request.Service
	if service == nil {
		w.comment("\n# The service's templates are not known here: claimsheet init -e ENVIRONMENT fills them in.\n" +
			"# activities:\n#   - template: NAME OF A TEMPLATE\n#     attributes:\n#       NAME OF AN ATTRIBUTE: A column")
		return
	}
	if p.request.API == "v2" && len(p.live) > 0 {
		w.line("\nworkflow:")
		name := strings.NewReplacer("{", "{{", "}", "}}").Replace(p.request.mappingName())
		w.line("  name: %s", yamltree.Quote(name+" {run.date}"))
		if service.WorkflowTemplateIdentifier == "" {
			w.commented("  ", "template_identifier: "+mapping.ToBeAgreed, "the service's operator supplies it", "")
		}
	}
	if len(p.live) > 0 {
		w.line("")
		w.general("", "activities:", "activities",
			"is this the workflow's order, and where does the client resume? That template gets status: Open and no attributes", "")
	}
	for i, t := range p.live {
		if t.texts {
			w.line("  # DECIDE: the service reports no types here. Columns of texts are sent as texts; is that right for each of them?")
		}
		w.template(t, i+1)
	}
	w.listed("\n# Templates without an attribute that certainly has a column", names(p.rest, func(t template) string { return t.name }))
}

// template writes a template.
func (w *writer) template(t template, number int) {
	w.line("  - template: %s", yamltree.Quote(t.name))
	if strings.Contains(t.name, "@") { // which an id cannot contain
		w.line("    id: step %d", number)
	}
	switch {
	case t.onAsk != "":
		w.commented("    # ", "on: "+t.on, "", t.onAsk)
	case t.on != "":
		w.commented("    ", "on: "+t.on, t.onWhy, "")
	}
	w.line("    attributes:")
	for _, l := range t.links {
		w.link("      ", l)
	}
	w.listed("      # without a column", t.missing)
}

// oneLine makes a name from a file safe for a comment: one line, without invisible characters.
func oneLine(s string) string {
	seen := func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}
	return strings.Join(strings.Fields(strings.Map(seen, problem.OneLine(s))), " ")
}

// Suggestion is a value of the proposal by itself, for a mapping that exists already.
type Suggestion struct {
	// Path is where the value goes in the mapping file: client, fields, email. For an
	// attribute it is nil, and Template and Attribute say what is filled.
	Path                []string
	Template, Attribute string

	Value  json.RawMessage // as the mapping file would have it: a column's header, or an object
	Column string          // the header of its column; "" for several that are joined
	Reason string          // why, and how sure that is; it may be ""
	Ask    string          // what a person has to decide; "" when it is sure
}

// Suggestions returns what the proposal fills, each value by itself: the client's key, look-up and fields, and the attributes of
// the service's templates.
func (p *Proposal) Suggestions() []Suggestion {
	list := []Suggestion{{Path: []string{"client", "key"}, Value: json.RawMessage(quoteJSON(p.key.name)), Column: p.key.name,
		Reason: p.keyWhy, Ask: "does it identify a client?"}}
	add := func(s Suggestion, l link) {
		s.Value, s.Reason, s.Ask = json.RawMessage(l.value.written(quoteJSON)), l.why, l.ask
		if l.value.column != nil {
			s.Column = l.value.column.name
		}
		list = append(list, s)
	}
	for _, l := range p.lookup {
		add(Suggestion{Path: []string{"client", "lookup", l.to}}, l)
	}
	for _, l := range p.fields {
		add(Suggestion{Path: []string{"client", "fields", l.to}}, l)
	}
	for _, t := range slices.Concat(p.live, p.rest) {
		for _, l := range t.links {
			if l.value.column == nil || l.value.column.each == nil { // those of a wide sheet need its claims too
				add(Suggestion{Template: t.name, Attribute: l.to}, l)
			}
		}
	}
	return list
}

func quoteJSON(s string) string { return string(cell.QuoteJSON(s)) }
