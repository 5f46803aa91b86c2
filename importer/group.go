package importer

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/mapping"
)

// Clients who share an address are one group: they are worked on one after the other, in
// the order of the sheet, by one goroutine. So it never depends on chance which of two
// clients is created. A further contact belongs to the group of the client who is the same
// person, or has the same address. Between groups nothing is shared but what the ledger
// refuses to give twice: ids, redirect urls and addresses.

// Groups says which clients of the sheets belong to one group. In the zero value every
// client is a group alone.
type Groups struct {
	parent []int32       // by client number: another member of the group, or the client itself
	sizes  map[int32]int // of the groups with several clients, by the member that all lead to
}

// root returns the member of a client's group to which all lead.
func (g *Groups) root(client int32) int32 {
	for g.parent[client] != client {
		g.parent[client] = g.parent[g.parent[client]]
		client = g.parent[client]
	}
	return client
}

// size returns the group of a client and how many clients it has.
func (g *Groups) size(client int) (group int32, clients int) {
	if client == 0 || len(g.sizes) == 0 {
		return 0, 1
	}
	group = g.root(int32(client))
	return group, max(g.sizes[group], 1)
}

// grouper finds the groups while the rows are surveyed. It holds some bytes for each
// address, which stands there as its fingerprint.
type grouper struct {
	asked    map[[16]byte]int32 // the first client who is looked up by an address
	same     [][2]int32         // clients who are looked up by the same address
	mentions []mention
}

// mention is something that a client's rows say of a person, which matters if another client
// is that person, or is looked up by that address.
type mention struct {
	what   [16]byte
	client int32
}

// add notes the people of a client's row.
func (g *grouper) add(client int, p mapping.People) {
	if g.asked == nil {
		g.asked = map[[16]byte]int32{}
	}
	for _, address := range p.LookedUp {
		key := fingerprint(address)
		if first, known := g.asked[key]; !known {
			g.asked[key] = int32(client)
		} else if first != int32(client) {
			g.same = append(g.same, [2]int32{first, int32(client)})
		}
	}
	for _, who := range p.Others {
		g.mentions = append(g.mentions, mention{fingerprint(who), int32(client)})
	}
}

// groups joins the clients that were noted. numbers are those of the clients, by the
// fingerprints of their keys.
func (g *grouper) groups(numbers map[[16]byte]int) Groups {
	joined := Groups{parent: make([]int32, len(numbers)+1), sizes: map[int32]int{}}
	for i := range joined.parent {
		joined.parent[i] = int32(i)
	}
	join := func(a, b int32) { joined.parent[joined.root(a)] = joined.root(b) }
	for _, pair := range g.same {
		join(pair[0], pair[1])
	}
	for _, m := range g.mentions {
		if client, known := g.asked[m.what]; known {
			join(client, m.client)
		}
		if client, known := numbers[m.what]; known {
			join(int32(client), m.client)
		}
	}
	for i := 1; i < len(joined.parent); i++ {
		if group := joined.root(int32(i)); group != int32(i) {
			joined.sizes[group] = max(joined.sizes[group], 1) + 1
		}
	}
	if len(joined.sizes) == 0 {
		return Groups{}
	}
	return joined
}

// Grouped yields the plans by groups, each when its last plan has come, in the order in
// which they came. A row without a client is a group alone.
func (g Groups) Grouped(plans iter.Seq2[mapping.Plan, error]) iter.Seq2[[]mapping.Plan, error] {
	return func(yield func([]mapping.Plan, error) bool) {
		waiting := map[int32][]mapping.Plan{}
		for plan, err := range plans {
			if err != nil {
				yield(nil, err)
				return
			}
			together := []mapping.Plan{plan}
			if group, clients := g.size(plan.Number); clients > 1 {
				if together = append(waiting[group], plan); len(together) < clients {
					waiting[group] = together
					continue
				}
				delete(waiting, group)
			}
			if !yield(together, nil) {
				return
			}
		}
		for _, together := range waiting { // of a group, not all plans have come
			if !yield(together, nil) {
				return
			}
		}
	}
}

// Where several processes write the ledger, the clients of a group are locked, with the
// addresses by which they are looked up, before what the ledger knows of them is read. So
// processes keep out of each other's way. What a process does is safe without that: the
// ledger refuses what another one has done meanwhile.

// ErrCutOff is wrapped by what ends the part of this process in a run, and not the run: it
// cannot know any more what the other processes do.
var ErrCutOff = errors.New("this process was cut off from the others")

// cutOff is an error that wraps ErrCutOff and says why in its own words.
type cutOff string

func (c cutOff) Error() string { return string(c) }
func (c cutOff) Unwrap() error { return ErrCutOff }

// errLeaseLost ends a run that was stopped or cut off for so long that another process
// may have taken its clients over.
const errLeaseLost = cutOff("this process was paused, or cut off from the ledger's server, for so long that another one may have taken its clients over")

// lockAgain is how long a process waits before it asks again for clients on whom another
// process works.
const lockAgain = 200 * time.Millisecond

// lock returns when this process may work on the clients of some plans. When ctx is done
// before that it returns its error, except where the run is being stopped: then nothing is
// sent for the clients.
func (j *Job) lock(ctx context.Context, plans []mapping.Plan) (unlock func() error, err error) {
	var members ledger.LeaseGroup
	for _, plan := range plans {
		if plan.Client != (mapping.Identity{}) && len(plan.Steps) > 0 && len(plan.Problems) == 0 && j.leavesOut(plan) == "" {
			members = append(members, ledger.LeaseMember{ClientKey: j.owner(plan.Client), Addresses: lookup.Addresses(plan), Run: j.Runs[0]})
		}
	}
	if len(members) == 0 || !j.Ledger.Shared() {
		return func() error { return nil }, nil
	}
	for {
		leased, err := j.Ledger.Lease(j.now().UTC(), []ledger.LeaseGroup{members})
		switch {
		case err != nil:
			return nil, err
		case leased[0]:
			return func() error { return j.Ledger.Release(members) }, nil
		}
		j.waiting.add(1)
		select {
		case <-ctx.Done():
		case <-time.After(lockAgain):
		}
		j.waiting.add(-1)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil, ctx.Err()
		case ctx.Err() != nil:
			return func() error { return nil }, nil
		}
	}
}

// stillLeased reports whether a request may begin. Where another process has taken clients
// of this run over, because this one was paused or cut off for too long, the run ends.
func (j *Job) stillLeased() bool {
	if j.Ledger.Leased() {
		return true
	}
	j.stop(errLeaseLost)
	return false
}

// waiting counts the groups that wait for other processes. It is safe for concurrent use.
type waiting struct{ groups atomic.Int32 }

func (w *waiting) add(n int32) { w.groups.Add(n) }

// why says that the run waits for other processes; "" when it does not.
func (w *waiting) why() string {
	if w.groups.Load() == 0 {
		return ""
	}
	return "another run is at work on the clients that are left"
}
