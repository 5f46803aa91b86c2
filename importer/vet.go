package importer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// ErrLostLedger is wrapped when the ledger hardly knows anything of an
// environment that knows most of the sheet's other clients.
var ErrLostLedger = errors.New("the ledger knows few clients or none, and the service knows most of these already")

// vetted is how many clients are looked up to tell a lost ledger from a new
// one. A smaller sheet is judged by all of its clients, unless they are fewer
// than telling: that a few are known is what existing: reuse is for.
const (
	vetted  = 20
	telling = 5
)

// Vet refuses, before anything is sent, what would do it all again: a mapping
// whose keys or activity ids changed under its name, or whose work is done under
// another name. plans are those of the whole sheet; they are read only when there is
// such another mapping.
func (j *Job) Vet(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	m := j.Binding.Mapping()
	then, known, err := j.Ledger.Definition(ctx, j.Environment, m.Name.Text)
	if err != nil {
		return err
	}
	if known {
		if changes := j.Binding.Redefined(then); len(changes) > 0 {
			return redefined(m, changes)
		}
		if err := j.vetActivities(ctx, then); err != nil {
			return err
		}
	}
	var alike map[string]string // the key spaces of mappings that this one may have been, by name
	if !known {
		if alike, err = j.alike(ctx); err != nil {
			return err
		}
	}
	others, err := j.Ledger.OtherMappings(ctx, j.Environment, m.Name.Text)
	if err != nil || len(others)+len(alike) == 0 {
		return err
	}
	for plan, err := range plans {
		if err == nil && len(others) > 0 {
			err = j.vetClaims(ctx, plan)
		}
		if err == nil {
			err = j.vetName(ctx, plan, alike)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// vetClaims refuses claims that were made under another mapping's name.
func (j *Job) vetClaims(ctx context.Context, plan mapping.Plan) error {
	m := j.Binding.Mapping()
	var claims []string
	for _, step := range plan.Steps {
		if step.Kind == mapping.ClaimStep {
			claims = append(claims, step.Key)
		}
	}
	other, clash, err := j.Ledger.ClaimedElsewhere(ctx, j.owner(plan.Client), m.Name.Text, claims)
	if err != nil || !clash {
		return err
	}
	return problem.At(m.At(m.Name.At), "claims-elsewhere",
		"claims of this sheet are done under the mapping “%s”, or may be: under the name “%s” they would be made again", other, m.Name.Text).
		Hinted("use the name “%s” again; or give --new-identity if these are claims of their own", other)
}

// alike are the mappings with this one's definition under another name, and the
// key spaces of their clients.
func (j *Job) alike(ctx context.Context) (map[string]string, error) {
	definitions, err := j.Ledger.Definitions(ctx, j.Environment)
	alike := map[string]string{}
	for name, definition := range definitions {
		if space, same := j.Binding.SameAs(definition, name); same {
			alike[name] = space
		}
	}
	return alike, err
}

// vetName refuses a mapping that is new to the ledger where another one, defined
// as it is, has been sent for its clients: it was renamed.
func (j *Job) vetName(ctx context.Context, plan mapping.Plan, alike map[string]string) error {
	if len(plan.Steps) == 0 {
		return nil
	}
	m := j.Binding.Mapping()
	for _, name := range slices.Sorted(maps.Keys(alike)) {
		owner := j.owner(plan.Client)
		shared := owner.Space == alike[name]
		owner.Space = alike[name]
		steps, err := j.Ledger.Steps(ctx, owner, name)
		if err != nil {
			return err
		}
		for key, step := range steps {
			if step.To == ledger.Failed || step.To == ledger.NotSent || shared && key == string(mapping.ClientStep) {
				continue
			}
			return problem.At(m.At(m.Name.At), "mapping-renamed",
				"the mapping “%s” is new, and “%s”, which is defined as it is, has run for clients of this sheet: what is done would be done again",
				m.Name.Text, name).
				Hinted("use the name “%s” again; or give --new-identity if everything is to be made for these clients once more", name)
		}
	}
	return nil
}

// redefined refuses a mapping that would do everything again under new names.
func redefined(m *mapping.Mapping, changes []string) error {
	return problem.At(m.At(m.Name.At), "identity-changed", "the mapping “%s” has run before with %s: what is done would be done again",
		m.Name.Text, strings.Join(changes, " and ")).
		Hinted("take the change of client.key, client.key_space, client.lookup or the claims' keys back; " +
			"or give --new-identity if everything in the sheet is to be made anew under the new keys")
}

// detectLostLedger passes plans on, after it has looked the first clients up when
// the ledger knows nothing of them, and hardly any other of the environment: a
// ledger that is new while the service knows most of them was lost or moved. What
// it learns is kept, so no client is looked up twice.
func (j *Job) detectLostLedger(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) iter.Seq2[mapping.Plan, error] {
	return func(yield func(mapping.Plan, error) bool) {
		next, stop := iter.Pull2(plans)
		defer stop()
		first, err := j.firstClients(ctx, next)
		for _, plan := range first {
			if err == nil && !yield(plan, nil) {
				return
			}
		}
		for err == nil {
			plan, e, more := next()
			if !more || !yield(plan, e) {
				return
			}
		}
		yield(mapping.Plan{}, err)
	}
}

// mostRead is how many plans are held to find enough clients to look up.
const mostRead = 50 * vetted

// firstClients reads plans until enough clients of whom the ledger knows nothing
// are looked up to tell whether it was lost, or there are no more; none when the
// ledger is above suspicion.
func (j *Job) firstClients(ctx context.Context, next func() (mapping.Plan, error, bool)) ([]mapping.Plan, error) {
	suspect, err := j.suspect(ctx)
	if err != nil || !suspect {
		return nil, err
	}
	var first []mapping.Plan
	asked, found, unmet, seen := 0, 0, 0, map[string]bool{}
	for asked < vetted && len(first) < mostRead {
		plan, err, more := next()
		if err != nil {
			return first, err
		}
		if !more {
			break
		}
		first = append(first, plan)
		if len(plan.Steps) == 0 || !j.looksUp(plan) || j.leavesOut(plan) != "" || anyOf(seen, lookup.Asked(plan.Lookup), lookup.Addresses(plan)) {
			continue
		}
		if known, err := j.knownSteps(plan); err != nil {
			return first, err
		} else if anySent(known) {
			continue
		}
		met, err := j.lookups.Prefetch(ctx, plan)
		if err != nil {
			j.stop(err)
			return first, nil // the clients are recorded as not started
		}
		j.hear(ctx, met)
		if ctx.Err() != nil {
			return first, nil
		}
		if met.Failed != nil { // says nothing
			if unmet++; unmet == vetted {
				return first, nil
			}
			continue
		}
		asked++
		if met.ID != "" {
			found++
		}
	}
	j.guard.allowed() // the clients' turns bring what was heard here once more
	if asked < telling {
		return first, nil
	}
	if found*2 > asked {
		return first, fmt.Errorf("%w: %d of the first %d; look for the state folder of earlier runs, or give --new-ledger", ErrLostLedger, found, asked)
	}
	return first, j.trust()
}

// suspect tells whether the ledger may be one that took the place of a lost one:
// it knows few clients, or none, and no whole sheet has been vetted with it. What
// is never sent for clients whom the service knows cannot be sent twice.
func (j *Job) suspect(ctx context.Context) (bool, error) {
	switch {
	case j.NewLedger:
		return false, j.trust()
	case j.NoLookup || j.Binding.Mapping().Client.Existing != mapping.Reuse:
		return false, nil
	}
	trusted, err := j.Ledger.Trusted(ctx, j.Environment)
	if err != nil || trusted {
		return false, err
	}
	known, err := j.Ledger.KnownClients(ctx, j.Environment, vetted)
	return known < vetted, err
}

// trust remembers that the ledger is what it should be. A forecast changes
// nothing, and some clients alone say little.
func (j *Job) trust() error {
	if j.effects.dryRun || !j.NewLedger && (j.Limit > 0 || j.Only != (mapping.Identity{})) {
		return nil
	}
	return j.Ledger.Trust(j.Environment)
}

// anySent tells whether a client's steps say more than that nothing was sent.
func anySent(known map[string]ledger.Step) bool {
	for _, step := range known {
		if step.Attempts > 0 || step.To != ledger.Failed {
			return true
		}
	}
	return false
}

// anyOf reports whether one of the keys was seen before, and remembers all of a
// client's.
func anyOf(seen map[string]bool, keys, all []string) bool {
	before := slices.ContainsFunc(keys, func(key string) bool { return seen[key] })
	for _, key := range all {
		seen[key] = true
	}
	return before
}
