package ledger

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

var dawn = time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)

const takenURL = "https://go/1"

// clientStep is the client step of a client.
func clientStep(client string) StepID {
	return StepID{ClientKey{"https://uat.example.com/api", "email", client}, "", KindClient}
}

// withoutTheURL makes a ledger in which ann's step has an answer with a url, and is
// done without it, because bob's step was done with it first.
func withoutTheURL(t *testing.T) (l *Ledger, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger.db")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	ann, bob := clientStep("ann"), clientStep("bob")
	for _, e := range []Event{
		{StepID: ann, To: Sent, At: dawn.AddDate(0, 0, -90), Kind: KindClient, Data: []byte("{}"), Digest: "d"},
		{StepID: ann, To: Uncertain, At: dawn, Status: 201, Answer: []byte(`{}`), URL: takenURL},
		{StepID: bob, To: Sent, At: dawn, Kind: KindClient},
		{StepID: bob, To: Done, At: dawn, Via: ViaAnswer, ID: "x1", URL: takenURL},
		{StepID: ann, To: Done, At: dawn, Via: ViaByHand, ID: "x2"},
	} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return l, path
}

// annsURL is the url of ann's step now.
func annsURL(t *testing.T, l *Ledger) string {
	t.Helper()
	steps, err := l.Steps(t.Context(), clientStep("ann").ClientKey, "m")
	if err != nil {
		t.Fatal(err)
	}
	return steps[KindClient].URL
}

// sound closes a ledger, and checks it.
func sound(t *testing.T, l *Ledger, path string) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(read.Check(t.Context()), read.Close()); err != nil {
		t.Errorf("a sound ledger: %v", err)
	}
}

// TestDroppedURLPurged: a purge that leaves the answer's url does not give it to the
// step.
func TestDroppedURLPurged(t *testing.T) {
	l, path := withoutTheURL(t)
	_, err := l.Purge(Purge{Environments: []string{"https://uat.example.com/api"}, Before: dawn.AddDate(0, 0, -30)})
	if err != nil {
		t.Fatal(err)
	}
	if url := annsURL(t, l); url != "" {
		t.Errorf("after a purge two clients have the url %q", url)
	}
	sound(t, l, path)
}
