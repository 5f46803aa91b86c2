package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// check holds a run against what must be true after every run.
func (h *tale) check(o outing, n *night) {
	h.checkService()
	h.ran = ""
	if n.code == -1 {
		h.checkDoubts(o, n)
		return
	}
	book, err := readBook(h.book())
	switch {
	case errors.Is(err, fs.ErrNotExist) && (n.code == 2 || n.code == 3 || n.code == 5):
	case err != nil:
		h.disagree("after run %d with exit code %d the results workbook cannot be read: %v\n%s", n.number, n.code, err, n.err)
	case n.code == 2 || n.code == 5 || n.summary == nil:
	default:
		n.book = book
		h.last, h.shown, h.ran = n.number, h.sheetPrint(), fmt.Sprint(h.c.activities)
		h.checkRows(o, n)
		h.checkSteps(o, n)
		h.noteSettled(o, n)
	}
	if n.code != o.code && !slices.Contains([]int{0, 1, 3, 4}, n.code) {
		h.disagree("run %d ended with exit code %d after %d calls\n%s", n.number, n.code, len(n.calls), n.err)
	}
	h.checkDoubts(o, n)
}

// checkService looks at what the service has: nothing twice, and nothing of one
// client with another.
func (h *tale) checkService() {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	for _, odd := range h.w.odd {
		h.disagree("%s", odd)
	}
	h.w.odd = nil
	count := map[string]int{}
	holders := map[string]string{}
	for _, t := range h.w.things {
		if t.kind == "client" && t.key == "" || t.kind == "link" && h.c.repeatable {
			continue
		}
		name := t.name()
		count[name]++
		if n := 1 + h.moreOf[name]; count[name] > n {
			h.disagree("created twice: %s", name)
			h.moreOf[name] = count[name] // say it once
		}
		if who := t.client(); t.key != "" && t.kind != "client" && who.key == "" {
			if other := holders[who.id]; other != "" && other != t.key {
				h.disagree("the client %s, whom the service knew, has things of %s and of %s", who.id, other, t.key)
			}
			holders[who.id] = t.key
		}
	}
}

// doneWords are the statuses of rows whose things are all there.
var doneWords = []string{"done", "unchanged", "changed"}

// checkRows looks at the sheet Results: every row of the sheet, ids where they
// belong, the exit code.
func (h *tale) checkRows(o outing, n *night) {
	if len(n.book.results) != len(h.c.rows) {
		h.disagree("run %d: %d rows in, %d rows out", n.number, len(h.c.rows), len(n.book.results))
		return
	}
	words := map[string]int{}
	for i, row := range n.book.results {
		r := h.c.rows[i]
		if row["Lead no"] != r.who.no || row["Agreement no"] != r.claim {
			h.disagree("run %d: row %d is %s %s and not %s %s", n.number, i+2, row["Lead no"], row["Agreement no"], r.who.no, r.claim)
			return
		}
		words[row["Import status"]]++
		h.checkIDs(n, r, row)
	}
	want := 0
	switch {
	case words["uncertain"] > 0:
		want = 4
	case words["failed"]+words["invalid"]+words["not started"] > 0:
		want = 1
	}
	h.tell("   rows %v", words)
	if n.code != want && n.code != 3 {
		h.disagree("run %d: exit code %d, and the rows are %v", n.number, n.code, words)
	}
	if n.code == 3 && o.faults == 0 && !strings.Contains(n.err, "new-ledger") {
		h.disagree("run %d was stopped though nothing went wrong\n%s", n.number, n.err)
	}
}

// checkIDs holds that the ids of a row are those of its client and claim.
func (h *tale) checkIDs(n *night, r leadRow, row map[string]string) {
	key, status := h.c.key(r.who), row["Import status"]
	isDone := slices.Contains(doneWords, status)
	hold := func(what, id string, is func(*thing) bool) {
		if id == "" {
			return
		}
		h.w.mu.Lock()
		i := slices.IndexFunc(h.w.things, func(t *thing) bool { return is(t) && (t.id == id || what == "redirectUrl" && t.url == id) })
		var owner string
		if i >= 0 {
			owner = h.keyOf(h.w.things[i])
		}
		h.w.mu.Unlock()
		switch {
		case i < 0:
			h.disagree("run %d: the %s %s beside the row %s %s is none that the service made", n.number, what, id, r.who.no, r.claim)
		case owner != "" && owner != key && status != "skipped": // it shows who has the address
			h.disagree("run %d: the %s %s beside the row %s %s (%s) is that of %s", n.number, what, id, r.who.no, r.claim, status, owner)
		}
		if other := h.holder[id]; isDone && other != "" && other != key {
			h.disagree("run %d: the %s %s is shown beside %s, and was beside %s", n.number, what, id, key, other)
		} else if isDone {
			h.holder[id] = key
		} else if status == "uncertain" || status == "not started" {
			h.beside[id] = key
		}
	}
	people := "contactId"
	if h.c.v1 {
		people = "clientId"
	}
	hold(people, row[people], func(t *thing) bool { return t.kind == "client" })
	hold("redirectUrl", row["redirectUrl"], func(t *thing) bool { return t.kind == "link" || h.c.v1 && t.kind == "client" })
	for id := range strings.FieldsSeq(strings.ReplaceAll(row["claimIds"], ",", " ")) {
		hold("claim id", id, func(t *thing) bool { return t.kind == "claim" && t.claim == r.claim })
	}
	if isDone && row[people] == "" {
		h.disagree("run %d: the row %s %s is %s, and has no %s", n.number, r.who.no, r.claim, status, people)
	}
	if isDone && r.claim != "" && row["claimIds"] == "" {
		h.disagree("run %d: the row %s %s is %s, and has no claim id", n.number, r.who.no, r.claim, status)
	}
}

