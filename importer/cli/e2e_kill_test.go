package cli_test

import (
	"cmp"
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

	"claimsheet/apiclient/apitest"
)

var (
	killSeed = flag.Uint64("kill-seed", 0, "seed of the tests that kill; 0 takes a new one")
	kills    = flag.Int("kills", 0, "how often TestKilled kills, at least; 0: 100 times")
	faulty   = flag.Int("faulty", 10, "per cent of the POSTs that the service of the tests that kill answers badly")
)

const (
	killsAScene = 8
	sideBySide  = 4 // scenes
	workers     = 4 // requests in flight
)

// inDoubt is how many steps a kill leaves in doubt at most where so many requests may be in
// flight, as docs/reliability.md says.
func inDoubt(inFlight int) int {
	if inFlight <= 1 {
		return 1
	}
	return inFlight + max(1, inFlight/8)
}

// TestKilled kills the program, as it is built, in the middle of its work: when
// a request has come in, when it has been carried out but not answered, and at
// any time after. The same command goes on each time. In the end nothing was
// created twice, no id is lost, and every kill has left no more steps
// uncertain than is promised.
func TestKilled(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary, rng := programName, seeded(t, 0)
	var done, uncertain, unclear atomic.Int64
	wanted := int64(cmp.Or(*kills, 100))
	scenes := func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		for done.Load() < wanted && !t.Failed() {
			h := newHarness(t, binary, rng, *faulty)
			if err := h.killAndResume(); err != nil {
				t.Fatal(err)
			}
			for _, broken := range h.broken() {
				t.Error(broken)
			}
			h.checkLeftOver()
			done.Add(int64(h.killed))
			uncertain.Add(int64(len(h.uncertain())))
			unclear.Add(h.ambiguous.Load())
		}
	}
	var all sync.WaitGroup
	for range min(sideBySide, wanted) { // most of their time is waiting: more of them than there are cores
		seed := rng.Uint64()
		all.Go(func() { t.Run("", func(t *testing.T) { scenes(t, seed) }) })
	}
	all.Wait()
	t.Logf("%d kills, %d ambiguous answers, %d steps uncertain (bound %d)",
		done.Load(), unclear.Load(), uncertain.Load(), done.Load()*int64(inDoubt(workers))+unclear.Load())
}

// seeded is the chance that a test which kills goes by; it says how to have the
// same again.
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

// killAndResume runs the command, killing it some times, until a run of its
// own accord has nothing left to send. The error is that it ended as it should
// not.
func (h *harness) killAndResume() error {
	h.t.Helper()
	for range 60 {
		before := len(h.service.Calls())
		wanted := h.killed < killsAScene
		code, out := h.runAndKill(wanted)
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

// runAndKill runs the command once; with kill it is killed at some POST. The
// code is -1 when it was.
func (h *harness) runAndKill(kill bool) (code int, said string) {
	h.t.Helper()
	p := child(h.binary, h.args("--concurrency", fmt.Sprint(workers)), h.env...)
	h.service.Play(h.killer(kill, p.kill))
	return p.end(h.t)
}

// The ways of killing at a POST.
const (
	killAtArrival = iota
	killAfterEffect
	killThenLate
	killSoon
	killWays
)

// killer is a script by which every call takes a moment, and which kills when
// some number of POSTs have come in. Until then some POSTs are answered badly;
// those whose answer leaves open what happened are counted.
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
	if v := h.service.Check(h.said()); !v.OK() {
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

// checkLeftOver holds that all is done but for what is uncertain.
func (h *harness) checkLeftOver() {
	h.t.Helper()
	open := h.uncertain()
	for _, r := range h.results() {
		if status := r["Import status"]; status != "unchanged" && !slices.Contains(open, strings.ToLower(r["E-mail"])) {
			h.t.Errorf("row %s is %q, though nothing of its client is uncertain: %s", r["Source row"], status, r["Error"])
		}
	}
	h.t.Logf("%d kills, %d ambiguous answers, %d steps uncertain", h.killed, h.ambiguous.Load(), len(open))
}
