package importer_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claimsheet/importer"
	"claimsheet/importer/ledger"
	"claimsheet/mapping/problem"
)

var settleTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func settleStep(client, step string) ledger.StepID {
	id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "https://uat.example.com", Space: "email", Client: client}, Mapping: "loans", Step: step}
	if step == "client" {
		id.Mapping = ""
	}
	return id
}

// settleLedger has uncertain steps, and the client ann, who is done.
func settleLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	events := []ledger.Event{
		{StepID: settleStep("ann", "client"), To: ledger.Done, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: "contact-1"},
	}
	for id, kind := range map[ledger.StepID]string{
		settleStep("ann", "claim/loan/1"): ledger.KindClaim, settleStep("ann", "claim/loan/2"): ledger.KindClaim,
		settleStep("ann", "activity/a@loan/1"): ledger.KindActivity, settleStep("ann", "link"): ledger.KindLink,
		settleStep("bob", "client"): ledger.KindClient,
	} {
		events = append(events,
			ledger.Event{StepID: id, To: ledger.Intent, Kind: kind}, ledger.Event{StepID: id, To: ledger.Uncertain, Reason: "no answer"})
	}
	for i := range events {
		events[i].At = settleTime
	}
	if err := l.Append(events...); err != nil {
		t.Fatal(err)
	}
	return l
}

func settleStates(t *testing.T, l *ledger.Ledger) map[string]string {
	t.Helper()
	states := map[string]string{}
	for _, client := range []string{"ann", "bob"} {
		steps, err := l.Steps(t.Context(), settleStep(client, "").ClientKey, "loans")
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range steps {
			states[client+" "+name] = string(s.To) + " " + s.ID + s.URL
		}
	}
	return states
}

func created(client, step, value string) importer.Settlement {
	return importer.Settlement{Step: settleStep(client, step), Decision: importer.Decision{Choice: importer.WasCreated, Value: value}}
}

func decided(client, step string, choice importer.Choice) importer.Settlement {
	return importer.Settlement{Step: settleStep(client, step), Decision: importer.Decision{Choice: choice}}
}

func TestSettle(t *testing.T) {
	l := settleLedger(t)
	settler := importer.Settler{Ledger: l, Run: "run-2"}
	err := settler.Settle(t.Context(),
		created("ann", "claim/loan/1", "claim-1"),
		decided("ann", "claim/loan/2", importer.NotCreated),
		created("ann", "activity/a@loan/1", ""),
		created("ann", "link", "https://claims.example.com/go/1"),
		decided("bob", "client", importer.GiveUp))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"ann client": "done contact-1", "ann claim/loan/1": "done claim-1", "ann claim/loan/2": "failed ",
		"ann activity/a@loan/1": "done ", "ann link": "done https://claims.example.com/go/1", "bob client": "given up ",
	}
	if diff := cmp.Diff(want, settleStates(t, l)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// TestSettleAllOrNone finds every problem, each at its place, and writes
// nothing: not the good decisions beside them either.
func TestSettleAllOrNone(t *testing.T) {
	at := func(one importer.Settlement, row int) importer.Settlement {
		one.Where = problem.Where{Sheet: "Steps", Row: row}
		return one
	}
	l := settleLedger(t)
	before := settleStates(t, l)
	settler := importer.Settler{Ledger: l, Run: "run-2", ActivityIDs: true}
	err := settler.Settle(t.Context(),
		at(created("bob", "client", "contact-1"), 9),
		at(created("ann", "claim/loan/1", "claim-1"), 2),
		at(created("ann", "claim/loan/2", "claim-1"), 3),
		at(created("ann", "activity/a@loan/1", ""), 4),
		at(decided("ann", "claim/loan/1", importer.GiveUp), 5),
		at(created("ann", "client", "contact-2"), 6),
		at(decided("eve", "client", importer.GiveUp), 7),
		at(importer.Settlement{Step: settleStep("ann", "link"), Decision: importer.Decision{Choice: importer.NotCreated, Value: "x"}}, 8))
	var list problem.List
	if !errors.As(err, &list) {
		t.Fatalf("%v; want problems", err)
	}
	var got []string
	for _, p := range list {
		got = append(got, p.Where.String()+" "+p.Code)
	}
	want := []string{"Steps!3 id-taken", "Steps!4 no-id", "Steps!5 decided-twice", "Steps!6 not-uncertain",
		"Steps!7 unknown-step", "Steps!8 needless-value", "Steps!9 id-taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, settleStates(t, l)); diff != "" {
		t.Errorf("the ledger has changed (-before +after):\n%s", diff)
	}
}
