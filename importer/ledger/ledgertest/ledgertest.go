// Package ledgertest tests that a ledger keeps its promises wherever it is stored: the
// file and the database server run this suite in their own tests. What concerns the files of one store
// (damage, crashes, a full disk) is tested beside it.
package ledgertest

import (
	"iter"
	"reflect"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

// Opener opens the ledgers of one kind of store. A place names one; dir is a folder of
// the test's own, in which a store may have its files.
type Opener struct {
	Open         func(dir, place string) (*ledger.Ledger, error) // creates it when it is missing
	OpenReadOnly func(dir, place string) (*ledger.Ledger, error)
	Lock         func(dir, place string) (release func(), err error)
}

// Run runs the suite.
func Run(t *testing.T, o Opener) {
	s := suite{o}
	for name, test := range map[string]func(*testing.T){
		"EventsAndStepsSurviveReopening":  s.testEventsAndStepsSurviveReopening,
		"StepsAreTheClientsAndOneMapping": s.testStepsAreTheClientsAndOneMappings,
		"CorrectedIDKeepsTheAnswer":       s.testCorrectedIDKeepsTheAnswer,
		"StatusOfTheAnswer":               s.testStatusOfTheAnswer,
		"NewAttemptForgetsTheOldAnswer":   s.testNewAttemptForgetsTheOldAnswer,
		"RefusedCallLeavesNothing":        s.testRefusedCallLeavesNothing,
		"IncompleteEventsAreRefused":      s.testIncompleteEventsAreRefused,
		"InterruptedAndUncertain":         s.testInterruptedAndUncertain,
		"InterruptedBeforeItWasClosed":    s.testInterruptedBeforeItWasClosed,
		"EveryTransition":                 s.testEveryTransition,
		"CallersAtOnce":                   s.testCallersAtOnce,
		"Taken":                           s.testTaken,
		"TakenByOneOfMany":                s.testTakenByOneOfMany,
		"AddressTaken":                    s.testAddressTaken,
		"ClaimedElsewhere":                s.testClaimedElsewhere,
		"KnownClients":                    s.testKnownClients,
		"HasSteps":                        s.testHasSteps,
		"Environments":                    s.testEnvironments,
		"ClientsNamed":                    s.testClientsNamed,
		"UnsettledNumbers":                s.testUnsettledNumbers,
		"DropInputs":                      s.testDropInputs,
		"Run":                             s.testRun,
		"Purge":                           s.testPurge,
		"Forget":                          s.testForget,
		"OneHolderOfTheLock":              s.testOneHolderOfTheLock,
		"ReadOnly":                        s.testReadOnly,
		"DefinitionsChangedAtOnce":        s.testDefinitionsChangedAtOnce,
		"DefinitionIsTheLastOneSet":       s.testDefinitionIsTheLastOneSet,
		"StepsOfClientsAreSteps":          s.testStepsOfClientsAreSteps,
		"LastOutputIsTheLatestOfAnyRun":   s.testLastOutputIsTheLatestOfAnyRun,
		"ClosedLedgerIsStopped":           s.testClosedLedgerIsStopped,
		"NotFound":                        s.testNotFound,
		"CountUnsettled":                  s.testCountUnsettled,
		"LatestOutputs":                   s.testLatestOutputs,
		"RunsAreTheNewestFirst":           s.testRunsAreTheNewestFirst,
		"TrackedStep":                     s.testTrackedStep,
		"TrackedCase":                     s.testTrackedCase,
		"TrackedAgain":                    s.testTrackedAgain,
		"TrackedAndErasures":              s.testTrackedAndErasures,
		"UnknownEventOfErasedClient":      s.testUnknownEventOfErasedClient,
		"Settings":                        s.testSettings,
		"Lookups":                         s.testLookups,
		"ErasedNamed":                     s.testErasedNamed,
		"AnyText":                         s.testAnyText,
		"Transfer":                        s.testTransfer,
		"AnswersReadBy":                   s.testAnswersReadBy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

type suite struct{ Opener }

// open opens the store at a place, and closes it when the test ends.
func (s suite) open(t testing.TB, dir, place string) *ledger.Ledger {
	t.Helper()
	store, err := s.Open(dir, place)
	do(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// fresh is an empty store.
func (s suite) fresh(t testing.TB) *ledger.Ledger {
	t.Helper()
	return s.open(t, t.TempDir(), "fresh")
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123456000, time.UTC)

func jane(mapping, step string) ledger.StepID {
	return ledger.StepID{
		ClientKey: ledger.ClientKey{Environment: "https://uat.example.com/api", Space: "email", Client: "jane@example.com"},
		Mapping:   mapping, Step: step,
	}
}

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// collect reads an iterator to its end.
func collect[T any](t testing.TB, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for v, err := range seq {
		do(t, err)
		all = append(all, v)
	}
	return all
}

// same compares what a store returns, without the boot clock, which Append reads for
// itself, and without the numbers that the store gives.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if got, want := plain(got), plain(want); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got\n%+v\nwant\n%+v", what, got, want)
	}
}

func plain(v any) any {
	switch v := v.(type) {
	case []ledger.Event:
		return append([]ledger.Event(nil), v...)
	case map[string]ledger.Step:
		all := map[string]ledger.Step{}
		for name, s := range v {
			s.Ref = ledger.Ref{}
			all[name] = s
		}
		return all
	}
	return v
}

// story is a step's life: refused once, then created.
func story(id ledger.StepID) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Sent, At: noon, Run: "r1", Kind: "client", Data: []byte(`{"a":1}`), Digest: "d1"},
		{StepID: id, To: ledger.Refused, At: noon.Add(time.Second), Run: "r1", Kind: "client", Status: 400, Reason: "refused"},
		{StepID: id, To: ledger.Sent, At: noon.Add(time.Minute), Run: "r2", Kind: "client", Data: []byte(`{"a":2}`), Digest: "d2"},
		{StepID: id, To: ledger.Done, At: noon.Add(time.Minute + time.Second), Run: "r2", Kind: "client", Via: ledger.ViaAnswer,
			Status: 201, Answer: []byte(`{"clientId":"c-1"}`), ID: "c-1", URL: "https://uat.example.com/go/1"},
	}
}
