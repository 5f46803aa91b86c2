package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claimsheet/apiclient/apitest"
)

var (
	histories   = flag.Int("histories", 0, "how many histories TestHistories goes through; new ones; 0: the first 200, with -long")
	historySeed = flag.Uint64("history-seed", 0, "the one history that TestHistories goes through, told in full; 0 takes new ones")
)

// TestHistories goes through random histories: nights of runs over a campaign whose sheet and mapping change, with a
// service that has troubles of every kind, kills, operators, and whatever else happens to a program that runs
// unattended. The model, which knows from what the service was sent whose each thing is, is the test's own. No history may
// disagree with it.
func TestHistories(t *testing.T) {
	if *histories == 0 && *historySeed == 0 {
		onlyLong(t)
	}
	most := uint64(cmp.Or(*histories, 200))
	seeds, first := slices.Clone(failedBefore), uint64(1) // the same each time: what fails then is of the change at hand; -histories goes through new ones
	switch {
	case *historySeed != 0:
		seeds, first, most = nil, *historySeed, 1
	case *histories != 0:
		seeds, first = nil, freshSeed()
	}
	for n := range most {
		seeds = append(seeds, first+n)
	}
	t.Logf("histories %d to %d; one of them again: go test ./importer/cli -run 'TestHistories$' -history-seed N", first, first+most-1)
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if h := newTale(t, seed, "", func(string) bool { return true }); len(h.live()) > 0 {
				t.Error(strings.Join(h.story, "\n"))
			}
		})
	}
}

// failedBefore are histories that showed mistakes: an id of existing: fail was taken for an edited one, a dry run
// thought an address owned that the run looks up, an address stayed that of a client who was then created with another, one
// was given up when an activity of its client was sent again, and who was taken over from a workbook in doubt owned no address.
// In the last the test was wrong: an address may be corrected to the phone of somebody else, too.
var failedBefore = []uint64{1753607500468752, 1753610690771707, 1753622732843159, 1753622732843402, 1753623901433555, 1753623901434035, 1753646166943840}

// freshSeed is one that was not used before.
func freshSeed() uint64 { return uint64(time.Now().UnixNano()) >> 10 }

// live goes through a history, up to the first disagreement, and returns how program and model disagree.
func (h *tale) live() []string {
	for range 2 + min(h.rng.IntN(9), h.rng.IntN(9)) {
		what := h.next()
		h.tell("- %s", what.name)
		if what.do(h); len(h.wrong) > 0 {
			return h.wrong
		}
	}
	h.converge()
	return h.wrong
}

// next is what happens next.
func (h *tale) next() happening {
	var list []happening
	total := 0
	for _, what := range happenings {
		if h.c.may(what.name) && (what.can == nil || what.can(h)) {
			list = append(list, what)
			total += what.weight
		}
	}
	n := h.rng.IntN(total)
	i := 0
	for ; n >= list[i].weight; i++ {
		n -= list[i].weight
	}
	return list[i]
}

// pass lets a night pass: all attempts are old enough for a look-up to be believed.
func (h *tale) pass() { time.Sleep(time.Until(h.ripe)) }

// converge has all troubles end: what is wrong in the sheet is corrected, and an operator says what is true.
func (h *tale) converge() {
	h.tell("- all troubles end")
	for _, p := range h.c.people {
		if p.born == "soon" {
			p.born = "1982-03-04"
		}
	}
	for range 6 {
		h.pass()
		h.decide(100)
		n := h.clean(outing{workers: oneOf(h.rng, 1, 2, 8)}, h.rng.IntN(2) == 0)
		if n.code == 3 && strings.Contains(n.err, "new-ledger") { // there are few, and most of them were known
			n = h.run(outing{workers: 1, flags: []string{"--accept", "new-ledger"}})
		}
		if len(h.wrong) > 0 {
			return
		}
		if len(n.created) == 0 && n.code != 4 {
			h.checkEnd(n)
			return
		}
	}
	h.disagree("the runs do not come to an end")
}

// checkEnd holds that everything that the sheet asks for is there, once, but for clients who are somebody else's.
func (h *tale) checkEnd(n night) {
	statuses := map[string]string{}
	for i, row := range n.results {
		key := h.c.key(h.c.rows[i].who)
		if s := row["Import status"]; statuses[key] == "" || !slices.Contains(doneWords, s) {
			statuses[key] = s
		}
	}
	for _, p := range h.c.present() {
		key := h.c.key(p)
		if !slices.Contains(doneWords, statuses[key]) {
			if why := h.leftOut(p); why == "" {
				h.disagree("in the end %s is %q, and nothing stands against it: %s", key, statuses[key], n.why(h, key))
			}
			continue
		}
		for _, step := range h.c.steps(p) {
			if things := h.thingsOf(key, step); len(things) == 0 && !(step == "client" && slices.ContainsFunc(slices.Collect(maps.Keys(h.holder)), func(id string) bool { return h.holder[id] == key && h.isSomebodyElses(id) })) {
				h.disagree("in the end %s is %q, and the service does not have its %s", key, statuses[key], step)
			}
		}
	}
}

