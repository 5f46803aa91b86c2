package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// besides are the flags of a run that works beside others: each has a state folder and a
// workbook of its own.
func (s *scene) besides(n int) []string {
	return []string{"--state", s.path(fmt.Sprint("state-", n)), "-o", s.path(fmt.Sprintf("out-%d.results.xlsx", n))}
}

// TestRunsShareALedger: several runs of one sheet at the same time create everything once,
// and each gives back all ids.
func TestRunsShareALedger(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, append(leads(30), lead(3, "second"), lead(7, "second")))
	s.inDatabase(pgtest.Shared(t), "limits: {concurrency: 4}")
	s.service.Play(func(apitest.Call) apitest.Fault { return apitest.Fault{Delay: time.Millisecond} })
	var all sync.WaitGroup
	codes, said := make([]int, 3), make([]string, 3)
	for n := range codes {
		all.Go(func() {
			var out string
			codes[n], out, said[n] = s.claimsheet(slices.Concat([]string{"run", "-m", s.path("mapping.yaml")}, s.besides(n), []string{s.path(s.input)})...)
			said[n] += out
		})
	}
	all.Wait()
	for n, code := range codes {
		if code != 0 {
			t.Errorf("run %d: exit code %d\n%s", n, code, said[n])
		}
	}
	before := len(s.service.Calls())
	s.mustRun(0)
	for _, c := range s.service.Calls()[before:] {
		if c.Method != "GET" {
			t.Errorf("afterwards a run sends %s %s", c.Method, c.Path)
		}
	}
	if v := s.service.Check(s.said()); !v.OK() {
		t.Error(v)
	}
	for n := range codes {
		for _, row := range s.workbook(fmt.Sprintf("out-%d.results.xlsx", n), "Results") {
			if row["contactId"] == "" {
				t.Errorf("run %d: the row %s has no client id: %s %s", n, row["Source row"], row["Import status"], row["Error"])
			}
		}
	}
}

// TestOneStateFolder: two runs that would share a state folder do not work at the same
// time, and the message says what to do.
func TestOneStateFolder(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(3))
	s.inDatabase(pgtest.Shared(t), "")
	arrived, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.service.Play(func(c apitest.Call) apitest.Fault {
		if c.Method != "GET" {
			once.Do(func() { close(arrived); <-goOn })
		}
		return apitest.Fault{}
	})
	first := make(chan played, 1)
	go func() { first <- s.run() }()
	<-arrived
	code, _, said := s.claimsheet("run", "-m", s.path("mapping.yaml"), "-o", s.path("other.xlsx"), s.path(s.input))
	close(goOn)
	if code != 5 {
		t.Errorf("exit code %d", code)
	}
	expect(t, said, "another run holds the ledger", "--state")
	if p := <-first; p.code != 0 {
		t.Errorf("the first run: exit code %d\n%s", p.code, p.err)
	}
}

// party is several processes that run one sheet on one ledger.
type party struct {
	*harness
	many    int
	stopped int // processes that were paused for longer than their leases last
	mu      sync.Mutex
	running map[int]*exec.Cmd
	paused  map[int]bool
}

// leaseOfTrial is how long leases last in a trial, and how long requests.
const leaseOfTrial = 400 * time.Millisecond

// postsAHit is at how many POSTs, as a rule, one process is killed or paused.
const postsAHit = 25

// script is a script by which every call takes a moment. With kill, some POSTs are answered
// badly, and at some a process is killed or paused: when the request has come in, when it
// has been carried out but not answered, or soon after.
func (p *party) script(kill bool) func(apitest.Call) apitest.Fault {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(p.rng.Uint64(), 0))
	return func(c apitest.Call) apitest.Fault {
		mu.Lock()
		defer mu.Unlock()
		f := apitest.Fault{Delay: time.Duration(rng.IntN(2000)) * time.Microsecond}
		switch {
		case !kill || c.Method == "GET":
			return f
		case rng.IntN(100) < p.faults:
			return p.badAnswer(rng)
		case rng.IntN(postsAHit) > 0:
			return f
		}
		switch rng.IntN(killWays) {
		case killAtArrival:
			p.hit()
		case killAfterEffect:
			f.Then = p.hit
		case killThenLate:
			p.hit()
			f.Late = time.Duration(400+rng.IntN(800)) * time.Millisecond
		default:
			time.AfterFunc(time.Duration(rng.IntN(5000))*time.Microsecond, p.hit)
		}
		return f
	}
}

// round runs the sheet in all processes at once, and returns their exit codes. With kill,
// some of them are killed at some POST, or paused for longer than their leases last.
func (p *party) round(kill bool) (codes []int, said string) {
	p.t.Helper()
	p.service.Play(p.script(kill))
	var all sync.WaitGroup
	codes = make([]int, p.many)
	outputs := make([]bytes.Buffer, p.many)
	for n := range p.many {
		cmd := exec.Command(p.binary, p.args(append(p.besides(n), "--concurrency", "2")...)...)
		cmd.Stdout, cmd.Stderr = &outputs[n], &outputs[n]
		cmd.Env = append(os.Environ(), "CLAIMSHEET_ENV=", "TRIAL_LEASE="+leaseOfTrial.String())
		p.mu.Lock()
		err := cmd.Start()
		p.running[n] = cmd
		p.mu.Unlock()
		if err != nil {
			p.t.Fatal(err)
		}
		all.Go(func() {
			if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
				p.t.Error(err)
			}
			p.mu.Lock()
			delete(p.running, n)
			p.mu.Unlock()
			codes[n] = cmd.ProcessState.ExitCode()
		})
	}
	all.Wait()
	for n := range outputs {
		said += fmt.Sprintf("process %d, exit code %d:\n%s\n", n, codes[n], outputs[n].String())
	}
	return codes, said
}

