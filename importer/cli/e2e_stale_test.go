package cli_test

import (
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

// slowly is a fault after which the scene's clock is ahead.
func (s *scene) slowly(by time.Duration, f apitest.Fault, then func()) apitest.Fault {
	var ahead atomic.Int64
	s.pace.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
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
