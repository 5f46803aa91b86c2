// Package rerun compares results workbooks with the ledger before their rows are
// run again, so that nothing that a workbook shows as created is created twice.
//
// A workbook may have been edited, sorted, or be older than the ledger; the ledger
// may be new, or an old copy. The ledger wins wherever it knows a step. What only
// the workbook knows is taken over; where the two contradict each other, nothing
// is sent for the client, and a problem names the cell. Decisions in the column
// Settle are checked and recorded.
//
// The package reads rows and lines that package importer/cli/workbook has read
// from the file (Row, Step), and asks the service nothing.
package rerun

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/settle"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Ledger is what a Comparison needs of the ledger; *ledger.Ledger has it.
type Ledger interface {
	settle.Ledger
	ClientsWithID(ctx context.Context, environment, id string) iter.Seq2[ledger.ClientKey, error]
	Erasures(ctx context.Context, environment string) (ledger.Erasures, error)
}

// Comparison compares results workbooks with the ledger. Call CheckSteps for each
// workbook first, from the newest on, then TakeOver for each if anything is Missing, then Settle, then
// CheckRows; Hold and Prior pass what was found on to the run. A Comparison is for
// one goroutine.
type Comparison struct {
	Ledger      Ledger
	Environment string // the ledger's scope
	Binding     *mapping.Binding
	ActivityIDs bool // as settle.Settler.ActivityIDs
	NewIdentity bool // the mapping's keys were changed on purpose: claims are created again under the new ones

	// Unknown reports whether the ledger does not know the run that wrote the current
	// workbook: then it is new or an old copy, and what it has as not created may
	// have been created since. Set it before CheckSteps and TakeOver.
	Unknown bool

	// CheckSteps counts Missing and Words: the lines of the sheet Steps that the
	// ledger does not know and must take over before anything is sent, and the
	// lines with a decision in the column Settle.
	Missing, Words int

	erasures  *ledger.Erasures // nil until they are read
	lines     []bool           // by number - 1: whether the line is in the last workbook's sheet Steps
	conflicts map[mapping.Identity]problem.List
	prior     map[cell.Row]result.Row
	words     []settle.Settlement
	decided   map[ledger.StepID]settle.Decision // those of words
	people    map[mapping.Identity]personLine   // the first line of each person who may have several, in the workbook that was checked last
	books     int                               // how many workbooks were checked
	links     map[mapping.Identity]linkLine     // the newest link of a client that is done and that the ledger does not know
	found     map[mapping.Identity]bool         // clients who were found, not created: an activity of theirs was skipped
	last      ledger.ClientKey
	steps     map[string]ledger.Step // of last
}

// CheckSteps compares the lines of a sheet Steps with the ledger and changes
// nothing. Its problem.List has every line that cannot be read and every decision
// that cannot be recorded; any other error is the ledger's or the file's.
func (r *Comparison) CheckSteps(ctx context.Context, lines iter.Seq2[Step, error]) error {
	if r.conflicts == nil {
		r.conflicts, r.found = map[mapping.Identity]problem.List{}, map[mapping.Identity]bool{}
		r.links, r.decided = map[mapping.Identity]linkLine{}, map[ledger.StepID]settle.Decision{}
	}
	r.books++
	r.lines, r.people = nil, map[mapping.Identity]personLine{}
	var found problem.List
	for line, err := range lines {
		if err != nil {
			return err
		}
		r.see(line.Number)
		if erased, err := r.isErased(ctx, line); err != nil {
			return err
		} else if erased {
			continue
		}
		if p, wrong := line.check(); wrong {
			found = append(found, p)
			continue
		}
		if line.State == result.StepSkipped {
			r.found[line.Identity(r.Binding.KeySpace())] = true
		}
		known, err := r.known(ctx, line)
		if err != nil {
			return err
		}
		if r.outdates(line, known) {
			known = ledger.Step{}
		}
		if p, differs := line.conflict(known); differs {
			r.add(line.Identity(r.Binding.KeySpace()), p)
		}
		first, again := r.seePerson(line)
		if p, differs := line.contradicts(first); again && differs {
			r.add(line.Identity(r.Binding.KeySpace()), p)
			if first.client != line.Client {
				r.add(mapping.Identity{Space: r.Binding.KeySpace(), Key: first.client}, p)
			}
		}
		event, missing := line.toEvent(r.stepID(line), "", false)
		if missing = missing && known.To == ""; missing {
			if !again {
				r.Missing++
			}
			known.To = event.To
			r.seeLink(line, event)
		}
		if p, wrong := r.word(line, known); wrong {
			found = append(found, p)
		}
	}
	found.Sort()
	return found.Err()
}

