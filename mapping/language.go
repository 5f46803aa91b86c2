package mapping

import (
	"math"
	"slices"
	"strings"
	"time"

	"claimsheet/mapping/convert"
	"claimsheet/mapping/problem"
	"claimsheet/mapping/problem/yamltree"
)

// Mapping is a mapping file as it is written: with names, not ids, and with
// their places. Parse reads it; Bind finds its names in a sheet and a service.
type Mapping struct {
	File   string
	Digest string // SHA-256 of the file's bytes, in hex
	// Warnings report what is allowed but most likely a mistake.
	Warnings problem.List `json:"-"`

	ignored []string // see Ignores; folded

	Name       yamltree.Scalar // the scope of its claims and activities in the ledger
	API        yamltree.Scalar // v1 or v2
	ClaimType  yamltree.Scalar // "" for none
	Sheet      SheetRule
	Client     ClientRule
	Contacts   []PersonRule
	Claims     []ClaimRule
	Workflow   WorkflowRule
	Link       string         // which clients get a magic link; "" is linkOnce
	LinkAt     yamltree.Place // zero when the mapping leaves the key link out
	ResumeAt   *ResumeRule    // nil when the mapping sets the statuses itself
	Activities []ActivityRule
}

func mappingKeys(k *yamltree.Keys, m *Mapping) {
	yamltree.To(k, "name", &m.Name, text, "the mapping's name: the scope of its claims and activities in the ledger").Required()
	yamltree.To(k, "api", &m.API, version, "the version of the interface: v1 or v2").Required()
	yamltree.To(k, "claim_type", &m.ClaimType, text, "an entry of the environment's claim_types")
	yamltree.To(k, "sheet", &m.Sheet, yamltree.Object(sheetKeys), "how the sheet is laid out")
	yamltree.To(k, "client", &m.Client, clientRule.Placed(func(c *ClientRule) *yamltree.Place { return &c.At }),
		"which rows make one client, and what it is made of").Required()
	yamltree.To(k, "contacts", &m.Contacts, yamltree.List(yamltree.Object(contactKeys).Placed(func(c *PersonRule) *yamltree.Place { return &c.At })),
		"further people of a client's claims, such as a partner or a broker (v2); their ids are in the results' column contacts")
	yamltree.To(k, "claims", &m.Claims, yamltree.List(yamltree.Object(claimKeys).Placed(func(c *ClaimRule) *yamltree.Place { return &c.At })),
		"the claims that each row of a client yields (v2)")
	yamltree.To(k, "workflow", &m.Workflow, yamltree.Object(workflowKeys), "the workflow name and template identifier of the activities (v2)")
	yamltree.To(k, "link", &m.Link, yamltree.OneOf(linkOnce, LinkOnNewClaim, LinkNever).Placed(func(*string) *yamltree.Place { return &m.LinkAt }),
		"which clients get a magic link (v2): once (default), after everything else; on_new_claim, a fresh one after a new claim too; never")
	yamltree.ToNew(k, "resume_at", &m.ResumeAt, resume,
		"the activity at which the client resumes, whatever its when says: a template's name, or {column: …}")
	// An activity without a template is reported where the activity begins.
	yamltree.To(k, "activities", &m.Activities,
		yamltree.List(yamltree.Object(activityKeys).Placed(func(a *ActivityRule) *yamltree.Place { return &a.Template.At })),
		"the activities, in workflow order")
}

// language is the language of mapping files: the tables of keys here and below.
var language = yamltree.Language[Mapping]{
	Title: "Claimsheet mapping", Name: "the mapping", Expected: "a mapping", Keys: mappingKeys,
	Defs: map[string]yamltree.Schema{"value": valueOrColumn.Schema},
}

// Schema is the JSON Schema (2020-12) of mapping files, for editors. It knows
// less than Parse: what depends on another key, on a sheet or on a service is
// left to that.
func Schema() []byte { return language.Schema() }

