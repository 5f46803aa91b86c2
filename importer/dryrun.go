package importer

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// Forecast is Do over an overlay of the ledger: results and counts are those that Do would have. It
// sends nothing but look-ups; with NoLookup not even these, and clients whom the ledger does not know
// count as new. Its errors are those of Do, and the end of ctx.
func (j *Job) Forecast(ctx context.Context, plans iter.Seq2[mapping.Plan, error]) error {
	known, err := j.Ledger.KnownClients(ctx, j.Environment, 1)
	if err != nil {
		return err
	}
	j.mode = modeDry
	j.Ledger = &overlay{Ledger: j.Ledger, empty: known == 0, contacts: j.hasContacts(), meet: j.hasContacts() || len(j.Groups.sizes) > 0,
		ids:   map[string]ledger.StepID{},
		steps: map[ledger.ClientKey]map[string]ledger.Event{}, addresses: map[string][]ledger.AddressOwner{}}
	if err := j.Do(ctx, plans); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// overlay is the ledger of a dry run. It reads from the ledger below it. What the run would have
// recorded is kept in memory, as far as it counts for later clients.
type overlay struct {
	Ledger
	empty    bool // the ledger below knew no client when the dry run began
	contacts bool // a person may be in several plans: steps are kept
	meet     bool // clients may have an address in common: addresses are kept

	mu        sync.RWMutex // clients are prepared while others are recorded
	steps     map[ledger.ClientKey]map[string]ledger.Event
	addresses map[string][]ledger.AddressOwner
	ids       map[string]ledger.StepID // by id; those of claims are UUIDs, so no two kinds have one by chance
}

// Append keeps what would be done. Like the ledger it refuses to give one id to two steps.
func (l *overlay) Append(events ...ledger.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		if e.State != ledger.Done {
			continue
		}
		if e.ID != "" {
			if holder, taken := l.ids[e.ID]; taken && holder != e.StepID {
				return ledger.Taken{Step: e.StepID, Holder: holder}
			}
			l.ids[e.ID] = e.StepID
		}
		for _, address := range e.Addresses {
			if l.meet {
				owner := ledger.AddressOwner{ClientKey: e.ClientKey, Address: address, State: ledger.Done, Run: e.Run,
					LookedUp: slices.Contains(e.LookedUp, address)}
				l.addresses[address] = withOwner(l.addresses[address], owner)
			}
		}
		if l.contacts {
			if l.steps[e.ClientKey] == nil {
				l.steps[e.ClientKey] = map[string]ledger.Event{}
			}
			e.Run = "" // for the client's own rows it was done before
			l.steps[e.ClientKey][e.Step] = e
		}
	}
	return nil
}

// Steps returns the steps of a client as a run would have them at this point.
func (l *overlay) Steps(ctx context.Context, owner ledger.ClientKey, mapping string) (map[string]ledger.Step, error) {
	known, err := l.Ledger.Steps(ctx, owner, mapping)
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err != nil || len(l.steps[owner]) == 0 {
		return known, err
	}
	steps := maps.Clone(known)
	if steps == nil {
		steps = map[string]ledger.Step{}
	}
	for key, e := range l.steps[owner] {
		steps[key] = steps[key].After(e)
	}
	return steps, nil
}

// AddressOwners returns the clients who would have the addresses. One who has an address keeps it.
func (l *overlay) AddressOwners(ctx context.Context, environment string, addresses []string) (owners []ledger.AddressOwner, err error) {
	if !l.empty {
		owners, err = l.Ledger.AddressOwners(ctx, environment, addresses)
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, address := range addresses {
		for _, planned := range l.addresses[address] {
			owners = withOwner(owners, planned)
		}
	}
	return owners, err
}

// withOwner adds an owner of an address to some, unless the address is owned in the same way already.
func withOwner(owners []ledger.AddressOwner, one ledger.AddressOwner) []ledger.AddressOwner {
	isSame := func(o ledger.AddressOwner) bool {
		return o.Address == one.Address && o.LookedUp == one.LookedUp && o.State != ledger.Refused
	}
	if slices.ContainsFunc(owners, isSame) {
		return owners
	}
	return append(owners, one)
}

// StepWithID finds another step that would be done with the id of an event.
func (l *overlay) StepWithID(ctx context.Context, e ledger.Event) (t ledger.Taken, ok bool, err error) {
	l.mu.RLock()
	holder, found := l.ids[e.ID]
	l.mu.RUnlock()
	if found && e.ID != "" && holder != e.StepID {
		kind, _, _ := strings.Cut(holder.Step, "/")
		return ledger.Taken{Step: e.StepID, Holder: holder, Kind: kind}, true, nil
	}
	return l.Ledger.StepWithID(ctx, e)
}

// Trust records nothing: a dry run changes nothing.
func (l *overlay) Trust(string) error { return nil }
