package apiclient_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/apiclient"
)

// The transport in the same process behaves like a socket.
func TestInProcessIsLikeASocket(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("Retry-After", "8") // too late
		fmt.Fprintf(w, "%s %s %s %q %v %d %s", r.Method, r.URL.Path, r.URL.RawQuery, body, err, r.ContentLength, r.Header.Get("Content-Type"))
	})
	server := httptest.NewServer(h)
	defer server.Close()
	socket := at(t, server.URL+"/api")
	direct := against(t, h)
	for _, req := range everyRequest(socket.Routes()) {
		want, err := socket.Do(t.Context(), req)
		noError(t, err)
		got, err := direct.Do(t.Context(), req)
		for _, ofTheSocket := range []string{"Date", "Content-Length"} {
			want.Header.Del(ofTheSocket)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v; -socket +direct:\n%s", req.Route, err, diff)
		}
		if want.RetryAfter != 7*time.Second {
			t.Errorf("retry after %v, want 7s", want.RetryAfter)
		}
	}
}

func TestAHandlerThatPanicsIsABrokenConnection(t *testing.T) {
	for _, value := range []any{http.ErrAbortHandler, "jane.canary@example.com"} {
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"contactId":"a"}`)
			panic(value)
		})
		v := c.Create(t.Context(), createContact(c))
		if v.Effect != apiclient.Uncertain || v.Reason != "the connection was closed before the answer was complete" {
			t.Errorf("%s, %q", v.Effect, v.Reason)
		}
	}
}

// A server that closes idle connections just when the next request comes makes
// outcomes uncertain although nothing is wrong, unless the client closes idle
// connections first.
func TestKeepAliveIsNoRace(t *testing.T) {
	t.Parallel()
	const pace = 2200 * time.Millisecond // of the server's idle time-out and of the requests
	const workers, rounds = 100, 2
	var arrived atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"contactId":"a"}`)
	}))
	s.Config.IdleTimeout = pace
	s.Start()
	defer s.Close()
	var mu sync.Mutex
	outcomes := map[string]int{}
	var wg sync.WaitGroup
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
	const total = workers * rounds
	if outcomes[string(apiclient.Created)] != total || arrived.Load() != int64(total) {
		t.Errorf("of %d POSTs %v, %d arrived", total, outcomes, arrived.Load())
	}
}
