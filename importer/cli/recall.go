package cli

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"claimsheet/importer"
	"claimsheet/mapping"
	"claimsheet/mapping/problem"
	"claimsheet/reports"
)

// recall is what a rerun's workbooks say beside their rows, compared with the
// ledger.
type recall struct {
	*importer.Recall
	setup *setup
}

// recall compares the workbooks with the ledger and changes nothing. What the
// ledger does not know is taken over only after a confirmation. It is nil for a
// run of sheets.
func (p *program) recall(ctx context.Context, o runOptions, s *setup, b *books) (*recall, error) {
	if o.origins == nil {
		return nil, nil
	}
	r := &recall{&importer.Recall{Ledger: b.known, Environment: s.scope, Binding: s.binding,
		ActivityIDs: s.env.Wire.ActivityID != "", NewIdentity: o.newIdentity}, s}
	var found problem.List
	for _, src := range r.newestFirst() {
		if err := addProblems(&found, r.check(ctx, o, src, b)); err != nil {
			return nil, err
		}
	}
	switch {
	case len(found) > 0:
		return nil, found
	case o.dryRun && r.Missing+r.Words > 0:
		return nil, &incomplete{problem.New("dry-run-ledger", "a dry run changes nothing, and the ledger is first to learn of %d steps from the workbook", r.Missing+r.Words).
			Hinted("leave --dry-run out; you are asked before anything is taken over")}
	case r.Missing > 0 && !o.yes:
		return r, p.confirm(o, r.Missing, ledgerFile(s.state))
	}
	return r, nil
}

// check compares one workbook with the ledger, and refuses one whose word cannot
// be taken.
func (r *recall) check(ctx context.Context, o runOptions, src *source, b *books) error {
	before := r.Missing
	_, runKnown, err := b.known.Run(ctx, src.origin.property[runProperty])
	if err != nil {
		return err
	}
	r.Unknown = !runKnown
	if err := r.CheckSteps(ctx, stepLines(src.input)); err != nil {
		return err
	}
	missing := r.Missing > before
	if runKnown && !missing && (r.Words == 0 || !o.dryRun) {
		return nil
	}
	if err := src.origin.otherLedger(r.setup, runKnown); err != nil {
		return err
	}
	if (!runKnown || missing) && !r.Complete(src.origin.steps()) {
		return problem.At(problem.Where{File: src.input.given}, "steps-missing",
			"lines of the workbook's sheet Steps are gone, and the ledger does not know what they said: what is done could be done again").
			Hinted("give the copy that was kept of the workbook, or bring the ledger back: %s", ledgerFile(r.setup.state))
	}
	return nil
}

// otherLedger refuses to take over what another ledger, still there, knows
// better.
func (o *origin) otherLedger(s *setup, runKnown bool) error {
	bound := o.property[ledgerProperty]
	if runKnown || bound == "" || bound == absolute(ledgerFile(s.state)) {
		return nil
	}
	if _, err := os.Stat(bound); err != nil {
		return nil
	}
	return problem.At(problem.Where{File: o.path}, "other-ledger", "the workbook belongs to the ledger %s; this run would use %s, which does not know it",
		bound, ledgerFile(s.state)).
		Hinted("give --state with the folder of earlier runs, or the mapping and the environments file that belong to it")
}

// confirm asks whether steps are to be taken over. Only a typed yes will do; a
// script says so with --yes.
func (p *program) confirm(o runOptions, steps int, ledger string) error {
	fmt.Fprintf(p.Err, "The ledger %s does not know %d steps that the workbook shows as done or undecided.\n", ledger, steps)
	fmt.Fprint(p.Err, "Take them over from the workbook, so that they are not sent again? Type yes: ")
	answer := ""
	if p.In != nil {
		answer, _ = bufio.NewReader(p.In).ReadString('\n') // no answer is an answer
	}
	fmt.Fprintln(p.Err)
	if strings.EqualFold(strings.TrimSpace(answer), "yes") {
		return nil
	}
	command := slices.Insert(o.command(), 2, "--yes")
	return &incomplete{problem.New("not-confirmed", "nothing was sent: the ledger does not know what the workbook shows as done").
		Hinted("bring the ledger back, or take the ids from the workbook: %s", reports.CommandLine(command))}
}

// before makes the ledger know what the workbooks do, and passes the plans on
// but for those of clients whose ids contradict it.
func (r *recall) before(ctx context.Context, plans iter.Seq2[mapping.Plan, error], run string) (iter.Seq2[mapping.Plan, error], error) {
	if r.Missing > 0 {
		urls, err := r.urls()
		if err != nil {
			return nil, err
		}
		for _, src := range r.newestFirst() {
			_, known, err := r.Ledger.Run(ctx, src.origin.property[runProperty])
			if err != nil {
				return nil, err
			}
			r.Unknown = !known
			if err := r.TakeOver(ctx, stepLines(src.input), run, urls); err != nil {
				return nil, err
			}
		}
	}
	if err := r.Settle(ctx, uuid.NewString()); err != nil {
		return nil, err
	}
	if err := r.CheckRows(ctx, r.rows()); err != nil {
		return nil, err
	}
	return r.Hold(plans), nil
}

// newestFirst are the workbooks by the age of their runs: what the newest says of
// a step counts.
func (r *recall) newestFirst() []*source {
	return slices.SortedStableFunc(slices.Values(r.setup.sources), func(a, b *source) int {
		return b.origin.started().Compare(a.origin.started())
	})
}

// enterRuns makes the ledger know the runs that wrote the workbooks, now that it
// knows what they made.
func (r *recall) enterRuns(ctx context.Context) error {
	for _, src := range r.setup.sources {
		run := src.origin.run(r.setup)
		if _, known, err := r.Ledger.Run(ctx, run.ID); err != nil || known || run.ID == "" {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.Ledger.StartRun(run); err != nil {
			return err
		}
	}
	return nil
}

// rows are those of all the workbooks.
func (r *recall) rows() iter.Seq2[importer.WorkbookRow, error] {
	return func(yield func(importer.WorkbookRow, error) bool) {
		for i, src := range r.setup.sources {
			for row, err := range src.results.rows() {
				row.Record.Table = i
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// urls are the clients' redirect urls as the workbooks show them. A row with
// another client's id shows another client's url.
func (r *recall) urls() (map[mapping.Identity]string, error) {
	ids, err := r.clientIDs()
	if err != nil {
		return nil, err
	}
	urls := map[mapping.Identity]string{}
	for row, err := range r.rows() {
		if err != nil {
			return nil, err
		}
		if row.URL == "" {
			continue
		}
		who := r.setup.binding.Client(row.Record)
		if id := ids[who]; row.ClientID == "" || id == "" || row.ClientID == id {
			urls[who] = row.URL
		}
	}
	return urls, nil
}

// clientIDs are the clients' ids as the sheets Steps show them.
func (r *recall) clientIDs() (map[mapping.Identity]string, error) {
	ids := map[mapping.Identity]string{}
	for _, src := range r.setup.sources {
		for line, err := range stepLines(src.input) {
			if err != nil {
				return nil, err
			}
			if line.Step == string(mapping.ClientStep) {
				ids[line.Identity(r.setup.binding.KeySpace())] = line.ID
			}
		}
	}
	return ids, nil
}
