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

// TestFullAfterSoManyPages lets SQLite run out of room at each of the first pages. The ledger stops then, for good; opened again
// it has all that it had acknowledged, and with room it goes on.
func TestFullAfterSoManyPages(t *testing.T) {
	t.Parallel()
	body := []byte(strings.Repeat("x", 700))
	for n := range testform.LongOr(40, 10) {
		path := filepath.Join(t.TempDir(), "ledger.db")
		l := open(t, path)
		do(t, l.LimitPages(n+1))
		acknowledged := map[string]ledger.State{}
		var err error
		for i := 0; err == nil; i++ {
			for _, e := range finished(jane("m", fmt.Sprint("claim/c/", i)), fmt.Sprint(i), "") {
				if e.State == ledger.Sent {
					e.Data = body
				} else {
					e.Answer = body
				}
				if err = l.Append(e); err != nil {
					break
				}
				acknowledged[e.StepID.Step] = e.State
			}
		}
		next := life(jane("m", "link"), ledger.Sent)
		for what, err := range map[string]error{"the Append that could not be written": err, "the next Append": l.Append(next...), "Flush": l.Flush(), "Close": l.Close()} {
			if !errors.Is(err, ledger.ErrStopped) {
				t.Fatalf("%s: got %v, want ErrStopped", what, err)
			}
		}
		l = open(t, path)
		steps := must(l.Steps(t.Context(), jane("", "").ClientKey, "m"))(t)
		for step, state := range acknowledged {
			if s := steps[step]; s.State == "" || state == ledger.Done && (s.State != ledger.Done || step != "claim/c/"+s.ID || len(s.Answer) != len(body)) {
				t.Errorf("%s was acknowledged as %s and is %q with id %q", step, state, s.State, s.ID)
			}
		}
		do(t, l.Append(next...))
		do(t, l.Close())
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
		return l.Append(ledger.Event{StepID: jane("m", key), State: ledger.Sent, At: noon, Kind: "claim"})
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
