package mapping

import (
	"slices"

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
	Contacts   []ContactRule
	Claims     []ClaimRule
	Workflow   WorkflowRule
	Link       LinkRule
	LinkAt     yamltree.Place // zero when the mapping leaves the key link out
	ResumeAt   *ResumeRule    // nil when the mapping sets the statuses itself
	Activities []ActivityRule
}

// V1 reports whether the mapping is for version 1 of the interface.
func (m *Mapping) V1() bool { return m.API.Text == "v1" }

// contactIndex returns the index of the contacts entry with an id; -1 for none.
func (m *Mapping) contactIndex(id string) int {
	return slices.IndexFunc(m.Contacts, func(c ContactRule) bool { return c.ID.Text == id })
}

// ContactReferences are the places from which the claims take the ids of contacts
// that the environment has, each once.
func (m *Mapping) ContactReferences() []yamltree.Scalar {
	var list []yamltree.Scalar
	for _, c := range m.Claims {
		id := c.Administrator.ID
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
	phone := m.Client.Lookup.Phone
	for i := 0; i < len(m.Contacts) && phone == nil; i++ {
		phone = m.Contacts[i].Lookup.Phone
	}
	if phone == nil {
		return nil
	}
	return func() string { return convert.InventPhone(phone.format().Text, phone.Region.Text) }
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

// ClientRole is the word by which activities and claims name the client.
const ClientRole = "client"

// LinkRule says which clients get a magic link; "" is LinkOnce.
type LinkRule string

// The values of link.
const (
	LinkOnce       LinkRule = "once"
	LinkOnNewClaim LinkRule = "on_new_claim" // a client who has one gets another after a new claim
	LinkNever      LinkRule = "never"
)

// SheetRule says how the sheet is laid out and which of its rows are taken.
type SheetRule struct {
	Name        yamltree.Scalar // "" = the first visible sheet
	HeaderRow   int             // 1-based; default 1
	HeaderRowAt yamltree.Place  // zero when the mapping leaves the row out
	Timezone    yamltree.Scalar // an IANA name; "" when no DateTime needs one
	Numbers     convert.Numbers
	When        yamltree.Scalar   // an expression; "" takes every row
	Empty       []yamltree.Scalar // texts of cells that count as empty, in this case, after the cell is trimmed
	FillDown    []yamltree.Scalar // columns whose empty cells take the one above
	Encoding    string            // of a CSV file without a byte order mark: utf-8 or windows-1252; "" = utf-8
	Delimiter   string            // of a CSV file: a comma, a semicolon or a tab; "" = detected from the header
}

// Existing says what to do with a client that the service already has.
type Existing string

// The policies for a known client.
const (
	Reuse  Existing = "reuse"  // use the known client
	Skip   Existing = "skip"   // leave the client's rows out
	Fail   Existing = "fail"   // the client's rows fail
	Create Existing = "create" // do not ask; create
)

// PersonRule says which rows make one client or further contact, how it is looked up, and
// what its create payload holds.
type PersonRule struct {
	At              yamltree.Place
	Key             []yamltree.Scalar
	KeySpace        yamltree.Scalar
	Lookup          LookupRule
	Administrator   bool           // v2: isAdministrator=true
	AdministratorAt yamltree.Place // zero when the mapping leaves the key out
	Fields          []FieldRule
}

// ClientRule is the client.
type ClientRule struct {
	PersonRule
	KnownID  yamltree.Scalar // the column with an id known from elsewhere; "" for none
	Existing Existing
	// ExistingActivities is “skip” when a client who was found, not created, gets no activities that are on the client.
	ExistingActivities string
	ActivitiesAt       yamltree.Place // of existing_activities; zero when the mapping leaves the key out
}

// LookupRule says how the service is asked for the client.
type LookupRule struct {
	At    yamltree.Place
	Email *ValueRule
	Phone *ValueRule
	Mode  LookupMode
}

// LookupMode says which look-ups find a client who may have an e-mail address and a phone
// number. The zero mode is first: the e-mail address decides, and the phone number only
// where a row has none.
type LookupMode string

// The other modes.
const (
	LookupEither LookupMode = "either" // by phone also where the e-mail address finds nobody
	LookupBoth   LookupMode = "both"   // by both; the client fails where they disagree
)

// FieldRule is one field of a create payload, or one attribute of an activity.
type FieldRule struct {
	Name  yamltree.Scalar // in a payload, a dotted name makes a nested object
	Value ValueRule
}

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
	Administrator AdministratorRule
	Claimants     []yamltree.Scalar // client, or ids of contacts

	isLeftOut bool // of a Part
}

// AdministratorRule says which contact administers a claim: the client or a
// further contact, or one of the environment.
type AdministratorRule struct {
	Contact yamltree.Scalar // client (the default), or the id of a contacts entry
	ID      yamltree.Scalar // where the id of a contact stands, env:NAME or file:PATH; set instead of Contact
}

// ContactRule is one entry of contacts: a further person of a client's claims.
type ContactRule struct {
	PersonRule
	ID   yamltree.Scalar
	When yamltree.Scalar // an expression; "" takes every row
}

// WorkflowRule is the pair of fields that v2 activities carry.
type WorkflowRule struct {
	Name               yamltree.Scalar // a text with {Column}, {sheet}, {run.date}
	TemplateIdentifier yamltree.Scalar
}

// ResumeRule says at which activity the client resumes: a template's name, or
// a column that holds one.
type ResumeRule struct {
	Template yamltree.Scalar
	Column   yamltree.Scalar // set instead of Template
}

// ActivityRule is one activity of the list.
type ActivityRule struct {
	Template   yamltree.Scalar
	ID         yamltree.Scalar // default: the template's name
	On         yamltree.Scalar // client, claim, or the id of an entry of claims or contacts
	Status     Status
	StatusAt   yamltree.Place // zero when the status is the default
	Assigned   bool
	When       yamltree.Scalar // an expression; "" always
	Workflow   WorkflowRule
	Attributes []FieldRule

	isLeftOut bool // of a Part
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
	Years     convert.Years
	Percent   bool
	Checked   []string
	Unchecked []string
	Values    map[string]string
	Else      *string
	Default   *yamltree.Scalar
	Required  bool
	MaxLength int
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
