package ledgertest

import (
	"errors"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
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

func (s suite) testRowsComeInSheetOrderAndTheLastWordCounts(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
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

func (s suite) testRunStepsShowTheCurrentState(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
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

func (s suite) testReadingInsideALoopOverRows(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
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
func (s suite) testWriteErrorStopsTheLedger(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "x")
	id := jane("", "client")
	do(t, l.Append(story(id)[0]))
	do(t, l.AddRows("never started", ledger.ClientKey{}, result.Row{Row: 2}))
	for what, write := range map[string]func() error{
		"Flush":    l.Flush,
		"Append":   func() error { return l.Append(story(id)[1]) },
		"StartRun": func() error { return l.StartRun(loans) },
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
	events, err := s.open(t, dir, "x").Events(t.Context(), id)
	do(t, err)
	same(t, "events", events, story(id)[:1])
}

func (s suite) testClosedLedgerIsStopped(t *testing.T) {
	l := s.fresh(t)
	do(t, l.Close())
	if err := l.Append(story(jane("", "client"))[0]); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	do(t, l.Close())
}

func (s suite) testSameInput(t *testing.T) {
	l := s.fresh(t)
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
		made := loans
		made.ID = r.id
		r.change(&made)
		do(t, l.StartRun(made))
		if r.finished {
			made.Finished, made.Summary = noon.Add(time.Duration(i)*time.Hour), []byte(r.id)
			do(t, l.FinishRun(made))
		}
	}
	tonight := loans
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

func (s suite) testCountUnsettled(t *testing.T) {
	l := s.fresh(t)
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

func (s suite) testRunStepsAsOfAnEvent(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
	id := jane("", "client")
	do(t, l.AddRunSteps("r1", 1, ledger.RunStep{StepID: id, Kind: "client"}))
	do(t, l.Flush())
	want := []result.Step{
		{State: "planned"},
		{State: "intent", At: noon, Attempts: 1},
		{State: "failed", At: noon.Add(time.Second), Status: 400, Attempts: 1},
		{State: "intent", At: noon.Add(time.Minute), Attempts: 2},
		{State: "done", At: noon.Add(time.Minute + time.Second), Status: 201, ID: "c-1", Attempts: 2},
	}
	for i, e := range append(story(id), ledger.Event{StepID: id, To: ledger.Done, At: noon.Add(time.Hour), Via: ledger.ViaByHand, ID: "c-2"}) {
		number, err := l.LastEvent(t.Context())
		do(t, err)
		same(t, "last event", number, int64(i))
		do(t, l.Append(e))
	}
	for i, step := range want {
		got := collect(t, l.RunSteps(t.Context(), "r1", int64(i)))
		step.Number, step.Client, step.ClientKey, step.Step, step.Kind = 1, 1, id.Client, id.Step, "client"
		same(t, "step", got[0], step)
	}
}

func (s suite) testRunsAreTheNewestFirst(t *testing.T) {
	l := s.fresh(t)
	for i, id := range []string{"r1", "r2"} {
		ranRow(t, l, id, i, "loans", "leads.xlsx", jane("", "").ClientKey, result.Failed)
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
	rows, err := l.RowsOfClient(t.Context(), jane("", "").ClientKey)
	do(t, err)
	same(t, "rows", len(rows), 2)
}
