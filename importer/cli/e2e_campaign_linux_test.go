package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"claimsheet/apiclient/apitest"
	"claimsheet/importer/ledger/postgres/pgtest"
)

// sharedFaults is how often each campaign kills, pauses, cuts …, at least.
const sharedFaults = 20

// disturbancesAScene is how much happens to the processes of one scene.
const disturbancesAScene = 10

// campaigns are what happens to processes that work on one ledger.
var campaigns = []struct {
	name    string
	ways    []disturbance
	workers bool // and runs that they carry out, in place of runs that carry out themselves
}{
	{name: "killed", ways: []disturbance{killed}},
	{name: "killed workers", ways: []disturbance{killed}, workers: true},
	{name: "paused", ways: []disturbance{paused, paused, paused, killed}},
	{name: "paused workers", ways: []disturbance{paused, paused, paused, killed}, workers: true},
	{name: "cut", ways: []disturbance{terminated, reset}},
	{name: "cut workers", ways: []disturbance{terminated, reset}, workers: true},
	{name: "restarted", ways: []disturbance{restarted, crashed}},
	{name: "restarted workers", ways: []disturbance{restarted, crashed}, workers: true},
	{name: "everything", ways: []disturbance{killed, paused, terminated, reset, restarted, crashed}},
	{name: "everything workers", ways: []disturbance{killed, paused, terminated, reset, restarted, crashed}, workers: true},
}

// TestKilledWhileShared: several processes work on one ledger, on one sheet or on two that
// overlap, while some are killed or paused for longer than they may be silent, connections
// to the server are cut, and the server is restarted. Every process ends
// as what has happened to it explains; nothing is lost, nothing wrong, and nothing created
// twice without being said.
func TestKilledWhileShared(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	binary := trialName
	for i, c := range campaigns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := seeded(t, uint64(100+i))
			var server *pgtest.Server
			if slices.Contains(c.ways, restarted) {
				server = pgtest.Own(t)
			} else {
				server = pgtest.Shared(t)
			}
			var all disturbanceCounts
			open := 0
			for done := 0; done < sharedFaults && !t.Failed(); {
				sheets := [][]string{{"leads.xlsx"}, {"leads.xlsx", "leads.xlsx"}, {"first.xlsx", "last.xlsx"}}[rng.IntN(3)]
				of := runs(2+rng.IntN(3), sheets...)
				if c.workers {
					of = workersAnd([]int{2, 4}[rng.IntN(2)], sheets...)
				}
				p := newGroup(t, server, binary, rng, c.ways, min(disturbancesAScene, sharedFaults), of)
				p.campaign()
				for way, n := range p.counts {
					all[way] += n
				}
				done += p.happened()
				if !t.Failed() {
					open += len(p.uncertain())
				}
			}
			t.Logf("%s; %d steps uncertain", all, open)
		})
	}
}

// campaign has the processes of a group work, disturbs them, and then has them
// work undisturbed until nothing is left to be sent. Then it compares what they said with
// what the service has.
func (p *group) campaign() {
	p.t.Helper()
	p.disturbAll()
	if !p.t.Failed() && !p.rest() {
		p.t.Error("the processes do not come to rest")
	}
	if p.t.Failed() {
		p.t.Log(p.output.String())
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
	if p.t.Failed() {
		p.t.Log(p.output.String())
		return
	}
	p.t.Logf("%d processes, %d in flight, shared addresses %v: %s, %d ambiguous answers, %d steps uncertain", len(p.processes), p.flight, p.sharedAddresses, p.counts, p.ambiguous.Load(), len(p.uncertain()))
}

// rest has the processes work undisturbed until none sends anything, and then each once by
// itself.
func (p *group) rest() bool {
	for range 10 {
		before := len(p.service.Calls())
		p.work(false, func(m *process) { p.runOnce(m, false) })
		sent := slices.ContainsFunc(p.service.Calls()[before:], func(c apitest.Call) bool { return c.Method != "GET" })
		if sent && !p.t.Failed() {
			continue
		}
		var one sync.Mutex
		p.work(false, func(m *process) {
			one.Lock()
			defer one.Unlock()
			p.runOnce(m, false)
		})
		return true
	}
	return false
}

// judge fails for an exit code that what has happened to the process does not explain. p.mu
// is held.
func (p *group) judge(m *process) {
	if why := p.unexplained(m); why != "" {
		p.t.Errorf("%s (%s; %d answers refused, %d unclear): exit code %d: %s\n%s", m.name, m.counts, m.refused, m.unclear, m.code, why, m.said)
	}
}

// What a process says that ends because others may have taken its clients over, and
// because it cannot use the ledger's server.
var (
	saysLost     = regexp.MustCompile(`was paused, or cut off`)
	saysIdle     = regexp.MustCompile(`terminating connection due to idle-in-transaction timeout`)
	saysNoServer = regexp.MustCompile(`the ledger cannot be (written|read)|the ledger's server cannot be used`)
)

// unexplained says why an exit code is not explained; "" when it is. p.mu is held.
func (p *group) unexplained(m *process) string {
	cut := m.counts[terminated]+m.counts[reset]+m.counts[restarted]+m.counts[crashed] > 0
	switch {
	case m.isWorker && m.stopped && (m.code == -1 || m.code == 143):
		return ""
	case m.isWorker && m.stopped && m.ownNamespace && m.code == 2 && m.said == "":
		// It was told to end before it had asked for signals. The first process of a namespace
		// is not ended by a signal then; Go's runtime ends it with this code.
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
		m.unclear >= 10 && strings.Contains(m.said, "none was created")):
		return ""
	case m.code != 0 && m.code != 1 && m.code != 4:
		return "nothing that has happened to it explains this"
	}
	return p.unlikeRows(m)
}