var (
	text  = yamltree.InPlace(yamltree.Text)
	texts = yamltree.OneOrMore(text)
	// expressionText is placed at its first character, after the quote.
	expressionText = text.Then(func(_ *yamltree.Reader, n *yamltree.Node, s *yamltree.Scalar) {
		if n.IsQuoted() {
			s.At.Column++
		}
	})
	// template is a text with {Column}.
	template = text.Then(func(r *yamltree.Reader, _ *yamltree.Node, s *yamltree.Scalar) {
		if _, err := parseTemplate(s.Text); err != nil {
			r.WrongAt(s.At, "braces", "%s", err.Error()).Hint = "{Column} is replaced by the cell's text; {{ and }} are braces"
		}
	})
)

// version is v1 or v2. No other text is read as one of them, because each is as near to the one as to the other.
var version = yamltree.InPlace(yamltree.OneOf("v1", "v2")).Then(func(_ *yamltree.Reader, n *yamltree.Node, s *yamltree.Scalar) {
	if s.Text != n.Text() {
		s.Text = ""
	}
})

// V1 reports whether the mapping is for version 1 of the interface.
func (m *Mapping) V1() bool { return m.API.Text == "v1" }

// people returns the client and the contacts. In a Binding they are the first parts.
func (m *Mapping) people() []*PersonRule {
	list := []*PersonRule{&m.Client.PersonRule}
	for i := range m.Contacts {
		list = append(list, &m.Contacts[i])
	}
	return list
}

// person returns the index among the people of the one with an id; -1 for none.
func (m *Mapping) person(id string) int {
	return slices.IndexFunc(m.people(), func(p *PersonRule) bool { return p.ID.Text == id })
}

// ContactReferences are the places from which the claims take the ids of contacts that the environment has, each once.
func (m *Mapping) ContactReferences() []yamltree.Scalar {
	var list []yamltree.Scalar
	for _, c := range m.Claims {
		id := c.AdministratorID
		if id.Text != "" && !slices.ContainsFunc(list, func(s yamltree.Scalar) bool { return s.Text == id.Text }) {
			list = append(list, id)
		}
	}
	return list
}

// InventPhone returns what invents numbers in the format and region of the look-up by phone:
// the client's, or else the first contact's. It is nil where the mapping has none.
func (m *Mapping) InventPhone() func() string {
	if m == nil {
		return nil
	}
	for _, p := range m.people() {
		if phone := p.Lookup.Phone; phone != nil {
			return func() string { return convert.InventPhone(phone.format().Text, phone.Region.Text) }
		}
	}
	return nil
}

// FillDown returns the columns whose empty cells take the one above.
func (m *Mapping) FillDown() []string {
	if m == nil {
		return nil
	}
	return scalarTexts(m.Sheet.FillDown)
}

// At is a place of the mapping file, for a problem.
func (m *Mapping) At(p yamltree.Place) problem.Where {
	return p.In(m.File)
}

// clientRole is the word by which activities and claims name the client.
const clientRole = "client"

// The values of link.
const (
	linkOnce       = "once"
	LinkOnNewClaim = "on_new_claim" // a client who has one gets another after a new claim
	LinkNever      = "never"
)

// SheetRule says how the sheet is laid out and which of its rows are taken.
type SheetRule struct {
	Name      yamltree.Scalar // "" = the first visible sheet
	HeaderRow int             // 1-based; default 1
	Timezone  yamltree.Scalar // an IANA name; "" when no DateTime needs one
	Numbers   convert.Numbers
	When      yamltree.Scalar   // an expression; "" takes every row
	Empty     []yamltree.Scalar // texts of cells that count as empty, in this case, after the cell is trimmed
	FillDown  []yamltree.Scalar // columns whose empty cells take the one above
	Encoding  string            // of a CSV file without a byte order mark: utf-8 or windows-1252; "" = utf-8
	Delimiter string            // of a CSV file: a comma, a semicolon or a tab; "" = detected from the header
}

