package ledger_test

import (
	"errors"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

var run = ledger.Run{ID: "r1", Environment: "https://uat.example.com/api", EnvironmentName: "uat", Mapping: "loans",
	MappingFile: "mapping.yaml", MappingDigest: "m", Input: "leads.xlsx", InputDigest: "i", KeptInput: "inputs/i.xlsx",
	Version: "v1.0.0", Started: noon}

func TestLastOutputIsTheLatestOfAnyRun(t *testing.T) {
	l := fresh(t)
	write := func(id, path, digest string) {
		do(t, l.FinishRun(ledger.Run{ID: id, Finished: noon, Output: path, OutputDigest: digest}))
	}
	second := run
	second.ID = "r2"
	do(t, l.StartRun(run))
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

func TestRowsComeInSheetOrderAndTheLastWordCounts(t *testing.T) {
	l := fresh(t)
	do(t, l.StartRun(run))
	rows := []result.Row{
		{Row: 2, Status: "skipped"},
		{Row: 3, Status: "done", Client: 1, ClientID: "c-1", ClaimIDs: []string{"k-1", "k-2"}, URL: "https://uat.example.com/go/1"},
		{Row: 4, Status: "done", Client: 1, ClientID: "c-1", ClaimIDs: []string{"k-1"}, Contacts: []string{"partner: p-1", "broker: p-2"}},
		{Row: 5, Status: "failed", Client: 1, ClientID: "c-1", Contacts: []string{"partner: p-1"}},
		{Row: 10, Status: "failed", Client: 1, FailedStep: "link", Error: "refused", Advice: "ask"},
	}
	do(t, l.AddRows("r1", ledger.ClientKey{}, result.Row{Row: 10, Status: "not started"}))
	do(t, l.AddRows("r1", jane("", "").ClientKey, rows[4], rows[1], rows[2], rows[3]))
	do(t, l.AddRows("r1", ledger.ClientKey{}, rows[0]))
	do(t, l.Flush())
	same(t, "rows", collect(t, l.Rows(t.Context(), "r1", ledger.Newest)), rows)
	same(t, "rows of another run", len(collect(t, l.Rows(t.Context(), "r2", ledger.Newest))), 0)
}

func TestRunStepsShowTheCurrentState(t *testing.T) {
	l := fresh(t)
	do(t, l.StartRun(run))
	client := ledger.RunStep{StepID: jane("", "client"), Kind: "client", Title: "client"}
	link := ledger.RunStep{StepID: jane("loans", "link"), Kind: "link", Title: "magic link"}
	other := client
	other.Client = "john@example.com"
	do(t, l.AddRunSteps("r1", 2, other))
	do(t, l.AddRunSteps("r1", 1, client, link))
	do(t, l.Append(story(client.StepID)...)) // also durable: the steps queued before

	got := collect(t, l.RunSteps(t.Context(), "r1", ledger.Newest))
	done := story(client.StepID)[3]
	same(t, "run steps", got, []result.Step{
		{Number: 1, Client: 1, ClientKey: client.Client, Step: "client", Kind: "client", Title: "client",
			State: "done", ID: done.ID, Attempts: 2, Status: done.Status, At: done.At},
		{Number: 2, Client: 1, ClientKey: client.Client, Step: "link", Kind: "link", Title: "magic link", State: "planned"},
		{Number: 3, Client: 2, ClientKey: "john@example.com", Step: "client", Kind: "client", Title: "client", State: "planned"}})
}

func TestReadingInsideALoopOverRows(t *testing.T) {
	l := fresh(t)
	do(t, l.StartRun(run))
	for i := range 100 {
		do(t, l.AddRows("r1", jane("", "").ClientKey, result.Row{Row: i + 2, Status: "done"}))
	}
	do(t, l.Append(story(jane("", "client"))...))
	seen := 0
	for _, err := range l.Rows(t.Context(), "r1", ledger.Newest) {
		do(t, err)
		steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "loans")
		do(t, err)
		same(t, "steps", len(steps), 1)
		if seen++; seen == 50 {
			break // leaving early releases the connection, or Close would not fold the log
		}
	}
}

// A row of a run that was never started cannot be stored; any other write
// error takes the same way.
func TestWriteErrorStopsTheLedger(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir+"/ledger.db")
	id := jane("", "client")
	do(t, l.Append(story(id)[0]))
	do(t, l.AddRows("never started", ledger.ClientKey{}, result.Row{Row: 2}))
	for what, write := range map[string]func() error{
		"Flush":    l.Flush,
		"Append":   func() error { return l.Append(story(id)[1]) },
		"StartRun": func() error { return l.StartRun(run) },
		"MarkInterrupted": func() error {
			_, err := l.MarkInterrupted("r2", noon)
			return err
		},
	} {
		if err := write(); !errors.Is(err, ledger.ErrStopped) {
			t.Errorf("%s: got %v, want ErrStopped", what, err)
		}
	}
	if err := l.Close(); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("Close: got %v, want ErrStopped", err)
	}
	events, err := open(t, dir+"/ledger.db").Events(t.Context(), id)
	do(t, err)
	same(t, "events", events, story(id)[:1])
}

func TestClosedLedgerIsStopped(t *testing.T) {
	l := fresh(t)
	do(t, l.Close())
	if err := l.Append(story(jane("", "client"))[0]); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	do(t, l.Close())
}

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
			made.Finished, made.Summary = noon.Add(time.Duration(i)*time.Hour), []byte(r.id)
			do(t, l.FinishRun(made))
		}
	}
	tonight := run
	tonight.ID = "tonight"
	got, ok, err := l.SameInput(t.Context(), tonight)
	do(t, err)
	same(t, "found", ok, true)
	same(t, "the latest", got, ledger.EarlierRun{ID: "second", Started: noon.Add(24 * time.Hour), Summary: []byte("second")})

	tonight.ID, tonight.InputDigest = "other sheet", "j"
	_, ok, err = l.SameInput(t.Context(), tonight)
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

// TestLatestOutputs are all the workbooks of the newest run that wrote any, wherever
// they were written again; RunAfter is the run that came next.
func TestLatestOutputs(t *testing.T) {
	l := fresh(t)
	for i, r := range []struct{ id, mapping, output string }{
		{"r1", "loans", "a.xlsx"}, {"r2", "loans", "b.xlsx"}, {"killed", "loans", ""}, {"cards", "cards", "c.xlsx"},
	} {
		began := run
		began.ID, began.Mapping, began.Started = r.id, r.mapping, noon.Add(time.Duration(i)*time.Hour)
		do(t, l.StartRun(began))
		if began.Output = r.output; r.output != "" {
			do(t, l.FinishRun(began))
		}
	}
	outputs := func(mapping string, want ...string) {
		t.Helper()
		got, err := l.LatestOutputs(t.Context(), run.Environment, mapping)
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
