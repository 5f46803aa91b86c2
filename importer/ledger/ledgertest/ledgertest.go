// Package ledgertest tests that a ledger keeps its promises wherever it is stored: the
// file and the database server run this suite in their own tests. What concerns the files of one store
// (damage, crashes, a full disk) is tested beside it.
package ledgertest

import (
	"iter"
	"reflect"
	"strings"
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
		"EventsAndStepsSurviveReopening": s.testEventsAndStepsSurviveReopening,
		"StepsAreTheClientsAndOne":       s.testStepsAreTheClientsAndOneMappings,
		"WhatAStepKeeps":                 s.testWhatAStepKeeps,
		"RefusedCallLeavesNothing":       s.testRefusedCallLeavesNothing,
		"IncompleteEventsAreRefused":     s.testIncompleteEventsAreRefused,
		"Interrupted":                    s.testInterrupted,
		"Unsettled":                      s.testUnsettled,
		"EveryTransition":                s.testEveryTransition,
		"NotFound":                       s.testNotFound,
		"CallersAtOnce":                  s.testCallersAtOnce,
		"Taken":                          s.testTaken,
		"TakenURLIsDropped":              s.testTakenURLIsDropped,
		"TakenByOneOfMany":               s.testTakenByOneOfMany,
		"AddressTaken":                   s.testAddressTaken,
		"AnyText":                        s.testAnyText,
		"ClaimedElsewhere":               s.testClaimedElsewhere,
		"KnownClients":                   s.testKnownClients,
		"Lookups":                        s.testLookups,
		"StepsOfClientsAreSteps":         s.testStepsOfClientsAreSteps,
		"AnswersReadBy":                  s.testAnswersReadBy,
		"Definitions":                    s.testDefinitions,
		"DefinitionsChangedAtOnce":       s.testDefinitionsChangedAtOnce,
		"Settings":                       s.testSettings,
		"Run":                            s.testRun,
		"Outputs":                        s.testOutputs,
		"RunsAreTheNewestFirst":          s.testRunsAreTheNewestFirst,
		"DropInputs":                     s.testDropInputs,
		"OneHolderOfTheLock":             s.testOneHolderOfTheLock,
		"ReadOnlyAndClosed":              s.testReadOnlyAndClosed,
		"Purge":                          s.testPurge,
		"Forget":                         s.testForget,
		"Transfer":                       s.testTransfer,
		"TrackedStep":                    s.testTrackedStep,
		"TrackedCase":                    s.testTrackedCase,
		"TrackedAgain":                   s.testTrackedAgain,
		"TrackedAndErasures":             s.testTrackedAndErasures,
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
	store := must(s.Open(dir, place))(t)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// fresh is a store with these events.
func (s suite) fresh(t testing.TB, events ...ledger.Event) *ledger.Ledger {
	t.Helper()
	l := s.open(t, t.TempDir(), "fresh")
	do(t, l.Append(events...))
	return l
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123456000, time.UTC)

// service is the environment of the tests, and elsewhere another one.
const (
	service   = "https://uat.example.com/api"
	elsewhere = "https://live.example.com/api"
)

// of is a step of a client.
func of(client, mapping, step string) ledger.StepID {
	return ledger.StepID{ClientKey: ledger.ClientKey{Environment: service, Space: "email", Client: client}, Mapping: mapping, Step: step}
}

func jane(mapping, step string) ledger.StepID { return of("jane@example.com", mapping, step) }

// in is the step in another environment.
func in(environment string, id ledger.StepID) ledger.StepID {
	id.Environment = environment
	return id
}

// life is a step that goes through states as a run or a person leads it; the step's name
// says its kind.
func life(id ledger.StepID, states ...ledger.State) []ledger.Event {
	var events []ledger.Event
	kind, _, _ := strings.Cut(id.Step, "/")
	for _, to := range states {
		via := map[ledger.State]string{ledger.Done: ledger.ViaAnswer, ledger.Closed: ledger.ViaByHand}[to]
		events = append(events, ledger.Event{StepID: id, To: to, Via: via, At: noon, Kind: kind})
	}
	return events
}

// finished is the life of a step that ends with an id and a url.
func finished(id ledger.StepID, created, url string) []ledger.Event {
	events := life(id, ledger.Sent, ledger.Done)
	events[1].ID, events[1].URL = created, url
	return events
}

// adopted is a client who was found with an id.
func adopted(id ledger.StepID, found string) ledger.Event {
	return ledger.Event{StepID: id, To: ledger.Done, At: noon, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: found}
}

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must is the value of a call that must succeed: must(l.Events(…))(t).
func must[V any](value V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		do(t, err)
		return value
	}
}

// known is must for a call that also says whether it knows the value, which is zero where
// it does not.
func known[V any](value V, ok bool, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		do(t, err)
		if ok == reflect.ValueOf(&value).Elem().IsZero() {
			t.Errorf("known %v: %+v", ok, value)
		}
		return value
	}
}

// all reads an iterator to its end.
func all[V any](t testing.TB, seq iter.Seq2[V, error]) []V {
	t.Helper()
	var list []V
	for v, err := range seq {
		do(t, err)
		list = append(list, v)
	}
	return list
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got\n%+v\nwant\n%+v", what, got, want)
	}
}

// story is a step's life: refused once, then created.
func story(id ledger.StepID) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Sent, At: noon, Run: "r1", Kind: "client", Data: []byte(`{"a":1}`), Digest: "d1"},
		{StepID: id, To: ledger.Refused, At: noon.Add(time.Second), Run: "r1", Kind: "client", Status: 400, Reason: "refused"},
		{StepID: id, To: ledger.Sent, At: noon.Add(time.Minute), Run: "r2", Kind: "client", Data: []byte(`{"a":2}`), Digest: "d2"},
		{StepID: id, To: ledger.Done, At: noon.Add(time.Minute + time.Second), Run: "r2", Kind: "client", Via: ledger.ViaAnswer,
			Status: 201, Answer: []byte(`{"clientId":"c-1"}`), ID: "c-1", URL: service + "/go/1"},
	}
}
