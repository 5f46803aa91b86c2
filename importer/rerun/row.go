package rerun

import (
	"cmp"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Row is a row of a results workbook's sheet Results, read back: the cells of the
// source and those of the columns that Claimsheet added.
type Row struct {
	Record     cell.Record // the source's cells only
	Status     string
	ClientID   string
	ClaimIDs   []string
	URL        string
	Contacts   []string
	FailedStep string

	StatusAt, ClientIDAt, ClaimIDsAt problem.Where
}

// made are the statuses of a row whose client something was sent for.
var made = []string{string(result.Done), string(result.Unchanged), string(result.Changed), string(result.Uncertain)}

// silent are the statuses of a row where only the failed step shows that something
// was sent: a row whose failed step was certainly not created is “failed”.
var silent = []string{string(result.Invalid), string(result.Skipped), string(result.NotStarted)}

// tried reports whether the row says that something was sent for its client.
func (r Row) tried() bool {
	return slices.Contains(made, r.Status) || r.FailedStep != "" && slices.Contains(silent, r.Status)
}

// conflicts returns a problem for each id of the row that the ledger does not know
// for its client: the id or the key was edited, and what was created under the
// old key would be created again under the new one. asks are the claim steps that
// the row asks for. showsFound reports whether the mapping takes over no client that the
// service knew already; their rows show the ids that look-ups found, which belong to no step.
func (r Row) conflicts(known map[string]ledger.Step, asks []string, showsFound bool) problem.List {
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
	case r.ClientID == "" || showsFound && (client.To == "" || slices.Contains(unsent, string(client.To))) || r.ClientID == client.ID:
	case client.ID == "":
		conflict(r.ClientIDAt, "the row shows a client's id, and the ledger knows none under the row's client key", clientHint)
	default:
		conflict(r.ClientIDAt, "this id differs from the one that the ledger has for the client", clientHint)
	}
	switch {
	case r.strays(known, claimSteps(known)):
		conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger does not know for this client", clientHint)
	case r.strays(known, asks) && slices.ContainsFunc(asks, func(key string) bool { return known[key].To != ledger.Done }):
		conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger has under another claim key than the row's", claimHint)
	}
	if len(found) == 0 && len(known) == 0 && r.tried() {
		conflict(r.StatusAt, "the row says that something was sent, and the ledger knows nothing under the row's client key", clientHint)
	}
	return found
}

// strays reports whether the row shows the id of a claim that none of these steps
// has.
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

// prior returns the cells of Claimsheet's columns that a row keeps showing: they
// are the only trace, in the row, of what was created for it under another key.
// ok is false for a row that shows nothing. A row without ids for which something
// was sent keeps that as its failed step, because its status will change.
func (r Row) prior() (cells result.Row, ok bool) {
	cells = result.Row{ClientID: strings.Clone(r.ClientID), URL: strings.Clone(r.URL)} // the reader reuses the texts
	for _, id := range r.ClaimIDs {
		cells.ClaimIDs = append(cells.ClaimIDs, strings.Clone(id))
	}
	for _, contact := range r.Contacts {
		cells.Contacts = append(cells.Contacts, strings.Clone(contact))
	}
	if ok = cells.ClientID != "" || len(cells.ClaimIDs) > 0; !ok && r.tried() {
		cells.FailedStep, ok = cmp.Or(strings.Clone(r.FailedStep), string(mapping.ClientStep)), true
	}
	return cells, ok
}
