package apiclient_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/testform"
)

// wired is a service over connections that take time to open. It records when requests
// arrive, counted from its start.
type wired struct {
	start time.Time
	opens func() time.Duration // how long the next connection takes to open
	says  func(n int, w http.ResponseWriter)
	slow  time.Duration // the longest that the limiter of several processes takes to answer; 0 means 4 ms

	address string
	conns   chan net.Conn
	opening sync.WaitGroup // net/http goes on without the request
	mu      sync.Mutex
	at      []time.Duration
}

// wire starts the service of a test in a bubble.
func wire(t *testing.T, s *wired) *wired {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	s.start, s.address, s.conns = time.Now(), l.Addr().String(), make(chan net.Conn)
	server := &http.Server{Handler: s}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(s) }()
	t.Cleanup(func() {
		s.opening.Wait()
		_ = l.Close()
		close(s.conns)
		_ = server.Close()
		<-ended
	})
	return s
}

func (s *wired) Accept() (net.Conn, error) {
	if conn, ok := <-s.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (s *wired) Close() error   { return nil }
func (s *wired) Addr() net.Addr { return &net.TCPAddr{} }

// to makes a client open its connections to the service.
func (s *wired) to(cfg *apiclient.Config) {
	cfg.BaseURL = "http://" + s.address
	cfg.Wrap = func(conn net.Conn) net.Conn {
		s.opening.Add(1)
		defer s.opening.Done()
		_ = conn.Close() // in its place there is one by the clock of the bubble
		time.Sleep(s.opens())
		ours, theirs := net.Pipe()
		s.conns <- theirs
		return ours
	}
}

func (s *wired) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.at = append(s.at, time.Since(s.start))
	n := len(s.at)
	s.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	time.Sleep(20 * time.Millisecond)
	w.Header().Set("Content-Type", "application/json")
	if s.says != nil {
		s.says(n, w)
	}
	_, _ = io.WriteString(w, `{"contactId":"a"}`)
}

// arrivals are when requests arrived so far.
func (s *wired) arrivals() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at)
}

// clients are n processes that send to the service; several share a limiter.
func (s *wired) clients(t *testing.T, n int, change func(i int, cfg *apiclient.Config)) (all []*apiclient.Client) {
	t.Helper()
	limiter := &agreed{slow: max(s.slow, 4*time.Millisecond)}
	for i := range n {
		cfg := config(apiclient.V2)
		if s.to(&cfg); n > 1 {
			cfg.Limiter = limiter
			cfg.Now = func() time.Time { return time.Now().Add(time.Duration(i-1) * time.Hour) } // their clocks differ
		}
		change(i, &cfg)
		all = append(all, client(t, cfg))
	}
	return all
}

// No second at the service sees more requests than the rate, however long connections take to open, whether they are
// kept, and also where they open at the same moment; and the rate is used nevertheless.
func TestTheRateHoldsWhereConnectionsAreSlow(t *testing.T) {
	upTo := func(d time.Duration) func(time.Time) time.Duration {
		return func(time.Time) time.Duration { return time.Duration(rand.Int64N(int64(d))) }
	}
	closing := func(_ int, w http.ResponseWriter) { w.Header().Set("Connection", "close") }
	for name, opens := range map[string]struct {
		time func(start time.Time) time.Duration
		says func(int, http.ResponseWriter)
	}{
		"all after 3s":         {func(start time.Time) time.Duration { return time.Until(start.Add(3 * time.Second)) }, nil},
		"up to 1.5s":           {upTo(1500 * time.Millisecond), nil},
		"300ms, never kept":    {func(time.Time) time.Duration { return 300 * time.Millisecond }, closing},
		"up to 1s, never kept": {upTo(time.Second), closing},
	} {
		if !*testform.Long && name != "all after 3s" {
			continue
		}
		for _, test := range []struct {
			processes int
			rate      float64
			used      float64 // of the rate
		}{{1, 5, 0.75}, {2, 5, 0.4}, {1, 10, 0.75}, {1, 1, 0.75}, {1, 0.2, 0.75}, {3, 20, 0.4}, {3, 2, 0.4}} {
			t.Run(fmt.Sprintf("%s, %d processes, %g a second", name, test.processes, test.rate), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					s := wire(t, &wired{opens: func() time.Duration { return opens.time(start) }, says: opens.says})
					if test.processes == 2 {
						s.slow = 150 * time.Millisecond
					}
					all := s.clients(t, test.processes, func(_ int, cfg *apiclient.Config) {
						cfg.RequestsPerSecond, cfg.Concurrency = test.rate, 24
					})
					n := int(test.rate*20) + 5
					workAll(t, all, 32, n)
					at := s.arrivals()
					if len(at) != n*test.processes {
						t.Errorf("%d of %d requests arrived", len(at), n*test.processes)
					}
					if most := mostInASecond(at); float64(most) > max(test.rate, 1) {
						t.Errorf("%d in one second", most)
					}
					used := float64(len(at)) / at[len(at)-1].Seconds() / test.rate
					if t.Logf("%.0f %% of the rate", 100*used); used < test.used {
						t.Errorf("%.0f %% of the rate, want %.0f", 100*used, 100*test.used)
					}
				})
			})
		}
	}
}