// linkLine is the line of a link in one of the workbooks, which are checked from the
// newest on.
type linkLine struct {
	step         string
	book, number int
}

// seeLink notes a line of a link that is done. A client's rows show one redirect url,
// which is that of the last link in the sheet Steps as it was written, of the newest
// workbook that has one.
func (r *Comparison) seeLink(line Step, event ledger.Event) {
	if event.Kind != ledger.KindLink || event.To != ledger.Done {
		return
	}
	who := line.Identity(r.Binding.KeySpace())
	if last, ok := r.links[who]; !ok || last.book == r.books && last.number <= line.Number {
		r.links[who] = linkLine{line.Step, r.books, line.Number}
	}
}

// isOlderLink reports whether a line is that of a link before the client's last one.
func (r *Comparison) isOlderLink(line Step) bool {
	last, ok := r.links[line.Identity(r.Binding.KeySpace())]
	return ok && line.kind() == ledger.KindLink && line.Step != last.step
}

// lacksLink returns the event for a line of a fresh link that was not made, of a client
// whose links the ledger learns from the workbook: without it the ledger could not
// tell that a link is missing.
func (r *Comparison) lacksLink(line Step, known ledger.Step) (event ledger.Event, ok bool) {
	_, taken := r.links[line.Identity(r.Binding.KeySpace())]
	ok = taken && known.To == "" && line.kind() == ledger.KindLink && line.Step != ledger.KindLink && slices.Contains(unsent, line.State)
	return ledger.Event{StepID: r.stepID(line), To: ledger.Refused, At: time.Now().UTC(), Kind: ledger.KindLink, Reason: reasonTakenOver}, ok
}

// outdates reports whether a line is newer than the ledger, which does not know
// the line's run: the line says that the step is done, or that it may have been
// created where the ledger has it as not created.
func (r *Comparison) outdates(line Step, known ledger.Step) bool {
	event, needed := line.toEvent(r.stepID(line), "", false)
	if !r.Unknown || !needed {
		return false
	}
	switch known.To {
	case ledger.Refused:
		return true
	case ledger.Sent, ledger.Uncertain:
		return event.To == ledger.Done
	}
	return false
}

// personLine is what a line says of a client or of a further contact.
type personLine struct {
	client string // whose line it is
	id, at string // the id, and where it stands
}

// seePerson notes a line of the creation of a person who may have several lines, and
// returns the first of them. A further contact has a line for every client who names
// it, and one of its own where it is a client too.
func (r *Comparison) seePerson(line Step) (first personLine, again bool) {
	if _, own, isContact := mapping.ContactOf(line.Step); isContact && own != string(mapping.ClientStep) || !isContact && (line.Step != string(mapping.ClientStep) || !r.Binding.ClientsAreContacts()) {
		return personLine{}, false
	}
	id := r.stepID(line)
	who := mapping.Identity{Space: id.Space, Key: id.Client}
	if first, again = r.people[who]; !again {
		who.Key = strings.Clone(who.Key) // the reader reuses the texts
		r.people[who] = personLine{strings.Clone(line.Client), strings.Clone(line.ID), line.IDAt.String()}
	}
	return first, again
}

// see notes that the workbook has the line.
func (r *Comparison) see(number int) {
	if number < 1 || number > maxLines {
		return
	}
	for len(r.lines) < number {
		r.lines = append(r.lines, false)
	}
	r.lines[number-1] = true
}

// maxLines bounds the line numbers that are believed: no workbook has more lines.
const maxLines = 1 << 26

// Complete reports whether the sheet Steps that was checked last still has every
// one of the lines that were written, in any order. If the ledger does not know the
// steps, a missing line would be a step that is sent again.
func (r *Comparison) Complete(written int) bool {
	return len(r.lines) == written && !slices.Contains(r.lines, false)
}

// word notes the decision in a line's column Settle. It needs a step that is
// undecided; a step in flight was left so by a run that was killed, and is
// undecided too.
func (r *Comparison) word(line Step, known ledger.Step) (problem.Problem, bool) {
	if line.Settle == "" {
		return problem.Problem{}, false
	}
	decision, err := settle.ParseDecision(line.Settle)
	if same, ok := r.decided[r.stepID(line)]; ok && err == nil && decision == same {
		return problem.Problem{}, false // one decision, in two places
	}
	r.Words++
	if p, wrong := errors.AsType[problem.Problem](err); wrong {
		p.Where = line.SettleAt
		return p, true
	}
	if known.To != ledger.Uncertain && known.To != ledger.Sent {
		return problem.At(line.SettleAt, "not-uncertain", "a decision stands beside a step that is not uncertain").
			Hinted("clear the cell"), true
	}
	if p, ok := decision.Check(line.kind(), r.ActivityIDs); !ok {
		p.Where = line.SettleAt
		return p, true
	}
	r.decided[r.stepID(line)] = decision
	r.words = append(r.words, settle.Settlement{Step: r.stepID(line), Decision: decision, Where: line.SettleAt})
	return problem.Problem{}, false
}

