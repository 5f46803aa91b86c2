package importer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/lookup"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
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
	troubled []trouble             // the first rows that failed or are uncertain, in the sheets' order
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
	write := j.writeResults
	if j.mode == dry {
		write = j.writePlanned
	}
	if err := write(o); err != nil {
		return err
	}
	j.tally.count(o, len(j.Runs), j.withoutLink(o))
	j.tally.noteTrouble(o)
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

// withoutLink reports whether a client is done, or in a dry run would be, and has no
// redirect url.
func (j *Job) withoutLink(o clientOutcome) bool {
	if !slices.Contains([]result.Status{result.Done, result.Unchanged, result.Changed, result.Planned}, o.Status) || o.URL != "" || j.Binding.Mapping().Link == mapping.LinkNever {
		return false
	}
	v1 := j.Binding.Mapping().V1()
	return !slices.ContainsFunc(o.Steps, func(s stepOutcome) bool {
		brings := s.Step.Kind == mapping.LinkStep || v1 && s.Step.Kind == mapping.ClientStep && s.ID == ""
		return brings && s.Status == result.Planned
	})
}

// writePlanned adds a client's outcome to the drafts of the sheets in which it has rows,
// with a line of the sheet Steps for each request that the run would make.
func (j *Job) writePlanned(o clientOutcome) error {
	var lines []result.Step
	for _, s := range o.Steps {
		if s.Status == result.Planned && s.ID == "" { // else it is taken over, and nothing is sent
			lines = append(lines, result.Step{Step: s.Step.Key, Kind: string(s.Step.Kind), Title: s.Step.Title, State: string(result.Planned)})
		}
	}
	return j.draft(o, lines)
}

// writeResults adds a client's outcome to the drafts of the sheets in which it has rows,
// with a line of the sheet Steps for each step of its plan, and for each that the ledger
// has besides where nothing is planned.
func (j *Job) writeResults(o clientOutcome) error {
	lines, ok := o.lines()
	if !ok {
		var err error
		if lines, err = j.readLines(o); err != nil {
			return err
		}
	}
	return j.draft(o, lines)
}

// draft adds a client's rows to the drafts of their sheets. Where the client has rows in
// several sheets, the workbook of each has all its steps, because it may be the only one
// at hand.
func (j *Job) draft(o clientOutcome, lines []result.Step) error {
	for _, table := range o.tables() {
		if err := j.Drafts[table].Add(o.Number, o.Client.Key, o.rowsOf(table), lines); err != nil {
			return err
		}
	}
	return nil
}

// lines are the client's lines in the sheet Steps as far as the run has them at hand; ok is
// false when only the ledger knows them all. Reading them takes long where most clients are
// done. A contact's step is that of another client.
func (o clientOutcome) lines() (lines []result.Step, ok bool) {
	if o.altered {
		return nil, false
	}
	for _, s := range o.Steps {
		switch {
		case s.Step.Kind == mapping.ContactStep:
			return nil, false
		case s.made != nil:
			lines = append(lines, lineOf(*s.made))
		case s.Status == result.Unchanged && s.known != nil:
			lines = append(lines, lineOf(*s.known))
		default:
			return nil, false
		}
	}
	for _, s := range o.Known {
		if s.Kind == ledger.KindContact || s.To != ledger.Done {
			return nil, false
		}
		lines = append(lines, lineOf(s))
	}
	return lines, true
}