// A request whose connection opens during a pause that began meanwhile does not leave
// before its end: a look-up waits for it, and a creating request is given back.
func TestAPauseThatBeginsWhileAConnectionOpens(t *testing.T) {
	for _, processes := range []int{1, 2} {
		for _, rate := range []float64{0, 40} {
			for _, wait := range []time.Duration{2 * time.Second, 30 * time.Second} {
				t.Run(fmt.Sprintf("%d processes, %g a second, %v", processes, rate, wait), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						opens := make(chan time.Duration, 9)
						s := wire(t, &wired{opens: func() time.Duration {
							select {
							case d := <-opens:
								return d
							default:
								return 0
							}
						}, says: func(n int, w http.ResponseWriter) {
							if n == 1 {
								w.Header().Set("Connection", "close") // it is not for those who wait for one
								w.Header().Set("Retry-After", fmt.Sprint(wait.Seconds()))
								w.WriteHeader(http.StatusTooManyRequests)
							}
						}})
						all := s.clients(t, processes, func(_ int, cfg *apiclient.Config) { cfg.RequestsPerSecond = rate })
						first, other := all[0], all[processes-1]
						for _, d := range []time.Duration{2 * time.Second, 2 * time.Second, 500 * time.Millisecond} {
							opens <- d
						}
						var wg sync.WaitGroup
						wg.Go(func() {
							if _, err := other.Do(t.Context(), other.Routes().Find(apiclient.ByEmail, "jane@example.com")); err != nil {
								t.Error(err)
							}
						})
						synctest.Wait()
						time.Sleep(100 * time.Millisecond)
						slot, err := other.Reserve(t.Context())
						noError(t, err)
						wg.Go(func() {
							if v := other.CreateReserved(t.Context(), slot, createContact(other)); v.Effect != apiclient.NotSent || v.Retry != apiclient.AfterPause || !strings.Contains(v.Reason, "asks to wait") {
								t.Errorf("%+v", v)
							}
						})
						synctest.Wait()
						time.Sleep(100 * time.Millisecond)
						_, _ = first.Do(t.Context(), first.Routes().Find(apiclient.ByEmail, "jane@example.com"))
						wg.Wait()
						if at := s.arrivals(); len(at) != 2 || at[1]-at[0] < wait {
							t.Errorf("arrivals at %v, want the second %v after the first", at, wait)
						}
					})
				})
			}
		}
	}
}

// A request that is stopped while it waits on its connection, or for it, is not sent.
func TestStoppingOnAConnection(t *testing.T) {
	for _, processes := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			s := wire(t, &wired{opens: func() time.Duration { return time.Until(start.Add(3 * time.Second)) }})
			c := s.clients(t, processes, func(_ int, cfg *apiclient.Config) { cfg.RequestsPerSecond = 2 })[0]
			ctx, cancel := context.WithTimeout(t.Context(), 3100*time.Millisecond)
			defer cancel()
			var wg sync.WaitGroup
			var mu sync.Mutex
			unsent := 0
			for range 5 {
				wg.Go(func() {
					v := c.Create(ctx, createContact(c))
					if took := time.Since(start); v.Effect == apiclient.NotSent && v.Reason == "stopped before it was sent" && took < 3200*time.Millisecond {
						mu.Lock()
						defer mu.Unlock()
						unsent++
					} else if v.Effect != apiclient.Created {
						t.Errorf("%+v after %v", v, took)
					}
				})
			}
			wg.Wait()
			if in := len(s.arrivals()); unsent == 0 || in+unsent != 5 || c.Sent()[apiclient.CreateClient] != in {
				t.Errorf("%d arrived, %d are not sent, %v are counted", in, unsent, c.Sent())
			}
		})
	}
}

// A request that is stopped while it waits on a kept connection ends at once, and opens no
// other one, also where net/http would send it again.
func TestStoppingOnAKeptConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		s := wire(t, &wired{opens: func() time.Duration { opened++; return 500 * time.Millisecond }})
		c := s.clients(t, 2, func(_ int, cfg *apiclient.Config) { cfg.RequestsPerSecond = 2 })[0]
		if v := c.Create(t.Context(), createContact(c)); v.Effect != apiclient.Created {
			t.Fatalf("%+v", v)
		}
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		v := c.Create(ctx, c.Routes().CreateLink("a", nil))
		if took := time.Since(began); v.Effect != apiclient.NotSent || took > 350*time.Millisecond || opened != 1 || len(s.arrivals()) != 1 {
			t.Errorf("%+v after %v; %d connections were opened, and %d requests arrived", v, took, opened, len(s.arrivals()))
		}
	})
}
