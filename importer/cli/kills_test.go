package cli_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/testform"
)

var killSeed = flag.Uint64("kill-seed", 0, "seed of the tests that kill; 0 takes a new one")

// inDoubt is how many steps a kill leaves in doubt at most where so many requests may be in flight, as
// docs/reliability.md says.
func inDoubt(inFlight int) int {
	if inFlight <= 1 {
		return 1
	}
	return inFlight + max(1, inFlight/8)
}

// TestKilledLeavesFewInDoubt kills the program with eight requests in flight: each kill leaves no more steps uncertain than is
// promised, whatever number of clients waits for a place.
func TestKilledLeavesFewInDoubt(t *testing.T) {
	t.Parallel()
	const inFlight = 8
	s := newScene(t, stepThree, leads(60))
	rng, before := seeded(t, 0), 0
	for kill := range testform.LongOr(4, 1) {
		p := child(programName, s.args("--concurrency", fmt.Sprint(inFlight)))
		at, posts := 20+rng.Int64N(20), atomic.Int64{}
		s.service.Play(func(c apitest.Call) (f apitest.Fault) {
			if f.Delay = time.Millisecond; c.Method != "GET" && posts.Add(1) == at {
				p.kill()
			}
			return f
		})
		if code, said := p.end(t); code != -1 {
			t.Fatalf("exit code %d: it was not killed\n%s", code, said)
		}
		s.settleDown()
		s.service.Play(nil)
		now := len(listed.FindAllString(claimsheet(t, "settle", "-m", s.path("mapping.yaml")).out, -1))
		if now-before > inDoubt(inFlight) {
			t.Errorf("kill %d left %d steps in doubt, want at most %d", kill+1, now-before, inDoubt(inFlight))
		}
		before = now
	}
	if p := s.run(); p.code != 0 && p.code != 4 { // look-ups find the clients
		t.Errorf("exit code %d\n%s", p.code, p.err)
	}
	s.checkPromise()
}

// seeded is the chance that a test which kills goes by; it says how to have the same again.
func seeded(t *testing.T, stream uint64) *rand.Rand {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, stream))
}

// uncertain are the client keys of the steps that are left for a person.
func (s *scene) uncertain() (clients []string) {
	s.t.Helper()
	for _, step := range s.steps() {
		if step["State"] == "uncertain" {
			clients = append(clients, step["Client key"])
		}
	}
	return clients
}

// runTrial runs a program over the scene, one client after the other.
func (s *scene) runTrial(name string, env ...string) (code int, said string) {
	s.t.Helper()
	return child(name, s.args("--concurrency", "1"), env...).end(s.t)
}
