package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// stateCopy is a copy of the state folder.
type stateCopy struct {
	path string
	run  int // the last command before it was made
}

// keepCopy copies the state folder.
func (h *tale) keepCopy(run int) {
	c := stateCopy{h.path(fmt.Sprint("copy", run)), run}
	if _, err := os.Stat(h.state()); errors.Is(err, fs.ErrNotExist) {
		return
	}
	h.must(os.CopyFS(c.path, os.DirFS(h.state())))
	h.copies = append(h.copies, c)
}

// sheetPrint is all that the sheet says.
func (h *tale) sheetPrint() string {
	var b strings.Builder
	for _, r := range h.c.rows {
		fmt.Fprintln(&b, r.cells())
	}
	return b.String()
}

// refused is a run that must not do anything, and its dry run; with rerun flags it
// is a rerun.
func (h *tale) refused(code int, why string, rerun []string) {
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		h.files()
		c := h.command(outing{workers: h.rng.IntN(4), flags: append(slices.Clone(rerun), flags...), rerun: rerun != nil})
		number := h.w.begin(nil, nil)
		h.tell("run %d %v, which must be refused: %s", number, flags, why)
		e, err := c.carryOut()
		h.must(err)
		h.loud("   exit code %d %s%s", e.code, e.out, e.err)
		h.w.mu.Lock()
		calls := len(h.w.calls) > 0 && h.w.calls[len(h.w.calls)-1].run == number
		h.w.mu.Unlock()
		if e.code != code || calls {
			h.disagree("run %d, exit code %d, calls %v: %s, so it must be refused with exit code %d\n%s", number, e.code, calls, why, code, e.err)
			return
		}
	}
}

// inOrder makes a run, unless the results workbook shows the sheet as it is
// after a run that came to its end.
func (h *tale) inOrder() bool {
	if h.shown != h.sheetPrint() {
		h.clean(outing{workers: 1 + h.rng.IntN(3)}, false)
	}
	return len(h.wrong) == 0 && h.shown == h.sheetPrint()
}

// loseState loses the state folder, while the results workbook is where it was.
// Nothing may be made again. The workbook says what is done, where it shows
// everything; else the folder is found again.
func (h *tale) loseState() {
	if !h.inOrder() {
		return
	}
	h.must(os.Rename(h.state(), h.path("lost")))
	h.refused(3, "the state folder is lost", nil)
	h.goOn("lost", true)
}

// loseBoth loses the state folder after a run that was killed in the middle of its
// work: the results workbook is that of the run before. A run that was killed when
// its own workbook stood there already has lost nothing.
func (h *tale) loseBoth() {
	if !h.inOrder() {
		return
	}
	before, err := readBook(h.book())
	h.must(err)
	h.c.join(h.rng)
	n := h.run(outing{kill: true, workers: 1 + h.rng.IntN(3)})
	if n.code != -1 || len(n.calls) == 0 || len(h.wrong) > 0 {
		return
	}
	after, err := readBook(h.book())
	h.must(err)
	if !reflect.DeepEqual(before, after) {
		return
	}
	h.must(os.Rename(h.state(), h.path("lost")))
	h.refused(3, "the state folder is lost", nil)
	if len(h.wrong) == 0 {
		h.refused(3, "the state folder is lost, and the results workbook is older", []string{"--yes"})
	}
	h.must(os.RemoveAll(h.state()))
	h.must(os.Rename(h.path("lost"), h.state()))
	h.tell("the state folder is found again")
}

// restoreState puts an old copy of the state folder in the place of the newer one.
func (h *tale) restoreState() {
	old := oneOf(h.rng, h.copies...)
	if !h.inOrder() || old.run >= h.last {
		return
	}
	h.must(os.Rename(h.state(), h.path("lost")))
	h.must(os.CopyFS(h.state(), os.DirFS(old.path)))
	h.refused(3, "the state folder is older than the results workbook", nil)
	h.goOn("lost", h.c.may("an old copy of the state folder learns from the results workbook"))
}

