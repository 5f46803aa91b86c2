package ledger

import (
	"fmt"
	"testing"

	"claimsheet/importer/testform"
)

// TestClientsInMemoryAreBounded: of new clients, and of those that the ledger has.
func TestClientsInMemoryAreBounded(t *testing.T) {
	testform.OnlyLong(t)
	l, err := OpenScratch(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, e := range []Event{{To: Intent, Kind: KindClient}, {To: NotSent}} {
		var events []Event
		e.At = dawn
		for i := range mostClients + 1000 {
			e.StepID = clientStep(fmt.Sprint(i))
			if events = append(events, e); len(events) == 1000 {
				if err := l.Append(events...); err != nil {
					t.Fatal(err)
				}
				events = nil
			}
		}
		if n := len(l.write.tx.interned.clients); n > mostClients || n == 0 {
			t.Errorf("%s: %d clients are in memory; %d are allowed", e.To, n, mostClients)
		}
		l.write.tx.interned.forget()
	}
}
