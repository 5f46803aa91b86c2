package rerun

import (
	"slices"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/settle"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Row is a row of a results workbook's sheet Results, read back: the cells of the source and those of the columns that Claimsheet added.
type Row struct {
	Record     cell.Record // the source's cells only
	Status     string
	ClientID   string
	ClaimIDs   []string
	URL        string
	FailedStep string

	StatusAt, ClientIDAt, ClaimIDsAt problem.Where
}

// made are the statuses of a row whose client something was sent for.
var made = []string{string(result.Done), string(result.Unchanged), string(result.Changed), string(result.Uncertain)}

// silent are the statuses of a row where only the failed step shows that something was sent; after a sure refusal it is “failed”.
var silent = []string{string(result.Invalid), string(result.Skipped), string(result.NotStarted)}

// tried reports whether the row says that something was sent for its client.
func (r Row) tried() bool {
	return slices.Contains(made, r.Status) || r.FailedStep != "" && slices.Contains(silent, r.Status)
}

// conflicts returns a problem for each id of the row that the ledger does not know for its client: the id or the key was edited. asks are
// the claim steps that the row asks for, showsFound is Comparison.showsFound; invalid reports whether a cell of the row cannot be used.
func (r Row) conflicts(known map[string]ledger.Step, asks []string, showsFound, invalid bool) problem.List {
	var found problem.List
	conflict := func(at problem.Where, what, hint string) {
		found = append(found, problem.At(at, "id-conflict", "%s", what).Hinted("%s", hint))
	}
	const (
		clientHint = "put the client key or the id back as it was; if this is to be a new client, clear Claimsheet's cells in the row"
		doubtHint  = "to say what became of the step in doubt, clear this cell, and write “created” with the id behind it into its cell Settle in the sheet Steps"
		claimHint  = "put the claim's key or the id back as it was; if this is to be a new claim, clear Claimsheet's cells in the row"
	)
	isInDoubt := func(key string) bool { return known[key].State == ledger.Uncertain }
	client := known[string(mapping.ClientStep)]
	switch {
	case r.ClientID == "" || showsFound && (client.State == "" || slices.Contains(unsent, string(client.State))) || r.ClientID == client.ID:
	case client.State == ledger.Uncertain:
		conflict(r.ClientIDAt, "the row shows a client's id, and the ledger has the client in doubt", doubtHint)
	case client.ID == "":
		conflict(r.ClientIDAt, "the row shows a client's id, and the ledger knows none under the row's client key", clientHint)
	default:
		conflict(r.ClientIDAt, "this id differs from the one that the ledger has for the client", clientHint)
	}
	switch {
	case r.strays(known, claimSteps(known)) && slices.ContainsFunc(asks, isInDoubt):
		conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger does not know, and has a claim in doubt", doubtHint)
	case r.strays(known, claimSteps(known)):
		conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger does not know for this client", clientHint)
	case r.strays(known, asks) && (invalid || slices.ContainsFunc(asks, func(key string) bool { return known[key].State != ledger.Done })):
		conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger has under another claim key than the row's", claimHint)
	}
	_, _, ofContact := mapping.ContactOf(r.FailedStep) // in a report also where nothing was sent for the row's own client
	if len(found) == 0 && len(known) == 0 && r.tried() && !ofContact {
		conflict(r.StatusAt, "the row says that something was sent, and the ledger knows nothing under the row's client key", clientHint)
	}
	return found
}

// strays reports whether the row shows the id of a claim that none of these steps has.
func (r Row) strays(known map[string]ledger.Step, steps []string) bool {
	return slices.ContainsFunc(r.ClaimIDs, func(id string) bool {
		return !slices.ContainsFunc(steps, func(key string) bool { return known[key].ID == id })
	})
}

// claimSteps returns the keys of a client's claim steps.
func claimSteps(known map[string]ledger.Step) []string {
	var keys []string
	for key, step := range known {
		if step.Kind == ledger.KindClaim {
			keys = append(keys, key)
		}
	}
	return keys
}

// Step is a line of a results workbook's sheet Steps, read back. It may have been sorted, filtered or edited since.
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
		return problem.List{problem.At(s.StateAt, "unknown-state", "this is no state of a step; one of %s was expected",
			strings.Join(workbookStates, ", ")).
			Hinted("a state is not changed here: write created, not created or give up into the column Settle")}
	}
	return nil
}

// Reasons of events that come from a workbook.
const (
	reasonTakenOver = "taken over from a results workbook"
	reasonLostID    = "a results workbook says that it is done, and has lost the id"
)

// toEvent returns the event by which the ledger takes the step over. ok is false for a step that certainly does not exist, but for a fresh
// link: else the ledger could not tell that one is missing. A client or claim that is done but has no id becomes uncertain, so that a
// cleared cell does not create it again.
func (s Step) toEvent(id ledger.StepID) (event ledger.Event, ok bool) {
	isUnsent := slices.Contains(unsent, s.State)
	if isUnsent && !strings.HasPrefix(s.Step, ledger.KindLink+"/") {
		return ledger.Event{}, false
	}
	id.Space, id.Client, id.Step = strings.Clone(id.Space), strings.Clone(id.Client), strings.Clone(id.Step) // the reader reuses the texts
	event = ledger.Event{StepID: id, State: ledger.State(s.State), At: time.Now().UTC(), Kind: settle.KindOf(s.Step),
		Via: ledger.ViaWorkbook, Reason: reasonTakenOver, ID: strings.Clone(s.ID)}
	needsID := event.Kind == ledger.KindClient || event.Kind == ledger.KindClaim
	switch {
	case isUnsent:
		event.State, event.Via = ledger.Refused, ""
	case event.State == ledger.Sent:
		event.State = ledger.Uncertain
	case event.State == ledger.Done && needsID && s.ID == "":
		event.State, event.Reason = ledger.Uncertain, reasonLostID
	}
	return event, true
}

// conflict returns a problem when the line has another id than the ledger; the zero ledger.Step is an unknown one. An empty id is no
// conflict, and neither is that of a client whom a look-up found.
func (s Step) conflict(known ledger.Step, showsFound bool) problem.List {
	takenOver := known.State == "" && !slices.Contains(unsent, s.State)
	found := known.State == "" && showsFound && s.Step == ledger.KindClient && s.State != string(result.Planned)
	switch {
	case s.ID == "" || s.ID == known.ID || takenOver || found:
		return nil
	case known.ID == "":
		return problem.List{problem.At(s.IDAt, "id-conflict", "the ledger knows of no id for this step").
			Hinted("clear the cell; if the thing exists in the service, record it: claimsheet settle --created ID STEP")}
	}
	return problem.List{problem.At(s.IDAt, "id-conflict", "this id differs from the one that the ledger has for the step").
		Hinted("clear the cell: the ledger's id is the one that counts; claimsheet report writes the whole workbook again")}
}
