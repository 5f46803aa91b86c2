package cli_test

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
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
	{"a night passes", 3, nil, func(h *tale) { h.rest(); h.pass() }},
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
	var doubtful []*person
	for _, p := range h.c.present() {
		if h.doubted[h.c.key(p)+":client"] {
			doubtful = append(doubtful, p)
		}
	}
	from := h.c.people
	if len(doubtful) > 0 && h.rng.IntN(3) > 0 {
		from = doubtful
	}
	p := oneOf(h.rng, from...)
	n := 500 + h.rng.IntN(400)
	switch {
	case h.rng.IntN(3) == 0:
		p.phone = fmt.Sprintf("07911 %06d", 123000+n)
	case !h.c.byMail && h.rng.IntN(4) == 0:
		if other := oneOf(h.rng, h.c.people...); other.email != "" {
			p.email = other.email
		}
	default:
		p.email = fmt.Sprintf("q%d@example.com", n)
	}
	h.tell("%s is now %s %s", p.no, p.email, p.phone)
}

// decide has an operator say the truth about steps that are uncertain: each of them with some likelihood.
func (h *tale) decide(percent int) {
	h.rest()
	list := h.tool("settle")
	for _, d := range doubtsIn(list.out) {
		if h.rng.IntN(100) >= percent {
			continue
		}
		key := folded(d.key)
		kind, _, _ := strings.Cut(d.step, "/")
		unknown := kind != "client" && slices.ContainsFunc(h.things, func(t *thing) bool { return t.kind == kind && h.keyOf(t) == "" })
		if unknown { // a link, say, of a client whom the service knew and two people could have taken over
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
		delete(h.doubted, key+":"+d.step)
	}
}

// stateCopy is a copy of the state folder.
type stateCopy struct {
	path string
	run  int // the last command before it was made
}

// sheetPrint is all that the sheet says.
func (h *tale) sheetPrint() string {
	var b strings.Builder
	for _, r := range h.c.rows {
		fmt.Fprintln(&b, r.cells())
	}
	return b.String()
}

// refused is a run that must not do anything, and its dry run; with rerun flags it is a rerun.
func (h *tale) refused(code int, why string, rerun []string) {
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		h.files()
		number := h.begin(nil)
		h.tell("run %d %v, which must be refused: %s", number, flags, why)
		e := h.carryOut(h.words(outing{workers: h.rng.IntN(4), flags: append(slices.Clone(rerun), flags...), rerun: rerun != nil}), false, nil)
		h.loud("   exit code %d %s%s", e.code, e.out, e.err)
		calls := h.posts > 0
		if e.code != code || calls {
			h.disagree("run %d, exit code %d, calls %v: %s, so it must be refused with exit code %d\n%s", number, e.code, calls, why, code, e.err)
			return
		}
	}
}

// inOrder makes a run, unless the results workbook shows the sheet as it is after a run that came to its end.
func (h *tale) inOrder() bool {
	if h.shown != h.sheetPrint() {
		h.clean(outing{workers: 1 + h.rng.IntN(3)}, false)
	}
	return len(h.wrong) == 0 && h.shown == h.sheetPrint()
}

// loseState loses the state folder, while the results workbook is where it was.
func (h *tale) loseState() {
	if !h.inOrder() {
		return
	}
	must(h.t, os.Rename(h.state(), h.path("lost")))
	h.refused(3, "the state folder is lost", nil)
	h.goOn("lost", true)
}

// loseBoth loses the state folder after a run that was killed in the middle of its work: the results workbook is that
// of the run before.
func (h *tale) loseBoth() {
	if !h.inOrder() {
		return
	}
	before, beforeSteps := h.results(), h.steps()
	h.c.join(h.rng)
	n := h.run(outing{kill: true, workers: 1 + h.rng.IntN(3)})
	if n.code != -1 || len(n.created) == 0 || len(h.wrong) > 0 {
		return
	}
	if after, steps := h.results(), h.steps(); !reflect.DeepEqual(before, after) || !reflect.DeepEqual(beforeSteps, steps) {
		return
	}
	must(h.t, os.Rename(h.state(), h.path("lost")))
	h.refused(3, "the state folder is lost", nil)
	if len(h.wrong) == 0 {
		h.refused(3, "the state folder is lost, and the results workbook is older", []string{"--yes"})
	}
	must(h.t, os.RemoveAll(h.state()))
	must(h.t, os.Rename(h.path("lost"), h.state()))
	h.tell("the state folder is found again")
}

