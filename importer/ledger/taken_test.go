package ledger_test

import (
	"claimsheet/importer/ledger"
)

// finished are the events of a step that ends with an id and a url.
func finished(id ledger.StepID, kind, created, url string) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Sent, At: noon, Kind: kind},
		{StepID: id, To: ledger.Done, At: noon, Kind: kind, Via: ledger.ViaAnswer, ID: created, URL: url},
	}
}
