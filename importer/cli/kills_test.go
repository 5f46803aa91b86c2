package cli_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// leadsV1 is version 1, flow B: the client with its redirect url, the Open activity, the back-filled one.
const leadsV1 = "name: leads\napi: v1\nsheet: {timezone: Europe/London}\n" + clientPart + "activities:" + detailsActivity + `
  - {template: Sign your claim, status: Open}
`

// places are where a step can be killed, in the order in which it passes them.
var places = []string{"before-intent", "after-intent", "before-write", "half-written", "after-write", "after-answer", "before-outcome", "after-outcome"}

// boundary is a step of a client as the ledger and as the service names it; N stands for the client's number.
type boundary struct{ kind, ledger, service string }

func (b boundary) of(n int) boundary {
	number := strings.NewReplacer("N", fmt.Sprint(n))
	return boundary{b.kind, number.Replace(b.ledger), number.Replace(b.service)}
}

var (
	boundariesV2 = []boundary{
		{"client", "client", "client cN@example.com"},
		{"back-filled activity of the client", "activity/Your details@client", "activity cN@example.com Your details"},
		{"claim", "claim/loan/A-N", "claim cN@example.com/Loan A-N"},
		{"back-filled activity of a claim", "activity/Agreement details@loan/A-N", "activity cN@example.com/Loan A-N Agreement details"},
		{"Open activity", "activity/Sign your claim@client", "activity cN@example.com Sign your claim"},
		{"link", "link", "link cN@example.com"},
	}
	boundariesV1 = []boundary{
		{"v1 client with redirect", "client", "client cN@example.com"},
		{"v1 Open activity", "activity/Sign your claim@client", "activity cN@example.com Sign your claim"},
		{"v1 back-filled activity", "activity/Your details@client", "activity cN@example.com Your details"},
	}
)

// left is what a kill leaves behind: the step that is in doubt afterwards, and whether the service created it.
func left(place string, at, steps int) (doubt int, created bool) {
	doubt = at
	switch place {
	case "before-intent":
		doubt, created = at-1, true
	case "after-write", "after-answer", "before-outcome":
		created = true
	case "after-outcome":
		doubt = at + 1
	}
	if doubt == steps || doubt <= 0 && created {
		doubt = -1
	}
	return doubt, created
}

// TestKilledAtBoundaries kills the program at the places of every kind of step, each time with another client of the
// same sheet, and then lets it go on until nothing is left to send. What is in doubt then is known exactly; no request
// was made twice.
func TestKilledAtBoundaries(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for mapping, steps := range map[string][]boundary{stepThree: boundariesV2, leadsV1: boundariesV1} {
		for at, step := range steps {
			t.Run(step.kind, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, mapping, leads(len(places)))
				for n, place := range places {
					s.killAt(place, step.of(n+1))
				}
				s.runUntilQuiet()
				for n, place := range places {
					doubt, created := left(place, at, len(steps))
					if s.checkLeft(n+1, steps, doubt, created); t.Failed() {
						t.Fatalf("client %d was killed %s", n+1, place)
					}
				}
				s.checkPromise()
			})
		}
	}
}

// runTrial runs a program over the scene, one client after the other.
func (s *scene) runTrial(name string, env ...string) (code int, said string) {
	s.t.Helper()
	return child(name, s.args("--concurrency", "1"), env...).end(s.t)
}

// killAt runs until the program is killed at a place of a step. What it sent before that has come in when killAt
// returns.
func (s *scene) killAt(place string, step boundary) {
	s.t.Helper()
	_, rest, _ := strings.Cut(step.service, " ")
	client, _, _ := strings.Cut(strings.Split(rest, " ")[0], "/")
	s.kill(place, client+":"+step.ledger, func(c apitest.Call) bool { return c.Step == step.service })
	if place == "after-write" {
		s.waitFor("what was written for "+step.service, func() bool { return s.asked()[step.service] > 0 })
	}
	s.settleDown()
}

// kill runs a trial build that is to be killed at a place of what it calls step. A request that is killed when it is
// written must not be answered before that, or the program would be further on: is tells which calls are the step's.
func (s *scene) kill(place, step string, is func(apitest.Call) bool) {
	s.t.Helper()
	dead := make(chan struct{})
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if place == "after-write" && is(c) {
			return apitest.Fault{Until: dead}
		}
		return apitest.Fault{}
	})
	code, out := s.runTrial(trialName, fmt.Sprintf("TRIAL_KILL=%s %s", place, step))
	close(dead)
	s.service.Play(nil)
	if code != -1 {
		s.t.Fatalf("exit code %d: not killed %s of %s\n%s", code, place, step, out)
	}
}

// runUntilQuiet lets the program go on until a run has nothing to send.
func (s *scene) runUntilQuiet() {
	s.t.Helper()
	for range 5 {
		before := len(s.asked())
		if code, out := s.runTrial(trialName); code != 0 && code != 4 {
			s.t.Fatalf("exit code %d\n%s", code, out)
		}
		if len(s.asked()) == before {
			return
		}
	}
	s.t.Fatal("the command does not come to rest")
}

// checkLeft holds what the workbook says of client n's steps, and how often the service was asked for them. doubt is
// the step in doubt, -1 for none.
func (s *scene) checkLeft(n int, steps []boundary, doubt int, created bool) {
	s.t.Helper()
	client := fmt.Sprintf("c%d@example.com", n)
	want, got := []string{}, []string{}
	for i, step := range steps {
		step = step.of(n)
		if i == doubt {
			want = append(want, step.ledger)
		}
		if asked := s.asked()[step.service]; asked > 1 || doubt < 0 && asked != 1 || i == doubt && asked != map[bool]int{true: 1}[created] {
			s.t.Errorf("the service was asked %d times for %s", asked, step.service)
		}
	}
	for _, r := range s.steps() {
		state := r["State"]
		if r["Client key"] != client {
			continue
		}
		if state == "uncertain" {
			got = append(got, r["Step"])
		}
		if doubt < 0 && state != "done" {
			s.t.Errorf("%s: the step %s is %q, though nothing was in doubt", client, r["Step"], state)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("%s: steps in doubt (-want +got):\n%s", client, diff)
	}
}
