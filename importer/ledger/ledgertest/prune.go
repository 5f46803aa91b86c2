package ledgertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// ranRow is a run, as many hours after noon as hour says, with one row of a client.
func ranRow(t testing.TB, l *ledger.Ledger, id string, hour int, mapping, input string, owner ledger.ClientKey, status result.Status) {
	t.Helper()
	r := loans
	r.ID, r.Mapping, r.Input, r.KeptInput = id, mapping, input, "inputs/"+id
	r.Started = noon.Add(time.Duration(hour) * time.Hour)
	do(t, l.StartRun(r))
	do(t, l.AddRows(id, owner, result.Row{Row: 2, Client: 1, Status: status}))
	r.Finished, r.Summary = r.Started.Add(time.Minute), []byte(`{"all":1}`)
	do(t, l.FinishRun(r))
}

// testOldRuns: of the runs beyond the newest ones, those stay that somebody may need.
func (s suite) testOldRuns(t *testing.T) {
	l := s.fresh(t)
	ann, bob := jane("loans", "claim/loan/1"), jane("loans", "claim/loan/1")
	ann.Client, bob.Client = "ann", "bob"
	do(t, l.Append(finished(ann, ledger.KindClaim, "k1", "")...))
	do(t, l.Append(ledger.Event{StepID: bob, To: ledger.Intent, At: noon, Kind: ledger.KindClaim},
		ledger.Event{StepID: bob, To: ledger.Uncertain, At: noon}))
	ranRow(t, l, "once", 0, "loans", "once.xlsx", ann.ClientKey, result.Done)
	ranRow(t, l, "doubt", 1, "loans", "a.xlsx", bob.ClientKey, result.Uncertain)
	ranRow(t, l, "settled", 2, "loans", "a.xlsx", ann.ClientKey, result.Uncertain)
	ranRow(t, l, "weekly 1", 3, "loans", "weekly.xlsx", ann.ClientKey, result.Done)
	ranRow(t, l, "weekly 2", 4, "loans", "weekly.xlsx", ann.ClientKey, result.Done)
	ranRow(t, l, "cards", 5, "cards", "cards.xlsx", ann.ClientKey, result.Done)
	killed := loans
	killed.ID, killed.Mapping, killed.Started = "killed", "cards", noon.Add(6*time.Hour)
	do(t, l.StartRun(killed))
	ranRow(t, l, "new 1", 7, "loans", "a.xlsx", ann.ClientKey, result.Done)
	ranRow(t, l, "new 2", 8, "loans", "a.xlsx", ann.ClientKey, result.Done)
	elsewhere := loans
	elsewhere.ID, elsewhere.Environment, elsewhere.Started = "elsewhere", "https://elsewhere", noon
	do(t, l.StartRun(elsewhere))

	old := func(keep int) []string {
		t.Helper()
		runs, err := l.OldRuns(t.Context(), []string{loans.Environment, elsewhere.Environment}, keep)
		do(t, err)
		var list []string
		for _, r := range runs {
			list = append(list, fmt.Sprint(r.ID, " ", rowCount(t, l, r.ID), " ", r.Stays))
		}
		return list
	}
	same(t, "beyond two", old(2), []string{"once 1 ", "doubt 1 open", "settled 1 ", "weekly 1 1 ", "weekly 2 1 latest", "cards 1 latest", "killed 0 "})
	same(t, "beyond eight", old(8), []string{"once 1 "})
	same(t, "beyond nine", len(old(9)), 0)

	do(t, l.PruneRun("settled", noon, keepNothing))
	same(t, "afterwards", old(2), []string{"once 1 ", "doubt 1 open", "weekly 1 1 ", "weekly 2 1 latest", "cards 1 latest", "killed 0 "})
}

// testPruneUnknownRun: it is an error that does not stop the ledger.
func (s suite) testPruneUnknownRun(t *testing.T) {
	l := s.fresh(t)
	if err := l.PruneRun("r9", noon, keepNothing); err == nil || errors.Is(err, ledger.ErrStopped) {
		t.Errorf("got %v, want an error of this call only", err)
	}
	do(t, l.Append(finished(jane("", "client"), "client", "x1", "")...))
}

