package mapping

import (
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Plan is all that a sheet asks for one client: plain data, printable and
// comparable, made without knowing what was done before.
//
// The steps stand in the order in which they are carried out. For v2 that is:
// client; claims that no activity is on, or that are created first; the
// activities in the mapping's order, a claim just before its first activity;
// link last. For v1: client,
// the Open activity, then the back-filled ones (service document, "V1 flows",
// "V2 flows").
type Plan struct {
	Number int        // 1-based, by the client's first row in the sheet
	Client Identity   // whose plan it is
	Rows   []cell.Row // every row of the client, in sheet order
	Steps  []Step     // empty when Problems is not
	Lookup Lookup     // how to find out whether the service knows the client already
	// Addresses are the e-mail addresses and phone numbers of the client, those
	// of the look-ups and those of the payload, each once.
	Addresses []Identity
	Skipped   SkipReason // why the (one) row is left out; "" when it is not
	// Problems of the client's rows. With any, nothing is sent for the client.
	Problems problem.List
	// Claims are the claims that the rows ask for, where Problems keep them from
	// being steps: their ids are shown all the same.
	Claims []ClaimRows
}

// SkipReason says why a row is left out.
type SkipReason string

// The reasons.
const (
	BlankRow  SkipReason = "blank"  // nothing is in it
	HiddenRow SkipReason = "hidden" // sheet.hidden_rows is skip
	NotWhen   SkipReason = "when"   // sheet.when does not hold
)

// Claimed says which rows ask for a claim.
type ClaimRows struct {
	Key  string // the claim step's key
	Rows []cell.Row
}

// Lookup is how the service is asked for a client. Email decides; Phone is
// asked only where Email is empty, unless Confirm asks both. Both empty: the
// client cannot be looked up.
type Lookup struct {
	Email   string
	Phone   string
	Confirm bool
	// EmailAddress and PhoneNumber are Email and Phone as Plan.Addresses has
	// them; zero where those are empty.
	EmailAddress, PhoneNumber Identity
}

// StepKind is what kind of call a step makes.
type StepKind string

// The kinds of a step.
const (
	ClientStep   StepKind = "client"
	ClaimStep    StepKind = "claim"
	ActivityStep StepKind = "activity"
	LinkStep     StepKind = "link"
)

// Step is one call that creates something. Its Key is stable: it is made from
// business keys, never from row numbers, and with the client's identity and
// the mapping's name it is what the ledger knows the step by.
//
//	client
//	claim/<claims id>/<claim key>
//	activity/<activity id>@client
//	activity/<activity id>@<claims id>/<claim key>
//	link
type Step struct {
	Key  string
	Kind StepKind
	// Rows that ask for the step, in sheet order. For the client, client
	// activities and the link these are all rows of the client.
	Rows []cell.Row
	// Claim is the Key of the claim step that the step is on: its own Key for
	// a claim, "" for what belongs to the client.
	Claim string
	// Title says in the operator's words what is made, without personal data:
	// the template's name of an activity, the claims id of a claim.
	Title string

	Fields     []Field   // client: the fields of the create payload
	Name       string    // claim: claimName
	NameSource Source    // claim: where the name's columns stand
	Activity   *Activity // activity

	// LeftOut are the fields and attributes that are left out because their cells
	// are empty: what is not said is part of what a step asks for.
	Omitted []Omitted
}

// LeftOut is a field or attribute whose cells are empty.
type Omitted struct {
	Name   string
	Source Source
}

// Field is one field of the client create payload.
type Field struct {
	Path   []string // names and places in arrays, from the outside in: ["address", "postcode"], ["phones", "0"]
	Value  cell.Value
	Source Source
}

// Index is the place in an array that a part of the path is; ok is false for a
// name.
func (f Field) Index(part int) (i int, ok bool) { return arrayIndex(f.Path[part]) }

// Activity is the payload of an activity but for ids that only the run knows.
type Activity struct {
	TemplateID   string
	TemplateName string
	Status       Status
	StatusSource Source   // the cell that says where the client resumes; zero when the mapping says the status
	Workflow     Workflow // v2 only
	Attributes   []Attribute
}

// Workflow is the pair of fields that every v2 activity carries. It is fixed
// when the step is first sent, so a name with the run's date does not make
// yesterday's activity differ from today's.
type Workflow struct {
	Name               string
	TemplateIdentifier string
}

// Status is an activity's status on create (service document, "States and
// transitions").
type Status string

// The statuses.
const (
	Open      Status = "Open"
	Submitted Status = "Submitted"
	Accepted  Status = "Accepted" // v2 only
)

// Attribute is one attribute of a back-filled activity.
type Attribute struct {
	TemplateID string
	Name       string
	Value      cell.Value
	Source     Source
}

// Source is where a value came from, to name the cell when a value differs
// from what was sent before and to tell a corrected cell from a changed
// mapping. The zero Source is a constant of the mapping.
type Source struct {
	Row     cell.Row // the row whose cell was used
	Columns []int    // 0 = A
	Names   []string // the columns as the mapping names them, case and white space folded
	Texts   []string // the cells as a person reads them
	// FoldCase tells that case makes no difference: an e-mail address, or a
	// column that is part of a key.
	FoldCase bool
}
