package ledger_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"claimsheet/importer/ledger"
)

// TestStepsOfClientsAreSteps asks for many clients at once: known and unknown ones,
// one twice and one of another environment, more than one query takes, and from more
// callers than there are readers.
func TestStepsOfClientsAreSteps(t *testing.T) {
	t.Parallel()
	l := fresh(t)
	environment := jane("", "").Environment
	owners := []ledger.ClientKey{{Environment: "https://other.example.com", Space: "email", Client: "client-0"}}
	for i := range 150 {
		owner := jane("", "").ClientKey
		owner.Client = fmt.Sprint("client-", i)
		owners = append(owners, owner)
		if i%7 == 3 {
			continue
		}
		for _, id := range []ledger.StepID{{Step: "client"}, {Mapping: "m", Step: "claim/c/1"}, {Mapping: "other", Step: "claim/c/1"}} {
			id.ClientKey = owner
			do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim", Data: []byte(owner.Client), Digest: "d"}))
		}
	}
	owners = append(owners, owners[1], ledger.ClientKey{Environment: environment})
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() {
			all, err := l.StepsOfClients(t.Context(), environment, "m", owners)
			if err != nil || len(all) != len(owners) {
				t.Error(len(all), err)
				return
			}
			for i, owner := range owners {
				want, err := l.Steps(t.Context(), owner, "m")
				if err != nil {
					t.Error(err)
				}
				if known := owner.Environment == environment && owner.Client != "" && (i-1)%7 != 3 || i == 151; known != (len(want) == 2) {
					t.Errorf("%v: Steps returns %v", owner, want)
				}
				if len(want)+len(all[i]) > 0 && !reflect.DeepEqual(all[i], want) {
					t.Errorf("%v: %v, expected %v", owner, all[i], want)
				}
			}
		})
	}
	callers.Wait()
	do(t, l.Close())
	if _, err := l.StepsOfClients(t.Context(), environment, "m", owners); err == nil {
		t.Error("a closed ledger answers")
	}
}

// TestAReaderIsUsedAgain asks one question after the other, which needs one connection.
func TestAReaderIsUsedAgain(t *testing.T) {
	t.Parallel()
	l := fresh(t)
	for range 10 {
		_, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
		do(t, err)
	}
	if open := l.OpenReaders(); open != 1 {
		t.Errorf("%d readers are open, expected 1", open)
	}
}
