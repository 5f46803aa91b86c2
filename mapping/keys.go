package mapping

import (
	"time"

	"go.yaml.in/yaml/v4"
)

// The tables below are the language of mapping files.

var mappingFields = []field[Mapping]{
	{"name", "the mapping's name: the scope of its claims and activities in the ledger", true,
		func(p *parser, n *yaml.Node, m *Mapping) { m.Name = p.word(n, "name") }},
	{"api", "the version of the interface: v1 or v2", true,
		func(p *parser, n *yaml.Node, m *Mapping) {
			if m.API = p.oneOf(n, "api", "v1", "v2"); m.API.Text != n.Value {
				m.API.Text = "" // every other version is as near to the one as to the other
			}
		}},
	{"claim_type", "an entry of the environment's claim_types", false,
		func(p *parser, n *yaml.Node, m *Mapping) { m.ClaimType = p.word(n, "claim_type") }},
	{"sheet", "how the sheet is laid out", false,
		func(p *parser, n *yaml.Node, m *Mapping) { object(p, n, "sheet", &m.Sheet, sheetFields) }},
	{"client", "which rows make one client, and what it is made of", true,
		func(p *parser, n *yaml.Node, m *Mapping) {
			m.Client.At = place(n)
			object(p, n, "client", &m.Client, clientFields)
		}},
	{"claims", "the claims that each row of a client yields (v2)", false,
		func(p *parser, n *yaml.Node, m *Mapping) {
			p.items(n, "claims", func(item *yaml.Node) {
				c := ClaimRule{At: place(item)}
				object(p, item, "a claims entry", &c, claimFields)
				m.Claims = append(m.Claims, c)
			})
		}},
	{"workflow", "the workflow name and template identifier of the activities (v2)", false,
		func(p *parser, n *yaml.Node, m *Mapping) { object(p, n, "workflow", &m.Workflow, workflowFields) }},
	{"resume_at", "the activity at which the client resumes: a template's name or {column: …}", false, readResume},
	{"activities", "the activities, in workflow order", false,
		func(p *parser, n *yaml.Node, m *Mapping) {
			p.items(n, "activities", func(item *yaml.Node) {
				a := ActivityRule{Template: Word{At: place(item)}} // should it lack one
				object(p, item, "an activity", &a, activityFields)
				m.Activities = append(m.Activities, a)
			})
		}},
}

var sheetFields = []field[SheetRule]{
	{"name", "the sheet's name; default: the first visible sheet", false,
		func(p *parser, n *yaml.Node, s *SheetRule) { s.Name = p.word(n, "sheet.name") }},
	{"header_row", "the row that holds the headers; default 1", false,
		func(p *parser, n *yaml.Node, s *SheetRule) {
			s.HeaderRow, s.HeaderRowGiven = p.count(n, "sheet.header_row", 1), true
		}},
	{"timezone", "where date-times without a zone were written down, e.g. Europe/London", false, readTimezone},
	{"ambiguous_times", "a time that came twice because the clocks went back: refuse (default) or earlier", false, readAmbiguousTimes},
	{"numbers", "how numbers look in text cells: {decimal, group}", false, readNumbers},
	{"when", "an expression that tells which rows to take", false,
		func(p *parser, n *yaml.Node, s *SheetRule) { s.When = p.expression(n, "sheet.when") }},
	{"hidden_rows", "rows that are hidden in the workbook: take (default) or skip", false,
		func(p *parser, n *yaml.Node, s *SheetRule) {
			s.SkipHidden = p.oneOf(n, "sheet.hidden_rows", "take", "skip").Text == "skip"
		}},
	{"encoding", "how a .csv file without a byte order mark is written: utf-8 (default) or windows-1252", false,
		func(p *parser, n *yaml.Node, s *SheetRule) {
			s.Encoding = p.oneOf(n, "sheet.encoding", "utf-8", "windows-1252").Text
		}},
	{"delimiter", "what parts the fields of a .csv file: \",\", \";\" or tab; default: told by its header", false,
		func(p *parser, n *yaml.Node, s *SheetRule) { s.Delimiter = p.delimiter(n) }},
}

