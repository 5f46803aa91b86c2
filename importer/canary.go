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
	leader *errand       // who goes first, nil while nobody does
	ended  chan struct{} // closed when the leader is through
}

// enter returns when something may be sent for an errand's client, or when ctx
// is done.
func (c *canary) enter(ctx context.Context, e *errand) {
	for {
		c.mu.Lock()
		if c.leader == nil && !c.proven {
			c.leader, c.ended = e, make(chan struct{})
		}
		free, ended := c.proven || c.leader == e, c.ended
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
func (c *canary) leads(e *errand) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader == e && e.answered
}

// leave ends an errand's going first, if it did. Where nothing reached the
// service for its client after all, the next one goes first.
func (c *canary) leave(e *errand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader != e {
		return
	}
	c.leader, c.proven = nil, e.answered
	close(c.ended)
}