// firstRefused is how many clients must be refused before a run takes its mapping for wrong.
const firstRefused = 3

// unlikeRows says how an exit code does not fit the rows of the process's workbook, and
// what has happened to them; "" when it does.
func (p *group) unlikeRows(m *process) string {
	rows, err := records(p.path(m.workbook), "Results")
	if err != nil {
		return err.Error()
	}
	counts, taken := map[string]int{}, 0
	for _, r := range rows {
		counts[r["Import status"]]++
		if saysSharedAddress.MatchString(r["Error"]) {
			taken++
		}
	}
	want := 0
	switch {
	case counts["uncertain"] > 0:
		want = 4
	case counts["failed"]+counts["invalid"]+counts["not started"] > 0:
		want = 1
	}
	switch {
	case m.code != want:
		return fmt.Sprintf("its rows are %v", counts)
	case want == 1 && m.refused == 0 && counts["failed"]+counts["invalid"]+counts["not started"] > taken:
		return fmt.Sprintf("its rows are %v, and none of its requests was refused", counts)
	case want == 4 && p.touched == 0 && p.ambiguous.Load() == 0:
		return fmt.Sprintf("its rows are %v, and nothing has happened to anybody", counts)
	}
	return ""
}

// saysSharedAddress is why a row is not sent whose address is that of another key.
var saysSharedAddress = regexp.MustCompile(`has the same (e-mail address|phone number)|the service has one client for this key and for the key`)

// checkRows holds that all is done but for what is uncertain; of two keys with one
// address, one is done.
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
			done[r["E-mail"]]++
		case slices.Contains(open, key):
		case !p.sharedAddresses || !saysSharedAddress.MatchString(r["Error"]):
			p.t.Errorf("row %s is %q, though nothing of its client is uncertain: %s", r["Source row"], status, r["Error"])
		}
	}
	for address, n := range done {
		if p.sharedAddresses && n > 1 {
			p.t.Errorf("%d clients are done who have the address %s", n, address)
		}
	}
}

// checkShared compares the last workbook with the service: a duplicate must have been
// said, and the steps that are left uncertain be explained.
func (p *group) checkShared() {
	p.t.Helper()
	said := p.said()
	v := p.service.Check(said)
	v.SilentDup = slices.DeleteFunc(v.SilentDup, func(step string) bool { return p.reported(step, said[step]) })
	if !v.OK() {
		p.t.Errorf("the workbook and the service disagree: %s", v)
	}
	if open, most := len(p.uncertain()), p.touched*inDoubt(p.flight)+int(p.ambiguous.Load()); open > most {
		p.t.Errorf("%d steps are uncertain after %s and %d ambiguous answers, which is more than %d", open, p.counts, p.ambiguous.Load(), most)
	}
	for _, kept := range p.journals("journal-*.jsonl") {
		p.t.Errorf("%s is still there after undisturbed runs", kept)
	}
}

// reported reports whether the processes have said of a step that it was created more than
// once: each thing that the workbook does not name, on stderr with its id, or in an
// journal.
func (p *group) reported(step string, word apitest.Said) bool {
	texts := p.output.String()
	for _, path := range p.journals("journal-*.jsonl*") {
		text, err := os.ReadFile(path)
		must(p.t, err)
		texts += string(text)
	}
	hidden := unsaid(p.service.Created()[step], word, texts)
	p.t.Logf("%s was created more than once; %d of that was not said", step, hidden)
	return hidden == 0 || hidden == 1 && word.State == apitest.Uncertain
}

// unsaid counts what was created for a step and is neither in the workbook nor in texts.
func unsaid(things []apitest.Made, word apitest.Said, texts string) (n int) {
	for _, thing := range things {
		named := word.State == apitest.Done && (word.ID != "" && word.ID == thing.ID || word.URL != "" && word.URL == thing.URL)
		said := thing.ID != "" && strings.Contains(texts, thing.ID) || thing.URL != "" && strings.Contains(texts, thing.URL)
		if !named && !said {
			n++
		}
	}
	return n
}

// journals are those of all processes.
func (p *group) journals(pattern string) (paths []string) {
	for _, m := range p.processes {
		found, err := filepath.Glob(filepath.Join(p.path("state-"+m.name), pattern))
		must(p.t, err)
		paths = append(paths, found...)
	}
	return paths
}
