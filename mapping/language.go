package mapping

import "claimsheet/mapping/problem"

// Mapping is a mapping file as written: names, not ids; places kept. Parse
// makes it; Bind gives it a sheet and a service to mean.
type Mapping struct {
	File   string
	Digest string // SHA-256 of the file's bytes, in hex
	// Warnings are of what can be meant and mostly is not: quotes that are none
	// to YAML.
	Warnings problem.List `json:"-"`

	Name       Word // the scope of its claims and activities in the ledger
	API        Word // v1 or v2
	ClaimType  Word // "" for none
	Sheet      SheetRule
	Client     ClientRule
	Claims     []ClaimRule
	Workflow   WorkflowRule
	ResumeAt   *ResumeRule // nil when the mapping sets the statuses itself
	Activities []ActivityRule
}

// V1 tells whether the mapping speaks version 1 of the interface.
func (m *Mapping) V1() bool { return m.API.Text == "v1" }

// Word is a scalar of the file with its place.
type Word struct {
	Text string
	At   Place `json:"-"`
}

// Place is a position in the mapping file, 1-based; zero for a default.
type Place struct{ Line, Column int }

// At is the problem's place for a position in the mapping file.
func (m *Mapping) At(p Place) problem.Where {
	return problem.Where{File: m.File, Line: p.Line, Column: p.Column}
}

// SheetRule says how the sheet is laid out and which of its rows are taken.
type SheetRule struct {
	Name      Word // "" = the first visible sheet
	HeaderRow int  // 1-based; default 1
	// HeaderRowGiven is where the mapping says it, be it the default.
	HeaderRowGiven bool
	Timezone       Word // an IANA name; "" when no DateTime needs one
	// AmbiguousTimes is for DateTimes that came twice when the clocks went back.
	AmbiguousTimes AmbiguousTimes
	Numbers        Numbers
	When           Word // an expression; "" takes every row

	SkipHidden bool   // rows that are hidden in the workbook are left out
	Encoding   string // of a CSV file without a byte order mark: utf-8 or windows-1252; "" = utf-8
	Delimiter  string // of a CSV file: a comma, a semicolon or a tab; "" = told by the header
}

// Existing says what to do with a client whom the service already knows.
type Existing string

// The policies for a known client.
const (
	Reuse  Existing = "reuse"  // go on with the known client
	Skip   Existing = "skip"   // leave the client's rows out
	Fail   Existing = "fail"   // the client's rows fail
	Create Existing = "create" // do not ask; create
)

// ClientRule says which rows make one client and what its create payload holds.
type ClientRule struct {
	At            Place
	Key           []Word
	KeySpace      Word
	Existing      Existing
	Lookup        LookupRule
	Administrator bool // v2: isAdministrator=true
	// AdministratorAt is where the mapping says so; the zero Place where it does
	// not.
	AdministratorAt Place
	Fields          []FieldRule
}

// LookupRule says how the service is asked for the client.
type LookupRule struct {
	At      Place
	Email   *ValueRule
	Phone   *ValueRule
	Confirm bool // ask both and fail the client where the answers disagree
}

// FieldRule is one field of the client's create payload.
type FieldRule struct {
	Name  Word // a dotted name makes a nested object
	Value ValueRule
}

// ClaimRule is one entry of claims: each row of a client yields one claim.
type ClaimRule struct {
	At      Place
	ID      Word // default "claim"
	Key     []Word
	Name    Word            // a text with {Column}
	When    Word            // an expression; "" takes every row
	Columns map[string]Word // aliases: a name → the column it stands for
	First   bool            // created before all activities, not just before the first that is on it
}

// WorkflowRule is the pair of fields that v2 activities carry.
type WorkflowRule struct {
	Name               Word // a text with {Column}, {sheet}, {run.date}
	TemplateIdentifier Word
}

// ResumeRule says at which activity the client resumes: a template's name, or
// a column that holds one.
type ResumeRule struct {
	Template Word
	Column   Word // set instead of Template
}

// ActivityRule is one activity of the list.
type ActivityRule struct {
	Template   Word
	ID         Word // default: the template's name
	On         Word // client, claim, or the id of a claims entry
	Status     Status
	StatusAt   Place // zero when the status is the default
	Assigned   bool
	When       Word // an expression; "" always
	Workflow   WorkflowRule
	Attributes []AttributeRule
}

// AttributeRule is one attribute of an activity.
type AttributeRule struct {
	Name  Word
	Value ValueRule
}

// ValueRule is where a value comes from and how it is read: exactly one of
// Column, Constant, Text, FirstOf and Expr.
type ValueRule struct {
	At       Place `json:"-"`
	Column   Word
	Constant Word
	Text     Word
	FirstOf  []Word
	Expr     Word

	hasConstant bool // an empty constant is one too, for a clear message

	constantKind, defaultKind CellKind // what YAML takes Constant and Default for

	Type      Word
	Format    Word
	Output    Word
	Region    Word
	Checked   []string
	Unchecked []string
	Values    map[string]string
	Else      *string
	Default   *Word
	Required  bool
	MaxLength int
}
