package importer

import (
	"context"
	"sync"
)

// canary lets one client go first: until a client is through for whom the
// service has answered a request that creates something, nothing is sent for
// another. A pointer of the environment or a
// mapping that is wrong for all shows on one of them. The zero canary lets the
// first come.
type canary struct {
	mu     sync.Mutex
	proven bool
	leader *clientRun    // who goes first, nil while nobody does
	ended  chan struct{} // closed when the leader is through
}

// enter returns when something may be sent for an errand's client, or when ctx
// is done.
func (c *canary) enter(ctx context.Context, r *clientRun) {
	for {
		c.mu.Lock()
		if c.leader == nil && !c.proven {
			c.leader, c.ended = r, make(chan struct{})
		}
		free, ended := c.proven || c.leader == r, c.ended
		c.mu.Unlock()
		if free {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// leads reports that the service has answered for an errand's client before any
// other.
func (c *canary) leads(r *clientRun) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader == r && r.answered
}

// leave ends an errand's going first, if it did. Where nothing reached the
// service for its client after all, the next one goes first.
func (c *canary) leave(r *clientRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader != r {
		return
	}
	c.leader, c.proven = nil, r.answered
	close(c.ended)
}
