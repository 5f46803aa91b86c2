package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"claimsheet/importer/ledger"
)

// testCallersAtOnce: calls that wait at the same time share commits, and one that is
// rejected does not affect the others.
func (s suite) testCallersAtOnce(t *testing.T) {
	l := s.fresh(t)
	const callers, calls = 16, 20
	var refused atomic.Int32
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := range calls {
				first := jane("m", fmt.Sprintf("claim/c/%d-%d", c, i))
				second := first
				second.Step += "b"
				to := ledger.Sent
				if i%4 == 3 {
					to = ledger.Closed // nothing was ever sent
				}
				err := l.Append(ledger.Event{StepID: first, To: ledger.Sent, At: noon, Kind: "claim"}, ledger.Event{StepID: second, To: to, At: noon, Kind: "claim"})
				switch {
				case errors.Is(err, ledger.ErrTransition) && to == ledger.Closed:
					refused.Add(1)
				case err != nil:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	same(t, "refused", refused.Load(), int32(callers*calls/4))
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "m")
	do(t, err)
	same(t, "steps", len(steps), 2*callers*calls*3/4)
}

// testInterruptedBeforeItWasClosed: an intent without an outcome is found after the
// store was closed and opened again.
func (s suite) testInterruptedBeforeItWasClosed(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "interrupted")
	do(t, l.Append(ledger.Event{StepID: jane("loans", "claim/1"), To: ledger.Sent, At: noon, Kind: "claim"}))
	do(t, l.Append(story(jane("", "client"))...))
	do(t, l.Close())
	for _, want := range []int{1, 0} {
		l = s.open(t, dir, "interrupted")
		n, err := l.MarkInterrupted("r2", noon)
		do(t, err)
		same(t, "interrupted", n, want)
		do(t, l.Close())
	}
}

// testOneHolderOfTheLock: a second holder is refused until the first has released it.
func (s suite) testOneHolderOfTheLock(t *testing.T) {
	dir := t.TempDir()
	release, err := s.Lock(dir, "locked")
	do(t, err)
	if _, err := s.Lock(dir, "locked"); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	release()
	release, err = s.Lock(dir, "locked")
	do(t, err)
	release()
}

// testReadOnly: a store that is only read shows what was written, and writes nothing.
func (s suite) testReadOnly(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "read")
	id := jane("", "client")
	do(t, l.Append(story(id)...))
	do(t, l.Close())
	r, err := s.OpenReadOnly(dir, "read")
	do(t, err)
	events, err := r.Events(t.Context(), id)
	do(t, err)
	same(t, "events", events, story(id))
	if err := r.Append(story(jane("m", "link"))[0]); !errors.Is(err, ledger.ErrReadOnly) {
		t.Errorf("Append: got %v, want ErrReadOnly", err)
	}
	do(t, r.Close())
	none, err := s.OpenReadOnly(dir, "nowhere")
	do(t, err)
	steps, err := none.Steps(t.Context(), id.ClientKey, "m")
	do(t, err)
	same(t, "steps of a store that is not there", len(steps), 0)
	do(t, none.Close())
}
