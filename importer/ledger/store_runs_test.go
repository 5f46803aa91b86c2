package ledger_test

import (
	"errors"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// startRuns starts runs like run, an hour apart; change makes what differs.
func startRuns(t *testing.T, l *ledger.Ledger, change func(*ledger.Run), ids ...string) {
	t.Helper()
	for i, id := range ids {
		r := run
		r.ID, r.Started = id, noon.Add(time.Duration(i)*time.Hour)
		change(&r)
		do(t, l.StartRun(r))
	}
}

// Run: a run is known from its start, and comes back as it ended. The newest runs come first.
func (s store) Run(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(run))
	same(t, "running", known(l.Run(t.Context(), "r1"))(t), run)
	ended := run
	ended.Finished, ended.Output, ended.OutputDigest, ended.Summary = noon.Add(time.Hour), "leads.results.xlsx", "o", []byte("{}")
	do(t, l.FinishRun(ended))
	same(t, "finished", known(l.Run(t.Context(), "r1"))(t), ended)
	same(t, "unknown", known(l.Run(t.Context(), "r9"))(t), ledger.Run{})
	startRuns(t, l, func(r *ledger.Run) { r.Started = r.Started.Add(time.Hour) }, "r2")
	startRuns(t, l, func(r *ledger.Run) { r.Environment = elsewhere }, "r3")
	var ids []string
	for _, r := range must(l.Runs(t.Context(), []string{service}))(t) {
		ids = append(ids, r.ID)
	}
	same(t, "runs", ids, []string{"r2", "r1"})
	same(t, "environments", must(l.Environments(t.Context()))(t), []string{elsewhere, service})
}

// Outputs: a workbook is that of the run that wrote it last. The latest are all those of
// the newest run that wrote any, wherever they were written again.
func (s store) Outputs(t *testing.T) {
	l := s.fresh(t)
	startRuns(t, l, func(r *ledger.Run) {
		if r.ID == "cards" {
			r.Mapping = "cards"
		}
	}, "r1", "r2", "killed", "cards")
	write := func(id, path, digest string) {
		do(t, l.FinishRun(ledger.Run{ID: id, Finished: noon, Output: path, OutputDigest: digest}))
	}
	output := func(path string, want [2]string) { // the digest and the run
		t.Helper()
		run, digest, ok, err := l.OutputOf(t.Context(), path)
		do(t, err)
		same(t, path, [2]string{digest, run}, want)
		same(t, path+" is known", ok, run != "")
	}
	write("r1", "a.xlsx", "1")
	write("r2", "a.xlsx", "2")
	write("r1", "b.xlsx", "3") // the first run's workbook, written again elsewhere
	for path, want := range map[string][2]string{"a.xlsx": {"2", "r2"}, "b.xlsx": {"3", "r1"}, "c.xlsx": {}} {
		output(path, want)
	}
	write("cards", "c.xlsx", "4")
	outputs := func(mapping string, want ...string) {
		t.Helper()
		same(t, mapping, must(l.LatestOutputs(t.Context(), service, mapping))(t), want)
	}
	outputs("loans", "a.xlsx")
	do(t, l.NoteOutput("r2", "again.xlsx", "d"))
	outputs("loans", "a.xlsx", "again.xlsx")
	do(t, l.NoteOutput("cards", "a.xlsx", "5")) // another mapping's run has replaced it
	outputs("loans", "again.xlsx")
	outputs("links")
	output("a.xlsx", [2]string{"5", "cards"})
	for id, want := range map[string]string{"r1": "r2", "r2": "killed", "killed": "", "cards": ""} {
		same(t, "after "+id, known(l.RunAfter(t.Context(), known(l.Run(t.Context(), id))(t)))(t).ID, want)
	}
}