// testPruneRun: a run loses its rows and its list of steps, and nothing else changes.
func (s suite) testPruneRun(t *testing.T) {
	l := s.fresh(t)
	ann := doneClient(t, l, "ann", 1)
	for i, id := range []string{"r1", "r2"} {
		ranRow(t, l, id, i, "loans", "leads.xlsx", jane("", "").ClientKey, result.Done)
		do(t, l.AddRunSteps(id, 1, ledger.RunStep{StepID: ann[0].StepID, Kind: ledger.KindClient}))
		ok, err := l.AddUnchanged(id, ledger.Unchanged{Client: 2, Owner: ann[0].ClientKey, Steps: ann, Rows: []result.Row{unchangedRow("ann", 2, 3, 0)}})
		do(t, err)
		same(t, "added", ok, true)
	}
	do(t, l.Flush())
	steps, err := l.StepsOfClient(t.Context(), ann[0].ClientKey)
	do(t, err)

	do(t, l.PruneRun("r1", noon, keepNothing))
	for id, rows := range map[string]int{"r1": 0, "r2": 2} {
		same(t, id+": rows", len(collect(t, l.Rows(t.Context(), id, ledger.Newest))), rows)
		same(t, id+": steps", len(collect(t, l.RunSteps(t.Context(), id, ledger.Newest))), 2*rows)
		at, pruned, err := l.Pruned(t.Context(), id)
		do(t, err)
		same(t, id+": pruned", pruned, rows == 0)
		same(t, id+": when", at.Equal(noon), rows == 0)
	}
	got, known, err := l.Run(t.Context(), "r1")
	do(t, err)
	same(t, "the run itself", known, true)
	same(t, "its input and summary", got.KeptInput+string(got.Summary), string(keepNothing(nil)))
	rows, err := l.RowsOfClient(t.Context(), ann[0].ClientKey)
	do(t, err)
	same(t, "rows of the client", len(rows), 1)
	after, err := l.StepsOfClient(t.Context(), ann[0].ClientKey)
	do(t, err)
	same(t, "steps of the client", after, steps)
	do(t, l.Compact())
}

// testPruneKeepsOpenPlans: the newest plan of a client whose link is not done stays,
// because a fresh link would overtake what it has not sent yet.
func (s suite) testPruneKeepsOpenPlans(t *testing.T) {
	l := s.fresh(t)
	open, again, done := jane("loans", "link"), jane("loans", "link"), jane("loans", "link")
	open.Client, again.Client, done.Client = "open", "again", "done"
	do(t, l.Append(finished(done, ledger.KindLink, "", "https://go/1")...))
	plan := func(run string, client int, id ledger.StepID) {
		do(t, l.AddRows(run, id.ClientKey, result.Row{Row: client + 1, Client: client, Status: result.Failed}))
		do(t, l.AddRunSteps(run, client, ledger.RunStep{StepID: ledger.StepID{ClientKey: id.ClientKey, Mapping: "loans", Step: "activity/a@client"}, Kind: ledger.KindActivity},
			ledger.RunStep{StepID: id, Kind: ledger.KindLink}))
	}
	ranRow(t, l, "r1", 0, "loans", "a.xlsx", open.ClientKey, result.Failed)
	ranRow(t, l, "r2", 1, "loans", "a.xlsx", open.ClientKey, result.Done)
	plan("r1", 1, open)
	plan("r1", 2, again)
	plan("r1", 3, done)
	plan("r2", 1, again)
	do(t, l.PruneRun("r1", noon, keepNothing))
	for _, c := range []struct {
		id    ledger.StepID
		steps int
	}{{open, 2}, {again, 2}, {done, 0}} {
		steps, err := l.PlanOfClient(t.Context(), c.id.ClientKey, "loans")
		do(t, err)
		same(t, c.id.Client, len(steps), c.steps)
	}
}

// The sheets of one command started at the same time, and are one run.
func (s suite) testSheetsOfOneCommandAreOneRun(t *testing.T) {
	l := s.fresh(t)
	ann := jane("loans", "claim/loan/1")
	do(t, l.Append(finished(ann, ledger.KindClaim, "k1", "")...))
	for night := range 2 {
		for sheet := range 3 {
			name := fmt.Sprint("night ", night, " sheet ", sheet)
			ranRow(t, l, name, night, "loans", name, ann.ClientKey, result.Done)
		}
	}
	for keep, want := range []int{6, 3, 0} {
		old, err := l.OldRuns(t.Context(), []string{loans.Environment}, keep)
		do(t, err)
		same(t, fmt.Sprint("beyond ", keep), len(old), want)
	}
}

func rowCount(t *testing.T, l *ledger.Ledger, run string) int {
	t.Helper()
	n, err := l.CountRows(t.Context(), run)
	do(t, err)
	return n
}
