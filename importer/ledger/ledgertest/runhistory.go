package ledgertest

import (
	"errors"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

func (s suite) testLastOutputIsTheLatestOfAnyRun(t *testing.T) {
	l := s.fresh(t)
	write := func(id, path, digest string) {
		do(t, l.FinishRun(ledger.Run{ID: id, Finished: noon, Output: path, OutputDigest: digest}))
	}
	second := loans
	second.ID = "r2"
	do(t, l.StartRun(loans))
	do(t, l.StartRun(second))
	write("r1", "a.xlsx", "1")
	write("r2", "a.xlsx", "2")
	write("r1", "b.xlsx", "3") // the first run's workbook, written again elsewhere
	for path, want := range map[string]string{"a.xlsx": "2", "b.xlsx": "3", "c.xlsx": ""} {
		digest, ok, err := l.LastOutput(t.Context(), path)
		do(t, err)
		same(t, path, digest, want)
		same(t, path+" known", ok, want != "")
	}
}

func (s suite) testClosedLedgerIsStopped(t *testing.T) {
	l := s.fresh(t)
	do(t, l.Close())
	if err := l.Append(story(jane("", "client"))[0]); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	do(t, l.Close())
}

func (s suite) testCountUnsettled(t *testing.T) {
	l := s.fresh(t)
	put := func(id ledger.StepID, to ledger.State) {
		do(t, l.Append(ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim", Run: "r"}))
		if to != ledger.Sent {
			do(t, l.Append(ledger.Event{StepID: id, To: to, At: noon, Kind: "claim", Run: "r"}))
		}
	}
	put(jane("m", "claim/c/1"), ledger.Uncertain)
	put(jane("m", "claim/c/2"), ledger.Refused)
	put(jane("m", "claim/c/3"), ledger.Sent)
	put(jane("other", "claim/c/1"), ledger.Uncertain)
	put(jane("", "client"), ledger.Uncertain)
	for mapping, want := range map[string]int{"m": 2, "other": 2, "third": 1} {
		got, err := l.CountUnsettled(t.Context(), jane("", "").Environment, mapping)
		do(t, err)
		same(t, mapping, got, want)
	}
	got, err := l.CountUnsettled(t.Context(), "elsewhere", "m")
	do(t, err)
	same(t, "another environment", got, 0)
}

// testLatestOutputs are all the workbooks of the newest run that wrote any, wherever
// they were written again; RunAfter is the run that came next.
func (s suite) testLatestOutputs(t *testing.T) {
	l := s.fresh(t)
	for i, r := range []struct{ id, mapping, output string }{
		{"r1", "loans", "a.xlsx"}, {"r2", "loans", "b.xlsx"}, {"killed", "loans", ""}, {"cards", "cards", "c.xlsx"},
	} {
		began := loans
		began.ID, began.Mapping, began.Started = r.id, r.mapping, noon.Add(time.Duration(i)*time.Hour)
		do(t, l.StartRun(began))
		if began.Output = r.output; r.output != "" {
			do(t, l.FinishRun(began))
		}
	}
	outputs := func(mapping string, want ...string) {
		t.Helper()
		got, err := l.LatestOutputs(t.Context(), loans.Environment, mapping)
		do(t, err)
		same(t, mapping, got, want)
	}
	do(t, l.NoteOutput("r1", "again-1.xlsx", "d"))
	outputs("loans", "b.xlsx")
	do(t, l.NoteOutput("r2", "again-2.xlsx", "d"))
	outputs("loans", "again-2.xlsx", "b.xlsx")
	do(t, l.NoteOutput("cards", "b.xlsx", "d")) // another mapping's run has replaced it
	outputs("loans", "again-2.xlsx")
	outputs("links")
	for id, want := range map[string]string{"r1": "r2", "r2": "killed", "killed": "", "cards": ""} {
		r, _, err := l.Run(t.Context(), id)
		do(t, err)
		next, ok, err := l.RunAfter(t.Context(), r)
		do(t, err)
		same(t, "after "+id, next.ID, want)
		same(t, "after "+id, ok, want != "")
	}
}

func (s suite) testRunsAreTheNewestFirst(t *testing.T) {
	l := s.fresh(t)
	for i, id := range []string{"r1", "r2"} {
		began := loans
		began.ID, began.Started = id, noon.Add(time.Duration(i)*time.Hour)
		do(t, l.StartRun(began))
		do(t, l.FinishRun(ledger.Run{ID: id, Finished: noon, Output: "out.xlsx", OutputDigest: "o"}))
	}
	elsewhere := loans
	elsewhere.ID, elsewhere.Environment = "r3", "https://elsewhere"
	do(t, l.StartRun(elsewhere))
	var ids []string
	for _, r := range collect(t, l.Runs(t.Context(), []string{loans.Environment})) {
		ids = append(ids, r.ID)
	}
	same(t, "runs", ids, []string{"r2", "r1"})
	all, err := l.Environments(t.Context())
	do(t, err)
	same(t, "environments", all, []string{"https://elsewhere", loans.Environment})
	by, ok, err := l.OutputOf(t.Context(), "out.xlsx")
	do(t, err)
	same(t, "who wrote the workbook", by, "r2")
	same(t, "known", ok, true)
	do(t, l.NoteOutput("r1", "out.xlsx", "p"))
	digest, _, err := l.LastOutput(t.Context(), "out.xlsx")
	do(t, err)
	same(t, "digest", digest, "p")
}

// testDropInputs: the newest runs of an environment keep the copies of their sheets.
func (s suite) testDropInputs(t *testing.T) {
	l := s.fresh(t)
	for i, id := range []string{"r1", "r2", "r3", "elsewhere"} {
		began := loans
		began.ID, began.KeptInput, began.Started = id, id+".xlsx", noon.Add(time.Duration(i)*time.Hour)
		if id == "elsewhere" {
			began.Environment = "https://elsewhere"
		}
		do(t, l.StartRun(began))
	}
	keep := func(newest int, want ...string) {
		t.Helper()
		do(t, l.DropInputs(loans.Environment, newest))
		got, err := l.KeptInputs(t.Context())
		do(t, err)
		same(t, "kept", got, want)
	}
	keep(3, "elsewhere.xlsx", "r1.xlsx", "r2.xlsx", "r3.xlsx")
	keep(2, "elsewhere.xlsx", "r2.xlsx", "r3.xlsx")
}
