package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"claimsheet/importer/ledger"
)

// TestBytesOfAStep: what a step takes of the file beside its bodies, for the six of a client in the
// order in which a run makes them.
func TestBytesOfAStep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	const clients, most = 1000, 320 // of them, a page holds no part of a row: up to 65
	bodies := 0
	var events []ledger.Event
	for n := range clients {
		for i, step := range []string{"client", "claim/loan/%d", "activity/details@client", "activity/agreement@loan/%d", "activity/sign@client", "link"} {
			id := ledger.StepID{ClientKey: ledger.ClientKey{Environment: "https://uat.example.com/api", Space: "email", Client: fmt.Sprintf("client-%d@example.com", n)}, Mapping: "bench", Step: step}
			if bytes.Contains([]byte(step), []byte("%d")) {
				id.Step = fmt.Sprintf(step, n)
			}
			kind := []string{ledger.KindClient, ledger.KindClaim, ledger.KindActivity, ledger.KindActivity, ledger.KindActivity, ledger.KindLink}[i]
			if i == 0 {
				id.Mapping = ""
			}
			created, url := uuid.NewString(), ""
			if i == 5 {
				created, url = "", "https://uat.example.com/go/"+uuid.NewString()
			}
			request, answer := bytes.Repeat([]byte("x"), 300), []byte(fmt.Sprintf(`{"id":%q,"status":"created","at":"2026-11-25T22:00:00Z"}`, created+url))
			bodies += len(request) + len(answer)
			at := noon.Add(time.Duration(n*6+i) * 17 * time.Millisecond)
			events = append(events,
				ledger.Event{StepID: id, To: ledger.Sent, At: at, Run: "11111111-2222-4333-8444-555555555501", Kind: kind, Data: request, Digest: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
				ledger.Event{StepID: id, To: ledger.Done, At: at.Add(21 * time.Millisecond), Run: "11111111-2222-4333-8444-555555555501", Via: ledger.ViaAnswer, Status: 201, Answer: answer, ID: created, URL: url})
		}
	}
	for from := 0; from < len(events); from += 2 * 32 {
		some := events[from:min(from+2*32, len(events))]
		for parity := range 2 { // the intents of many clients come before their outcomes
			var call []ledger.Event
			for i := parity; i < len(some); i += 2 {
				call = append(call, some[i])
			}
			do(t, l.Append(call...))
		}
	}
	do(t, l.Close())
	info, err := os.Stat(path)
	do(t, err)
	got := (info.Size() - int64(bodies)) / (clients * 6)
	t.Logf("%d bytes a step, and its bodies of %d", got, bodies/(clients*6))
	if got > most {
		t.Errorf("a step takes %d bytes beside its bodies, want at most %d", got, most)
	}
}
