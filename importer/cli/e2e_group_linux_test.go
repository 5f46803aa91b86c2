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
	"syscall"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// disturbance is something that happens to a process, or the server of its ledger.
type disturbance int

const (
	killed       disturbance = iota // SIGKILL
	paused                          // SIGSTOP, and SIGCONT when others may have taken its clients over
	terminated                      // the server ends one of its connections, or all
	reset                           // its connections are reset on their way to the server
	restarted                       // the server is stopped as an administrator does it, and started again
	crashed                         // the server crashes, and is started again
	disturbances                    // how many there are
)

var disturbanceNames = [disturbances]string{"killed", "paused", "terminated", "reset", "restarted", "crashed"}

// disturbanceCounts are how often each has happened to a process.
type disturbanceCounts [disturbances]int

func (m disturbanceCounts) String() string {
	var list []string
	for b, n := range m {
		if n > 0 {
			list = append(list, fmt.Sprint(n, " ", disturbanceNames[b]))
		}
	}
	if len(list) == 0 {
		return "undisturbed"
	}
	return strings.Join(list, ", ")
}

// group is several processes that work on one ledger in a database. They are started again
// and again until most disturbances have happened.
type group struct {
	*harness
	server          *pgtest.Server
	schema          string
	ways            []disturbance // what happens to them
	flight          int           // requests that each has in flight
	sharedAddresses bool          // each address is that of two keys
	most            int           // disturbances after which nothing more happens
	processes       []*process

	serverBusy sync.Mutex     // held while the server is told something
	disturbing sync.WaitGroup // what is being done to processes and the server

	mu          sync.Mutex        // guards what follows, the random numbers, and what changes of processes
	counts      disturbanceCounts // all of them
	touched     int               // how many processes were disturbed, each time
	down        bool              // the server is being restarted
	undisturbed bool              // nothing happens any more
	output      strings.Builder
}

// process is one of a group: how it is started, and what has happened to it since.
type process struct {
	name, workbook string
	args           []string
	env            []string
	ownNamespace   bool          // in a namespace of its own, as on another machine
	proxy          *pgtest.Proxy // its way to the server; nil for the socket
	starting       sync.Mutex    // held while it starts, or its connections are ended
	isWorker       bool          // it is a worker, which works until it is told to end
	coordinates    bool          // its requests are sent by workers

	cmd    *exec.Cmd // nil while it does not run
	paused bool
	lifetime
}

// lifetime is what a process went through from its start to its end.
type lifetime struct {
	counts           disturbanceCounts
	refused, unclear int // bad answers of the service
	stopped          bool
	code             int
	said             string
}

// makeProcesses makes the processes of a group.
type makeProcesses func(*group) []*process

// runs are so many processes that each run one of the sheets.
func runs(n int, sheets ...string) makeProcesses {
	return func(p *group) (list []*process) {
		for i := range n {
			m := p.newProcess(fmt.Sprint("run-", i))
			m.args = []string{"run", "-m", p.path("mapping.yaml"), "--environments", p.path(m.name + ".yaml"), "--state", p.path("state-" + m.name),
				"-o", p.path(m.workbook), "--concurrency", fmt.Sprint(p.flight), p.path(sheets[i%len(sheets)])}
			list = append(list, m)
		}
		return list
	}
}

// workersAnd are so many workers, and a run of each sheet that has them carry it out.
func workersAnd(n int, sheets ...string) makeProcesses {
	return func(p *group) (list []*process) {
		for i, sheet := range sheets {
			m := p.newProcess(fmt.Sprint("run-", i))
			m.coordinates = true
			m.args = []string{"run", "--workers", "-m", p.path("mapping.yaml"), "--environments", p.path(m.name + ".yaml"), "--state", p.path("state-" + m.name),
				"-o", p.path(m.workbook), "--concurrency", "2", p.path(sheet)}
			list = append(list, m)
		}
		for i := range n {
			m := p.newProcess(fmt.Sprint("worker-", i))
			m.isWorker = true
			m.args = []string{"worker", "--environments", p.path(m.name + ".yaml"), "--state", p.path("state-" + m.name), "--concurrency", "2"}
			list = append(list, m)
		}
		return list
	}
}

