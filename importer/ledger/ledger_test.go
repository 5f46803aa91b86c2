package ledger_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
)

// TestMain lets this binary be the process that TestKilledWhileAppending kills.
func TestMain(m *testing.M) {
	if path := os.Getenv("LEDGER_APPEND"); path != "" {
		appendForever(path)
	}
	os.Exit(testform.Run(m))
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
		events = append(events, ledger.Event{StepID: id, State: to, Via: via, At: noon, Kind: kind})
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
	return ledger.Event{StepID: id, State: ledger.Done, At: noon, Kind: ledger.KindClient, Via: ledger.ViaAdopted, ID: found}
}

func open(t testing.TB, path string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func fresh(t testing.TB) *ledger.Ledger {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "state", "ledger.db"))
}

var do = testform.NoError

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

// anyNumber leaves out the numbers that the ledger gives.
var anyNumber = cmp.Options{cmpopts.IgnoreFields(ledger.Step{}, "Version", "SentVersion")}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, anyNumber); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// story is a step's life: refused once, then created.
func story(id ledger.StepID) []ledger.Event {
	return []ledger.Event{
		{StepID: id, State: ledger.Sent, At: noon, Run: "r1", Kind: "client", Data: []byte(`{"a":1}`), Digest: "d1"},
		{StepID: id, State: ledger.Refused, At: noon.Add(time.Second), Run: "r1", Kind: "client", Status: 400, Reason: "refused"},
		{StepID: id, State: ledger.Sent, At: noon.Add(time.Minute), Run: "r2", Kind: "client", Data: []byte(`{"a":2}`), Digest: "d2"},
		{StepID: id, State: ledger.Done, At: noon.Add(time.Minute + time.Second), Run: "r2", Kind: "client", Via: ledger.ViaAnswer,
			Status: 201, Answer: []byte(`{"clientId":"c-1"}`), ID: "c-1", URL: service + "/go/1"},
	}
}

var run = ledger.Run{ID: "r1", Environment: service, EnvironmentName: "uat", Mapping: "loans",
	MappingFile: "mapping.yaml", MappingDigest: "m", Input: "leads.xlsx", InputDigest: "i", KeptInput: "inputs/i.xlsx",
	Version: "v1.0.0", Started: noon}