// goOn goes on after the state folder was lost: with what the results workbook
// shows, or with the folder when it was found again.
func (h *tale) goOn(lost string, learns bool) {
	if len(h.wrong) > 0 {
		return
	}
	if learns && h.bookShowsAll() && h.rng.IntN(3) > 0 {
		h.tell("the workbook shows everything")
		copies := h.copies
		n := h.run(outing{rerun: true, workers: 1 + h.rng.IntN(3), flags: []string{"--yes"}, taken: true})
		if n.code != 3 || !strings.Contains(n.err, "[lost-run]") { // that is said of a killed run, whatever it has sent
			for _, c := range h.copies {
				h.must(os.RemoveAll(c.path))
			}
			h.copies = nil
			h.must(os.RemoveAll(h.path(lost)))
			return
		}
		h.copies = copies // not of the folder that is removed now
	}
	h.tell("the state folder is found again")
	h.must(os.RemoveAll(h.state()))
	h.must(os.Rename(h.path(lost), h.state()))
}

// bookShowsAll reports that the sheet Steps has a line for everything that the
// service was ever asked for.
func (h *tale) bookShowsAll() bool {
	b, err := readBook(h.book())
	h.must(err)
	lines := map[string]bool{}
	for _, line := range b.steps {
		key, step := folded(line["Client key"]), line["Step"]
		for _, t := range h.thingsOf(key, step) {
			lines[t.id] = true
		}
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	for _, t := range h.w.things {
		if !lines[t.id] && (t.kind != "client" || t.key != "") {
			return false
		}
	}
	return len(h.givenUp) == 0
}

// correctBook corrects a cell of the results workbook, or puts its rows in
// another order, and gives it back.
func (h *tale) correctBook() {
	if !h.inOrder() {
		return
	}
	f, err := excelize.OpenFile(h.book())
	h.must(err)
	if h.rng.IntN(2) == 0 {
		h.must(f.DuplicateRowTo("Results", 2, len(h.c.rows)+2))
		h.must(f.RemoveRow("Results", 2))
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
			r.who.email, r.who.borrowed = fmt.Sprintf("r%d@example.com", h.rng.IntN(1000)), false
		}
	}
	rows, err := f.GetRows("Results")
	h.must(err)
	for i, r := range h.c.rows {
		for j, text := range r.cells() {
			at, err := excelize.CoordinatesToCellName(1+slices.Index(rows[0], leadHeader[j]), i+2)
			h.must(err)
			if now, err := f.GetCellValue("Results", at); err != nil || now != text {
				h.must(err)
				h.must(f.SetCellStr("Results", at, text))
			}
		}
	}
	h.must(f.Save())
	h.must(f.Close())
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
		h.w.begin(nil, nil)
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
	h.w.rest()
	h.files()
	number := h.w.begin(nil, nil)
	o := outing{workers: h.rng.IntN(4)}
	results := make(chan ended)
	for range 2 {
		go func() {
			e, err := h.command(o).carryOut()
			if err != nil {
				e.code = 99
			}
			results <- e
		}()
	}
	first, second := <-results, <-results
	h.tell("two runs at once, %d: exit codes %d and %d", number, first.code, second.code)
	for _, e := range []ended{first, second} {
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

// changeCampaign appends, inserts, takes out or moves an activity. Whatever is
// done stays so, and only what is new is sent.
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

// anySettled reports that steps besides the client's are done for somebody who is
// still in the sheet.
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
	other := httptest.NewServer(h.w)
	defer other.Close()
	here := h.w.URL
	h.w.URL = other.URL
	h.refused(3, "the base url was changed", nil)
	h.w.URL = here
}

// giveUp has an operator give a step up that is no client's.
func (h *tale) giveUp() {
	h.w.rest()
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
		h.givenUp[stepKey(key, d.step)] = true
		delete(h.doubted, stepKey(key, d.step))
		return
	}
}
