package ledger_test

import (
	"path/filepath"
	"testing"

	"claimsheet/importer/ledger"
)

// store is a kind of store: the file, or the database server. Both keep the promises that follow.
// What concerns the files of one (damage, crashes, a full disk) is tested beside it. A place names
// a ledger; dir is a folder of the test's own.
type store struct {
	Open         func(dir, place string) (*ledger.Ledger, error) // creates it when it is missing
	OpenReadOnly func(dir, place string) (*ledger.Ledger, error)
}

func TestStore(t *testing.T) {
	t.Parallel()
	path := func(dir, place string) string { return filepath.Join(dir, place, "ledger.db") }
	store{
		Open:         func(dir, place string) (*ledger.Ledger, error) { return ledger.Open(path(dir, place)) },
		OpenReadOnly: func(dir, place string) (*ledger.Ledger, error) { return ledger.OpenReadOnly(path(dir, place)) },
	}.test(t)
}

// test holds a store to what all promise.
func (s store) test(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"StepFollowsFromEvents":  s.testStepFollowsFromEvents,
		"LookUpKeepsTheAnswer":   s.testLookUpKeepsTheAnswer,
		"Interrupted":            s.testInterrupted,
		"Uncertain":              s.testUncertain,
		"EveryTransition":        s.testEveryTransition,
		"NotFound":               s.testNotFound,
		"CallersAtOnce":          s.testCallersAtOnce,
		"Taken":                  s.testTaken,
		"TakenURLIsDropped":      s.testTakenURLIsDropped,
		"AddressTaken":           s.testAddressTaken,
		"AnyText":                s.testAnyText,
		"ClaimedElsewhere":       s.testClaimedElsewhere,
		"Lookups":                s.testLookups,
		"StepsOfClientsAreSteps": s.testStepsOfClientsAreSteps,
		"AnswersReadBy":          s.testAnswersReadBy,
		"Definitions":            s.testDefinitions,
		"Settings":               s.testSettings,
		"Run":                    s.testRun,
		"Outputs":                s.testOutputs,
		"DropInputs":             s.testDropInputs,
		"ReadOnlyAndClosed":      s.testReadOnlyAndClosed,
		"Purge":                  s.testPurge,
		"Forget":                 s.testForget,
		"Transfer":               s.testTransfer,
		"TrackedStep":            s.testTrackedStep,
		"TrackedCase":            s.testTrackedCase,
		"TrackedAgain":           s.testTrackedAgain,
		"TrackedAndErasures":     s.testTrackedAndErasures,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// open opens the store at a place, and closes it when the test ends.
func (s store) open(t testing.TB, dir, place string) *ledger.Ledger {
	t.Helper()
	store := must(s.Open(dir, place))(t)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// fresh is a store with these events.
func (s store) fresh(t testing.TB, events ...ledger.Event) *ledger.Ledger {
	t.Helper()
	l := s.open(t, t.TempDir(), "fresh")
	do(t, l.Append(events...))
	return l
}
