package ledger_test

import (
	"errors"
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
)

// finished are the events of a step that ends with an id and a url.
func finished(id ledger.StepID, kind, created, url string) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Intent, At: noon, Kind: kind},
		{StepID: id, To: ledger.Done, At: noon, Kind: kind, Via: ledger.ViaAnswer, ID: created, URL: url},
	}
}

// TestSharedIDs: when two clients of a ledger have one id, the one who was known
// first is returned.
func TestSharedIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	eve := jane("", "client")
	eve.Client = "eve"
	do(t, l.Append(finished(jane("", "client"), ledger.KindClient, "x1", "")...))
	do(t, l.Append(finished(eve, ledger.KindClient, "x2", "")...))
	shared, err := l.SharedIDs(t.Context(), eve.Environment)
	do(t, err)
	same(t, "none", len(shared), 0)
	ledger.Share(l, eve, "x1")
	shared, err = l.SharedIDs(t.Context(), eve.Environment)
	do(t, err)
	same(t, "shared", shared, map[string]ledger.ClientKey{"x1": jane("", "").ClientKey})
	// What it has from before does not keep it from being written.
	do(t, l.Append(ledger.Event{StepID: eve, To: ledger.Done, At: noon, Via: ledger.ViaAnswer, ID: "x1", URL: "https://go/2"}))
}

// TestSharedIDDecided: a step that has an id from an answer cannot become done with it
// when another step, which shares its id, is done with it.
func TestSharedIDDecided(t *testing.T) {
	l := fresh(t)
	of := func(client string) ledger.StepID {
		id := jane("", "client")
		id.Client = client
		return id
	}
	do(t, l.Append(finished(of("a"), "client", "x", "")...))
	do(t, l.Append(finished(of("b"), "client", "y", "")...))
	ledger.Share(l, of("b"), "x")
	do(t, l.Append(ledger.Event{StepID: of("a"), To: ledger.Uncertain, Via: ledger.ViaByHand, At: noon}))
	do(t, l.Append(ledger.Event{StepID: of("c"), To: ledger.Intent, Kind: "client", At: noon}))
	do(t, l.Append(ledger.Event{StepID: of("c"), To: ledger.Uncertain, At: noon, ID: "x"}))
	err := l.Append(ledger.Event{StepID: of("c"), To: ledger.Done, Via: ledger.ViaByHand, At: noon})
	taken, ok := errors.AsType[ledger.Taken](err)
	if !ok || taken.Holder != of("b") {
		t.Errorf("got %v, want an error that names the holder", err)
	}
	// What is done with a shared id stays done with it.
	do(t, l.Append(ledger.Event{StepID: of("b"), To: ledger.Done, Via: ledger.ViaByHand, At: noon, ID: "x"}))
}
