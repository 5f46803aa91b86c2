package importer

import (
	"slices"

	"claimsheet/mapping"
)

// turn is a client's place among those with the same e-mail address or phone
// number, now or when an earlier run may have created them. Of two such clients the earlier one in the sheet is made, as a dry run
// foretells, whichever worker is faster.
type turn struct {
	acquaintances *acquaintances
	keys          []string
	ahead         []chan struct{}
	over          chan struct{}
}

// turn takes a client's place. Turns are taken in the order of the sheet and all
// addresses at once, so nobody waits in a circle.
func (a *acquaintances) turn(plan mapping.Plan) turn {
	keys := slices.Concat(addressesOf(plan), a.doubts[plan.Client])
	slices.Sort(keys)
	t := turn{acquaintances: a, keys: slices.Compact(keys), over: make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range t.keys {
		if before := a.last[key]; before != nil {
			t.ahead = append(t.ahead, before)
		}
		a.last[key] = t.over
	}
	return t
}

// wait returns when the turns before this one are over.
func (t turn) wait() {
	for _, before := range t.ahead {
		<-before
	}
}

// end lets the next one go on.
func (t turn) end() {
	a := t.acquaintances
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range t.keys {
		if a.last[key] == t.over {
			delete(a.last, key)
		}
	}
	close(t.over)
}
