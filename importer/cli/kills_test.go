package cli_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"claimsheet/apiclient/apitest"
)

var (
	killSeed = flag.Uint64("kill-seed", 0, "seed of the tests that kill; 0 takes a new one")
	kills    = flag.Int("kills", 100, "how often TestKilled kills, at least")
	faulty   = flag.Int("faulty", 10, "per cent of the POSTs that the service of the tests that kill answers badly")
)

const (
	killsAScene = 8
	sideBySide  = 4 // scenes
	workers     = 4 // requests in flight
)

// inDoubt is how many steps a kill leaves in doubt at most where so many requests may be in flight, as
// docs/reliability.md says.
func inDoubt(inFlight int) int {
	if inFlight <= 1 {
		return 1
	}
	return inFlight + max(1, inFlight/8)
}

// TestKilled kills the program, as it is built, in the middle of its work: when a request has come in, when it has been
// carried out but not answered, and at any time after. The same command goes on each time. In the end nothing was
// created twice, no id is lost, and every kill has left no more steps uncertain than is promised.
func TestKilled(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rng := seeded(t, 0)
	for range sideBySide { // most of their time is waiting: more of them than there are cores
		seed := rng.Uint64()
		t.Run("", func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 0))
			for killed := 0; killed < max(1, *kills/sideBySide) && !t.Failed(); {
				h := newHarness(t, programName, rng, *faulty)
				must(t, h.killAndResume())
				for _, broken := range h.broken() {
					t.Error(broken)
				}
				open := h.uncertain()
				for _, r := range h.results() { // all is done but for what is uncertain
					if status := r["Import status"]; status != "unchanged" && !slices.Contains(open, strings.ToLower(r["E-mail"])) {
						t.Errorf("row %s is %q, though nothing of its client is uncertain: %s", r["Source row"], status, r["Error"])
					}
				}
				t.Logf("%d kills, %d ambiguous answers, %d steps uncertain", h.killed, h.ambiguous.Load(), len(open))
				killed += h.killed
			}
		})
	}
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

// harness kills the program over one scene.
type harness struct {
	*scene
	binary    string
	env       []string
	rng       *rand.Rand
	faults    int // per cent of the POSTs
	bad       []badAnswer
	way       int // of killing; -1 for any
	killed    int
	ambiguous atomic.Int64 // answers that left open what happened
}

func newHarness(t *testing.T, binary string, rng *rand.Rand, faults int) *harness {
	rows := leads(18)
	for n := range 6 {
		rows = append(rows, lead(3*n+1, "second"))
	}
	s := newScene(t, stepThree, rows)
	s.environment("limits: {timeout: 1s}")
	return &harness{scene: s, binary: binary, rng: rng, faults: faults, bad: badAnswers, way: -1}
}

// killAndResume runs the command, killing it some times, until a run of its own accord has nothing left to send.
func (h *harness) killAndResume() error {
	h.t.Helper()
	for range 60 {
		before := len(h.service.Calls())
		wanted := h.killed < killsAScene
		p := child(h.binary, h.args("--concurrency", fmt.Sprint(workers)), h.env...)
		h.service.Play(h.killer(wanted, p.kill)) // the code is -1 when it was killed
		code, out := p.end(h.t)
		sent := slices.ContainsFunc(h.service.Calls()[before:], func(c apitest.Call) bool { return c.Method != "GET" })
		busy := h.busy()
		switch {
		case code == -1:
			h.killed++
		case (code == 1 || code == 3) && wanted: // the faults failed rows, or stopped the run
		case code != 0 && code != 4:
			return fmt.Errorf("exit code %d after %d kills\n%s", code, h.killed, out)
		case busy: // what the service is late with may show in a look-up
			h.settleDown()
		case !sent:
			return nil
		}
	}
	return errors.New("the command does not come to rest")
}

// The ways of killing at a POST.
const (
	killAtArrival = iota
	killAfterEffect
	killThenLate
	killSoon
	killWays
)