// restoreState puts an old copy of the state folder in the place of the newer one.
func (h *tale) restoreState() {
	old := oneOf(h.rng, h.copies...)
	if !h.inOrder() || old.run >= h.last {
		return
	}
	must(h.t, os.Rename(h.state(), h.path("lost")))
	must(h.t, os.CopyFS(h.state(), os.DirFS(old.path)))
	h.refused(3, "the state folder is older than the results workbook", nil)
	h.goOn("lost", h.c.may("an old copy of the state folder learns from the results workbook"))
}

// goOn goes on after the state folder was lost: with what the results workbook shows, or with the folder when it was
// found again.
func (h *tale) goOn(lost string, learns bool) {
	if len(h.wrong) > 0 {
		return
	}
	if learns && h.bookShowsAll() && h.rng.IntN(3) > 0 {
		h.tell("the workbook shows everything")
		copies, doubted := h.copies, h.doubted
		n := h.run(outing{rerun: true, workers: 1 + h.rng.IntN(3), flags: []string{"--yes"}, taken: true})
		if n.code != 3 || !strings.Contains(n.err, "[lost-run]") { // that is said of a killed run, whatever it has sent
			for _, c := range h.copies {
				must(h.t, os.RemoveAll(c.path))
			}
			h.copies = nil
			must(h.t, os.RemoveAll(h.path(lost)))
			return
		}
		h.copies, h.doubted = copies, doubted // not of the folder that is removed now
	}
	h.tell("the state folder is found again")
	must(h.t, os.RemoveAll(h.state()))
	must(h.t, os.Rename(h.path(lost), h.state()))
}

// bookShowsAll reports that the sheet Steps has a line for everything that the service was ever asked for.
func (h *tale) bookShowsAll() bool {
	lines := map[string]bool{}
	for _, line := range h.steps() {
		key, step := folded(line["Client key"]), line["Step"]
		for _, t := range h.thingsOf(key, step) {
			lines[t.id] = true
		}
	}
	for _, t := range h.things {
		if !lines[t.id] && (t.kind != "client" || t.key != "") {
			return false
		}
	}
	return len(h.givenUp) == 0
}

// correctBook corrects a cell of the results workbook, or puts its rows in another order, and gives it back.
func (h *tale) correctBook() {
	if !h.inOrder() {
		return
	}
	sorted := h.rng.IntN(2) == 0
	if sorted {
		h.c.rows = append(slices.Clone(h.c.rows[1:]), h.c.rows[0])
	}
	r := oneOf(h.rng, h.c.rows...)
	switch h.rng.IntN(3) {
	case 0:
		r.who.amount = fmt.Sprint(2000 + h.rng.IntN(100))
	case 1:
		r.who.born = "1983-05-06"
	default:
		if !h.c.byMail && r.who.email != "" {
			r.who.email = fmt.Sprintf("r%d@example.com", h.rng.IntN(1000))
		}
	}
	editWorkbook(h.t, h.book(), func(f *excelize.File) {
		if sorted {
			must(h.t, f.DuplicateRowTo("Results", 2, len(h.c.rows)+2))
			must(h.t, f.RemoveRow("Results", 2))
		}
		rows, err := f.GetRows("Results")
		must(h.t, err)
		for i, r := range h.c.rows {
			for j, text := range r.cells() {
				at := slices.Index(rows[0], leadHeader[j])
				if row := append(rows[i+1], make([]string, len(leadHeader))...); row[at] != text { // a row ends with its last text
					set(h.t, f, leadHeader[j], i+2, text)
				}
			}
		}
	})
	h.clean(outing{rerun: true, workers: 1 + h.rng.IntN(3)}, h.rng.IntN(2) == 0)
}

// freshLink asks for a fresh link for a client whose steps are all done.
func (h *tale) freshLink() {
	for _, p := range h.c.present() {
		key := h.c.key(p)
		links := h.thingsOf(key, "link")
		if h.settled[key] != h.print(p) || len(links) != 1 {
			continue
		}
		h.begin(nil)
		h.files()
		e := h.tool("link", leadRow{who: p}.cells()[map[bool]int{true: 1}[h.c.byMail]])
		h.tell("a fresh link for %s: exit code %d", key, e.code)
		if e.code != 0 || len(h.thingsOf(key, "link")) != 2 {
			h.disagree("link ends with exit code %d, and there are %d links\n%s", e.code, len(h.thingsOf(key, "link")), e.err)
		}
		h.moreOf[links[0].name()]++
		return
	}
}