// silenceOfTrial is how long a process may be silent in a trial.
const silenceOfTrial = 1500 * time.Millisecond

// newGroup makes the sheets, and the processes that are to work on one ledger.
func newGroup(t *testing.T, server *pgtest.Server, binary string, rng *rand.Rand, ways []disturbance, most int, of makeProcesses) *group {
	p := &group{harness: newHarness(t, binary, rng, *faulty/2), server: server, schema: fmt.Sprintf("group_%d", rng.Uint64()), ways: ways, most: most,
		flight: []int{1, 2, 4, 8}[rng.IntN(4)], sharedAddresses: rng.IntN(4) == 0}
	p.bad = slices.DeleteFunc(slices.Clone(badAnswers), func(b badAnswer) bool { return b.fault.Reply != nil && b.fault.Reply.Status == 429 }) // it halves the rate of all
	ceiling := []string{"", ", requests_per_second: 100"}[rng.IntN(2)]
	p.environment(fmt.Sprintf("limits: {timeout: 1s%s}\nledger: %q", ceiling, server.URLOf(p.schema)))
	rows, first, last := overlapping()
	if p.sharedAddresses {
		rows, first, last = sharedAddressRows(9)
		p.mapping(strings.Replace(stepThree, "key: E-mail", "key: First name", 1))
		p.service.KeyField = "firstName"
	}
	p.sheet(rows)
	writeSheet(t, p.path("first.xlsx"), header, first)
	writeSheet(t, p.path("last.xlsx"), header, last)
	p.processes = of(p)
	return p
}

// overlapping are the rows of a sheet, and of two that have clients and claims in common,
// and clients whose claims are in both.
func overlapping() (rows, first, last [][]any) {
	rows = leads(18)
	for n := range 6 {
		rows = append(rows, lead(3*n+1, "second"))
	}
	for i, row := range rows {
		if i%3 != 0 {
			first = append(first, row)
		}
		if i%3 != 1 {
			last = append(last, row)
		}
	}
	return rows, first, last
}

// sharedAddressRows are the rows of a sheet in which every two keys have the address of one person,
// and of two sheets that each have one of them.
func sharedAddressRows(pairs int) (rows, first, last [][]any) {
	for n := range pairs {
		one, other := lead(n+1, fmt.Sprint("A-", n+1)), lead(n+1, fmt.Sprint("B-", n+1))
		other[1] = fmt.Sprint("Bob", n+1)
		first, last = append(first, one), append(last, other)
	}
	return slices.Concat(first, last), first, last
}

// newProcess makes a process without arguments, its environments file, and sometimes a
// machine of its own.
func (p *group) newProcess(name string) *process {
	m := &process{name: name, workbook: name + ".results.xlsx", ownNamespace: os.Getuid() == 0 && p.rng.IntN(2) == 0}
	m.env = append(os.Environ(), "CLAIMSHEET_ENV=", "TRIAL_LEASE="+silenceOfTrial.String(), "TRIAL_SETTLE=6s") // longer than a look-up is used
	url := p.server.URLOf(p.schema) + "&application_name=" + p.schema + "-" + name
	if slices.Contains(p.ways, reset) || p.rng.IntN(2) == 0 {
		m.proxy = p.server.Proxy(p.t, func() { p.perhaps(1500, func() { p.disturb(m) }) })
		url = m.proxy.URLOf(p.schema, p.schema+"-"+name)
	}
	text, err := os.ReadFile(p.path("environments.yaml"))
	must(p.t, err)
	own := strings.Replace(string(text), fmt.Sprintf("%q", p.server.URLOf(p.schema)), fmt.Sprintf("%q\n    headers: {X-Process: %s}", url, name), 1)
	write(p.t, p.path(name+".yaml"), own)
	return m
}

