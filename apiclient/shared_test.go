package apiclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claimsheet/apiclient"
)

// agreed is a Limiter in memory. Its clock is not that of the processes.
type agreed struct {
	slow time.Duration // the longest that an answer takes

	mu             sync.Mutex
	state          []byte
	away           error
	reads, changes int // all, and those that changed the state
}

// way is half of what an answer takes.
func (a *agreed) way() { time.Sleep(time.Duration(rand.Int64N(int64(a.slow)/2 + 1))) }

func (a *agreed) now() time.Time { return time.Now().Add(-300 * 24 * time.Hour).Round(0) }

func (a *agreed) Change(_ context.Context, change func([]byte, time.Time) []byte) error {
	a.way()
	defer a.way()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads++
	if a.away != nil {
		return a.away
	}
	if state := change(a.state, a.now()); state != nil {
		a.state = state
		a.changes++
	}
	return nil
}

func (a *agreed) gone(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = err
}

// processes are n clients that share a limiter and a service. Their clocks show
// different times.
func processes(t *testing.T, n int, s *clockwork, limiter apiclient.Limiter, change func(i int, cfg *apiclient.Config)) (all []*apiclient.Client) {
	t.Helper()
	for i := range n {
		all = append(all, clocked(t, s, func(cfg *apiclient.Config) {
			cfg.Limiter = limiter
			cfg.Now = func() time.Time { return time.Now().Add(time.Duration(i-1) * time.Hour) }
			change(i, cfg)
		}))
	}
	return all
}

// workAll sends n requests from several workers of each process.
func workAll(t *testing.T, all []*apiclient.Client, workers, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { work(t, c, workers, n) })
	}
	wg.Wait()
}

// Without a ceiling no request asks the limiter: each process reads the state four times
// a second.
func TestWithoutACeilingTheLimiterIsOnlyRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, limiter := &clockwork{}, &agreed{}
		all := processes(t, 2, s, limiter, func(int, *apiclient.Config) {})
		workAll(t, all, 16, 3000)
		seconds := s.at[len(s.at)-1].Seconds()
		if most := 2 * (4*seconds + 1); limiter.changes > 0 || float64(limiter.reads) > most {
			t.Errorf("%d reads and %d changes in %.1f s, want at most %.0f and none", limiter.reads, limiter.changes, seconds, most)
		}
	})
}

// Together, processes send no more in a second than their ceiling, and hardly less while there is work, however long the
// limiter takes to answer.
func TestTheCeilingHoldsOverProcesses(t *testing.T) {
	for _, test := range []struct {
		processes  int
		rate, used float64
		slow       time.Duration
	}{{2, 5, 0.4, 150 * time.Millisecond}, {3, 20, 0.4, 4 * time.Millisecond}, {3, 2, 0.4, 4 * time.Millisecond}, {2, 50, 0.4, 20 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			s := &clockwork{}
			all := processes(t, test.processes, s, &agreed{slow: test.slow}, func(_ int, cfg *apiclient.Config) { cfg.RequestsPerSecond = test.rate })
			n := int(test.rate*20) + 5
			workAll(t, all, 32, n)
			if most := maxInASecond(s.at); float64(most) > test.rate || len(s.at) != n*test.processes {
				t.Errorf("%+v: %d in one second, %d arrived", test, most, len(s.at))
			}
			if used := float64(len(s.at)) / s.at[len(s.at)-1].Seconds() / test.rate; used < test.used {
				t.Errorf("%+v: %.0f %% of the rate", test, 100*used)
			}
		})
	}
}

// The lowest ceiling of the processes that send holds for all of them, also for one
// without a ceiling, and no longer than a few seconds after its process has ended.
func TestTheLowestCeilingHolds(t *testing.T) {
	for _, other := range []float64{40, 0} {
		synctest.Test(t, func(t *testing.T) {
			s := &clockwork{}
			ceilings := []float64{5, other}
			all := processes(t, 2, s, &agreed{}, func(i int, cfg *apiclient.Config) { cfg.RequestsPerSecond = ceilings[i] })
			var wg sync.WaitGroup
			wg.Go(func() { work(t, all[0], 4, 25) })
			time.Sleep(100 * time.Millisecond)
			wg.Go(func() { work(t, all[1], 8, 250) })
			wg.Wait()
			slow := s.at[:slices.IndexFunc(s.at, func(at time.Duration) bool { return at > 10*time.Second })]
			if most := maxInASecond(slow); most > 5 {
				t.Errorf("beside %g: %d in one second while a process holds to 5", other, most)
			}
			if fast := maxInASecond(s.at); fast < 30 {
				t.Errorf("beside %g: %d in one second in the end", other, fast)
			}
		})
	}
}

