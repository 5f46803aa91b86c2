package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

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

// record puts a client's outcome where the workbooks are made from, and counts
// it.
func (j *Job) record(o clientOutcome) error {
	j.retainPrior(&o)
	if err := j.draft(o); err != nil {
		return err
	}
	j.tally.count(o, len(j.Runs))
	return nil
}

// retainPrior copies the cells that rows keep showing into an outcome.
func (j *Job) retainPrior(o *clientOutcome) {
	for i := range o.Rows {
		row := &o.Rows[i]
		if s, ok := j.Prior[rowOf(*row)]; ok {
			row.ClientID, row.ClaimIDs, row.URL, row.Contacts = s.ClientID, slices.Clone(s.ClaimIDs), s.URL, slices.Clone(s.Contacts)
			row.FailedStep = cmp.Or(row.FailedStep, s.FailedStep)
		}
	}
}

// draft adds a client's rows to the drafts of their sheets. Where the client has rows in
// several sheets, the workbook of each has all its steps, because it may be the only one
// at hand.
func (j *Job) draft(o clientOutcome) error {
	for _, table := range o.tables() {
		if err := j.Drafts[table].Add(o.Number, o.Client.Key, o.rowsOf(table), o.Lines); err != nil {
			return err
		}
	}
	return nil
}

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

// Troubled are the first rows that failed or are uncertain, each with its step and the
// class of what happened, and nothing personal. Call it after Do or Forecast.
func (j *Job) Troubled() problem.List {
	var list problem.List
	for _, f := range j.tally.failures {
		text := string(f.Status)
		if f.Step != "" {
			text += " at the " + f.Step
		}
		if f.Why != "" {
			text += ": " + f.Why
		}
		list = append(list, problem.At(j.Binding.AtRow(f.Row), "", "%s", text))
	}
	return list
}

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

// lookUp counts the look-ups that a run would make for a client, and the one of
// each kind by which it first learns what "nobody" looks like.
func (t *tally) lookUp(addresses mapping.Lookup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, by := range lookup.By(addresses) {
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

// Summary is what the run came to, and every problem of its rows. Call it
// after Do or Forecast.
func (j *Job) Summary(dryRun bool) (result.Summary, problem.List, bool) {
	s := j.tally.summary
	s.Run, s.DryRun = j.Runs[0], dryRun
	sent := j.Service.Sent()
	if dryRun {
		addRequests(&s.Requests, apiclient.ReadTemplates, sent[apiclient.ReadTemplates])
	} else {
		for kind, n := range sent {
			addRequests(&s.Requests, kind, n)
		}
		j.dispatched.addSent(&s.Requests)
	}
	return s, j.tally.listed(), j.tally.mapping
}

// OfSheet is the summary of a whole run cut down to one of its sheets. Requests
// stay those of the whole run: a client's may stand for rows of several sheets.
func (j *Job) OfSheet(whole result.Summary, table int) result.Summary {
	whole.Run = j.Runs[table]
	if len(j.Runs) > 1 {
		var of sheetTally // zero for a sheet without rows
		if j.tally.sheets != nil {
			of = j.tally.sheets[table]
		}
		whole.Rows, whole.Clients, whole.WithoutLink = of.rows, of.clients, of.withoutLink
	}
	return whole
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

// Progress is how far a run has come. It is for display only.
type Progress struct {
	Clients  result.Counts // those that are through
	Requests int           // given to the wire so far, whatever came of them
	// Waiting is why nothing is sent at present, one line without personal data;
	// "" when nothing is waited for.
	Waiting string
	// Until is when the waiting ends, zero when that is not known.
	Until time.Time
}

// Progress returns how far Do or Forecast has come. It may be called from any
// goroutine.
func (j *Job) Progress() Progress {
	p := Progress{Clients: j.tally.clients()}
	for _, n := range j.Service.Sent() {
		p.Requests += n
	}
	p.Requests += j.dispatched.requests()
	if p.Waiting = j.gate.waiting(); p.Waiting == "" {
		p.Waiting, p.Until = j.Service.Waiting()
	}
	if p.Waiting == "" {
		p.Waiting = j.waiting.why()
	}
	if p.Waiting == "" {
		p.Waiting = j.dispatched.waiting()
	}
	return p
}

func (t *tally) clients() result.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.summary.Clients
}

// waiting is why the gate is shut, "" when it is not.
func (g *gate) waiting() string {
	if g.open() {
		return ""
	}
	return "waiting for the service to answer again"
}

// Retries are how often requests of the run were sent again, by what had become
// of them before: http429, notSent for one that never left, noAnswer. Call it
// after Do.
func (j *Job) Retries() map[string]int {
	j.tally.mu.Lock()
	defer j.tally.mu.Unlock()
	return j.dispatched.addRetries(maps.Clone(j.tally.retries))
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
