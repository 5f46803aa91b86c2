package cli_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// TestStaleLookup: between the look-up of a client and its turn somebody else
// creates it. After a wait of more than a few seconds it is looked up again, and
// found; what the mapping says of known clients is done then. A dry run has nothing
// to wait for.
func TestStaleLookup(t *testing.T) {
	onlyLong(t)
	for existing, want := range map[string]struct {
		code   int
		status string
	}{"reuse": {0, "done"}, "skip": {0, "skipped"}, "fail": {1, "failed"}} {
		for name, wait := range map[string]time.Duration{"long": time.Hour, "short": time.Second} {
			t.Run(existing+", "+name, func(t *testing.T) {
				inEveryVariant(t, nil, nil, func(t *testing.T, v variant) {
					// Nothing is sent for A-1. Of the others one goes first, and the other
					// waits for it with its look-up made.
					s := newScene(t, byAgreement(existing, ""), leads(1))
					s.service.KeyField = "ref"
					if existing == "reuse" {
						s.mustRun(0)
					} else {
						s.service.AddClient("A-1", "c1@example.com", "")
					}
					s.sheet(leads(3))
					if v.odd == (name == "long") {
						s.sheet([][]any{lead(1, "A-1"), lead(3, "A-3"), lead(2, "A-2")})
					}
					var ahead, read atomic.Int64 // the clock's lead, and how often it was read
					s.pace.Clock = func() time.Time {
						defer read.Add(1)
						return aheadBy(&ahead)
					}
					// A look-up reads the clock, and so does what follows from it: the refusal of
					// A-1, and the first creation twice, for the age of its look-up and for its
					// intent.
					readings := map[string]int64{"reuse": 4, "skip": 6, "fail": 8}[existing]
					var mu sync.Mutex
					looked, both, second := map[string]bool{}, make(chan struct{}), ""
					closeBoth := sync.OnceFunc(func() { close(both) })
					s.service.Play(func(c apitest.Call) apitest.Fault {
						mu.Lock()
						defer mu.Unlock()
						switch _, email, _ := strings.Cut(c.Path, "/by-email/"); {
						case email == "c2%40example.com" || email == "c3%40example.com":
							if looked[email] = true; len(looked) == 2 {
								return apitest.Fault{Then: closeBoth}
							}
						case strings.HasPrefix(c.Step, "client ") && second == "":
							second = map[string]string{"client A-2": "A-3", "client A-3": "A-2"}[c.Step]
							return apitest.Fault{Until: both, Then: func() {
								for read.Load() < readings { // the other client's look-up is on its way back
									time.Sleep(time.Millisecond)
								}
								ahead.Store(int64(wait))
								s.service.AddClient(second, "c"+second[2:]+"@example.com", "")
							}}
						}
						return apitest.Fault{}
					})
					code, status, made := want.code, want.status, 0
					if name == "short" { // nobody is asked twice within a moment
						status, made = "done", 1
					}
					p := s.mustRun(code, v.flags()...)
					if n := len(s.service.Created()["client "+second]); n != made {
						t.Errorf("%s was created %d times, want %d\n%s", second, n, made, transcript(p.calls))
					}
					for _, r := range s.results() {
						if r["Agreement no"] == second && r["Import status"] != status {
							t.Errorf("the row of %s is %q, want %q", second, r["Import status"], status)
						}
					}
					if got := p.summary.Requests; got != arrived(p) {
						t.Errorf("requests %+v, arrived %+v", got, arrived(p))
					}
				})
			})
		}
	}
}

// TestStaleAfterRefusal: the service asks for time, for however short, and somebody else
// creates the client meanwhile.
func TestStaleAfterRefusal(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, nil, bothOrders, func(t *testing.T, v variant) {
		s := newScene(t, byAgreement("reuse", ""), v.rows(lead(1, "A-1"), lead(2, "A-2")))
		s.service.KeyField = "ref"
		busy := apitest.Busy(429, 0)
		busy.Then = func() { s.service.AddClient("A-2", "c2@example.com", "") }
		s.service.Play(apitest.Once(onStep("client A-2"), busy))
		p := s.mustRun(0, v.flags()...)
		if n := len(s.service.Created()["client A-2"]); n != 0 {
			t.Errorf("A-2 was created %d times\n%s", n, transcript(p.calls))
		}
		if n := strings.Count(lookups(p), "c2%40example.com"); n != 2 {
			t.Errorf("A-2 was looked up %d times\n%s", n, transcript(p.calls))
		}
	})
}

// aheadBy is this machine's clock, set ahead.
func aheadBy(ahead *atomic.Int64) time.Time {
	return time.Now().Add(time.Duration(ahead.Load()))
}

// slowly is a fault after which the clock of look-ups is ahead.
func (s *scene) slowly(by time.Duration, f apitest.Fault, then func()) apitest.Fault {
	var ahead atomic.Int64
	s.pace.Clock = func() time.Time { return aheadBy(&ahead) }
	f.Then = func() {
		ahead.Add(int64(by))
		then()
	}
	return f
}

// TestStaleDoubt: a creation has been in doubt for long, so a look-up that finds
// nobody is believed. The service then asks for time, and afterwards its look-ups show
// the client: it is not created again.
func TestStaleDoubt(t *testing.T) {
	onlyLong(t)
	inEveryVariant(t, everyWay, bothOrders, func(t *testing.T, v variant) {
		rows := v.rows(lead(1, "A-1"), lead(2, "A-2"))
		s := newScene(t, byAgreement("reuse", ""), rows)
		s.service.KeyField = "ref"
		v.doubt(s, "client A-2")
		s.inDoubt("", apitest.Fault{})
		s.mustRun(4) // what a killed run has left gets its age here
		s.believeAtOnce()
		var shown atomic.Bool
		busy := apitest.Once(onStep("client A-2"), s.slowly(time.Hour, apitest.Busy(429, 0), func() { shown.Store(true) }))
		s.service.Play(func(c apitest.Call) apitest.Fault {
			if c.Kind == "lookup" && !shown.Load() {
				return apitest.Answer(s.service.Nobody)
			}
			return busy(c)
		})
		p := s.mustRun(0, v.flags()...)
		if !shown.Load() {
			t.Errorf("the look-up was not believed\n%s", transcript(p.calls))
		}
		s.service.Play(nil)
		s.foretold(0, v.flags()...)
		for step, made := range s.service.Created() {
			if len(made) != 1 {
				t.Errorf("%s was created %d times\n%s", step, len(made), transcript(p.calls))
			}
		}
	})
}

// TestStaleWhileRepeated: a client who may be asked for again is looked up once
// more where the attempt before took long, and then asked for again.
func TestStaleWhileRepeated(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for name, c := range map[string]struct {
		fault apitest.Fault
		posts int
	}{
		"not created": {apitest.Answer(apitest.JSON(500, `{}`)), 4},
		"created":     {apitest.CreateThen(apitest.JSON(500, `{}`)), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, stepThree, leads(3))
			s.environment("repeatable: [client]")
			slow := s.slowly(30*time.Second, c.fault, func() {})
			s.service.Play(apitest.Once(onStep("client c2@example.com"), slow))
			if p := s.mustRun(0, "--concurrency", "1"); p.posts()["client"] != c.posts {
				t.Errorf("posts %v", p.posts())
			}
			s.checkPromise()
		})
	}
}
