package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// takenNames returns a problem for each claim to be created whose name another claim of
// the client has, or may have: the names of one client's claims must differ (service
// document, "V2 flows"). The other is to be created too, or it is an earlier one: then
// the ledger knows its name, unless it was taken over by its id, or its data were purged
// and the sheet does not ask for it any more.
func takenNames(plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding) problem.List {
	if len(plan.Problems) > 0 {
		return nil
	}
	var wanted []*mapping.Step // the claims to be created
	purged := map[string]bool{}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		if step.Kind != mapping.ClaimStep || step.KnownID != "" {
			continue
		}
		switch was := known[step.Key]; {
		case mayExist(was.To) && was.Data == nil && was.Via != ledger.ViaAdopted:
			purged[step.Name] = true
		case !mayExist(was.To) && was.To != ledger.Closed:
			wanted = append(wanted, step)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	taken, byName := claimNames(known), map[string][]*mapping.Step{}
	for _, step := range wanted {
		byName[step.Name] = append(byName[step.Name], step)
	}
	var found problem.List
	for _, step := range wanted {
		other, hint, part := "an earlier claim of the client", ". claimsheet history shows the client's claims", false
		switch same := byName[step.Name]; {
		case taken[step.Name] || purged[step.Name]:
		case len(same) == 1:
			continue
		case same[0] == step:
			other, hint = "that of "+nameAt(b, same[1]).String(), ""
		default:
			other, hint = "that of "+nameAt(b, same[0]).String(), ""
			part = step.Rows[0].Table() == same[0].Rows[0].Table() // each sheet's workbook lists its own
		}
		p := problem.At(nameAt(b, step), "claim-name", "the claim has the same name as %s, and the names of one client's claims must differ", other).
			Hinted("correct the cell; or add a column of the claim's key to its name, for example {Agreement no}%s", hint)
		p.Seen, p.Part = strings.Join(step.NameSource.Texts, " "), part
		found = append(found, p)
	}
	return found
}

// nameAt returns the place of the first cell of a claim's name; of a name without
// cells, that of the claim's first row.
func nameAt(b *mapping.Binding, step *mapping.Step) problem.Where {
	if src := step.NameSource; len(src.Columns) > 0 && src.Row != 0 {
		return b.At(src.Columns[0], src.Row)
	}
	return b.AtRow(step.Rows[0])
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
	case ledger.Done, ledger.Sent, ledger.Uncertain:
		return true
	}
	return false
}

// entryOf returns the claims entry and the key in the name of a claim's step.
func entryOf(step string) (entry, key string) {
	entry, key, _ = strings.Cut(strings.TrimPrefix(step, ledger.KindClaim+"/"), "/")
	return entry, key
}

// similarClaims returns a problem for each new claim whose key differs from that of an
// earlier claim of the client only by what is often written in another way: then it is
// most likely that claim. Both keys are personal data and stand in the workbook only.
func similarClaims(plan mapping.Plan, known map[string]ledger.Step, b *mapping.Binding) (found problem.List) {
	for i := range plan.Steps {
		step := &plan.Steps[i]
		if _, was := known[step.Key]; step.Kind != mapping.ClaimStep || was {
			continue
		}
		entry, key := entryOf(step.Key)
		for _, name := range slices.Sorted(maps.Keys(known)) {
			otherEntry, other := entryOf(name)
			if was := known[name]; was.Kind != ledger.KindClaim || !mayExist(was.To) || otherEntry != entry || plainKey(other) != plainKey(key) {
				continue
			}
			for _, row := range step.Rows {
				p := problem.At(b.AtRow(row), "similar-key", "the client has a claim “%s”, and this row asks for another one with the similar key “%s”", other, key).
					Hinted("write the key as before, if it is the same claim; if it is another one, add --accept similar-key")
				p.Seen = key
				found = append(found, p)
			}
		}
	}
	return found
}

// plainKey returns a claim's key without what is often written in another way: case,
// punctuation, leading zeros and a trailing .0.
func plainKey(key string) string {
	key = strings.TrimSuffix(key, ".0")
	key = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	return strings.TrimLeft(key, "0")
}

// waitForDoubts leaves new claims unsent while an earlier claim of the same entry is in
// doubt: after a correction of the key, it would be the same claim a second time.
func waitForDoubts(decisions []decision, known map[string]ledger.Step) {
	for i := range decisions {
		d := &decisions[i]
		if d.step.Kind != mapping.ClaimStep || d.action != send || d.step.KnownID != "" {
			continue
		}
		entry, _ := entryOf(d.step.Key)
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if other, key := entryOf(name); known[name].Kind == ledger.KindClaim && inDoubt(known[name].To) && other == entry {
				d.action, d.why, d.advice = needsOperator, fmt.Sprintf("it is not sent while the client's claim “%s” is in doubt: it may be the same one", key), adviceOtherClaim
				break
			}
		}
	}
}

// fewestMoved is how many new claims are needed to say that claims were moved, and
// mostMoved how many are looked at.
const (
	fewestMoved = 10
	mostMoved   = 200
)

// CheckMovedClaims refuses a sheet in which more than half of the new claims have keys that
// are done under other clients of the mapping, as when a column was sorted alone: they would
// all be made again, for the wrong clients. It looks at the first new claims of the sheet.
// Keys that several clients have, in the sheet or in the ledger, say nothing. The error is a
// problem.Problem, or the ledger's or the sheet's.
func (j *Job) CheckMovedClaims(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	m := j.Binding.Mapping()
	if has, err := j.Ledger.HasSteps(ctx, j.Environment, m.Name.Text, ledger.KindClaim+"/"); err != nil || !has {
		return err
	}
	fresh, several, read := map[string]mapping.Identity{}, map[string]bool{}, 0
	for chunk, err := range chunked(plans, readAhead) {
		if err != nil {
			return err
		}
		owners := make([]ledger.ClientKey, len(chunk))
		for i, plan := range chunk {
			owners[i] = j.owner(plan.Client)
		}
		known, err := j.Ledger.StepsOfClients(ctx, j.Environment, m.Name.Text, owners)
		if err != nil {
			return err
		}
		for i, plan := range chunk {
			for _, step := range plan.Steps {
				if _, was := known[i][step.Key]; was || step.Kind != mapping.ClaimStep || step.KnownID != "" {
					continue
				}
				who, seen := fresh[step.Key]
				several[step.Key] = several[step.Key] || seen && who != plan.Client
				fresh[step.Key] = plan.Client
			}
		}
		if read += len(chunk); read >= mostRead || len(fresh) >= mostMoved {
			break
		}
	}
	maps.DeleteFunc(fresh, func(key string, _ mapping.Identity) bool { return several[key] })
	if len(fresh) < fewestMoved {
		return nil
	}
	done, err := j.Ledger.ClientsWithSteps(ctx, j.Environment, m.Name.Text, slices.Sorted(maps.Keys(fresh)))
	moved := 0
	for key, who := range fresh {
		if of := done[key]; len(of) == 1 && of[0] != j.owner(who) {
			moved++
		}
	}
	if err != nil || moved*2 <= len(fresh) {
		return err
	}
	return problem.New("claims-moved", "%d of the first %d new claims of the sheet are done under other clients: it looks as if a column was sorted alone, and they would be made again for the wrong clients", moved, len(fresh)).
		Hinted("compare the sheet with the last one; if these claims have other clients now, add --accept claims-moved")
}