// leftOut is why a person is not done in the end: somebody else has the address, or the address was corrected to
// somebody else's, or nothing is to be done for clients whom the service knows.
func (h *tale) leftOut(p *person) string {
	key := h.c.key(p)
	for step := range h.givenUp {
		if strings.HasPrefix(step, key+":") {
			return "given up"
		}
	}
	exists := len(h.thingsOf(key, "client")) > 0
	found := h.findsOf(p)
	if exists {
		for _, t := range []*thing{h.find(p.email, ""), h.find("", p.international())} {
			if h.c.existing != "create" && t != nil && slices.Contains(found, t) && h.keyOf(t) != "" && h.keyOf(t) != key {
				return "corrected to somebody else's"
			}
		}
		return ""
	}
	for _, t := range found {
		switch {
		case t == nil:
		case h.c.existing != "reuse":
			return "known already"
		case h.keyOf(t) != "" && h.keyOf(t) != key:
			return "somebody else's"
		}
	}
	if len(found) == 2 && found[0] != found[1] {
		return "two people"
	}
	return ""
}

// believesLostLedger is a bug that a flag plants, in each run.
const believesLostLedger = "a lost ledger is believed"

// TestHistoriesFindPlantedBugs holds the histories to finding each bug of a trial build, by what may happen in them; without a bug
// they find nothing in it. The bugs of planted_test.go are those of a program that writes too late, reads too little, sends again or
// misreads an answer.
func TestHistoriesFindPlantedBugs(t *testing.T) {
	onlyLong(t)
	kills := []string{"a run", "a run that is killed", "a night passes"}
	trouble := []string{"a run", "a run with trouble"}
	lost := append(trouble, cutAfter, brokenAfter)
	doubts := append(lost, "rows come", "rows are put in another order", "two people have one address")
	for _, hunt := range []struct {
		bug string
		may []string
	}{
		{"intent written after the request", kills},
		{"nothing written before the end", kills},
		{"outcomes written at the end", kills},
		{"sent again after a reset", lost},
		{"sent again after a 500", lost},
		{"a 5xx taken for a refusal", lost},
		{"an address in doubt is anybody's", doubts},
		{believesLostLedger, []string{"a run", "the state folder is lost"}},
		{"", slices.Concat(kills, doubts)},
	} {
		t.Run(hunt.bug, func(t *testing.T) {
			seed, wrong := freshSeed(), atomic.Pointer[string]{}
			t.Run("histories", func(t *testing.T) {
				for n := range map[bool]uint64{true: 150, false: 10}[hunt.bug != ""] {
					t.Run(fmt.Sprint(seed+n), func(t *testing.T) {
						t.Parallel()
						if wrong.Load() != nil {
							return
						}
						h := newTale(t, seed+n, hunt.bug, func(what string) bool { return slices.Contains(hunt.may, what) })
						if list := h.live(); len(list) > 0 {
							wrong.Store(&list[0])
						}
					})
				}
			})
			if found := wrong.Load(); (found != nil) != (hunt.bug != "") {
				t.Errorf("histories from %d: found: %v", seed, found != nil)
			} else if found != nil {
				t.Log(*found)
			}
		})
	}
}

// tale is one random history: a campaign, a service, and what happens to them night after night.
type tale struct {
	*scene
	rng *rand.Rand
	c   *leadCampaign
	bug string // of a trial build; "" runs the program as it is

	mu       sync.Mutex // guards what follows while a command runs
	things   []*thing   // in the order of their creation
	calls    map[int]creation
	attempts map[string]int                                     // of each step
	visible  time.Time                                          // from when on look-ups find everything
	command  int                                                // its number
	plan     func(step string, attempt int, kind string) string // of the command; nil: all goes well
	onPost   func(n int) (before, after func())                 // of the command; nil for none
	posts    int                                                // of the command
	odd      int                                                // complaints of the service that were told

	story []string // what happened, in order
	wrong []string // how program and model disagree

	settled map[string]string // client keys whose steps are all done, with what their rows and the mapping then said
	holder  map[string]string // ids and urls of clients, claims and links → the key beside which they were shown as done
	beside  map[string]string // the same, beside which they were shown as what something uncertain is about
	doubted map[string]bool   // steps that are uncertain, KEY:STEP
	moreOf  map[string]int    // by thing.name: how many more than one an operator has asked for
	givenUp map[string]bool   // steps that were given up, KEY:STEP
	ripe    time.Time         // from when on all attempts so far are old enough
	copies  []stateCopy       // of the state folder, oldest first
	last    int               // the last run that came to its end
	ran     string            // the activities of that run, where it was the last of all
	shown   string            // what the sheet was when that run showed all of it in the workbook
}

