package cli_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// mostHistories is within how many histories a planted bug must be found.
const mostHistories = 150

// TestHistoriesFindPlantedBugs holds the histories to finding bugs of a trial
// build, by what may happen in them; without a bug they find nothing in it. Two of
// the bugs no kill alone shows: what matters is whose a thing is, and what was lost.
func TestHistoriesFindPlantedBugs(t *testing.T) {
	onlyLong(t)
	binary := trialName
	kills := []string{"a run", "a run that is killed", "a night passes"}
	doubts := []string{"a run", "a run with trouble", "rows come", "rows are put in another order", "two people have one address", string(slowly)}
	for _, hunt := range []struct {
		bug    string
		may    []string
		within int
		found  bool
	}{
		{"open intent sent again", kills, mostHistories, true},
		{"a lost ledger is believed", []string{"a run", "the state folder is lost"}, mostHistories, true},
		{"", slices.Concat(kills, doubts), 10, false},
	} {
		t.Run(hunt.bug, func(t *testing.T) {
			seed := freshSeed()
			t.Logf("histories from %d", seed)
			after, wrong := findWrong(t, seed, hunt.within, func(h *tale) {
				h.binary, h.env = binary, []string{"TRIAL_BUG=" + hunt.bug}
			}, func(what string) bool { return slices.Contains(hunt.may, what) })
			if t.Logf("after %d histories: %s", after, wrong); (wrong != "") != hunt.found {
				t.Errorf("found %q", wrong)
			}
		})
	}
}

// findWrong goes through histories, some side by side, until one disagrees with
// the model. It says in what, and after how many.
func findWrong(t *testing.T, seed uint64, within int, prepare func(*tale), may func(string) bool) (after int64, wrong string) {
	dir := t.TempDir()
	var next atomic.Int64
	var found atomic.Pointer[string]
	var all sync.WaitGroup
	for range sideBySide {
		all.Go(func() {
			for n := next.Add(1) - 1; n < int64(within) && found.Load() == nil; n = next.Add(1) - 1 {
				place := fmt.Sprint(dir, "/", n)
				if err := os.Mkdir(place, 0o700); err != nil {
					t.Error(err)
					return
				}
				h := newTale(seed+uint64(n), place, may)
				prepare(h)
				if h.live(); len(h.wrong) > 0 {
					found.CompareAndSwap(nil, &h.wrong[0])
				}
			}
		})
	}
	all.Wait()
	if first := found.Load(); first != nil {
		wrong = *first
	}
	return next.Load(), wrong
}
