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
	clockSet                        // the wall clock of its machine is set
	disturbances                    // how many there are
)

var disturbanceNames = [disturbances]string{"killed", "paused", "terminated", "reset", "restarted", "crashed", "clock set"}

// met is how often each has happened to a process.
type met [disturbances]int

func (m met) String() string {
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

// party is several processes that work on one ledger in a database, each again and again
// until enough has happened to them.
type party struct {
	*harness
	server  *pgtest.Server
	schema  string
	ways    []disturbance // what happens to them
	flight  int           // requests that each has in flight
	twins   bool          // each address is that of two keys
	most    int           // how often
	members []*member

	serving sync.Mutex     // held while the server is told something
	going   sync.WaitGroup // what is being done to processes and the server

	mu       sync.Mutex // guards what follows, the random numbers, and what changes of members
	met      met        // all of them
	touched  int        // how many processes were disturbed, each time
	down     bool       // the server is being restarted
	calm     bool       // nothing happens any more
	accounts strings.Builder
}

// member is one of the processes: how it is started, and what has happened to it since.
type member struct {
	name, workbook string
	args           []string
	env            []string
	alone          bool // in a namespace of its own, as on another machine
	wall           string
	proxy          *pgtest.Proxy // its way to the server; nil for the socket
	starting       sync.Mutex    // held while it starts, or its connections are ended

	cmd    *exec.Cmd // nil while it does not run
	paused bool
	life
}

// life is what a process went through from its start to its end.
type life struct {
	met
	refused, unclear int // bad answers of the service
	code             int
	said             string
}

// crew makes the set of processes of a party.
type crew func(*party) []*member

// runs are so many processes that each run one of the sheets.
func runs(n int, sheets ...string) crew {
	return func(p *party) (members []*member) {
		for i := range n {
			m := p.newMember(fmt.Sprint("run-", i))
			m.args = []string{"run", "-m", p.path("mapping.yaml"), "--environments", p.path(m.name + ".yaml"), "--state", p.path("state-" + m.name),
				"-o", p.path(m.workbook), "--concurrency", fmt.Sprint(p.flight), p.path(sheets[i%len(sheets)])}
			members = append(members, m)
		}
		return members
	}
}

// leaseOfTrial is how long leases last in a trial, and how long requests.
const leaseOfTrial = 1500 * time.Millisecond

// newParty makes the sheets, and the processes that are to work on one ledger.
func newParty(t *testing.T, server *pgtest.Server, binary string, rng *rand.Rand, ways []disturbance, most int, of crew) *party {
	p := &party{harness: newHarness(t, binary, rng, *faulty/2), server: server, schema: fmt.Sprintf("party_%d", rng.Uint64()), ways: ways, most: most,
		flight: []int{1, 2, 4, 8}[rng.IntN(4)], twins: rng.IntN(4) == 0}
	p.bad = slices.DeleteFunc(slices.Clone(badAnswers), func(b badAnswer) bool { return b.fault.Reply != nil && b.fault.Reply.Status == 429 }) // it halves the rate of all
	ceiling := []string{"", ", requests_per_second: 100"}[rng.IntN(2)]
	p.environment(fmt.Sprintf("limits: {timeout: 1s%s}\nledger: %q", ceiling, server.URLOf(p.schema)))
	rows, first, last := overlapping()
	if p.twins {
		rows, first, last = twins()
		p.mapping(strings.Replace(stepThree, "key: E-mail", "key: First name", 1))
		p.service.KeyField = "firstName"
	}
	p.sheet(rows)
	writeSheet(t, p.path("first.xlsx"), header, first)
	writeSheet(t, p.path("last.xlsx"), header, last)
	p.members = of(p)
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

// twins are the rows of a sheet in which every two keys have the address of one person,
// and of two sheets that each have one of them.
func twins() (rows, first, last [][]any) {
	for n := range 9 {
		one, other := lead(n+1, fmt.Sprint("A-", n+1)), lead(n+1, fmt.Sprint("B-", n+1))
		other[1] = fmt.Sprint("Bob", n+1)
		first, last = append(first, one), append(last, other)
	}
	return slices.Concat(first, last), first, last
}

// newMember makes a process without arguments, its environments file, and sometimes a
// machine of its own.
func (p *party) newMember(name string) *member {
	m := &member{name: name, workbook: name + ".results.xlsx", alone: os.Getuid() == 0 && p.rng.IntN(2) == 0}
	m.env = append(os.Environ(), "CLAIMSHEET_ENV=", "TRIAL_LEASE="+leaseOfTrial.String(), "TRIAL_SETTLE=6s") // longer than a look-up is used
	url := p.server.URLOf(p.schema) + "&application_name=" + p.schema + "-" + name
	if slices.Contains(p.ways, reset) || p.rng.IntN(2) == 0 {
		m.proxy = p.server.Proxy(p.t, func() { p.perhaps(1500, func() { p.disturb(m) }) })
		url = m.proxy.URLOf(p.schema, p.schema+"-"+name)
	}
	if slices.Contains(p.ways, clockSet) {
		m.wall = p.path(name + ".wall")
		write(p.t, m.wall, "0s")
		m.env = append(m.env, "TRIAL_CLOCK="+m.wall, "TRIAL_REBOOT=machine of "+name)
	}
	text, err := os.ReadFile(p.path("environments.yaml"))
	must(p.t, err)
	own := strings.Replace(string(text), fmt.Sprintf("%q", p.server.URLOf(p.schema)), fmt.Sprintf("%q\n    headers: {X-Member: %s}", url, name), 1)
	write(p.t, p.path(name+".yaml"), own)
	return m
}

// storm lets all processes work until enough has happened to them.
func (p *party) storm() {
	p.service.Play(p.script())
	var all sync.WaitGroup
	for _, m := range p.members {
		all.Go(func() {
			for range 10 {
				p.live(m, true)
				if p.over() || p.t.Failed() {
					return
				}
			}
		})
	}
	all.Wait()
	p.service.Play(nil)
	p.mu.Lock()
	p.calm = true
	p.mu.Unlock()
	p.going.Wait()
	p.settleDown()
}

// over reports whether enough has happened.
func (p *party) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.happened() >= p.most
}

func (p *party) happened() (n int) {
	for _, times := range p.met {
		n += times
	}
	return n
}

// perhaps does something once in so many times.
func (p *party) perhaps(once int, do func()) {
	p.mu.Lock()
	chosen := p.rng.IntN(once) == 0
	p.mu.Unlock()
	if chosen {
		do()
	}
}

// live has a process work once, from its start to its end, and sees whether its exit code
// is explained.
func (p *party) live(m *member, stormy bool) life {
	var said bytes.Buffer
	m.starting.Lock()
	cmd := exec.Command(p.binary, m.args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &said, &said, m.env
	if m.alone {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	}
	p.mu.Lock()
	err := cmd.Start()
	m.cmd, m.life = cmd, life{}
	if p.down {
		m.met[crashed]++
	}
	after := time.Duration(p.rng.IntN(600)) * time.Millisecond
	p.mu.Unlock()
	m.starting.Unlock()
	if err != nil {
		p.t.Error(err)
		return life{}
	}
	if stormy {
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
	fmt.Fprintf(&p.accounts, "%s: %s; exit code %d\n%s\n", m.name, m.met, m.code, m.said)
	p.judge(m)
	return m.life
}

// script is a script of the service: every call takes a moment, some POSTs are answered
// badly, and at some a process is disturbed: when the request has come in, when it has been
// carried out but not answered, or soon after.
func (p *party) script() func(apitest.Call) apitest.Fault {
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

// answerBadly is a bad answer, which the member has met who asked. p.mu is held.
func (p *party) answerBadly(c apitest.Call) apitest.Fault {
	unclear := p.ambiguous.Load()
	f := p.badAnswer(p.rng)
	for _, m := range p.members {
		switch {
		case m.name != c.Header.Get("X-Member"):
		case p.ambiguous.Load() > unclear:
			m.unclear++
		default:
			m.refused++
		}
	}
	return f
}

// disturb lets something happen to a process, or to any where m is nil.
func (p *party) disturb(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calm || p.happened() >= p.most {
		return
	}
	if m == nil {
		m = p.members[p.rng.IntN(len(p.members))]
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
		p.going.Go(func() { p.terminate(m) })
	case reset:
		p.note(way, m)
		m.proxy.Reset()
	case restarted, crashed:
		p.going.Go(func() { p.restart(way) })
	case clockSet:
		p.note(way, m)
		p.setClock(m)
	}
}

// note notes what happens to processes. p.mu is held.
func (p *party) note(way disturbance, members ...*member) {
	p.met[way]++
	for _, m := range members {
		m.met[way]++
		p.touched++
	}
}

// pause stops a process, often for so long that its leases end. p.mu is held.
func (p *party) pause(m *member) {
	m.paused = true
	process := m.cmd.Process
	_ = process.Signal(syscall.SIGSTOP)
	time.AfterFunc(time.Duration(1+p.rng.IntN(8))*leaseOfTrial/3, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		m.paused = false
		_ = process.Signal(syscall.SIGCONT)
	})
}

// terminate has the server end one connection of a process, or all.
func (p *party) terminate(m *member) {
	if !p.serving.TryLock() {
		return
	}
	defer p.serving.Unlock()
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
func (p *party) restart(way disturbance) {
	if !p.serving.TryLock() {
		return
	}
	defer p.serving.Unlock()
	p.mu.Lock()
	p.down = true
	p.note(way, slices.DeleteFunc(slices.Clone(p.members), func(m *member) bool { return m.cmd == nil })...)
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

// setClock sets the wall clock of a process's machine. p.mu is held.
func (p *party) setClock(m *member) {
	const day = 24 * time.Hour
	ahead := []time.Duration{0, time.Hour, -time.Hour, day, -day, -since1970()}
	write(p.t, m.wall+".new", ahead[p.rng.IntN(len(ahead))].String())
	must(p.t, os.Rename(m.wall+".new", m.wall))
}
