package ledger_test

import (
	"errors"
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
)

// TestCountAfterARejectedCall: the events of a rejected call, which were rolled back,
// are not counted as committed.
func TestCountAfterARejectedCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	do(t, l.Append(made(jane("", "client"), ledger.KindClient, "c-1")))
	err := l.Append(
		made(jane("nightly", "claim/a"), ledger.KindClaim, "k-1"),
		made(jane("nightly", "claim/b"), ledger.KindClaim, "k-1"))
	if !errors.As(err, new(ledger.Taken)) {
		t.Fatalf("error %v", err)
	}
	do(t, l.Close())
	have, committed, err := open(t, path).Behind(t.Context())
	do(t, err)
	if have != 1 || committed != have {
		t.Errorf("the ledger has %d events, %d are counted", have, committed)
	}
}

// made is the event by which a workbook's step becomes done.
func made(id ledger.StepID, kind, created string) ledger.Event {
	return ledger.Event{StepID: id, To: ledger.Done, Kind: kind, ID: created, At: noon, Via: ledger.ViaWorkbook}
}