// disturbAll lets all processes work until enough has happened to them.
func (p *group) disturbAll() {
	p.service.Play(p.script())
	p.work(true, func(m *process) {
		for range 10 {
			p.runOnce(m, true)
			if p.over() || p.t.Failed() {
				return
			}
		}
	})
	p.service.Play(nil)
	p.mu.Lock()
	p.undisturbed = true
	p.mu.Unlock()
	p.disturbing.Wait()
	p.settleDown()
}

// work has all runs do something at the same time, with workers beside them, which are
// started again when they end, until the runs have ended.
func (p *group) work(disturbed bool, run func(*process)) {
	var all, workers sync.WaitGroup
	ended := make(chan struct{})
	for _, m := range p.processes {
		if !m.isWorker {
			all.Go(func() { run(m) })
			continue
		}
		workers.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					p.runOnce(m, disturbed)
				}
			}
		})
	}
	all.Wait()
	close(ended)
	gone := make(chan struct{})
	go func() {
		workers.Wait()
		close(gone)
	}()
	for began := time.Now(); ; {
		select {
		case <-gone:
			return
		case <-time.After(50 * time.Millisecond):
			p.stopWorkers(syscall.SIGTERM)
		}
		if time.Since(began) > mostForTheEnd {
			p.stopWorkers(syscall.SIGQUIT)
			p.t.Error("a worker does not end")
			<-gone
			return
		}
	}
}

// mostForTheEnd is how long workers may take to end, also those that are paused meanwhile.
const mostForTheEnd = 2 * time.Minute

// stopWorkers tells all workers to end; a second signal of a kind would end one at once.
func (p *group) stopWorkers(by syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.processes {
		if m.isWorker && m.cmd != nil && (!m.stopped || by != syscall.SIGTERM) {
			m.stopped = true
			_ = m.cmd.Process.Signal(by)
		}
	}
}

// over reports whether enough has happened.
func (p *group) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.happened() >= p.most
}

func (p *group) happened() (n int) {
	for _, times := range p.counts {
		n += times
	}
	return n
}

// perhaps does something once in so many times.
func (p *group) perhaps(once int, do func()) {
	p.mu.Lock()
	chosen := p.rng.IntN(once) == 0
	p.mu.Unlock()
	if chosen {
		do()
	}
}

// runOnce has a process work once, from its start to its end, and sees whether its exit code
// is explained.
func (p *group) runOnce(m *process, disturbed bool) lifetime {
	var said bytes.Buffer
	m.starting.Lock()
	cmd := exec.Command(p.binary, m.args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &said, &said, m.env
	if m.ownNamespace {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	}
	p.mu.Lock()
	err := cmd.Start()
	m.cmd, m.lifetime = cmd, lifetime{}
	if p.down {
		m.counts[crashed]++
	}
	after := time.Duration(p.rng.IntN(600)) * time.Millisecond
	p.mu.Unlock()
	m.starting.Unlock()
	if err != nil {
		p.t.Error(err)
		return lifetime{}
	}
	if disturbed {
		p.perhaps(8, func() { time.AfterFunc(after, func() { p.disturb(m) }) })
	}
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.t.Error(err)
	}
	m.starting.Lock() // what ends its connections has said so
	defer m.starting.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	m.cmd = nil
	m.code, m.said = cmd.ProcessState.ExitCode(), said.String()
	fmt.Fprintf(&p.output, "%s: %s; exit code %d\n%s\n", m.name, m.counts, m.code, m.said)
	p.judge(m)
	return m.lifetime
}

