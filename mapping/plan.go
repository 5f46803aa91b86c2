package mapping

import (
	"strings"

	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Plan is everything that a sheet asks for one client: plain data, printable
// and comparable. It is made without knowing what was done before.
//
// The steps are in the order in which they run. Version 2: the client; claims
// that no activity is on, or that are created first; the activities in the
// mapping's order, with each other claim just before its first activity; the
// link last. Version 1: the client, the Open activity, then the back-filled
// ones (service document, "V1 flows", "V2 flows").
type Plan struct {
	Number    int          // 1-based, by the client's first row in the sheet
	Client    Identity     // the client that the plan is for
	Rows      []cell.Row   // every row of the client, in sheet order
	Steps     []Step       // empty when there are Problems
	Lookup    Lookup       `json:",omitzero"` // how the service is asked whether it knows the client
	Role      string       // of a further contact, whose plan is the step client alone: the id of the contacts entry
	Addresses []Identity   `json:",omitzero"` // from the look-ups and from the payload, each once
	Skipped   string       // BlankRow or NotWhen: why the one row is skipped; "" when it is not
	Problems  problem.List `json:",omitzero"` // with any, nothing is sent for the client
	Withheld  []Step       `json:",omitzero"` // the claims and further contacts that Problems keep from becoming Steps
}

// Wanted returns the Steps, or what is Withheld of them: reports still show its ids.
func (p *Plan) Wanted() []Step {
	if len(p.Withheld) > 0 {
		return p.Withheld
	}
	return p.Steps
}

// Why a row is skipped.
const (
	BlankRow = "blank" // the row is empty
	NotWhen  = "when"  // sheet.when is false
)

// Lookup is how the service is asked for a client, with Email, Phone or both as Mode says.
// When both are empty the client cannot be looked up.
type Lookup struct {
	Email, Phone              string
	Mode                      string   // as LookupRule.Mode
	EmailAddress, PhoneNumber Identity // in the form of Plan.Addresses
}

// StepKind is the kind of call that a step makes.
type StepKind string

// The kinds of a step.
const (
	ClientStep   StepKind = "client"
	ContactStep  StepKind = "contact"
	ClaimStep    StepKind = "claim"
	ActivityStep StepKind = "activity"
	LinkStep     StepKind = "link"
)

// Step is one call that creates something. Its Key is stable, because it is
// made from business keys and never from row numbers. The ledger knows a step
// by its Key, the client's identity and the mapping's name.
//
// A further contact is a client of its own to the ledger: its step is shared by
// all clients that name it, and by the client that it may be itself.
//
//	client
//	contact/<key space>/<key>
//	claim/<claims id>/<claim key>
//	activity/<activity id>@client
//	activity/<activity id>@<claims id>/<claim key>
//	activity/<activity id>@contact/<key space>/<key>
//	link
//	link/<claims id>/<claim key>
//
// A plan has the step link only: whether the client gets a fresh link for a new claim depends on what the ledger knows.
type Step struct {
	Key   string
	Kind  StepKind
	Rows  []cell.Row // that ask for the step, in sheet order
	Claim string     // the Key of the claim step that the step belongs to, its own for a claim; "" for what belongs to the client
	// On is the Key of the step of the further contact whose activity it is: to the ledger a
	// step of the contact, so that clients who share the contact do not send it twice.
	On    string
	Title string // says what is created, without personal data: the template's name, or the claims id

	KnownID string // client, claim: its id, where the sheet gives one: it is taken over and never created
	// Fields are the values that the step asks for, in the mapping's order: the fields of a client or contact, the attributes of an
	// activity, or a claim's name and, unless the client is the administrator and the only claimant, its contacts.
	Fields           []Value   `json:",omitzero"`
	NotAdministrator bool      // client, contact (v2): it is not created as an administrator
	Contact          *Plan     `json:",omitzero"` // contact: its own plan, of which this step is made
	Name             string    // claim: claimName
	Activity         *Activity `json:",omitzero"` // activity

	// Administrator and Claimants are the contacts of a claim, as keys of the plan's
	// steps; both are zero when the client is the administrator and the only claimant.
	// AdministratorID is of the environment's contact.
	Administrator, AdministratorID string
	Claimants                      []string `json:",omitzero"`
}

// LinkStepOf returns the step with this key that asks for a magic link of a client with these rows.
func LinkStepOf(key string, rows []cell.Row) Step {
	return Step{Key: key, Kind: LinkStep, Rows: rows, Title: "magic link"}
}

// FreshLinkKey returns the key of the link step of a client who had a link before the
// claim with this step key was created.
func FreshLinkKey(claim string) string {
	return string(LinkStep) + strings.TrimPrefix(claim, string(ClaimStep))
}

// Value is one value that a step sends: a field or an attribute.
type Value struct {
	Name       string     // the field's name, with dots where objects are nested; the attribute's; ClaimName and the like
	TemplateID string     // of an attribute
	Value      cell.Value // zero when its cells are empty: it is not sent, but is part of what the step asks for
	Source     Source
}

// The Names of a claim's fields. Of its contacts a value is “client”, the fingerprint of a
// further contact or, of an administrator, an id; the claimants are separated by a comma and a space.
const (
	ClaimName          = "claimName"
	ClaimAdministrator = "administratorId"
	ClaimClaimants     = "claimants"
)

// Activity is the payload of an activity without the ids that only the run knows.
type Activity struct {
	TemplateID   string
	TemplateName string
	Status       string   // Open, Submitted or Accepted
	StatusSource Source   // the cell that says where the client resumes; zero when the mapping gives the status
	Workflow     Workflow // v2 only
}

// Workflow is the pair of fields that every v2 activity carries. It is fixed
// when the step is first sent, so a name with the run's date does not make
// yesterday's activity differ from today's.
type Workflow struct {
	Name               string
	TemplateIdentifier string
}

// The statuses.
const (
	Open      = "Open"
	Submitted = "Submitted"
	Accepted  = "Accepted" // v2 only
)

// Source is where a value came from. It names the cell when a value differs
// from what was sent before, and shows whether a cell or the mapping changed.
// The zero Source is a constant of the mapping.
type Source struct {
	Row     cell.Row // the row whose cell was used
	Columns []int    // 0 = A
	Names   []string // the columns as the mapping names them, in folded form
	Texts   []string // the cells as a person reads them
	// FoldCase reports that case makes no difference: an e-mail address, or a column that is part of a key.
	FoldCase bool
}
