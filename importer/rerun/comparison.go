// Package rerun compares a results workbook with the ledger before its rows are run again, so that nothing that it shows as created is
// created twice.
//
// The workbook may have been edited, sorted, or be older than the ledger; the ledger may be new, or an old copy. The ledger wins where it
// knows a step. What only the workbook knows is taken over; where they contradict each other, a problem names the cell. Decisions in the
// column Settle are checked and recorded.
//
// The package reads rows and lines that package importer/cli/workbook has read from the file (Row, Step), and asks the service nothing.
package rerun

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
	"claimsheet/importer/settle"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
)

// Comparison compares a workbook with the ledger: CheckSteps, TakeOver if anything is missing, CheckRows, Settle. It is for one goroutine.
type Comparison struct {
	Ledger      *ledger.Ledger
	Environment string // the ledger's scope
	Binding     *mapping.Binding
	ActivityIDs bool // as settle.Settler.ActivityIDs
	NewIdentity bool // the mapping's keys were changed on purpose: claims are created again under the new ones

	taken     []takenStep // the steps that are missing
	takenAt   map[ledger.StepID]int
	numbers   map[int]bool // of the lines of the sheet Steps
	erasures  ledger.Erasures
	decisions []settle.Settlement
	links     map[mapping.Identity]int    // the newest link of a client that is missing and done, in taken
	found     map[mapping.Identity]bool   // clients who were found, not created: an activity of theirs was skipped
	spaces    map[string]string           // the key spaces of client keys that are not of the mapping's own (known_id)
	holders   map[string]mapping.Identity // the clients of the lines, by their ids
	last      ledger.ClientKey
	steps     map[string]ledger.Step // of last
}

// takenStep is a step that the ledger takes over from the workbook.
type takenStep struct {
	event  ledger.Event
	number int           // of its line
	at     problem.Where // the cell of its id
}

// Missing is how many steps the ledger does not know and must take over before anything is sent.
func (r *Comparison) Missing() int { return len(r.taken) }

// Decisions is how many steps have a decision in the column Settle.
func (r *Comparison) Decisions() int { return len(r.decisions) }

// CheckSteps compares the lines of the sheet Steps with the ledger and changes nothing. runKnown reports whether the ledger knows their
// run: else what it has as not created may have been created since. The error joins problems: every line that cannot be read, decision that
// cannot be recorded and id that contradicts another; any other error is the ledger's or the file's.
func (r *Comparison) CheckSteps(ctx context.Context, lines iter.Seq2[Step, error], runKnown bool) error {
	r.found, r.links, r.spaces = map[mapping.Identity]bool{}, map[mapping.Identity]int{}, map[string]string{}
	r.holders = map[string]mapping.Identity{}
	r.takenAt, r.numbers = map[ledger.StepID]int{}, map[int]bool{}
	var err error
	if r.erasures, err = r.Ledger.Erasures(ctx, r.Environment); err != nil {
		return err
	}
	var found problem.List
	for line, err := range lines {
		if err != nil {
			return err
		}
		r.numbers[line.Number] = true
		if line.Step == ledger.KindClient {
			holder, _, err := r.clientOf(ctx, mapping.Identity{Space: r.Binding.KeySpace(), Key: line.Client}, line.ID)
			if err != nil {
				return err
			}
			if holder.Key == line.Client && holder.Space != r.Binding.KeySpace() {
				r.spaces[strings.Clone(line.Client)] = holder.Space
			}
			if r.Binding.Mapping().Client.KnownID.Text != "" {
				r.holders[strings.Clone(line.ID)] = mapping.Identity{Space: holder.Space, Key: strings.Clone(holder.Key)}
			}
		}
		id, who := r.stepID(line), mapping.Identity{Space: r.spaceOf(line), Key: line.Client}
		if r.isErased(id.ClientKey) || r.isErased(r.ownerOf(who)) {
			continue // the ledger must not learn of the client again
		}
		if wrong := line.check(); len(wrong) > 0 {
			found = append(found, wrong...)
			continue
		}
		if line.State == result.StepSkipped {
			r.found[who] = true
		}
		steps, err := r.client(ctx, mapping.Identity{Space: id.Space, Key: id.Client})
		if err != nil {
			return err
		}
		known := steps[id.Step]
		event, exists := line.toEvent(id)
		isNewer := known.State == ledger.Refused || known.State == ledger.Uncertain && event.State == ledger.Done
		if exists && !runKnown && isNewer {
			known = ledger.Step{}
		}
		found = append(found, line.conflict(known, r.showsFound())...)
		if exists && known.State == "" {
			found = append(found, r.take(line, event, who)...)
			known.State = event.State
		}
		found = append(found, r.decide(line, known)...)
	}
	found.Sort()
	return found.Err()
}