// readLines are the client's lines in the sheet Steps by what the ledger has now. A step
// that it does not have is planned, or skipped.
func (j *Job) readLines(o clientOutcome) (lines []result.Step, err error) {
	people := map[ledger.ClientKey]map[string]ledger.Step{}
	find := func(id ledger.StepID) (step ledger.Step, ok bool, err error) {
		if people[id.ClientKey] == nil {
			// A record of what was done is read whether or not the run is being stopped.
			if people[id.ClientKey], err = j.Ledger.Steps(context.Background(), id.ClientKey, j.Binding.Mapping().Name.Text); err != nil {
				return step, false, err
			}
		}
		step, ok = people[id.ClientKey][id.Step]
		return step, ok, nil
	}
	for _, s := range o.Steps {
		if s.Step.Kind == mapping.ContactStep && s.Step.Contact == nil {
			continue // it is that of an erased person
		}
		line := result.Step{Step: s.Step.Key, Kind: string(s.Step.Kind), State: string(result.Planned)}
		if s.Status == result.Skipped {
			line.State = result.StepSkipped
		}
		known, ok, err := find(j.stepID(o.Client, s.Step))
		if err != nil {
			return nil, err
		}
		if ok && !(s.Status == result.Skipped && known.To == ledger.Refused) {
			line.State = string(known.To)
		}
		if ok {
			line.ID, line.Attempts, line.Status, line.At = known.ID, known.Attempts, known.Event.Status, known.At
		}
		lines = append(lines, line)
	}
	for _, s := range o.Known {
		known, ok, err := find(s.StepID)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		line := lineOf(known)
		if s.Kind == ledger.KindContact {
			line.Kind, line.Step = s.Kind, ledger.ContactStep(s.ClientKey)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// lineOf is the line of a step that the ledger has.
func lineOf(s ledger.Step) result.Step {
	return result.Step{Step: s.StepID.Step, Kind: s.Kind, State: string(s.To), ID: s.ID, Attempts: s.Attempts, Status: s.Status, At: s.At}
}

func (t *tally) count(o clientOutcome, sheets int, linkless bool) {
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
		if linkless {
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

// trouble is a row that failed or is uncertain, without anything personal: a step's key
// and the service's words may be.
type trouble struct {
	row    cell.Row
	status result.Status
	step   string // as the mapping names it; "" where it is about the row
	why    string
}

// mostTroubled is how many rows that failed or are uncertain are named on the terminal;
// the workbook's sheet Problems has them all.
const mostTroubled = 5

// noteTrouble keeps the first rows that failed or are uncertain.
func (t *tally) noteTrouble(o clientOutcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range o.Rows {
		if r.Status != result.Failed && r.Status != result.Uncertain {
			continue
		}
		row := trouble{row: rowOf(r), status: r.Status}
		if i := slices.IndexFunc(o.Steps, func(s stepOutcome) bool { return s.Step.Key == r.FailedStep }); i >= 0 {
			step := o.Steps[i].Step
			row.why, row.step = o.Steps[i].Reason, step.Title
			if o.Steps[i].Unanswered {
				row.why = "a look-up got no usable answer"
			}
			if step.Kind == mapping.ClaimStep || step.Kind == mapping.ActivityStep {
				row.step = string(step.Kind) + " “" + step.Title + "”"
			}
		}
		t.troubled = append(t.troubled, row)
	}
	slices.SortFunc(t.troubled, func(a, b trouble) int { return cmp.Compare(a.row, b.row) })
	t.troubled = t.troubled[:min(len(t.troubled), mostTroubled)]
}

// Troubled are the first rows that failed or are uncertain, each with its step and the
// class of what happened, and nothing personal. Call it after Do or Forecast.
func (j *Job) Troubled() problem.List {
	var list problem.List
	for _, t := range j.tally.troubled {
		text := string(t.status)
		if t.step != "" {
			text += " at the " + t.step
		}
		if t.why != "" {
			text += ": " + t.why
		}
		list = append(list, problem.At(j.Binding.AtRow(t.row), "", "%s", text))
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
		byWorkers, _ := j.dispatched.sums()
		addCounts(byWorkers, sent)
		for kind, n := range byWorkers {
			addRequests(&s.Requests, kind, n)
		}
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
	byWorkers, _ := j.dispatched.sums()
	p.Requests = total(j.Service.Sent()) + total(byWorkers)
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
	_, retries := j.dispatched.sums()
	addCounts(retries, j.tally.retries)
	return retries
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
