package importer

import (
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// WorkbookRow is a row of a results workbook's sheet Results, read back: the
// source's cells and what stands in the columns that Claimsheet added.
type WorkbookRow struct {
	Record   mapping.Record // the source's cells only
	Status   string
	ClientID string
	ClaimIDs []string
	URL      string

	StatusAt, ClientIDAt, ClaimIDsAt problem.Where
}

// made are the statuses of a row for whose client something was sent.
var made = []string{string(DoneRow), string(Unchanged), string(Changed), string(Uncertain)}

// conflicts are what the row shows and the ledger does not know of the client:
// an id was edited, or the client key was, and what is done under the old key
// would be done again under the new one. skips tells that clients whom the
// service knew are left out, so that their rows show ids of no step.
func (r WorkbookRow) conflicts(known map[string]ledger.Step, skips bool) problem.List {
	var found problem.List
	conflict := func(at problem.Where, what string) {
		found = append(found, problem.At(at, "id-conflict", "%s; nothing is sent for the client", what).
			Hinted("put the client key or the id back as it was; if this is to be a new client, clear Claimsheet's cells in the row"))
	}
	client := known[string(mapping.ClientStep)]
	switch {
	case r.ClientID == "" || skips && client.To == "" || r.ClientID == client.ID:
	case client.ID == "":
		conflict(r.ClientIDAt, "the row shows a client's id, and the ledger knows none under the row's client key")
	default:
		conflict(r.ClientIDAt, "this id differs from the one that the ledger has for the client")
	}
	for _, id := range r.ClaimIDs {
		if !slices.ContainsFunc(claimsOf(known), func(claim string) bool { return claim == id }) {
			conflict(r.ClaimIDsAt, "the row shows the id of a claim that the ledger does not know for this client")
			break
		}
	}
	if len(found) == 0 && len(known) == 0 && slices.Contains(made, r.Status) {
		conflict(r.StatusAt, "the row says that something was sent, and the ledger knows nothing under the row's client key")
	}
	return found
}

func claimsOf(known map[string]ledger.Step) []string {
	var ids []string
	for _, step := range known {
		if step.Kind == ledger.KindClaim && step.ID != "" {
			ids = append(ids, step.ID)
		}
	}
	return ids
}
