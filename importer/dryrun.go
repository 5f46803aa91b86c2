package importer

import (
	"maps"
	"sync"

	"claimsheet/importer/ledger"
	"claimsheet/mapping"
)

// A dry run is a run that creates and records nothing. What the run would have recorded by
// then, as far as it matters for later clients, is in the overlay.

// overlay is what a dry run adds to the ledger. It has of the clients no more than others may
// meet: their addresses and ids, and the steps of those who may be contacts. A run has the
// zero overlay, which adds nothing.
type overlay struct {
	mu        sync.RWMutex    // clients are prepared while others are noted
	planned   map[string]bool // activities on further contacts, by the step's key
	people    map[mapping.Identity]ledger.Step
	addresses map[string]plannedOwner
	ids       map[string]ledger.StepID // by kind and id
}

// plannedOwner is a client who would have an address by then, and whether the client is looked up
// by it.
type plannedOwner struct {
	client   mapping.Identity
	lookedUp bool
}

// isPlanned reports whether an earlier client has an activity on a further contact, and notes
// that this one has it.
func (l *overlay) isPlanned(step string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.planned[step]
	l.planned[step] = true
	return before
}

// person returns the step client of a client or contact, if the run would have
// recorded it by then.
func (l *overlay) person(who mapping.Identity) (step ledger.Step, noted bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	step, noted = l.people[who]
	return step, noted
}

// over returns the steps of a client as the run would have them by then.
func (l *overlay) over(who mapping.Identity, known map[string]ledger.Step) map[string]ledger.Step {
	step, noted := l.person(who)
	if !noted || known[ledger.KindClient].To == ledger.Done {
		return known
	}
	above := map[string]ledger.Step{}
	maps.Copy(above, known)
	above[ledger.KindClient] = step
	return above
}

// addressOwner returns the client who would have an address by then.
func (l *overlay) addressOwner(address string) (owner plannedOwner, owned bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	owner, owned = l.addresses[address]
	return owner, owned
}

// take notes the id with which a step would be done by then, unless another one has it.
func (l *overlay) take(e ledger.Event) (holder ledger.StepID, taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := e.Kind + " " + e.ID
	if holder, taken = l.ids[id]; !taken {
		l.ids[id] = e.StepID
	}
	return holder, taken && holder != e.StepID
}

// holder returns another step that would be done with the id of an event by then.
func (l *overlay) holder(e ledger.Event) (of ledger.StepID, found bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	of, found = l.ids[e.Kind+" "+e.ID]
	return of, found && e.ID != "" && of != e.StepID
}