// newTale is a history in which only what may happen does.
func newTale(t *testing.T, seed uint64, bug string, may func(what string) bool) *tale {
	var templates []apitest.Template
	for _, name := range []string{"details", "agreement", "sign", "extra1", "extra2", "extra3"} {
		templates = append(templates, apitest.Template{ID: "t-" + name, Name: name,
			Attributes: []apitest.Attribute{{ID: "ref-" + name, Name: "Reference", DataType: "Text"}, {ID: "val-" + name, Name: "Value", DataType: "Text"}}})
	}
	h := &tale{
		scene: startScene(t, templates), rng: rand.New(rand.NewPCG(seed, 1)), bug: bug, calls: map[int]creation{}, attempts: map[string]int{},
		settled: map[string]string{}, holder: map[string]string{}, beside: map[string]string{}, doubted: map[string]bool{}, moreOf: map[string]int{}, givenUp: map[string]bool{},
	}
	h.pace.Believable = belief
	h.service.KeyField = "ref"
	h.service.Play(h.answer)
	h.c = newCampaign(h.rng, may)
	h.tell("%s%s", h.c.mapping(), h.c.environment())
	for _, r := range h.c.rows {
		h.tell("%q", r.cells())
	}
	if h.c.existing != "create" {
		known := 0
		for _, p := range h.c.people {
			if h.rng.IntN(10) == 0 && known < 2 { // most of them would be a lost ledger
				known++
				h.somebodyElse(p.email, p.international())
				h.tell("the service knows %s already", p.no)
			}
		}
	}
	return h
}

// tell adds to the story.
func (h *tale) tell(format string, args ...any) {
	h.story = append(h.story, fmt.Sprintf(format, args...))
	h.loud(format, args...)
}

// loud tells what is only told of the one history that is asked for.
func (h *tale) loud(format string, args ...any) {
	if *historySeed != 0 {
		h.t.Logf(format, args...)
	}
}

// disagree notes that the program does what the model says it must not.
func (h *tale) disagree(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	h.wrong = append(h.wrong, text)
	h.tell("DISAGREEMENT: %s", text)
}

func (h *tale) state() string { return h.path(".claimsheet") }
func (h *tale) book() string  { return h.path("leads.results.xlsx") }

// outing is a run: how it is made, and what happens to it.
type outing struct {
	flags   []string
	rerun   bool
	workers int
	faults  int  // per cent of the creating calls
	late    bool // also answers that come too late
	kill    bool // kill -9, at some call or some time
	partly  bool // not all clients of the sheet
	taken   bool // a new ledger takes what is uncertain from the workbook
	code    int  // an exit code that it may have beside 0, 1, 3 and 4
}

// files writes the mapping, the environments and the sheet as they are now.
func (h *tale) files() {
	h.mapping(h.c.mapping())
	here := h.url
	if h.c.local {
		h.url = strings.Replace(here, "127.0.0.1", "localhost", 1)
	}
	h.environment(h.c.environment())
	h.url = here
	table := strings.Join(leadHeader, ",") + "\n"
	rows := make([][]any, len(h.c.rows))
	for i, r := range h.c.rows {
		table += strings.Join(r.cells(), ",") + "\n"
		rows[i] = anyOf(r.cells())
	}
	if h.c.plain {
		write(h.t, h.path(h.c.sheet()), table)
		return
	}
	writeSheet(h.t, h.path(h.c.sheet()), anyOf(leadHeader), rows)
}

func anyOf(texts []string) (list []any) {
	for _, text := range texts {
		list = append(list, text)
	}
	return list
}

// words are an outing's command line.
func (h *tale) words(o outing) []string {
	words, file := []string{"run", "-m", h.path("mapping.yaml"), "--json"}, h.path(h.c.sheet())
	if o.rerun {
		words[0], file = "rerun", h.book()
	}
	if h.bug == believesLostLedger {
		words = append(words, "--accept", "new-ledger")
	}
	return append(append(append(words, "--concurrency", fmt.Sprint(max(o.workers, 1))), o.flags...), file)
}