// Settle records the decisions of the workbooks as events of the run by, all or
// none; see settle.Settler.Settle. Call TakeOver first.
func (r *Comparison) Settle(ctx context.Context, by string) error {
	if len(r.words) == 0 {
		return nil // a dry run's ledger is for reading only
	}
	r.last = ledger.ClientKey{} // what was read of it is no longer true
	return settle.Settler{Ledger: r.Ledger, Run: by, ActivityIDs: r.ActivityIDs}.Settle(ctx, r.words...)
}

// eventsAtOnce bounds how much of a large workbook is in memory.
const eventsAtOnce = 1000

// TakeOver records the steps that the ledger does not know. urls are the clients'
// redirect urls. It can be repeated after it was interrupted.
func (r *Comparison) TakeOver(ctx context.Context, lines iter.Seq2[Step, error], run string, urls map[mapping.Identity]string) error {
	var events, unmade []ledger.Event
	at := map[ledger.StepID]int{} // the place of a step among events
	for line, err := range lines {
		if err != nil {
			return err
		}
		if erased, err := r.isErased(ctx, line); err != nil {
			return err
		} else if erased {
			continue
		}
		known, err := r.known(ctx, line)
		if err != nil {
			return err
		}
		url := urls[line.Identity(r.Binding.KeySpace())]
		if r.isOlderLink(line) {
			url = "" // it is not shown, so it is not known
		}
		event, needed := line.toEvent(r.stepID(line), url, r.Binding.Mapping().V1())
		if e, ok := r.lacksLink(line, known); ok {
			e.Run = run
			unmade = append(unmade, e)
		}
		if known.To != "" && !r.outdates(line, known) || !needed {
			continue
		}
		if event.Kind == ledger.KindClient && event.To == ledger.Done && r.found[mapping.Identity{Space: event.Space, Key: event.Client}] {
			event.Via = ledger.ViaAdopted // so that the activities stay skipped
		}
		event.Run = run
		if first, again := at[event.StepID]; again { // another line of a contact
			if events[first].To != ledger.Done && event.To == ledger.Done {
				events[first] = event
			}
			continue
		}
		at[event.StepID] = len(events)
		if events = append(events, event); len(events) == eventsAtOnce {
			if err := r.enter(events); err != nil {
				return err
			}
			events, r.last = events[:0], ledger.ClientKey{} // what was read of it is no longer true
			clear(at)
		}
	}
	r.last = ledger.ClientKey{}               // what was read of it is no longer true
	return r.enter(append(events, unmade...)) // they are newer than every link that was made
}

