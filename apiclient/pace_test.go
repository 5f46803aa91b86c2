package apiclient_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
	"claimsheet/apiclient/apitest"
	"claimsheet/importer/testform"
)

// clockwork is a service that records when requests arrive, counted from its start.
type clockwork struct {
	start time.Time
	mu    sync.Mutex
	at    []time.Duration
	say   func(n int, at time.Duration) (status int, retryAfter string) // to the n-th request; nil: 200
	way   time.Duration                                                 // the longest that a request is on its way
}

func (s *clockwork) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(time.Duration(rand.Int64N(int64(s.way) + 1)))
	s.mu.Lock()
	at := time.Since(s.start)
	s.at = append(s.at, at)
	status, wait := 200, ""
	if s.say != nil {
		status, wait = s.say(len(s.at), at)
	}
	s.mu.Unlock()
	time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {wait}},
		Body: io.NopCloser(strings.NewReader(`{"contactId":"a"}`)), Request: req}, nil
}

// clocked returns a client of a clockwork.
func clocked(t *testing.T, s *clockwork, change func(*apiclient.Config)) *apiclient.Client {
	t.Helper()
	s.start = time.Now()
	return with(t, change, func(cfg *apiclient.Config) { cfg.Transport = s })
}

// work sends n requests from several workers and returns when all are answered.
func work(t *testing.T, c *apiclient.Client, workers, n int) {
	t.Helper()
	work := make(chan int, n)
	for i := range n {
		work <- i
	}
	close(work)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range work {
				req := c.Routes().Find(apiclient.ByEmail, "jane@example.com")
				if i%2 == 0 {
					req = createContact(c)
				}
				_, _ = c.Do(t.Context(), req)
			}
		})
	}
	wg.Wait()
}

// maxInASecond returns the largest number of arrivals in any window of one second.
func maxInASecond(at []time.Duration) int {
	most := 0
	for i, first := range at {
		n := 0
		for _, other := range at[i:] {
			if other < first+time.Second {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// No window of a second holds more requests than the rate, and hardly fewer while there is work. At the service that
// holds as long as the times on the way differ by at most 50 ms; and requests that wait for a new token do not all leave
// at once when it arrives.
func TestTheRateIsATrueCeiling(t *testing.T) {
	for _, rate := range []float64{1, 5, 10, 50, 2.5} {
		for name, test := range map[string]struct {
			workers    int
			way, token time.Duration
			full       bool // the rate is used
		}{
			"a worker": {1, 0, 0, false}, "16 workers": {16, 0, 0, true},
			"on the way": {16, 50 * time.Millisecond, 0, false}, "a token": {16, 0, 10 * time.Second, false},
		} {
			synctest.Test(t, func(t *testing.T) {
				s := &clockwork{way: test.way}
				fetched := make(chan struct{})
				time.AfterFunc(test.token, func() { close(fetched) })
				c := clocked(t, s, func(cfg *apiclient.Config) {
					cfg.RequestsPerSecond = rate
					cfg.Authorize = func(context.Context, *http.Request) error { <-fetched; return nil }
				})
				n := int(rate*20) + 1
				work(t, c, test.workers, n)
				if most := maxInASecond(s.at); float64(most) > max(rate, 1)+0.999 || rate == float64(int(rate)) && float64(most) > rate {
					t.Errorf("%g a second, %s: %d in one second", rate, name, most)
				}
				if last := s.at[n-1]; test.full && last > 21*time.Second+time.Millisecond {
					t.Errorf("%g a second: %d requests took %v, want 21s", rate, n, last)
				}
			})
		}
	}
}

// A 429 pauses all workers for as long as it says, whatever kind of request got it.
// Afterwards half as many requests go out, and soon nearly as many as before.
func TestA429PausesAllRequests(t *testing.T) {
	retry503 := []apiclient.Rule{{Status: 503, Means: "retry"}}
	for name, test := range map[string]struct {
		status int
		wait   string
		rules  []apiclient.Rule
		pause  time.Duration
	}{
		"429":                  {429, "30", nil, 30 * time.Second},
		"429 without a time":   {429, "", nil, 500 * time.Millisecond},
		"429 for ever":         {429, "86400", nil, 15 * time.Minute},
		"503 with a time":      {503, "30", nil, 30 * time.Second},
		"503 by a rule":        {503, "", retry503, 500 * time.Millisecond},
		"503 by a rule, timed": {503, "30", retry503, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &clockwork{say: func(n int, _ time.Duration) (int, string) {
					if n == 100 {
						return test.status, test.wait
					}
					return 200, ""
				}}
				c := clocked(t, s, func(cfg *apiclient.Config) { cfg.RequestsPerSecond, cfg.Rules = 20, test.rules })
				work(t, c, 16, 600)
				after := slices.IndexFunc(s.at, func(at time.Duration) bool { return at >= s.at[99]+test.pause })
				// Answers take up to 0.1 s, in which others leave.
				if late := after - 100; late > 2 {
					t.Errorf("%d requests left between the answer and the end of the pause", late)
				}
				slow := s.at[after+10] - s.at[after]
				fast := s.at[599] - s.at[589]
				if slow < 650*time.Millisecond || slow > 900*time.Millisecond {
					t.Errorf("after the pause 10 requests took %v, want about 0.75s: half the rate, which doubles in a second", slow)
				}
				if fast < 524*time.Millisecond || fast > 535*time.Millisecond {
					t.Errorf("in the end 10 requests took %v, want 0.525s: the whole rate", fast)
				}
				if most := maxInASecond(s.at); most > 20 {
					t.Errorf("%d in one second", most)
				}
			})
		})
	}
}

// Each refusal in a row without Retry-After doubles the pause.
func TestPausesDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &clockwork{say: func(n int, _ time.Duration) (int, string) { return 429, "" }}
		c := clocked(t, s, func(*apiclient.Config) {})
		work(t, c, 1, 12)
		for i := 2; i < len(s.at); i++ {
			gap, before := s.at[i]-s.at[i-1], s.at[i-1]-s.at[i-2]
			if gap < before-100*time.Millisecond || gap > 62*time.Second {
				t.Errorf("pause %d is %v after one of %v", i, gap, before)
			}
		}
		if longest := s.at[11] - s.at[10]; longest < time.Minute {
			t.Errorf("the last pause is %v, want a minute", longest)
		}
	})
}