// DropInputs: the newest runs of an environment keep the copies of their sheets.
func (s store) DropInputs(t *testing.T) {
	l := s.fresh(t)
	startRuns(t, l, func(r *ledger.Run) { r.KeptInput = r.ID + ".xlsx" }, "r1", "r2", "r3")
	startRuns(t, l, func(r *ledger.Run) { r.KeptInput, r.Environment = r.ID+".xlsx", elsewhere }, "elsewhere")
	for _, want := range [][]string{{"elsewhere.xlsx", "r1.xlsx", "r2.xlsx", "r3.xlsx"}, {"elsewhere.xlsx", "r2.xlsx", "r3.xlsx"}} {
		do(t, l.DropInputs(service, len(want)-1))
		same(t, "kept", must(l.KeptInputs(t.Context()))(t), want)
	}
}

// ReadOnlyAndClosed: a store that is only read shows what was written, and writes
// nothing; nor does a closed one.
func (s store) ReadOnlyAndClosed(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "read")
	id := jane("", "client")
	do(t, l.Append(story(id)...))
	do(t, l.Close())
	if err := l.Append(story(id)...); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("closed: got %v, want ErrStopped", err)
	}
	do(t, l.Close())
	r := must(s.OpenReadOnly(dir, "read"))(t)
	same(t, "events", must(r.Events(t.Context(), id))(t), story(id))
	last := story(id)[3]
	last.Data, last.Digest = story(id)[2].Data, story(id)[2].Digest
	same(t, "the step", must(r.Steps(t.Context(), id.ClientKey, "loans"))(t)["client"], ledger.Step{Event: last, Attempts: 2})
	for _, err := range []error{r.Append(story(jane("m", "link"))[0]), r.StartRun(run), r.Trust(service), r.Flush()} {
		if !errors.Is(err, ledger.ErrReadOnly) {
			t.Errorf("got %v, want ErrReadOnly", err)
		}
	}
	do(t, r.Close())
	none := must(s.OpenReadOnly(dir, "nowhere"))(t)
	same(t, "steps of a store that is not there", len(must(none.Steps(t.Context(), id.ClientKey, "m"))(t)), 0)
	do(t, none.Close())
}

// Purge: what is older loses its data, and keeps state, id and digest; an
// uncertain step keeps everything.
func (s store) Purge(t *testing.T) {
	id, open := jane("", "client"), jane("loans", "claim/loan/1")
	l := s.fresh(t, story(id)...)
	uncertain := life(open, ledger.Sent, ledger.Uncertain)
	uncertain[0].Data, uncertain[1].Status, uncertain[1].Answer = []byte("{}"), 201, []byte(`{"ref":"k-9"}`)
	do(t, l.Append(uncertain...))
	for _, purge := range []struct {
		environment string
		before      time.Time
		want        []int // steps, and the unsettled ones
	}{
		{elsewhere, noon.AddDate(1, 0, 0), []int{0, 0}},
		{service, noon.Add(30 * time.Second), []int{1, 1}}, // of the first attempt
		{service, noon.AddDate(1, 0, 0), []int{1, 1}},
	} {
		steps, unsettled, err := l.Purge([]string{purge.environment}, "", purge.before)
		do(t, err)
		same(t, "purged", []int{steps, unsettled}, purge.want)
	}
	steps := must(l.Steps(t.Context(), id.ClientKey, "loans"))(t)
	client := steps["client"]
	same(t, "what stays", []string{string(client.State), client.ID, client.Digest, string(client.Data), string(client.Answer), client.URL}, []string{"done", "c-1", "d2", "", "", ""})
	same(t, "the answer of the uncertain step", string(steps[open.Step].Answer), `{"ref":"k-9"}`)
	same(t, "events", len(must(l.Events(t.Context(), id))(t)), 4)
}

