package ledger_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
)

// fill appends steps until the ledger refuses, and returns those of which each
// event was acknowledged. The ledger must have stopped then, for good.
func fill(t *testing.T, l *ledger.Ledger, first int) (intents, done []ledger.StepID) {
	t.Helper()
	body := []byte(strings.Repeat("x", 700))
	for i := first; i < first+2000; i++ {
		id := jane("m", fmt.Sprint("claim/c/", i))
		err := l.Append(ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim", Data: body})
		if err == nil {
			intents = append(intents, id)
			err = l.Append(ledger.Event{StepID: id, To: ledger.Done, Via: ledger.ViaAnswer, At: noon, ID: id.Step, Answer: body})
		}
		if err == nil {
			done = append(done, id)
			continue
		}
		next := jane("m", fmt.Sprint("claim/c/", i+1))
		for what, err := range map[string]error{
			"the Append that could not be written": err,
			"the next Append":                      l.Append(ledger.Event{StepID: next, To: ledger.Sent, At: noon, Kind: "claim"}),
			"Flush":                                l.Flush(),
		} {
			if !errors.Is(err, ledger.ErrStopped) {
				t.Fatalf("%s: got %v, want ErrStopped", what, err)
			}
		}
		return intents, done
	}
	t.Fatal("the disk never became full")
	return nil, nil
}

// kept opens the ledger again and holds it to what it had acknowledged.
func kept(t *testing.T, path string, intents, done []ledger.StepID) {
	t.Helper()
	l := open(t, path)
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
	do(t, err)
	for _, id := range intents {
		if steps[id.Step].To == "" {
			t.Errorf("the intent of %s was acknowledged and is lost", id.Step)
		}
	}
	for _, id := range done {
		if s := steps[id.Step]; s.To != ledger.Done || s.ID != id.Step || len(s.Answer) != 700 {
			t.Errorf("%s was acknowledged as done and is %q with id %q", id.Step, s.To, s.ID)
		}
	}
	// With room again, the ledger goes on.
	do(t, l.Append(ledger.Event{StepID: jane("m", "link"), To: ledger.Sent, At: noon, Kind: "link"}))
	do(t, l.Close())
}

// TestFullAfterSoManyPages lets SQLite run out of room at each of the first pages.
func TestFullAfterSoManyPages(t *testing.T) {
	t.Parallel()
	for n := range testform.LongOr(40, 10) {
		path := filepath.Join(t.TempDir(), "ledger.db")
		l := open(t, path)
		do(t, l.LimitPages(n+1))
		intents, done := fill(t, l, 0)
		if err := l.Close(); !errors.Is(err, ledger.ErrStopped) {
			t.Errorf("Close: got %v, want ErrStopped", err)
		}
		kept(t, path, intents, done)
	}
}
