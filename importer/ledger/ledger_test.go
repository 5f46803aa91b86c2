package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"claimsheet/importer/ledger"
)

// TestMain lets this binary be the other process of a test.
func TestMain(m *testing.M) {
	if child, ok := children[os.Getenv("LEDGER_CHILD")]; ok {
		child(os.Getenv("LEDGER_PATH"))
	}
	os.Exit(m.Run())
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

// anyBoot leaves out the boot clock, which Append reads for itself, and the numbers
// that the ledger gives.
var anyBoot = cmp.Options{cmpopts.IgnoreFields(ledger.Event{}, "Boot", "Uptime"), cmpopts.IgnoreTypes(ledger.Ref{})}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, anyBoot); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// story is a step's life: refused once, then created.
func story(id ledger.StepID) []ledger.Event {
	return []ledger.Event{
		{StepID: id, To: ledger.Intent, At: noon, Run: "r1", Kind: "client", Data: []byte(`{"a":1}`), Digest: "d1"},
		{StepID: id, To: ledger.Failed, At: noon.Add(time.Second), Run: "r1", Kind: "client", Status: 400, Reason: "refused"},
		{StepID: id, To: ledger.Intent, At: noon.Add(time.Minute), Run: "r2", Kind: "client", Data: []byte(`{"a":2}`), Digest: "d2"},
		{StepID: id, To: ledger.Done, At: noon.Add(time.Minute + time.Second), Run: "r2", Kind: "client", Via: ledger.ViaAnswer,
			Status: 201, Answer: []byte(`{"clientId":"c-1"}`), ID: "c-1", URL: "https://uat.example.com/go/1"},
	}
}

func TestEventsAndStepsSurviveReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	l := open(t, path)
	id := jane("", "client")
	events := story(id)
	for _, e := range events {
		do(t, l.Append(e))
	}
	want := events[3]
	want.Data, want.Digest = events[2].Data, events[2].Digest
	for range 2 {
		got, err := l.Events(t.Context(), id)
		do(t, err)
		same(t, "events", got, events)
		steps, err := l.Steps(t.Context(), id.ClientKey, "loans")
		do(t, err)
		same(t, "steps", steps, map[string]ledger.Step{"client": {Event: want, Attempts: 2}})
		do(t, l.Close())
		l = open(t, path)
	}
}

func TestStepsAreTheClientsAndOneMappings(t *testing.T) {
	l := fresh(t)
	other := jane("loans", "link")
	other.Client = "john@example.com"
	elsewhere := jane("loans", "link")
	elsewhere.Environment = "https://live.example.com/api"
	for _, id := range []ledger.StepID{jane("", "client"), jane("loans", "claim/c/1"), jane("cards", "claim/c/2"), other, elsewhere} {
		do(t, l.Append(ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "claim"}))
	}
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "loans")
	do(t, err)
	names := map[string]string{}
	for key, s := range steps {
		names[key] = s.Mapping
	}
	same(t, "steps", names, map[string]string{"client": "", "claim/c/1": "loans"})
}

func TestCorrectedIDKeepsTheAnswer(t *testing.T) {
	l := fresh(t)
	id := jane("", "client")
	do(t, l.Append(story(id)...))
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Done, At: noon.Add(time.Hour), Run: "r3", Via: ledger.ViaAnswer, ID: "c-2"}))
	steps, err := l.Steps(t.Context(), id.ClientKey, "")
	do(t, err)
	s := steps["client"]
	same(t, "step", []string{s.ID, s.URL, string(s.Answer), string(s.Data)},
		[]string{"c-2", "https://uat.example.com/go/1", `{"clientId":"c-1"}`, `{"a":2}`})
}

// The status of an answer is found behind what happened since, until the step is
// sent again.
func TestStatusOfTheAnswer(t *testing.T) {
	l := fresh(t)
	id := jane("", "client")
	status := func(want int) {
		t.Helper()
		got, err := l.AnswerStatus(t.Context(), id)
		do(t, err)
		same(t, "status", got, want)
	}
	status(0)
	event := ledger.Event{StepID: id, To: ledger.Intent, At: noon, Run: "r1", Kind: ledger.KindClient}
	do(t, l.Append(event))
	status(0)
	answered, parked := event, event
	answered.To, answered.Status, answered.Answer, parked.To = ledger.Uncertain, 201, []byte(`{}`), ledger.Parked
	do(t, l.Append(answered, parked))
	status(201)
	do(t, l.Append(event))
	status(0)
}