// twoAtOnce starts the same run twice at the same time.
func (h *tale) twoAtOnce() {
	h.rest()
	h.files()
	number := h.begin(nil)
	o := outing{workers: h.rng.IntN(4)}
	results := make(chan played)
	for range 2 {
		go func() { results <- h.carryOut(h.words(o), false, nil) }()
	}
	first, second := <-results, <-results
	h.tell("two runs at once, %d: exit codes %d and %d", number, first.code, second.code)
	for _, e := range []played{first, second} {
		if !slices.Contains([]int{0, 1, 3, 4, 5}, e.code) || first.code == 5 && second.code == 5 {
			h.disagree("two runs at once end with exit codes %d and %d\n%s%s", first.code, second.code, first.err, second.err)
			break
		}
	}
	h.ripe = later()
	h.last, h.shown = number, h.sheetPrint()
	h.checkService()
	h.checkDoubts(o, &night{number: number})
}

// changeCampaign appends, inserts, takes out or moves an activity. Whatever is done stays so, and only what is new is
// sent.
func (h *tale) changeCampaign() {
	c := h.c
	switch n := len(c.activities); {
	case n > 1 && h.rng.IntN(4) == 0:
		i := h.rng.IntN(n)
		h.tell("without %s", c.activities[i].template)
		c.activities = slices.Delete(slices.Clone(c.activities), i, i+1)
	case n > 1 && h.rng.IntN(3) == 0:
		c.activities = slices.Clone(c.activities)
		h.rng.Shuffle(n, func(i, j int) { c.activities[i], c.activities[j] = c.activities[j], c.activities[i] })
	default:
		for _, template := range []string{"extra1", "extra2", "extra3"} {
			if !slices.ContainsFunc(c.activities, func(a plannedActivity) bool { return a.template == template }) {
				a := plannedActivity{template: template, onClaim: !c.v1 && template == "extra2"}
				c.activities = slices.Insert(slices.Clone(c.activities), h.rng.IntN(n+1), a)
				break
			}
		}
	}
	h.tell("activities %+v", c.activities)
}

// anySettled reports whether a person who is still in the sheet has a done step besides the client's.
func (h *tale) anySettled() bool {
	return slices.ContainsFunc(h.c.present(), func(p *person) bool {
		return len(h.c.steps(p)) > 1 && h.settled[h.c.key(p)] == h.print(p)
	})
}

// rename runs the campaign as it is under another name: what is done would be done again.
func (h *tale) rename() {
	if !h.anySettled() || h.ran != fmt.Sprint(h.c.activities) {
		return
	}
	h.c.name = "renamed"
	h.refused(2, "the mapping was renamed", nil)
	h.c.name = "campaign"
}

// moveService runs the campaign with another base url under the environment's name.
func (h *tale) moveService() {
	if !h.anySettled() {
		return
	}
	other := httptest.NewServer(h.service)
	defer other.Close()
	here := h.url
	h.url = other.URL
	h.refused(3, "the base url was changed", nil)
	h.url = here
}

// giveUp has an operator give a step up that is no client's.
func (h *tale) giveUp() {
	h.rest()
	list := h.tool("settle")
	for _, d := range doubtsIn(list.out) {
		if d.step == "client" {
			continue
		}
		key := folded(d.key)
		if e := h.tool("settle", "--give-up", d.number); e.code != 0 {
			h.disagree("settle --give-up ends with exit code %d\n%s", e.code, e.err)
		}
		h.tell("%s %s is given up", key, d.step)
		h.givenUp[key+":"+d.step] = true
		delete(h.doubted, key+":"+d.step)
		return
	}
}

// check holds a run against what must be true after every run.
func (h *tale) check(o outing, n *night) {
	h.checkService()
	h.ran = ""
	if n.code == -1 {
		h.checkDoubts(o, n)
		return
	}
	switch _, err := os.Stat(h.book()); {
	case err != nil && (n.code == 2 || n.code == 3 || n.code == 5):
	case err != nil:
		h.disagree("after run %d with exit code %d there is no results workbook: %v\n%s", n.number, n.code, err, n.err)
	case n.code == 2 || n.code == 5 || !n.ran():
	default:
		n.results, n.steps = h.results(), h.steps()
		h.last, h.shown, h.ran = n.number, h.sheetPrint(), fmt.Sprint(h.c.activities)
		h.checkRows(o, n)
		h.checkSteps(o, n)
		h.noteSettled(o, n)
	}
	if n.code != o.code && !slices.Contains([]int{0, 1, 3, 4}, n.code) {
		h.disagree("run %d ended with exit code %d after %d calls\n%s", n.number, n.code, len(n.created), n.err)
	}
	h.checkDoubts(o, n)
}

