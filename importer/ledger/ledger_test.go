package ledger_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/importer/ledger"
	"claimsheet/importer/testform"
)

// TestMain lets this binary be the other process of a test.
func TestMain(m *testing.M) {
	if child, ok := children[os.Getenv("LEDGER_CHILD")]; ok {
		child(os.Getenv("LEDGER_PATH"))
	}
	os.Exit(testform.Run(m))
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123456000, time.UTC)

func jane(mapping, step string) ledger.StepID {
	return ledger.StepID{
		ClientKey: ledger.ClientKey{Environment: "https://uat.example.com/api", Space: "email", Client: "jane@example.com"},
		Mapping:   mapping, Step: step,
	}
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

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// collect reads an iterator to its end.
func collect[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var all []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// anyNumber leaves out the numbers that the ledger gives.
var anyNumber = cmp.Options{cmpopts.IgnoreTypes(ledger.Ref{})}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, anyNumber); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
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

// finished are the events of a step that ends with an id and a url.
func finished(id ledger.StepID, kind, created, url string) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Sent, At: noon, Kind: kind},
		{StepID: id, To: ledger.Done, At: noon, Kind: kind, Via: ledger.ViaAnswer, ID: created, URL: url},
	}
}

var run = ledger.Run{ID: "r1", Environment: "https://uat.example.com/api", EnvironmentName: "uat", Mapping: "loans",
	MappingFile: "mapping.yaml", MappingDigest: "m", Input: "leads.xlsx", InputDigest: "i", KeptInput: "inputs/i.xlsx",
	Version: "v1.0.0", Started: noon}