// While the limiter does not answer, nothing leaves, and the failure says why. What it was
// not told meanwhile, it is told before the next request.
func TestALimiterThatDoesNotAnswer(t *testing.T) {
	for _, rate := range []float64{0, 50} {
		synctest.Test(t, func(t *testing.T) {
			limiter := &agreed{}
			s := &clockwork{say: func(int, time.Duration) (int, string) {
				limiter.gone(errors.New("the server is away"))
				return 429, "10"
			}}
			all := processes(t, 2, s, limiter, func(_ int, cfg *apiclient.Config) { cfg.RequestsPerSecond = rate })
			if v := all[0].Create(t.Context(), createContact(all[0])); v.Effect != apiclient.Refused {
				t.Fatalf("the answer is lost: %+v", v)
			}
			time.Sleep(time.Second)
			slot, err := all[0].Reserve(t.Context())
			if err != nil {
				t.Fatalf("Reserve fails: %v", err)
			}
			v := all[0].CreateReserved(t.Context(), slot, createContact(all[0]))
			if v.Effect != apiclient.NotSent || !v.Stop || !strings.Contains(v.Reason, "the server is away") || !strings.Contains(v.Reason, "nothing is sent") {
				t.Errorf("%+v", v)
			}
			if _, err := all[1].Do(t.Context(), all[1].Routes().Find(apiclient.ByEmail, "jane@example.com")); err == nil || len(s.at) != 1 {
				t.Errorf("%d requests left, %v", len(s.at), err)
			}
			limiter.gone(nil)
			s.say = nil
			v = all[0].Create(t.Context(), createContact(all[0]))
			if _, err := all[1].Do(t.Context(), all[1].Routes().Find(apiclient.ByEmail, "jane@example.com")); err != nil || v.Effect != apiclient.Created {
				t.Errorf("afterwards: %+v, %v", v, err)
			}
			if s.at[1] < 10*time.Second || !strings.Contains(string(limiter.state), `"Cuts":1,`) {
				t.Errorf("the pause did not hold: arrivals %v, %s", s.at, limiter.state)
			}
		})
	}
}

// A limiter that never answers holds no request up for longer than five seconds once it is
// its turn, and who is stopped meanwhile ends at once.
func TestALimiterThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &clockwork{}
		c := processes(t, 1, s, hanging{}, func(_ int, cfg *apiclient.Config) { cfg.RequestsPerSecond = 5 })[0]
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if v := c.Create(t.Context(), createContact(c)); v.Effect != apiclient.NotSent || !strings.Contains(v.Reason, "no answer within 5s") {
					t.Errorf("%+v", v)
				}
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Reserve(ctx); err == nil || time.Since(s.start) > 1100*time.Millisecond {
			t.Errorf("Reserve: %v after %v", err, time.Since(s.start))
		}
		wg.Wait()
		if took := time.Since(s.start); took > 41*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// hanging is a limiter that does not answer.
type hanging struct{}

func (hanging) Change(ctx context.Context, _ func([]byte, time.Time) []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// A shared clock that is set back does not stop the processes.
func TestASharedClockThatIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, limiter := &clockwork{}, &agreed{}
		all := processes(t, 2, s, limiter, func(_ int, cfg *apiclient.Config) { cfg.RequestsPerSecond = 20 })
		workAll(t, all, 4, 20)
		limiter.mu.Lock()
		var state map[string]any
		noError(t, json.Unmarshal(limiter.state, &state))
		state["Last"] = limiter.now().Add(time.Hour) // as it would be
		state["PausedUntil"] = limiter.now().Add(-time.Hour)
		limiter.state, _ = json.Marshal(state)
		limiter.mu.Unlock()
		began := time.Now()
		workAll(t, all, 4, 20)
		if took := time.Since(began); took > 13*time.Second {
			t.Errorf("40 requests took %v", took)
		}
	})
}
