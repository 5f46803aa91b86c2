package cli_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
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

// What happens to a process, or the server of its ledger.
const (
	killed     = "killed"
	paused     = "paused"     // SIGSTOP, and SIGCONT when others may have taken its clients over
	terminated = "terminated" // the server ends one of its connections, or all
	reset      = "reset"      // its connections are reset on their way to the server
	restarted  = "restarted"  // the server is stopped as an administrator does it, and started again
	crashed    = "crashed"    // the server crashes, and is started again
)

// campaigns are what happens to processes that work on one ledger. Each has one with workers, too.
var campaigns = map[string][]string{
	killed: {killed}, paused: {paused, paused, paused, killed}, "cut": {terminated, reset}, restarted: {restarted, crashed},
	"everything": {killed, paused, terminated, reset, restarted, crashed},
}

const (
	sharedFaults       = 20                      // how often each campaign disturbs processes, at least
	disturbancesAScene = 10                      // the processes of one scene
	silenceOfTrial     = 1500 * time.Millisecond // how long a process may be silent in a trial
	maxForTheEnd       = 2 * time.Minute         // how long workers may take to end, also those that are paused meanwhile
	firstRefused       = 3                       // how many clients must be refused before a run takes its mapping for wrong
)

// TestKilledWhileShared: several processes work on one ledger, on one sheet or on two that overlap, while some are
// killed or paused for longer than they may be silent, connections to the server are cut, and the server is restarted.
// Every process ends as what has happened to it explains; nothing is lost, nothing wrong, and nothing created twice
// without being said.
func TestKilledWhileShared(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for i, name := range slices.Sorted(maps.Keys(campaigns)) {
		for _, workers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, workers %v", name, workers), func(t *testing.T) {
				t.Parallel()
				rng, ways := seeded(t, uint64(100+i)), campaigns[name]
				server := pgtest.Shared
				if slices.Contains(ways, restarted) {
					server = pgtest.Own
				}
				ledgers := server(t)
				all := map[string]int{}
				for done := 0; done < sharedFaults && !t.Failed(); {
					p := newGroup(t, ledgers, rng, ways, workers)
					p.campaign()
					for way, n := range p.counts {
						all[way] += n
						done += n
					}
				}
				t.Logf("%v", all)
			})
		}
	}
}

// group is several processes that work on one ledger in a database. They are started again and again until most
// disturbances have happened.
type group struct {
	*scene
	rng             *rand.Rand
	ambiguous       atomic.Int64 // answers that left open what happened
	server          *pgtest.Server
	schema          string
	ways            []string // what happens to them
	flight          int      // requests that each has in flight
	sharedAddresses bool     // each address is that of two keys
	members         []*member

	serverBusy sync.Mutex     // held while the server is told something
	disturbing sync.WaitGroup // what is being done to processes and the server

	mu          sync.Mutex     // guards what follows, the random numbers, and what changes of members
	counts      map[string]int // of all disturbances
	touched     int            // how many processes were disturbed, each time
	down        bool           // the server is being restarted
	undisturbed bool           // nothing happens any more
	output      strings.Builder
}

// member is a process of a group, which is started again and again.
type member struct {
	name, workbook string
	args, env      []string
	proxy          *pgtest.Proxy // its way to the server; nil for the socket
	starting       sync.Mutex    // held while it starts, or its connections are ended
	isWorker       bool          // it works until it is told to end
	coordinates    bool          // its requests are sent by workers

	running  *program // nil while it does not run
	isPaused bool

	// From its start to its end.
	counts           map[string]int
	refused, unclear int // bad answers of the service
	stopped          bool
	code             int
	said             string
}