// checkSteps looks at the sheet Steps: what is done is there, what failed is
// not, and what was answered is known.
func (h *tale) checkSteps(o outing, n *night) {
	for _, line := range n.book.steps {
		key, step, state := folded(line["Client key"]), line["Step"], line["State"]
		things := h.thingsOf(key, step)
		at := func(id string) bool {
			return slices.ContainsFunc(things, func(t *thing) bool { return t.id == id })
		}
		switch state {
		case "done":
			switch id := line["Id"]; {
			case step == "client" && id != "" && (at(id) || h.isSomebodyElses(id)):
			case strings.HasPrefix(step, "claim/") && id != "" && !at(id),
				step == "client" && id != "":
				h.disagree("run %d: %s %s is done with the id %s, which is not its own", n.number, key, step, id)
			case len(things) == 0 && step != "client" && !h.underSomebodyElse(key):
				h.disagree("run %d: %s %s is done, and the service does not have it", n.number, key, step)
			}
		case "refused", "planned":
			if len(things) > 0 && !(step == "link" && h.c.repeatable) {
				h.disagree("run %d: %s %s is %q, and the service has it: %s", n.number, key, step, state, things[0].id)
			}
		case "uncertain", "sent":
			if i := slices.IndexFunc(things, func(t *thing) bool { return t.answered && t.run == n.number }); i >= 0 {
				h.disagree("run %d: %s %s is %q, and the service has answered with its id: %s", n.number, key, step, state, things[i].id)
			}
		}
	}
	h.checkLost(n)
}

// checkLost holds that everything that this run was told of is in the workbook.
func (h *tale) checkLost(n *night) {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	for _, t := range h.w.things {
		if t.run != n.number || !t.answered || t.kind == "activity" {
			continue
		}
		if !slices.ContainsFunc(n.book.steps, func(line record) bool { return line["State"] == "done" && line["Id"] == t.id }) &&
			!slices.ContainsFunc(n.book.results, func(row record) bool { return row["redirectUrl"] == t.id }) {
			h.disagree("run %d: %s %s was created and answered, and is not in the workbook", n.number, t.name(), t.id)
		}
	}
}

// isSomebodyElses reports whether an id is that of a client that the service knew
// before.
func (h *tale) isSomebodyElses(id string) bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	t := h.w.withID("client", id)
	return t != nil && t.key == ""
}

// underSomebodyElse reports that a key may have taken over a client whom the
// service knew, of whose things the payloads do not say whose they are.
func (h *tale) underSomebodyElse(key string) bool { return len(h.thingsOf(key, "client")) == 0 }

// checkDoubts compares what is left for an operator with what a run could not
// have known.
func (h *tale) checkDoubts(o outing, n *night) {
	if n.code != -1 && n.ambiguous == 0 && len(h.doubted) == 0 && !slices.ContainsFunc(n.book.results, func(row record) bool { return row["Import status"] == "uncertain" }) {
		return // nothing was uncertain, and nothing can have become so
	}
	list := h.tool("settle")
	if list.code != 0 && list.code != 4 {
		h.disagree("settle ends with exit code %d after run %d\n%s", list.code, n.number, list.err)
		return
	}
	now := map[string]bool{}
	more := []string{}
	for _, d := range doubtsIn(list.out) {
		name := stepKey(folded(d.key), d.step)
		now[name] = true
		if !h.doubted[name] {
			more = append(more, name)
		}
	}
	h.doubted = now
	most := n.ambiguous
	if n.code == -1 {
		most += inDoubt(o.workers)
	}
	if len(more) > most && !o.late && !o.taken {
		h.disagree("run %d left %d steps uncertain after %d ambiguous answers: %s", n.number, len(more), n.ambiguous, strings.Join(more, ", "))
	}
}

// noteSettled holds that what was done stays so, and notes what is done now.
func (h *tale) noteSettled(o outing, n *night) {
	statuses := map[string][]string{}
	for i, row := range n.book.results {
		key := h.c.key(h.c.rows[i].who)
		statuses[key] = append(statuses[key], row["Import status"])
	}
	for _, p := range h.c.present() {
		key, print := h.c.key(p), h.print(p)
		if h.settled[key] == print && !o.partly {
			for _, status := range statuses[key] {
				refused := status == "invalid" && h.c.sharesAddress(p) // a corrected address that another person has by now
				if status != "unchanged" && status != "changed" && !refused {
					h.disagree("run %d: all of %s was done, nothing of it changed, and now it is %q: %s", n.number, key, status, n.why(h, key))
					delete(h.settled, key)
					break
				}
			}
		}
		switch {
		case !slices.ContainsFunc(statuses[key], func(s string) bool { return !slices.Contains(doneWords, s) }):
			h.settled[key] = print
		case !o.partly:
			delete(h.settled, key)
		}
	}
}

// why is what the workbook says is wrong with a client.
func (n *night) why(h *tale, key string) string {
	var why []string
	for i, row := range n.book.results {
		if i < len(h.c.rows) && h.c.key(h.c.rows[i].who) == key && row["Error"] != "" && !slices.Contains(why, row["Error"]) {
			why = append(why, row["Error"])
		}
	}
	return strings.Join(why, " / ")
}

// print is what the mapping and a person's rows say.
func (h *tale) print(p *person) string {
	text := strings.Join(h.c.steps(p), " ")
	for _, r := range h.c.rows {
		if r.who == p {
			text += fmt.Sprint(r.cells())
		}
	}
	return text
}