// enter records steps that the ledger did not know. A step with the id or url of
// another step becomes uncertain: one of the two cells is wrong.
func (r *Comparison) enter(events []ledger.Event) error {
	err := r.Ledger.Append(events...)
	if !errors.As(err, new(ledger.Taken)) {
		return err
	}
	for _, event := range events {
		err := r.Ledger.Append(event)
		if errors.As(err, new(ledger.Taken)) {
			event.To, event.Reason, event.ID, event.URL = ledger.Uncertain, reasonTakenTwice, "", ""
			err = r.Ledger.Append(event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckRows compares the rows of the sheet Results with the ledger and notes the
// clients whose rows show what the ledger does not know.
func (r *Comparison) CheckRows(ctx context.Context, rows iter.Seq2[Row, error]) error {
	r.prior = map[cell.Row]result.Row{}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := r.checkRow(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// checkRow retains the cells of a row that the next workbook cannot get from the
// ledger: the row's client cannot be read, the row contradicts the ledger, or its
// claim key may be what is wrong with it.
func (r *Comparison) checkRow(ctx context.Context, row Row) error {
	lead := r.Binding.Convert(row.Record)
	if lead.Client == (mapping.Identity{}) {
		return r.retain(ctx, row, lead.Client)
	}
	known, err := r.client(ctx, lead.Client)
	if err != nil {
		return err
	}
	asks := r.Binding.ClaimSteps(lead)
	if r.NewIdentity {
		asks = claimSteps(known)
	}
	found := row.conflicts(known, asks, r.Binding.Mapping().Client.Existing == mapping.Skip)
	r.add(lead.Client, found...)
	if len(found) > 0 || len(lead.Problems) > 0 && row.strays(known, asks) {
		return r.retain(ctx, row, lead.Client)
	}
	return nil
}

// retain notes that a row keeps showing its cells. Of a client who was erased it
// retains only that there was something, whatever the row's key is now.
func (r *Comparison) retain(ctx context.Context, row Row, who mapping.Identity) error {
	cells, ok := row.prior()
	if !ok {
		return nil
	}
	gone, err := r.wasErased(ctx, ledger.ClientKey{Environment: r.Environment, Space: who.Space, Client: who.Key})
	if err != nil || gone {
		return err
	}
	for client, err := range r.Ledger.ClientsWithID(ctx, r.Environment, cells.ClientID) {
		if err != nil {
			return err
		}
		if _, gone := ledger.Erased(client.Client); gone {
			cells = result.Row{FailedStep: string(mapping.ClientStep)}
		}
	}
	r.prior[cell.RowOf(row.Record.Table, row.Record.Row)] = cells
	return nil
}

// Prior are the cells that rows keep showing: the rows that CheckRows has held
// back, and those that belong to no client. Without them the next workbook would
// have no trace of what was created, and the run after it would send it again.
func (r *Comparison) Prior() map[cell.Row]result.Row { return r.prior }

// Hold passes plans on. A plan whose client has a conflict gets it as a problem,
// so that nothing is sent for the client.
func (r *Comparison) Hold(plans iter.Seq2[mapping.Plan, error]) iter.Seq2[mapping.Plan, error] {
	return func(yield func(mapping.Plan, error) bool) {
		for plan, err := range plans {
			if found := r.conflicts[plan.Client]; len(found) > 0 {
				plan = r.held(plan, found)
			}
			if !yield(plan, err) {
				return
			}
		}
	}
}

// held returns a plan with problems instead of steps. The workbook still shows the
// ids of its claims.
func (r *Comparison) held(plan mapping.Plan, found problem.List) mapping.Plan {
	for _, step := range plan.Steps {
		if step.Kind == mapping.ClaimStep {
			plan.Claims = append(plan.Claims, mapping.ClaimRows{Key: step.Key, Rows: step.Rows})
		}
	}
	plan.Steps = nil
	for _, p := range found {
		if p.Where == (problem.Where{}) { // a problem of the sheet Steps
			p.Where = r.Binding.AtRow(plan.Rows[0])
		}
		plan.Problems = append(plan.Problems, p)
	}
	return plan
}

func (r *Comparison) add(who mapping.Identity, found ...problem.Problem) {
	if len(found) > 0 {
		r.conflicts[who] = append(r.conflicts[who], found...)
	}
}

// known returns what the ledger knows of a line's step.
func (r *Comparison) known(ctx context.Context, line Step) (ledger.Step, error) {
	id := r.stepID(line)
	steps, err := r.client(ctx, mapping.Identity{Space: id.Space, Key: id.Client})
	return steps[id.Step], err
}

// client returns what the ledger knows of a client. It remembers the last client,
// because the lines of one client follow each other unless they were sorted.
func (r *Comparison) client(ctx context.Context, who mapping.Identity) (map[string]ledger.Step, error) {
	owner := ledger.ClientKey{Environment: r.Environment, Space: who.Space, Client: who.Key}
	if r.last == owner {
		return r.steps, nil
	}
	steps, err := r.Ledger.Steps(ctx, owner, r.Binding.Mapping().Name.Text)
	if err != nil {
		return nil, err
	}
	r.last, r.steps = owner, steps
	return steps, nil
}

// stepID returns the full name of a line's step. All mappings share the client
// step, and a further contact's steps are the contact's own.
func (r *Comparison) stepID(line Step) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: r.Environment, Space: r.Binding.KeySpace(), Client: line.Client},
		Mapping: r.Binding.Mapping().Name.Text, Step: line.Step}
	if who, own, ok := mapping.ContactOf(line.Step); ok {
		id.Space, id.Client, id.Step = who.Space, who.Key, own
	}
	if id.Step == ledger.KindClient {
		id.Mapping = ""
	}
	return id
}

// isErased reports whether a line is about a client who was erased since. Such a
// line is ignored: the ledger must not learn of the client again.
func (r *Comparison) isErased(ctx context.Context, line Step) (bool, error) {
	gone, err := r.wasErased(ctx, ledger.ClientKey{Environment: r.Environment, Space: r.Binding.KeySpace(), Client: line.Client})
	if gone || err != nil {
		return gone, err
	}
	return r.wasErased(ctx, r.stepID(line).ClientKey)
}

func (r *Comparison) wasErased(ctx context.Context, owner ledger.ClientKey) (bool, error) {
	if r.erasures == nil {
		found, err := r.Ledger.Erasures(ctx, r.Environment)
		if err != nil {
			return false, err
		}
		r.erasures = &found
	}
	_, _, ok := r.erasures.Find(owner)
	return ok, nil
}