// Forget: a client is erased when nothing is open, and recognised afterwards, an e-mail
// address in any case.
func (s store) Forget(t *testing.T) {
	id, open := jane("", "client"), jane("loans", "claim/loan/1")
	l := s.fresh(t, append(story(id), life(open, ledger.Sent)...)...)
	if _, err := l.Forget(id.ClientKey, noon); !errors.Is(err, ledger.ErrUncertain) {
		t.Errorf("while a claim is open: got %v, want ErrUncertain", err)
	}
	do(t, l.Append(life(open, ledger.Refused)...))
	other := of("jim@example.com", "", "client")
	for _, e := range []ledger.Event{life(other, ledger.Refused)[0], life(other, ledger.Sent)[0], life(other, ledger.Refused)[0]} {
		if e.State == ledger.Refused {
			e.Answer = ledger.Words("the client of the key “jane@example.com” has the same e-mail address", "Correct it.")
		}
		do(t, l.Append(e))
	}
	startRuns(t, l, func(r *ledger.Run) { r.KeptInput = r.ID }, "r1")
	startRuns(t, l, func(r *ledger.Run) { r.KeptInput, r.Environment = r.ID, elsewhere }, "elsewhere")
	same(t, "steps", must(l.Forget(id.ClientKey, noon))(t), 2)
	same(t, "sheets that are kept", must(l.KeptInputs(t.Context()))(t), []string{"elsewhere"})
	same(t, "steps under the key", len(must(l.Steps(t.Context(), id.ClientKey, "loans"))(t)), 0)
	stone, at, ok := must(l.Erasures(t.Context(), service))(t).Find(id.ClientKey)
	same(t, "recognised", ok, true)
	same(t, "when", at, noon.Truncate(time.Second))
	left := must(l.StepsOfClient(t.Context(), stone))(t)
	same(t, "steps that are left", len(left), 2)
	for _, step := range left {
		if step.Data != nil || step.Answer != nil || step.URL != "" || step.Digest != "" {
			t.Errorf("a %s step keeps something of the client", step.Kind)
		}
	}
	for _, e := range must(l.Events(t.Context(), other))(t) {
		if len(e.Answer) > 0 {
			t.Errorf("the step of another client keeps %q", e.Answer)
		}
	}
	for key, want := range map[string]int{"jane@example.com": 1, "JANE@example.com": 1, "john@example.com": 0} {
		same(t, key, len(must(l.ClientsNamed(t.Context(), service, key))(t)), want)
	}
	if _, err := l.Forget(id.ClientKey, noon); err == nil {
		t.Error("a client was erased twice")
	}
}

// Transfer: everything of a ledger is in its copy, with the same numbers, and the
// copy goes on from there.
func (s store) Transfer(t *testing.T) {
	claim, open, erased := jane("m", "claim/loan/1"), life(jane("m", "claim/loan/2"), ledger.Sent), of("gone@example.com", "", "client")
	open[0].Data = []byte{0, 1, 2}
	from := s.fresh(t, story(jane("", "client"))...)
	do(t, from.Append(finished(claim, "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11", "")...))
	do(t, from.Append(open...))
	do(t, from.StartRun(run))
	do(t, from.FinishRun(ledger.Run{ID: run.ID, Finished: noon, Output: "out.xlsx", OutputDigest: "o", Summary: []byte("{}")}))
	do(t, from.Trust(service))
	do(t, from.ChangeDefinition(service, "m", func(string) string { return "{}" }))
	do(t, from.Append(finished(erased, "c-9", "")...))
	must(from.Forget(erased.ClientKey, noon))(t)
	addTracked(t, from, ledger.Tracked{Key: "1", ClientID: "c-1"})

	to := s.open(t, t.TempDir(), "to")
	same(t, "steps", must(ledger.Transfer(t.Context(), from, to))(t), 4)
	do(t, to.Check(t.Context()))
	for _, id := range []ledger.StepID{jane("", "client"), claim} {
		same(t, "events of "+id.Step, must(to.Events(t.Context(), id))(t), must(from.Events(t.Context(), id))(t))
	}
	further := jane("m", "claim/loan/9")
	do(t, to.Append(finished(further, "k9", "")...))
	same(t, "intents that were copied", must(to.CountUncertain(t.Context(), service, "m"))(t), 1)
	do(t, to.Check(t.Context()))
	if _, err := ledger.Transfer(t.Context(), from, to); err == nil {
		t.Error("a ledger was copied into one that is not empty")
	}
	same(t, "what was there", len(must(to.Events(t.Context(), further))(t)), 2)
}
