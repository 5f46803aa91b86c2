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
	whole    counts
	sheets   []counts
	requests result.Requests // those of a dry run
	problems problem.List
	most     int                   // problems to hold; 0 is mostProblems
	unlisted int                   // problems beyond that
	failures []failure             // the first rows that failed or are uncertain, in the sheets' order
	mapping  bool                  // some done step differs because of the mapping
	learnt   map[apiclient.By]bool // dry run: the kinds of look-ups that were counted

	sentBy map[string]map[apiclient.Kind]int // what each worker has sent
}

// counts are the numbers of rows and clients of a run, or of those that have rows in one of its sheets.
type counts struct {
	rows, clients result.Counts
	withoutLink   int
}

// add counts some rows of a client, and the client.
func (c *counts) add(o clientOutcome, rows []result.Row) {
	for _, r := range rows {
		c.rows.Add(r.Status)
	}
	if o.Number > 0 {
		c.clients.Add(o.Status)
		if o.WithoutLink {
			c.withoutLink++
		}
	}
}

// mostProblems is how many problems are held. A sheet with more of them is the wrong
// sheet, and the results say of each row what is wrong with it.
const mostProblems = 50_000

func (t *tally) count(o clientOutcome, sheets int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sheets == nil {
		t.sheets = make([]counts, sheets)
	}
	t.whole.add(o, o.Rows)
	for table, rows := range o.tables() {
		t.sheets[table].add(o, rows)
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
	addRequests(&t.requests, apiclient.Kind(kind), 1)
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
	addRequests(&t.requests, apiclient.FindClient, n)
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

// progress returns how many clients are through, and how many requests were sent.
func (t *tally) progress(here map[apiclient.Kind]int) (clients result.Counts, requests int) {
	sent := t.sent(here)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.whole.clients, total(sent)
}

// noteSent keeps what a worker has sent for the run so far. Outcomes come in any order, so a lower
// total is an older one.
func (t *tally) noteSent(w wireGroup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sentBy == nil {
		t.sentBy = map[string]map[apiclient.Kind]int{}
	}
	if total(w.Sent) >= total(t.sentBy[w.Process]) {
		t.sentBy[w.Process] = w.Sent
	}
}

// sent are the requests that the workers have sent, and this process besides.
func (t *tally) sent(here map[apiclient.Kind]int) map[apiclient.Kind]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := map[apiclient.Kind]int{}
	maps.Copy(sum, here)
	for _, sent := range t.sentBy {
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
