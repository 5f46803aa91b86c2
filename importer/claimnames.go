package importer

import (
	"encoding/json"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// takenNames returns a problem for each claim to be created whose name an earlier
// claim of the client has, or may have: the names of one client's claims must
// differ. The planner compares the claims of the sheet; only the ledger knows the
// others. The name of an earlier claim is not known when its data were purged, or
// when it was taken over by its id.
func takenNames(plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding) problem.List {
	if len(known) == 0 || len(plan.Problems) > 0 {
		return nil
	}
	var taken map[string]bool
	var found problem.List
	for i := range plan.Steps {
		step := &plan.Steps[i]
		if step.Kind != mapping.ClaimStep || step.KnownID != "" || mayExist(known[step.Key].To) {
			continue
		}
		if taken == nil {
			taken = claimNames(known)
		}
		if !taken[step.Name] {
			continue
		}
		at, src := b.AtRow(step.Rows[0]), step.NameSource
		if len(src.Columns) > 0 {
			at = b.At(src.Columns[0], src.Row)
		}
		p := problem.At(at, "claim-name", "the claim has the same name as an earlier claim of the client, and the names of one client's claims must differ").
			Hinted("correct the cell; or add a column of the claim's key to its name, for example {Agreement no}. claimsheet history shows the client's claims")
		p.Seen = strings.Join(src.Texts, " ")
		found = append(found, p)
	}
	return found
}

// claimNames returns the names that the claims of a client were sent with.
func claimNames(known map[string]ledger.Step) map[string]bool {
	names := map[string]bool{}
	for _, step := range known {
		var sent wanted
		if step.Kind != ledger.KindClaim || !mayExist(step.To) || step.Via == ledger.ViaAdopted || step.Data == nil || json.Unmarshal(step.Data, &sent) != nil {
			continue
		}
		for _, v := range sent.Values {
			if v.Name == mapping.ClaimName {
				names[v.Value] = true
			}
		}
	}
	return names
}

// mayExist reports whether what a step creates exists in the service, or may.
func mayExist(s ledger.State) bool {
	switch s {
	case ledger.Done, ledger.Intent, ledger.Uncertain, ledger.Parked:
		return true
	}
	return false
}
