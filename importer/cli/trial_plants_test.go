package cli_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// plant is a bug that a trial build has where TRIAL_BUG names it. The package
// importer/cli/trial plants it.
type plant struct {
	name  string
	where where
}

// where is where a bug shows.
type where int

const (
	anywhere        where = iota
	badService            // only where the service answers badly
	slowService           // only where the service is slow
	doubtfulAddress       // only where a client's creation is in doubt and another has the address; no kill is needed
)

// plants are the bugs that the tests which kill must find.
var plants = []plant{
	{"intent written after the request", anywhere},
	{"nothing written before the end", anywhere},
	{"outcomes written at the end", anywhere},
	{"open intent sent again", anywhere},
	{"sent again after a reset", badService},
	{"sent again after a 500", badService},
	{"sent again after a time-out", slowService},
	{"no settle window", slowService},
	{"settle window shorter than the slowest creation", slowService},
	{"a 5xx taken for a refusal", anywhere},
	{"an address in doubt is anybody's", doubtfulAddress},
}

// mostKills is within how many kills a planted bug must be found.
const mostKills = 200

// TestPlantedBugs holds the tests that kill to finding each of the planted
// bugs: a harness that misses one is blind.
func TestPlantedBugs(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rng := seeded(t, 2)
	var hunts errgroup.Group // most of their time is waiting: more of them than there are cores
	hunts.SetLimit(sideBySide)
	for _, p := range plants {
		seed := rng.Uint64()
		hunt := func(t *testing.T) {
			killed, found := p.hunt(t, rand.New(rand.NewPCG(seed, 0)))
			if found == "" {
				t.Fatalf("not found by %d kills", killed)
			}
			t.Logf("found by %d kills: %s", killed, found)
		}
		hunts.Go(func() error {
			t.Run(p.name, hunt)
			return nil
		})
	}
	_ = hunts.Wait() // the functions return nil
}

// hunt kills a trial build with the bug until the promise is broken, and says
// how.
func (p plant) hunt(t *testing.T, rng *rand.Rand) (killed int, found string) {
	t.Helper()
	bug := "TRIAL_BUG=" + p.name
	if p.where == doubtfulAddress {
		return 0, newcomer(t, bug)
	}
	for killed < mostKills {
		h := newHarness(t, trialName, rng, 10)
		h.env = []string{bug}
		switch p.where {
		case badService:
			h.faults = 30
		case slowService:
			h.way, h.bad = killThenLate, badAnswers[len(badAnswers)-1:]
		}
		stray := h.killAndResume()
		killed += h.killed
		if broken := h.broken(); len(broken) > 0 {
			return killed, strings.Join(broken, "; ")
		}
		if stray != nil {
			t.Log(stray)
		}
	}
	return killed, ""
}

// newcomer is a client whose creation was answered with a 500, so that it is in doubt,
// and another one with the same e-mail address, who stands above it in the next sheet.
// A look-up finds the contact; it is not the newcomer's. It says how the promise is
// broken, "" when it is kept.
func newcomer(t *testing.T, env ...string) (broken string) {
	t.Helper()
	first, second := lead(1, "A-1"), lead(2, "A-2")
	first[1], second[1], second[0] = "L1", "L2", first[0]
	s := newScene(t, byLead, [][]any{first})
	s.service.KeyField = "ref"
	variant{way: "answered 500", workers: "1"}.doubt(s, "client L1")
	s.sheet([][]any{second, first})
	s.runTrial(trialName, env...)
	s.settleDown()
	if id := s.results()[0]["contactId"]; id != "" {
		return "the newcomer has the contact " + id + ", which is L1's"
	}
	for step, made := range s.service.Created() {
		if mine := step == "client L1" || step == "claim L1/A-1" || strings.HasPrefix(step, "link L1"); !mine || len(made) != 1 {
			return fmt.Sprintf("%d times %s", len(made), step)
		}
	}
	return ""
}

// TestNoPlantedBug is the trial build without a bug: what finds the planted
// ones finds nothing in it.
func TestNoPlantedBug(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	h := newHarness(t, trialName, seeded(t, 3), 10)
	if err := h.killAndResume(); err != nil {
		t.Error(err)
	}
	for _, broken := range append(h.broken(), newcomer(t)) {
		if broken != "" {
			t.Error(broken)
		}
	}
}