// checkService looks at what the service has: nothing twice, and nothing of one client with another.
func (h *tale) checkService() {
	complaints := h.service.Complaints()
	for _, odd := range complaints[h.odd:] {
		h.disagree("%s", odd)
	}
	h.odd = len(complaints)
	count := map[string]int{}
	holders := map[string]string{}
	for _, t := range h.things {
		if who := t.client(); t.key != "" && who.key != "" && t.key != who.key || t.kind == "activity" && t.on.kind == "claim" && t.claim != t.on.claim {
			h.disagree("the %s of %s %s goes to %s %s", t.kind, t.key, t.claim, who.key, t.on.claim)
		}
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

// checkRows looks at the sheet Results: every row of the sheet, ids where they belong, the exit code.
func (h *tale) checkRows(o outing, n *night) {
	if len(n.results) != len(h.c.rows) {
		h.disagree("run %d: %d rows in, %d rows out", n.number, len(h.c.rows), len(n.results))
		return
	}
	words := map[string]int{}
	for i, row := range n.results {
		r := h.c.rows[i]
		if row["Lead no"] != r.who.no || row["Agreement no"] != r.claim {
			h.disagree("run %d: row %d is %s %s and not %s %s", n.number, i+2, row["Lead no"], row["Agreement no"], r.who.no, r.claim)
			return
		}
		words[row["Import status"]]++
		h.checkIDs(n, r, row)
	}
	h.tell("   rows %v", words)
	if n.code != exitCodeOf(words) && n.code != 3 {
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
		i := slices.IndexFunc(h.things, func(t *thing) bool { return is(t) && (t.id == id || what == "redirectUrl" && t.url == id) })
		var owner string
		if i >= 0 {
			owner = h.keyOf(h.things[i])
		}
		switch {
		case i < 0:
			h.disagree("run %d: the %s %s beside the row %s %s was not made by the service", n.number, what, id, r.who.no, r.claim)
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

// checkSteps looks at the sheet Steps: what is done is there, what failed is not, and what was answered is known.
func (h *tale) checkSteps(o outing, n *night) {
	for _, line := range n.steps {
		key, step, state := folded(line["Client key"]), line["Step"], line["State"]
		things := h.thingsOf(key, step)
		at := func(id string) bool {
			return slices.ContainsFunc(things, func(t *thing) bool { return t.id == id })
		}
		switch state {
		case "done":
			switch id := line["Id"]; {
			case step == "client" && id != "" && h.isSomebodyElses(id): // also of a client whose rows never are done
				h.holder[id] = cmp.Or(h.holder[id], key)
			case step == "client" && id != "" && at(id):
			case strings.HasPrefix(step, "claim/") && id != "" && !at(id),
				step == "client" && id != "":
				h.disagree("run %d: %s %s is done with the id %s, which is not its own", n.number, key, step, id)
			case len(things) == 0 && step != "client" && len(h.thingsOf(key, "client")) > 0: // else it may have taken over a client whom the service knew
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
	for _, t := range h.things { // everything that this run was told of is in the workbook
		if t.run != n.number || !t.answered || t.kind == "activity" {
			continue
		}
		if !slices.ContainsFunc(n.steps, func(line record) bool { return line["State"] == "done" && line["Id"] == t.id }) &&
			!slices.ContainsFunc(n.results, func(row record) bool { return row["redirectUrl"] == t.id }) {
			h.disagree("run %d: %s %s was created and answered, and is not in the workbook", n.number, t.name(), t.id)
		}
	}
}

// isSomebodyElses reports whether an id is that of a client that the service knew before.
func (h *tale) isSomebodyElses(id string) bool {
	t := h.withID(id)
	return t != nil && t.key == ""
}

// checkDoubts compares what is left for an operator with what a run could not have known.
func (h *tale) checkDoubts(o outing, n *night) {
	if n.code != -1 && n.ambiguous == 0 && len(h.doubted) == 0 && !slices.ContainsFunc(n.results, func(row record) bool { return row["Import status"] == "uncertain" }) {
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
		name := folded(d.key) + ":" + d.step
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
	for i, row := range n.results {
		key := h.c.key(h.c.rows[i].who)
		statuses[key] = append(statuses[key], row["Import status"])
	}
	for _, p := range h.c.present() {
		key, print := h.c.key(p), h.print(p)
		if h.settled[key] == print && !o.partly {
			for _, status := range statuses[key] {
				refused := status == "invalid" && slices.ContainsFunc(h.c.people, func(other *person) bool {
					return other != p && (p.email != "" && other.email == p.email || other.phone == p.phone)
				}) // a corrected address that another person has by now
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
	for i, row := range n.results {
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