// A single 429 costs its pause and a few seconds, also where it is one of the first answers
// and says nothing of what the service takes.
func TestASingle429IsSoonOvercome(t *testing.T) {
	for name, c := range map[string]struct {
		at      int // which request
		ceiling float64
	}{"at the start": {5, 0}, "in full flow": {2000, 0}, "under a ceiling": {2000, 100}} {
		if !*testform.Long && name != "under a ceiling" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			took := map[bool]time.Duration{}
			for _, refused := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					s := &clockwork{say: func(n int, _ time.Duration) (int, string) {
						if refused && n == c.at {
							return 429, "1"
						}
						return 200, ""
					}}
					client := clocked(t, s, func(cfg *apiclient.Config) { cfg.RequestsPerSecond = c.ceiling })
					work(t, client, 1, 6) // the first client of a run goes ahead
					work(t, client, 16, 6000)
					took[refused] = s.at[len(s.at)-1]
				})
			}
			t.Logf("%v without, %v with a 429", took[false], took[true])
			if cost := took[true] - took[false]; cost > time.Second+4*time.Second {
				t.Errorf("a 429 that asks for a second costs %v", cost)
			}
		})
	}
}

// A request whose context ends leaves the queue at once and blocks no other.
func TestStoppingEndsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &clockwork{say: func(n int, _ time.Duration) (int, string) {
			if n == 1 {
				return 429, "600"
			}
			return 200, ""
		}}
		c := clocked(t, s, func(cfg *apiclient.Config) { cfg.RequestsPerSecond = 1 })
		work(t, c, 1, 1)
		reason, until := c.Waiting()
		if reason != "the service asks to wait (HTTP 429)" || time.Until(until).Round(time.Second) != 600*time.Second {
			t.Errorf("waiting: %q for %v", reason, time.Until(until))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if v := c.Create(ctx, createContact(c)); v.Effect != apiclient.NotSent || v.Reason != "stopped before it was sent" {
					t.Errorf("%s, %s", v.Effect, v.Reason)
				}
			})
			wg.Go(func() {
				if _, err := c.Reserve(ctx); err == nil {
					t.Error("a slot during the pause")
				}
			})
		}
		wg.Wait()
		if took := time.Since(s.start); took > 61*time.Second {
			t.Errorf("stopping took %v", took)
		}
		work(t, c, 4, 4)
		if len(s.at) != 5 || s.at[1] < 600*time.Second {
			t.Errorf("arrivals at %v", s.at)
		}
	})
}

