package apiclient_test

import (
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient"
)

var posts = flag.Int("posts", 200, "how many POSTs the keep-alive test sends")

// A server that closes idle connections at the very pace at which requests
// come makes outcomes uncertain although nothing went wrong, unless the client
// gives its connections up first.
func TestKeepAliveIsNoRace(t *testing.T) {
	t.Parallel()
	const pace = 2200 * time.Millisecond // of the server's patience and of the requests
	const rounds = 2
	var arrived, connections atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"contactId":"a"}`)
	}))
	s.Config.IdleTimeout = pace
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	var mu sync.Mutex
	outcomes := map[string]int{}
	var wg sync.WaitGroup
	workers := (*posts + rounds - 1) / rounds
	for range workers {
		c := at(t, s.URL)
		wg.Go(func() {
			for round := range rounds {
				if round > 0 {
					time.Sleep(pace - time.Millisecond + rand.N(2*time.Millisecond))
				}
				v := c.Create(t.Context(), createContact(c))
				mu.Lock()
				outcomes[string(v.Effect)]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	total := workers * rounds
	if outcomes[string(apiclient.Created)] != total || arrived.Load() != int64(total) {
		t.Errorf("of %d POSTs %v, %d arrived", total, outcomes, arrived.Load())
	}
	t.Logf("%d POSTs over %d connections: %v", total, connections.Load(), outcomes)
}
