// Package ledger remembers what became of every step, in one SQLite file in
// the state folder. It is the truth of Claimsheet: workbooks are projections
// of it.
//
// Assumptions and promises:
//
//   - Append returns only when its events are durable (synchronous=FULL): an
//     intent that Append has taken survives a power loss. One goroutine writes;
//     whatever is queued goes into one transaction (group commit), without
//     artificial delay, so that n workers share the cost of a commit.
//   - Events are append-only; the table of steps beside them holds each step's
//     current state and follows from them. A transition that the state machine
//     does not know is refused, and nothing of that Append is written.
//   - After any write error the ledger is stopped: that Append and every later
//     one fail with ErrStopped, because a ledger that may have lost an outcome
//     must not let another request go out.
//   - A damaged ledger is refused at Open, never repaired silently.
//   - Purge and Forget alone change what was written: they take personal data out
//     of it, and leave the steps, their states and their ids.
//   - Reads never wait for the writer (WAL) and may be made from any goroutine.
//     They see everything whose Append, Flush, StartRun or FinishRun returned.
//   - While it is closed the ledger is one plain file, which may be copied.
//     While it is open, or after its process was killed, the files beside it
//     that end in -wal and -shm belong to it: without them outcomes are lost.
//   - A file beside it that ends in .count says how many events were committed,
//     and holds nothing else; Behind compares.
//   - Every event and every step has a checksum, because SQLite keeps none: what
//     the disk has changed is refused at Open.
//   - Times are kept to the microsecond and come back in UTC.
//   - Writing is not bound to a caller's context: the record of a call that
//     happened is never cancelled.
//
// The ledger knows nothing of sheets, mappings or HTTP; it stores what the
// importer tells it.
package ledger

import (
	"errors"
	"time"

	"claimsheet/importer/result"
)

// ClientKey is whose steps they are: a client within an environment.
type ClientKey struct {
	Environment string // normalised base url, with the case id under v1
	Space       string // key space of the client key
	Client      string // the client key, in clear
}

// StepID is a step's full name. Mapping is "" for the step "client", which all
// mappings share, and the mapping's name for every other step.
type StepID struct {
	ClientKey
	Mapping string
	Step    string // client, claim/<id>/<key>, activity/…, link
}

// State is a step's current state.
type State string

// The states. A step that the ledger does not know is planned.
const (
	Intent    State = "intent"    // about to be sent, or sent and not answered yet
	Done      State = "done"      // created, id stored
	Failed    State = "failed"    // surely not created
	NotSent   State = "not sent"  // surely never left this machine
	Uncertain State = "uncertain" // may have been created: an operator decides
	Parked    State = "parked"    // ambiguous, and a look-up says absent; too early to believe it
	GivenUp   State = "given up"  // an operator closed it without an id
)

// Ways by which an event came about, for Event.Via. A run's own conclusion,
// such as "failed" after a refusal, has none.
const (
	ViaAnswer     = "answer"     // the service's answer said so
	ViaAdopted    = "adopted"    // a look-up found it
	ViaOperator   = "operator"   // a person decided
	ViaWorkbook   = "workbook"   // a results workbook said so, the ledger being new
	ViaRepeatable = "repeatable" // on Intent: the environment allows this kind to be sent again while uncertain
	ViaEmergency  = "emergency"  // the run that sent it could only note the outcome beside the ledger
)

// The kinds of a step, for Event.Kind and RunStep.Kind.
const (
	KindClient   = "client"
	KindClaim    = "claim"
	KindActivity = "activity"
	KindLink     = "link"
)

// Event is something that happened to a step. Data and Answer are
// not copied by Append, which has done with them when it returns; empty is the
// same as none.
type Event struct {
	StepID
	To  State
	At  time.Time // UTC
	Run string    // the run that it happened in

	// Boot and Uptime are the boot clock at that time, as in Clock. Append reads
	// it where Boot is empty.
	Boot   string
	Uptime time.Duration

	// Kind is the step's kind: client, claim, activity or link. Only a step's
	// first event needs it; a later one may leave it empty, not change it.
	Kind string
	// Via is one of the Via constants: how the step came to be done, and on
	// whose word it left a state that a run may not leave by itself.
	Via string
	// Status is the HTTP status that led here, 0 when there was none.
	Status int
	// Reason is why, in words, without personal data or links.
	Reason string

	// Data is what was asked, as JSON, and Digest its SHA-256 in hex: set on
	// Intent (and on Done via adopted), and kept until the next one. Digest
	// outlives a purge of Data.
	Data   []byte
	Digest string
	// Answer is the whole body of a 2xx answer, kept so that a corrected wire
	// pointer can read it again.
	Answer []byte
	// ID is the created thing's id; URL its redirect url, a credential.
	ID  string
	URL string
}

// Step is a step's current state. To, At, Boot, Uptime, Run, Via, Status and
// Reason are the last event's; Data and Digest are the last that any event carried; Answer,
// ID and URL are the last that an event carried since the last Intent.
type Step struct {
	Event
	Attempts int // intents so far
}

// Run is one run, from its start to the workbook that it wrote.
type Run struct {
	ID              string // a UUID
	Environment     string // as ClientKey.Environment
	EnvironmentName string // as in the environments file
	Mapping         string // the mapping's name
	MappingFile     string
	MappingDigest   string // SHA-256 in hex
	Input           string // the sheet's path as given
	InputDigest     string
	KeptInput       string // the copy in the state folder
	Version         string // Claimsheet's
	Started         time.Time
	Finished        time.Time // zero while it runs, or when it was killed
	Output          string    // the workbook it wrote, "" until then
	OutputDigest    string
	Summary         []byte // the run's summary as JSON
}

// RunRow is the result of a source row in a run.
type RunRow struct {
	Run    string
	Result result.Row
}

// RunStep is a step of a run's plan for a client.
type RunStep struct {
	StepID
	Kind  string // one of the Kind constants
	Title string // as the mapping names it, "" when it does not
}

// Errors of the ledger. Those of Open and Lock can also be read as a
// problem.Problem with a hint (errors.As).
var (
	// ErrStopped is wrapped by the Append, Flush or Close that could not be
	// written and by every later one, together with the cause.
	ErrStopped = errors.New("the ledger cannot be written")
	// ErrTransition is wrapped when an event does not follow from the step's
	// state.
	ErrTransition = errors.New("not a transition of a step's state")
	// ErrReadOnly is returned when a ledger of OpenReadOnly is asked to write.
	ErrReadOnly = errors.New("the ledger is open for reading only")
	// ErrLocked is wrapped by Lock when another process holds the ledger.
	ErrLocked = errors.New("another run holds the ledger")
	// ErrDamaged is wrapped by Open for a file that is not a sound ledger.
	ErrDamaged = errors.New("the ledger is damaged")
)
