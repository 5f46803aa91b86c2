package cli_test

import (
	"fmt"
	"slices"
	"strings"
)

// happening is something that may happen in a history.
type happening struct {
	name   string
	weight int
	can    func(h *tale) bool // nil: always
	do     func(h *tale)
}

// happenings are all of them.
var happenings = []happening{
	{"a run", 6, nil, func(h *tale) { h.clean(h.anyOuting(), h.rng.IntN(2) == 0) }},
	{"a run with trouble", 8, nil, func(h *tale) {
		o := h.anyOuting()
		o.faults, o.late = oneOf(h.rng, 10, 30, 60), h.rng.IntN(12) == 0
		h.run(o)
	}},
	{"a run that is killed", 6, nil, func(h *tale) {
		o := h.anyOuting()
		o.kill, o.faults = true, oneOf(h.rng, 0, 0, 10)
		h.run(o)
	}},
	{"an address is corrected", 4, nil, (*tale).correctAddress},
	{"an amount is corrected", 2, nil, func(h *tale) { oneOf(h.rng, h.c.people...).amount = fmt.Sprint(1000 + h.rng.IntN(1000)) }},
	{"a date of birth is spoilt or corrected", 2, nil, func(h *tale) {
		p := oneOf(h.rng, h.c.people...)
		if p.born = "soon"; h.rng.IntN(2) == 0 {
			p.born = "1981-01-02"
		}
	}},
	{"rows come", 3, nil, func(h *tale) { h.c.join(h.rng) }},
	{"rows go", 2, func(h *tale) bool { return len(h.c.rows) > 2 }, func(h *tale) {
		i := h.rng.IntN(len(h.c.rows))
		h.c.rows = slices.Delete(h.c.rows, i, i+1)
	}},
	{"rows are put in another order", 3, nil, func(h *tale) {
		h.rng.Shuffle(len(h.c.rows), func(i, j int) { h.c.rows[i], h.c.rows[j] = h.c.rows[j], h.c.rows[i] })
	}},
	{"an operator decides", 3, func(h *tale) bool { return len(h.doubted) > 0 }, func(h *tale) { h.decide(50) }},
	{"a night passes", 3, nil, func(h *tale) { h.w.rest(); h.pass() }},
	{"an operator gives up", 1, func(h *tale) bool { return len(h.doubted) > 0 }, (*tale).giveUp},
	{"the results workbook is corrected and given back", 2, nil, (*tale).correctBook},
	{"a fresh link", 2, func(h *tale) bool { return !h.c.v1 }, (*tale).freshLink},
	{"two at once", 2, nil, (*tale).twoAtOnce},
	{"the base url is spelt otherwise", 1, nil, func(h *tale) { h.c.local = !h.c.local }},
	{"the campaign changes", 3, nil, (*tale).changeCampaign},
	{"the state folder is lost", 2, nil, (*tale).loseState},
	{"a run is killed and then the state folder is lost", 1, nil, (*tale).loseBoth},
	{"an old copy of the state folder is put back", 2, func(h *tale) bool { return len(h.copies) > 0 }, (*tale).restoreState},
	{"the mapping is renamed", 1, nil, (*tale).rename},
	{"the service moves", 1, nil, (*tale).moveService},
}

// anyOuting returns a random run.
func (h *tale) anyOuting() outing {
	o := outing{workers: oneOf(h.rng, 1, 2, 8)}
	switch h.rng.IntN(12) {
	case 0:
		o.flags, o.partly = []string{"--limit", fmt.Sprint(1 + h.rng.IntN(4))}, true
	case 1:
		o.flags, o.partly = []string{"--only", oneOf(h.rng, h.c.rows...).cells()[map[bool]int{true: 1}[h.c.byMail]]}, true
	}
	return o
}

// correctAddress changes an address, to another or to somebody else's.
func (h *tale) correctAddress() {
	p := h.doubtful()
	n := 500 + h.rng.IntN(400)
	switch {
	case h.rng.IntN(3) == 0:
		p.phone = fmt.Sprintf("07911 %06d", 123000+n)
	case !h.c.byMail && h.rng.IntN(4) == 0:
		if other := oneOf(h.rng, h.c.people...); other.email != "" {
			p.email, p.borrowed = other.email, other != p
		}
	default:
		p.email, p.borrowed = fmt.Sprintf("q%d@example.com", n), false
	}
	h.tell("%s is now %s %s", p.no, p.email, p.phone)
}

// doubtful is a person, if possible one with something uncertain.
func (h *tale) doubtful() *person {
	var list []*person
	for _, p := range h.c.present() {
		if h.doubted[stepKey(h.c.key(p), "client")] {
			list = append(list, p)
		}
	}
	if len(list) > 0 && h.rng.IntN(3) > 0 {
		return oneOf(h.rng, list...)
	}
	return oneOf(h.rng, h.c.people...)
}

// nobodys reports that nobody can say yet whose some thing is that may be a step:
// a link, say, of a client whom the service knew and two people could have taken over.
func (h *tale) nobodys(step string) bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	kind, _, _ := strings.Cut(step, "/")
	return kind != "client" && slices.ContainsFunc(h.w.things, func(t *thing) bool { return t.kind == kind && h.keyOf(t) == "" })
}

// decide has an operator say the truth about steps that are uncertain: each of
// them with some likelihood.
func (h *tale) decide(percent int) {
	h.w.rest()
	list := h.tool("settle")
	for _, d := range doubtsIn(list.out) {
		if h.rng.IntN(100) >= percent {
			continue
		}
		key := folded(d.key)
		if h.nobodys(d.step) {
			continue
		}
		words := []string{"settle", "--not-created", d.number}
		if things := h.thingsOf(key, d.step); len(things) > 0 {
			words = []string{"settle", "--created", things[0].id, d.number}
			if things[0].kind == "activity" {
				words = []string{"settle", "--created", d.number}
			}
		}
		if e := h.tool(words...); e.code != 0 {
			h.disagree("%v for %s %s ends with exit code %d\n%s", words, key, d.step, e.code, e.err)
			continue
		}
		h.tell("an operator says of %s %s: %v", key, d.step, words[1:])
		delete(h.doubted, stepKey(key, d.step))
	}
}
