package importer

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"claimsheet/apiclient"
	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// stepOutcome is what became of one step in this run.
type stepOutcome struct {
	Step   *mapping.Step
	Status result.Status
	ID     string
	URL    string // a credential
	Error  string // why it is not done; may quote the service, so not for logs
	Advice string

	reason string // why, without personal data; "" for none
}

// ok reports whether later steps can build on the step: it is done, now or before, or a dry run plans
// it, or it is left out on purpose. If one is held back, so are all that are not done.
func (o stepOutcome) ok() bool {
	switch o.Status {
	case result.Done, result.Unchanged, result.Planned, result.Skipped, result.Changed:
		return true
	}
	return false
}

// clientOutcome is what became of a client and of each of its rows.
type clientOutcome struct {
	Number   int // as in the plan
	Client   mapping.Identity
	Status   result.Status // the worst of its rows'
	URL      string
	Rows     []result.Row
	Steps    []stepOutcome
	Problems problem.List
	// Lines are the client's lines in the sheet Steps, also of one for whom nothing is
	// planned in this run: the workbook must be enough by itself.
	Lines []result.Step
	// MappingChanged says that a done step's data differ because the mapping asks for something else.
	// A run reports that once, and not for each row.
	MappingChanged bool
}

// failures returns a problem for each row that failed or is uncertain, in words without personal data: so
// without the key of the step, and without the service's words.
func (o clientOutcome) failures(b *mapping.Binding) (list problem.List) {
	for _, r := range o.Rows {
		if r.Status != result.Failed && r.Status != result.Uncertain {
			continue
		}
		text := string(r.Status)
		for _, s := range o.Steps {
			if s.Step.Key == r.FailedStep {
				if text += " at the " + nameOf(s.Step); s.reason != "" {
					text += ": " + s.reason
				}
				break
			}
		}
		list = append(list, problem.At(b.AtRow(rowOf(r)), "", "%s", text))
	}
	return list
}

const reasonNoLookUp = "a look-up got no usable answer"

// nameOf says what a step creates, without personal data.
func nameOf(step *mapping.Step) string {
	switch {
	case step.Kind == mapping.ClaimStep || step.Kind == mapping.ActivityStep:
		return string(step.Kind) + " “" + step.Title + "”"
	case step.Kind == mapping.ContactStep || step.Kind == mapping.ClientStep && step.Title != string(mapping.ClientStep):
		return "contact “" + step.Title + "”"
	}
	return step.Title
}

// withoutLink reports whether a client is done, or in a dry run would be, and has no
// redirect url.
func (o clientOutcome) withoutLink(m *mapping.Mapping) bool {
	if !slices.Contains([]result.Status{result.Done, result.Unchanged, result.Changed, result.Planned}, o.Status) || o.URL != "" ||
		m.Link == mapping.LinkNever {
		return false
	}
	return !slices.ContainsFunc(o.Steps, func(s stepOutcome) bool {
		brings := s.Step.Kind == mapping.LinkStep || m.V1() && s.Step.Kind == mapping.ClientStep && s.ID == ""
		return brings && s.Status == result.Planned
	})
}

