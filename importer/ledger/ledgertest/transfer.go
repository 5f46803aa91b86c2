package ledgertest

import (
	"testing"

	"claimsheet/importer/ledger"
)

// testTransfer: everything of a ledger is in its copy, with the same numbers, and the
// copy goes on from there.
func (s suite) testTransfer(t *testing.T) {
	from := s.tracked(t)
	to := s.open(t, t.TempDir(), "to")
	copied, err := ledger.Transfer(t.Context(), from, to, nil)
	do(t, err)
	same(t, "steps", copied.Steps, int64(4))
	do(t, to.Check(t.Context()))
	for _, id := range []ledger.StepID{jane("", "client"), jane("m", "claim/loan/1")} {
		was, err := from.Events(t.Context(), id)
		do(t, err)
		is, err := to.Events(t.Context(), id)
		do(t, err)
		same(t, "events of "+id.Step, is, was)
	}
	do(t, to.Append(finished(jane("m", "claim/loan/9"), ledger.KindClaim, "k9", "")...))
	n, err := to.MarkInterrupted("r2", noon)
	do(t, err)
	same(t, "intents that were copied", n, 1)
	do(t, to.Check(t.Context()))
	if _, err := ledger.Transfer(t.Context(), from, to, nil); err == nil {
		t.Error("a ledger was copied into one that is not empty")
	}
	events, err := to.Events(t.Context(), jane("m", "claim/loan/9"))
	do(t, err)
	same(t, "what was there", len(events), 2)
}

// tracked is a ledger with something in every table, and an intent.
func (s suite) tracked(t *testing.T) *ledger.Ledger {
	t.Helper()
	l := s.fresh(t)
	do(t, l.StartRun(loans))
	for _, made := range [][]ledger.Event{
		story(jane("", "client")), finished(jane("m", "claim/loan/1"), ledger.KindClaim, "7d0c0f3e-2f0e-4c53-9d25-0d4b9a0f7a11", ""),
		{{StepID: jane("m", "claim/loan/2"), To: ledger.Sent, At: noon, Kind: ledger.KindClaim, Data: []byte{0, 1, 2}}},
	} {
		do(t, l.Append(made...))
	}
	ended := loans
	ended.Finished, ended.Output, ended.OutputDigest, ended.Summary = noon, "out.xlsx", "o", []byte("{}")
	do(t, l.FinishRun(ended))
	do(t, l.Trust(loans.Environment))
	do(t, define(l, loans.Environment, "m", "{}"))
	erased := jane("", "client")
	erased.Client = "gone@example.com"
	do(t, l.Append(finished(erased, ledger.KindClient, "c-9", "")...))
	_, err := l.Forget(erased.ClientKey, noon)
	do(t, err)
	addTracked(t, l, ledger.Tracked{Key: "1", ClientID: "c-1"})
	return l
}