// newGroup makes the sheets, and the processes that are to work on one ledger: runs of one sheet, of one sheet twice,
// or of two that overlap, which carry themselves out or have workers.
func newGroup(t *testing.T, server *pgtest.Server, rng *rand.Rand, ways []string, workers bool) *group {
	p := &group{scene: newScene(t, stepThree, nil), rng: rng, server: server, schema: fmt.Sprintf("group_%d", rng.Uint64()), ways: ways,
		flight: []int{1, 2, 4, 8}[rng.IntN(4)], sharedAddresses: rng.IntN(4) == 0, counts: map[string]int{}}
	ceiling := []string{"", ", requests_per_second: 100"}[rng.IntN(2)]
	p.environment(fmt.Sprintf("limits: {timeout: 1s%s}\nledger: %q", ceiling, server.URLOf(p.schema)))
	// A sheet, and two that have clients and claims in common, and clients whose claims are in both.
	rows, first, last := leads(18), [][]any(nil), [][]any(nil)
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
	if p.sharedAddresses { // every two keys have the address of one person; the two sheets have one of them each
		first, last = nil, nil
		for n := range 9 {
			one, other := lead(n+1, fmt.Sprint("A-", n+1)), lead(n+1, fmt.Sprint("B-", n+1))
			other[1] = fmt.Sprint("Bob", n+1)
			first, last = append(first, one), append(last, other)
		}
		rows = slices.Concat(first, last)
		p.mapping(strings.Replace(stepThree, "key: E-mail", "key: First name", 1))
		p.service.KeyField = "firstName"
	}
	p.sheet(rows)
	writeSheet(t, p.path("first.xlsx"), header, first)
	writeSheet(t, p.path("last.xlsx"), header, last)
	sheets := [][]string{{"leads.xlsx"}, {"leads.xlsx", "leads.xlsx"}, {"first.xlsx", "last.xlsx"}}[rng.IntN(3)]
	if workers {
		for _, sheet := range sheets {
			p.join("run", "--workers", "-m", p.path("mapping.yaml"), "--concurrency", "2", p.path(sheet))
		}
		for range []int{2, 4}[rng.IntN(2)] {
			p.join("worker", "--concurrency", "2")
		}
		return p
	}
	for i := range 2 + rng.IntN(3) {
		p.join("run", "-m", p.path("mapping.yaml"), "--concurrency", fmt.Sprint(p.flight), p.path(sheets[i%len(sheets)]))
	}
	return p
}

// join makes a process of a command, with its own environments file, state and workbook.
func (p *group) join(command string, args ...string) {
	name := fmt.Sprintf("%s-%d", command, len(p.members))
	m := &member{name: name, workbook: name + ".results.xlsx", isWorker: command == "worker", coordinates: slices.Contains(args, "--workers")}
	m.env = []string{"TRIAL_LEASE=" + silenceOfTrial.String()}
	m.args = []string{command, "--environments", p.path(name + ".yaml"), "--state", p.path("state-" + name)}
	if !m.isWorker {
		m.args = append(m.args, "-o", p.path(m.workbook))
	}
	m.args = append(m.args, args...)
	url := p.server.URLOf(p.schema) + "&application_name=" + p.schema + "-" + name
	if slices.Contains(p.ways, reset) || p.rng.IntN(2) == 0 {
		m.proxy = p.server.Proxy(p.t, func() { p.perhaps(1500, func() { p.disturb(m) }) })
		url = m.proxy.URLOf(p.schema, p.schema+"-"+name)
	}
	own := strings.Replace(readText(p.t, p.path("environments.yaml")), fmt.Sprintf("%q", p.server.URLOf(p.schema)), fmt.Sprintf("%q\n    headers: {X-Process: %s}", url, name), 1)
	write(p.t, p.path(name+".yaml"), own)
	p.members = append(p.members, m)
}

