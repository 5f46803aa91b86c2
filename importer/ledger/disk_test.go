package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// TestCommitsReachTheDisk: SQLite syncs its log before it answers a commit, and on macOS asks the disk too. Then what it
// promises of a power loss holds for what the ledger has acknowledged. It waits for a copy, a check or a backup that reads the file.
func TestCommitsReachTheDisk(t *testing.T) {
	l := fresh(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "checkpoint_fullfsync": "1", "busy_timeout": "60000"} {
		same(t, pragma, must(l.Pragma(pragma))(t), want)
	}
}

// TestVanished: what is written to a file that has no name any more would be
// forgotten with the process, so it is not acknowledged.
func TestVanished(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed on Windows")
	}
	intent := func(l *ledger.Ledger, key string) error {
		return l.Append(ledger.Event{StepID: jane("m", key), To: ledger.Sent, At: noon, Kind: "claim"})
	}
	tests := map[string]func(path string) error{
		"the folder":           func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"the folder's name":    func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"2") },
		"the file":             os.Remove,
		"replaced by a backup": func(path string) error { return os.Rename(path+".bak", path) },
	}
	for name, vanish := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "ledger.db")
			l := open(t, path)
			do(t, os.WriteFile(path+".bak", []byte("backup"), 0o600))
			do(t, intent(l, "claim/1"))
			do(t, vanish(path))
			if err := intent(l, "claim/2"); !errors.Is(err, ledger.ErrStopped) || strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("got %v, want ErrStopped, without the whole path", err)
			}
			if err := intent(l, "claim/3"); !errors.Is(err, ledger.ErrStopped) {
				t.Errorf("afterwards: got %v, want ErrStopped", err)
			}
		})
	}
}

// TestPanicOfTheWriter: a fault of the program while it writes stops the ledger like any
// other error, and does not end the process: who waits can save what it knows.
func TestPanicOfTheWriter(t *testing.T) {
	t.Parallel()
	l := fresh(t)
	err := l.Panic("jane@example.com")
	if !errors.Is(err, ledger.ErrStopped) || strings.Contains(err.Error(), "jane") {
		t.Errorf("got %v; want ErrStopped without the value", err)
	}
	if err := l.Append(finished(jane("m", "claim/c/1"), "c-1", "")...); !errors.Is(err, ledger.ErrStopped) {
		t.Errorf("afterwards: got %v; want ErrStopped", err)
	}
}
