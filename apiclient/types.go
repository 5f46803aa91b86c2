package apiclient

import (
	"net/http"
	"net/url"
	"time"
)

// Version is a version of the interface; it is part of every path.
type Version string

// The versions.
const (
	V1 Version = "v1"
	V2 Version = "v2"
)

// Kind is what a request is for; requests are counted by it.
type Kind string

// The kinds of request. The first four create something.
const (
	CreateClient   Kind = "client" // v1 client or v2 contact
	CreateClaim    Kind = "claim"
	CreateActivity Kind = "activity"
	CreateLink     Kind = "link"
	FindClient     Kind = "lookup"
	ReadTemplates  Kind = "templates"
)

// Request is one call as plain data. It holds personal data (a look-up's path,
// a body): log Route, never Path or Body.
type Request struct {
	Kind   Kind
	Method string
	Route  string     // the document's path pattern, e.g. /funnel/v2/contacts/by-email/{email}
	Path   []string   // segments below the base url, not escaped
	Query  url.Values // nil for none
	Body   []byte     // JSON; never nil for a POST, unless NoBody is set
	NoBody bool       // a POST without a body
}

// Answer is what the service said: any status, the whole body (up to 1 MiB, 64 MiB of templates).
type Answer struct {
	Status      int
	ContentType string
	Header      http.Header // for what wire reads from headers; nil for none
	Body        []byte
	// RetryAfter is how long the service asks to wait; 0 when it does not ask.
	RetryAfter time.Duration
	// Early is set when the answer came before the request had been sent in
	// full: the service cannot have acted on it.
	Early bool
	// Date is the service's clock by its header Date; zero when it shows none.
	Date time.Time
	// Took is how long the answer's head took, without waiting for the rate.
	Took time.Duration
}

// Effect is what became of a creating request, as far as can be proved.
type Effect string

// The effects.
const (
	Created   Effect = "created"   // 2xx with the id (and url) that the step needs
	Refused   Effect = "refused"   // surely not created: the service said no
	NotSent   Effect = "not sent"  // surely never left this machine
	Uncertain Effect = "uncertain" // may have been created
)

// Verdict is what became of a creating request.
type Verdict struct {
	Effect Effect
	ID     string // client, contact, claim or activity id; may be "" for an activity (wire.activity_id "")
	URL    string // redirect url, for a v1 client (also one whose id is missing) and a v2 link; a credential
	Status int    // HTTP status, 0 when there was no answer
	// Reason is why it is not Created, or what a created v1 client lacks: one
	// line, without personal data or links.
	Reason string
	// Detail is what the service itself said, at most 300 characters, control
	// characters escaped. It may hold personal data: it is for the workbook and
	// the ledger, never for logs.
	Detail string
	// Hint is what to do, from the Rule that decided or for what is usually the
	// cause; may be empty.
	Hint string
	// Answer is what a ledger keeps of the answer, for KeptAnswer: of a 2xx the
	// whole body and the headers that an id or url may be in, of any other at most
	// 4 KiB.
	Answer []byte
	// Stop is set when no other request will fare better (401, a redirect, a
	// certificate that is not trusted): the run must end. The Effect is still this
	// request's own: a 302 may have created something.
	Stop bool
	// Retry is set on a Refused that is only for now (421, 425, 429, a Rule that
	// means retry): the same request may be sent again, after RetryAfter if that
	// is not 0. What is NotSent may always be sent again.
	// Also on a NotSent that the service asked for: see Client.Turn.
	Retry      bool
	RetryAfter time.Duration
	// Busy is set on an answer by which the service asks for time, whatever became
	// of the request. The Client holds back all its requests for it.
	Busy bool
	// Shared is set on a Retry that is Busy: there is nothing else to wait for.
	Shared bool
	// Ruled is set when a Rule decided, and not the status alone.
	Ruled bool
}

// Attribute is one attribute of an activity, the same in both versions but for
// the names of its fields on the wire.
type Attribute struct {
	TemplateID string
	Field      string // stringValue, boolValue, dateTimeValue or doubleValue
	Value      []byte // bare JSON: a string, true or false, a number
}

// Activity is an activity to create.
type Activity struct {
	TemplateID                 string
	Status                     string
	WorkflowName               string      // v2
	WorkflowTemplateIdentifier string      // v2
	Attributes                 []Attribute // nil for an Open activity: the field is left out
}

// Template is an activity template of the reference data.
type Template struct {
	ID         string
	Name       string
	Attributes []AttributeTemplate
}

// AttributeTemplate is an attribute template; DataType is in our names (Text,
// TextArea, DropDown, Checkbox, Date, DateTime, Number, Currency) and "" where
// the answer tells none.
type AttributeTemplate struct {
	ID       string
	Name     string
	DataType string
}