// tables yields the sheets in which the client has rows, ascending, with those rows.
func (o clientOutcome) tables() iter.Seq2[int, []result.Row] {
	return func(yield func(int, []result.Row) bool) {
		for rows := o.Rows; len(rows) > 0; { // in the order of the run
			n := 1
			for n < len(rows) && rows[n].Table == rows[0].Table {
				n++
			}
			if !yield(rows[0].Table, rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

// outcomeOf returns a client's outcome, with the results of its rows, by the outcomes of its steps. Where none of them
// has a redirect url, the one that the ledger has is shown.
func outcomeOf(b *mapping.Binding, plan mapping.Plan, steps []stepOutcome, known map[string]ledger.Step) clientOutcome {
	o := clientOutcome{Number: plan.Number, Client: plan.Client, Steps: steps}
	shown := map[string]string{}
	for _, s := range steps {
		o.URL = cmp.Or(s.URL, o.URL)
		if s.ID != "" && s.Step.Kind != mapping.ActivityStep {
			shown[s.Step.Key] = s.ID
		}
	}
	if o.URL == "" {
		o.URL = lastGiven(known).URL
	}
	o.Rows = rowsOf(b, plan, shown, o.URL)
	for _, s := range steps {
		for _, row := range s.Step.Rows {
			if i, ok := slices.BinarySearch(plan.Rows, row); ok {
				addStep(&o.Rows[i], b, s)
			}
		}
	}
	for _, r := range o.Rows {
		o.Status = result.Worse(o.Status, r.Status)
	}
	return o
}

// lastGiven returns the step that has the redirect url of a client, as far as the ledger knows one: the magic link that came
// last, else the client.
func lastGiven(known map[string]ledger.Step) (last ledger.Step) {
	for _, s := range known {
		isLater := s.Kind == ledger.KindLink && (last.Kind != s.Kind || s.Version > last.Version)
		if s.State == ledger.Done && s.URL != "" && (last.URL == "" || isLater) {
			last = s
		}
	}
	return last
}

// rowsOf returns the rows of a plan, without what became of them, with the ids and the redirect url that are known. Further
// contacts come in the order of the mapping.
func rowsOf(b *mapping.Binding, plan mapping.Plan, known map[string]string, url string) []result.Row {
	rows := make([]result.Row, len(plan.Rows))
	for i, row := range plan.Rows {
		rows[i] = result.Row{Table: row.Table(), Row: row.Number(), Client: plan.Number, ClientID: known[string(mapping.ClientStep)], URL: url}
	}
	show := func(s *mapping.Step) {
		for _, row := range s.Rows {
			switch i, ok := slices.BinarySearch(plan.Rows, row); {
			case !ok || known[s.Key] == "":
			case s.Contact != nil:
				rows[i].Contacts = append(rows[i].Contacts, s.Contact.Role+": "+known[s.Key])
			default:
				rows[i].ClaimIDs = append(rows[i].ClaimIDs, known[s.Key])
			}
		}
	}
	wanted := plan.Wanted()
	for i := range wanted {
		if wanted[i].Kind == mapping.ClaimStep {
			show(&wanted[i])
		}
	}
	for _, rule := range b.Mapping().Contacts {
		for i := range wanted {
			if c := wanted[i].Contact; c != nil && c.Role == rule.ID.Text {
				show(&wanted[i])
			}
		}
	}
	return rows
}

// addStep adds what became of one of the row's steps to its result.
func addStep(r *result.Row, b *mapping.Binding, s stepOutcome) {
	worst := result.Worse(r.Status, s.Status)
	if worst != r.Status {
		r.Error, r.FailedStep = s.Error, ""
		if s.Status == result.Failed || s.Status == result.Uncertain {
			r.FailedStep = s.Step.Key
		}
		if s.Advice != "" {
			r.Advice = s.Advice
		}
	} else if worst == s.Status && s.Status == result.Changed && s.Error != "" && !strings.Contains("; "+r.Error+"; ", "; "+s.Error+"; ") {
		r.Error += "; " + s.Error
	}
	r.Status = worst
	if r.Advice == "" {
		r.Advice = s.Advice
	}
	if s.Step.Kind == mapping.ClaimStep && s.Step.Rows[0] != rowOf(*r) && r.Advice == "" {
		r.Advice = fmt.Sprintf(adviceSameClaim, b.RowName(s.Step.Rows[0]))
	}
}

func rowOf(r result.Row) cell.Row { return cell.RowOf(r.Table, r.Row) }

// invalidOutcome returns the outcome of a plan with problems: rows that have one are invalid, and the
// others wait for them.
func invalidOutcome(b *mapping.Binding, plan mapping.Plan, made map[string]string, url string) clientOutcome {
	o := clientOutcome{Number: plan.Number, Client: plan.Client, Status: result.Invalid, URL: url, Problems: plan.Problems}
	byRow := map[cell.Row][]string{}
	for _, p := range plan.Problems {
		row := cell.RowOf(p.Where.Table, p.Where.Row)
		isSaid := func(text string) bool { return p.Part && strings.Contains(text, ": "+p.Message) }
		if !slices.ContainsFunc(byRow[row], isSaid) {
			byRow[row] = append(byRow[row], inWords(p))
		}
	}
	const maxNamed = 5
	var bad []string // the rows that the others wait for
	for _, row := range plan.Rows {
		if len(byRow[row]) > 0 && len(bad) <= maxNamed {
			bad = append(bad, b.RowName(row))
		}
	}
	if len(bad) > maxNamed {
		bad[maxNamed] = "and others"
	}
	o.Rows = rowsOf(b, plan, made, url)
	for i := range o.Rows {
		r := &o.Rows[i]
		r.Status, r.Advice, r.Error = result.NotStarted, adviceWaits, "waits for invalid rows: "+strings.Join(bad, ", ")
		if own := byRow[rowOf(*r)]; len(own) > 0 {
			r.Status, r.Advice, r.Error = result.Invalid, adviceInvalid, strings.Join(own, "; ")
		}
	}
	return o
}

// inWords returns a problem as a text for the workbook. What is seen in a row as a whole stands in none of its cells.
func inWords(p problem.Problem) string {
	text := p.Where.String() + ": " + p.Message
	if p.Where.Cell == "" && p.Seen != "" {
		text += ": " + p.Seen
	}
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// leftOut returns the outcome of a plan that is left out. why is shown beside its rows.
func leftOut(b *mapping.Binding, plan mapping.Plan, made map[string]string, url, why string) clientOutcome {
	o := clientOutcome{Number: plan.Number, Client: plan.Client, Status: result.Skipped, URL: url, Rows: rowsOf(b, plan, made, url)}
	for i := range o.Rows {
		o.Rows[i].Status, o.Rows[i].Advice = result.Skipped, why
	}
	return o
}

// The texts of the column "What to do".
const (
	adviceRefused = "Correct the row or the mapping, then run again: only what is missing is sent."
	adviceReused  = "Claimsheet did not create this contact, and a claim's contact has to be an administrator: if the service says that this one is not, ask " +
		"its operator to make it one; else correct the row or the mapping. Then run again: only what is missing is sent."
	adviceNotSent        = "Nothing was sent. Run again when the service can be reached."
	adviceBusy           = "The service refused it for now only; there is nothing to correct. Run again later."
	adviceChanged        = "The service cannot change what it has: the change was not sent. Correct it there by hand if it matters."
	adviceHeld           = "Nothing was sent. Take the change back, or settle with the service's operator where the client is to resume."
	adviceGivenUp        = "This step was given up; what depends on it is not sent."
	adviceOtherClaim     = "Decide about that claim first: claimsheet settle. Then run again."
	adviceNotFound       = "It is not sent again yet; a run ten minutes from now or later looks the client up again and decides."
	adviceInvalid        = "Correct the cell, or the mapping where Error says so, and run again."
	adviceWaits          = "Nothing was sent for this client. Correct the row that it waits for and run again."
	adviceStopped        = "Run again: it continues from here."
	adviceLookup         = "The service could not be asked whether it knows the client; nothing was sent. Run again."
	adviceWhoIsIt        = "Find out with the service's operator who this is; correct the row, or the client there."
	adviceTaken          = "If they are one person, give the rows one client key; if not, correct the address."
	adviceDoubtful       = "Nothing was sent. Decide about that client first, by a later run with its row or by claimsheet settle; then run again."
	hintTaken            = "If a wire pointer of the environment leads to the wrong place, correct it and run again: the answers are kept, and read again."
	adviceKnown          = "The service knows this client already, so nothing was created (existing: fail)."
	adviceSkipped        = "The service knows this client already, so the rows were left out (existing: skip)."
	adviceKnownIDChanged = "Nothing was sent. Put the ledger's id into the cell, or empty the cell."
	adviceKnownIDTwice   = "Nothing was sent. Look in the service whose id it is, and correct the cell."
	adviceKnownIDInDoubt = "An earlier attempt may have created a client or claim with another id. Decide about it first: claimsheet settle. If the sheet's id is the right one, give it with --created."
	adviceKnownIDRefused = "If the service does not know the id %s, which the sheet gives (known_id), put the right one into the cell. If there is none, empty the cell and withdraw the id " +
		"before you run again: claimsheet settle --undo \"%s\"."
	adviceOlderLink   = "The client's link is older than this claim, and the activity that it leads to may be completed by now: claimsheet link asks for a fresh one."
	adviceNoLinkV1    = "The client was known already, or a look-up found it after an attempt to create it: the service gives a redirect url only in the answer that creates one."
	adviceNoURL       = "The service's answer held no redirect url where wire.redirect_url points; correct that and run again."
	adviceURLPurged   = "The redirect url was purged; claimsheet link asks for a fresh one."
	adviceURLPurgedV1 = "The redirect url was purged; the service gives it only when it creates a client."
	adviceSameClaim   = "It is the same claim as row %s; its ids are shown."
)

// adviceUncertain says what to look for. The service cannot list claims or activities, so a person
// looks into its dashboard.
func adviceUncertain(step *mapping.Step) string {
	until := "you decide"
	if step.Kind == mapping.ClientStep {
		until = "a look-up of a later run, or you, decide"
	}
	return "Look in the service whether the " + nameOf(step) + " exists. It is not sent again until " + until + ": claimsheet settle."
}

// withHint returns the hint about an answer, followed by the usual advice.
func withHint(hint, usual string) string {
	if hint == "" {
		return usual
	}
	return strings.TrimSuffix(hint, ".") + ". " + usual
}

// reasonWith returns a reason with its hint: that of a run that stops, or of an uncertain step, for the
// person who decides about it on another day.
func reasonWith(reason, hint string) string {
	if hint == "" {
		return reason
	}
	return reason + "; " + hint
}

// tally counts a run's outcomes. It is safe for concurrent use.
type tally struct {
	mu       sync.Mutex
	whole    counts
	sheets   []counts
	planned  map[apiclient.Kind]int // requests of a dry run
	problems problem.List
	most     int          // how many problems are kept; 0 is maxProblems
	unlisted int          // how many problems came beyond that
	failures problem.List // the first rows that failed or are uncertain, in the sheets' order
	mapping  bool         // some done step differs because of the mapping
}

// counts are the numbers of rows and clients of a run, or of those that have rows in one of its sheets.
type counts struct {
	rows, clients result.Counts
	withoutLink   int
}

// add counts some rows of a client, and the client.
func (c *counts) add(o clientOutcome, rows []result.Row, m *mapping.Mapping) {
	for _, r := range rows {
		c.rows.Add(r.Status)
	}
	if o.Number > 0 {
		c.clients.Add(o.Status)
		if o.withoutLink(m) {
			c.withoutLink++
		}
	}
}

// maxProblems is how many problems are kept. A sheet with more of them is the wrong
// sheet, and the results say of each row what is wrong with it.
const maxProblems = 50_000

func (t *tally) count(o clientOutcome, b *mapping.Binding, sheets int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sheets == nil {
		t.sheets = make([]counts, sheets)
	}
	t.whole.add(o, o.Rows, b.Mapping())
	for table, rows := range o.tables() {
		t.sheets[table].add(o, rows, b.Mapping())
	}
	t.note(o.Problems)
	t.mapping = t.mapping || o.MappingChanged
	t.failures = append(t.failures, o.failures(b)...)
	t.failures.Sort()
	t.failures = t.failures[:min(len(t.failures), maxTroubled)]
}

// note keeps problems for the workbook and the terminal.
func (t *tally) note(list problem.List) {
	room := min(cmp.Or(t.most, maxProblems)-len(t.problems), len(list))
	t.unlisted += len(list) - room
	for _, p := range list[:room] {
		p.Seen = strings.Clone(p.Seen) // it may be a piece of its row's text
		t.problems = append(t.problems, p)
	}
}

// maxTroubled is how many rows that failed or are uncertain are named on the terminal;
// the workbook's sheet Problems has them all.
const maxTroubled = 5

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

func (t *tally) plan(kind mapping.StepKind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.planned == nil {
		t.planned = map[apiclient.Kind]int{}
	}
	t.planned[apiclient.Kind(kind)]++
}