// hit kills one of the processes, or pauses it.
func (p *party) hit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, cmd := range p.running { // any
		if p.paused[n] {
			continue
		}
		if rand.IntN(2) == 0 {
			p.killed++
			_ = cmd.Process.Kill()
			return
		}
		p.stopped++
		p.paused[n] = true
		_ = cmd.Process.Signal(syscall.SIGSTOP)
		time.AfterFunc(5*leaseOfTrial, func() {
			_ = cmd.Process.Signal(syscall.SIGCONT)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.paused[n] = false
		})
		return
	}
}

// TestKilledWhileShared: several processes run one sheet on one ledger, some are killed
// and some paused until others have taken their clients over: nothing is lost, and nothing
// created twice without being said.
func TestKilledWhileShared(t *testing.T) {
	t.Parallel()
	killsOwnBuilds(t)
	server := pgtest.Shared(t)
	binary, rng := trialProgram(t), seeded(t, 7)
	var hits, doubts atomic.Int64
	var all sync.WaitGroup
	for range 3 { // most of their time is waiting
		seed := rng.Uint64()
		all.Go(func() {
			t.Run("", func(t *testing.T) {
				for rng := rand.New(rand.NewPCG(seed, 0)); hits.Load() < int64(*kills)/2 && !t.Failed(); {
					n, open := sharedScene(t, server, binary, rng)
					hits.Add(int64(n))
					doubts.Add(int64(open))
				}
			})
		})
	}
	all.Wait()
	t.Logf("%d kills and pauses, %d steps uncertain", hits.Load(), doubts.Load())
}

// hitsAScene is how often a scene's processes are killed or paused.
const hitsAScene = 8

// sharedScene has several processes run a sheet, again and again, until nothing is left to
// be sent. It returns how often one of them was killed or paused, and how many steps are
// uncertain.
func sharedScene(t *testing.T, server *pgtest.Server, binary string, rng *rand.Rand) (hits, open int) {
	p := &party{harness: newHarness(t, binary, rng, *faulty), many: 2 + rng.IntN(3), running: map[int]*exec.Cmd{}, paused: map[int]bool{}}
	p.inDatabase(server, "limits: {timeout: 1s}")
	for range 40 {
		before := len(p.service.Calls())
		wanted := p.killed+p.stopped < hitsAScene
		codes, said := p.round(wanted)
		sent := slices.ContainsFunc(p.service.Calls()[before:], func(c apitest.Call) bool { return c.Method != "GET" })
		for _, code := range codes {
			if code != -1 && code != 0 && code != 4 && !(wanted && (code == 1 || code == 3)) {
				t.Fatalf("exit code %d after %d kills and %d pauses\n%s", code, p.killed, p.stopped, said)
			}
		}
		if p.busy() {
			p.settleDown()
		} else if !sent {
			break
		}
	}
	p.service.Play(nil)
	last := p.run() // its workbook says what the ledger knows
	if last.code != 0 && last.code != 4 {
		t.Fatalf("the last run: exit code %d\n%s", last.code, last.err)
	}
	p.settleDown()
	if v := p.service.Check(p.said()); !v.OK() {
		t.Errorf("the workbook and the service disagree: %s", v)
	}
	hits, open = p.killed+p.stopped, len(p.uncertain())
	if most := hits*inWork(2) + int(p.ambiguous.Load()); open > most {
		t.Errorf("%d steps are uncertain after %d kills, %d pauses and %d ambiguous answers", open, p.killed, p.stopped, p.ambiguous.Load())
	}
	p.checkLeftOver()
	t.Logf("%d processes, %d pauses", p.many, p.stopped)
	return hits, open
}

// TestAddressOfAKilledClient: a run is killed before it knows whether it has created
// somebody, and the next run's sheet has another key with the same address: nothing is
// created for it while nobody knows about the first.
func TestAddressOfAKilledClient(t *testing.T) {
	t.Parallel()
	killsOwnBuilds(t)
	for name, in := range map[string]func(*scene){
		"in a file":     func(*scene) {},
		"in a database": func(s *scene) { s.inDatabase(pgtest.Shared(t), "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, strings.Replace(stepThree, "key: E-mail", "key: First name", 1), leads(1))
			in(s)
			s.service.KeyField = "firstName"
			cmd := exec.Command(buildProgram(t), s.args()...)
			cmd.Env = append(os.Environ(), "CLAIMSHEET_ENV=")
			s.service.Play(func(c apitest.Call) apitest.Fault {
				if c.Method == "GET" {
					return apitest.Fault{}
				}
				_ = cmd.Process.Kill()
				return apitest.DropBefore()
			})
			if err := cmd.Run(); err == nil {
				t.Fatal("the run was not killed")
			}
			s.service.Play(nil)
			other := lead(1, "A-2")
			other[0], other[1] = "C1@example.com", "Bob"
			s.sheet([][]any{other})
			before := len(s.service.Calls())
			s.mustRun(1)
			for _, c := range s.service.Calls()[before:] {
				if c.Method != "GET" {
					t.Errorf("sent %s %s", c.Method, c.Path)
				}
			}
			if row := s.results()[0]; !strings.Contains(row["Error"], "“Ann1” has the same address") {
				t.Errorf("the row says %q: %q", row["Error"], row["What to do"])
			}
		})
	}
}