var clientFields = []field[ClientRule]{
	{"key", "the column or columns that tell one client from another", true,
		func(p *parser, n *yaml.Node, c *ClientRule) { c.Key = p.words(n, "client.key") }},
	{"key_space", "what the key is a key of, for mappings that share it; default: the mapping's name. No matter where the key is the column of a look-up: such clients are the same in all mappings", false,
		func(p *parser, n *yaml.Node, c *ClientRule) { c.KeySpace = p.word(n, "client.key_space") }},
	{"existing", "what to do with a client whom the service knows: reuse, skip, fail or create; default reuse", false,
		func(p *parser, n *yaml.Node, c *ClientRule) {
			c.Existing = Existing(p.oneOf(n, "client.existing", "reuse", "skip", "fail", "create").Text)
		}},
	{"lookup", "how the service is asked for the client: {email, phone, confirm}", false,
		func(p *parser, n *yaml.Node, c *ClientRule) {
			c.Lookup.At = place(n)
			object(p, n, "client.lookup", &c.Lookup, lookupFields)
		}},
	{"administrator", "make contacts administrators (v2); default true", false,
		func(p *parser, n *yaml.Node, c *ClientRule) {
			c.Administrator, c.AdministratorAt = p.boolean(n, "client.administrator"), place(n)
		}},
	{"fields", "the fields of the create payload; a dotted name makes a nested object (address.postcode), and a part that is a number is a place in an array, counted from 0 (phones.0.number); an element of which every cell is empty is left out", true,
		func(p *parser, n *yaml.Node, c *ClientRule) {
			if !p.isKind(n, yaml.MappingNode, "client.fields", "a list of name: column pairs") {
				return
			}
			for key, value := range p.pairs(n, "client.fields") {
				c.Fields = append(c.Fields, FieldRule{Word{key.Value, place(key)}, p.value(value, key.Value)})
			}
		}},
}

var lookupFields = []field[LookupRule]{
	{"email", "the column that holds the e-mail address", false,
		func(p *parser, n *yaml.Node, l *LookupRule) { v := p.value(n, "lookup.email"); l.Email = &v }},
	{"phone", "the column that holds the phone number", false,
		func(p *parser, n *yaml.Node, l *LookupRule) { v := p.value(n, "lookup.phone"); l.Phone = &v }},
	{"confirm", "ask both and fail the client where they disagree; default false", false,
		func(p *parser, n *yaml.Node, l *LookupRule) { l.Confirm = p.boolean(n, "lookup.confirm") }},
}

var claimFields = []field[ClaimRule]{
	{"id", "a short name for the entry; default claim", false,
		func(p *parser, n *yaml.Node, c *ClaimRule) { c.ID = p.word(n, "the id of a claims entry") }},
	{"key", "the column or columns that tell one claim of a client from another", true,
		func(p *parser, n *yaml.Node, c *ClaimRule) { c.Key = p.words(n, "the key of a claims entry") }},
	{"name", "the claim's name, a text with {Column}", true,
		func(p *parser, n *yaml.Node, c *ClaimRule) { c.Name = p.word(n, "the name of a claims entry") }},
	{"create", "when the claim is created: when_needed (default), just before the first activity that is on it, or first, before all activities", false,
		func(p *parser, n *yaml.Node, c *ClaimRule) {
			c.First = p.oneOf(n, "create", "when_needed", "first").Text == "first"
		}},
	{"when", "an expression that tells which rows yield this claim", false,
		func(p *parser, n *yaml.Node, c *ClaimRule) { c.When = p.expression(n, "the when of a claims entry") }},
	{"columns", "aliases for wide sheets: a name and the column it stands for", false,
		func(p *parser, n *yaml.Node, c *ClaimRule) { c.Columns = p.table(n, "columns") }},
}

