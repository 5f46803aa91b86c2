package importer

import (
	"cmp"
	"fmt"
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
	retries  map[string]int        // requests sent again, by why
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

// retried counts a request that will be sent again.
func (t *tally) retried(v apiclient.Verdict) {
	why := "notSent"
	switch {
	case v.Status != 0:
		why = fmt.Sprintf("http%d", v.Status)
	case v.Effect != apiclient.NotSent:
		why = "noAnswer"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.retries == nil {
		t.retries = map[string]int{}
	}
	t.retries[why]++
}
