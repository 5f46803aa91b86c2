package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"claimsheet/importer/ledger"
)

// givingUp makes and removes a state folder again and again, as runs that are
// refused at the same time do, until the function that it returns is called.
func givingUp(state string) (stop func()) {
	done := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			_ = os.MkdirAll(filepath.Join(state, "inputs"), 0o700)
			for _, dir := range []string{filepath.Join(state, "inputs"), state, filepath.Dir(state)} {
				_ = os.Remove(dir) // stays when something is in it
			}
		}
	})
	return func() { close(done); busy.Wait() }
}

// TestFirstRunsTogether: a run that begins with nothing makes its folders although
// another one that gives up removes them meanwhile.
func TestFirstRunsTogether(t *testing.T) {
	t.Parallel()
	s := newScene(t, stepThree, leads(1))
	for i := range longOr(10, 2) {
		state := s.path(fmt.Sprintf("above%d/state", i))
		stop := givingUp(state)
		_, said, code := printed(t, "run", "-m", s.path("mapping.yaml"), "--state", state, "--min-rows", "99", s.path("leads.xlsx"))
		stop()
		if code != 3 {
			t.Fatalf("exit code %d, want 3: too few rows\n%s", code, said)
		}
	}
	for i := range longOr(50, 10) {
		state := s.path(fmt.Sprintf("locks%d/state", i))
		stop := givingUp(state)
		release, err := ledger.Lock(filepath.Join(state, "ledger.db"))
		stop()
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
}