// take notes a step that the ledger does not know. A further contact has a line for every client who names it. A client's rows show one
// redirect url: that of the last link in the sheet Steps as it was written.
func (r *Comparison) take(line Step, event ledger.Event, who mapping.Identity) (wrong problem.List) {
	here := takenStep{event, line.Number, line.IDAt}
	i, again := r.takenAt[event.StepID]
	if !again {
		i = len(r.taken)
		r.takenAt[event.StepID], r.taken = i, append(r.taken, here)
	}
	switch first := r.taken[i]; {
	case event.ID != "" && first.event.ID != "" && event.ID != first.event.ID:
		wrong = problem.List{problem.At(here.at, "id-conflict", "this id differs from %s, and both are the id of one contact or step", first.at).
			Hinted("clear the wrong one of the two")}
	case first.event.State != ledger.Done && event.State == ledger.Done:
		r.taken[i] = here
	}
	if event.Kind == ledger.KindLink && event.State == ledger.Done {
		if last, ok := r.links[who]; !ok || r.taken[last].number <= line.Number {
			r.links[who] = i
		}
	}
	return wrong
}

// Complete reports whether the sheet Steps still has every line that was written: a missing one could be a step that is sent again.
func (r *Comparison) Complete(written int) bool {
	for n := range written {
		if !r.numbers[n+1] {
			return false
		}
	}
	return len(r.numbers) == written
}

// decide notes the decision in a line's column Settle. It needs a step that is undecided.
func (r *Comparison) decide(line Step, known ledger.Step) problem.List {
	if line.Settle == "" {
		return nil
	}
	id := r.stepID(line)
	decision, err := settle.ParseDecision(line.Settle)
	switch {
	case err != nil:
	case slices.ContainsFunc(r.decisions, func(d settle.Settlement) bool { return d.Step == id && d.Decision == decision }):
		return nil // one decision, in two lines
	case known.State != ledger.Uncertain:
		err = problem.New("not-uncertain", "a decision stands beside a step that is not uncertain").Hinted("clear the cell")
	default:
		err = decision.Check(settle.KindOf(line.Step), r.ActivityIDs)
	}
	if p, ok := err.(problem.Problem); ok {
		p.Where = line.SettleAt
		return problem.List{p}
	}
	r.decisions = append(r.decisions, settle.Settlement{Step: id, Decision: decision, Where: line.SettleAt})
	return nil
}

// Settle records the decisions of the workbook as events of the run by, all or none; see settle.Settler.Settle. Call TakeOver first.
func (r *Comparison) Settle(ctx context.Context, by string) error {
	if len(r.decisions) == 0 {
		return nil // a dry run's ledger is for reading only
	}
	r.last = ledger.ClientKey{} // what was read of it is no longer true
	return settle.Settler{Ledger: r.Ledger, Run: by, ActivityIDs: r.ActivityIDs}.Settle(ctx, r.decisions...)
}