var workflowFields = []field[WorkflowRule]{
	{"name", "workflowName; {Column}, {sheet} and {run.date} are replaced", false,
		func(p *parser, n *yaml.Node, w *WorkflowRule) { w.Name = p.word(n, "workflow.name") }},
	{"template_identifier", "workflowTemplateIdentifier; default: the environment's", false,
		func(p *parser, n *yaml.Node, w *WorkflowRule) {
			w.TemplateIdentifier = p.word(n, "workflow.template_identifier")
		}},
}

var activityFields = []field[ActivityRule]{
	{"template", "the activity template's name, exactly as the service shows it", true,
		func(p *parser, n *yaml.Node, a *ActivityRule) { a.Template = p.word(n, "template") }},
	{"id", "a short name for the entry; default: the template's name", false,
		func(p *parser, n *yaml.Node, a *ActivityRule) { a.ID = p.word(n, "the id of an activity") }},
	{"on", "whose activity it is: client (default), claim, or the id of a claims entry", false,
		func(p *parser, n *yaml.Node, a *ActivityRule) { a.On = p.word(n, "on") }},
	{"status", "Submitted (default), Accepted (v2) or Open", false,
		func(p *parser, n *yaml.Node, a *ActivityRule) {
			w := p.oneOf(n, "status", string(Submitted), string(Accepted), string(Open))
			a.Status, a.StatusAt = Status(w.Text), w.At
		}},
	{"assigned", "the activity is not placed by the workflow; default false", false,
		func(p *parser, n *yaml.Node, a *ActivityRule) { a.Assigned = p.boolean(n, "assigned") }},
	{"when", "an expression that tells whether the activity is made", false,
		func(p *parser, n *yaml.Node, a *ActivityRule) { a.When = p.expression(n, "the when of an activity") }},
	{"workflow", "overrides the mapping's workflow for this activity (v2)", false,
		func(p *parser, n *yaml.Node, a *ActivityRule) { object(p, n, "workflow", &a.Workflow, workflowFields) }},
	{"attributes", "the attributes, by the names of their templates", false,
		func(p *parser, n *yaml.Node, a *ActivityRule) {
			if !p.isKind(n, yaml.MappingNode, "attributes", "a list of name: column pairs") {
				return
			}
			for key, value := range p.pairs(n, "attributes") {
				a.Attributes = append(a.Attributes, AttributeRule{Word{key.Value, place(key)}, p.value(value, key.Value)})
			}
		}},
}

var resumeFields = []field[ResumeRule]{
	{"column", "the column that holds the template's name", true,
		func(p *parser, n *yaml.Node, r *ResumeRule) { r.Column = p.word(n, "resume_at.column") }},
}

func readResume(p *parser, n *yaml.Node, m *Mapping) {
	m.ResumeAt = &ResumeRule{}
	if n.Kind != yaml.MappingNode {
		m.ResumeAt.Template = p.word(n, "resume_at")
		return
	}
	object(p, n, "resume_at", m.ResumeAt, resumeFields)
}

func readAmbiguousTimes(p *parser, n *yaml.Node, s *SheetRule) {
	if p.oneOf(n, "sheet.ambiguous_times", "refuse", string(EarlierAmbiguous)).Text == string(EarlierAmbiguous) {
		s.AmbiguousTimes = EarlierAmbiguous
	}
}

func readTimezone(p *parser, n *yaml.Node, s *SheetRule) {
	s.Timezone = p.word(n, "sheet.timezone")
	if _, err := time.LoadLocation(s.Timezone.Text); err != nil || s.Timezone.Text == "Local" {
		p.wrong(n, "unknown-timezone", "“%s” is not a timezone", s.Timezone.Text).
			Hint = "write a name of the IANA list, such as Europe/London or UTC"
		s.Timezone.Text = ""
	}
}
