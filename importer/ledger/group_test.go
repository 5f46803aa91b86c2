package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"claimsheet/importer/ledger"
)

// TestReadersSeeWholeCalls reads, as another process would, while many callers append two events
// at a time, and share commits.
func TestReadersSeeWholeCalls(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/ledger.db"
	l := open(t, path)
	var writers, readers sync.WaitGroup
	const callers, calls = 16, 20
	done, before := make(chan struct{}), l.Commits()
	for w := range callers {
		writers.Go(func() {
			for i := range calls {
				pair := func(half string) ledger.Event {
					return ledger.Event{StepID: jane("m", fmt.Sprintf("claim/%d-%d/%s", w, i, half)), To: ledger.Sent, At: noon, Kind: "claim"}
				}
				if err := l.Append(pair("a"), pair("b")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	r, err := ledger.OpenReadOnly(path)
	do(t, err)
	defer r.Close()
	for _, from := range []*ledger.Ledger{l, r} {
		readers.Go(func() {
			for last := 0; ; {
				steps, err := from.Steps(t.Context(), jane("", "").ClientKey, "m")
				if err != nil || len(steps)%2 != 0 || len(steps) < last {
					t.Errorf("%d steps after %d, %v", len(steps), last, err)
					return
				}
				last = len(steps)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	if commits := l.Commits() - before; commits >= callers*calls {
		t.Errorf("%d commits for %d calls", commits, callers*calls)
	}
	close(done)
	readers.Wait()
	steps, err := r.Steps(t.Context(), jane("", "").ClientKey, "m")
	do(t, err)
	same(t, "steps in the end", len(steps), 2*callers*calls)
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