// carryOut carries a command out: inside this process, or in one of its own, which may be killed.
func (h *tale) carryOut(words []string, process bool, arm func(kill func())) (p played) {
	if process || h.bug != "" {
		p = h.inProcess(words, arm)
	} else {
		p = runAt(h.t.Context(), h.pace, "", words...)
	}
	h.look()
	return p
}

func (h *tale) inProcess(words []string, arm func(kill func())) (p played) {
	name := programName
	if h.bug != "" {
		name = trialName
	}
	var out bytes.Buffer
	c := child(name, words, "TRIAL_BELIEVE="+belief.String(), "TRIAL_BUG="+h.bug)
	c.Stdout = &out
	if arm != nil {
		arm(c.kill)
	}
	p.code, p.err = c.end(h.t)
	if p.out = out.String(); p.ran() {
		must(h.t, json.Unmarshal(out.Bytes(), &p.summary))
	}
	return p
}

// ran reports whether a run has come to its end, and has not been refused.
func (p played) ran() bool { return p.code != -1 && strings.HasPrefix(p.out, `{"run":`) }

// night is what a run came to, and what it met.
type night struct {
	played
	number         int
	created        []creation
	ambiguous      int // answers that left open what happened
	results, steps []record
}

// run carries an outing out and holds what came of it against the model.
func (h *tale) run(o outing) night {
	h.c.deadline = "30s"
	if o.late {
		h.c.deadline = "1s"
	}
	h.files()
	var arm func(kill func())
	n := night{number: h.begin(h.mishaps(o))}
	if o.kill {
		arm = h.killer()
		h.server.CloseClientConnections() // of commands before
	}
	h.tell("run %d: %v faults %d%% late %v kill %v", n.number, h.words(o), o.faults, o.late, o.kill)
	n.played = h.carryOut(h.words(o), o.kill, arm)
	for o.kill && h.open.Load() > 0 { // what a killed process has sent is on its way
		time.Sleep(time.Millisecond)
	}
	h.settleDown()
	h.ripe = later()
	h.meet(&n)
	h.check(o, &n)
	if len(h.copies) < 3 && h.rng.IntN(2) == 0 {
		c := stateCopy{h.path(fmt.Sprint("copy", n.number)), n.number}
		if _, err := os.Stat(h.state()); err == nil {
			must(h.t, os.CopyFS(c.path, os.DirFS(h.state())))
			h.copies = append(h.copies, c)
		}
	}
	return n
}

// meet collects what the service has seen of a run.
func (h *tale) meet(n *night) {
	h.look()
	for _, number := range slices.Sorted(maps.Keys(h.calls)) {
		c := h.calls[number]
		if c.run != n.number {
			continue
		}
		n.created = append(n.created, c)
		if !slices.Contains(definite, c.went) {
			n.ambiguous++
		}
		if c.went != "" {
			h.tell("   %s: %s", c.step, c.went)
		}
	}
	if n.code == -1 { // it may have died before it read the last answers
		for _, t := range h.things {
			t.answered = t.answered && t.run != n.number
		}
	}
	h.tell("   exit code %d, %d calls", n.code, len(n.created))
	if n.code == 3 {
		h.tell("   %s", n.err)
	}
	h.loud("   %s%s", n.out, n.err)
}

// mishaps decides at random what goes wrong in a run: by step, so that the order in which workers send makes no
// difference.
func (h *tale) mishaps(o outing) func(step string, attempt int, kind string) string {
	if o.faults == 0 {
		return nil
	}
	salt := h.rng.Uint64()
	return func(step string, attempt int, kind string) string {
		hash := fnv.New64a()
		fmt.Fprint(hash, salt, step, attempt)
		rng := rand.New(rand.NewPCG(hash.Sum64(), 7))
		if rng.IntN(100) >= o.faults {
			return ""
		}
		kinds := slices.Clone(maxMishaps)
		if kind != "activity" {
			kinds = append(kinds, repeatedID)
		}
		if kind == "client" && h.c.lookup != "" {
			kinds = append(kinds, overtaken)
		}
		if o.late {
			kinds = append(kinds, answeredLate, answeredLate)
		}
		kinds = slices.DeleteFunc(kinds, func(name string) bool { return !h.c.may(name) })
		if len(kinds) == 0 {
			return ""
		}
		return oneOf(rng, kinds...)
	}
}