// script is a script of the service: every call takes a moment, some POSTs are answered
// badly, and at some a process is disturbed: when the request has come in, when it has been
// carried out but not answered, or soon after.
func (p *group) script() func(apitest.Call) apitest.Fault {
	return func(c apitest.Call) apitest.Fault {
		p.mu.Lock()
		defer p.mu.Unlock()
		f := apitest.Fault{Delay: time.Duration(p.rng.IntN(3000)) * time.Microsecond}
		over := p.happened() >= p.most
		switch {
		case c.Method == "GET" || over:
			return f
		case p.rng.IntN(100) < p.faults:
			return p.answerBadly(c)
		case p.rng.IntN(12) > 0:
			return f
		}
		disturb := func() { p.disturb(nil) }
		switch p.rng.IntN(killWays) {
		case killAtArrival:
			go disturb()
			f.Delay += 5 * time.Millisecond
		case killAfterEffect:
			f.Then = disturb
		case killThenLate:
			go disturb()
			f.Late = time.Duration(400+p.rng.IntN(800)) * time.Millisecond
		default:
			time.AfterFunc(time.Duration(p.rng.IntN(20))*time.Millisecond, disturb)
		}
		return f
	}
}

// answerBadly is a bad answer, which the process gets that asked. p.mu is held.
func (p *group) answerBadly(c apitest.Call) apitest.Fault {
	unclear := p.ambiguous.Load()
	f := p.badAnswer(p.rng)
	for _, m := range p.processes {
		switch {
		case m.name != c.Header.Get("X-Process") && !m.coordinates:
		case p.ambiguous.Load() > unclear:
			m.unclear++
		default:
			m.refused++
		}
	}
	return f
}

// disturb lets something happen to a process, or to any where m is nil.
func (p *group) disturb(m *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.undisturbed || p.happened() >= p.most {
		return
	}
	if m == nil {
		m = p.processes[p.rng.IntN(len(p.processes))]
	}
	if m.cmd == nil || m.paused {
		return
	}
	switch way := p.ways[p.rng.IntN(len(p.ways))]; way {
	case killed:
		p.note(way, m)
		_ = m.cmd.Process.Kill()
	case paused:
		p.note(way, m)
		p.pause(m)
	case terminated:
		p.disturbing.Go(func() { p.terminate(m) })
	case reset:
		p.note(way, m)
		m.proxy.Reset()
	case restarted, crashed:
		p.disturbing.Go(func() { p.restart(way) })
	}
}

// note notes what happens to processes. p.mu is held.
func (p *group) note(way disturbance, list ...*process) {
	p.counts[way]++
	for _, m := range list {
		m.counts[way]++
		p.touched++
	}
}

// pause stops a process, often for so long that its session is ended. p.mu is held.
func (p *group) pause(m *process) {
	m.paused = true
	process := m.cmd.Process
	_ = process.Signal(syscall.SIGSTOP)
	time.AfterFunc(time.Duration(1+p.rng.IntN(8))*silenceOfTrial/3, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		m.paused = false
		_ = process.Signal(syscall.SIGCONT)
	})
}

// terminate has the server end one connection of a process, or all.
func (p *group) terminate(m *process) {
	if !p.serverBusy.TryLock() {
		return
	}
	defer p.serverBusy.Unlock()
	m.starting.Lock()
	defer m.starting.Unlock()
	p.mu.Lock()
	limit := []string{"1", "ALL"}[p.rng.IntN(2)]
	there := m.cmd != nil
	if there {
		p.note(terminated, m)
	}
	p.mu.Unlock()
	if there {
		p.server.Exec(p.t, `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = '`+p.schema+`-`+m.name+`' ORDER BY random() LIMIT `+limit+`) a`)
	}
}

// restart stops the server, and starts it again after some time.
func (p *group) restart(way disturbance) {
	if !p.serverBusy.TryLock() {
		return
	}
	defer p.serverBusy.Unlock()
	p.mu.Lock()
	p.down = true
	p.note(way, slices.DeleteFunc(slices.Clone(p.processes), func(m *process) bool { return m.cmd == nil })...)
	away := time.Duration(p.rng.IntN(1000)) * time.Millisecond
	p.mu.Unlock()
	if way == crashed {
		p.server.Stop()
	} else if err := p.server.StopFast(); err != nil {
		p.t.Error(err)
	}
	time.Sleep(away)
	if err := p.server.Start(); err != nil {
		p.t.Error(err)
	}
	p.mu.Lock()
	p.down = false
	p.mu.Unlock()
}
