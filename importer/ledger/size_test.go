package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"claimsheet/importer/ledger"
)

// TestBytesOfAStep: what a step takes of the file beside its bodies, for the six of a client in the
// order in which a run makes them.
func TestBytesOfAStep(t *testing.T) {
	t.Parallel()
	l := fresh(t)
	const clients, most = 1000, 320 // of them, a page holds no part of a row: up to 65
	const runID, digest = "11111111-2222-4333-8444-555555555501", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	bodies, at := 0, noon
	for first := 0; first < clients; first += 8 { // the intents of several clients come before their outcomes
		var intents, outcomes []ledger.Event
		for n := first; n < first+8; n++ {
			for _, step := range []string{"client", fmt.Sprint("claim/loan/", n), "activity/details@client", fmt.Sprint("activity/agreement@loan/", n), "activity/sign@client", "link"} {
				mapping, id, url := "bench", uuid.NewString(), ""
				switch step {
				case "client":
					mapping = ""
				case "link":
					id, url = "", "https://uat.example.com/go/"+id
				}
				events := finished(of(fmt.Sprintf("client-%d@example.com", n), mapping, step), id, url)
				events[0].At, events[0].Run, events[0].Data, events[0].Digest = at, runID, bytes.Repeat([]byte("x"), 300), digest
				events[1].At, events[1].Run, events[1].Status = at.Add(21*time.Millisecond), runID, 201
				events[1].Answer = fmt.Appendf(nil, `{"id":%q,"status":"created","at":"2026-11-25T22:00:00Z"}`, id+url)
				bodies += len(events[0].Data) + len(events[1].Answer)
				at = at.Add(17 * time.Millisecond)
				intents, outcomes = append(intents, events[0]), append(outcomes, events[1])
			}
		}
		do(t, l.Append(intents...))
		do(t, l.Append(outcomes...))
	}
	do(t, l.Close())
	info := must(os.Stat(l.Path()))(t)
	got := (info.Size() - int64(bodies)) / (clients * 6)
	t.Logf("%d bytes a step, and its bodies of %d", got, bodies/(clients*6))
	if got > most {
		t.Errorf("a step takes %d bytes beside its bodies, want at most %d", got, most)
	}
}
