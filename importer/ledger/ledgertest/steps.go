package ledgertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"claimsheet/importer/ledger"
)

func (s suite) testEventsAndStepsSurviveReopening(t *testing.T) {
	dir := t.TempDir()
	l := s.open(t, dir, "reopened")
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
		l = s.open(t, dir, "reopened")
	}
}

func (s suite) testStepsAreTheClientsAndOneMappings(t *testing.T) {
	l := s.fresh(t)
	other := jane("loans", "link")
	other.Client = "john@example.com"
	elsewhere := jane("loans", "link")
	elsewhere.Environment = "https://live.example.com/api"
	for _, id := range []ledger.StepID{jane("", "client"), jane("loans", "claim/c/1"), jane("cards", "claim/c/2"), other, elsewhere} {
		do(t, l.Append(ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "claim"}))
	}
	steps, err := l.Steps(t.Context(), jane("", "").ClientKey, "loans")
	do(t, err)
	names := map[string]string{}
	for key, s := range steps {
		names[key] = s.Mapping
	}
	same(t, "steps", names, map[string]string{"client": "", "claim/c/1": "loans"})
}

func (s suite) testCorrectedIDKeepsTheAnswer(t *testing.T) {
	l := s.fresh(t)
	id := jane("", "client")
	do(t, l.Append(story(id)...))
	do(t, l.Append(ledger.Event{StepID: id, To: ledger.Done, At: noon.Add(time.Hour), Run: "r3", Via: ledger.ViaAnswer, ID: "c-2"}))
	steps, err := l.Steps(t.Context(), id.ClientKey, "")
	do(t, err)
	step := steps["client"]
	same(t, "step", []string{step.ID, step.URL, string(step.Answer), string(step.Data)},
		[]string{"c-2", "https://uat.example.com/go/1", `{"clientId":"c-1"}`, `{"a":2}`})
}

// The status of an answer is found behind what happened since, until the step is
// sent again.
func (s suite) testStatusOfTheAnswer(t *testing.T) {
	l := s.fresh(t)
	id := jane("", "client")
	status := func(want int) {
		t.Helper()
		steps, err := l.Steps(t.Context(), id.ClientKey, "")
		do(t, err)
		same(t, "status", steps["client"].Status, want)
	}
	event := ledger.Event{StepID: id, To: ledger.Sent, At: noon, Run: "r1", Kind: ledger.KindClient}
	do(t, l.Append(event))
	status(0)
	answered, absent := event, event
	answered.To, answered.Status, answered.Answer = ledger.Uncertain, 201, []byte(`{}`)
	absent.To, absent.NotFound = ledger.Uncertain, true
	do(t, l.Append(answered, absent))
	status(201)
	do(t, l.Append(event))
	status(0)
}

func (s suite) testNewAttemptForgetsTheOldAnswer(t *testing.T) {
	l := s.fresh(t)
	id := jane("loans", "link")
	do(t, l.Append(
		ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "link", Digest: "d"},
		ledger.Event{StepID: id, To: ledger.Uncertain, At: noon, Via: ledger.ViaAnswer, URL: "https://uat.example.com/go/1", Answer: []byte("{}")},
		ledger.Event{StepID: id, To: ledger.Refused, At: noon, Via: ledger.ViaByHand},
		ledger.Event{StepID: id, To: ledger.Sent, At: noon},
		ledger.Event{StepID: id, To: ledger.Uncertain, At: noon}))
	steps, err := l.Steps(t.Context(), id.ClientKey, "loans")
	do(t, err)
	step := steps["link"]
	if step.URL != "" || step.Answer != nil || step.Digest != "d" || step.Attempts != 2 {
		t.Errorf("got url %q, answer %q, digest %q, attempts %d; want none, none, d, 2", step.URL, step.Answer, step.Digest, step.Attempts)
	}
}

func (s suite) testRefusedCallLeavesNothing(t *testing.T) {
	l := s.fresh(t)
	id := jane("", "client")
	err := l.Append(
		ledger.Event{StepID: id, To: ledger.Sent, At: noon, Kind: "client"},
		ledger.Event{StepID: id, To: ledger.Closed, At: noon})
	if !errors.Is(err, ledger.ErrTransition) {
		t.Fatalf("got %v, want ErrTransition", err)
	}
	events, err := l.Events(t.Context(), id)
	do(t, err)
	same(t, "events after a refusal", events, []ledger.Event(nil))
	do(t, l.Append(story(id)...)) // the ledger is not stopped
}

func (s suite) testIncompleteEventsAreRefused(t *testing.T) {
	l := s.fresh(t)
	whole := ledger.Event{StepID: jane("", "client"), To: ledger.Sent, At: noon, Kind: "client"}
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

func (s suite) testInterruptedAndUncertain(t *testing.T) {
	l := s.fresh(t)
	intent := func(mapping, step string, at time.Time) {
		do(t, l.Append(ledger.Event{StepID: jane(mapping, step), To: ledger.Sent, At: at, Run: "r1", Kind: "claim", Digest: "d"}))
	}
	intent("loans", "claim/a", noon)
	intent("loans", "claim/b", noon)
	intent("loans", "claim/c", noon)
	do(t, l.Append(ledger.Event{StepID: jane("loans", "claim/b"), To: ledger.Done, Via: ledger.ViaAnswer, At: noon, ID: "1"}))
	do(t, l.Append(ledger.Event{StepID: jane("loans", "claim/c"), To: ledger.Uncertain, Reason: "no answer", At: noon.Add(time.Hour)}))
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
	same(t, "undecided, oldest first", got, []string{"claim/a uncertain r2 d", "claim/c uncertain  d"})
	same(t, "undecided elsewhere", len(collect(t, l.Unsettled(t.Context(), "https://live.example.com"))), 0)
}
