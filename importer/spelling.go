package importer

import (
	"context"
	"iter"
	"maps"
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// spellings are the clients of a ledger whose keys it has as they were folded by
// older rules, which made two keys of what looks the same. They are the same
// clients, and everything that is done for them stays done.
type spellings struct {
	recorded map[mapping.Identity]mapping.Identity // by the identity as it is folded now
	several  map[mapping.Identity]bool             // those that the ledger has as more than one client
}

// Recorded passes plans on under the keys that the ledger has for their clients.
// A client whom it has as two is refused: what is done stands under both.
func (j *Job) Recorded(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) iter.Seq2[mapping.Plan, error] {
	return func(yield func(mapping.Plan, error) bool) {
		if err := j.readSpellings(ctx); err != nil {
			yield(mapping.Plan{}, err)
			return
		}
		for plan, err := range plans {
			if err == nil {
				j.spelt.spell(&plan, j.Binding)
			}
			if !yield(plan, err) {
				return
			}
		}
	}
}

// readSpellings reads them from the ledger, and has Only name the client as it
// does.
func (j *Job) readSpellings(ctx context.Context) error {
	if j.spelt != nil {
		return nil
	}
	s := &spellings{map[mapping.Identity]mapping.Identity{}, map[mapping.Identity]bool{}}
	owners, err := j.Ledger.ClientsBeyondASCII(ctx, j.Environment)
	if err != nil {
		return err
	}
	for _, o := range owners {
		was := mapping.Identity{Space: o.Space, Key: o.Client}
		now := was.Folded()
		if now == was {
			continue
		}
		known, err := j.Ledger.StepsOfClient(ctx, j.owner(now))
		if err != nil {
			return err
		}
		_, again := s.recorded[now]
		s.several[now] = s.several[now] || again || len(known) > 0
		s.recorded[now] = was
	}
	if was, ok := s.recorded[j.Only]; ok && !s.several[j.Only] {
		j.Only = was
	}
	j.spelt = s
	return nil
}

func (s *spellings) spell(plan *mapping.Plan, b *mapping.Binding) {
	was, ok := s.recorded[plan.Client]
	switch {
	case !ok:
	case s.several[plan.Client]:
		plan.Steps = nil
		for _, row := range plan.Rows {
			plan.Problems = append(plan.Problems, problem.At(b.AtRow(row), "client-twice",
				"the ledger has the client of this key as two, whose keys differ only by characters that cannot be seen: what is done stands under both").
				Hinted("see what both have (claimsheet history), and go on with this client by hand"))
		}
	default:
		plan.Client = was
	}
}

// respell gives a plan's steps the keys that the ledger knows them by. Of several
// spellings of one key the one counts under which most has happened.
func respell(plan mapping.Plan, known map[string]ledger.Step) {
	recorded := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		now := mapping.FoldStep(key)
		if now == key {
			continue
		}
		best, ok := recorded[now]
		if !ok {
			best = now
		}
		if happened(known[key]) > happened(known[best]) {
			best = key
		}
		recorded[now] = best
	}
	if len(recorded) == 0 {
		return
	}
	name := func(key *string) {
		if was, ok := recorded[*key]; ok {
			*key = was
		}
	}
	for i := range plan.Steps {
		name(&plan.Steps[i].Key)
		name(&plan.Steps[i].Claim)
	}
	for i := range plan.Claims {
		name(&plan.Claims[i].Key)
	}
}

// happened ranks what has become of a step: what is done counts before what may
// be, and that before what is surely not.
func happened(step ledger.Step) int {
	switch step.To {
	case "":
		return 0
	case ledger.Failed, ledger.NotSent:
		return 1
	case ledger.Done:
		return 3
	}
	return 2
}
