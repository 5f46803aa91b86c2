package mapping

import (
	"math"
	"strings"
	"time"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// language is the language of mapping files: the tables of keys below.
var language = yamltree.Language[Mapping]{
	Title: "Claimsheet mapping", Name: "the mapping", Expected: "a mapping",
	Keys: mappingKeys,
	Defs: map[string]yamltree.Schema{
		"value": {"anyOf": []yamltree.Schema{yamltree.Text.Schema, yamltree.Object(valueKeys).Schema}},
	},
}

// Schema is the JSON Schema (2020-12) of mapping files, for editors. It knows
// less than Parse: what depends on another key, on a sheet or on a service is
// left to that.
func Schema() []byte { return language.Schema() }

var (
	text = yamltree.InPlace(yamltree.Text)
	// expressionText is placed at its first character, after the quote.
	expressionText = text.Then(func(_ *yamltree.Reader, n *yamltree.Node, s *yamltree.Scalar) {
		if n.IsQuoted() {
			s.At.Column++
		}
	})
)

var mappingKeys = []yamltree.Key[Mapping]{
	yamltree.To("name", "the mapping's name: the scope of its claims and activities in the ledger",
		text, func(m *Mapping) *yamltree.Scalar { return &m.Name }).Required(),
	yamltree.To("api", "the version of the interface: v1 or v2",
		version, func(m *Mapping) *yamltree.Scalar { return &m.API }).Required(),
	yamltree.To("claim_type", "an entry of the environment's claim_types",
		text, func(m *Mapping) *yamltree.Scalar { return &m.ClaimType }),
	yamltree.To("sheet", "how the sheet is laid out",
		yamltree.Object(sheetKeys), func(m *Mapping) *SheetRule { return &m.Sheet }),
	yamltree.To("client", "which rows make one client, and what it is made of",
		clientRule.Placed(func(c *ClientRule) *yamltree.Place { return &c.At }),
		func(m *Mapping) *ClientRule { return &m.Client }).Required(),
	yamltree.To("contacts", "further people of a client's claims, such as a partner or a broker (v2); their ids are in the results' column contacts",
		yamltree.List(yamltree.Object(contactKeys).Placed(func(c *ContactRule) *yamltree.Place { return &c.At })),
		func(m *Mapping) *[]ContactRule { return &m.Contacts }),
	yamltree.To("claims", "the claims that each row of a client yields (v2)",
		yamltree.List(yamltree.Object(claimKeys).Placed(func(c *ClaimRule) *yamltree.Place { return &c.At })),
		func(m *Mapping) *[]ClaimRule { return &m.Claims }),
	yamltree.To("workflow", "the workflow name and template identifier of the activities (v2)",
		yamltree.Object(workflowKeys), func(m *Mapping) *WorkflowRule { return &m.Workflow }),
	yamltree.To("link", "which clients get a magic link (v2): once (default), after everything else; on_new_claim, a fresh one after a new claim too; never",
		yamltree.OneOf(LinkOnce, LinkOnNewClaim, LinkNever), func(m *Mapping) *LinkRule { return &m.Link }).
		Note(func(n *yamltree.Node, m *Mapping) { m.LinkAt = n.At() }),
	yamltree.To("resume_at", "the activity at which the client resumes: a template's name, or {column: …}",
		resume, func(m *Mapping) *ResumeRule { m.ResumeAt = new(ResumeRule); return m.ResumeAt }),
	yamltree.To("activities", "the activities, in workflow order",
		// An activity without a template is reported where the activity begins.
		yamltree.List(yamltree.Object(activityKeys).Placed(func(a *ActivityRule) *yamltree.Place { return &a.Template.At })),
		func(m *Mapping) *[]ActivityRule { return &m.Activities }),
}

// version is v1 or v2. No other text is read as one of them, because each is as
// near to the one as to the other.
var version = yamltree.InPlace(yamltree.OneOf("v1", "v2")).Then(func(_ *yamltree.Reader, n *yamltree.Node, s *yamltree.Scalar) {
	if s.Text != n.Text() {
		s.Text = ""
	}
})

// textOr is an object, or a text that stands for one of its fields alone. wants says
// what is expected, in messages.
func textOr[T any](object yamltree.Value[T], wants string, field func(*T) *yamltree.Scalar) yamltree.Value[T] {
	return yamltree.Value[T]{
		Kinds: yamltree.Scalars | yamltree.Objects, Wants: wants,
		Schema: yamltree.Schema{"anyOf": []yamltree.Schema{yamltree.Text.Schema, object.Schema}},
		Parse: func(r *yamltree.Reader, n *yamltree.Node, into *T) bool {
			if n.Kind() == yamltree.Objects {
				return object.Read(r, n, into)
			}
			return text.Read(r, n, field(into))
		},
	}
}

var resume = textOr(yamltree.Object(resumeKeys), "a text or {column: …}", func(r *ResumeRule) *yamltree.Scalar { return &r.Template })

var resumeKeys = []yamltree.Key[ResumeRule]{
	yamltree.To("column", "the column that holds the template's name",
		text, func(r *ResumeRule) *yamltree.Scalar { return &r.Column }).Required(),
}

var sheetKeys = []yamltree.Key[SheetRule]{
	yamltree.To("name", "the sheet's name; default: the first visible sheet",
		text, func(s *SheetRule) *yamltree.Scalar { return &s.Name }),
	yamltree.To("header_row", "the row that holds the headers; default 1",
		yamltree.Int(1, math.MaxInt), func(s *SheetRule) *int { return &s.HeaderRow }).
		Note(func(_ *yamltree.Node, s *SheetRule) { s.HeaderRowGiven = true }),
	yamltree.To("timezone", "the zone of date-times without one, e.g. Europe/London",
		timezone, func(s *SheetRule) *yamltree.Scalar { return &s.Timezone }),
	yamltree.To("numbers", "how numbers look in text cells: {decimal, group}",
		yamltree.Object(numberKeys).Then(checkNumbers), func(s *SheetRule) *convert.Numbers { return &s.Numbers }),
	yamltree.To("empty", "texts that count as empty, in keys too, e.g. [N/A, n/a, \"-\", TBC]; upper and lower case differ",
		yamltree.OneOrMore(text), func(s *SheetRule) *[]yamltree.Scalar { return &s.Empty }),
	yamltree.To("fill_down", "columns whose empty cells take the one above, as under merged cells, e.g. [Client, E-mail]; a new value in one of them ends what those after it take",
		yamltree.OneOrMore(text), func(s *SheetRule) *[]yamltree.Scalar { return &s.FillDown }),
	yamltree.To("when", "an expression that says which rows to take",
		expressionText, func(s *SheetRule) *yamltree.Scalar { return &s.When }),
	yamltree.To("encoding", "how a .csv file without a byte order mark is written: utf-8 (default) or windows-1252",
		yamltree.OneOf("utf-8", "windows-1252"), func(s *SheetRule) *string { return &s.Encoding }),
	yamltree.To("delimiter", "what separates the fields of a .csv file: \",\", \";\" or tab; default: detected from its header",
		delimiter, func(s *SheetRule) *string { return &s.Delimiter }),
}

// timezone is a name of the IANA list.
var timezone = text.Then(func(r *yamltree.Reader, n *yamltree.Node, s *yamltree.Scalar) {
	if _, err := time.LoadLocation(s.Text); err != nil || s.Text == "Local" {
		hint := "write a name of the IANA list, such as Europe/London or UTC"
		if strings.ContainsAny(s.Text, "+-0123456789") {
			hint = "an offset knows no summer time: write a place of the IANA list, such as Europe/London"
		}
		r.Wrong(n, "unknown-timezone", "“%s” is not a timezone", problem.Shorten(s.Text)).Hint = hint
		s.Text = ""
	}
})

// delimiter separates the fields of a CSV file. A tab may be written as a word
// or as the character.
var delimiter = yamltree.Parsed("a text", yamltree.Text.Schema, func(r *yamltree.Reader, n *yamltree.Node) (string, bool) {
	switch n.Text() {
	case ",", ";", "\t":
		return n.Text(), true
	case "tab":
		return "\t", true
	}
	r.Wrong(n, "unknown-value", "%s cannot be “%s”", n.Name(), problem.Shorten(n.Text())).Hint = `expected ",", ";" or tab`
	return "", false
})

var numberKeys = []yamltree.Key[convert.Numbers]{
	yamltree.To("decimal", "the decimal separator; default .",
		yamltree.Text, func(s *convert.Numbers) *string { return &s.Decimal }),
	yamltree.To("group", "the separator between groups of three digits, \"\" for none; default , or none where decimal is ,",
		yamltree.AnyText, func(s *convert.Numbers) *string { return &s.Group }),
}

// checkNumbers refuses a notation in which a number could be read in two ways: a
// thousand would be read as one.
func checkNumbers(r *yamltree.Reader, n *yamltree.Node, s *convert.Numbers) {
	if n.Given("group") == nil && s.Group == s.Decimal {
		s.Group = "" // the default, which decimal takes
	}
	for _, m := range s.Check() {
		r.Wrong(n.Given(m.Option), "number-separator", "%s", m.Message).Hint = m.Hint
	}
}

// clientRule is a client, whose ids from elsewhere are its keys where it has no others.
var clientRule = yamltree.Object(clientKeys).Then(func(r *yamltree.Reader, n *yamltree.Node, c *ClientRule) {
	switch {
	case n.Given("key") != nil || n.IsNull():
	case n.Given("known_id") == nil:
		r.Wrong(n, "missing-key", "%s needs “key”: the column or columns that identify a client", n.Name())
	case c.KnownID.Text != "":
		c.Key = []yamltree.Scalar{c.KnownID}
	}
})

var clientKeys = append([]yamltree.Key[ClientRule]{
	yamltree.To("key", "the column or columns that identify a client; default: known_id, if that is always filled, which then needs no lookup",
		yamltree.OneOrMore(text), func(c *ClientRule) *[]yamltree.Scalar { return &c.Key }),
	yamltree.To("known_id", "the column with a client's id known from elsewhere: that client is taken over without a request, whatever existing and key say. To withdraw a wrong id, empty the cell and run claimsheet settle --undo KEY:client",
		text, func(c *ClientRule) *yamltree.Scalar { return &c.KnownID }),
	yamltree.To("existing", "what to do with a client that the service knows: reuse, skip, fail or create; default reuse",
		yamltree.OneOf(Reuse, Skip, Fail, Create), func(c *ClientRule) *Existing { return &c.Existing }),
	yamltree.To("existing_activities", "whether a client who was found, not created, gets the activities on the client: send (default) or skip",
		yamltree.OneOf("send", "skip"), func(c *ClientRule) *string { return &c.ExistingActivities }).
		Note(func(n *yamltree.Node, c *ClientRule) { c.ActivitiesAt = n.At() }),
}, personKeys(func(c *ClientRule) *PersonRule { return &c.PersonRule })...)

// personKeys are the keys that the client and the contacts have in common.
func personKeys[T any](rule func(*T) *PersonRule) []yamltree.Key[T] {
	return []yamltree.Key[T]{
		yamltree.To("key_space", "the key space, for mappings that share people; default: the mapping's name, for a contact with the entry's id. A key that is a look-up's column is shared anyway",
			text, func(t *T) *yamltree.Scalar { return &rule(t).KeySpace }),
		yamltree.To("lookup", "how the person is looked up in the service: {email, phone, mode}",
			yamltree.Object(lookupKeys).Placed(func(l *LookupRule) *yamltree.Place { return &l.At }),
			func(t *T) *LookupRule { return &rule(t).Lookup }),
		yamltree.To("administrator", "make the contact an administrator (v2); default true. With false, a person who administers claims in another row is refused",
			yamltree.Bool, func(t *T) *bool { return &rule(t).Administrator }).
			Note(func(n *yamltree.Node, t *T) { rule(t).AdministratorAt = n.At() }),
		yamltree.To("fields", "the fields of the create payload; a dotted name makes a nested object (address.postcode). A contact with several roles gets the fields of the first row; rows with other values are changed",
			payloadFields, func(t *T) *[]FieldRule { return &rule(t).Fields }).Required(),
	}
}

// payloadFields are the fields of the payload that creates a person. One without fields
// would create somebody about whom nothing is known.
var payloadFields = yamltree.NonEmpty(yamltree.Pairs(value, func(name yamltree.Scalar, v ValueRule) FieldRule { return FieldRule{name, v} }))

var lookupKeys = []yamltree.Key[LookupRule]{
	yamltree.To("email", "the column that holds the e-mail address, read as an Email",
		value, func(l *LookupRule) *ValueRule { l.Email = new(ValueRule); return l.Email }),
	yamltree.To("phone", "the column that holds the phone number, read as a Phone; give a region if numbers have no +",
		value, func(l *LookupRule) *ValueRule { l.Phone = new(ValueRule); return l.Phone }),
	yamltree.To("mode", "with both: first (default), by phone only if the row has no e-mail address; either, also if the address is not found; both, the client fails if they disagree",
		yamltree.OneOf("first", LookupEither, LookupBoth).Then(func(_ *yamltree.Reader, _ *yamltree.Node, mode *LookupMode) {
			if *mode == "first" {
				*mode = ""
			}
		}), func(l *LookupRule) *LookupMode { return &l.Mode }),
}

var claimKeys = []yamltree.Key[ClaimRule]{
	yamltree.To("id", "a short name for the entry; default claim",
		text, func(c *ClaimRule) *yamltree.Scalar { return &c.ID }),
	yamltree.To("key", "the column or columns that identify a claim of a client",
		yamltree.OneOrMore(text), func(c *ClaimRule) *[]yamltree.Scalar { return &c.Key }).Required(),
	yamltree.To("known_id", "the column with a claim's id known from elsewhere: that claim is taken over without a request",
		text, func(c *ClaimRule) *yamltree.Scalar { return &c.KnownID }),
	yamltree.To("name", "the claim's name, a text with {Column}, or {text: …, values: {…}}; the names of one client's claims must differ",
		claimName, func(c *ClaimRule) *ClaimRule { return c }).Required(),
	yamltree.To("create", "when the claim is created: when_needed (default: before its first activity) or first (before all activities)",
		yamltree.OneOf("when_needed", "first"), func(c *ClaimRule) *string { return &c.Create }),
	yamltree.To("administrator", "which contact administers the claim: client (default), the id of a contacts entry, or {id: env:NAME} for any other",
		administrator, func(c *ClaimRule) *AdministratorRule { return &c.Administrator }),
	yamltree.To("claimants", "the claim's claimants: client, and ids of contacts entries; default [client]. A contact whose when is false is left out",
		yamltree.OneOrMore(text), func(c *ClaimRule) *[]yamltree.Scalar { return &c.Claimants }),
	yamltree.To("when", "an expression that says which rows yield this claim",
		expressionText, func(c *ClaimRule) *yamltree.Scalar { return &c.When }),
	yamltree.To("columns", "aliases for wide sheets: a name and the column it stands for",
		yamltree.Map(yamltree.InPlace(yamltree.AnyText)), func(c *ClaimRule) *map[string]yamltree.Scalar { return &c.Columns }),
}

var administrator = textOr(yamltree.Object(administratorKeys), "client, the id of a contact, or {id: …}", func(r *AdministratorRule) *yamltree.Scalar { return &r.Contact })

var administratorKeys = []yamltree.Key[AdministratorRule]{
	yamltree.To("id", "where the contact's id stands, a UUID: env:NAME or file:PATH",
		contactReference, func(a *AdministratorRule) *yamltree.Scalar { return &a.ID }).Required(),
}

// contactReference is where a contact's id stands.
var contactReference = text.Then(func(r *yamltree.Reader, n *yamltree.Node, s *yamltree.Scalar) {
	scheme, name, _ := strings.Cut(n.Text(), ":")
	if scheme != "env" && scheme != "file" || strings.TrimSpace(name) == "" {
		r.Wrong(n, "literal-id", "%s must be env:NAME or file:PATH, not an id: ids differ from environment to environment", n.Name()).
			Hint = "put the id into an environment variable, e.g. id: env:BROKER_CONTACT"
		s.Text = ""
	}
})

var contactKeys = append([]yamltree.Key[ContactRule]{
	yamltree.To("id", "a short name, which claims use in administrator and claimants",
		text, func(c *ContactRule) *yamltree.Scalar { return &c.ID }).Required(),
	yamltree.To("when", "an expression that says which rows have such a contact",
		expressionText, func(c *ContactRule) *yamltree.Scalar { return &c.When }),
	yamltree.To("key", "the column or columns that identify the contact, also in rows of different clients",
		yamltree.OneOrMore(text), func(c *ContactRule) *[]yamltree.Scalar { return &c.Key }).Required(),
}, personKeys(func(c *ContactRule) *PersonRule { return &c.PersonRule })...)

// claimName is a text, or a text with a table for its cells.
var claimName = textOr(yamltree.Object(nameKeys), "a text or {text: …, values: {…}}", func(r *ClaimRule) *yamltree.Scalar { return &r.Name })

var nameKeys = []yamltree.Key[ClaimRule]{
	yamltree.To("text", "the claim's name, a text with {Column}",
		text, func(c *ClaimRule) *yamltree.Scalar { return &c.Name }).Required(),
	yamltree.To("values", "a table of what a cell says and what the name says instead; other texts stay",
		yamltree.NonEmpty(yamltree.Map(yamltree.AnyText)), func(c *ClaimRule) *map[string]string { return &c.NameValues }),
}

var workflowKeys = []yamltree.Key[WorkflowRule]{
	yamltree.To("name", "workflowName; {Column}, {sheet} and {run.date} are replaced",
		text, func(w *WorkflowRule) *yamltree.Scalar { return &w.Name }),
	yamltree.To("template_identifier", "workflowTemplateIdentifier, replaced like name; default: the environment's",
		text, func(w *WorkflowRule) *yamltree.Scalar { return &w.TemplateIdentifier }),
}

var activityKeys = []yamltree.Key[ActivityRule]{
	yamltree.To("template", "the activity template's name, exactly as the service shows it",
		text, func(a *ActivityRule) *yamltree.Scalar { return &a.Template }).Required(),
	yamltree.To("id", "a short name for the entry; default: the template's name",
		text, func(a *ActivityRule) *yamltree.Scalar { return &a.ID }),
	yamltree.To("on", "whose activity it is: client (default), claim (each claim), or the id of an entry of claims or contacts. On a contact it is sent once, and is outside the clients' workflow, as with assigned",
		text, func(a *ActivityRule) *yamltree.Scalar { return &a.On }),
	yamltree.To("status", "Submitted (default), Accepted (v2) or Open",
		yamltree.OneOf(Submitted, Accepted, Open), func(a *ActivityRule) *Status { return &a.Status }).
		Note(func(n *yamltree.Node, a *ActivityRule) { a.StatusAt = n.At() }),
	yamltree.To("assigned", "the activity is not placed by the workflow; default false",
		yamltree.Bool, func(a *ActivityRule) *bool { return &a.Assigned }),
	yamltree.To("when", "an expression that says whether the activity is created",
		expressionText, func(a *ActivityRule) *yamltree.Scalar { return &a.When }),
	yamltree.To("workflow", "overrides the mapping's workflow for this activity (v2)",
		yamltree.Object(workflowKeys), func(a *ActivityRule) *WorkflowRule { return &a.Workflow }),
	yamltree.To("attributes", "the attributes, by the names of their templates",
		yamltree.Pairs(value, func(name yamltree.Scalar, v ValueRule) AttributeRule { return AttributeRule{name, v} }),
		func(a *ActivityRule) *[]AttributeRule { return &a.Attributes }),
}

// value is a value's source and options; a text alone is a column.
var value = yamltree.Value[ValueRule]{
	Kinds: yamltree.Scalars | yamltree.Objects, Wants: "a column or “key: value” pairs",
	Schema: yamltree.Ref("value"),
	At:     func(v *ValueRule) *yamltree.Place { return &v.At },
	Parse: func(r *yamltree.Reader, n *yamltree.Node, v *ValueRule) bool {
		if n.Kind() == yamltree.Scalars {
			return text.Read(r, n, &v.Column)
		}
		return yamltree.Object(valueKeys).Then(checkValue).Read(r, n, v)
	},
}

var valueKeys = []yamltree.Key[ValueRule]{
	yamltree.To("column", "the column that holds the value",
		text, func(v *ValueRule) *yamltree.Scalar { return &v.Column }),
	yamltree.To("value", "a constant",
		text, func(v *ValueRule) *yamltree.Scalar { return &v.Constant }).
		Note(func(_ *yamltree.Node, v *ValueRule) { v.hasConstant = true }),
	yamltree.To("text", "a text with {Column}; a warning says where a cell of it is empty",
		text, func(v *ValueRule) *yamltree.Scalar { return &v.Text }),
	yamltree.To("join", "columns whose texts are joined, without the empty ones",
		yamltree.OneOrMore(text), func(v *ValueRule) *[]yamltree.Scalar { return &v.Join }),
	yamltree.To("with", "what stands between the texts of join; default \", \"",
		yamltree.AnyText, func(v *ValueRule) *string { v.With = new(string); return v.With }),
	yamltree.To("first_of", "columns of which the first that is not empty is taken",
		yamltree.OneOrMore(text), func(v *ValueRule) *[]yamltree.Scalar { return &v.FirstOf }),
	yamltree.To("expr", "an expression",
		expressionText, func(v *ValueRule) *yamltree.Scalar { return &v.Expr }),
	yamltree.To("type", "the data type; default: the service's. Without any, the attribute is sent as Text with a warning, or refused if its cells are dates, numbers or booleans",
		yamltree.InPlace(yamltree.OneOf(typeNames()...)), func(v *ValueRule) *yamltree.Scalar { return &v.Type }),
	yamltree.To("format", "Date, DateTime: how text cells look, such as dd/mm/yyyy, made of d dd m mm mmm (Jan) mmmm (January) yy yyyy h hh mm (after h) ss AM/PM, or serial, a spreadsheet's number of days; or a list of such formats: a cell that two of them read differently is invalid. Phone: how it is sent, e164 (default), national, international or raw",
		yamltree.OneOrMore(text), func(v *ValueRule) *[]yamltree.Scalar { return &v.Formats }),
	yamltree.To("years", "the century of yy: past, up to the run's day, as for dates of birth; future, 2000 to 2099; default: 1930 to 2029, and days after the run's are invalid",
		yamltree.OneOf(convert.PastYears, convert.FutureYears), func(v *ValueRule) *convert.Years { return &v.Years }),
	yamltree.To("output", "how a Date is sent in a client field: date or datetime (default)",
		yamltree.InPlace(yamltree.OneOf("date", "datetime")), func(v *ValueRule) *yamltree.Scalar { return &v.Output }),
	yamltree.To("region", "the country of phone numbers without a country code, e.g. GB",
		text, func(v *ValueRule) *yamltree.Scalar { return &v.Region }),
	yamltree.To("percent", "text cells of a Number hold percentages: 5% is sent as 0.05, a text without the sign is invalid; default false",
		yamltree.Bool, func(v *ValueRule) *bool { return &v.Percent }),
	yamltree.To("checked", "the words that mean a ticked Checkbox",
		yamltree.OneOrMore(yamltree.Text), func(v *ValueRule) *[]string { return &v.Checked }),
	yamltree.To("unchecked", "the words that mean an unticked Checkbox",
		yamltree.OneOrMore(yamltree.Text), func(v *ValueRule) *[]string { return &v.Unchecked }),
	yamltree.To("values", "a table of what the cell says and what is sent for it",
		yamltree.Map(yamltree.AnyText), func(v *ValueRule) *map[string]string { return &v.Values }),
	yamltree.To("else", "what is sent for a cell that values does not list",
		yamltree.Text, func(v *ValueRule) *string { v.Else = new(string); return v.Else }),
	yamltree.To("default", "what is sent for an empty cell",
		text, func(v *ValueRule) *yamltree.Scalar { v.Default = new(yamltree.Scalar); return v.Default }),
	yamltree.To("required", "an empty cell is an error; default false",
		yamltree.Bool, func(v *ValueRule) *bool { return &v.Required }),
	yamltree.To("max_length", "the most characters that the value may have",
		yamltree.Int(1, math.MaxInt), func(v *ValueRule) *int { return &v.MaxLength }),
}

func checkValue(r *yamltree.Reader, n *yamltree.Node, v *ValueRule) {
	checkBraces(r.WrongAt, v.Text)
	if t, err := parseTemplateText(v.Constant.Text); err != nil || len(t.names()) > 0 {
		r.WrongAt(v.Constant.At, "braces", "the constant “%s” has braces, and nothing replaces them", problem.Shorten(v.Constant.Text)).
			Hint = "write text in place of value: there {Column} is replaced by the cell's text, and {{ and }} are braces"
	}
	if given := v.sources(); len(given) != 1 {
		has := ""
		if len(given) > 1 {
			has = " has " + strings.Join(given, " and ") + "; it"
		}
		r.Wrong(n, "value-source", "%s%s needs exactly one of "+valueSources, n.Name(), has)
	}
	if v.With != nil && len(v.Join) == 0 {
		r.Wrong(n.Given("with"), "wrong-option", "with is what stands between the texts of join, and %s has no join", n.Name()).
			Hint = "write join: [A, B] in place of the other source, or leave with out"
	}
	if v.Else != nil && strings.EqualFold(*v.Else, "error") {
		r.Wrong(n.Given("else"), "no-effect", "else is what is sent for a cell that values does not list, and it would be the word “%s”", *v.Else).
			Hint = "leave else out: such a cell is an error then"
	}
	if v.Required && v.Default != nil {
		r.Wrong(n, "required-default", "%s is required and has a default; an empty cell cannot be both", n.Name())
	}
}

// valueSources are the keys of the sources, in messages.
const valueSources = "column, value, text, join, first_of and expr"

// sources returns the keys of the sources that a value names.
func (v *ValueRule) sources() (keys []string) {
	given := []bool{v.Column.Text != "", v.hasConstant, v.Text.Text != "", len(v.Join) > 0, len(v.FirstOf) > 0, v.Expr.Text != ""}
	for i, key := range []string{"column", "value", "text", "join", "first_of", "expr"} {
		if given[i] {
			keys = append(keys, key)
		}
	}
	return keys
}

func typeNames() (names []string) {
	for _, t := range append(convert.AttributeTypes(), convert.Email, convert.Phone) {
		names = append(names, string(t))
	}
	return names
}
