// Package ledger stores what happened to every step, in one SQLite file in the
// state folder. It is the source of truth: the workbooks of results are made from
// it. A database server may keep the ledger in place of the file: see Server, and package
// postgres, which says what differs.
//
// Promises:
//
//   - Append returns only when its events are durable (synchronous=FULL). One goroutine writes;
//     it commits whatever is queued in one transaction, without waiting for more.
//   - A step is one row. Where it changes otherwise than from an intent to its outcome, the row
//     as it was goes into a table of history. A transition that the state machine does not
//     allow is rejected, and so is one of a row that another process has changed meanwhile;
//     nothing of that Append is written.
//   - No two steps of a kind are done with the same id, and no two clients with the
//     same redirect url.
//   - Any write error stops the ledger: that Append and every later one fail with
//     ErrStopped, because a ledger that may have lost an outcome must not let another
//     request be sent. Writing does not depend on a caller's context.
//   - A damaged ledger is refused and never repaired silently, as far as SQLite
//     notices: Open checks the structure of a file that was not closed, and Check the
//     whole at any time.
//   - Only Purge and Forget change what was written: they remove personal data, and
//     keep the steps, their states and their ids.
//   - Reads never wait for the writer (WAL), and any goroutine may read. They see
//     everything of which Append, Flush, StartRun or FinishRun has returned.
//   - A closed ledger is one plain file that may be copied. While it is open, or after
//     its process was killed, the files beside it that end in -wal and -shm belong to
//     it: without them outcomes are lost.
//   - Times are stored to the microsecond and returned in UTC.
package ledger

import (
	"cmp"
	"errors"
	"strings"
	"time"
)

// ClientKey identifies a client within an environment.
type ClientKey struct {
	Environment string // normalised base url, with the case id under v1
	Space       string // key space of the client key
	Client      string // the client key, in clear
}

// StepID is a step's full name. Mapping is "" for the step client, which all mappings
// share, and the mapping's name for every other step.
type StepID struct {
	ClientKey
	Mapping string
	Step    string // client, claim/<id>/<key>, activity/…, link, link/<id>/<key>
}

// State is a step's current state.
type State string

// The states. A step that the ledger does not have is planned.
const (
	Sent      State = "sent"      // its request leaves, or has left; a Step has Uncertain in its place
	Done      State = "done"      // created, the id is stored
	Refused   State = "refused"   // certainly not created: the service refused it, or it was not sent
	Uncertain State = "uncertain" // may have been created: a person decides, or a look-up; see Event.NotFound
	Closed    State = "closed"    // a person gave it up, without an id
)

// The sources of an event, for Event.Via. What a run concludes on its own, such as
// failed before anything was sent, has none.
const (
	ViaAnswer     = "answer"     // the service's answer
	ViaAdopted    = "adopted"    // a look-up found it
	ViaByHand     = "by hand"    // the user decided
	ViaWorkbook   = "workbook"   // a results workbook, for a ledger that does not have it
	ViaRepeatable = "repeatable" // on Sent: the environment allows this kind to be sent again while uncertain
	ViaJournal    = "journal"    // an answer that the ledger did not expect, as a rule from the journal of a run that could not write it
	ViaSheet      = "known_id"   // the sheet gives the id
	ViaConflict   = "conflict"   // on Uncertain: the service created it, and meanwhile the step was decided or sent again
)

// ClaimOf returns the name of the claim step that an activity belongs to, "" for an
// activity on the client and for other steps. It is the part after the first @,
// because the ids in a mapping contain none.
func ClaimOf(step string) string {
	on, isActivity := strings.CutPrefix(step, "activity/")
	if _, where, cut := strings.Cut(on, "@"); isActivity && cut && where != "client" {
		return "claim/" + where
	}
	return ""
}

// The kinds of a step, for Event.Kind and result.Step.Kind.
const (
	KindClient   = "client"
	KindClaim    = "claim"
	KindActivity = "activity"
	KindLink     = "link"

	// KindContact is the kind of a result.Step that is the step client of another client,
	// who is a contact of this one. No step of the ledger has it.
	KindContact = "contact"
)

