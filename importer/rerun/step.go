package rerun

import (
	"slices"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/settle"
	"claimsheet/mapping/problem"
)

// Step is a line of a results workbook's sheet Steps, read back. It may have been
// sorted, filtered or edited since.
type Step struct {
	Number int    // as result.Step.Number; 0 when it cannot be read
	Client string // the client key
	Step   string // the step's key
	State  string // as result.Step.State
	ID     string
	Settle string // the decision in the column Settle, "" for none

	StepAt, StateAt, IDAt, SettleAt problem.Where
}

// unsent are the states of a step that certainly does not exist.
var unsent = []string{string(result.Planned), result.StepSkipped, string(ledger.Refused)}

// workbookStates are the values of the column State.
var workbookStates = append(slices.Clone(unsent), string(ledger.Done), string(ledger.Sent),
	string(ledger.Uncertain), string(ledger.Closed))

// check returns what is wrong with a line that cannot be read.
func (s Step) check() problem.List {
	switch {
	case s.Client == "" || settle.KindOf(s.Step) == "":
		return problem.List{problem.At(s.StepAt, "unknown-step",
			"this line of the sheet Steps names no step of a client; the client key and the step as Claimsheet wrote them were expected").
			Hinted("take them from the copy that was kept of the workbook, or delete the line")}
	case !slices.Contains(workbookStates, s.State):
		return problem.List{problem.At(s.StateAt, "unknown-state", "this is no state of a step; one of %s was expected", strings.Join(workbookStates, ", ")).
			Hinted("a state is not changed here: write created, not created or give up into the column Settle")}
	}
	return nil
}

// Reasons of events that come from a workbook.
const (
	reasonTakenOver  = "taken over from a results workbook"
	reasonTakenTwice = "a results workbook gives it the id or redirect url of another step"
	reasonLostID     = "a results workbook says that it is done, and has lost the id"
)

// toEvent returns the event by which a ledger that does not know the step takes it
// over. ok is false for a step that certainly does not exist, unless it is a fresh link: without
// it the ledger could not tell that a link is missing. A client or claim
// that is done but has no id becomes uncertain: the cell was cleared, and
// that must not create it again.
func (s Step) toEvent(id ledger.StepID) (event ledger.Event, ok bool) {
	isUnsent := slices.Contains(unsent, s.State)
	if isUnsent && !strings.HasPrefix(s.Step, ledger.KindLink+"/") {
		return ledger.Event{}, false
	}
	id.Space, id.Client, id.Step = strings.Clone(id.Space), strings.Clone(id.Client), strings.Clone(id.Step) // the reader reuses the texts
	event = ledger.Event{StepID: id, To: ledger.State(s.State), At: time.Now().UTC(), Kind: settle.KindOf(s.Step),
		Via: ledger.ViaWorkbook, Reason: reasonTakenOver, ID: strings.Clone(s.ID)}
	needsID := event.Kind == ledger.KindClient || event.Kind == ledger.KindClaim
	switch {
	case isUnsent:
		event.To, event.Via = ledger.Refused, ""
	case event.To == ledger.Sent:
		event.To = ledger.Uncertain
	case event.To == ledger.Done && needsID && s.ID == "":
		event.To, event.Reason = ledger.Uncertain, reasonLostID
	}
	return event, true
}

// conflict returns a problem when the line has another id than the ledger; the
// zero ledger.Step is a step that the ledger does not know. An empty id is no
// conflict.
func (s Step) conflict(known ledger.Step) problem.List {
	takenOver := known.To == "" && !slices.Contains(unsent, s.State)
	switch {
	case s.ID == "" || s.ID == known.ID || takenOver:
		return nil
	case known.ID == "":
		return problem.List{problem.New("id-conflict", "%s holds an id, and the ledger knows of none for this step; nothing is sent for the client", s.IDAt).
			Hinted("clear that cell; if the thing exists in the service, record it: claimsheet settle --created ID STEP")}
	}
	return problem.List{problem.New("id-conflict", "%s differs from the id that the ledger has for this step; nothing is sent for the client", s.IDAt).
		Hinted("clear that cell: the ledger's id is the one that counts")}
}
