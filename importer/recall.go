package importer

import (
	"context"
	"errors"
	"iter"
	"slices"

	"claimsheet/importer/ledger"
	"claimsheet/importer/settle"
	"claimsheet/mapping"
	"claimsheet/mapping/cell"
	"claimsheet/mapping/problem"
)

// Recall compares what results workbooks say with the ledger, before their
// rows are run again. The ledger wins wherever it knows a step; what it does
// not know it can take over. Call CheckSteps for each workbook first, then
// TakeOver for each if anything is missing, then CheckRows; a Recall is for one
// goroutine.
type Recall struct {
	Ledger      *ledger.Ledger
	Environment string // the ledger's scope
	Binding     *mapping.Binding
	ActivityIDs bool // as Settler.ActivityIDs
	NewIdentity bool // the mapping's keys were changed on purpose: claims are made anew under them

	// Unknown reports that the ledger does not know the run that wrote the workbook at
	// hand: it is new, or an old copy, and cannot know what became since of the
	// steps that it does not have as done. Set it before CheckSteps and TakeOver.
	Unknown bool

	// Missing and Words are counted by CheckSteps: the lines of the sheet Steps
	// that the ledger does not know and must take over before anything is sent,
	// and those in which an operator wrote a word.
	Missing, Words int

	erasures  *ledger.Erasures // nil until asked for
	lines     []bool           // by number - 1: which lines of the last workbook's sheet Steps are there
	conflicts map[mapping.Identity]problem.List
	kept      map[cell.Row]shown
	words     []settle.Settlement
	last      ledger.ClientKey
	steps     map[string]ledger.Step // of last
}

// CheckSteps goes through the lines of a sheet Steps and changes nothing. Its
// problem.List names every line that cannot be read and every word that cannot
// be followed; any other error is the ledger's or the file's.
func (r *Recall) CheckSteps(ctx context.Context, lines iter.Seq2[WorkbookStep, error]) error {
	if r.conflicts == nil {
		r.conflicts = map[mapping.Identity]problem.List{}
	}
	r.lines = nil
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
		seed, missing := line.seed(r.stepID(line), "", false)
		if missing = missing && known.To == ""; missing {
			r.Missing++
			known.To = seed.To
		}
		if p, wrong := r.word(line, known); wrong {
			found = append(found, p)
		}
	}
	found.Sort()
	return found.Err()
}

// outdates reports that a line says more of a step than the ledger, which does not
// know the line's run: that it is done, or that something may have come of what the
// ledger has as surely not created.
func (r *Recall) outdates(line WorkbookStep, known ledger.Step) bool {
	event, needed := line.seed(r.stepID(line), "", false)
	if !r.Unknown || !needed {
		return false
	}
	switch known.To {
	case ledger.Failed, ledger.NotSent:
		return true
	case ledger.Intent, ledger.Uncertain, ledger.Parked:
		return event.To == ledger.Done
	}
	return false
}

// see notes that a line is there.
func (r *Recall) see(number int) {
	if number < 1 || number > maxLines {
		return
	}
	for len(r.lines) < number {
		r.lines = append(r.lines, false)
	}
	r.lines[number-1] = true
}

// maxLines bounds the numbers that are believed: no workbook holds more lines.
const maxLines = 1 << 26

// Complete tells whether every one of the lines with which the sheet Steps that
// was checked last was written is still there, wherever it was sorted to. Without the ledger a line
// that is gone would be a step that is sent again.
func (r *Recall) Complete(written int) bool {
	return len(r.lines) == written && !slices.Contains(r.lines, false)
}

// word notes an operator's word on a step that is undecided. A step that is in
// flight was left so by a run that was killed: it is undecided too.
func (r *Recall) word(line WorkbookStep, known ledger.Step) (problem.Problem, bool) {
	if line.Settle == "" {
		return problem.Problem{}, false
	}
	r.Words++
	decision, err := settle.ParseDecision(line.Settle)
	if p, wrong := errors.AsType[problem.Problem](err); wrong {
		p.Where = line.SettleAt
		return p, true
	}
	if known.To != ledger.Uncertain && known.To != ledger.Parked && known.To != ledger.Intent {
		return problem.At(line.SettleAt, "not-uncertain", "a decision stands beside a step that is not uncertain").
			Hinted("clear the cell"), true
	}
	if p, ok := decision.Check(line.kind(), r.ActivityIDs); !ok {
		p.Where = line.SettleAt
		return p, true
	}
	r.words = append(r.words, settle.Settlement{Step: r.stepID(line), Decision: decision, Where: line.SettleAt})
	return problem.Problem{}, false
}