func TestNewAttemptForgetsTheOldAnswer(t *testing.T) {
	l := fresh(t)
	id := jane("loans", "link")
	do(t, l.Append(
		ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "link", Digest: "d"},
		ledger.Event{StepID: id, To: ledger.Uncertain, At: noon, Via: ledger.ViaAnswer, URL: "https://uat.example.com/go/1", Answer: []byte("{}")},
		ledger.Event{StepID: id, To: ledger.Failed, At: noon, Via: ledger.ViaByHand},
		ledger.Event{StepID: id, To: ledger.Intent, At: noon},
		ledger.Event{StepID: id, To: ledger.Uncertain, At: noon}))
	steps, err := l.Steps(t.Context(), id.ClientKey, "loans")
	do(t, err)
	s := steps["link"]
	if s.URL != "" || s.Answer != nil || s.Digest != "d" || s.Attempts != 2 {
		t.Errorf("got url %q, answer %q, digest %q, attempts %d; want none, none, d, 2", s.URL, s.Answer, s.Digest, s.Attempts)
	}
}

func TestRefusedCallLeavesNothing(t *testing.T) {
	l := fresh(t)
	id := jane("", "client")
	err := l.Append(
		ledger.Event{StepID: id, To: ledger.Intent, At: noon, Kind: "client"},
		ledger.Event{StepID: id, To: ledger.GivenUp, At: noon})
	if !errors.Is(err, ledger.ErrTransition) {
		t.Fatalf("got %v, want ErrTransition", err)
	}
	events, err := l.Events(t.Context(), id)
	do(t, err)
	same(t, "events after a refusal", events, []ledger.Event(nil))
	do(t, l.Append(story(id)...)) // the ledger is not stopped
}

func TestIncompleteEventsAreRefused(t *testing.T) {
	l := fresh(t)
	whole := ledger.Event{StepID: jane("", "client"), To: ledger.Intent, At: noon, Kind: "client"}
	for name, spoil := range map[string]func(*ledger.Event){
		"no environment": func(e *ledger.Event) { e.Environment = "" },
		"no client":      func(e *ledger.Event) { e.Client = "" },
		"no step":        func(e *ledger.Event) { e.Step = "" },
		"no time":        func(e *ledger.Event) { e.At = time.Time{} },
		"no kind":        func(e *ledger.Event) { e.Kind = "" },
		"strange kind":   func(e *ledger.Event) { e.Kind = "contact" },
		"strange state":  func(e *ledger.Event) { e.To = "planned" },
	} {
		e := whole
		spoil(&e)
		if err := l.Append(e); err == nil || errors.Is(err, ledger.ErrStopped) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
	do(t, l.Append(whole))
}

func TestInterruptedAndUncertain(t *testing.T) {
	l := fresh(t)
	intent := func(mapping, step string, at time.Time) {
		do(t, l.Append(ledger.Event{StepID: jane(mapping, step), To: ledger.Intent, At: at, Run: "r1", Kind: "claim", Digest: "d"}))
	}
	intent("loans", "claim/a", noon)
	intent("loans", "claim/b", noon)
	intent("loans", "claim/c", noon)
	do(t, l.Append(ledger.Event{StepID: jane("loans", "claim/b"), To: ledger.Done, Via: ledger.ViaAnswer, At: noon, ID: "1"}))
	do(t, l.Append(ledger.Event{StepID: jane("loans", "claim/c"), To: ledger.Parked, At: noon.Add(time.Hour)}))
	n, err := l.MarkInterrupted("r2", noon.Add(time.Minute))
	do(t, err)
	same(t, "interrupted", n, 1)
	n, err = l.MarkInterrupted("r3", noon.Add(time.Minute))
	do(t, err)
	same(t, "interrupted again", n, 0)

	var got []string
	for _, s := range collect(t, l.Unsettled(t.Context(), jane("", "").Environment)) {
		got = append(got, fmt.Sprint(s.StepID.Step, " ", s.To, " ", s.Run, " ", s.Digest))
		if s.To == ledger.Uncertain && s.Reason == "" {
			t.Error("an interrupted step does not say why it is uncertain")
		}
	}
	same(t, "undecided, oldest first", got, []string{"claim/a uncertain r2 d", "claim/c parked  d"})
	same(t, "undecided elsewhere", len(collect(t, l.Unsettled(t.Context(), "https://live.example.com"))), 0)
}