// killer is a script by which every call takes a moment, and which kills when some number of POSTs have come in.
func (h *harness) killer(wanted bool, kill func()) func(apitest.Call) apitest.Fault {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(h.rng.Uint64(), 0))
	at, way := 1+rng.IntN(25), rng.IntN(killWays)
	later, late := time.Duration(rng.IntN(5000))*time.Microsecond, time.Duration(400+rng.IntN(800))*time.Millisecond
	if h.way >= 0 {
		way = h.way
	}
	posts := 0
	return func(c apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		f := apitest.Fault{Delay: time.Duration(rng.IntN(2000)) * time.Microsecond}
		if c.Method == "GET" {
			return f
		}
		if posts++; posts != at || !wanted {
			if wanted && rng.IntN(100) < h.faults {
				return h.badAnswer(rng)
			}
			return f
		}
		switch way {
		case killAtArrival:
			kill() // the request is carried out all the same
		case killAfterEffect:
			f.Then = kill
		case killThenLate:
			kill()
			f.Late = late // when the next run has asked for the client already
		default:
			time.AfterFunc(later, kill)
		}
		return f
	}
}

// badAnswer is what a troubled service does with a POST.
type badAnswer struct {
	fault     apitest.Fault
	ambiguous bool
	weight    int
}

// badAnswers are all of them. What takes long is rare.
var badAnswers = []badAnswer{
	{apitest.CreateThenDrop(), true, 4},
	{apitest.DropBefore(), true, 4},
	{apitest.CreateThen(apitest.JSON(500, `{}`)), true, 4},
	{apitest.Answer(apitest.JSON(503, `{}`)), true, 4},
	{apitest.CreateThenCut(), true, 4},
	{apitest.Answer(apitest.JSON(400, `{"message":"not today"}`)), false, 4},
	{apitest.Busy(429, 0), false, 4},
	{apitest.CreateLate(800 * time.Millisecond), true, 1},
}

func (h *harness) badAnswer(rng *rand.Rand) apitest.Fault {
	total := 0
	for _, bad := range h.bad {
		total += bad.weight
	}
	n := rng.IntN(total)
	i := 0
	for ; n >= h.bad[i].weight; i++ {
		n -= h.bad[i].weight
	}
	if h.bad[i].ambiguous {
		h.ambiguous.Add(1)
	}
	return h.bad[i].fault
}

// broken says how the promise was broken: nothing where it was kept.
func (h *harness) broken() (how []string) {
	h.t.Helper()
	h.settleDown()
	if v := compare(h.service, h.said()); !v.isKept() {
		how = append(how, fmt.Sprintf("the workbook and the service disagree: %s", v))
	}
	open, most := len(h.uncertain()), h.killed*inDoubt(workers)+int(h.ambiguous.Load())
	if open > most {
		how = append(how, fmt.Sprintf("%d steps are uncertain after %d kills, each of which leaves at most %d in doubt, and %d ambiguous answers",
			open, h.killed, inDoubt(workers), h.ambiguous.Load()))
	}
	return how
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

// plant is a bug that the trial program of the tests has where TRIAL_BUG names it; planted_test.go has them.
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

// plants are the bugs that the tests which kill must find. The last entry plants nothing: the checks that find the others must stay silent then.
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
	{"", anywhere},
	{"", doubtfulAddress},
}

// TestPlantedBugs holds the tests that kill to finding each of the planted bugs within 200 kills: a harness that misses
// one is blind.
func TestPlantedBugs(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	rng := seeded(t, 2)
	var hunts errgroup.Group // no more at once: a slow service must be slower than the next run, or its bugs do not show
	hunts.SetLimit(sideBySide)
	for _, p := range plants {
		seed, most := rng.Uint64(), 200
		if p.name == "" {
			most = killsAScene
		}
		hunts.Go(func() error {
			t.Run(p.name, func(t *testing.T) {
				killed, found := p.hunt(t, rand.New(rand.NewPCG(seed, 0)), most)
				if t.Logf("after %d kills: %s", killed, found); (found != "") != (p.name != "") {
					t.Error("not as it must be")
				}
			})
			return nil
		})
	}
	_ = hunts.Wait() // the functions return nil
}

// hunt kills a trial build with the bug until the promise is broken, and says how.
func (p plant) hunt(t *testing.T, rng *rand.Rand, most int) (killed int, found string) {
	t.Helper()
	bug := "TRIAL_BUG=" + p.name
	if p.where == doubtfulAddress {
		return 0, newcomer(t, bug)
	}
	for killed < most {
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
		if stray != nil && p.name == "" {
			return killed, stray.Error()
		}
	}
	return killed, ""
}

// newcomer is a client whose creation was answered with a 500, so that it is in doubt, and another one with the same
// e-mail address, who stands above it in the next sheet. It says how the promise is broken, "" when it is kept.
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
