package ledgertest

import (
	"errors"
	"testing"
	"time"

	"claimsheet/importer/ledger"
	"claimsheet/importer/result"
)

var loans = ledger.Run{ID: "r1", Environment: jane("", "").Environment, EnvironmentName: "uat", Mapping: "loans",
	MappingFile: "mapping.yaml", MappingDigest: "m", Input: "leads.xlsx", InputDigest: "i", KeptInput: "inputs/i.xlsx",
	Version: "v1.0.0", Started: noon}

// testRun: a run is known from its start, once, and comes back as it ended.
func (s suite) testRun(t *testing.T) {
	l := s.fresh(t)
	do(t, l.StartRun(loans))
	if err := l.StartRun(loans); err == nil || errors.Is(err, ledger.ErrStopped) {
		t.Errorf("started twice: got %v, want a refusal", err)
	}
	got, ok, err := l.Run(t.Context(), "r1")
	do(t, err)
	same(t, "known", ok, true)
	same(t, "running", got, loans)

	ended := loans
	ended.Finished, ended.Output, ended.OutputDigest, ended.Summary = noon.Add(time.Hour), "leads.results.xlsx", "o", []byte("{}")
	do(t, l.FinishRun(ended))
	got, _, err = l.Run(t.Context(), "r1")
	do(t, err)
	same(t, "finished", got, ended)

	_, ok, err = l.Run(t.Context(), "r9")
	do(t, err)
	same(t, "unknown run", ok, false)
	if err := l.FinishRun(ledger.Run{ID: "r9"}); err == nil || errors.Is(err, ledger.ErrStopped) {
		t.Errorf("finishing an unknown run: got %v, want a refusal", err)
	}
}

// testRowsAndSteps: the rows and steps of a run come back in the order of the sheet,
// those of unchanged clients between the others, also after the store was closed. They
// are as they were when an event was the newest.
func (s suite) testRowsAndSteps(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "runs")
	client, claim, eve := jane("", "client"), jane("loans", "claim/loan/1"), jane("", "client")
	eve.Client = "eve@example.com"
	do(t, l.Append(finished(client, ledger.KindClient, "c-1", "")...))
	then, err := l.LastEvent(t.Context())
	do(t, err)
	do(t, l.Append(finished(claim, ledger.KindClaim, "k-1", "")...))
	do(t, l.StartRun(loans))
	known, err := l.Steps(t.Context(), client.ClientKey, "loans")
	do(t, err)
	unchanged := result.Row{Row: 3, Client: 1, Status: result.Unchanged, ClientID: "c-1", ClaimIDs: []string{"k-1"}}
	blank := result.Row{Row: 5, Status: result.Skipped, Advice: "the row is empty"}
	for _, u := range []ledger.Unchanged{
		{Rows: []result.Row{blank}},
		{Client: 1, Owner: client.ClientKey, Steps: []ledger.Step{known["client"], known["claim/loan/1"]}, Rows: []result.Row{unchanged}},
	} {
		if ok, err := l.AddUnchanged("r1", u); !ok || err != nil {
			t.Fatalf("rows that follow from the steps are not taken: %v, %v", ok, err)
		}
	}
	other := ledger.Unchanged{Client: 1, Owner: client.ClientKey, Steps: []ledger.Step{known["client"]}, Rows: []result.Row{{Row: 3, Client: 1, Status: result.Unchanged, ClientID: "c-9"}}}
	if ok, err := l.AddUnchanged("r1", other); ok || err != nil {
		t.Errorf("a row with another id than the step's: %v, %v", ok, err)
	}
	failed := result.Row{Row: 4, Client: 2, Status: result.Failed, FailedStep: "client", Error: "refused"}
	replaced := failed
	replaced.Error = ""
	do(t, l.AddRows("r1", eve.ClientKey, replaced))
	do(t, l.AddRows("r1", eve.ClientKey, failed))
	do(t, l.AddRunSteps("r1", 2, ledger.RunStep{StepID: eve, Kind: ledger.KindClient, Title: "Eve"}))
	do(t, l.Flush())
	for _, when := range []string{"open", "opened again"} {
		same(t, when+": rows", collect(t, l.Rows(t.Context(), "r1", ledger.Newest)), []result.Row{unchanged, failed, blank})
		same(t, when+": steps", lines(collect(t, l.RunSteps(t.Context(), "r1", ledger.Newest))),
			[]line{{1, 1, "client", "done", "c-1"}, {2, 1, "claim/loan/1", "done", "k-1"}, {3, 2, "client", "planned", ""}})
		same(t, when+": steps before the claim", lines(collect(t, l.RunSteps(t.Context(), "r1", then)))[1], line{2, 1, "claim/loan/1", "planned", ""})
		rows, err := l.RowsOfClient(t.Context(), client.ClientKey)
		do(t, err)
		same(t, when+": of the client", rows, []ledger.RunRow{{Run: "r1", Result: result.Row{Row: 3, Client: 1, Status: result.Unchanged}}})
		do(t, l.Close())
		l = s.open(t, dir, "runs")
	}
}

// line is what the suite compares of a step in a run.
type line struct {
	number, client  int
	step, state, id string
}

func lines(steps []result.Step) (all []line) {
	for _, s := range steps {
		all = append(all, line{s.Number, s.Client, s.Step, s.State, s.ID})
	}
	return all
}
