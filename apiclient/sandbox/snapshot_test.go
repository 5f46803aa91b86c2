package sandbox

import "slices"

// Snapshot is what a service holds, as plain data. Order is the place of an activity
// among all, counted from 1.
type Snapshot struct {
	Clients []SnapshotClient `json:"clients"` // in order of creation
}

// The aliases make the embedded fields exported, so that tests can compare them.
type (
	ClientRecord   = clientRecord
	ClaimRecord    = claimRecord
	ActivityRecord = activityRecord
	LinkRecord     = linkRecord
)

type SnapshotClient struct {
	ClientRecord
	Claims     []SnapshotClaim    `json:"claims,omitempty"` // that the client administers
	Activities []SnapshotActivity `json:"activities,omitempty"`
	Links      []*LinkRecord      `json:"links,omitempty"`
	StartsAt   string             `json:"startsAt,omitempty"` // the template of the first Open activity
}

type SnapshotClaim struct {
	ClaimRecord
	Activities []SnapshotActivity `json:"activities,omitempty"`
}

type SnapshotActivity struct {
	Order int `json:"order"`
	ActivityRecord
}

// Snapshot copies what the service holds now.
func (s *Service) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := Snapshot{Clients: []SnapshotClient{}}
	for _, c := range s.state.clients {
		out := SnapshotClient{ClientRecord: c.clientRecord, Activities: snapshotOf(c.Activities), StartsAt: c.startsAt(), Links: slices.Clone(c.links)}
		for _, on := range c.Claims {
			if on.Administrator == c {
				out.Claims = append(out.Claims, SnapshotClaim{on.claimRecord, snapshotOf(on.Activities)})
			}
		}
		snap.Clients = append(snap.Clients, out)
	}
	return snap
}

func snapshotOf(list []*activity) (out []SnapshotActivity) {
	for _, act := range list {
		out = append(out, SnapshotActivity{act.place, act.activityRecord})
	}
	return out
}