func sheetKeys(k *yamltree.Keys, s *SheetRule) {
	yamltree.To(k, "name", &s.Name, text, "the sheet's name; default: the first visible sheet")
	yamltree.To(k, "header_row", &s.HeaderRow, yamltree.Int(1, math.MaxInt), "the row that holds the headers; default 1")
	yamltree.To(k, "timezone", &s.Timezone, timezone, "the zone of date-times without one, e.g. Europe/London")
	yamltree.To(k, "numbers", &s.Numbers, yamltree.Object(numberKeys).Then(checkNumbers), "how numbers look in text cells: {decimal, group}")
	yamltree.To(k, "empty", &s.Empty, texts,
		"texts that count as empty, in keys too, e.g. [N/A, n/a, \"-\", TBC]; upper and lower case differ")
	yamltree.To(k, "fill_down", &s.FillDown, texts,
		"columns whose empty cells take the one above, as under merged cells, e.g. [Client, E-mail]; a new value in one of them ends what those after it take")
	yamltree.To(k, "when", &s.When, expressionText, "an expression that says which rows to take")
	yamltree.To(k, "encoding", &s.Encoding, yamltree.OneOf("utf-8", "windows-1252"),
		"how a .csv file without a byte order mark is written: utf-8 (default) or windows-1252")
	yamltree.To(k, "delimiter", &s.Delimiter, delimiter,
		"what separates the fields of a .csv file: \",\", \";\" or tab; default: detected from its header")
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

// delimiter separates the fields of a CSV file. A tab may be written as a word or as the character.
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

func numberKeys(k *yamltree.Keys, s *convert.Numbers) {
	yamltree.To(k, "decimal", &s.Decimal, yamltree.Text, "the decimal separator; default .")
	yamltree.To(k, "group", &s.Group, yamltree.AnyText,
		"the separator between groups of three digits, \"\" for none; default , or none where decimal is ,")
}

// checkNumbers refuses a notation in which a number could be read in two ways: a thousand would be read as one.
func checkNumbers(r *yamltree.Reader, n *yamltree.Node, s *convert.Numbers) {
	if n.Given("group") == nil && s.Group == s.Decimal {
		s.Group = "" // the default, which decimal takes
	}
	if !s.IsClear() {
		r.Wrong(n, "number-separator", "decimal and group must be two different characters, and no digits, letters, signs or symbols").
			Hint = `write both, e.g. numbers: {decimal: ",", group: "."}; group: "" if numbers have no groups`
	}
}

// PersonRule is the client, or an entry of contacts, a further person of a client's claims: which
// rows make one, how it is looked up, and what its create payload holds.
type PersonRule struct {
	At              yamltree.Place
	ID              yamltree.Scalar // clientRole for the client
	When            yamltree.Scalar // an expression; "" takes every row, as for the client
	Key             []yamltree.Scalar
	KeySpace        yamltree.Scalar
	KnownID         yamltree.Scalar // of the client: the column with an id known from elsewhere; "" for none
	Lookup          LookupRule
	Administrator   bool           // v2: isAdministrator=true
	AdministratorAt yamltree.Place // zero when the mapping leaves the key out
	Fields          []FieldRule
}

// personKeys are the keys that the client and the contacts have in common.
func personKeys(k *yamltree.Keys, p *PersonRule) {
	yamltree.To(k, "key_space", &p.KeySpace, text,
		"the key space, for mappings that share people; default: the mapping's name, for a contact with the entry's id. A key that is a look-up's column is shared anyway")
	yamltree.To(k, "lookup", &p.Lookup, yamltree.Object(lookupKeys).Placed(func(l *LookupRule) *yamltree.Place { return &l.At }),
		"how the person is looked up in the service: {email, phone, mode}")
	yamltree.To(k, "administrator", &p.Administrator, yamltree.Bool.Placed(func(*bool) *yamltree.Place { return &p.AdministratorAt }),
		"make the contact an administrator (v2); default true. With false, the service may refuse the claims that this person administers in another row")
	yamltree.To(k, "fields", &p.Fields, payloadFields,
		"the fields of the create payload; a dotted name makes a nested object (address.postcode). A contact with several roles gets the fields of the first row; rows with other values are changed").Required()
}

// FieldRule is one field of a create payload, or one attribute of an activity.
type FieldRule struct {
	Name  yamltree.Scalar // in a payload, a dotted name makes a nested object
	Value ValueRule
}

var fields = yamltree.Pairs(value, func(name yamltree.Scalar, v ValueRule) FieldRule { return FieldRule{name, v} })

// payloadFields are the fields of the payload that creates a person. One without fields
// would create a person about whom nothing is known.
var payloadFields = fields.Then(func(r *yamltree.Reader, n *yamltree.Node, list *[]FieldRule) {
	if len(*list) == 0 {
		r.Wrong(n, "no-value", "%s must not be empty", n.Name()).Hint = "give at least one pair"
	}
})

// ClientRule is the client.
type ClientRule struct {
	PersonRule
	Existing string // what to do with a client that the service already has: Reuse, Skip, Fail or Create
	// ExistingActivities is “skip” when a client who was found, not created, gets no activities that are on the client.
	ExistingActivities string
}

func clientKeys(k *yamltree.Keys, c *ClientRule) {
	yamltree.To(k, "key", &c.Key, texts,
		"the column or columns that identify a client; default: known_id, if that is always filled, which then needs no lookup")
	yamltree.To(k, "known_id", &c.KnownID, text,
		"the column with a client's id known from elsewhere: that client is taken over without a request, whatever existing and key say. To withdraw a wrong id on which nothing was sent, empty the cell and run claimsheet settle --undo KEY:client")
	yamltree.To(k, "existing", &c.Existing, yamltree.OneOf(Reuse, Skip, Fail, Create),
		"what to do with a client that the service knows: reuse, skip, fail or create; default reuse")
	yamltree.To(k, "existing_activities", &c.ExistingActivities, yamltree.OneOf("send", "skip"),
		"whether a client who was found, not created, gets the activities on the client: send (default) or skip")
	personKeys(k, &c.PersonRule)
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

// The policies for a known client.
const (
	Reuse  = "reuse"  // use the known client
	Skip   = "skip"   // leave the client's rows out
	Fail   = "fail"   // the client's rows fail
	Create = "create" // do not ask; create
)

// LookupRule says how the service is asked for the client.
type LookupRule struct {
	At    yamltree.Place
	Email *ValueRule
	Phone *ValueRule
	// Mode says which look-ups find a client who may have an e-mail address and a phone number. “first”, also if it is not given: the
	// e-mail address decides, and the phone number only where a row has none.
	Mode string
}

func lookupKeys(k *yamltree.Keys, l *LookupRule) {
	yamltree.ToNew(k, "email", &l.Email, value, "the column that holds the e-mail address, read as an Email")
	yamltree.ToNew(k, "phone", &l.Phone, value, "the column that holds the phone number, read as a Phone; give a region if numbers have no +")
	yamltree.To(k, "mode", &l.Mode, yamltree.OneOf("first", LookupEither, LookupBoth),
		"with both: first (default), by phone only if the row has no e-mail address; either, also if the address is not found; both, the client fails if they disagree")
}

// The other modes of look-ups.
const (
	LookupEither = "either" // by phone also where the e-mail address finds nobody
	LookupBoth   = "both"   // by both; the client fails where they disagree
)

// asksByBoth reports whether a person with both addresses may be looked up by both.
func asksByBoth(mode string) bool { return mode == LookupEither || mode == LookupBoth }

// ClaimRule is one entry of claims: each row of a client yields one claim.
type ClaimRule struct {
	At      yamltree.Place
	ID      yamltree.Scalar // default "claim"
	Key     []yamltree.Scalar
	KnownID yamltree.Scalar // the column with an id known from elsewhere; "" for none
	Name    yamltree.Scalar // a text with {Column}

	NameValues    map[string]string          // replace the texts of the name's cells; a text that is not listed stays
	When          yamltree.Scalar            // an expression; "" takes every row
	Columns       map[string]yamltree.Scalar // aliases: a name → the column it stands for
	Create        string                     // “first”: before all activities, not just before the first that is on it
	Administrator yamltree.Scalar            // client (the default), or the id of a contacts entry
	// AdministratorID is where the id of a contact of the environment stands, env:NAME or file:PATH; set instead of Administrator.
	AdministratorID yamltree.Scalar
	Claimants       []yamltree.Scalar // client, or ids of contacts

	isLeftOut bool // by BindPart
}

func claimKeys(k *yamltree.Keys, c *ClaimRule) {
	c.ID.Text, c.Administrator.Text, c.Claimants = "claim", clientRole, []yamltree.Scalar{{Text: clientRole}}
	yamltree.To(k, "id", &c.ID, text, "a short name for the entry; default claim")
	yamltree.To(k, "key", &c.Key, texts, "the column or columns that identify a claim of a client").Required()
	yamltree.To(k, "known_id", &c.KnownID, text,
		"the column with a claim's id known from elsewhere: that claim is taken over without a request")
	yamltree.To(k, "name", c, claimName,
		"the claim's name, a text with {Column}, or {text: …, values: {…}}; the names of one client's claims must differ").Required()
	yamltree.To(k, "create", &c.Create, yamltree.OneOf("when_needed", "first"),
		"when the claim is created: when_needed (default: before its first activity) or first (before all activities)")
	yamltree.To(k, "administrator", c, administrator,
		"which contact administers the claim: client (default), the id of a contacts entry, or {id: env:NAME} for any other")
	yamltree.To(k, "claimants", &c.Claimants, texts,
		"the claim's claimants: client, and ids of contacts entries; default [client]. A contact whose when is false is left out")
	yamltree.To(k, "when", &c.When, expressionText, "an expression that says which rows yield this claim")
	yamltree.To(k, "columns", &c.Columns, yamltree.Map(yamltree.InPlace(yamltree.AnyText)),
		"aliases for wide sheets: a name and the column it stands for")
}

// claimName is a text, or a text with a table for its cells.
var claimName = yamltree.TextOr(template, func(r *ClaimRule) *yamltree.Scalar { return &r.Name }, yamltree.Object(nameKeys),
	"a text or {text: …, values: {…}}")

func nameKeys(k *yamltree.Keys, c *ClaimRule) {
	yamltree.To(k, "text", &c.Name, template, "the claim's name, a text with {Column}").Required()
	yamltree.To(k, "values", &c.NameValues, yamltree.Map(yamltree.AnyText),
		"a table of what a cell says and what the name says instead; other texts stay")
}

func administratorKeys(k *yamltree.Keys, c *ClaimRule) {
	c.Administrator.Text = ""
	yamltree.To(k, "id", &c.AdministratorID, contactReference, "where the contact's id stands, a UUID: env:NAME or file:PATH").Required()
}

var administrator = yamltree.TextOr(text, func(r *ClaimRule) *yamltree.Scalar { return &r.Administrator },
	yamltree.Object(administratorKeys), "client, the id of a contact, or {id: …}")

// contactReference is where a contact's id stands.
var contactReference = text.Then(func(r *yamltree.Reader, n *yamltree.Node, s *yamltree.Scalar) {
	scheme, name, _ := strings.Cut(n.Text(), ":")
	if scheme != "env" && scheme != "file" || strings.TrimSpace(name) == "" {
		r.Wrong(n, "literal-id", "%s must be env:NAME or file:PATH, not an id: ids differ from environment to environment", n.Name()).
			Hint = "put the id into an environment variable, e.g. id: env:BROKER_CONTACT"
		s.Text = ""
	}
})

func contactKeys(k *yamltree.Keys, c *PersonRule) {
	c.Administrator = true
	yamltree.To(k, "id", &c.ID, text, "a short name, which claims use in administrator and claimants").Required()
	yamltree.To(k, "when", &c.When, expressionText, "an expression that says which rows have such a contact")
	yamltree.To(k, "key", &c.Key, texts, "the column or columns that identify the contact, also in rows of different clients").Required()
	personKeys(k, c)
}

// WorkflowRule is the pair of fields that v2 activities carry.
type WorkflowRule struct {
	Name               yamltree.Scalar // a text with {Column}, {sheet}, {run.date}
	TemplateIdentifier yamltree.Scalar
}

func workflowKeys(k *yamltree.Keys, w *WorkflowRule) {
	yamltree.To(k, "name", &w.Name, template, "workflowName; {Column}, {sheet} and {run.date} are replaced")
	yamltree.To(k, "template_identifier", &w.TemplateIdentifier, template,
		"workflowTemplateIdentifier, replaced like name; default: the environment's")
}

// ResumeRule says at which activity the client resumes: a template's name, or a column that holds one.
type ResumeRule struct {
	Template yamltree.Scalar
	Column   yamltree.Scalar // set instead of Template
}

func resumeKeys(k *yamltree.Keys, r *ResumeRule) {
	yamltree.To(k, "column", &r.Column, text, "the column that holds the template's name").Required()
}

var resume = yamltree.TextOr(text, func(r *ResumeRule) *yamltree.Scalar { return &r.Template }, yamltree.Object(resumeKeys), "a text or {column: …}")

// ActivityRule is one activity of the list.
type ActivityRule struct {
	Template   yamltree.Scalar
	ID         yamltree.Scalar // default: the template's name
	On         yamltree.Scalar // client, claim, or the id of an entry of claims or contacts
	Status     string          // Submitted (the default), Accepted or Open
	StatusAt   yamltree.Place  // zero when the status is the default
	Assigned   bool
	When       yamltree.Scalar // an expression; "" always
	Workflow   WorkflowRule
	Attributes []FieldRule

	isLeftOut bool // by BindPart
}

func activityKeys(k *yamltree.Keys, a *ActivityRule) {
	yamltree.To(k, "template", &a.Template, text, "the activity template's name, exactly as the service shows it").Required()
	yamltree.To(k, "id", &a.ID, text, "a short name for the entry; default: the template's name")
	yamltree.To(k, "on", &a.On, text,
		"whose activity it is: client (default), claim (each claim), or the id of an entry of claims or contacts. On a contact it is sent once, and is outside the clients' workflow, as with assigned")
	yamltree.To(k, "status", &a.Status, yamltree.OneOf(Submitted, Accepted, Open).Placed(func(*string) *yamltree.Place { return &a.StatusAt }),
		"Submitted (default), Accepted (v2) or Open")
	yamltree.To(k, "assigned", &a.Assigned, yamltree.Bool, "the activity is not placed by the workflow; default false")
	yamltree.To(k, "when", &a.When, expressionText, "an expression that says whether the activity is created")
	yamltree.To(k, "workflow", &a.Workflow, yamltree.Object(workflowKeys), "overrides the mapping's workflow for this activity (v2)")
	yamltree.To(k, "attributes", &a.Attributes, fields, "the attributes, by the names of their templates")
}

// ValueRule is where a value comes from and how it is read: exactly one of
// Column, Constant, Text, Join, FirstOf and Expr.
type ValueRule struct {
	At       yamltree.Place
	Column   yamltree.Scalar
	Constant yamltree.Scalar
	Text     yamltree.Scalar
	Join     []yamltree.Scalar
	With     *string // stands between the texts of Join; nil is ", "
	FirstOf  []yamltree.Scalar
	Expr     yamltree.Scalar

	Type      yamltree.Scalar
	Formats   []yamltree.Scalar
	Output    yamltree.Scalar
	Region    yamltree.Scalar
	Years     string
	Percent   bool
	Checked   []string
	Unchecked []string
	Values    map[string]string
	Else      *string
	Default   *yamltree.Scalar
	Required  bool
	MaxLength int
}

func valueKeys(k *yamltree.Keys, v *ValueRule) {
	yamltree.To(k, "column", &v.Column, text, "the column that holds the value")
	yamltree.To(k, "value", &v.Constant, text, "a constant")
	yamltree.To(k, "text", &v.Text, template, "a text with {Column}; a warning says where a cell of it is empty")
	yamltree.To(k, "join", &v.Join, texts, "columns whose texts are joined, without the empty ones")
	yamltree.ToNew(k, "with", &v.With, yamltree.AnyText, "what stands between the texts of join; default \", \"")
	yamltree.To(k, "first_of", &v.FirstOf, texts, "columns of which the first that is not empty is taken")
	yamltree.To(k, "expr", &v.Expr, expressionText, "an expression")
	yamltree.To(k, "type", &v.Type, yamltree.InPlace(yamltree.OneOf(typeNames()...)),
		"the data type; default: the service's. Without any, the attribute is sent as Text with a warning, or refused if its cells are dates, numbers or booleans")
	yamltree.To(k, "format", &v.Formats, texts,
		"Date, DateTime: how text cells look, such as dd/mm/yyyy, made of d dd m mm mmm (Jan) mmmm (January) yy yyyy h hh mm (after h) ss AM/PM, or serial, a spreadsheet's number of days; or a list of such formats: a cell that two of them read differently is invalid. Phone: how it is sent, e164 (default), national, international or raw")
	yamltree.To(k, "years", &v.Years, yamltree.OneOf(convert.PastYears, convert.FutureYears),
		"the century of yy: past, up to the run's day, as for dates of birth; future, 2000 to 2099; default: 1930 to 2029, and days after the run's are invalid")
	yamltree.To(k, "output", &v.Output, yamltree.InPlace(yamltree.OneOf("date", "datetime")),
		"how a Date is sent in a client field: date or datetime (default)")
	yamltree.To(k, "region", &v.Region, text, "the country of phone numbers without a country code, e.g. GB")
	yamltree.To(k, "percent", &v.Percent, yamltree.Bool,
		"text cells of a Number hold percentages: 5% is sent as 0.05, a text without the sign is invalid; default false")
	yamltree.To(k, "checked", &v.Checked, yamltree.OneOrMore(yamltree.Text), "the words that mean a ticked Checkbox")
	yamltree.To(k, "unchecked", &v.Unchecked, yamltree.OneOrMore(yamltree.Text), "the words that mean an unticked Checkbox")
	yamltree.To(k, "values", &v.Values, yamltree.Map(yamltree.AnyText), "a table of what the cell says and what is sent for it")
	yamltree.ToNew(k, "else", &v.Else, yamltree.Text, "what is sent for a cell that values does not list")
	yamltree.ToNew(k, "default", &v.Default, text, "what is sent for an empty cell")
	yamltree.To(k, "required", &v.Required, yamltree.Bool, "an empty cell is an error; default false")
	yamltree.To(k, "max_length", &v.MaxLength, yamltree.Int(1, math.MaxInt), "the most characters that the value may have")
}

// valueOrColumn is a value's source and options; a text alone is a column.
var valueOrColumn = yamltree.TextOr(text, func(v *ValueRule) *yamltree.Scalar { return &v.Column },
	yamltree.Object(valueKeys).Then(checkValue), "a column or “key: value” pairs").
	Placed(func(v *ValueRule) *yamltree.Place { return &v.At })

var value = valueOrColumn.Defined("value")

func checkValue(r *yamltree.Reader, n *yamltree.Node, v *ValueRule) {
	if t, err := parseTemplate(v.Constant.Text); err != nil || len(t.names()) > 0 {
		r.WrongAt(v.Constant.At, "braces", "the constant “%s” has braces, and nothing replaces them", problem.Shorten(v.Constant.Text)).
			Hint = "write text in place of value: there {Column} is replaced by the cell's text, and {{ and }} are braces"
	}
	isMissing := func(key string) bool { return n.Given(key) == nil }
	given := slices.DeleteFunc([]string{"column", "value", "text", "join", "first_of", "expr"}, isMissing)
	if len(given) != 1 {
		has := ""
		if len(given) > 1 {
			has = " has " + strings.Join(given, " and ") + "; it"
		}
		r.Wrong(n, "value-source", "%s%s needs exactly one of column, value, text, join, first_of and expr", n.Name(), has)
	}
	if v.Else != nil && strings.EqualFold(*v.Else, "error") {
		r.Wrong(n.Given("else"), "wrong-option", "else is what is sent for a cell that values does not list, and it would be the word “%s”", *v.Else).
			Hint = "leave else out: such a cell is an error then"
	}
}

func typeNames() (names []string) {
	for _, t := range append(convert.AttributeTypes(), convert.Email, convert.Phone) {
		names = append(names, string(t))
	}
	return names
}

// format returns the first format.
func (v *ValueRule) format() (first yamltree.Scalar) {
	if len(v.Formats) > 0 {
		first = v.Formats[0]
	}
	return first
}

func scalarTexts(scalars []yamltree.Scalar) []string {
	list := make([]string, len(scalars))
	for i, s := range scalars {
		list[i] = s.Text
	}
	return list
}
