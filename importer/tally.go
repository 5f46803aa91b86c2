package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"claimsheet/apiclient"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// tally counts a run's outcomes. It is safe for concurrent use.
type tally struct {
	mu       sync.Mutex
	summary  result.Summary
	sheets   []sheetTally
	problems problem.List
	most     int                   // problems to hold; 0 is mostProblems
	unlisted int                   // problems beyond that
	failures []failure             // the first rows that failed or are uncertain, in the sheets' order
	mapping  bool                  // some done step differs because of the mapping
	learnt   map[apiclient.By]bool // dry run: the kinds of look-ups that were counted
}

// sheetTally counts one of several sheets' rows, and the clients that have rows
// in it.
type sheetTally struct {
	rows, clients result.Counts
	withoutLink   int
}

// mostProblems is how many problems are held. A sheet with more of them is the wrong
// sheet, and the results say of each row what is wrong with it.
const mostProblems = 50_000

func (t *tally) count(o clientOutcome, sheets int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sheets == nil {
		t.sheets = make([]sheetTally, sheets)
	}
	for _, r := range o.Rows {
		t.summary.Rows.Add(r.Status)
		t.sheets[r.Table].rows.Add(r.Status)
	}
	if o.Number > 0 {
		t.summary.Clients.Add(o.Status)
		withoutLink := 0
		if o.WithoutLink {
			withoutLink = 1
		}
		t.summary.WithoutLink += withoutLink
		for _, table := range o.tables() {
			t.sheets[table].clients.Add(o.Status)
			t.sheets[table].withoutLink += withoutLink
		}
	}
	t.note(o.Problems)
	t.mapping = t.mapping || o.MappingChanged
	t.failures = append(t.failures, o.Failures...)
	slices.SortFunc(t.failures, func(a, b failure) int { return cmp.Compare(a.Row, b.Row) })
	t.failures = t.failures[:min(len(t.failures), mostTroubled)]
}

// note keeps problems for the workbook and the terminal.
func (t *tally) note(list problem.List) {
	room := min(cmp.Or(t.most, mostProblems)-len(t.problems), len(list))
	t.unlisted += len(list) - room
	for _, p := range list[:room] {
		p.Seen = strings.Clone(p.Seen) // it may be a piece of its row's text
		t.problems = append(t.problems, p)
	}
}

// mostTroubled is how many rows that failed or are uncertain are named on the terminal;
// the workbook's sheet Problems has them all.
const mostTroubled = 5

// listed are the problems in the order of the sheet, and how many there are
// besides.
func (t *tally) listed() problem.List {
	t.problems.Sort()
	if t.unlisted == 0 {
		return t.problems
	}
	return append(t.problems, problem.New("more-problems", "%d more problems are not listed one by one", t.unlisted).
		Hinted("every row of the sheet Results says what is wrong with it"))
}

// planned counts a request that a run would make.
func (t *tally) planned(kind mapping.StepKind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	addRequests(&t.summary.Requests, apiclient.Kind(kind), 1)
}

// lookUp counts the first look-ups that a run would make for a client, and the one of
// each kind by which it first learns what "nobody" looks like.
func (t *tally) lookUp(addresses mapping.Lookup, looks int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, by := range lookup.By(addresses)[:looks] {
		if !t.learnt[by] {
			n++
		}
		n++
		if t.learnt == nil {
			t.learnt = map[apiclient.By]bool{}
		}
		t.learnt[by] = true
	}
	addRequests(&t.summary.Requests, apiclient.FindClient, n)
}

func addRequests(r *result.Requests, kind apiclient.Kind, n int) {
	switch kind {
	case apiclient.CreateClient:
		r.Client += n
	case apiclient.CreateClaim:
		r.Claim += n
	case apiclient.CreateActivity:
		r.Activity += n
	case apiclient.CreateLink:
		r.Link += n
	case apiclient.FindClient:
		r.Lookup += n
	case apiclient.ReadTemplates:
		r.Templates += n
	}
}

// rowsOf are the client's rows in one of the sheets.
func (o clientOutcome) rowsOf(table int) []result.Row {
	var rows []result.Row
	for _, r := range o.Rows {
		if r.Table == table {
			r.Client = o.Number
			rows = append(rows, r)
		}
	}
	return rows
}

func (t *tally) clients() result.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.summary.Clients
}

// dispatched is what a coordinator knows of the groups that workers have. It is safe for
// concurrent use.
type dispatched struct {
	mu     sync.Mutex
	last   int64
	out    map[int64]bool                    // numbers whose outcomes have not come in
	unseen int                               // Checks in a row that saw no worker
	sentBy map[string]map[apiclient.Kind]int // what each worker has sent
}

// add returns a number for a group that is handed over.
func (d *dispatched) add() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.out == nil {
		d.out = map[int64]bool{}
	}
	d.last++
	d.out[d.last] = true
	return d.last
}

// remove notes that a group is not out any more, and reports whether it was.
func (d *dispatched) remove(number int64) (was bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was = d.out[number]
	delete(d.out, number)
	return was
}

// count is how many groups are out.
func (d *dispatched) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.out)
}

// seen notes how many workers a Check has seen.
func (d *dispatched) seen(workers int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unseen++; workers > 0 {
		d.unseen = 0
	}
}

// note keeps what a worker has sent for the run so far. Outcomes come in any order, so a lower
// total is an older one.
func (d *dispatched) note(w wireGroup) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sentBy == nil {
		d.sentBy = map[string]map[apiclient.Kind]int{}
	}
	if total(w.Sent) >= total(d.sentBy[w.Process]) {
		d.sentBy[w.Process] = w.Sent
	}
}

// sent are the requests that the workers have sent, and this process besides.
func (d *dispatched) sent(here map[apiclient.Kind]int) map[apiclient.Kind]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := map[apiclient.Kind]int{}
	maps.Copy(sum, here)
	for _, sent := range d.sentBy {
		for kind, n := range sent {
			sum[kind] += n
		}
	}
	return sum
}

func total(counts map[apiclient.Kind]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// waiting says that nobody carries out what was handed over; "" when somebody does. A
// worker needs a moment to begin, so one Check that sees none says nothing.
func (d *dispatched) waiting() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.out) == 0 || d.unseen < 2 {
		return ""
	}
	return "no worker is at work: start claimsheet worker"
}

// wireGroup is the outcomes of a group on their way to the coordinator, with what the process
// has sent for the run so far.
type wireGroup struct {
	Clients []clientOutcome

	Fatal string // why the run cannot go on; "" as a rule

	Process string // of the worker, in the shared rules
	Sent    map[apiclient.Kind]int
}
