package ledger_test

import (
	"path/filepath"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

// ranRow is a run, as many hours after noon as hour says, with one row of a client.
func ranRow(t testing.TB, l *ledger.Ledger, id string, hour int, mapping, input string, owner ledger.ClientKey, status result.Status) {
	t.Helper()
	r := run
	r.ID, r.Mapping, r.Input, r.KeptInput = id, mapping, input, "inputs/"+id
	r.Started = noon.Add(time.Duration(hour) * time.Hour)
	do(t, l.StartRun(r))
	do(t, l.AddRows(id, owner, result.Row{Row: 2, Client: 1, Status: status}))
	r.Finished, r.Summary = r.Started.Add(time.Minute), []byte(`{"all":1}`)
	do(t, l.FinishRun(r))
}

// TestOldRunsReadNoLists: a run asks for the old ones at its end, and must not read
// what each of them has. A list that is damaged is not even noticed, and goes with the
// run.
func TestOldRunsReadNoLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	ann := doneClient(t, l, "ann", 1)
	ranRow(t, l, "r1", 0, "loans", "a.xlsx", ann[0].ClientKey, result.Done)
	ok, err := l.AddUnchanged("r1", ledger.Unchanged{Client: 1, Owner: ann[0].ClientKey, Steps: ann, Rows: []result.Row{unchangedRow("ann", 1, 3, 0)}})
	do(t, err)
	same(t, "added", ok, true)
	ranRow(t, l, "r2", 1, "loans", "a.xlsx", ann[0].ClientKey, result.Done)
	same(t, "rows", rowCount(t, l, "r1"), 2)
	database(t, path, `UPDATE run_unchanged SET list = zeroblob(9)`)
	old, err := l.OldRuns(t.Context(), []string{run.Environment}, 1)
	do(t, err)
	same(t, "old runs", old, []ledger.OldRun{{ID: "r1", Started: noon, Input: "a.xlsx"}})
	same(t, "rows that can be read", rowCount(t, l, "r1"), 1)
	kept, err := l.KeptInputs(t.Context())
	do(t, err)
	same(t, "kept inputs", kept, []string{"inputs/r1", "inputs/r2"})
	do(t, l.PruneRun("r1", noon, keepNothing))
	do(t, ledger.Check(path, nil))
	kept, err = l.KeptInputs(t.Context())
	do(t, err)
	same(t, "kept inputs afterwards", kept, []string{"inputs/r2"})
}

func rowCount(t *testing.T, l *ledger.Ledger, run string) int {
	t.Helper()
	n, err := l.CountRows(t.Context(), run)
	do(t, err)
	return n
}
