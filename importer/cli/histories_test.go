package cli_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	histories   = flag.Int("histories", 0, "how many histories TestHistories goes through; 0: one, or 200 with -long")
	historySeed = flag.Uint64("history-seed", 0, "the one history that TestHistories goes through, told in full; 0 takes new ones")
	without     = flag.String("history-without", "", "what happens in no history, and what goes wrong in none, by name, with commas between")
)

// TestHistories goes through random histories: nights of runs over a campaign
// whose sheet and mapping change, with a service that has troubles of every kind, kills,
// operators, and whatever else happens to a program that runs unattended. The
// service is one of the test's own, and so is the model, which knows from what
// the service was sent whose each thing is. No history may disagree with it.
func TestHistories(t *testing.T) {
	if *historySeed != 0 {
		h := newTale(*historySeed, t.TempDir(), mayHappen)
		h.loud = t.Logf
		h.live()
		for _, wrong := range h.wrong {
			t.Error(wrong)
		}
		return
	}
	most := int64(cmp.Or(*histories, longOr(200, 1)))
	if underRace {
		most = min(most, 20)
	}
	seed := freshSeed()
	t.Logf("histories %d to %d; one of them again: go test ./importer/cli -run 'TestHistories$' -history-seed N", seed, seed+uint64(most)-1)
	dir := t.TempDir()
	var next, runs atomic.Int64
	var all sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) { // part of their time is waiting
		all.Go(func() {
			for n := next.Add(1) - 1; n < most; n = next.Add(1) - 1 {
				place := fmt.Sprint(dir, "/", n)
				if err := os.Mkdir(place, 0o700); err != nil {
					t.Error(err)
					return
				}
				h := newTale(seed+uint64(n), place, mayHappen)
				h.live()
				runs.Add(int64(h.w.run))
				if len(h.wrong) > 0 {
					t.Errorf("history %d:\n%s", h.seed, strings.Join(h.story, "\n"))
				}
				_ = os.RemoveAll(place)
			}
		})
	}
	all.Wait()
	t.Logf("%d commands", runs.Load())
}

// freshSeed is one that was not used before.
func freshSeed() uint64 { return uint64(time.Now().UnixNano()) >> 10 }

// live goes through a history, up to the first disagreement.
func (h *tale) live() {
	defer h.w.Close()
	for range 2 + min(h.rng.IntN(9), h.rng.IntN(9)) {
		what := h.next()
		h.tell("- %s", what.name)
		if what.do(h); len(h.wrong) > 0 {
			return
		}
	}
	h.converge()
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

// mayHappen reports whether something may happen.
func mayHappen(name string) bool { return !slices.Contains(strings.Split(*without, ","), name) }

// pass lets a night pass: all attempts are old enough for a look-up to be
// believed.
func (h *tale) pass() { time.Sleep(time.Until(h.ripe)) }

// converge has all troubles end: what is wrong in the sheet is corrected, and an
// operator says what is true. Then a few runs do all that is left, and another
// sends nothing.
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
		if len(n.calls) == 0 && n.code != 4 {
			h.checkEnd(n)
			return
		}
	}
	h.disagree("the runs do not come to an end")
}

// checkEnd holds that everything that the sheet asks for is there, once, but
// for clients who are somebody else's.
func (h *tale) checkEnd(n night) {
	statuses := map[string]string{}
	for i, row := range n.book.results {
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
			if things := h.thingsOf(key, step); len(things) == 0 && !(step == "client" && h.holds(key)) {
				h.disagree("in the end %s is %q, and the service does not have its %s", key, statuses[key], step)
			}
		}
	}
}

// holds reports whether a key has taken over a client that the service knew before.
func (h *tale) holds(key string) bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	for id, holder := range h.holder {
		if t := h.w.withID("client", id); holder == key && t != nil && t.key == "" {
			return true
		}
	}
	return false
}

// leftOut is why a person is not done in the end: somebody else has the address, or the
// address was corrected to somebody else's, or nothing is to be done for clients whom the
// service knows.
func (h *tale) leftOut(p *person) string {
	key := h.c.key(p)
	for step := range h.givenUp {
		if strings.HasPrefix(step, key+":") {
			return "given up"
		}
	}
	exists := len(h.thingsOf(key, "client")) > 0
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	found := h.findsOf(p)
	if exists {
		if t := h.w.find("by-email", p.email); p.borrowed && h.c.existing != "create" && t != nil && slices.Contains(found, t) && h.keyOf(t) != "" && h.keyOf(t) != key {
			return "corrected to somebody else's"
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