// A pause that begins while requests wait to leave gives a reserved one back at once, and no other leaves before its end,
// also where the reserved one waits behind a look-up.
func TestAPauseGivesAReservedRequestBack(t *testing.T) {
	for _, limiter := range []apiclient.Limiter{nil, &agreed{}} {
		synctest.Test(t, func(t *testing.T) {
			start, arrived := time.Now(), make(chan time.Duration, 3)
			c := against(t, func(w http.ResponseWriter, _ *http.Request) {
				if arrived <- time.Since(start); len(arrived) > 1 {
					_, _ = io.WriteString(w, `{"contactId":"a"}`)
					return
				}
				time.Sleep(800 * time.Millisecond)
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusTooManyRequests)
			}, func(cfg *apiclient.Config) { cfg.RequestsPerSecond, cfg.Limiter = 1, limiter })
			lookUp := c.Routes().Find(apiclient.ByEmail, "jane@example.com")
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = c.Do(t.Context(), lookUp) })
			time.Sleep(700 * time.Millisecond)
			slot, err := c.Reserve(t.Context())
			noError(t, err)
			wg.Go(func() {
				if a, err := c.Do(apiclient.WithSlot(t.Context(), slot), lookUp); err != nil || a.Status != 200 {
					t.Errorf("the look-up: %+v, %v", a, err)
				}
			})
			synctest.Wait()
			v := c.CreateReserved(t.Context(), slot, createContact(c))
			if took := time.Since(start); v.Effect != apiclient.NotSent || v.Retry != apiclient.AfterPause || !strings.Contains(v.Reason, "asks to wait") || took > 1500*time.Millisecond {
				t.Errorf("%+v after %v", v, took)
			}
			wg.Wait()
			if n := len(arrived); n != 2 || <-arrived > 0 || <-arrived < 30800*time.Millisecond {
				t.Errorf("%d arrived, or one in the pause", n)
			}
		})
	}
}

// Only one caller at a time has a slot; its request leaves next, and the ceiling
// holds.
func TestASlotIsForOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &clockwork{}
		c := clocked(t, s, func(cfg *apiclient.Config) { cfg.RequestsPerSecond = 2 })
		var mu sync.Mutex
		holders, most := 0, 0
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				slot, err := c.Reserve(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				holders++
				most = max(most, holders)
				mu.Unlock()
				time.Sleep(50 * time.Millisecond) // the ledger
				mu.Lock()
				holders--
				mu.Unlock()
				if i == 7 {
					slot.Release() // changed its mind
					return
				}
				c.CreateReserved(t.Context(), slot, createContact(c))
			})
		}
		wg.Wait()
		if most != 1 || len(s.at) != 15 || maxInASecond(s.at) > 2 {
			t.Errorf("%d had a slot at a time, %d requests, %d in one second", most, len(s.at), maxInASecond(s.at))
		}
		if last := s.at[14]; last > 7*time.Second+500*time.Millisecond {
			t.Errorf("15 requests took %v, want 7.4s: a slot and its request count once", last)
		}
	})
}

