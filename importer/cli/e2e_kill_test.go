package cli_test

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/importer/oracle"
)

var (
	killSeed = flag.Uint64("kill-seed", 0, "seed of TestKilled; 0 takes a new one")
	kills    = flag.Int("kills", 20, "how often TestKilled kills, at least")
	faulty   = flag.Int("kill-faults", 10, "per cent of the POSTs that the service answers badly while TestKilled kills")
)

const (
	killsAScene = 6
	workers     = 4
)

// TestKilled kills the program, as it is built, in the middle of its work: when
// a request has come in, when it has been carried out but not answered, and at
// any time after. The same command goes on each time. In the end nothing was
// created twice, no id is lost, and every kill has made at most one step of
// each worker uncertain.
func TestKilled(t *testing.T) {
	binary := program(t)
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for done := 0; done < *kills && !t.Failed(); {
		rows := leads(18)
		for n := range 6 {
			rows = append(rows, lead(3*n+1, "second"))
		}
		s := newScene(t, stepThree, rows)
		var ambiguous atomic.Int64
		killed := s.killAndResume(binary, rng, &ambiguous)
		done += killed
		s.checkPromise()
		s.checkLeftOver(killed, int(ambiguous.Load()))
	}
}

// killAndResume runs the command, killing it some times, until a run of its
// own accord has nothing left to send. It returns how many were killed.
func (s *scene) killAndResume(binary string, rng *rand.Rand, ambiguous *atomic.Int64) (killed int) {
	s.t.Helper()
	for attempt := 0; attempt < 40; attempt++ {
		before := len(s.oracle.Calls())
		code, out := s.runAndKill(binary, rng, killed < killsAScene, ambiguous)
		posts := 0
		for _, c := range s.oracle.Calls()[before:] {
			if c.Method != "GET" {
				posts++
			}
		}
		switch {
		case code == -1:
			killed++
		case (code == 1 || code == 3) && killed < killsAScene: // the faults failed rows, or stopped the run
		case code != 0 && code != 4:
			s.t.Fatalf("exit code %d after %d kills\n%s", code, killed, out)
		case posts == 0:
			return killed
		}
	}
	s.t.Fatal("the command does not come to rest")
	return killed
}

// runAndKill runs the command once; with kill it is killed at some POST. The
// code is -1 when it was.
func (s *scene) runAndKill(binary string, rng *rand.Rand, kill bool, ambiguous *atomic.Int64) (code int, out string) {
	s.t.Helper()
	cmd := exec.Command(binary, s.args("--concurrency", "4")...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env = append(os.Environ(), "CLAIMSHEET_ENV=")
	started := make(chan *os.Process, 1)
	s.oracle.Play(killer(rng.Uint64(), kill, ambiguous, func() { _ = (<-started).Kill() }))
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	started <- cmd.Process
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), output.String()
}

// killer is a script by which every call takes a moment, and which kills when
// some number of POSTs have come in. Until then some POSTs are answered badly;
// those whose answer leaves open what happened are counted.
func killer(seed uint64, wanted bool, ambiguous *atomic.Int64, kill func()) func(oracle.Call) oracle.Fault {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	at, way, later := 1+rng.IntN(40), rng.IntN(3), time.Duration(rng.IntN(5000))*time.Microsecond
	posts := 0
	return func(c oracle.Call) oracle.Fault {
		mu.Lock()
		defer mu.Unlock()
		f := oracle.Fault{Delay: time.Duration(rng.IntN(2000)) * time.Microsecond}
		if c.Method == "GET" {
			return f
		}
		if posts++; posts != at || !wanted {
			if wanted && rng.IntN(100) < *faulty {
				bad := badAnswers[rng.IntN(len(badAnswers))]
				if bad.ambiguous {
					ambiguous.Add(1)
				}
				return bad.fault
			}
			return f
		}
		switch way {
		case 0:
			kill() // the request is carried out all the same
		case 1:
			f.Then = kill
		default:
			time.AfterFunc(later, kill)
		}
		return f
	}
}

// badAnswers are what a troubled service does with a POST.
var badAnswers = []struct {
	fault     oracle.Fault
	ambiguous bool
}{
	{oracle.CreateThenDrop(), true},
	{oracle.DropBefore(), true},
	{oracle.CreateThen(oracle.JSON(500, `{}`)), true},
	{oracle.Answer(oracle.JSON(503, `{}`)), true},
	{oracle.CreateThenCut(), true},
	{oracle.Answer(oracle.JSON(400, `{"message":"not today"}`)), false},
	{oracle.Busy(429, 0), false},
}

// checkLeftOver holds how much may be left for a person after some kills, and
// that the rest is done.
func (s *scene) checkLeftOver(killed, ambiguous int) {
	s.t.Helper()
	open := map[string]bool{} // clients that have an uncertain step
	uncertain := 0
	for _, step := range s.steps() {
		if step["State"] == "uncertain" || step["State"] == "parked" {
			uncertain++
			open[step["Client key"]] = true
		}
	}
	if uncertain > killed*workers+ambiguous {
		s.t.Errorf("%d steps are uncertain after %d kills of %d workers and %d ambiguous answers", uncertain, killed, workers, ambiguous)
	}
	for _, r := range s.results() {
		if status := r["Import status"]; status != "unchanged" && !open[strings.ToLower(r["E-mail"])] {
			s.t.Errorf("row %s is %q, though nothing of its client is uncertain: %s", r["Source row"], status, r["Error"])
		}
	}
	s.t.Logf("%d kills, %d ambiguous answers, %d steps uncertain", killed, ambiguous, uncertain)
}
