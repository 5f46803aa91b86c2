package ledger_test

import (
	"strings"
	"testing"

	"claimsheet/importer/ledger"
)

var (
	states = [...]ledger.State{ledger.Sent, ledger.Done, ledger.Refused, ledger.Uncertain, ledger.Closed}
	vias   = [...]string{"", ledger.ViaAnswer, ledger.ViaAdopted, ledger.ViaByHand, ledger.ViaWorkbook, ledger.ViaRepeatable, ledger.ViaJournal, ledger.ViaSheet, ledger.ViaConflict}
	kinds  = [...]string{ledger.KindClient, ledger.KindClaim, ledger.KindActivity, ledger.KindLink}
)

func TestRefusalNamesNoPersonalData(t *testing.T) {
	l := fresh(t)
	err := l.Append(ledger.Event{StepID: jane("loans", "claim/loan/secret-key"), To: ledger.Done, At: noon, Kind: "claim"})
	for _, canary := range []string{"jane", "secret-key"} {
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("got %v, want a refusal without %q", err, canary)
		}
	}
}
