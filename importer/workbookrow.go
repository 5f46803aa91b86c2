package importer

import (
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// WorkbookRow is a row of a results workbook's sheet Results, read back: the
// source's cells and what stands in the columns that Claimsheet added.
type WorkbookRow struct {
	Record     cell.Record // the source's cells only
	Status     string
	ClientID   string
	ClaimIDs   []string
	URL        string
	FailedStep string

	StatusAt, ClientIDAt, ClaimIDsAt problem.Where
}

// made are the statuses of a row for whose client something was sent.
var made = []string{string(result.Done), string(result.Unchanged), string(result.Changed), string(result.Uncertain)}

// silent are the statuses of a row of which its failed step alone tells that
// something was sent: a row whose failed step is surely not created is failed.
var silent = []string{string(result.Invalid), string(result.Skipped), string(result.NotStarted)}

// tried tells that the row says that something was sent for its client.
func (r WorkbookRow) tried() bool {
	return slices.Contains(made, r.Status) || r.FailedStep != "" && slices.Contains(silent, r.Status)
}

// conflicts are what the row shows and the ledger does not know of the client:
// an id was edited, or a key was, and what is done under the old key would be
// done again under the new one. asks are the claim steps that the row asks for.
// skips tells that clients whom the service knew are left out, so that their rows
// show ids of no step.
func (r WorkbookRow) conflicts(known map[string]ledger.Step, asks []string, skips bool) problem.List {
	var found problem.List
	conflict := func(at problem.Where, what, hint string) {
		found = append(found, problem.At(at, "id-conflict", "%s; nothing is sent for the client", what).Hinted("%s", hint))
	}
	const (
		clientHint = "put the client key or the id back as it was; if this is to be a new client, clear Claimsheet's cells in the row"
		claimHint  = "put the claim's key or the id back as it was; if this is to be a new claim, clear Claimsheet's cells in the row"
	)
	client := known[string(mapping.ClientStep)]
	switch {
	case r.ClientID == "" || skips && (client.To == "" || slices.Contains(unsent, string(client.To))) || r.ClientID == client.ID:
	case client.ID == "":
		conflict(r.ClientIDAt, "the row shows a client's id, and the ledger knows none under the row's client key", clientHint)
	default:
		conflict(r.ClientIDAt, "this id differs from the one that the ledger has for the client", clientHint)
	}
	switch {
	case r.strays(known, claimSteps(known)):
		conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger does not know for this client", clientHint)
	case r.strays(known, asks) && anyNew(known, asks):
		conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger has under another claim key than the row's", claimHint)
	}
	if len(found) == 0 && len(known) == 0 && r.tried() {
		conflict(r.StatusAt, "the row says that something was sent, and the ledger knows nothing under the row's client key", clientHint)
	}
	return found
}

// strays tells that the row shows the id of a claim that is none of these steps'.
func (r WorkbookRow) strays(known map[string]ledger.Step, steps []string) bool {
	return slices.ContainsFunc(r.ClaimIDs, func(id string) bool {
		return !slices.ContainsFunc(steps, func(key string) bool { return known[key].ID == id })
	})
}

// anyNew tells that one of the steps is not done.
func anyNew(known map[string]ledger.Step, steps []string) bool {
	return slices.ContainsFunc(steps, func(key string) bool { return known[key].To != ledger.Done })
}

// claimSteps are the client's claim steps.
func claimSteps(known map[string]ledger.Step) []string {
	var keys []string
	for key, step := range known {
		if step.Kind == ledger.KindClaim {
			keys = append(keys, key)
		}
	}
	return keys
}