// Settle records the operator's words under the name by, all or none; see
// Settler.Settle. What the ledger does not know must have been taken over.
func (r *Recall) Settle(ctx context.Context, by string) error {
	if len(r.words) == 0 {
		return nil // a dry run's ledger is for reading only
	}
	r.last = ledger.ClientKey{} // what was read of it is no longer true
	return settle.Settler{Ledger: r.Ledger, Run: by, ActivityIDs: r.ActivityIDs}.Settle(ctx, r.words...)
}

// seedsAtOnce bounds what is held in memory of a large workbook.
const seedsAtOnce = 1000

// TakeOver records the steps that the ledger does not know. urls are the
// clients' redirect urls. It may be done again after it was cut short.
func (r *Recall) TakeOver(ctx context.Context, lines iter.Seq2[WorkbookStep, error], run string, urls map[mapping.Identity]string) error {
	var events []ledger.Event
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
		event, needed := line.seed(r.stepID(line), url, r.Binding.Mapping().V1())
		if known.To != "" && !r.outdates(line, known) || !needed {
			continue
		}
		event.Run = run
		if events = append(events, event); len(events) == seedsAtOnce {
			if err := r.enter(events); err != nil {
				return err
			}
			events = events[:0]
		}
	}
	r.last = ledger.ClientKey{} // what was read of it is no longer true
	return r.enter(events)
}

// enter records steps that the ledger did not know. One with an id or url that
// another step has is uncertain: one of the two cells is wrong.
func (r *Recall) enter(events []ledger.Event) error {
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

// CheckRows goes through the rows of the sheet Results and notes the clients
// whose rows show what the ledger does not know.
func (r *Recall) CheckRows(ctx context.Context, rows iter.Seq2[WorkbookRow, error]) error {
	r.kept = map[cell.Row]shown{}
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

// checkRow keeps what a row shows that cannot be told from the ledger: whose it
// is cannot be read, it shows what the ledger has otherwise, or its claim's key
// is among what is wrong with it.
func (r *Recall) checkRow(ctx context.Context, row WorkbookRow) error {
	lead := r.Binding.Convert(row.Record)
	if lead.Client == (mapping.Identity{}) {
		return r.keep(ctx, row, lead.Client)
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
		return r.keep(ctx, row, lead.Client)
	}
	return nil
}

// Hold passes plans on; those of clients with a conflict get it as a problem,
// so that nothing is sent for them.
func (r *Recall) Hold(plans iter.Seq2[mapping.Plan, error]) iter.Seq2[mapping.Plan, error] {
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

// held is a plan with problems in place of its steps. The claims' ids are shown
// all the same.
func (r *Recall) held(plan mapping.Plan, found problem.List) mapping.Plan {
	for _, step := range plan.Steps {
		if step.Kind == mapping.ClaimStep {
			plan.Claims = append(plan.Claims, mapping.ClaimRows{Key: step.Key, Rows: step.Rows})
		}
	}
	plan.Steps = nil
	for _, p := range found {
		if p.Where == (problem.Where{}) { // what is about the sheet Steps
			p.Where = r.Binding.AtRow(plan.Rows[0])
		}
		plan.Problems = append(plan.Problems, p)
	}
	return plan
}

func (r *Recall) add(who mapping.Identity, found ...problem.Problem) {
	if len(found) > 0 {
		r.conflicts[who] = append(r.conflicts[who], found...)
	}
}

// known is what the ledger has of a line's step.
func (r *Recall) known(ctx context.Context, line WorkbookStep) (ledger.Step, error) {
	steps, err := r.client(ctx, line.Identity(r.Binding.KeySpace()))
	return steps[line.Step], err
}

// client is what the ledger knows of a client. The lines of one stand together
// unless they were sorted, so the last answer is kept.
func (r *Recall) client(ctx context.Context, who mapping.Identity) (map[string]ledger.Step, error) {
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

// stepID is the full name of a line's step. All mappings share the client step.
func (r *Recall) stepID(line WorkbookStep) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: r.Environment, Space: r.Binding.KeySpace(), Client: line.Client},
		Mapping: r.Binding.Mapping().Name.Text, Step: line.Step}
	if line.kind() == ledger.KindClient {
		id.Mapping = ""
	}
	return id
}
