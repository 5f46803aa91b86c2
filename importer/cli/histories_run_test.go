package cli_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tale is one random history: a campaign, a service, and what happens to them
// night after night. What it knows of whose things are is its own, and comes
// from what the service was sent.
type tale struct {
	seed   uint64
	rng    *rand.Rand
	dir    string
	c      *leadCampaign
	w      *intakeWorld
	binary string   // "" runs the program inside this process
	env    []string // of the binary
	loud   func(format string, args ...any)

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
func newTale(seed uint64, dir string, may func(what string) bool) *tale {
	h := &tale{
		seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), dir: dir, w: newIntakeWorld(),
		settled: map[string]string{}, holder: map[string]string{}, beside: map[string]string{}, doubted: map[string]bool{}, moreOf: map[string]int{}, givenUp: map[string]bool{},
		loud: func(string, ...any) {},
	}
	h.c = newCampaign(h.rng, may)
	h.w.templates = []string{"details", "agreement", "sign", "extra1", "extra2", "extra3"}
	h.tell("%s%s", h.c.mapping(), h.c.environments(h.w.URL))
	for _, r := range h.c.rows {
		h.tell("%q", r.cells())
	}
	if h.c.existing != "create" {
		for _, p := range h.c.people {
			if h.rng.IntN(10) == 0 {
				h.w.somebodyElse(p.email, p.phone)
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

// disagree notes that the program does what the model says it must not.
func (h *tale) disagree(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	h.wrong = append(h.wrong, text)
	h.tell("DISAGREEMENT: %s", text)
}

func (h *tale) path(name string) string { return filepath.Join(h.dir, name) }
func (h *tale) state() string           { return h.path(".claimsheet") }
func (h *tale) book() string            { return h.path("leads.results.xlsx") }

// must is for what only a broken test can fail to do.
func (h *tale) must(err error) {
	if err != nil {
		panic(fmt.Errorf("history %d: %w", h.seed, err))
	}
}

// outing is a run: how it is made, and what happens to it.
type outing struct {
	flags   []string
	rerun   bool
	workers int
	faults  int  // per cent of the creating calls
	late    bool // also answers that come too late
	kill    bool // kill -9, at some call or some time
	process bool // in a process of its own
	partly  bool // not all clients of the sheet
	taken   bool // a new ledger takes what is uncertain from the workbook
	code    int  // an exit code that it may have beside 0, 1, 3 and 4
}

// files writes the mapping, the environments and the sheet as they are now.
func (h *tale) files() {
	h.must(os.WriteFile(h.path("mapping.yaml"), []byte(h.c.mapping()), 0o600))
	h.must(os.WriteFile(h.path("environments.yaml"), []byte(h.c.environments(h.w.URL)), 0o600))
	h.must(h.c.writeSheet(h.path(h.c.sheet())))
}

// command is an outing's command line.
func (h *tale) command(o outing) commandLine {
	words := []string{"run", "-m", h.path("mapping.yaml"), "--json"}
	if o.rerun {
		words[0] = "rerun"
	}
	words = append(append(words, "--concurrency", fmt.Sprint(max(o.workers, 1))), o.flags...)
	if o.rerun {
		words = append(words, h.book())
	} else {
		words = append(words, h.path(h.c.sheet()))
	}
	return commandLine{words: words, process: o.process || o.kill, binary: h.binary, env: h.env}
}

// night is what a run came to, and what it met.
type night struct {
	ended
	number    int
	calls     []creation
	ambiguous int // answers that left open what happened
	book      book
}

// run carries an outing out and holds what came of it against the model.
func (h *tale) run(o outing) night {
	h.c.deadline = "30s"
	if o.late {
		h.c.deadline = "1s"
	}
	h.files()
	c := h.command(o)
	var arm func(kill func())
	n := night{}
	n.number = h.w.begin(h.mishaps(o), nil)
	if o.kill {
		c.kill, arm = func(kill func()) { arm(kill) }, h.killer()
	}
	h.tell("run %d: %s %v faults %d%% late %v kill %v", n.number, strings.Join(c.words, " "), o.flags, o.faults, o.late, o.kill)
	e, err := c.carryOut()
	h.must(err)
	n.ended = e
	if o.kill && !h.w.silent(n.number) {
		h.must(fmt.Errorf("connections of a killed process stay open"))
	}
	h.w.busy.Wait()
	h.ripe = later()
	h.meet(&n)
	h.check(o, &n)
	if len(h.copies) < 3 && h.rng.IntN(2) == 0 {
		h.keepCopy(n.number)
	}
	return n
}

// meet collects what the service has seen of a run.
func (h *tale) meet(n *night) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	for _, c := range h.w.calls {
		if c.run != n.number {
			continue
		}
		n.calls = append(n.calls, c)
		if !slices.Contains(definite, c.went) {
			n.ambiguous++
		}
		if c.went != noMishap {
			h.tell("   %s: %s", c.step, c.went)
		}
	}
	if n.code == -1 { // it may have died before it read the last answers
		for _, t := range h.w.things {
			t.answered = t.answered && t.run != n.number
		}
	}
	h.tell("   exit code %d, %d calls", n.code, len(n.calls))
	if n.code == 3 {
		h.tell("   %s", n.err)
	}
	h.loud("   %s%s", n.out, n.err)
}

// mishaps decides at random what goes wrong in a run: by step, so that the order in
// which workers send makes no difference.
func (h *tale) mishaps(o outing) func(step string, attempt int, kind string) mishap {
	if o.faults == 0 {
		return nil
	}
	salt := h.rng.Uint64()
	return func(step string, attempt int, kind string) mishap {
		hash := fnv.New64a()
		fmt.Fprint(hash, salt, step, attempt)
		rng := rand.New(rand.NewPCG(hash.Sum64(), 7))
		if rng.IntN(100) >= o.faults {
			return noMishap
		}
		kinds := []mishap{cutBefore, cutAfter, brokenAfter, brokenBefore, tooMany, refusedOnce, refusedOnce, slowly, accepted, acceptedSlow, halfAnswer, nameless}
		if kind != "activity" {
			kinds = append(kinds, repeatedID)
		}
		if kind == "client" && h.c.lookup != "" {
			kinds = append(kinds, overtaken)
		}
		if o.late {
			kinds = append(kinds, answeredLate, answeredLate)
		}
		kinds = slices.DeleteFunc(kinds, func(m mishap) bool { return !h.c.may(string(m)) })
		if len(kinds) == 0 {
			return noMishap
		}
		return oneOf(rng, kinds...)
	}
}

// killer decides at random when a process is killed: when a creating call comes in,
// when it is carried out, or at any time.
func (h *tale) killer() (arm func(kill func())) {
	at, way, after := 1+h.rng.IntN(14), h.rng.IntN(4), time.Duration(h.rng.IntN(120))*time.Millisecond
	return func(kill func()) {
		if way == 3 {
			time.AfterFunc(after, kill)
			return
		}
		h.w.mu.Lock()
		defer h.w.mu.Unlock()
		h.w.onPost = func(n int) (before, then func()) {
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
func (h *tale) tool(words ...string) ended {
	words = append([]string{words[0], "-m", h.path("mapping.yaml")}, words[1:]...)
	e, err := commandLine{words: words, binary: h.binary, env: h.env}.carryOut()
	h.must(err)
	return e
}

// clean is a run without faults, with a dry run before it that must foresee it.
func (h *tale) clean(o outing, foreseen bool) night {
	h.w.rest()
	if !foreseen {
		return h.run(o)
	}
	time.Sleep(time.Until(h.ripe)) // what is parked must not ripen between the two
	dry := o
	dry.flags = append(slices.Clone(o.flags), "--dry-run")
	h.files()
	c := h.command(dry)
	number := h.w.begin(nil, nil)
	h.tell("dry run %d: %v", number, c.words[5:])
	before := len(h.w.calls)
	plan, err := c.carryOut()
	asked := h.w.lookups
	h.must(err)
	h.loud("   exit code %d %s%s", plan.code, plan.out, plan.err)
	if len(h.w.calls) != before {
		h.disagree("the dry run %d has sent something", number)
	}
	n := h.run(o)
	switch {
	case plan.code != n.code:
		h.disagree("the dry run before run %d foresaw exit code %d, and it was %d\n%s%s", n.number, plan.code, n.code, plan.err, n.err)
	case plan.summary != nil && n.summary != nil && plan.summary.Requests != n.summary.Requests:
		h.disagree("before run %d were foreseen %+v, and it was %+v; the look-ups were %q, and %q",
			n.number, plan.summary.Requests, n.summary.Requests, asked, h.w.lookups)
	}
	return n
}

// stepKey is how the history names a step.
func stepKey(key, step string) string { return key + ":" + step }

// thingsOf are what the service has for a step of a client key; a client whom it
// knew before is none.
func (h *tale) thingsOf(key, step string) (things []*thing) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	kind, rest, _ := strings.Cut(step, "/")
	for _, t := range h.w.things {
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

// keyOf is the client key whose a thing is. Somebody else's client is of the key
// that has taken it over: for whom it has other things, beside whom it was shown
// as done, or who alone has its address. The service is held.
func (h *tale) keyOf(t *thing) string {
	if key := t.owner(); key != "" {
		return key
	}
	who := t.client()
	for _, other := range h.w.things {
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

// findsOf is what the look-ups for a person find, nil for nobody. The service is held.
func (h *tale) findsOf(p *person) (found []*thing) {
	if h.c.lookup != "phone" && h.c.lookup != "" && p.email != "" {
		found = append(found, h.w.find("by-email", p.email))
	}
	if h.c.lookup == "phone" || h.c.lookup == "confirm" || h.c.lookup == "both" && p.email == "" {
		found = append(found, h.w.find("by-phone", p.phone))
	}
	return found
}