// killer decides at random when a process is killed: when a creating call comes in, when it is carried out, or at any
// time.
func (h *tale) killer() (arm func(kill func())) {
	at, way, after := 1+h.rng.IntN(14), h.rng.IntN(4), time.Duration(h.rng.IntN(120))*time.Millisecond
	return func(kill func()) {
		if way == 3 {
			time.AfterFunc(after, kill)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.onPost = func(n int) (before, then func()) {
			switch {
			case n != at:
			case way == 0:
				return kill, nil
			case way == 1:
				return nil, kill
			default:
				return func() { time.AfterFunc(after/40, kill) }, nil
			}
			return nil, nil
		}
	}
}

// tool runs another command of the program, inside this process.
func (h *tale) tool(words ...string) played {
	return h.carryOut(append([]string{words[0], "-m", h.path("mapping.yaml")}, words[1:]...), false, nil)
}

// clean is a run without faults, with a dry run before it that must foresee it.
func (h *tale) clean(o outing, foreseen bool) night {
	h.rest()
	if !foreseen {
		return h.run(o)
	}
	time.Sleep(time.Until(h.ripe)) // what is parked must not ripen between the two
	dry := o
	dry.flags = append(slices.Clone(o.flags), "--dry-run")
	h.files()
	h.tell("dry run %d: %v", h.begin(nil), dry.flags)
	h.since()
	plan := h.carryOut(h.words(dry), false, nil)
	plan.calls = h.since().calls
	h.loud("   exit code %d %s%s", plan.code, plan.out, plan.err)
	if len(plan.posts()) > 0 {
		h.disagree("a dry run has sent something")
	}
	n := h.run(o)
	switch {
	case plan.code != n.code:
		h.disagree("the dry run before run %d foresaw exit code %d, and it was %d\n%s%s", n.number, plan.code, n.code, plan.err, n.err)
	case plan.ran() && n.ran() && plan.summary.Requests != n.summary.Requests:
		h.disagree("before run %d were foreseen %+v, and it was %+v; the calls were\n%s\n%s",
			n.number, plan.summary.Requests, n.summary.Requests, transcript(plan.calls), transcript(h.since().calls))
	}
	return n
}

// thingsOf returns what the service has for a step of a client key, without clients that it had before the first run.
func (h *tale) thingsOf(key, step string) (things []*thing) {
	kind, rest, _ := strings.Cut(step, "/")
	for _, t := range h.things {
		if t.kind != kind || kind == "client" && t.key != key || h.keyOf(t) != key {
			continue
		}
		switch template, on, _ := strings.Cut(rest, "@"); kind {
		case "claim":
			if rest != "loan/"+t.claim {
				continue
			}
		case "activity":
			claim := ""
			if t.on.kind == "claim" {
				claim = t.on.claim
			}
			if t.template != "t-"+template || on != "client" && on != "loan/"+claim || on == "client" && t.on.kind == "claim" {
				continue
			}
		}
		things = append(things, t)
	}
	return things
}

// keyOf is the client key whose a thing is.
func (h *tale) keyOf(t *thing) string {
	if key := t.owner(); key != "" {
		return key
	}
	who := t.client()
	for _, other := range h.things {
		if other.key != "" && other.client() == who {
			return other.key
		}
	}
	if key := h.holder[who.id]; key != "" {
		return key
	}
	if key := h.beside[who.id]; key != "" {
		return key
	}
	found := ""
	for _, p := range h.c.people {
		if !slices.Contains(h.findsOf(p), who) {
			continue
		}
		if found != "" {
			return ""
		}
		found = h.c.key(p)
	}
	return found
}

// findsOf is what the look-ups for a person find, nil for nobody.
func (h *tale) findsOf(p *person) (found []*thing) {
	if h.c.lookup != "phone" && h.c.lookup != "" && p.email != "" {
		found = append(found, h.find(p.email, ""))
	}
	if h.c.lookup == "phone" || h.c.lookup == "confirm" || h.c.lookup == "both" && p.email == "" {
		found = append(found, h.find("", p.international()))
	}
	return found
}

// doubt is a step of settle's list.
type doubt struct {
	number, key, step string
}

var doubtLine = regexp.MustCompile(`(?m)^(\d+)  (\S.*) of the client (.+)$`)

// doubts are those of settle's list.
func doubtsIn(list string) (all []doubt) {
	for _, m := range doubtLine.FindAllStringSubmatch(list, -1) {
		all = append(all, doubt{m[1], m[3], m[2]})
	}
	return all
}

// later is a moment from which all attempts so far are old enough.
func later() time.Time { return time.Now().Add(belief + 20*time.Millisecond) }