// Event is something that happened to a step. Append does not copy Data and Answer,
// and does not use them after it returns; empty means none.
type Event struct {
	StepID
	State State
	At    time.Time // UTC
	Run   string    // the run in which it happened

	// Kind is the step's kind: client, claim, activity or link. Only a step's first
	// event needs it; a later one may leave it empty but not change it.
	Kind string
	// Via is one of the Via constants: how the step became done, or who decided that
	// it leaves a state that a run may not leave on its own.
	Via string
	// Status is the HTTP status that led here, 0 when there was none. A Step has that of the
	// answer to its last attempt.
	Status int
	// Reason is why, in words, without personal data or links.
	Reason string

	// Data is the data of the request as JSON, and Digest its SHA-256 in hex. They are
	// set on Sent (and on Done via adopted or known_id), and stay until the next one. A purge
	// removes Data but not Digest.
	Data   []byte
	Digest string
	// Addresses are all addresses of a client, in any form that is the same for the same
	// address, and LookedUp those of them by which the client is looked up. The ledger keeps a
	// hash of each; see Ledger.AddressOwners. Append refuses an intent (Taken) while another
	// client who exists, may exist or was given up is looked up by one of LookedUp, or has it
	// and may exist, or has one of Addresses as its key.
	Addresses []string
	LookedUp  []string
	// NotFound says of a client who is uncertain that a look-up has not found it. A later run that
	// does not find it either, long enough after At, may send it again.
	NotFound bool
	// Answer is the whole body of a 2xx answer, so that it can be parsed again with a
	// corrected wire pointer; of another answer its beginning; or Words.
	Answer []byte
	// ID is the id of what was created; URL its redirect url, a credential.
	ID  string
	URL string
}

// Words is what an event has in place of an answer where a look-up or the sheet decided: why the step is
// not done, and what to do. They may name another client, so Forget removes those of all clients.
func Words(why, advice string) []byte { return []byte(wordsHead + why + "\n" + advice) }

// Words returns what the function Words was given. ok is false for any other answer, and where something
// else was recorded since.
func (e Event) Words() (why, advice string, ok bool) {
	words, ok := strings.CutPrefix(string(e.Answer), wordsHead)
	why, advice, _ = strings.Cut(words, "\n")
	return why, advice, ok && e.Via == viaRun && !e.NotFound
}

// wordsHead begins Words. No kept answer of a service has it: apiclient keeps no body that is not text.
const wordsHead = "\x00"

// Step is a step's current state. State, At, Run, Via and Reason
// are those of its last event; Data and Digest those of the last event that has
// them; Status, Answer, ID and URL those of the last event that has them, since the last
// Sent and the last Refused of a run. A refused step has the Status of its last event.
type Step struct {
	Event
	Attempts int // how often it became Sent
	// Version is the number of its last event, and SentVersion that of its last intent, or Version without
	// one. An event has a higher number than those before it, whatever the clock said. Both are zero in the
	// overlay of a dry run.
	Version, SentVersion int64
}

// After returns the step after an event, as the ledger has it then, but for its versions. It does not ask whether
// the event is allowed.
func (s Step) After(e Event) Step {
	now := s
	now.Event = e
	now.Kind, now.Addresses, now.LookedUp = cmp.Or(s.Kind, e.Kind), nil, nil
	if s.Via == ViaConflict && e.Via == ViaConflict {
		now.Reason = s.Reason + "; " + e.Reason // both name ids
	}
	if len(e.Data) == 0 && e.Digest == "" {
		now.Data, now.Digest = s.Data, s.Digest
	}
	if e.State == Sent { // a new attempt: the answer to an earlier one does not count
		now.Attempts++
		return now
	}
	if e.State == Refused && e.Via == viaRun { // nothing was created, and what was found before does not count
		return now
	}
	if e.Status == 0 && e.State != Refused { // it stays that of the answer
		now.Status = s.Status
	}
	if len(e.Answer) == 0 {
		now.Answer = s.Answer
	}
	if e.State != Uncertain || e.Via != ViaByHand { // else the decision is undone
		now.ID, now.URL = cmp.Or(e.ID, s.ID), cmp.Or(e.URL, s.URL)
	}
	return now
}

// Age is how long ago the step got into its state; a time in the future is no age.
func (s Step) Age(now time.Time) time.Duration { return max(now.Sub(s.At), 0) }

// Run is one run, from its start to the workbook that it wrote.
type Run struct {
	ID              string // a UUID
	Environment     string // as ClientKey.Environment
	EnvironmentName string // as in the environments file
	Mapping         string // the mapping's name
	MappingFile     string // its path as given
	MappingDigest   string // SHA-256 in hex
	Input           string // the sheet's path as given
	InputDigest     string
	KeptInput       string // the copy in the state folder
	Version         string // Claimsheet's
	Started         time.Time
	Finished        time.Time // zero while it runs, or when it was killed
	Output          string    // the workbook that it wrote, "" until then
	OutputDigest    string
	Summary         []byte // the run's summary as JSON
}

// Errors of the ledger. Those of Open and Lock are a problem.Problem with a hint (errors.As). Its code is
// ledger-damaged for a file that is not a sound ledger, also of a method that reads what the disk has
// changed, and its class is problem.Locked when another process holds the ledger.
var (
	// ErrStopped is wrapped, with the cause, by the Append, Flush or Close that could
	// not be written, and by every later one.
	ErrStopped = errors.New("the ledger cannot be written")
	// ErrTransition is wrapped when the step's state does not allow an event.
	ErrTransition = errors.New("not a transition of a step's state")
	// ErrReadOnly is returned by methods that write when the ledger is from
	// OpenReadOnly.
	ErrReadOnly = errors.New("the ledger is open for reading only")
)
