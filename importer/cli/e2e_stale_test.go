package cli_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/importer/cli"
	"claimsheet/importer/oracle"
)

// TestStaleLookup: between the look-up of a client and its turn somebody else
// creates it. After a wait of more than a few seconds it is looked up again, and
// found; what the mapping says of known clients is done then.
func TestStaleLookup(t *testing.T) {
	for existing, want := range map[string]struct {
		code   int
		status string
	}{"reuse": {0, "done"}, "skip": {0, "skipped"}, "fail": {1, "failed"}} {
		for name, wait := range map[string]time.Duration{"long": 10 * time.Second, "short": time.Second} {
			t.Run(existing+", "+name, func(t *testing.T) {
				// A-1 is known and left out or reused without a request: A-2 goes first,
				// and A-3 waits for it with its look-up made.
				s := newScene(t, byAgreement(existing, ""), leads(3))
				s.oracle.KeyField = "ref"
				var ahead atomic.Int64 // of the clock
				t.Cleanup(cli.LookupClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }))
				lookedUp := make(chan struct{})
				seen := map[string]int{}
				s.oracle.Play(func(c oracle.Call) oracle.Fault {
					switch {
					case c.Step == "client A-2":
						return oracle.Fault{Until: lookedUp, Then: func() {
							ahead.Store(int64(wait))
							s.oracle.AddClient("A-3", "c3@example.com", "")
						}}
					case strings.HasSuffix(c.Path, "/c3%40example.com"):
						if seen["A-3"]++; seen["A-3"] == 1 {
							return oracle.Fault{Then: func() { close(lookedUp) }}
						}
					}
					return oracle.Fault{}
				})
				s.oracle.AddClient("A-1", "c1@example.com", "")
				code, status, made := want.code, want.status, 0
				if name == "short" { // nobody is asked twice within a moment
					code, status, made = 0, "done", 1
				}
				if existing == "fail" {
					code = 1
				}
				p := s.mustRun(code, "--concurrency", "2")
				if n := len(s.oracle.Created()["client A-3"]); n != made {
					t.Errorf("A-3 was created %d times, want %d\n%s", n, made, transcript(p.calls))
				}
				if got := s.results()[2]["Import status"]; got != status {
					t.Errorf("the row of A-3 is %q, want %q", got, status)
				}
				if got := p.summary.Requests; got != arrived(p) {
					t.Errorf("requests %+v, arrived %+v", got, arrived(p))
				}
			})
		}
	}
}

// TestStaleAfterRefusal: the service asks for time, and somebody else creates the
// client meanwhile.
func TestStaleAfterRefusal(t *testing.T) {
	for name, wait := range map[string]time.Duration{"long": 10 * time.Second, "short": 0} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, byAgreement("reuse", ""), leads(2))
			s.oracle.KeyField = "ref"
			var ahead atomic.Int64
			t.Cleanup(cli.LookupClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }))
			busy := oracle.Busy(429, 0)
			busy.Then = func() {
				ahead.Store(int64(wait))
				if wait > 0 {
					s.oracle.AddClient("A-2", "c2@example.com", "")
				}
			}
			s.oracle.Play(oracle.Once(onStep("client A-2"), busy))
			p := s.mustRun(0)
			want := 1
			if wait > 0 {
				want = 0
			}
			if n := len(s.oracle.Created()["client A-2"]); n != want {
				t.Errorf("A-2 was created %d times, want %d\n%s", n, want, transcript(p.calls))
			}
			if n := strings.Count(lookups(p), "c2%40example.com"); n != 2-want {
				t.Errorf("A-2 was looked up %d times, want %d", n, 2-want)
			}
		})
	}
}

// TestSlowRateComesThrough: where requests leave seldom, a look-up and the request
// behind it are far apart by that alone; every client is created all the same.
func TestSlowRateComesThrough(t *testing.T) {
	s := newScene(t, byAgreement("reuse", ""), leads(4))
	s.oracle.KeyField = "ref"
	began := time.Now()
	t.Cleanup(cli.LookupClock(func() time.Time { return began.Add(100 * time.Since(began)) })) // as if at a hundredth of the rate
	p := s.mustRun(0, "--concurrency", "4", "--rate", "20")
	if p.posts()["client"] != 4 {
		t.Errorf("posts %v", p.posts())
	}
}