// Never more requests are in flight than the service may have, whatever they are,
// whether or not there is a rate, and while it asks to wait; and hardly fewer while
// there is work.
func TestNeverMoreInFlight(t *testing.T) {
	const most, workers, each = 4, 12, 40
	for _, test := range []struct {
		rate float64
		busy int64 // every so many requests get a 429; 0 for none
	}{{0, 0}, {0, 29}, {100, 0}, {100, 29}} {
		synctest.Test(t, func(t *testing.T) {
			var inFlight, peak, n atomic.Int64
			c := against(t, func(w http.ResponseWriter, _ *http.Request) {
				peak.Store(max(peak.Load(), inFlight.Add(1)))
				defer inFlight.Add(-1)
				time.Sleep(100 * time.Millisecond)
				if n := n.Add(1); test.busy > 0 && n%test.busy == 0 {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				_, _ = io.WriteString(w, `{"contactId":"a"}`)
			}, func(cfg *apiclient.Config) { cfg.RequestsPerSecond, cfg.Concurrency = test.rate, most })
			start := time.Now()
			var wg sync.WaitGroup
			for i := range workers {
				wg.Go(func() {
					for range each {
						if i%3 == 0 {
							_, _ = c.Do(t.Context(), c.Routes().Find(apiclient.ByEmail, "jane@example.com"))
							continue
						}
						slot, err := c.Reserve(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						time.Sleep(10 * time.Millisecond) // the ledger
						if i%3 == 1 {
							slot.Await(t.Context())
						}
						c.CreateReserved(t.Context(), slot, createContact(c))
					}
				})
			}
			wg.Wait()
			if n := peak.Load(); n != most {
				t.Errorf("%+v: %d requests in flight, want %d", test, n, most)
			}
			full := workers * each * 100 * time.Millisecond / most
			if took := time.Since(start); test.rate == 0 && test.busy == 0 && took > full+200*time.Millisecond {
				t.Errorf("it took %v, want %v: the pipe was not full", took, full)
			}
		})
	}
}

// A slot that is given back while it waits for its place, or whose context ends
// there, leaves the place to others.
func TestASlotGivenBackLeavesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, `{"contactId":"a"}`)
		}, func(cfg *apiclient.Config) { cfg.Concurrency = 1 })
		reserve := func() *apiclient.Slot {
			slot, err := c.Reserve(t.Context())
			noError(t, err)
			return slot
		}
		unused := reserve()
		unused.Await(t.Context())
		unused.Release()
		unused.Release()

		go c.Create(t.Context(), createContact(c))
		synctest.Wait()
		ended, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		late := reserve()
		late.Await(ended)
		if v := c.CreateReserved(ended, late, createContact(c)); v.Effect != apiclient.NotSent {
			t.Errorf("%s, want not sent: the context ended", v.Effect)
		}
		if v := c.CreateReserved(t.Context(), reserve(), createContact(c)); v.Effect != apiclient.Created {
			t.Errorf("%s: %s", v.Effect, v.Reason)
		}
	})
}

// A 429 with a cut body also asks to wait: its head says so.
func TestACutAnswerAlsoAsksToWait(t *testing.T) {
	s := apitest.StartRaw(t, nil, apitest.Bytes("HTTP/1.1 429 x\r\nRetry-After: 7\r\nContent-Length: 99\r\n\r\ncut"))
	c := at(t, s.URL)
	v := c.Create(t.Context(), createContact(c))
	if v.Effect != apiclient.Refused || v.Retry != apiclient.AfterPause || v.RetryAfter != 7*time.Second {
		t.Errorf("%+v; want refused, to be sent again after a pause of 7s", v)
	}
	if reason, _ := c.Waiting(); reason == "" {
		t.Error("the client does not wait")
	}
}

// A date in Retry-After is compared with the service's own clock, however far that is from this machine's.
func TestRetryAfter(t *testing.T) {
	const year = 8760 * time.Hour
	for _, tt := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0}, {"0", "", 0}, {"120", "", 2 * time.Minute}, {"-1", "", 0}, {"soon", "", 0}, {"1.5", "", 0},
		{"99999999999", "", year}, {"99999999999999999999999", "", year}, {"Fri, 31 Dec 9999 23:59:59 GMT", "", year},
		{"Wed, 21 Oct 2015 07:28:00 GMT", "", 0},
		{"Wed, 21 Oct 2015 07:29:30 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", 90 * time.Second},
		{"Wed, 21 Oct 1970 07:29:30 GMT", "Wed, 21 Oct 1970 07:28:00 GMT", 90 * time.Second},
		{"Thu, 21 Oct 2100 07:29:30 GMT", "Thu, 21 Oct 2100 07:28:00 GMT", 90 * time.Second},
	} {
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tt.value)
			if tt.date != "" {
				w.Header().Set("Date", tt.date)
			}
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if v := c.Create(t.Context(), createContact(c)); v.RetryAfter != tt.want || v.Retry != apiclient.AfterPause {
			t.Errorf("%q at %q: retry %v after %v, want after %v", tt.value, tt.date, v.Retry, v.RetryAfter, tt.want)
		}
	}
}