// campaign has the processes of a group work, disturbs them, and then has them work undisturbed until nothing is left
// to be sent.
func (p *group) campaign() {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Log(p.output.String())
		}
	}()
	p.service.Play(p.script())
	p.work(true, func(m *member) {
		for range 10 {
			p.runOnce(m, true)
			p.mu.Lock()
			over := p.isOver()
			p.mu.Unlock()
			if over || p.t.Failed() {
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
	if !p.t.Failed() && !p.rest() {
		p.t.Error("the processes do not come to rest")
	}
	if p.t.Failed() {
		return
	}
	final := p.run() // its workbook says what the ledger knows
	if final.code != 0 && final.code != 4 && !(final.code == 1 && p.sharedAddresses) {
		p.t.Errorf("the last run: exit code %d\n%s", final.code, final.err)
		return
	}
	p.must(0, "doctor")
	p.settleDown()
	p.checkShared()
	p.checkRows()
	p.t.Logf("%d processes, %d in flight, shared addresses %v: %v, %d ambiguous answers, %d steps uncertain", len(p.members), p.flight, p.sharedAddresses, p.counts, p.ambiguous.Load(), len(p.uncertain()))
}

// rest has the processes work undisturbed until none sends anything.
func (p *group) rest() bool {
	for range 10 {
		p.since()
		p.work(false, func(m *member) { p.runOnce(m, false) })
		if len(p.since().posts()) == 0 || p.t.Failed() {
			return true
		}
	}
	return false
}

// work has all runs do something at the same time, with workers beside them, which are started again when they end,
// until the runs have ended.
func (p *group) work(disturbed bool, run func(*member)) {
	var all, workers sync.WaitGroup
	ended := make(chan struct{})
	for _, m := range p.members {
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
		if time.Since(began) > maxForTheEnd {
			p.stopWorkers(syscall.SIGQUIT)
			p.t.Error("a worker does not end")
			<-gone
			return
		}
	}
}

// stopWorkers tells all workers to end; a second signal of a kind would end one at once.
func (p *group) stopWorkers(by syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.members {
		if m.isWorker && m.running != nil && (!m.stopped || by != syscall.SIGTERM) {
			m.stopped = true
			m.running.signal(by)
		}
	}
}

// isOver reports whether enough has happened. p.mu is held.
func (p *group) isOver() bool {
	n := 0
	for _, times := range p.counts {
		n += times
	}
	return n >= disturbancesAScene
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

// runOnce has a process work once, from its start to its end, and sees whether its exit code is explained.
func (p *group) runOnce(m *member, disturbed bool) {
	m.starting.Lock()
	process := child(trialName, m.args, m.env...)
	p.mu.Lock()
	process.start(p.t)
	m.running, m.counts, m.refused, m.unclear, m.stopped = process, map[string]int{}, 0, 0, false
	if p.down {
		m.counts[crashed]++
	}
	after := time.Duration(p.rng.IntN(600)) * time.Millisecond
	p.mu.Unlock()
	m.starting.Unlock()
	if disturbed {
		p.perhaps(8, func() { time.AfterFunc(after, func() { p.disturb(m) }) })
	}
	code, said := process.end(p.t)
	m.starting.Lock() // what ends its connections has said so
	defer m.starting.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	m.running, m.code, m.said = nil, code, said
	fmt.Fprintf(&p.output, "%s: %v; exit code %d\n%s\n", m.name, m.counts, code, said)
	if why := p.unexplained(m); why != "" {
		p.t.Errorf("%s (%v; %d answers refused, %d unclear): exit code %d: %s\n%s", m.name, m.counts, m.refused, m.unclear, code, why, said)
	}
}

// script is a script of the service: every call takes a moment, some POSTs are answered badly, and at some a process is
// disturbed: when the request has come in, when it has been carried out but not answered, or soon after.
func (p *group) script() func(apitest.Call) apitest.Fault {
	return func(c apitest.Call) apitest.Fault {
		p.mu.Lock()
		defer p.mu.Unlock()
		f := apitest.Fault{Delay: time.Duration(p.rng.IntN(3000)) * time.Microsecond}
		switch {
		case c.Method == "GET" || p.isOver():
			return f
		case p.rng.IntN(20) == 0:
			return p.answerBadly(c)
		case p.rng.IntN(12) > 0:
			return f
		}
		disturb := func() { p.disturb(nil) }
		switch p.rng.IntN(4) {
		case 0:
			go disturb()
			f.Delay += 5 * time.Millisecond
		case 1:
			f.Then = disturb
		case 2:
			go disturb()
			f.Delay += time.Duration(400+p.rng.IntN(800)) * time.Millisecond
		default:
			time.AfterFunc(time.Duration(p.rng.IntN(20))*time.Millisecond, disturb)
		}
		return f
	}
}

// unclear are answers that leave open whether anything was created.
var unclear = []apitest.Fault{
	dropped, apitest.DropBefore(), created500, apitest.Answer(apitest.JSON(503, `{}`)), apitest.CreateThenCut(), apitest.CreateLate(800 * time.Millisecond),
}

// answerBadly is a refusal or an unclear answer, which the process gets that asked. p.mu is held.
func (p *group) answerBadly(c apitest.Call) apitest.Fault {
	n := p.rng.IntN(len(unclear) + 1)
	for _, m := range p.members {
		switch {
		case m.name != c.Header.Get("X-Process") && !m.coordinates:
		case n < len(unclear):
			m.unclear++
		default:
			m.refused++
		}
	}
	if n == len(unclear) {
		return apitest.Answer(apitest.JSON(400, `{"message":"not today"}`))
	}
	p.ambiguous.Add(1)
	return unclear[n]
}

// disturb lets something happen to a process, or to any where m is nil.
func (p *group) disturb(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.undisturbed || p.isOver() {
		return
	}
	if m == nil {
		m = p.members[p.rng.IntN(len(p.members))]
	}
	if m.running == nil || m.isPaused {
		return
	}
	switch way := p.ways[p.rng.IntN(len(p.ways))]; way {
	case killed:
		p.note(way, m)
		m.running.kill()
	case paused: // often for so long that its session is ended
		p.note(way, m)
		process := m.running
		m.isPaused = true
		process.signal(syscall.SIGSTOP)
		time.AfterFunc(time.Duration(1+p.rng.IntN(8))*silenceOfTrial/3, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			m.isPaused = false
			process.signal(syscall.SIGCONT)
		})
	case terminated:
		p.disturbing.Go(func() { p.terminate(m) })
	case reset:
		p.note(way, m)
		m.proxy.Reset()
	default:
		p.disturbing.Go(func() { p.restart(way) })
	}
}

// note notes what happens to processes. p.mu is held.
func (p *group) note(way string, list ...*member) {
	p.counts[way]++
	p.touched += len(list)
	for _, m := range list {
		m.counts[way]++
	}
}

// terminate has the server end one connection of a process, or all.
func (p *group) terminate(m *member) {
	if !p.serverBusy.TryLock() {
		return
	}
	defer p.serverBusy.Unlock()
	m.starting.Lock()
	defer m.starting.Unlock()
	p.mu.Lock()
	limit, there := []string{"1", "ALL"}[p.rng.IntN(2)], m.running != nil
	if there {
		p.note(terminated, m)
	}
	p.mu.Unlock()
	if there {
		p.server.Exec(p.t, `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = '`+p.schema+`-`+m.name+`' ORDER BY random() LIMIT `+limit+`) a`)
	}
}

// restart stops the server, and starts it again after some time.
func (p *group) restart(way string) {
	if !p.serverBusy.TryLock() {
		return
	}
	defer p.serverBusy.Unlock()
	p.mu.Lock()
	p.down = true
	p.note(way, slices.DeleteFunc(slices.Clone(p.members), func(m *member) bool { return m.running == nil })...)
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

// What a process says that ends because others may have taken its clients over, and because it cannot use the ledger's
// server; and why a row is not sent whose address is that of another key.
var (
	saysLost          = regexp.MustCompile(`was paused, or cut off`)
	saysIdle          = regexp.MustCompile(`terminating connection due to idle-in-transaction timeout`)
	saysNoServer      = regexp.MustCompile(`the ledger cannot be (written|read)|the ledger's server cannot be used`)
	saysSharedAddress = regexp.MustCompile(`has the same (e-mail address|phone number)|the service has one client for this key and for the client with the key`)
)

// withdrawnLater is said of a step that a worker withdrew when it had lost its session: another worker took the intent for one in doubt and
// left it, and then the first one's journal came into the ledger.
const withdrawnLater = "it was not sent"

// unexplained says why an exit code is not explained; "" when it is. p.mu is held.
func (p *group) unexplained(m *member) string {
	cut := m.counts[terminated]+m.counts[reset]+m.counts[restarted]+m.counts[crashed] > 0
	switch {
	case m.isWorker && m.stopped && (m.code == -1 || m.code == 143):
		return ""
	case m.code == -1 && m.counts[killed] == 0:
		return "it was not killed"
	case m.code == -1:
		return ""
	case m.isWorker:
		return "nothing ends a worker but a signal"
	case m.code == 3 && saysIdle.MatchString(m.said): // the machine was too busy for it
		return ""
	case m.code == 3 && (cut || m.counts[paused] > 0) && (saysLost.MatchString(m.said) || saysNoServer.MatchString(m.said)):
		return ""
	case m.code == 3 && (m.refused >= firstRefused && strings.Contains(m.said, "was refused with HTTP") || m.refused >= 4 && strings.Contains(m.said, "--max-failures") ||
		m.unclear >= 10 && strings.Contains(m.said, "none was created between them")):
		return ""
	case m.code != 0 && m.code != 1 && m.code != 4:
		return "nothing that has happened to it explains this"
	}
	return p.unlikeRows(m)
}

// unlikeRows says how an exit code does not fit the rows of the process's workbook, and what has happened to them; ""
// when it does.
func (p *group) unlikeRows(m *member) string {
	rows, err := records(p.path(m.workbook), "Results")
	if err != nil {
		return err.Error()
	}
	counts, taken := map[string]int{}, 0
	for _, r := range rows {
		counts[r["Import status"]]++
		if saysSharedAddress.MatchString(r["Error"]) || m.coordinates && p.touched > 0 && r["Error"] == withdrawnLater {
			taken++
		}
	}
	want, bad := exitCodeOf(counts), counts["failed"]+counts["invalid"]+counts["not started"]
	switch {
	case m.code != want:
		return fmt.Sprintf("its rows are %v", counts)
	case want == 1 && m.refused == 0 && bad > taken:
		return fmt.Sprintf("its rows are %v, and none of its requests was refused", counts)
	case want == 4 && p.touched == 0 && p.ambiguous.Load() == 0:
		return fmt.Sprintf("its rows are %v, and nothing has happened to anybody", counts)
	}
	return ""
}

// checkRows holds that all is done but for what is uncertain; of two keys with one address, one is done.
func (p *group) checkRows() {
	p.t.Helper()
	open, done := p.uncertain(), map[string]int{}
	for _, r := range p.results() {
		key := strings.ToLower(r["E-mail"])
		if p.sharedAddresses {
			key = r["First name"]
		}
		switch status := r["Import status"]; {
		case status == "unchanged":
			if done[r["E-mail"]]++; p.sharedAddresses && done[r["E-mail"]] > 1 {
				p.t.Errorf("several clients are done who have the address %s", r["E-mail"])
			}
		case slices.Contains(open, key):
		case !p.sharedAddresses || !saysSharedAddress.MatchString(r["Error"]):
			p.t.Errorf("row %s is %q, though nothing of its client is uncertain: %s", r["Source row"], status, r["Error"])
		}
	}
}

// checkShared compares the last workbook with the service: a duplicate must have been said, and the steps that are left
// uncertain be explained.
func (p *group) checkShared() {
	p.t.Helper()
	said, texts := p.said(), p.output.String()
	for _, m := range p.members {
		kept, err := filepath.Glob(p.path("state-" + m.name + "/journal-*.jsonl*"))
		must(p.t, err)
		for _, path := range kept {
			texts += readText(p.t, path)
			if strings.HasSuffix(path, ".jsonl") {
				p.t.Errorf("%s is still there after undisturbed runs", path)
			}
		}
	}
	for _, what := range disagreements(p.service, said) {
		if step, ok := strings.CutPrefix(what, createdTwice); ok {
			hidden := unsaid(p.service.Created()[step], said[step], texts)
			p.t.Logf("%s was created more than once; %d of that was not said", step, hidden)
			if hidden == 0 || hidden == 1 && said[step].state == "uncertain" {
				continue
			}
		}
		p.t.Errorf("the workbook and the service disagree: %s", what)
	}
	if open, most := len(p.uncertain()), p.touched*inDoubt(p.flight)+int(p.ambiguous.Load()); open > most {
		p.t.Errorf("%d steps are uncertain after %v and %d ambiguous answers, which is more than %d", open, p.counts, p.ambiguous.Load(), most)
	}
}

// unsaid counts what was created for a step and is neither in the workbook nor in texts.
func unsaid(things []apitest.Made, word saidStep, texts string) (n int) {
	for _, thing := range things {
		named := word.state == "done" && (word.id != "" && word.id == thing.ID || word.url != "" && word.url == thing.URL)
		said := thing.ID != "" && strings.Contains(texts, thing.ID) || thing.URL != "" && strings.Contains(texts, thing.URL)
		if !named && !said {
			n++
		}
	}
	return n
}
