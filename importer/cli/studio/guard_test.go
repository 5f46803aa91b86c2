package studio

import (
	"testing"
	"time"
)

// A page that waited for news while another one was closed has time to ask again.
func TestOtherTabStays(t *testing.T) {
	t.Parallel()
	g := newGuard(time.Hour)
	answered := g.ask()
	g.bye()
	g.deadline = time.Now().Add(-time.Second) // as it is when the page has waited for longer
	answered()
	if left := time.Until(g.deadline); left < time.Second {
		t.Errorf("the server may end in %v", left)
	}
}