// TakeOver records the steps that the ledger does not know, with the redirect urls and addresses of the rows. A step with the id or url of
// another step is a problem.Problem: one of the two cells is wrong.
func (r *Comparison) TakeOver(run string, rows iter.Seq2[Row, error]) error {
	urls, err := r.readRows(rows)
	if err != nil {
		return err
	}
	var events, unmade []ledger.Event // a link that was not made is newer than those that were
	for i, t := range r.taken {
		e, who := t.event, mapping.Identity{Space: t.event.Space, Key: t.event.Client}
		last, isLinked := r.links[who]
		if e.State == ledger.Done && (e.Kind == ledger.KindLink && isLinked && last == i || e.Kind == ledger.KindClient && r.Binding.Mapping().V1()) {
			e.URL = urls[who]
		}
		if e.Kind == ledger.KindClient && e.State == ledger.Done && r.found[who] {
			e.Via = ledger.ViaAdopted // so that the activities stay skipped
		}
		if e.Run = run; e.State == ledger.Refused {
			unmade = append(unmade, e)
		} else {
			events = append(events, e)
		}
	}
	events = append(events, unmade...)
	r.last = ledger.ClientKey{} // what was read of it is no longer true
	const atOnce = 1000
	for chunk := range slices.Chunk(events, atOnce) {
		err := r.Ledger.Append(chunk...)
		if t, ok := errors.AsType[ledger.Taken](err); ok {
			return problem.At(r.taken[r.takenAt[t.Step]].at, "id-taken",
				"the id of this line, or the redirect url of its client, is that of another step").
				Hinted("look in the service which of the two it belongs to, and clear the other")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRows gives the clients and contacts who are taken over the addresses of their rows, so that no other client is taken for one in
// doubt, and returns the clients' redirect urls. A row with another client's id shows that client's url, and is left out.
func (r *Comparison) readRows(rows iter.Seq2[Row, error]) (map[mapping.Identity]string, error) {
	urls := map[mapping.Identity]string{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		lead := r.Binding.Convert(row.Record)
		people := r.Binding.People(lead)
		for _, given := range r.Binding.KnownIDsOf(lead) {
			if holder, ok := r.holders[given.ID]; ok && given.Kind == mapping.ClientStep {
				people[0].Who = holder
			}
		}
		who, client := people[0].Who, r.own(people[0], r.Binding.Mapping().Client.Existing != mapping.Create)
		for _, contact := range people[1:] {
			r.own(contact, true)
		}
		if row.URL == "" || urls[who] != "" {
			continue
		}
		if row.ClientID == "" || client == nil || client.ID == "" || row.ClientID == client.ID {
			urls[who] = strings.Clone(row.URL) // the reader reuses the texts
		}
	}
	return urls, nil
}

// own gives a client or contact who is taken over the addresses of a row, and returns the event of that; nil for others. looksUp is false
// for clients whom no look-up precedes.
func (r *Comparison) own(person mapping.Person, looksUp bool) *ledger.Event {
	i, ok := r.takenAt[ledger.StepID{ClientKey: r.ownerOf(person.Who), Step: ledger.KindClient}]
	if !ok {
		return nil
	}
	add := func(list *[]string, people []mapping.Identity) {
		for _, address := range mapping.Addresses(people) {
			if !slices.Contains(*list, address) {
				*list = append(*list, address)
			}
		}
	}
	e := &r.taken[i].event
	add(&e.Addresses, person.Addresses)
	if looksUp {
		add(&e.LookedUp, person.Asked)
	}
	return e
}

// CheckRows compares the rows of the sheet Results with the ledger. The error joins problems: every row that shows what the ledger does not
// know under the row's keys, but for those that the mapping leaves out. Any other error is the ledger's or the file's.
func (r *Comparison) CheckRows(ctx context.Context, rows iter.Seq2[Row, error]) error {
	var found problem.List
	for row, err := range rows {
		if err != nil {
			return err
		}
		lead := r.Binding.Convert(row.Record)
		if r.isErased(r.ownerOf(lead.Client)) || lead.Skipped != "" { // then the row asks for nothing
			continue
		}
		id := ""
		for _, given := range r.Binding.KnownIDsOf(lead) { // what a row gives an id for is not created
			if given.Kind == mapping.ClaimStep {
				row.ClaimIDs = slices.DeleteFunc(row.ClaimIDs, func(id string) bool { return strings.EqualFold(id, given.ID) })
			} else {
				id = given.ID
			}
		}
		who, known, err := r.clientOf(ctx, lead.Client, id)
		if err != nil {
			return err
		}
		if len(r.decisions) > 0 {
			known = r.asDecided(who, known)
		}
		asks := r.Binding.ClaimSteps(lead)
		if r.NewIdentity {
			asks = claimSteps(known)
		}
		found = append(found, row.conflicts(known, asks, r.showsFound(), len(lead.Problems) > 0)...)
	}
	return found.Err()
}

// asDecided returns what is known of a client by the decisions in the column Settle: a row may show an id that is given there.
func (r *Comparison) asDecided(who mapping.Identity, known map[string]ledger.Step) map[string]ledger.Step {
	known = maps.Clone(known)
	for _, d := range r.decisions {
		if step := known[d.Step.Step]; d.Step.Space == who.Space && d.Step.Client == who.Key {
			step.State, step.ID = ledger.Refused, d.Decision.Value
			if d.Decision.Choice == settle.WasCreated {
				step.State = ledger.Done
			}
			known[d.Step.Step] = step
		}
	}
	return known
}

// showsFound reports whether the mapping reuses no known client: its results then show ids of look-ups, which belong to no step.
func (r *Comparison) showsFound() bool {
	existing := r.Binding.Mapping().Client.Existing
	return existing == mapping.Skip || existing == mapping.Fail
}

// client returns what the ledger knows of a client; that of the last one is remembered, because a client's lines follow each other.
func (r *Comparison) client(ctx context.Context, who mapping.Identity) (map[string]ledger.Step, error) {
	owner := r.ownerOf(who)
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

// clientOf is client for one to whom the sheet may give an id (known_id), "" for none: where the ledger has no id under the client's own
// key, the client is the one who has the given id.
func (r *Comparison) clientOf(ctx context.Context, who mapping.Identity, id string) (mapping.Identity, map[string]ledger.Step, error) {
	steps, err := r.client(ctx, who)
	if err != nil || id == "" || r.Binding.Mapping().Client.KnownID.Text == "" || steps[string(mapping.ClientStep)].ID != "" {
		return who, steps, err
	}
	any := ledger.StepID{ClientKey: ledger.ClientKey{Environment: r.Environment}}
	t, taken, err := r.Ledger.StepWithID(ctx, ledger.Event{StepID: any, Kind: ledger.KindClient, ID: id})
	if err != nil || !taken || t.Holder.Step != ledger.KindClient {
		return who, steps, err
	}
	who = mapping.Identity{Space: t.Holder.Space, Key: t.Holder.Client}
	steps, err = r.client(ctx, who)
	return who, steps, err
}

// spaceOf returns the key space of a line's client.
func (r *Comparison) spaceOf(line Step) string {
	return cmp.Or(r.spaces[line.Client], r.Binding.KeySpace())
}

// stepID returns the full name of a line's step. All mappings share the client step, and a further contact's steps are the contact's own.
func (r *Comparison) stepID(line Step) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: r.Environment, Space: r.spaceOf(line), Client: line.Client},
		Mapping: r.Binding.Mapping().Name.Text, Step: line.Step}
	if who, own, ok := mapping.ContactOf(line.Step); ok {
		id.Space, id.Client, id.Step = who.Space, who.Key, own
	}
	if id.Step == ledger.KindClient {
		id.Mapping = ""
	}
	return id
}

// ownerOf returns the ledger's key of a client.
func (r *Comparison) ownerOf(who mapping.Identity) ledger.ClientKey {
	return ledger.ClientKey{Environment: r.Environment, Space: who.Space, Client: who.Key}
}

func (r *Comparison) isErased(owner ledger.ClientKey) bool {
	_, _, ok := r.erasures.Find(owner)
	return ok
}
