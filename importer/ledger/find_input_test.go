package ledger_test

import (
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

func TestSameInput(t *testing.T) {
	l := fresh(t)
	runs := []struct {
		id       string
		change   func(*ledger.Run)
		finished bool
	}{
		{"first", func(*ledger.Run) {}, true},
		{"second", func(r *ledger.Run) { r.Started = noon.Add(24 * time.Hour) }, true},
		{"killed", func(*ledger.Run) {}, false},
		{"other sheet", func(r *ledger.Run) { r.InputDigest = "j" }, true},
		{"other mapping", func(r *ledger.Run) { r.Mapping = "cards" }, true},
		{"other environment", func(r *ledger.Run) { r.Environment = "https://prod.example.com/api" }, true},
	}
	for i, r := range runs {
		made := run
		made.ID = r.id
		r.change(&made)
		do(t, l.StartRun(made))
		if r.finished {
			made.Finished = noon.Add(time.Duration(i) * time.Hour)
			do(t, l.FinishRun(made))
		}
	}
	do(t, l.AddRows("second", ledger.ClientKey{}, result.Row{Row: 2, Status: "skipped"}, result.Row{Row: 3, Status: "done"}))
	do(t, l.AddRows("first", ledger.ClientKey{}, result.Row{Row: 2, Status: "skipped"}))
	do(t, l.Flush())

	tonight := run
	tonight.ID = "tonight"
	got, ok, err := l.SameInput(t.Context(), tonight, "skipped")
	do(t, err)
	same(t, "found", ok, true)
	same(t, "the latest", got, ledger.EarlierRun{ID: "second", Started: noon.Add(24 * time.Hour), Rows: 1})

	tonight.ID, tonight.InputDigest = "other sheet", "j"
	_, ok, err = l.SameInput(t.Context(), tonight, "skipped")
	do(t, err)
	same(t, "itself", ok, false)
}

func TestCountUnsettled(t *testing.T) {
	l := fresh(t)
	put := func(id ledger.StepID, to ledger.State) {
		do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim", Run: "r"}))
		if to != ledger.Intent {
			do(t, l.Append(ledger.Event{StepID: id, To: to, At: noon, Kind: "claim", Run: "r"}))
		}
	}
	put(jane("m", "claim/c/1"), ledger.Uncertain)
	put(jane("m", "claim/c/2"), ledger.Failed)
	put(jane("m", "claim/c/3"), ledger.Intent)
	put(jane("other", "claim/c/1"), ledger.Uncertain)
	put(jane("", "client"), ledger.Parked)
	for mapping, want := range map[string]int{"m": 2, "other": 2, "third": 1} {
		got, err := l.CountUnsettled(t.Context(), jane("", "").Environment, mapping)
		do(t, err)
		same(t, mapping, got, want)
	}
	got, err := l.CountUnsettled(t.Context(), "elsewhere", "m")
	do(t, err)
	same(t, "another environment", got, 0)
}
